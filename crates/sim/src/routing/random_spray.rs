//! Packet spraying — Dixit, Prakash, Hu, Kompella, "On the Impact of Packet Spraying in Data Center Networks",
//! INFOCOM 2013: each packet takes a path at random, so that all carry the same load and packets overtake one another.
//!
//! One sequence of random numbers serves all switches, so packets are routed in one order of time. [`spray`](super::spray)
//! does without.

use super::{Hop, PathChoice, RoutingInfo};
use crate::config::keys;
use crate::engine::{Seeds, Stream};
use shortflow_units::Instant;

/// Registry entry.
pub const INFO: RoutingInfo = RoutingInfo {
    name: "random-spray",
    summary: "each packet takes a path at random, drawn when it comes",
    source: "RPS, INFOCOM 2013",
    reorders: true,
    draws: true,
};

keys! {
    /// There are none.
    #[derive(Copy)]
    pub struct Params {}
}

/// A draw per packet.
#[derive(Debug, Clone)]
pub struct RandomSpray(Stream);

impl RandomSpray {
    /// The draws of a run.
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
