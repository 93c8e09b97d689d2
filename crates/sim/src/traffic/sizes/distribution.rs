//! [`Sizes`]: interface of every distribution of flow sizes.

use crate::config::{ConfigError, Reader};
use crate::engine::Stream;
use shortflow_units::Bytes;
use std::fmt::Debug;
use std::sync::Arc;

/// A distribution of flow sizes.
pub trait Sizes: Send + Sync + Debug {
    /// A size of at least one byte.
    fn sample(&self, stream: &mut Stream) -> Bytes;
    /// The exact mean in bytes, truncation included. Rounding samples to whole bytes moves it by
    /// less than one byte.
    fn mean(&self) -> f64;
    /// The largest size in bytes; 1e15 for a tail without end.
    fn largest(&self) -> f64;
}

/// Reads a distribution from its table.
pub(super) type Read = fn(&Reader) -> Result<Arc<dyn Sizes>, ConfigError>;

/// No flow has more bytes than this: a tail without end must stay below [`Bytes::MAX`], which means
/// a flow that never ends.
pub(super) const LARGEST: f64 = 1e15;

/// The whole number of bytes nearest to `size`, at least one.
pub(super) fn whole(size: f64) -> Bytes {
    Bytes::new(size.clamp(1.0, LARGEST).round() as u64)
}
