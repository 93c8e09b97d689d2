//! Every flow of the same size.

use super::Sizes;
use crate::config::{ANY_SIZE, Kind, keys};
use crate::engine::Stream;
use shortflow_units::Bytes;
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "fixed",
    summary: "every flow of the same size",
    source: "",
    parameters: Fixed::parameters,
    read: |reader| Ok(Arc::new(Fixed::read(reader)?)),
};

keys! {
    /// One size.
    struct Fixed {
        /// the size
        value: Bytes = required, ANY_SIZE;
    }
}

impl Sizes for Fixed {
    fn sample(&self, _: &mut Stream) -> Bytes {
        self.value
    }
    fn mean(&self) -> f64 {
        self.value.as_f64()
    }
    fn largest(&self) -> f64 {
        self.value.as_f64()
    }
}
