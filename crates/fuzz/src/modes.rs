//! [`compare`]: runs a drawn scenario in every mode. All modes must have the same outcome.

use crate::choices::Choices;
use crate::generator::ScenarioGenerator;
use crate::simulate::{Cap, service, shown};
use crate::values::Style;
use shortflow_sim::outcome::{FlowRow, Outcome, PortRow};
use shortflow_sim::probe::watch::{FlowChoice, TraceFilter};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::service::ServiceModel;
use shortflow_sim::simulation::{
    ExecutionPlan, Modes, NoObserver, Observer, RunError, RunProgress, run_on, run_planned,
};
use shortflow_units::{Instant, PortId};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum number of ticks of a run. A run has one tick per 8192 events.
const MOST_TICKS: u32 = 40;

/// Styles, which take turns: small networks with many keys set, medium networks, and large networks with few
/// keys set.
const STYLES: [Style; 3] = [style(2, 1), style(3, 2), style(6, 5)];

const fn style(optional: u64, size: u64) -> Style {
    let units = &["ps", "ns", "00ns", "us", "us", "us", "0us"];
    Style { optional, size, fast: true, lossless: 3, delays: units, rtts: units }
}

/// One of this many draws always runs. Other draws run only if they are busy and can run in windows.
const ANYTHING_EVERY: u64 = 64;
/// Minimum number of sent packets of a busy run. A busy run also marks or drops packets.
const BUSY: u64 = 1000;

/// Maximum number of synchronisations of a run on several cores. Runs with more are compared on one core
/// only, because waiting threads are slow.
const MOST_MEETINGS: u64 = 1000;

/// A scenario that had the same outcome in all modes.
#[derive(Debug)]
pub struct Alike {
    /// Names of the modes that were possible.
    pub ways: Vec<String>,
    /// Kinds, schemes and keys of the draw, and events of its run, each as `group=name`.
    pub features: BTreeSet<String>,
}

/// Runs draw `number` of a seed in every mode. Returns `None` if the draw gives no run, a long run, or a run
/// that is not busy. Fails with the differences and the scenario if two outcomes differ, or if a run breaks
/// an invariant of the simulator.
pub fn compare(seed: u64, number: u64) -> Result<Option<Alike>, String> {
    let mut choices = Choices::numbered(seed << 32 | number);
    let (style, run_seed) = (STYLES[number as usize % STYLES.len()], choices.below(256));
    let service = service(&mut choices);
    let ServiceModel::Packets(scheme) = &service else { return Ok(None) };
    let Ok((scenario, text)) = ScenarioGenerator::settle(&mut choices, style) else { return Ok(None) };
    let is_choosy = !number.is_multiple_of(ANYTHING_EVERY);
    if is_choosy
        && !(has_wide_slots(&scenario)
            && ExecutionPlan::set(Modes { windows: true, ..Modes::PLAIN }, &scenario, scheme).is_some())
    {
        return Ok(None);
    }
    let plain = run_in(Modes::PLAIN, &scenario, scheme, run_seed, &mut Cap { ticks: MOST_TICKS });
    let expected = match plain {
        Ok(Some(outcome)) if is_choosy && !is_busy(&outcome) => return Ok(None),
        Ok(Some(outcome)) => outcome,
        Ok(None)
        | Err(
            RunError::Cancelled
            | RunError::Route(_)
            | RunError::ClosedLoop(_)
            | RunError::RedWithoutThreshold { .. }
            | RunError::RateWithoutCurve { .. }
            | RunError::TrimsRefused { .. }
            | RunError::Deadlock(_),
        ) => return Ok(None),
        Err(error) => return Err(format!("in order of time: {error}")),
    };
    let (mut ways, mut differences) = (Vec::new(), String::new());
    let most = if meetings(&scenario, &expected) > MOST_MEETINGS { 1 } else { 4 };
    for mode in modes(most) {
        let name = mode.name();
        match catch_unwind(AssertUnwindSafe(|| mode.run(&scenario, scheme, run_seed))) {
            Ok(Ok(None)) => continue,
            Ok(Ok(Some(outcome))) if seen(&outcome) == seen(&expected) => {}
            Ok(Ok(Some(outcome))) => differences += &format!("{name}: {}\n", seen(&outcome)),
            Ok(Err(error)) => differences += &format!("{name}: {error}\n"),
            Err(_) => differences += &format!("{name}: panicked\n"),
        }
        ways.push(name);
    }
    if !differences.is_empty() {
        let shown = shown(&service);
        let expected = seen(&expected);
        return Err(format!(
            "{text}\n# {shown}, seed {run_seed}\nin order of time: {expected}\n{differences}"
        ));
    }
    Ok(Some(Alike { ways, features: features(&scenario, scheme, &expected) }))
}

