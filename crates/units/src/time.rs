//! [`Instant`] and [`Span`]: points in time and durations.

use crate::text::{self, UnitError};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

/// A point in time, in picoseconds since the start of a run. The type holds 213 days; the event queue of the
/// simulator ends at 20 hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A duration in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Instant {
    /// The start of a run.
    pub const ZERO: Instant = Instant(0);
    /// Later than every event.
    pub const MAX: Instant = Instant(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Instant(ps)
    }
    /// Picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// Seconds since the start, for reports only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
    /// `self + span`; the sum must fit.
    #[inline]
    pub const fn plus(self, span: Span) -> Instant {
        Instant(self.0 + span.0)
    }
    /// Time since `earlier`, which must not be later than `self`.
    #[inline]
    pub const fn after(self, earlier: Instant) -> Span {
        Span(self.0 - earlier.0)
    }
    /// Time since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Units of the text form, from the smallest.
    pub const UNITS: &'static [(&'static str, u64)] =
        &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
    /// A duration of zero.
    pub const ZERO: Span = Span(0);
    /// Longer than any run.
    pub const MAX: Span = Span(u64::MAX);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Span(ps)
    }
    /// `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Span(ns * 1_000)
    }
    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Span(us * 1_000_000)
    }
    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Span(ms * 1_000_000_000)
    }
    /// The nearest span to `secs` seconds. Negative numbers and NaN give zero, huge numbers saturate.
    pub fn from_secs_f64(secs: f64) -> Self {
        Span((secs * 1e12).round() as u64)
    }
    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// Seconds, for reports and for laws that compute with real numbers.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
    /// `self + other`; the sum must fit.
    #[inline]
    pub const fn plus(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
    /// `self · n`; the product must fit.
    #[inline]
    pub const fn by(self, n: u64) -> Span {
        Span(self.0 * n)
    }
    /// `self · n`, saturating.
    pub const fn times(self, n: u64) -> Span {
        Span(self.0.saturating_mul(n))
    }
    /// `self / n`, rounded down; `n` of zero counts as one.
    pub const fn divided_by(self, n: u64) -> Span {
        Span(self.0 / if n == 0 { 1 } else { n })
    }
    /// `|self - other|`.
    pub const fn abs_diff(self, other: Span) -> Span {
        Span(self.0.abs_diff(other.0))
    }
    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
    /// True for a duration of zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    /// Saturates at [`Instant::MAX`], which no event reaches.
    #[inline]
    fn add(self, span: Span) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}
impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}
impl Sub<Span> for Instant {
    type Output = Instant;
    /// Saturates at the start of the run.
    #[inline]
    fn sub(self, span: Span) -> Instant {
        Instant(self.0.saturating_sub(span.0))
    }
}

impl FromStr for Span {
    type Err = UnitError;
    fn from_str(input: &str) -> Result<Span, UnitError> {
        text::parse(input, Span::UNITS, "a time such as \"300us\" (units: ps ns us ms s)").map(Span)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::format(f, self.0, Span::UNITS)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::format(f, self.0, Span::UNITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_times_are_read_back() {
        for input in ["300us", "1.5us", "2s", "10ms", "80ps", "0ps"] {
            assert_eq!(input.parse::<Span>().unwrap().to_string(), input);
        }
        assert_eq!("0.3ms".parse::<Span>().unwrap(), Span::from_micros(300));
    }

    #[test]
    fn lengths_by_their_units() {
        let spans =
            [Span::from_nanos(3), Span::from_micros(3), Span::from_millis(3), Span::from_secs_f64(0.3)];
        assert_eq!(spans.map(Span::as_ps), [3_000, 3_000_000, 3_000_000_000, 300_000_000_000]);
        assert_eq!((spans[2].as_secs_f64(), Instant::from_ps(5).as_secs_f64()), (0.003, 5e-12));
    }

    #[test]
    fn spans_by_numbers_and_by_each_other() {
        let (two, five) = (Span::from_ps(2), Span::from_ps(5));
        assert_eq!((five.times(3), Span::MAX.times(2)), (Span::from_ps(15), Span::MAX));
        assert_eq!((five.divided_by(2), five.divided_by(0)), (two, five));
        assert_eq!((two.abs_diff(five), five.abs_diff(two)), (Span::from_ps(3), Span::from_ps(3)));
        assert_eq!((five.saturating_sub(two), two.saturating_sub(five)), (Span::from_ps(3), Span::ZERO));
        assert_eq!([Span::ZERO, Span::from_ps(1)].map(Span::is_zero), [true, false]);
    }

    #[test]
    fn instants_and_spans_combine() {
        let at = Instant::ZERO + Span::from_micros(3);
        assert_eq!(at.since(Instant::from_ps(1_000_000)), Span::from_micros(2));
        assert_eq!(Instant::ZERO.since(at), Span::ZERO);
    }
}
