//! Scenarios in which some flows run another transport than the scheme's.

use super::common::{run, scenario, scheme, star};
use shortflow_sim::outcome::{FlowRow, Outcome};
use shortflow_units::ClassId;

const POISSON: &str =
    "[[traffic]]\nkind = \"poisson\"\nto = 4\nload = 0.6\nsizes = { kind = \"fixed\", value = \"100KB\" }\n";

fn outcome(traffic: &str, partial: &str, of: &str) -> (Vec<String>, Outcome) {
    let scenario = scenario(&star(5, &format!("{traffic}{partial}")), &[]);
    let outcome = run(&scenario, &scheme(of, &[]));
    (scenario.classes.clone(), outcome)
}

fn of_class(outcome: &Outcome, class: u16) -> Vec<&FlowRow> {
    outcome.flows.iter().filter(|flow| flow.class == ClassId::from(usize::from(class))).collect()
}

/// Flows of NewReno without ECN are never marked, while those of the scheme's DCTCP are.
#[test]
fn flows_of_the_share_run_its_transport_and_the_others_the_schemes() {
    let (classes, mixed) = outcome(POISSON, "transport = \"newreno\"\ntransport_share = 0.25\n", "dctcp");
    assert_eq!(classes, ["short", "short-newreno"]);
    let (of_scheme, of_share) = (of_class(&mixed, 0), of_class(&mixed, 1));
    let share = of_share.len() as f64 / mixed.flows.len() as f64;
    assert!((0.2..0.3).contains(&share), "{share} of {}", mixed.flows.len());
    let marks = |flows: &[&FlowRow]| flows.iter().map(|flow| u64::from(flow.marks)).sum::<u64>();
    assert!(marks(&of_scheme) > 100 && marks(&of_share) == 0, "{} {}", marks(&of_scheme), marks(&of_share));
    assert_eq!(mixed.counters.unfinished, 0);
}

/// Common random numbers: the share changes neither starts nor sizes nor hosts, and the same flows are chosen under
/// every scheme.
#[test]
fn the_same_flows_arrive_and_the_same_ones_are_chosen() {
    let drawn = |outcome: &Outcome| {
        outcome
            .flows
            .iter()
            .map(|flow| (flow.start, flow.source, flow.destination, flow.size))
            .collect::<Vec<_>>()
    };
    let chosen = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.class).collect::<Vec<_>>();
    let partial = "transport = \"cubic\"\ntransport_share = 0.5\n";
    let (plain, mixed) = (outcome(POISSON, "", "dctcp").1, outcome(POISSON, partial, "dctcp").1);
    assert_eq!(drawn(&plain), drawn(&mixed));
    assert_eq!(chosen(&mixed), chosen(&outcome(POISSON, partial, "tcp").1));
}

/// A traffic entry whose flows all run the scheme's own transport gives the same run and keeps the name of its class.
/// If a second entry has flows of this class, the flows with the transport get a class of another name, and so do the
/// rows of a trace.
#[test]
fn the_schemes_own_transport_changes_nothing() {
    let whole = "transport = \"cubic\"\ntransport_share = 1\n";
    let (classes, all) = outcome(POISSON, whole, "cubic");
    assert_eq!(classes, ["short"]);
    assert_eq!(all.digest(), outcome(POISSON, "", "cubic").1.digest());
    let two = |second: &str| outcome(&format!("{POISSON}{second}"), whole, "cubic").0;
    assert_eq!(two(POISSON), ["short", "short-cubic"]);
    assert_eq!(two(&format!("class = \"mice\"\n{POISSON}")), ["mice", "short"]);
    assert_eq!(two("class = \"a\"\n[[traffic]]\nkind = \"long-lived\"\nclass = \"b\"\n"), ["a", "b"]);
}

/// Flows that share a connection share its transport, and an application keeps its transport.
#[test]
fn connections_and_applications_have_one_transport() {
    let queries = "[[traffic]]\nkind = \"queries\"\nworkers = 4\nto = 0\nrepeat = 20\nconnections = \"persistent\"\n\
        sizes = { kind = \"fixed\", value = \"20KB\" }\n";
    let (_, mixed) = outcome(queries, "transport = \"newreno\"\ntransport_share = 0.5\n", "dctcp");
    let mut of_ends = std::collections::BTreeMap::new();
    for flow in &mixed.flows {
        let first = *of_ends.entry((flow.source, flow.destination)).or_insert(flow.class);
        assert_eq!(first, flow.class, "{} to {}", flow.source.0, flow.destination.0);
    }
    let kinds: std::collections::BTreeSet<_> = of_ends.values().collect();
    assert!(kinds.len() >= 2 && mixed.counters.unfinished == 0, "{kinds:?}");
}