/// True if at least half of the links can send a full packet within the shortest link delay. Windows then
/// change the order of events.
fn has_wide_slots(scenario: &Scenario) -> bool {
    let (links, size) = (&scenario.graph.links, scenario.tcp.mss + scenario.tcp.header);
    let slot = links.iter().map(|link| link.delay).min();
    let wide = links.iter().filter(|link| slot.is_some_and(|slot| link.rate.tx_time(size) <= slot));
    2 * wide.count() >= links.len()
}

fn is_busy(outcome: &Outcome) -> bool {
    let is_congested =
        outcome.counters.packets_dropped > 0 || outcome.ports.iter().any(|port| port.marks > 0);
    is_congested && outcome.counters.packets_sent >= BUSY
}

/// Upper bound on the number of times that the parts of a run synchronise.
fn meetings(scenario: &Scenario, outcome: &Outcome) -> u64 {
    let delays = scenario.graph.links.iter().map(|link| link.delay.as_ps());
    let shortest = delays.filter(|delay| *delay > 0).min().unwrap_or(1);
    (outcome.end.as_ps() / shortest).min(outcome.counters.packet_hops)
}

/// Runs in these modes. Returns `None` if the scenario forbids them.
fn run_in(
    modes: Modes,
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    let plan = ExecutionPlan::set(modes, scenario, scheme);
    plan.map(|plan| run_planned(&plan, scenario, scheme, seed, observer)).transpose()
}

/// A mode of a run.
#[derive(Debug, Clone, Copy)]
enum Mode {
    /// The modes are given.
    Told(Modes),
    /// The simulator chooses the modes, with up to this number of cores.
    Chosen(usize),
    /// Every packet is watched.
    Watched,
}

/// All modes, up to this number of cores.
fn modes(most: usize) -> Vec<Mode> {
    let mut modes = vec![Mode::Watched];
    for cores in 1..=most {
        modes.push(Mode::Chosen(cores));
        let both = [false, true];
        let of_order = both.map(|windows| {
            both.map(|prefetch| {
                both.map(|fixed_paths| {
                    both.map(|early_hosts| Modes {
                        cores,
                        windows,
                        fixed_paths,
                        prefetch,
                        predicts: true,
                        early_hosts,
                        by_output: windows && (early_hosts || prefetch),
                    })
                })
            })
        });
        let all = of_order.into_iter().flatten().flatten().flatten();
        // Fixed paths do not depend on the number of cores, so runs without fixed paths use one core.
        let told = all.filter(|modes| cores == 1 || modes.fixed_paths);
        modes.extend(told.map(Mode::Told));
    }
    modes
}

impl Mode {
    fn name(self) -> String {
        match self {
            Mode::Told(Modes {
                cores,
                windows,
                fixed_paths,
                prefetch,
                early_hosts,
                by_output,
                predicts: _,
            }) => {
                let order = if windows { "window by window" } else { "in order of time" };
                let choices = [
                    (", paths", fixed_paths),
                    (", fetching", prefetch),
                    (", early hosts", early_hosts),
                    (", by output", by_output),
                ];
                let named = choices.iter().filter(|choice| choice.1).map(|choice| choice.0);
                format!("{order} on {cores}{}", named.collect::<String>())
            }
            Mode::Chosen(cores) => format!("as chosen on {cores}"),
            Mode::Watched => "watched".to_owned(),
        }
    }

