//! Sizes between two bounds, all equally likely.

use super::Sizes;
use crate::config::{ANY_SIZE, Kind, keys};
use crate::engine::Stream;
use shortflow_units::Bytes;
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "uniform",
    summary: "every whole number of bytes between two bounds equally likely",
    source: "",
    parameters: Uniform::parameters,
    read: |reader| Ok(Arc::new(Uniform::read(reader)?)),
};

keys! {
    /// Two bounds, both included.
    struct Uniform {
        /// smallest size
        min: Bytes = required, ANY_SIZE;
        /// largest size
        max: Bytes = required, ANY_SIZE;
    } in order {
        min <= max;
    }
}

impl Sizes for Uniform {
    fn sample(&self, stream: &mut Stream) -> Bytes {
        self.min + Bytes::new(stream.below((self.max - self.min).get() + 1))
    }
    fn mean(&self) -> f64 {
        (self.min.as_f64() + self.max.as_f64()) / 2.0
    }
    fn largest(&self) -> f64 {
        self.max.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Seeds;
    use crate::traffic::sizes::tests::sizes_of;

    #[test]
    fn both_bounds_occur_and_nothing_beyond() {
        let sizes = sizes_of("kind='uniform'\nmin='3B'\nmax='5B'").unwrap();
        let mut stream = Seeds::new(1).stream("test", 0);
        let seen: std::collections::BTreeSet<u64> =
            (0..200).map(|_| sizes.sample(&mut stream).get()).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5]);
    }

    #[test]
    fn the_benchmark_of_l2dct_has_a_mean_of_50_kb() {
        assert_eq!(sizes_of("kind='uniform'\nmin='2KB'\nmax='98KB'").unwrap().mean(), 50_000.0);
    }
}
