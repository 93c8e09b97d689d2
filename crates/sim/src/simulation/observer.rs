//! [`Observer`]: looks on while a run goes on, and may stop it.

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
    /// Called every few thousand events; `false` stops the run.
    fn tick(&mut self, standing: Standing) -> bool;
}

/// Lets a run go on undisturbed.
#[derive(Debug, Clone, Copy)]
pub struct Unattended;

impl Observer for Unattended {
    fn tick(&mut self, _: Standing) -> bool {
        true
    }
}
