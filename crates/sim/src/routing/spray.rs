//! Packet spraying — Dixit, Prakash, Hu, Kompella, "On the Impact of Packet Spraying in Data Center Networks",
//! INFOCOM 2013: each packet takes a path at random, so that all carry the same load and packets overtake one another.

use super::{Hop, PathChoice, RoutingInfo};
use crate::config::keys;
use crate::engine::{Seeds, Stream};
use shortflow_units::Instant;

/// Registry entry.
pub const INFO: RoutingInfo = RoutingInfo {
    name: "spray",
    summary: "each packet takes a path at random",
    source: "RPS, INFOCOM 2013",
    reorders: true,
};

keys! {
    /// There are none.
    #[derive(Copy)]
    pub struct Params {}
}

/// A draw per packet.
#[derive(Debug, Clone)]
pub struct Spray(Stream);

impl Spray {
    /// The draws of a run.
    pub fn new(_: Params, _: usize, seeds: Seeds) -> Self {
        Spray(seeds.stream("sprayed packets", 0))
    }
}

impl PathChoice for Spray {
    fn choose(&mut self, _: Instant, hop: Hop) -> usize {
        self.0.below(hop.paths as u64) as usize
    }

    fn of_flow(&self, _: Hop) -> Option<usize> {
        None
    }
}
