//! [`OccupancyHistogram`]: time that a port spent at each backlog.

use crate::queue::Backlog;
use shortflow_units::{Bytes, Instant};
use std::collections::VecDeque;

/// Percentages of time with percentiles.
pub const PERCENTS: [u32; 3] = [50, 95, 99];

/// Backlogs in bytes are binned in steps of 2 to this power.
const STEP_BITS: u32 = 7;

/// Percentiles over time of a backlog, one for each of [`PERCENTS`]: the smallest backlog not exceeded for that share of the
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// In packets.
    pub packets: [u64; 3],
    /// In bytes, rounded up to a multiple of 128.
    pub bytes: [u64; 3],
}

/// Time that a port spent at each backlog, in picoseconds. Departures are scheduled once known, and counted once due.
#[derive(Debug, Clone)]
pub struct OccupancyHistogram {
    since: Instant,
    backlog: Backlog,
    leaving: VecDeque<(Instant, u32)>,
    by_packets: Vec<u64>,
    by_bytes: Vec<u64>,
}

impl OccupancyHistogram {
    /// The clock starts at `now` with `backlog`.
    pub fn new(now: Instant, backlog: Backlog) -> OccupancyHistogram {
        let leaving = VecDeque::new();
        OccupancyHistogram { since: now, backlog, leaving, by_packets: vec![0; 64], by_bytes: vec![0; 1024] }
    }

    /// Arrivals and evictions at `now` make the backlog `after`.
    #[inline]
    pub fn change(&mut self, now: Instant, after: Backlog) {
        self.catch_up(now);
        self.backlog = after;
    }

    /// Schedules a departure, after all others.
    #[inline]
    pub fn schedule_departure(&mut self, departs: Instant, wire: u16) {
        self.leaving.push_back((departs, wire.into()));
    }

    /// An outage at `now` takes all packets and cancels all departures.
    pub fn empty(&mut self, now: Instant) {
        self.change(now, Backlog::default());
        self.leaving.clear();
    }

    /// Percentiles of the time until `now`; zeros if there was none.
    pub fn percentiles(mut self, now: Instant) -> Percentiles {
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
        levels.change(at(500), backlog(3, 3_001)); // empty for 500 of 1000
        levels.schedule_departure(at(540), 1_500); // three packets for 40
        levels.schedule_departure(at(549), 1_500); // two for 9
        levels.schedule_departure(at(950), 1); // one, a byte long, for 401
        levels.change(at(950), backlog(2, 3_000)); // two again for 49
        levels.change(at(999), backlog(100, 150_000)); // and a hundred for 1
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
