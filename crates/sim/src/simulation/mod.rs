//! A run: scenario × scheme × seed → outcome.

mod agents;
mod checks;
mod connections;
mod ends;
mod error;
mod event;
mod observer;
mod outbox;
mod parallel;
mod part;
mod plan;
mod sources;
mod state;

pub use error::RunError;
pub use event::Event;
pub use observer::{NoObserver, Observer, RunProgress};
pub use plan::{Cores, ExecutionPlan, Modes, cores};

use crate::net::BYTES_PER_PATH;
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use state::Simulation;

/// Bytes of an open connection in the tables: both ends and, if kept, its path.
pub const BYTES_PER_CONNECTION: usize = size_of::<connections::Connection>() + BYTES_PER_PATH;

/// Runs `scheme` in `scenario` with the random draws of `seed`.
pub fn run(
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    run_on(1, scenario, scheme, seed, observer).map(|(outcome, _)| outcome)
}

/// [`run`] on up to `cores` cores, with equal outcome. Returns the number used: a network splits only so far. [`cores`]
/// recommends a number.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    cores: usize,
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<(Outcome, Cores), RunError> {
    let watched = observer.watches().is_some() || observer.explains().is_some();
    let plan = ExecutionPlan::derive(scenario, scheme, cores, watched);
    let outcome = run_planned(&plan, scenario, scheme, seed, observer)?;
    Ok((outcome, Cores { used: plan.modes.cores, why: plan.fewer_cores }))
}

/// Runs by a plan for this scenario and scheme. The observer gets packets only from a plan that watches them.
///
/// # Errors
/// As [`run`].
pub fn run_planned(
    plan: &ExecutionPlan,
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    let mut simulation = if plan.modes.cores > 1 {
        parallel::run((scenario, scheme), seed, plan, observer)?
    } else {
        let mut simulation = Simulation::new((scenario, scheme), seed, plan)?;
        if plan.watched {
            simulation.watch(observer.watches(), observer.explains());
        }
        simulation.run(observer)?;
        simulation
    };
    simulation.check_room()?;
    let checked = simulation.check();
    let outcome = simulation.finish();
    let counters = &outcome.counters;
    let accounted = counters.packets_delivered + counters.packets_dropped + counters.packets_in_flight;
    if counters.packets_sent != accounted {
        return Err(RunError::Conservation(*counters));
    }
    checked.map(|()| outcome)
}
