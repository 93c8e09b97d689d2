//! Scenarios as users write them, and all ways in which they can be wrong.

use super::*;
use crate::config::Source;
use crate::specs::Growth;
use shortflow_units::Occupancy;

/// A small scenario with `traffic` after its tables.
fn with_traffic(traffic: &str) -> String {
    format!("{HEAD}\n{traffic}")
}

pub(super) const HEAD: &str = r#"
title = "Two hosts to one"
duration = "1s"

[topology]
kind = "star"
hosts = 3
rate = "1Gbps"
rtt = "300us"

[switch]
buffer = "250pkt"
mark_above = "20pkt"
"#;
const DRAIN_NOTE: &str = "drain: 1s (default: same as duration)";
const LONG: &str = "[[traffic]]\nkind = \"long-lived\"\nflows = 2\n";
pub(super) const POISSON: &str =
    "[[traffic]]\nkind = \"poisson\"\nload = 0.2\nsizes = { kind = \"fixed\", value = \"50KB\" }\n";

pub(super) fn parse(text: &str, settings: &[(&str, &str)]) -> Result<Scenario, String> {
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let no_files = |_: &str| Err("no such file".to_owned());
    Scenario::parse(text, "small.toml", &settings, &no_files).map_err(|error| error.to_string())
}

fn long(settings: &[(&str, &str)]) -> Result<Scenario, String> {
    parse(&with_traffic(LONG), settings)
}

pub(super) fn setting<'s>(scenario: &'s Scenario, key: &str) -> (&'s str, &'s Source) {
    let setting = scenario.resolved.iter().find(|setting| setting.key == key).unwrap();
    (&setting.value, &setting.source)
}

#[test]
fn a_small_scenario_gets_the_documented_defaults() {
    let scenario = long(&[]).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.title.as_str()), ("small.toml", "Two hosts to one"));
    assert_eq!((scenario.duration, scenario.warmup), (Span::from_millis(1000), Span::ZERO));
    assert_eq!(scenario.drain, Span::from_millis(1000));
    assert_eq!(scenario.switch.mark_above, Occupancy::Packets(20));
    assert_eq!((scenario.host.buffer, scenario.host.jitter), (Occupancy::Unlimited, Some(Span::ZERO)));
    let (growth, initial_window) = (Some(Growth::UnlessHeld), 10.0);
    let tcp = TcpSpec { growth, initial_window, ..crate::tcp::testing::tcp() };
    assert_eq!((scenario.tcp, scenario.conduct.small_queue), (tcp, 2), "what host.model = linux states");
    assert_eq!(scenario.classes, ["long"]);
    let measure = Measure { ports: vec![(NodeId(3), NodeId(2))], sample_every: None, drain_flows: false };
    assert_eq!(scenario.measure, measure);
    assert_eq!(scenario.faults, []);
    assert_eq!(scenario.notes, [DRAIN_NOTE, "traffic.1: 2 flows without end over s0->h2 (1Gbps)"]);
    assert!(scenario.warnings.is_empty());
}

#[test]
fn every_value_has_a_source() {
    let text = with_traffic(&POISSON.replace("0.2", "\"$load\"")) + "[parameters]\nload = 0.2\n";
    let scenario = parse(&text, &[("switch.buffer", "300pkt"), ("load", "0.4")]).unwrap();
    assert_eq!(setting(&scenario, "topology.rate"), ("1Gbps", &Source::Scenario));
    assert_eq!(setting(&scenario, "tcp.mss"), ("1460B", &Source::Default));
    assert_eq!(setting(&scenario, "switch.buffer"), ("300pkt", &Source::Set));
    assert_eq!(setting(&scenario, "traffic.1.load"), ("0.4", &Source::Expression("$load".to_owned(), None)));
    assert_eq!(setting(&scenario, "parameters.load"), ("0.4", &Source::Set));
    assert_eq!(setting(&scenario, "traffic.1.to"), ("2", &Source::Default));
    assert_eq!(setting(&scenario, "measure.ports"), ("[\"s0->h2\"]", &Source::Default));
}

#[test]
fn switch_ports_are_measured_unless_all_traffic_goes_to_one_host() {
    let scenario = parse(&with_traffic(POISSON), &[("traffic.1.pattern", "all-to-all")]).unwrap();
    assert_eq!(scenario.measure.ports, [0, 1, 2].map(|host| (NodeId(3), NodeId(host))));
    let scenario = long(&[("measure.ports", "[\"h0->s0\", \"s0 -> h2\"]")]).unwrap();
    assert_eq!(scenario.measure.ports, [(NodeId(0), NodeId(3)), (NodeId(3), NodeId(2))]);
}

#[test]
fn the_words_for_no_limit_and_no_value() {
    let scenario = long(&[
        ("tcp.receive_window", "1256pkt"),
        ("tcp.initial_rto", "1s"),
        ("measure.sample_every", "1ms"),
        ("switch.buffer", "unlimited"),
        ("faults.drop_data", "[9, 5]"),
    ])
    .unwrap();
    assert_eq!(scenario.tcp.receive_window, 1256.0);
    assert_eq!(scenario.tcp.initial_rto, Some(Span::from_millis(1000)));
    assert_eq!(scenario.measure.sample_every, Some(Span::from_millis(1)));
    assert_eq!(scenario.faults[0].drop_data, [5, 9]);
}

