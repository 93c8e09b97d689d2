//! Packet spraying — Dixit, Prakash, Hu, Kompella, "On the Impact of Packet Spraying in Data Center Networks",
//! INFOCOM 2013: each packet takes its own path, so that all paths carry the same load and packets overtake
//! each other.
//!
//! Choice: a hash of connection, sequence number and the host's packet label replaces the random draw. The
//! path depends only on the packet, so switches can be simulated in any order.
//! [`random_spray`](super::random_spray) makes random draws.

use super::flow_hash::Salts;
use super::{Hop, PathChoice, RoutingInfo};
use crate::config::keys;
use crate::engine::Seeds;
use shortflow_units::Instant;

/// Registry entry.
pub(crate) const INFO: RoutingInfo = RoutingInfo {
    name: "spray",
    summary: "a hash chooses a path for each packet",
    source: "RPS, INFOCOM 2013",
    reorders: true,
    draws: false,
};

keys! {
    /// No keys.
    #[derive(Copy)]
    pub struct Params {}
}

/// Hashes of packets.
#[derive(Debug, Clone)]
pub struct Spray(Salts);

impl Spray {
    /// Hashes for a run.
    pub fn new(_: Params, nodes: usize, seeds: Seeds) -> Self {
        Spray(Salts::new("sprayed packets", nodes, seeds))
    }

    fn hash(&self, hop: Hop) -> usize {
        let label = hop.seq.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(hop.label) << 56);
        self.0.choose(hop, u64::from(hop.flow_id) ^ (u64::from(hop.to.0) << 32) ^ label)
    }
}

impl PathChoice for Spray {
    fn choose(&mut self, _: Instant, hop: Hop) -> usize {
        self.hash(hop)
    }

    fn of_flow(&self, _: Hop) -> Option<usize> {
        None
    }

    fn of_packet(&self, hop: Hop) -> Option<usize> {
        Some(self.hash(hop))
    }
}
