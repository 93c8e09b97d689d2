//! A run: scenario × scheme × seed → outcome.

mod checks;
mod connections;
mod sources;
mod world;

use crate::net::RouteError;
use crate::outcome::{Counters, Outcome};
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use shortflow_units::Instant;
use world::World;

/// Bytes that an open connection takes in the table, both ends together.
pub const BYTES_PER_CONNECTION: usize = size_of::<connections::Connection>();

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

/// Why a run gave no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Hosts without a path between them.
    #[error("topology: {0}")]
    Route(#[from] RouteError),
    /// Ideal schedulers serve flows that are known beforehand; this traffic entry, from 1, waits for answers.
    #[error("traffic.{0}: it waits for answers, and ideal schedulers need flows that are known beforehand")]
    ClosedLoop(usize),
    /// RED cannot work with this switch.
    #[error(
        "switch.mark_above: 0 is RED's minimum threshold (queue.min = auto), with which every packet that \
         cannot be marked is dropped; 1 packet or more, or another queue.min, is needed"
    )]
    RedWithoutThreshold,
    /// The observer stopped it.
    #[error("the run was cancelled")]
    Cancelled,
    /// A defect of the simulator: packets appeared or vanished.
    #[error(
        "packets are not conserved: {} sent, but {} delivered + {} dropped + {} in flight",
        .0.packets_sent, .0.packets_delivered, .0.packets_dropped, .0.packets_in_flight
    )]
    Conservation(Counters),
    /// A defect of the simulator: a run broke one of its laws.
    #[error("the simulator broke a law of its own: {0}")]
    Broken(String),
}

/// Runs `scheme` in `scenario` with the random draws of `seed`.
pub fn run(
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    let mut world = World::new(scenario, scheme, seed)?;
    world.run(observer)?;
    let books = world.check();
    let outcome = world.finish();
    let counters = &outcome.counters;
    let accounted = counters.packets_delivered + counters.packets_dropped + counters.packets_in_flight;
    if counters.packets_sent != accounted {
        return Err(RunError::Conservation(*counters));
    }
    books.map(|()| outcome)
}