/// A tree of two racks, with these settings of its switches.
fn tree(settings: &[(&str, &str)]) -> Result<Scenario, String> {
    let racks = [("topology.kind", "single-rooted-tree"), ("topology.hosts", "4"), ("topology.racks", "2")];
    long(&[&racks[..], settings].concat())
}

#[test]
fn tiers_of_switches_and_their_ports_upwards_have_their_own_buffers() {
    let scenario = tree(&[
        ("switch.tor.buffer", "100KB"),
        ("switch.tor.mark_above", "30KB"),
        ("switch.tor.up.mark_above", "90KB"),
        ("switch.root.mark_above", "65pkt"),
    ])
    .unwrap();
    let port = |from: &str, to: &str| {
        let [from, to] = [from, to].map(|name| scenario.graph.node_named(name).unwrap());
        let spec = scenario.switch_port(from, to);
        (spec.buffer.to_string(), spec.mark_above.to_string())
    };
    assert_eq!(port("tor0", "h0"), ("100KB".to_owned(), "30KB".to_owned()));
    assert_eq!(port("tor1", "root0"), ("100KB".to_owned(), "90KB".to_owned()));
    assert_eq!(port("root0", "tor1"), ("250pkt".to_owned(), "65pkt".to_owned()));
    assert_eq!(setting(&scenario, "switch.tor.up.mark_above"), ("90KB", &Source::Set));
    let switch = scenario.resolved.iter().filter(|setting| setting.key.starts_with("switch."));
    assert_eq!(switch.count(), 14, "what a tier takes over is not listed again");
}

#[test]
fn a_single_port_may_have_its_own_threshold() {
    let scenario = long(&[("switch.s0->h2.mark_above", "9pkt")]).unwrap();
    let port = |name: &str| {
        let (from, to) = name.split_once("->").unwrap();
        let [from, to] = [from, to].map(|node| scenario.graph.node_named(node).unwrap());
        let SwitchSpec { buffer, mark_above, .. } = *scenario.switch_port(from, to);
        (buffer, mark_above)
    };
    let (buffer, around) = (Occupancy::Packets(250), Occupancy::Packets(20));
    assert_eq!((port("s0->h2"), port("s0->h1")), ((buffer, Occupancy::Packets(9)), (buffer, around)));
    assert_eq!(setting(&scenario, "switch.s0->h2.mark_above"), ("9pkt", &Source::Set));
}

#[test]
fn a_maximum_threshold_has_the_unit_of_the_minimum_and_is_not_below_it() {
    let curve = |min: &str, max: &str| long(&[("switch.mark_above", min), ("switch.mark_all_above", max)]);
    let switch = curve("100KB", "300KB").unwrap().switch;
    assert_eq!(switch.curve(), ("100KB".parse().unwrap(), "300KB".parse().ok(), None));
    assert!(curve("20pkt", "20pkt").is_ok());
    let refused = |min, max| curve(min, max).unwrap_err().to_string();
    assert_eq!(refused("100KB", "99KB"), "switch.mark_all_above: 99KB is below switch.mark_above = 100KB");
    assert_eq!(
        refused("20pkt", "99KB"),
        "switch.mark_all_above: 99KB and switch.mark_above = 20pkt have different units"
    );
}

#[test]
fn some_flows_may_run_another_transport() {
    let scenario = long(&[("traffic.1.transport", "cubic+ecn=classic")]).unwrap();
    assert_eq!(scenario.classes, ["long"]);
    let transports: Vec<_> =
        scenario.transports.values().map(|config| (config.info().name, config.ecn())).collect();
    assert_eq!(transports, [("cubic", shortflow_cc::Ecn::Classic)]);
    assert!(scenario.notes.iter().any(|note| note == "traffic.1: 100 % of the flows run cubic+ecn=classic"));
}

#[test]
fn memory_is_static_unless_shared_and_makes_sense_then() {
    assert_eq!(setting(&long(&[]).unwrap(), "switch.memory"), ("static", &Source::Default));
    let shared = [("switch.buffer", "unlimited"), ("switch.memory", "4MB"), ("switch.memory_alpha", "0.5")];
    let switch = long(&shared).unwrap().switch;
    assert_eq!((switch.memory, switch.memory_alpha), ("4MB".parse().ok(), 0.5));
}

#[test]
fn the_documentation_lists_every_table_with_readable_defaults() {
    let tables = tables();
    let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
    assert_eq!(names, ["", "switch", "host", "tcp", "measure", "faults"]);
    let tcp = tables.iter().find(|table| table.name == "tcp").unwrap();
    let mss = tcp.parameters.iter().find(|key| key.name == "mss").unwrap();
    assert_eq!((mss.default.as_str(), mss.summary.as_str()), ("1460B", "payload of a full segment"));
}

/// For any value of a key, the scenario is read, or the error names this key.
#[test]
fn every_error_names_its_key() {
    let text = with_traffic(&format!("{LONG}{POISSON}"));
    let plain = parse(&text, &[]).unwrap();
    let odd = [
        "",
        "0",
        "-1",
        "1e300",
        "nan",
        "true",
        "[]",
        "[[1]]",
        "{}",
        "$x",
        "99999999999999999999",
        "1979-05-27",
    ];
    for setting in &plain.resolved {
        for value in odd {
            if let Err(error) = parse(&text, &[(&setting.key, value)]) {
                assert!(error.starts_with(&format!("{}: ", setting.key)), "{}={value}: {error}", setting.key);
            }
        }
    }
}
