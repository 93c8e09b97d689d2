//! Packet spraying — Dixit, Prakash, Hu, Kompella, "On the Impact of Packet Spraying in Data Center Networks",
//! INFOCOM 2013: each packet takes a path of its own, so that all carry the same load and packets overtake one another.
//!
//! Choice: a hash stands for the draw, over the connection, the sequence number and the label that the host gives each packet
//! it sends. A packet decides on its path alone, so the order in which switches are simulated does not matter.
//! [`random_spray`](super::random_spray) draws.

use super::flow_hash::Salts;
use super::{Hop, PathChoice, RoutingInfo};
use crate::config::keys;
use crate::engine::Seeds;
use shortflow_units::Instant;

/// Registry entry.
pub const INFO: RoutingInfo = RoutingInfo {
    name: "spray",
    summary: "each packet takes a path of its own, which a hash chooses",
    source: "RPS, INFOCOM 2013",
    reorders: true,
    draws: false,
};

keys! {
    /// There are none.
    #[derive(Copy)]
    pub struct Params {}
}

/// Hashes of packets.
#[derive(Debug, Clone)]
pub struct Spray(Salts);

impl Spray {
    /// The hashes of a run.
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
