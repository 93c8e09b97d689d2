//! What the integration tests share: scenarios as text, and runs of them.
#![allow(dead_code)] // each test binary uses a part

use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::simulation::{self, Unattended};
use shortflow_units::{PortId, Span};

/// One `[tcp]` or other table as text, after a star of `hosts` hosts: 1 Gbit/s, 300 µs, 250 packets, K = 20.
pub fn star(hosts: usize, rest: &str) -> String {
    format!(
        r#"
title = "test"
duration = "1s"
drain = "100s"
[topology]
kind = "star"
hosts = {hosts}
rate = "1Gbps"
rtt = "300us"
[switch]
buffer = "250pkt"
mark_above = "20pkt"
{rest}
"#
    )
}

/// A trace entry whose CSV rows are `rows`.
pub const TRACE: &str = "[[traffic]]\nkind = \"trace\"\nfile = \"flows.csv\"\n";

/// Reads a scenario; a trace in it has these rows.
pub fn scenario(text: &str, rows: &[&str]) -> Scenario {
    let csv = format!("start,source,destination,bytes\n{}\n", rows.join("\n"));
    Scenario::parse(text, "test", &[], &|_| Ok(csv.clone())).unwrap_or_else(|error| panic!("{error}"))
}

/// A scheme with settings.
pub fn scheme(name: &str, settings: &[(&str, &str)]) -> Scheme {
    let settings: Vec<(String, String)> =
        settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Scheme::named(name, &settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs with seed 1.
pub fn run(scenario: &Scenario, scheme: &Scheme) -> Outcome {
    simulation::run(scenario, scheme, 1, &mut Unattended).unwrap_or_else(|error| panic!("{error}"))
}

/// Completion time of flow `index`.
pub fn fct(outcome: &Outcome, index: usize) -> Span {
    outcome.flows[index].fct().unwrap_or_else(|| panic!("flow {index} did not finish"))
}

/// Sampled windows of all backlogged flows, in order of time.
pub fn windows(outcome: &Outcome) -> Vec<f64> {
    values(outcome, |subject| matches!(subject, Subject::Cwnd(_)))
}

/// Sampled backlog of the measured ports in packets, from `from` seconds on.
pub fn queue(outcome: &Outcome, from: f64) -> Vec<f64> {
    let late = outcome.samples.iter().filter(|sample| sample.at.as_secs_f64() >= from);
    late.filter(|sample| matches!(sample.subject, Subject::QueuePackets(_))).map(|s| s.value).collect()
}

/// Sampled values of chosen subjects.
pub fn values(outcome: &Outcome, chosen: impl Fn(Subject) -> bool) -> Vec<f64> {
    outcome.samples.iter().filter(|sample| chosen(sample.subject)).map(|sample| sample.value).collect()
}

/// The port between two nodes by position among the ports: link `link`, from its first node or to it.
pub fn port(link: usize, back: bool) -> PortId {
    PortId::from(2 * link + usize::from(back))
}
