//! Topologies: hosts, switches and links. A new kind is a file with a `KIND` and a [`Topology`], and one line
//! in `KINDS`.

mod chain;
mod delay_segments;
mod dumbbell;
mod explicit;
mod fat_tree;
mod graph;
mod kind;
mod leaf_spine;
mod named;
mod parking_lot;
mod racks;
mod single_rooted_tree;
mod star;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod two_tier_tree;

pub use graph::{Graph, Link, Node};
pub use kind::Topology;
pub(crate) use named::{HostNames, find_link, find_port};

use crate::config::{ConfigError, Entry, Kind, Reader};
use kind::{HOSTS, Read};

/// Registry of topologies.
const KINDS: &[Kind<Read>] = &[
    star::KIND,
    single_rooted_tree::KIND,
    dumbbell::KIND,
    chain::KIND,
    parking_lot::KIND,
    two_tier_tree::KIND,
    leaf_spine::KIND,
    fat_tree::KIND,
    explicit::KIND,
];

/// All topologies, in the order of the documentation.
pub fn topologies() -> Vec<Entry> {
    KINDS.iter().map(Kind::entry).collect()
}

/// Reads the `[topology]` table.
pub(crate) fn read(reader: &Reader) -> Result<Box<dyn Topology>, ConfigError> {
    let kind = Kind::chosen(KINDS, reader)?;
    kind.check_keys(reader)?;
    (kind.read)(reader)
}