    fn run(self, scenario: &Scenario, scheme: &Scheme, seed: u64) -> Result<Option<Outcome>, RunError> {
        match self {
            Mode::Told(modes) => run_in(modes, scenario, scheme, seed, &mut NoObserver),
            Mode::Chosen(cores) => {
                let (outcome, taken) = run_on(cores, scenario, scheme, seed, &mut NoObserver)?;
                Ok((taken.used == cores).then_some(outcome))
            }
            Mode::Watched => {
                let ports = (0..2 * scenario.graph.links.len()).map(PortId::from).collect();
                run_on(2, scenario, scheme, seed, &mut Watcher(ports)).map(|(outcome, _)| Some(outcome))
            }
        }
    }
}

/// Watches all flows and these ports.
struct Watcher(Vec<PortId>);

impl Observer for Watcher {
    fn tick(&mut self, _: RunProgress) -> bool {
        true
    }

    fn watches(&self) -> Option<TraceFilter> {
        let flows = FlowChoice { rows: std::iter::once(0..u32::MAX).collect(), classes: Vec::new() };
        Some(TraceFilter { flows, ports: self.0.clone(), frames: false, during: Instant::ZERO..Instant::MAX })
    }
}

/// Results that must be equal.
fn seen(outcome: &Outcome) -> String {
    let paused = outcome.ports.iter().filter(|port| port.pauses.is_some_and(|counts| counts.pauses > 0));
    let pauses: Vec<_> =
        paused.map(|port| (port.from, port.to, port.pauses, &port.pauses_by_priority)).collect();
    format!("{} at {:?}, {:?}, pauses {pauses:?}", outcome.digest(), outcome.end, outcome.counters)
}

fn features(scenario: &Scenario, scheme: &Scheme, outcome: &Outcome) -> BTreeSet<String> {
    let given = scenario.resolved().iter().filter(|setting| !setting.source.is_default());
    let words = |key: &str| {
        let steps = key.split('.').filter(|step| step.parse::<u32>().is_err());
        steps.collect::<Vec<_>>().join(".")
    };
    let keys = given.map(|setting| match words(&setting.key) {
        key if key.ends_with("kind") => format!("{key}={}", setting.value),
        key => format!("key={key}"),
    });
    let flows = |what: fn(&FlowRow) -> bool| outcome.flows.iter().any(what);
    let ports = |what: fn(&PortRow) -> bool| outcome.ports.iter().any(what);
    let events = [
        ("drop", outcome.counters.packets_dropped > 0),
        ("mark", ports(|port| port.marks > 0)),
        ("trim", ports(|port| port.trims > 0)),
        ("pause", ports(|port| port.pauses.is_some_and(|counts| counts.pauses > 0))),
        (
            "pause of one of several priorities",
            ports(|port| port.pauses_by_priority.iter().any(|(_, of)| of.pauses > 0)),
        ),
        ("timeout", flows(|flow| flow.timeouts > 0)),
        ("retransmission", flows(|flow| flow.retransmits > 0)),
        ("finished flow", flows(|flow| flow.finish.is_some())),
        ("unfinished flow", outcome.counters.unfinished > 0),
        ("missed deadline", flows(|flow| flow.deadline.is_some_and(|allowed| flow.fct() > Some(allowed)))),
        ("task", !outcome.tasks.is_empty()),
        ("sample", !outcome.samples.is_empty()),
        ("thousand packets", outcome.counters.packets_delivered > 1000),
    ];
    let events = events.into_iter().filter(|(_, met)| *met).map(|(name, _)| format!("event={name}"));
    keys.chain(events).chain([format!("scheme={}", scheme.name)]).collect()
}
