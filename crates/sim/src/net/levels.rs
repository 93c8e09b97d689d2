//! [`OccupancyHistogram`]: time that a port spends at each backlog.

use crate::queue::Backlog;
use shortflow_units::{Bytes, Instant};
use std::collections::VecDeque;

/// Percentages of time for percentiles.
pub const PERCENTS: [u32; 3] = [50, 95, 99];

/// Binary logarithm of the bin width for backlogs in bytes.
const STEP_BITS: u32 = 7;

/// Time percentiles of a backlog, for each of [`PERCENTS`]: the smallest backlog that is not exceeded for
/// this share of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// In packets.
    pub packets: [u64; 3],
    /// In bytes, rounded up to a multiple of 128.
    pub bytes: [u64; 3],
}

/// Time that a port spends at each backlog, in picoseconds. A departure is scheduled when it becomes known,
/// and counted when it is due.
#[derive(Debug, Clone)]
pub(crate) struct OccupancyHistogram {
    since: Instant,
    backlog: Backlog,
    leaving: VecDeque<(Instant, u32)>,
    by_packets: Vec<u64>,
    by_bytes: Vec<u64>,
}

impl OccupancyHistogram {
    /// A histogram that starts at `now` with `backlog`.
    pub(crate) fn new(now: Instant, backlog: Backlog) -> OccupancyHistogram {
        let leaving = VecDeque::new();
        OccupancyHistogram { since: now, backlog, leaving, by_packets: vec![0; 64], by_bytes: vec![0; 1024] }
    }

    /// Sets the backlog after arrivals and evictions at `now`.
    #[inline]
    pub(crate) fn change(&mut self, now: Instant, after: Backlog) {
        self.catch_up(now);
        self.backlog = after;
    }

    /// Schedules a departure, which must follow all scheduled departures.
    #[inline]
    pub(crate) fn schedule_departure(&mut self, departs: Instant, wire: u16) {
        self.leaving.push_back((departs, wire.into()));
    }

    /// Removes all packets and scheduled departures, because of an outage at `now`.
    pub(crate) fn empty(&mut self, now: Instant) {
        self.change(now, Backlog::default());
        self.leaving.clear();
    }

    /// Percentiles of the time until `now`; zeros if no time has passed.
    pub(crate) fn percentiles(mut self, now: Instant) -> Percentiles {
        self.catch_up(now);
        Percentiles {
            packets: PERCENTS.map(|percent| percentile(&self.by_packets, percent)),
            bytes: PERCENTS.map(|percent| percentile(&self.by_bytes, percent) << STEP_BITS),
        }
    }

    #[inline]
    fn catch_up(&mut self, now: Instant) {
        while let Some(&(departs, wire)) = self.leaving.front().filter(|next| next.0 <= now) {
            self.leaving.pop_front();
            self.accumulate(departs);
            self.backlog = self.backlog - Backlog { packets: 1, bytes: Bytes::new(wire.into()) };
        }
        self.accumulate(now);
    }

    #[inline]
    fn accumulate(&mut self, now: Instant) {
        let time = now.since(self.since).as_ps();
        self.since = now;
        let step = (self.backlog.bytes.get() + (1 << STEP_BITS) - 1) >> STEP_BITS;
        add(&mut self.by_packets, self.backlog.packets as usize, time);
        add(&mut self.by_bytes, step as usize, time);
    }
}

#[inline]
fn add(times: &mut Vec<u64>, level: usize, time: u64) {
    match times.get_mut(level) {
        Some(spent) => *spent += time,
        None => grow(times, level, time),
    }
}

#[cold]
fn grow(times: &mut Vec<u64>, level: usize, time: u64) {
    times.resize(level + 1, 0);
    times[level] = time;
}

/// The smallest level at or below which `percent` % of the time was spent.
fn percentile(times: &[u64], percent: u32) -> u64 {
    let total: u128 = times.iter().map(|time| u128::from(*time)).sum();
    let mut below = 0;
    let reached = times.iter().position(|time| {
        below += u128::from(*time) * 100;
        below >= total * u128::from(percent)
    });
    reached.unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use shortflow_units::Bytes;

    fn backlog(packets: u32, bytes: u64) -> Backlog {
        Backlog { packets, bytes: Bytes::new(bytes) }
    }

    #[test]
    fn percentiles_weigh_by_time() {
        let at = |ps: u64| Instant::from_ps(10_000 + ps);
        let mut levels = OccupancyHistogram::new(at(0), backlog(0, 0));
        levels.change(at(500), backlog(3, 3_001)); // empty for 500 of 1000 ps
        levels.schedule_departure(at(540), 1_500); // three packets for 40 ps
        levels.schedule_departure(at(549), 1_500); // two packets for 9 ps
        levels.schedule_departure(at(950), 1); // one packet of one byte for 401 ps
        levels.change(at(950), backlog(2, 3_000)); // two packets for 49 ps
        levels.change(at(999), backlog(100, 150_000)); // a hundred packets for 1 ps
        let found = levels.percentiles(at(1_000));
        assert_eq!(found.packets, [0, 2, 3]);
        assert_eq!(found.bytes, [0, 3_072, 3_072]);
    }

    #[test]
    fn no_time_is_an_empty_queue() {
        let none = Percentiles { packets: [0; 3], bytes: [0; 3] };
        assert_eq!(OccupancyHistogram::new(Instant::ZERO, backlog(9, 9)).percentiles(Instant::ZERO), none);
    }
}
