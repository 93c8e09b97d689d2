//! Some flows run another transport than the scheme's, as the network shows.

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

/// NewReno without ECN is never marked where the scheme's DCTCP is.
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

/// Common random numbers: the share changes neither starts nor sizes nor hosts, and is the same under every scheme.
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

/// A whole entry that runs the scheme's own transport differs in the names of classes alone.
#[test]
fn the_schemes_own_transport_changes_nothing() {
    let times = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.finish).collect::<Vec<_>>();
    let (classes, all) = outcome(POISSON, "transport = \"cubic\"\n", "cubic");
    assert_eq!(classes, ["short", "short-cubic"]);
    assert_eq!(of_class(&all, 0).len(), 0);
    assert_eq!(times(&all), times(&outcome(POISSON, "", "cubic").1));
}

/// Flows that share a connection share its transport, and applications keep to theirs.
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
