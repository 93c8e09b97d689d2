//! Routing by destination: path number d mod n of n for the host number d, as in a table of addresses without multipath.
//!
//! If switches in a row choose, later ones meet only the destinations that the first has sent them, and may use
//! some of their paths alone.

use super::{Hop, PathChoice, RoutingInfo};
use crate::config::keys;
use crate::engine::Seeds;
use shortflow_units::Instant;

/// Registry entry.
pub const INFO: RoutingInfo = RoutingInfo {
    name: "destination",
    summary: "the number of the destination modulo the number of paths chooses",
    source: "",
    reorders: false,
    draws: false,
};

keys! {
    /// There are none.
    #[derive(Copy)]
    pub struct Params {}
}

/// One path per destination.
#[derive(Debug, Clone)]
pub struct Destination;

impl Destination {
    /// Nothing is drawn.
    pub fn new(_: Params, _: usize, _: Seeds) -> Self {
        Destination
    }
}

impl PathChoice for Destination {
    fn choose(&mut self, _: Instant, hop: Hop) -> usize {
        hop.to.index() % hop.paths
    }

    fn of_flow(&self, hop: Hop) -> Option<usize> {
        Some(hop.to.index() % hop.paths)
    }
}
