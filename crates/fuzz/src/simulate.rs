//! Runs a drawn scenario under a drawn scheme.

use crate::choices::Choices;
use crate::generator::ScenarioGenerator;
use crate::registry::Registry;
use crate::values::{FUZZED, Surroundings, Values};
use crate::verdict::Verdict;
use shortflow_sim::ideal::policies;
use shortflow_sim::outcome::Outcome;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::service::ServiceModel;
use shortflow_sim::simulation::{Observer, RunError, RunProgress};
use shortflow_sim::tables;
use shortflow_spec::ConfigError;
use shortflow_units::{Bytes, HostId};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of ticks of one run in 16. A run has one tick per 8192 events, so it stops before it has
/// had 10⁵ events.
const MOST_TICKS: u32 = 12;
/// Maximum number of ticks of the other runs. Few runs that do not end on their own are worth more events.
const FEW_TICKS: u32 = 1;

/// One run in this many is repeated.
const REPEATED: u64 = 16;

/// Draws a scenario and a scheme, and runs them. Panics if the run breaks an invariant of the simulator.
pub(crate) fn judge(input: &[u8]) -> Verdict {
    let mut choices = Choices::new(input);
    let twice = choices.once_in(REPEATED);
    let seed = choices.below(256);
    let ticks = if choices.once_in(16) { MOST_TICKS } else { FEW_TICKS };
    let service = service(&mut choices);
    let Ok((scenario, text)) = ScenarioGenerator::settle(&mut choices, FUZZED) else {
        return Verdict::Rejected;
    };
    if std::env::var_os("FUZZ_SHOW").is_some() {
        eprintln!("{text}\n# {}, seed {seed}", shown(&service));
    }
    let first = service.run(&scenario, seed, &mut Cap { ticks });
    if twice {
        let again = service.run(&scenario, seed, &mut Cap { ticks });
        let digest =
            |run: &Result<Outcome, RunError>| run.as_ref().map(Outcome::digest).map_err(RunError::to_string);
        assert_eq!(digest(&first), digest(&again), "the same run twice");
    }
    match first {
        Ok(outcome) => {
            check(&outcome, &scenario);
            Verdict::Ran
        }
        Err(RunError::Cancelled) => Verdict::Capped,
        Err(
            RunError::Route(_)
            | RunError::ClosedLoop(_)
            | RunError::RedWithoutThreshold { .. }
            | RunError::RateWithoutCurve { .. }
            | RunError::TrimsRefused { .. }
            | RunError::Deadlock(_),
        ) => Verdict::Rejected,
        Err(broken) => panic!("{broken}"),
    }
}

/// A service model with its settings, as on the command line.
pub(crate) fn shown(service: &ServiceModel) -> String {
    let ServiceModel::Packets(scheme) = service else { return service.name().to_owned() };
    let given = scheme.resolved.iter().map(|setting| format!(" --set {}={}", setting.key, setting.value));
    format!("{}{}", scheme.name, given.collect::<String>())
}

/// Draws a service model.
pub(crate) fn service(choices: &mut Choices) -> ServiceModel {
    let registry = Registry::get();
    if choices.once_in(12) {
        return ServiceModel::Ideal(*choices.pick(policies()));
    }
    let (name, keys) = choices.pick(&registry.schemes);
    let mut values =
        Values { choices, style: FUZZED, surroundings: Surroundings::default(), files: BTreeMap::new() };
    let mut settings = Vec::new();
    for (key, info) in keys {
        if values.choices.once_in(6) {
            let text = values
                .draw(key, &info.shape)
                .map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
            settings.extend(text.map(|text| (key.clone(), text)));
        }
    }
    loop {
        match ServiceModel::named(name, &settings) {
            Ok(service) => return service,
            Err(error) => drop_setting(&mut settings, &error),
        }
    }
}

/// Removes the setting that `error` names. Panics if there is none.
fn drop_setting(settings: &mut Vec<(String, String)>, error: &ConfigError) {
    let before = settings.len();
    match error {
        ConfigError::Value { key, .. } | ConfigError::Impossible { key, .. } => {
            // If two keys contradict each other, the error may name the key that was not set.
            settings.retain(|(set, _)| set != key);
            if settings.len() == before {
                settings.clear();
            }
        }
        // The discipline that was drawn for hosts may not have this parameter.
        ConfigError::Unknown { key, .. } if key.starts_with("host_queue.") => {
            settings.retain(|(set, _)| set != key)
        }
        other => panic!("a registered parameter is refused: {other}"),
    }
    assert!(settings.len() < before, "a scheme is refused without settings: {error}");
}

/// Stops a run after a number of ticks.
pub(crate) struct Cap {
    pub ticks: u32,
}

impl Observer for Cap {
    fn tick(&mut self, _: RunProgress) -> bool {
        self.ticks -= 1;
        self.ticks > 0
    }
}

/// Asserts the invariants of every outcome.
fn check(outcome: &Outcome, scenario: &Scenario) {
    for flow in &outcome.flows {
        let Some(finish) = flow.finish else { continue };
        assert!(flow.start <= finish && finish <= outcome.end, "{flow:?} ends at {:?}", outcome.end);
        assert!(flow.size == Bytes::MAX || flow.acked == flow.size, "{flow:?}");
    }
    let ends = outcome.flows.iter().map(|flow| (flow.source, flow.destination));
    for (from, to) in ends.collect::<BTreeSet<_>>() {
        let known =
            |(senders, receivers): (&[HostId], &[HostId])| senders.contains(&from) && receivers.contains(&to);
        assert!(scenario.peers.groups().any(known), "no entry announces flows from {from:?} to {to:?}");
    }
    let finite = outcome.flows.iter().filter(|flow| flow.size != Bytes::MAX);
    let open = finite.filter(|flow| flow.finish.is_none()).count() as u64;
    assert!(open <= outcome.counters.unfinished, "{open} flows open, {:?}", outcome.counters);
    assert!(tables::tables(outcome, scenario).iter().all(|(_, columns)| !columns.is_empty()));
    assert_eq!(outcome.digest().len(), 64);
}
