//! Routing by destination: a switch with n paths sends packets for host d over path d mod n, like an address
//! table without multipath.
//!
//! If several switches on a path choose, a later switch sees only destinations that earlier switches sent to
//! it, and may leave some of its paths unused.

use super::{Hop, PathChoice, RoutingInfo};
use crate::config::keys;
use crate::engine::Seeds;
use shortflow_units::Instant;

/// Registry entry.
pub(crate) const INFO: RoutingInfo = RoutingInfo {
    name: "destination",
    summary: "the number of the destination host modulo the number of paths chooses the path",
    source: "",
    reorders: false,
    draws: false,
};

keys! {
    /// No keys.
    #[derive(Copy)]
    pub struct Params {}
}

/// One path per destination.
#[derive(Debug, Clone)]
pub struct Destination;

impl Destination {
    /// A chooser without random draws.
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
