//! PIE — Pan et al., "Proportional Integral Controller Enhanced (PIE)", RFC 8033. Arriving packets are
//! dropped or marked with a probability. At fixed intervals, a controller adjusts this probability to the
//! time that the queue takes to empty.
//!
//! | symbol (RFC 8033 §4) | field |
//! |---|---|
//! | QDELAY_REF, T_UPDATE, MAX_BURST | [`Params::target`], [`Params::update`], [`Params::burst`] |
//! | alpha, beta | [`Params::alpha`], [`Params::beta`] |
//! | drop_prob, qdelay_old, burst_allowance | `probability`, `before`, `allowance` |
//!
//! In a data centre, set target and interval in proportion to the round-trip time, and the gains in inverse
//! proportion to the target. A gain of 1.25 per second is too slow if a second has thousands of round trips.
//!
//! Choices:
//! - The delay is the port's backlog divided by its rate (§4.2 also allows measured delays).
//! - Intervals need no timer. When a packet arrives, all past intervals are processed, with the delays that
//!   they would have found.
//! - A probability below 10⁻⁹ is set to zero. Drops are not spread evenly (§5.4 is optional).

use super::{Backlog, DropReason, PortSetup, QueueDiscipline, QueueInfo, Room, Verdict};
use crate::config::{ANY_TIME, Flag, POSITIVE_TIME, Positive, keys};
use crate::engine::Stream;
use crate::packet::Frame;
use shortflow_units::{Bytes, Instant, Rate, Span};

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "pie",
    summary: "first in, first out; marks or drops at random, with a probability that keeps the delay near a target",
    source: "RFC 8033",
    by_priority: false,
    reads_k: false,
    trims: false,
};

keys! {
    /// Parameters of the controller. The scenario sets the buffer.
    #[derive(Copy)]
    pub struct Params {
        /// target of the queueing delay
        pub target: Span = "15ms", POSITIVE_TIME;
        /// interval between updates of the probability
        pub update: Span = "15ms", POSITIVE_TIME;
        /// duration of a burst that passes without marks or drops after a period of low delay
        pub burst: Span = "150ms", ANY_TIME;
        /// gain of the difference between delay and target, per second
        pub alpha: f64 = "0.125", Positive(1e6);
        /// gain of the change of the delay, per second
        pub beta: f64 = "1.25", Positive(1e6);
        /// mark ECN-capable packets while the probability is below 0.1; false: drop them
        pub ecn: bool = "true", Flag, acts: ecn;
    }
}

/// Probability below which ECN-capable packets are marked instead of dropped (§5.1).
const MARK_BELOW: f64 = 0.1;
/// Largest backlog at which nothing is dropped: two packets of MEAN_PKTSIZE (§4.1).
const SMALL: Bytes = Bytes::new(2 * 1500);
/// Smaller probabilities are set to zero.
const LEAST: f64 = 1e-9;
/// Divisors of steps: below each probability, steps are divided by the number beside it (§4.2).
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)];

/// A controller of the delay.
#[derive(Debug, Clone)]
pub struct Pie {
    params: Params,
    rate: Rate,
    gap: Bytes,
    stream: Stream,
    probability: f64,
    before: Span,
    allowance: Span,
    /// Next update of the probability.
    next: Instant,
    /// Departure of the last accepted packet.
    empty_at: Instant,
}

impl Pie {
    /// The discipline of a port.
    pub fn new(params: Params, port: PortSetup) -> Self {
        let PortSetup { rate, gap, seeds, index, .. } = port;
        Pie {
            params,
            rate,
            gap,
            stream: seeds.stream("pie", index),
            probability: 0.0,
            before: Span::ZERO,
            allowance: params.burst,
            next: Instant::ZERO + params.update,
            empty_at: Instant::ZERO,
        }
    }

    /// Updates the probability for every interval that has passed.
    fn catch_up(&mut self, now: Instant) {
        while self.next <= now {
            self.step(self.empty_at.since(self.next));
            let is_idle = self.empty_at <= self.next && self.probability == 0.0 && self.before.is_zero();
            let intervals = match is_idle && self.allowance == self.params.burst {
                true => now.since(self.next).as_ps() / self.params.update.as_ps() + 1,
                false => 1,
            };
            self.next += self.params.update.times(intervals);
        }
    }

