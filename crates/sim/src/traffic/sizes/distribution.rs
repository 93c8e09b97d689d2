//! [`Sizes`]: interface of all distributions of flow sizes.

use crate::config::{ConfigError, Reader};
use crate::engine::Stream;
use shortflow_units::Bytes;
use std::fmt::Debug;
use std::sync::Arc;

/// A distribution of flow sizes.
pub trait Sizes: Send + Sync + Debug {
    /// Draws a size of at least one byte.
    fn sample(&self, stream: &mut Stream) -> Bytes;
    /// The exact mean in bytes of the truncated distribution. Rounding of samples to whole bytes changes the
    /// mean by less than one byte.
    fn mean(&self) -> f64;
    /// The largest size in bytes; 1e15 if the tail is unbounded.
    fn largest(&self) -> f64;
}

/// Reads a distribution from its table.
pub(super) type Read = fn(&Reader) -> Result<Arc<dyn Sizes>, ConfigError>;

/// Largest size of a flow in bytes. An unbounded tail must stay below [`Bytes::MAX`], which denotes a
/// backlogged flow.
pub(super) const LARGEST: f64 = 1e15;

/// `size` rounded to whole bytes, at least one byte.
pub(super) fn whole(size: f64) -> Bytes {
    Bytes::new(size.clamp(1.0, LARGEST).round() as u64)
}
