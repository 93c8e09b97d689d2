//! Simulation of one run: a scenario under a scheme with a seed.

mod agents;
mod books;
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
mod progress;
mod rows;
mod sampler;
mod sources;
mod state;
mod world;

pub use error::RunError;
pub use event::Event;
pub use observer::{NoObserver, Observer, RunProgress};
pub use plan::{Cores, ExecutionPlan, Modes, cores};

use crate::net::BYTES_PER_PATH;
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use state::Simulation;

/// Memory of an open connection in bytes: both ends and, if paths are fixed, the path.
pub const BYTES_PER_CONNECTION: usize = size_of::<connections::Connection>() + BYTES_PER_PATH;

/// Runs `scheme` in `scenario` with random draws from `seed`.
pub fn run(
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    run_on(1, scenario, scheme, seed, observer).map(|(outcome, _)| outcome)
}

/// Runs like [`run`] on up to `cores` cores, with the same outcome. Returns the number of cores used, because
/// a network cannot be split into arbitrarily many parts. [`cores`] recommends a number.
///
/// # Errors
/// Returns the errors of [`run`].
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

/// Runs by `plan`, which must be derived from this scenario and scheme. The observer receives packets only if
/// the plan watches them.
///
/// # Errors
/// Returns the errors of [`run`].
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
        let mut simulation = Simulation::new((scenario, scheme), seed, plan, None)?;
        if plan.watched {
            simulation.world.watch(observer.watches(), observer.explains());
        }
        simulation.run(observer)?;
        simulation
    };
    simulation.check_room()?;
    let checked = checks::check(&mut simulation);
    let outcome = simulation.finish();
    let counters = &outcome.counters;
    let accounted = counters.packets_delivered + counters.packets_dropped + counters.packets_in_flight;
    if counters.packets_sent != accounted {
        return Err(RunError::Conservation(*counters));
    }
    checked.map(|()| outcome)
}
