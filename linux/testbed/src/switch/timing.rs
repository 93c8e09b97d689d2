//! Timing errors: their histogram, with 64 steps for each power of two, and the stalls.

use shortflow_units::{Instant, Span};
use std::ops::Range;

const STEPS: u32 = 64;

/// Histogram of timing errors. A percentile is exact to one part in 64; the largest error is exact.
#[derive(Debug, Clone)]
pub struct TimingErrors {
    counts: Vec<u64>,
    total: u64,
    most: Span,
}

impl Default for TimingErrors {
    fn default() -> Self {
        TimingErrors { counts: vec![0; 64 * STEPS as usize], total: 0, most: Span::ZERO }
    }
}

impl TimingErrors {
    /// Counts a timing error.
    #[inline]
    pub fn add(&mut self, late: Span) {
        self.counts[step(nanos(late))] += 1;
        self.total += 1;
        self.most = self.most.max(late);
    }

    /// Number of errors.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// Largest timing error.
    pub fn max(&self) -> Span {
        self.most
    }

    /// Percentile for a `share` from 0 to 1: the timing error that this share of all does not exceed, rounded up to a
    /// step.
    pub fn percentile(&self, share: f64) -> Span {
        let rank = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let found = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        });
        found.map_or(Span::ZERO, |step| Span::from_nanos(upper(step)).min(self.most))
    }
}

/// Timing errors of a thread after the warm-up, and its stalls: delays above a limit.
#[derive(Debug, Clone, Default)]
pub struct Stalls {
    limit: Span,
    window: Range<Instant>,
    count: u64,
    measured: u64,
    longest: Span,
    last: Range<Instant>,
    errors: TimingErrors,
}

impl Stalls {
    /// Makes an empty count of stalls above `limit`. `window` is the measured time.
    pub fn above(limit: Span, window: Range<Instant>) -> Stalls {
        Stalls { limit, window, ..Stalls::default() }
    }

    /// Notes that the thread turns at `now` to work that was due at `due`. Work that was due before the end of a
    /// stall is part of that stall, so a pause is one stall. A thread that is late anew with each item of work has
    /// one stall per item.
    #[inline]
    pub fn note(&mut self, due: Instant, now: Instant) {
        let (late, is_warm) = (now.since(due), now >= self.window.start);
        if is_warm {
            self.errors.add(late);
        }
        if late <= self.limit {
            return;
        }
        let is_new = due >= self.last.end;
        // A stall that began in the warm-up counts once it lasts into the measured time.
        if is_warm && (is_new || self.last.end < self.window.start) {
            self.count += 1;
            self.measured += u64::from(due < self.window.end);
        }
        self.last = if is_new { due..now } else { self.last.start.min(due)..now };
        self.longest = self.longest.max(now.since(self.last.start));
    }

    /// Stalls since the end of the warm-up.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Stalls of the measured time.
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// The longest stall of the whole run, from the due time of its first work to the time of its last; zero without
    /// stalls.
    pub fn longest(&self) -> Span {
        self.longest
    }

    /// Longest delay that is not a stall.
    pub fn limit(&self) -> Span {
        self.limit
    }

    /// Timing errors since the end of the warm-up.
    pub fn errors(&self) -> &TimingErrors {
        &self.errors
    }
}

/// Rounds of a thread. In each round the thread waits for the next due time or for input, and works. A round is timed
/// from its beginning, so the loss of the processor shows during work and during waits.
#[derive(Debug)]
pub struct Rounds {
    longest: Span,
    begun: Instant,
    stalls: Stalls,
}

impl Rounds {
    /// Starts rounds of at most `longest` each at time zero.
    pub fn new(longest: Span, stalls: Stalls) -> Rounds {
        Rounds { longest, begun: Instant::ZERO, stalls }
    }

    /// Due time of the end of this round, if the next work is due at `next`.
    #[inline]
    pub fn due(&self, next: Instant) -> Instant {
        next.min(self.begun + self.longest)
    }

    /// Ends the round at `now`, where its end was due at `due`.
    #[inline]
    pub fn end(&mut self, due: Instant, now: Instant) {
        self.stalls.note(due, now);
        self.begun = now;
    }

    /// Notes that work within the round was due at `due` and is done at `now`.
    #[inline]
    pub fn note(&mut self, due: Instant, now: Instant) {
        self.stalls.note(due, now);
    }

    /// Stalls of the thread.
    pub fn into_stalls(self) -> Stalls {
        self.stalls
    }
}

fn nanos(late: Span) -> u64 {
    late.as_ps() / 1000
}