    /// Ends one interval, with this delay (§4.2, §4.4).
    fn step(&mut self, delay: Span) {
        let Params { target, alpha, beta, .. } = self.params;
        let (seconds, before) = (delay.as_secs_f64(), self.before.as_secs_f64());
        let step = alpha * (seconds - target.as_secs_f64()) + beta * (seconds - before);
        let scale = SCALES.iter().find(|(below, _)| self.probability < *below);
        let step = match scale {
            Some((_, divisor)) => step / divisor,
            None => step.min(0.02),
        };
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        if delay.is_zero() && self.before.is_zero() {
            self.probability *= 0.98;
        }
        if self.probability < LEAST {
            self.probability = 0.0;
        }
        self.allowance = self.allowance.saturating_sub(self.params.update);
        let half = target.divided_by(2);
        if self.probability == 0.0 && delay < half && self.before < half {
            self.allowance = self.params.burst;
        }
        self.before = delay;
    }

    /// True if an arriving packet may be dropped or marked (§4.1).
    fn may_act(&self, found: Backlog) -> bool {
        let calm = self.before < self.params.target.divided_by(2) && self.probability < 0.2;
        self.allowance.is_zero() && !calm && found.bytes > SMALL
    }
}

impl QueueDiscipline for Pie {
    #[inline(never)] // keeps the path of the other queues short
    fn arrive(&mut self, now: Instant, room: Room, packet: Frame) -> Verdict {
        self.catch_up(now);
        if !room.fits(packet.size) {
            return Verdict::Dropped(DropReason::BufferFull);
        }
        let is_chosen = self.may_act(room.found) && self.stream.unit() < self.probability;
        let verdict = match is_chosen {
            false => Verdict::Queued,
            true if self.params.ecn && self.probability < MARK_BELOW && packet.is_ecn_capable() => {
                Verdict::Marked
            }
            true => return Verdict::Dropped(DropReason::Early),
        };
        self.empty_at = self.empty_at.max(now) + self.rate.tx_time(packet.size + self.gap);
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, port};
    use super::*;
    use shortflow_units::Occupancy;

    fn pie() -> Pie {
        Pie::new(Params::default(), port("unlimited"))
    }

    fn ms(time: u64) -> Span {
        Span::from_millis(time)
    }

    /// The step is 0.125 (35 - 15) ms + 1.25 (35 - 25) ms = 0.015. A half of it counts below 0.1, and an
    /// eighth below 0.01. From 0.1 on, a step is at most 0.02: 0.125 · 85 ms + 1.25 · 100 ms would be 0.136.
    #[test]
    fn the_probability_moves_by_distance_and_change() {
        for (probability, before, delay, after) in
            [(0.05, 25, 35, 0.0575), (0.005, 25, 35, 0.006875), (0.2, 0, 100, 0.22), (0.2, 100, 0, 0.073125)]
        {
            let mut pie = Pie { probability, before: ms(before), ..pie() };
            pie.step(ms(delay));
            assert!((pie.probability - after).abs() < 1e-12, "{probability}: {}", pie.probability);
        }
    }

    /// Intervals of an idle port are processed when a packet arrives, and have the result of processing them
    /// one by one. The last of 200 intervals of 15 ms ends at 3 s.
    #[test]
    fn idle_intervals_are_worked_out_when_a_packet_comes() {
        let busy = || Pie { probability: 0.3, before: ms(40), allowance: Span::ZERO, ..pie() };
        let (mut late, mut step_by_step) = (busy(), busy());
        late.catch_up(Instant::ZERO + ms(3_000));
        (0..200).for_each(|_| step_by_step.step(Span::ZERO));
        assert_eq!(late.probability, step_by_step.probability);
        assert_eq!((late.allowance, late.next), (ms(150), Instant::ZERO + ms(3_015)));
    }

    /// Packets arrive at twice the rate of the link for two seconds. The first 150 ms pass. Marks follow, and
    /// drops above a probability of 10 %.
    #[test]
    fn an_overload_is_let_through_at_first_then_marked_then_dropped() {
        let mut pie = pie();
        let mut acts = Vec::new();
        for n in 0..333_333_u64 {
            let now = Instant::ZERO + Span::from_micros(6 * n);
            let waiting = pie.empty_at.since(now).as_ps() / 12_000_000;
            let found = Backlog { packets: waiting as u32, bytes: Bytes::new(1500 * waiting) };
            let room = Room { found, limit: Occupancy::Unlimited };
            let verdict = pie.arrive(now, room, packet(0, n, 0).frame());
            acts.extend((verdict != Verdict::Queued).then_some((now, verdict)));
        }
        let first = acts[0];
        assert!(first.0 >= Instant::ZERO + ms(150) && first.1 == Verdict::Marked, "{first:?}");
        assert_eq!(acts[acts.len() - 1].1, Verdict::Dropped(DropReason::Early));
        assert!(pie.probability > 0.3, "half of the packets have to go: {}", pie.probability);
    }
}
