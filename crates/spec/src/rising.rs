//! [`RisingSizes`]: one to seven sizes in rising order.

use crate::{Format, Shape, Text, Value};
use shortflow_units::Bytes;

/// One to seven sizes in rising order; unused places hold [`Bytes::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RisingSizes([Bytes; 7]);

impl RisingSizes {
    /// All seven places, in rising order.
    pub fn all(&self) -> [Bytes; 7] {
        self.0
    }

    /// The sizes that were given.
    pub fn used(&self) -> impl Iterator<Item = Bytes> + '_ {
        self.0.iter().copied().filter(|size| *size != Bytes::MAX)
    }

    /// Number of sizes that are at most `bytes`.
    pub fn level(&self, bytes: Bytes) -> u64 {
        self.used().filter(|size| *size <= bytes).count() as u64
    }
}

/// The format of [`RisingSizes`].
#[derive(Debug, Clone, Copy)]
pub struct Rising;

/// One to seven rising sizes.
pub const RISING_SIZES: Rising = Rising;

impl Format for Rising {
    type Value = RisingSizes;
    fn read(&self, value: &Value) -> Option<RisingSizes> {
        let sizes = value.as_str()?.split(',');
        let given: Vec<Bytes> = sizes.map(|size| size.parse().ok()).collect::<Option<_>>()?;
        let mut all = RisingSizes([Bytes::MAX; 7]);
        all.0.get_mut(..given.len())?.copy_from_slice(&given);
        given.is_sorted_by(|a, b| a < b).then_some(all)
    }
    fn shape(&self) -> Shape {
        Shape::Text(Text::RisingSizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rising_sizes_are_read_and_checked() {
        let read = |text: &str| RISING_SIZES.read(&Value::String(text.to_owned()));
        let rising = read("20KB, 1MB").unwrap();
        assert_eq!(rising.all()[..3], [Bytes::new(20_000), Bytes::new(1_000_000), Bytes::MAX]);
        let level = |bytes| rising.level(Bytes::new(bytes));
        assert_eq!([0, 19_999, 20_000, 999_999, 1_000_000].map(level), [0, 0, 1, 1, 2]);
        for wrong in ["", "1MB,20KB", "1KB,1KB", "1B,2B,3B,4B,5B,6B,7B,8B", "1KB,x"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
