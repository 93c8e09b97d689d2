//! Equal-cost multipath — RFC 2992, hash-threshold: a hash chooses the path of a connection, and the
//! connection keeps this path.
//!
//! Choice: each switch adds a random number of the run to the hash, so that the switches of a path choose
//! independently.

use super::{Hop, PathChoice, RoutingInfo};
use crate::config::keys;
use crate::engine::Seeds;
use shortflow_units::Instant;

/// Registry entry.
pub(crate) const INFO: RoutingInfo = RoutingInfo {
    name: "flow-hash",
    summary: "a hash of the connection's number chooses the path, and all packets of the connection take it",
    source: "RFC 2992",
    reorders: false,
    draws: false,
};

keys! {
    /// No keys.
    #[derive(Copy)]
    pub struct Params {}
}

/// A random number for each node.
#[derive(Debug, Clone)]
pub(super) struct Salts(Vec<u64>);

impl Salts {
    /// Draws the numbers of a run from the random stream `name`.
    pub(super) fn new(name: &str, nodes: usize, seeds: Seeds) -> Salts {
        let mut salts = seeds.stream(name, 0);
        Salts((0..nodes).map(|_| salts.bits()).collect())
    }

    /// Path at a hop for the number `decides`.
    #[inline]
    pub(super) fn choose(&self, hop: Hop, decides: u64) -> usize {
        let spread = mix(self.0[hop.node.index()] ^ decides);
        (((spread >> 32) * hop.paths as u64) >> 32) as usize
    }
}

/// Hashes of connections.
#[derive(Debug, Clone)]
pub struct FlowHash(Salts);

impl FlowHash {
    /// Hashes for a run.
    pub fn new(_: Params, nodes: usize, seeds: Seeds) -> Self {
        FlowHash(Salts::new("ecmp", nodes, seeds))
    }

    #[inline]
    fn hash(&self, hop: Hop) -> usize {
        self.0.choose(hop, u64::from(hop.flow_id) ^ (u64::from(hop.to.0) << 32))
    }
}

impl PathChoice for FlowHash {
    #[inline]
    fn choose(&mut self, _: Instant, hop: Hop) -> usize {
        self.hash(hop)
    }

    fn of_flow(&self, hop: Hop) -> Option<usize> {
        Some(self.hash(hop))
    }
}

/// The finaliser of SplitMix64: spreads neighbouring numbers over all bits.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
