//! Shared parts of the integration tests: texts of scenarios, and runs.

use shortflow_cc::Recovery;
use shortflow_sim::engine::Seeds;
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;
use shortflow_sim::queue::{PortSetup, QueueConfig, QueueKind};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::simulation::{self, NoObserver};
use shortflow_units::{Bytes, Occupancy, Rate, Span};

/// Text of a scenario: a star of `hosts` hosts with 1 Gbit/s, 300 µs, 250 packets and K = 20, followed by `rest`.
/// Hosts are FIFOs, unless `rest` has a table `[host]`.
pub(crate) fn star(hosts: usize, rest: &str) -> String {
    let model = if rest.contains("[host]") { "" } else { "host.model = \"fifo\"" };
    format!(
        r#"
title = "test"
duration = "1s"
drain = "100s"
{model}
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

/// A traffic entry for a trace, whose rows `scenario` gets.
pub(crate) const TRACE: &str = "[[traffic]]\nkind = \"trace\"\nfile = \"flows.csv\"\n";

/// Reads a scenario; `rows` are the rows of its trace.
pub(crate) fn scenario(text: &str, rows: &[&str]) -> Scenario {
    scenario_with_file(text, &format!("start,source,destination,bytes\n{}\n", rows.join("\n")))
}

/// Reads a scenario in which every file has the text `file`. The initial window is two segments unless `text` sets
/// one, because tests that calculate by hand count few packets.
pub(crate) fn scenario_with_file(text: &str, file: &str) -> Scenario {
    let window = [("tcp.initial_window".to_owned(), "2".to_owned())];
    let settings = if text.contains("initial_window") { &[][..] } else { &window };
    Scenario::parse(text, "test", settings, &|_| Ok(file.to_owned()))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Text of a `[topology]` table: a small network of any registered kind with at least `senders` + 2 hosts, for up to
/// 14 senders. The file of an explicit network has the text [`EDGES`].
pub(crate) fn small_topology(kind: &str, senders: u32) -> String {
    let keys = match kind {
        "star" => format!("hosts = {}", senders + 2),
        "single-rooted-tree" => format!("hosts = {}\nracks = 2", 2 * (senders + 1)),
        "dumbbell" => format!("pairs = {}\nbottleneck = \"500Mbps\"", senders + 1),
        "chain" => format!("hops = 3\nhosts_per_switch = {}", senders.div_ceil(2)),
        "parking-lot" => {
            format!("senders = {senders}\nfirst_bottleneck = \"2Gbps\"\nsecond_bottleneck = \"1Gbps\"")
        }
        "two-tier-tree" => format!("racks = 2\nhosts_per_rack = {}\noversubscription = 2", senders + 1),
        "leaf-spine" => {
            format!("racks = 3\nhosts_per_rack = {senders}\nspines = 2\nuplink_rate = \"1Gbps\"")
        }
        "fat-tree" => "k = 4".to_owned(),
        "explicit" => return "kind = \"explicit\"\nfile = \"links.csv\"".to_owned(),
        other => panic!("there is no small network of kind {other:?} for the tests yet"),
    };
    format!("kind = \"{kind}\"\nrate = \"1Gbps\"\nrtt = \"200us\"\n{keys}")
}

/// Sixteen hosts at two switches with two paths between them.
pub(crate) const EDGES: &str = "a,b,rate,delay
h0,s0,1Gbps,25us\nh1,s0,1Gbps,25us\nh2,s0,1Gbps,25us\nh3,s0,1Gbps,25us
h4,s0,1Gbps,25us\nh5,s0,1Gbps,25us\nh6,s0,1Gbps,25us\nh7,s0,1Gbps,25us
h8,s1,1Gbps,25us\nh9,s1,1Gbps,25us\nh10,s1,1Gbps,25us\nh11,s1,1Gbps,25us
h12,s1,1Gbps,25us\nh13,s1,1Gbps,25us\nh14,s1,1Gbps,25us\nh15,s1,1Gbps,25us
s0,s2,1Gbps,25us\ns2,s1,1Gbps,25us\ns0,s3,2Gbps,25us\ns3,s1,2Gbps,25us
";

/// Settings of laws as in the papers' ns-2 code.
const LAWS: [(&str, &str); 2] = [("transport.initial_alpha", "0"), ("transport.cwnd_floor", "1")];

/// A scheme with settings. All laws except FaST start with alpha 0 and may keep one segment, unless `settings` say
/// otherwise.
pub(crate) fn scheme(name: &str, settings: &[(&str, &str)]) -> Scheme {
    let is_given = |key: &str| settings.iter().any(|(given, _)| *given == key);
    let takes = |key: &str| name != "fast" && !is_given(key) && Scheme::accepts(name, key, None);
    let laws = LAWS.iter().filter(|(key, _)| takes(key));
    let settings: Vec<(String, String)> =
        laws.chain(settings).map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Scheme::named(name, &settings).unwrap_or_else(|error| panic!("{error}"))
}

/// A scheme with the settings that it accepts, since not every transport runs over TCP.
pub(crate) fn scheme_with_what_it_has(name: &str, settings: &[(&str, &str)]) -> Scheme {
    let has = |key: &str| Scheme::accepts(name, key, None);
    let settings: Vec<(&str, &str)> = settings.iter().copied().filter(|(key, _)| has(key)).collect();
    scheme(name, &settings)
}

/// Every kind of loss recovery.
pub(crate) fn recoveries() -> Vec<&'static str> {
    Recovery::WORDS.0.iter().map(|(word, _)| *word).collect()
}

/// A queue discipline, with parameters in TOML.
pub(crate) fn discipline(kind: QueueKind, parameters: &str) -> QueueConfig {
    shortflow_spec::read_toml(parameters, |reader| kind.read(&reader))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Runs with seed 1.
pub(crate) fn run(scenario: &Scenario, scheme: &Scheme) -> Outcome {
    simulation::run(scenario, scheme, 1, &mut NoObserver).unwrap_or_else(|error| panic!("{error}"))
}

/// Completion time of flow `index`.
pub(crate) fn fct(outcome: &Outcome, index: usize) -> Span {
    outcome.flows[index].fct().unwrap_or_else(|| panic!("flow {index} did not finish"))
}

/// Sampled windows of all backlogged flows, in order of time.
pub(crate) fn windows(outcome: &Outcome) -> Vec<f64> {
    values(outcome, |subject| matches!(subject, Subject::Cwnd(_)))
}

/// Sampled backlog of the measured ports in packets, from `from` seconds on.
pub(crate) fn queue(outcome: &Outcome, from: f64) -> Vec<f64> {
    let late = outcome.samples.iter().filter(|sample| sample.at.as_secs_f64() >= from);
    late.filter(|sample| matches!(sample.subject, Subject::QueuePackets(_))).map(|s| s.value).collect()
}

/// Sampled values of chosen subjects.
pub(crate) fn values(outcome: &Outcome, chosen: impl Fn(Subject) -> bool) -> Vec<f64> {
    outcome.samples.iter().filter(|sample| chosen(sample.subject)).map(|sample| sample.value).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Jain's fairness index of the flows' goodput.
pub(crate) fn fairness(outcome: &Outcome) -> f64 {
    let got: Vec<f64> = outcome.flows.iter().map(|flow| flow.delivered_in_window.as_f64()).collect();
    got.iter().sum::<f64>().powi(2) / (got.len() as f64 * got.iter().map(|each| each * each).sum::<f64>())
}

/// A port of 1 Gbit/s that marks above `mark_above`.
pub(crate) fn port_setup(mark_above: Occupancy) -> PortSetup {
    PortSetup {
        mark_above,
        mark_all_above: None,
        mark_probability: None,
        rate: Rate::new(1_000_000_000).unwrap(),
        gap: Bytes::ZERO,
        header: Bytes::new(40),
        seeds: Seeds::new(1),
        index: 0,
    }
}
