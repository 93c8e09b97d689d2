//! How late things happened: a histogram with steps of an eighth, and the stalls.

use shortflow_units::Span;

const STEPS: u32 = 8;

/// A histogram of timing errors. A percentile is exact to one part in eight; the largest is exact.
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
    /// Counts one.
    #[inline]
    pub fn add(&mut self, late: Span) {
        self.counts[step(nanos(late))] += 1;
        self.total += 1;
        self.most = self.most.max(late);
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The largest.
    pub fn max(&self) -> Span {
        self.most
    }

    /// The delay that `share` of all do not exceed, from 0 to 1; rounded up to a step.
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

/// Times at which the thread was late by more than a limit. What it does late in a row is one.
#[derive(Debug, Clone, Default)]
pub struct Stalls {
    limit: Span,
    count: u64,
    longest: Span,
    is_late: bool,
}

impl Stalls {
    /// Of more than `limit`.
    pub fn above(limit: Span) -> Stalls {
        Stalls { limit, ..Stalls::default() }
    }

    /// The thread turns to what has waited for so long.
    #[inline]
    pub fn note(&mut self, late: Span) {
        let was_late = std::mem::replace(&mut self.is_late, late > self.limit);
        if self.is_late {
            self.count += u64::from(!was_late);
            self.longest = self.longest.max(late);
        }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest; zero if there was none.
    pub fn longest(&self) -> Span {
        self.longest
    }

    /// What is no stall yet.
    pub fn limit(&self) -> Span {
        self.limit
    }
}

fn nanos(late: Span) -> u64 {
    late.as_ps() / 1000
}

/// Steps 0 to 7 are single nanoseconds; from there on every power of two has eight.
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
            assert!(nanos <= upper && upper <= nanos + nanos / 8, "{nanos} {upper}");
        }
    }

    #[test]
    fn what_is_late_in_a_row_is_one_stall() {
        let mut stalls = Stalls::above(Span::from_micros(120));
        [5, 120, 900, 780, 130, 20, 7, 121, 3]
            .into_iter()
            .for_each(|micros| stalls.note(Span::from_micros(micros)));
        assert_eq!((stalls.count(), stalls.longest()), (2, Span::from_micros(900)));
    }

    /// 1 to 1000 µs: half are at most 500 µs, 99 % at most 990 µs, each up to an eighth above.
    #[test]
    fn percentiles() {
        let mut errors = TimingErrors::default();
        assert_eq!((errors.percentile(0.5), errors.max()), (Span::ZERO, Span::ZERO));
        (1..=1000).for_each(|micros| errors.add(Span::from_micros(micros)));
        for (share, micros) in [(0.5, 500), (0.99, 990), (1.0, 1000)] {
            let found = errors.percentile(share);
            assert!(
                found >= Span::from_micros(micros) && found <= Span::from_micros(micros * 9 / 8),
                "{found}"
            );
        }
        assert_eq!((errors.max(), errors.count()), (Span::from_millis(1), 1000));
    }
}