/// Returns the step of a number of nanoseconds. The first [`STEPS`] steps are single nanoseconds. Above, each power
/// of two has [`STEPS`] steps.
fn step(nanos: u64) -> usize {
    if nanos < u64::from(STEPS) {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - STEPS.ilog2();
    ((shift + 1) * STEPS) as usize + ((nanos >> shift) as usize - STEPS as usize)
}

/// The largest number of nanoseconds in a step.
fn upper(step: usize) -> u64 {
    let (octave, within) = (step as u32 / STEPS, step as u64 % u64::from(STEPS));
    match octave {
        0 => within,
        _ => ((u64::from(STEPS) + within + 1) << (octave - 1)) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delay_lies_in_its_step() {
        for nanos in (0..2000).chain([1 << 20, (1 << 40) + 12345]) {
            let upper = upper(step(nanos));
            assert!(nanos <= upper && upper <= nanos + nanos / 64, "{nanos} {upper}");
        }
    }

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Span::from_micros(micros)
    }

    /// Number and longest of the stalls above 120 µs, for work with these pairs of due time and actual time in
    /// microseconds.
    fn stalls(noted: impl IntoIterator<Item = (u64, u64)>) -> (u64, Span) {
        let mut stalls = Stalls::above(Span::from_micros(120), at(0)..Instant::MAX);
        noted.into_iter().for_each(|(due, now)| stalls.note(at(due), at(now)));
        (stalls.count(), stalls.longest())
    }

    /// A pause until 1000 µs delays three items of work by more than 120 µs: one stall of 920 µs. Work that is 120 µs
    /// late after the pause is no stall, and work that is 121 µs late is another.
    #[test]
    fn all_rounds_delayed_by_a_pause_are_one_stall() {
        let pause = [(0, 5), (220, 1000), (100, 1010), (800, 1020), (990, 1020)];
        assert_eq!(stalls(pause), (1, Span::from_micros(920)));
        assert_eq!(
            stalls(pause.into_iter().chain([(1100, 1220), (1300, 1421)])),
            (2, Span::from_micros(920))
        );
    }

    /// The measured time is from 5 to 7 ms: one stall ends before it, one lasts into it, one is in it, one is after it.
    #[test]
    fn the_measured_time_has_stalls_of_its_own() {
        let mut stalls = Stalls::above(Span::from_micros(120), at(5000)..at(7000));
        for (due, now) in [(1000, 4000), (4500, 4900), (4600, 5100), (4700, 5100), (6000, 6200), (7500, 7700)]
        {
            stalls.note(at(due), at(now));
        }
        assert_eq!((stalls.measured(), stalls.count(), stalls.errors().count()), (2, 3, 4));
        assert_eq!(stalls.longest(), Span::from_millis(3));
    }

    #[test]
    fn a_thread_that_is_always_late_stalls_often_or_long() {
        let anew = (0..1000).map(|i| (2000 * i, 2000 * i + 1000));
        assert_eq!(stalls(anew), (1000, Span::from_millis(1)));
        let behind = (0..1000).map(|i| (900 * i, 900 * i + 1000));
        assert_eq!(stalls(behind), (1, Span::from_micros(900 * 999 + 1000)));
    }

    /// A packet takes 120 µs. Nothing is due, but in the third round the work takes 5 ms, and in the fourth the wait
    /// takes 3.9 ms: two stalls.
    #[test]
    fn a_round_is_late_by_its_work_as_by_its_wait() {
        let limit = Span::from_micros(480);
        let mut rounds = Rounds::new(Span::from_micros(120), Stalls::above(limit, at(0)..Instant::MAX));
        for (next, now) in [(80, 85), (9000, 100), (9000, 5100), (20_000, 9000), (9010, 9020)] {
            let due = rounds.due(at(next));
            rounds.end(due, at(now));
        }
        let stalls = rounds.into_stalls();
        assert_eq!((stalls.count(), stalls.longest()), (2, Span::from_micros(4880)));
        assert_eq!((stalls.errors().count(), stalls.errors().max()), (5, Span::from_micros(4880)));
    }

    /// Of errors from 1 to 1000 µs, half are at most 500 µs and 99 % at most 990 µs. The histogram may report up to
    /// 1/64 more.
    #[test]
    fn percentiles() {
        let mut errors = TimingErrors::default();
        assert_eq!((errors.percentile(0.5), errors.max()), (Span::ZERO, Span::ZERO));
        (1..=1000).for_each(|micros| errors.add(Span::from_micros(micros)));
        for (share, micros) in [(0.5, 500), (0.99, 990), (1.0, 1000)] {
            let found = errors.percentile(share);
            assert!(
                found >= Span::from_micros(micros) && found <= Span::from_micros(micros * 65 / 64),
                "{found}"
            );
        }
        assert_eq!((errors.max(), errors.count()), (Span::from_millis(1), 1000));
    }
}
