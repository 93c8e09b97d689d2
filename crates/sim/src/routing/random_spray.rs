//! Packet spraying — Dixit, Prakash, Hu, Kompella, "On the Impact of Packet Spraying in Data Center Networks",
//! INFOCOM 2013: each packet takes a random path, so that all paths carry the same load and packets overtake
//! each other.
//!
//! One random stream serves all switches, so packets must be routed in order of time. [`spray`](super::spray)
//! has no such constraint.

use super::{Hop, PathChoice, RoutingInfo};
use crate::config::keys;
use crate::engine::{Seeds, Stream};
use shortflow_units::Instant;

/// Registry entry.
pub(crate) const INFO: RoutingInfo = RoutingInfo {
    name: "random-spray",
    summary: "each packet takes a random path, drawn when the packet arrives at a switch",
    source: "RPS, INFOCOM 2013",
    reorders: true,
    draws: true,
};

keys! {
    /// No keys.
    #[derive(Copy)]
    pub struct Params {}
}

/// A random draw per packet.
#[derive(Debug, Clone)]
pub struct RandomSpray(Stream);

impl RandomSpray {
    /// Random draws for a run.
    pub fn new(_: Params, _: usize, seeds: Seeds) -> Self {
        RandomSpray(seeds.stream("sprayed packets", 0))
    }
}

impl PathChoice for RandomSpray {
    fn choose(&mut self, _: Instant, hop: Hop) -> usize {
        self.0.below(hop.paths as u64) as usize
    }

    fn of_flow(&self, _: Hop) -> Option<usize> {
        None
    }
}
