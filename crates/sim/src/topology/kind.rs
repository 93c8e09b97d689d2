//! [`Topology`]: interface of all topologies.

use super::Graph;
use crate::config::{ConfigError, Reader};
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// Reads a topology from its table.
pub(super) type Read = fn(&Reader) -> Result<Box<dyn Topology>, ConfigError>;

/// Allowed numbers of hosts. A flow needs two hosts.
pub(super) const HOSTS: RangeInclusive<u32> = 2..=100_000;

/// A topology of a scenario.
pub trait Topology: Debug {
    /// Builds the nodes and links.
    fn build(&self) -> Graph;

    /// A line that shows derived quantities, if any.
    fn note(&self) -> Option<String> {
        None
    }

    /// Warnings about the files that describe the topology.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}
