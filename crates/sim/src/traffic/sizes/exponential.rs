//! Exponentially distributed sizes.

use super::Sizes;
use super::distribution::{LARGEST, whole};
use crate::config::{ANY_SIZE, Kind, keys};
use crate::engine::Stream;
use shortflow_units::Bytes;
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "exponential",
    summary: "exponentially distributed",
    source: "",
    parameters: Exponential::parameters,
    read: |reader| Ok(Arc::new(Exponential::read(reader)?)),
};

keys! {
    /// One mean.
    struct Exponential {
        /// mean size
        mean: Bytes = required, ANY_SIZE;
    }
}

impl Sizes for Exponential {
    fn sample(&self, stream: &mut Stream) -> Bytes {
        whole(stream.exponential(self.mean.as_f64()))
    }
    fn mean(&self) -> f64 {
        self.mean.as_f64()
    }
    fn largest(&self) -> f64 {
        LARGEST
    }
}
