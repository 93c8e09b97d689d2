//! [`Observer`]: looks on while a run goes on, and may stop it.

use crate::probe::watch::{PacketEvent, Watching};
use shortflow_units::Instant;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Simulated time.
    pub now: Instant,
    /// Finite flows that are not done, for which the drain waits.
    pub open: u64,
    /// Finite flows so far.
    pub flows: u64,
}

/// Looks on while a run goes on.
pub trait Observer {
    /// Called every few thousand events; `false` stops the run. On several cores the others wait for it now and then.
    fn tick(&mut self, standing: Standing) -> bool;

    /// What is to be noted of packets; asked once, before the run. A run costs nothing for it where it is `None`.
    fn watches(&self) -> Option<Watching> {
        None
    }

    /// Told before each tick, and at the end, what happened to watched packets, in order of time.
    fn packets(&mut self, _events: Vec<PacketEvent>) {}
}

/// Lets a run go on undisturbed.
#[derive(Debug, Clone, Copy)]
pub struct Unattended;

impl Observer for Unattended {
    fn tick(&mut self, _: Standing) -> bool {
        true
    }
}
