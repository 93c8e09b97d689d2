//! [`Bytes`] and [`Rate`]: amounts and rates of data.

use crate::Span;
use crate::text::{self, UnitError};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

/// A number of bytes. Text uses decimal prefixes (KB = 1000 B), and KiB, MiB, GiB for powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

/// Bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Bytes {
    /// Units of the text form: decimal units from the smallest, then binary units from the smallest.
    pub const UNITS: &'static [(&'static str, u64)] = &[
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ];
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);
    /// More than any run carries: the size of a backlogged flow.
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Bytes(n)
    }
    /// The count.
    pub const fn get(self) -> u64 {
        self.0
    }
    /// The count as a real number.
    #[inline]
    pub fn as_f64(self) -> f64 {
        match i64::try_from(self.0) {
            Ok(count) => count as f64, // this conversion is one instruction
            Err(_) => self.0 as f64,
        }
    }
    /// `self + other`, which fits.
    #[inline]
    pub const fn plus(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}
impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

const PS_BITS_PER_BYTE: u64 = 8 * 1_000_000_000_000;

impl Rate {
    /// The units of its text form, the smallest first.
    pub const UNITS: &'static [(&'static str, u64)] = &[
        ("bps", 1),
        ("Kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
    ];
    /// Largest representable rate, above the rate of every link.
    pub const MAX: Rate = Rate(u64::MAX);

    /// `bps` bits per second; `None` for zero, at which nothing would ever be sent.
    pub const fn new(bps: u64) -> Option<Self> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }
    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// Transmission time of one byte, if it is a whole number of picoseconds.
    pub const fn byte_time(self) -> Option<Span> {
        if PS_BITS_PER_BYTE.is_multiple_of(self.0) {
            Some(Span::from_ps(PS_BITS_PER_BYTE / self.0))
        } else {
            None
        }
    }
    /// Transmission time of `bytes`, rounded up to a whole picosecond.
    #[inline]
    pub const fn tx_time(self, bytes: Bytes) -> Span {
        match bytes.0.checked_mul(PS_BITS_PER_BYTE) {
            Some(product) => Span::from_ps(product.div_ceil(self.0)),
            None => {
                let ps = (bytes.0 as u128 * PS_BITS_PER_BYTE as u128).div_ceil(self.0 as u128);
                Span::from_ps(if ps > u64::MAX as u128 { u64::MAX } else { ps as u64 })
            }
        }
    }
    /// Rate at which `bytes` take `span`, rounded down; `None` if the rate is below 1 bit/s or `span` is zero.
    pub const fn of(bytes: Bytes, span: Span) -> Option<Rate> {
        if span.is_zero() {
            return None;
        }
        let bps = bytes.0 as u128 * PS_BITS_PER_BYTE as u128 / span.as_ps() as u128;
        Rate::new(if bps > u64::MAX as u128 { u64::MAX } else { bps as u64 })
    }
    /// Bytes sent in `span` at this rate, rounded down: the bandwidth–delay product.
    pub const fn bytes_in(self, span: Span) -> Bytes {
        Bytes((self.0 as u128 * span.as_ps() as u128 / PS_BITS_PER_BYTE as u128) as u64)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(input: &str) -> Result<Bytes, UnitError> {
        text::parse(input, Bytes::UNITS, "a size such as \"98KB\" (units: B KB MB GB KiB MiB GiB)").map(Bytes)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(input: &str) -> Result<Rate, UnitError> {
        let expected = "a positive rate such as \"1Gbps\" (units: bps Kbps Mbps Gbps Tbps)";
        let bps = text::parse(input, Rate::UNITS, expected)?;
        Rate::new(bps).ok_or_else(|| UnitError::new(input, expected))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::format(f, self.0, &Bytes::UNITS[..4])
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::format(f, self.0, Rate::UNITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_packet_at_one_gigabit() {
        let rate: Rate = "1Gbps".parse().unwrap();
        assert_eq!(rate.tx_time(Bytes::new(1500)), Span::from_micros(12));
        assert_eq!(rate.bytes_in(Span::from_micros(300)), Bytes::new(37_500));
    }

    #[test]
    fn one_byte_at_a_hundred_gigabit_is_eighty_picoseconds() {
        let rate: Rate = "100Gbps".parse().unwrap();
        assert_eq!(rate.tx_time(Bytes::new(1)), Span::from_ps(80));
        assert_eq!(rate.byte_time(), Some(Span::from_ps(80)));
        assert_eq!("3Gbps".parse::<Rate>().unwrap().byte_time(), None);
    }

    #[test]
    fn a_rate_is_bytes_divided_by_time() {
        assert_eq!(Rate::of(Bytes::new(1500), Span::from_micros(12)), Rate::new(1_000_000_000));
        assert_eq!(Rate::of(Bytes::new(1500), Span::ZERO), None);
        assert_eq!(Rate::of(Bytes::new(1), Span::MAX), None);
        assert_eq!(Rate::of(Bytes::MAX, Span::from_ps(1)), Some(Rate::MAX));
    }

    #[test]
    fn decimal_and_binary_prefixes() {
        let sizes =
            ["3B", "3KB", "3MB", "3GB", "3KiB", "3MiB", "3GiB"].map(|text| text.parse::<Bytes>().unwrap());
        let powers_of_two = [1024, 1_048_576, 1_073_741_824];
        let factors = [&[1, 1_000, 1_000_000, 1_000_000_000], &powers_of_two[..]].concat();
        assert_eq!(
            sizes.map(Bytes::get).to_vec(),
            factors.iter().map(|factor| 3 * factor).collect::<Vec<_>>()
        );
        assert_eq!("1Tbps".parse::<Rate>().unwrap().as_bps(), 1_000_000_000_000);
    }

    #[test]
    fn sums_saturate() {
        let mut sum = Bytes::new(5);
        sum += Bytes::new(2);
        assert_eq!((sum, sum - Bytes::new(3), sum.as_f64()), (Bytes::new(7), Bytes::new(4), 7.0));
        assert_eq!(Bytes::MAX + sum, Bytes::MAX);
        assert_eq!((sum.saturating_sub(Bytes::new(9)), sum.saturating_sub(Bytes::ZERO)), (Bytes::ZERO, sum));
    }

    #[test]
    fn rates_are_positive() {
        for wrong in ["0bps", "-1Gbps", "1Gbit", "Gbps", "1 e9bps", ""] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong:?} was accepted");
        }
    }

    proptest! {
        #[test]
        fn transmission_time_is_proportional_to_bytes(bytes in 0u64..1 << 20, gbps in 1u64..1000) {
            let rate = Rate(gbps * 1_000_000_000);
            let product = rate.byte_time().map(|time| time.times(bytes));
            prop_assert_eq!(product, (8000 % gbps == 0).then(|| rate.tx_time(Bytes(bytes))));
        }

        #[test]
        fn serialisation_rounds_up_by_less_than_a_picosecond(bytes in 0u64..1 << 40, bps in 1u64..1 << 40) {
            let exact = bytes as u128 * 8_000_000_000_000;
            let got = u128::from(Rate(bps).tx_time(Bytes(bytes)).as_ps());
            prop_assume!(got < u128::from(u64::MAX));
            prop_assert!(got * u128::from(bps) >= exact);
            prop_assert!(got * u128::from(bps) < exact + u128::from(bps));
        }

        #[test]
        fn text_round_trips(bytes: u64) {
            prop_assert_eq!(Bytes(bytes).to_string().parse::<Bytes>().unwrap(), Bytes(bytes));
        }
    }
}
