//! [`Topology`]: interface of every topology.

use super::Graph;
use crate::config::{ConfigError, Reader};
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// Reads a topology from its table.
pub(super) type Read = fn(&Reader) -> Result<Box<dyn Topology>, ConfigError>;

/// A flow needs two hosts.
pub(super) const HOSTS: RangeInclusive<u32> = 2..=100_000;

/// Builds a network.
pub trait Topology: Debug {
    /// The nodes and links.
    fn build(&self) -> Graph;

    /// A consequence of the keys worth showing.
    fn note(&self) -> Option<String> {
        None
    }

    /// Warnings about the files that it was read from.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}
