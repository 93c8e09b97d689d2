//! Scenarios as users write them, and every way in which they can be wrong.

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

/// Error of the small scenario with `key` set to `value`.
fn error(key: &str, value: &str) -> String {
    long(&[(key, value)]).unwrap_err()
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
    let tcp = TcpSpec { growth: Some(Growth::UnlessHeld), ..crate::tcp::testing::tcp() };
    assert_eq!((scenario.tcp, scenario.conduct.small_queue), (tcp, 2), "what host.model = linux states");
    assert_eq!(scenario.classes, ["long"]);
    let measure = Measure { ports: vec![(NodeId(3), NodeId(2))], sample_every: None, drain_flows: false };
    assert_eq!(scenario.measure, measure);
    assert_eq!(scenario.faults, []);
    assert_eq!(scenario.notes, [DRAIN_NOTE, "traffic.1: 2 flows without end over s0->h2 (1Gbps)"]);
    assert!(scenario.warnings.is_empty());
}

#[test]
fn every_value_tells_where_it_came_from() {
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
fn notes_state_the_offered_load() {
    let text = with_traffic(POISSON);
    assert_eq!(
        parse(&text, &[]).unwrap().notes,
        [DRAIN_NOTE, "traffic.1: offered load 0.2 of s0->h2 (1Gbps): 500 flows/s of mean 50KB"]
    );
    assert_eq!(
        parse(&text, &[("traffic.1.pattern", "all-to-all")]).unwrap().notes,
        [DRAIN_NOTE, "traffic.1: offered load 0.2 of the links to 3 hosts: 1500 flows/s of mean 50KB"]
    );
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

#[test]
fn unknown_keys_are_named_with_the_nearest_one() {
    assert_eq!(error("topology.rat", "1Gbps"), "topology.rat: unknown key; did you mean \"topology.rate\"?");
    assert_eq!(
        error("switch.mark_abov", "1pkt"),
        "switch.mark_abov: unknown key; did you mean \"switch.mark_above\"?"
    );
    assert_eq!(error("tcp.msss", "1KB"), "tcp.msss: unknown key; did you mean \"tcp.mss\"?");
    assert_eq!(
        error("topologi.rate", "1Gbps"),
        "topologi.rate: unknown key; did you mean \"topology.rate\"?"
    );
    assert_eq!(
        error("traffic.1.flow", "3"),
        "traffic.1.flow: unknown key; did you mean \"traffic.1.flows\"?"
    );
    assert_eq!(error("warmup_time", "3s"), "warmup_time: unknown parameter; did you mean \"warmup\"?");
    assert_eq!(
        parse(&with_traffic("[swich]\n"), &[]).unwrap_err(),
        "swich: unknown key; did you mean \"switch\"?"
    );
}

#[test]
fn missing_keys_say_what_is_expected() {
    let missing = |line: &str| parse(&with_traffic(LONG).replace(line, ""), &[]).unwrap_err();
    assert_eq!(
        missing("title = \"Two hosts to one\""),
        "title: missing; expected a line of visible characters on the scenario"
    );
    assert!(missing("duration = \"1s\"").starts_with("duration: missing; expected a time such as \"300us\""));
    assert_eq!(
        missing("kind = \"star\""),
        "topology.kind: missing; expected one of star, single-rooted-tree, dumbbell, chain, parking-lot, \
         two-tier-tree, leaf-spine, fat-tree, explicit"
    );
    assert_eq!(missing("hosts = 3"), "topology.hosts: missing; expected a whole number from 2 to 100000");
    assert!(
        missing("mark_above = \"20pkt\"").starts_with("switch.mark_above: missing; expected a queue size")
    );
    let error = missing("kind = \"long-lived\"");
    assert!(error.starts_with("traffic.1.kind: missing; expected one of long-lived, poisson"), "{error}");
    assert_eq!(missing(LONG), "traffic: missing; expected at least one [[traffic]] entry");
}

#[test]
fn values_of_the_wrong_type_say_what_is_expected() {
    assert_eq!(error("topology.hosts", "1"), "topology.hosts: 1 is not a whole number from 2 to 100000");
    assert_eq!(error("topology.hosts", "0"), "topology.hosts: 0 is not a whole number from 2 to 100000");
    assert!(error("topology.hosts", "3.5").starts_with("topology.hosts: 3.5 is not"));
    assert!(error("topology.rate", "-1Gbps").starts_with("topology.rate: \"-1Gbps\" is not a positive rate"));
    assert!(error("duration", "0s").starts_with("duration: \"0s\" is not a time such as"));
    assert!(
        error("tcp.receive_window", "64KB")
            .starts_with("tcp.receive_window: \"64KB\" is not a window in segments")
    );
    assert_eq!(error("tcp.handshake", "1"), "tcp.handshake: 1 is not true or false");
    assert_eq!(
        error("faults.drop_data", "[0]"),
        "faults.drop_data: [0] is not a list of whole numbers from 1"
    );
    assert_eq!(
        error("traffic.1.class", "My flows"),
        "traffic.1.class: \"My flows\" is not a name of lower-case letters, digits, \"-\" and \"_\", \
        such as \"short\""
    );
    assert_eq!(
        error("traffic.1.kind", "poison"),
        "traffic.1.kind: \"poison\" is not one of long-lived, poisson, arrivals, periodic, incast, \
        trace, queries, aggregation, mapreduce, web; did you mean \"poisson\"?"
    );
    assert_eq!(error("traffic", "3"), "traffic: unknown parameter; known are title, duration, warmup, drain");
    assert_eq!(
        parse(&format!("traffic = 3\n{HEAD}"), &[]).unwrap_err(),
        "traffic: 3 is not a list of tables, each begun with [[traffic]]"
    );
    assert_eq!(
        error("switch.buffer", "{ size = 3 }"),
        "switch.buffer: a table is not a queue size such as \"250pkt\", \"100KB\" or \"unlimited\""
    );
}

#[test]
fn what_contradicts_other_keys_is_explained() {
    assert_eq!(
        error("switch.mark_above", "250pkt"),
        "switch.mark_above: 250pkt is not below switch.buffer = 250pkt, so nothing would be marked"
    );
    let bytes = long(&[("switch.buffer", "100KB"), ("switch.mark_above", "200KB")]).unwrap_err();
    assert!(bytes.starts_with("switch.mark_above: 200KB is not below switch.buffer = 100KB"), "{bytes}");
    let mixed = long(&[("switch.mark_above", "375KB")]).unwrap_err(); // 250 packets of 1500 bytes
    assert!(mixed.starts_with("switch.mark_above: 375KB is not below switch.buffer = 250pkt"), "{mixed}");
    assert!(long(&[("switch.mark_above", "374KB")]).is_ok());
    assert_eq!(
        error("switch.buffer", "0pkt"),
        "switch.buffer: 0pkt cannot hold a packet of 1.5KB (tcp.mss + tcp.header)"
    );
    assert_eq!(
        error("host.buffer", "1499B"),
        "host.buffer: 1.499KB cannot hold a packet of 1.5KB (tcp.mss + tcp.header)"
    );
    assert_eq!(error("warmup", "1s"), "warmup: 1s is not before duration = 1s: nothing would count");
    assert_eq!(error("tcp.rto_min", "61s"), "tcp.rto_min: 61s is above tcp.rto_max = 60s");
    assert_eq!(error("host.stall_min", "2ms"), "host.stall_min: 2ms is above host.stall_max = 1500us");
    assert_eq!(error("tcp.initial_rto", "61s"), "tcp.initial_rto: 61s is above tcp.rto_max = 60s");
    assert_eq!(
        error("traffic.1.start", "1s"),
        "traffic.1.start: 1s is not before the end of arrivals, duration = 1s"
    );
    assert_eq!(
        error("measure.sample_every", "1ns"),
        "measure.sample_every: 1000000000 samples until duration = 1s; at most 1e7 are accepted"
    );
    assert_eq!(
        error("topology.rate", "1000Tbps"),
        "duration: the traffic needs about 8.6e10 data packets until then; at most 1e9 are accepted"
    );
    assert!(
        long(&[("topology.rate", "1000Tbps"), ("tcp.receive_window", "64pkt")]).is_ok(),
        "64 packets in 300 us"
    );
}

#[test]
fn hosts_that_do_not_exist_are_named() {
    assert_eq!(error("traffic.1.to", "3"), "traffic.1.to: there is no host 3; the topology has hosts 0 to 2");
    assert_eq!(
        error("traffic.1.from", "0-7"),
        "traffic.1.from: there is no host 3; the topology has hosts 0 to 2"
    );
    assert_eq!(error("traffic.1.from", "0-2"), "traffic.1.from: host 2 would send to itself");
    assert_eq!(
        error("traffic.1.to", "0-1"),
        "traffic.1.to: 2 hosts given; expected one, or one for each of 3 senders"
    );
    assert!(
        error("traffic.1.from", "h1")
            .starts_with("traffic.1.from: \"h1\" is not hosts: \"all\", a number such as 3")
    );
}

#[test]
fn ports_that_do_not_exist_are_named() {
    assert_eq!(
        error("measure.ports", "[\"s0->h9\"]"),
        "measure.ports: there is no node \"h9\"; known are h0, h1, h2, s0"
    );
    assert_eq!(error("measure.ports", "[\"h0->h1\"]"), "measure.ports: no link leads from h0 to h1");
    assert_eq!(error("measure.ports", "[]"), "measure.ports: [] names no port");
    let twice = error("measure.ports", "[\"s0->h2\", \"s0 -> h2\"]");
    assert_eq!(twice, "measure.ports: \"s0 -> h2\" is named twice");
    assert!(error("measure.ports", "[\"s0\"]").ends_with("\"s0\" is not a port such as \"s0->h22\""));
}

#[test]
fn load_must_be_positive_and_sane() {
    let text = with_traffic(POISSON);
    for wrong in ["0", "-0.1", "10.5", "inf", "\"much\""] {
        let error = parse(&text, &[("traffic.1.load", wrong)]).unwrap_err();
        assert!(
            error.starts_with("traffic.1.load: ") && error.ends_with("a number above 0 and at most 10"),
            "{error}"
        );
    }
    let error = parse(&text, &[("traffic.1.rate_per_s", "5")]).unwrap_err();
    assert_eq!(error, "traffic.1.rate_per_s: given together with load; one of them is enough");
    let error = parse(&text.replace("load = 0.2\n", ""), &[]).unwrap_err();
    assert_eq!(error, "traffic.1.load: missing; either load or rate_per_s is needed");
    let error = parse(&text, &[("traffic.1.sizes.value", "0B")]).unwrap_err();
    assert!(error.starts_with("traffic.1.sizes.value: \"0B\" is not a size such as"), "{error}");
}

#[test]
fn racks_need_hosts_and_uplinks_need_racks() {
    let tree =
        |key: &str, value: &str| long(&[("topology.kind", "single-rooted-tree"), (key, value)]).unwrap_err();
    assert_eq!(tree("topology.racks", "4"), "topology.racks: 4 racks for 3 hosts leave racks empty");
    assert_eq!(
        tree("topology.uplink_rate", "10Gbps"),
        "topology.uplink_rate: there are no uplinks with racks = 1"
    );
}

/// A tree of two racks, with `settings` of its switches.
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
    assert_eq!(switch.count(), 8, "what a tier takes over is not listed again");
}

#[test]
fn tables_of_switches_name_tiers_and_make_sense_there() {
    let wrong = |key: &str, value: &str| tree(&[(key, value)]).unwrap_err();
    assert_eq!(wrong("switch.torr.buffer", "9pkt"), "switch.torr: unknown tier; did you mean \"tor\"?");
    assert_eq!(
        wrong("switch.tor.bufer", "9pkt"),
        "switch.tor.bufer: unknown key; did you mean \"switch.tor.buffer\"?"
    );
    assert_eq!(
        wrong("switch.tor.up.k", "9pkt"),
        "switch.tor.up.k: unknown key; did you mean \"switch.tor.up.mark_above\"?"
    );
    assert!(wrong("switch.tor.buffer", "9").starts_with("switch.tor.buffer: 9 is not a queue size"));
    assert!(wrong("switch.root.buffer", "0pkt").starts_with("switch.root.buffer: 0pkt cannot hold a packet"));
    assert_eq!(
        wrong("switch.tor.up.buffer", "20pkt"),
        "switch.tor.up.mark_above: 20pkt is not below switch.tor.up.buffer = 20pkt, so nothing would be marked"
    );
    assert_eq!(error("switch.tor.buffer", "9pkt"), "switch.tor: unknown tier; this topology has no tiers");
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
    assert_eq!(
        error("switch.s0->h2.mark_above", "250pkt"),
        "switch.s0->h2.mark_above: 250pkt is not below switch.s0->h2.buffer = 250pkt, so nothing would be marked"
    );
    assert!(error("switch.s0->h2.memory", "4MB").starts_with("switch.s0->h2.memory: unknown key"));
    assert!(error("switch.h2->s0.buffer", "4MB").starts_with("switch.h2->s0: it is a host's port"));
    assert!(error("switch.s0->h99.buffer", "4MB").starts_with("switch.s0->h99: there is no node \"h99\""));
    let upwards = tree(&[("switch.tor.up.buffer", "99pkt"), ("switch.tor0->root0.mark_above", "9pkt")]);
    assert!(upwards.is_ok(), "{upwards:?}");
}

#[test]
fn some_flows_may_run_another_transport() {
    let of = |settings: &[(&str, &str)]| long(settings);
    let scenario = of(&[("traffic.1.transport", "cubic+ecn=classic")]).unwrap();
    assert_eq!(scenario.classes, ["long", "long-cubic"]);
    let transports: Vec<_> =
        scenario.transports.values().map(|config| (config.info().name, config.ecn())).collect();
    assert_eq!(transports, [("cubic", shortflow_cc::Ecn::Classic)]);
    assert!(
        scenario.notes.iter().any(
            |note| note == "traffic.1: 100 % of its flows run cubic+ecn=classic, as classes of their own"
        )
    );
    assert!(of(&[("traffic.1.transport", "cubik")]).unwrap_err().contains("did you mean \"cubic\"?"));
    assert!(
        of(&[("traffic.1.transport_share", "0.5")])
            .unwrap_err()
            .starts_with("traffic.1.transport_share: there is no transport")
    );
    assert!(of(&[("traffic.1.transport", "cubic"), ("traffic.1.transport_share", "1.5")]).is_err());
}

#[test]
fn memory_is_static_unless_shared_and_makes_sense_then() {
    assert_eq!(setting(&long(&[]).unwrap(), "switch.memory"), ("static", &Source::Default));
    let shared = |settings: &[(&str, &str)]| {
        long(&[&[("switch.buffer", "unlimited"), ("switch.memory", "4MB")], settings].concat())
    };
    let switch = shared(&[("switch.memory_alpha", "0.5")]).unwrap().switch;
    assert_eq!((switch.memory, switch.memory_alpha), ("4MB".parse().ok(), 0.5));
    assert_eq!(
        shared(&[("switch.buffer", "250pkt")]).unwrap_err(),
        "switch.memory: 4MB and buffer = 250pkt are not in one unit"
    );
    assert_eq!(
        shared(&[("switch.memory", "2KB")]).unwrap_err(),
        "switch.memory: a port may hold 1KB of 2KB, which is no packet of 1.5KB"
    );
    assert_eq!(
        shared(&[("switch.memory", "40pkt")]).unwrap_err(),
        "switch.mark_above: 20pkt is not below 20pkt, a port's share of switch.memory, so nothing would be marked"
    );
    assert!(shared(&[("switch.memory", "unlimited")]).unwrap_err().starts_with("switch.memory: unlimited"));
    let tiers = |key: &str| tree(&[("switch.buffer", "unlimited"), (key, "4MB")]);
    assert!(tiers("switch.tor.memory").is_ok());
    assert_eq!(
        tiers("switch.tor.up.memory").unwrap_err(),
        "switch.tor.up.memory: a switch has one memory; switch.tor.memory says which"
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let text = with_traffic("[[traffic]]\nkind = \"trace\"\nfile = \"flows.csv\"\n");
    assert_eq!(parse(&text, &[]).unwrap_err(), "traffic.1.file: cannot read \"flows.csv\": no such file");
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

/// Whatever a key is set to, the scenario is read or the error is about that key.
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

#[test]
fn packets_are_counted_for_faults_at_a_switch_only() {
    for key in ["faults.drop_data", "faults.mark_data"] {
        let with = |ports| long(&[("measure.ports", ports), (key, "[5]")]);
        assert_eq!(
            with(r#"["h0->s0", "s0->h2"]"#).unwrap_err(),
            format!(
                "{key}: the first of measure.ports is h0->s0, a host's port; only packets at switches are counted"
            )
        );
        assert!(with(r#"["s0->h2", "h0->s0"]"#).is_ok());
    }
    assert!(long(&[("measure.ports", r#"["h0->s0"]"#)]).is_ok());
}

#[test]
fn a_network_of_too_many_routes_is_refused() {
    let racks = |racks: u32| {
        let leaf_spine = format!(
            "kind = \"leaf-spine\"\nracks = {racks}\nhosts_per_rack = 1\nspines = 256\nuplink_rate = \"1Gbps\""
        );
        parse(&with_traffic(LONG).replace("kind = \"star\"\nhosts = 3", &leaf_spine), &[])
    };
    // 1527 · (1527 + 256 + 1527 · 256) is just below 600 million.
    assert!(racks(1527).is_ok());
    assert_eq!(
        racks(1528).unwrap_err(),
        "topology: 1528 racks times 392952 switches and links between them need too many routes; at most \
         600000000 are accepted"
    );
}

const INCAST: &str =
    "[[traffic]]\nkind = \"incast\"\nflows = 8\nsizes = { kind = \"fixed\", value = \"5KB\" }\n";

#[test]
fn traffic_of_which_nothing_counts_is_an_error_unless_asked_for() {
    let parse_incast = |settings: &[(&str, &str)]| parse(&with_traffic(INCAST), settings);
    let warm = ("warmup", "10ms");
    assert_eq!(
        parse_incast(&[warm]).unwrap_err(),
        "traffic.1.at: with 0s none of its flows starts in the measured time, from warmup = 10ms to duration = \
         1s; move it there, or set traffic.1.unmeasured = true if none is meant to count"
    );
    let expected = |settings: &[(&str, &str)]| {
        parse_incast(settings).unwrap().expected.iter().map(Expected::to_string).collect::<Vec<_>>()
    };
    assert_eq!(expected(&[warm, ("traffic.1.unmeasured", "true")]), ["0 flows"]);
    assert_eq!(expected(&[warm, ("traffic.1.at", "10ms")]), ["8 flows"]);
    assert_eq!(expected(&[warm, ("traffic.1.repeat", "5")]), ["32 flows"]);
    assert_eq!(expected(&[warm, ("traffic.1.jitter", "40ms")]), ["about 6 flows"]);
}

#[test]
fn ports_of_hosts_have_a_threshold_and_their_discipline_is_a_schemes() {
    let wrong = long(&[("host.buffer", "20pkt"), ("host.mark_above", "20pkt")]).unwrap_err();
    assert_eq!(wrong, "host.mark_above: 20pkt is not below host.buffer = 20pkt, so nothing would be marked");
    assert!(long(&[("host.queue", "fair")]).unwrap_err().starts_with("host.queue: it belongs to schemes"));
}

#[test]
fn the_ways_of_routing_have_their_own_keys() {
    let kind = |settings: &[(&str, &str)]| long(settings).map(|scenario| scenario.routing.info().name);
    assert_eq!(kind(&[]), Ok("flow-hash"));
    assert_eq!(kind(&[("routing.kind", "flowlet"), ("routing.gap", "50us")]), Ok("flowlet"));
    assert_eq!(kind(&[("routing.gap", "50us")]).unwrap_err(), "routing.gap: unknown key; known are kind");
    assert!(kind(&[("routing.kind", "sprai")]).unwrap_err().ends_with("did you mean \"spray\"?"));
}

#[test]
fn what_is_hardly_meant_is_a_warning_that_names_the_key() {
    let warnings = |settings: &[(&str, &str)]| long(settings).unwrap().warnings;
    for (key, tiny) in [("switch.buffer", "1pkt"), ("switch.buffer", "2.999KB"), ("host.buffer", "1pkt")] {
        let found = warnings(&[("switch.mark_above", "0pkt"), (key, tiny)]);
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("{key}: {tiny} holds one packet")),
            "{found:?}"
        );
    }
    assert!(warnings(&[("switch.mark_above", "0pkt"), ("switch.buffer", "2pkt")]).is_empty());
    let delayed = warnings(&[("tcp.ack_every", "2"), ("tcp.ack_delay", "40ms")]);
    assert!(delayed[0].starts_with("tcp.ack_delay: 40ms is not below tcp.rto_min = 10ms"), "{delayed:?}");
    let found = warnings(&[("tcp.initial_rto", "299us"), ("measure.sample_every", "3600s")]);
    assert!(
        found[0]
            .starts_with("tcp.initial_rto: 299us is below 300us, the round trip between h1 and h0, so flows"),
        "{found:?}"
    );
    assert!(found[1].starts_with("measure.sample_every: 3600s is longer than duration = "), "{found:?}");
    assert!(warnings(&[("tcp.initial_rto", "300us"), ("measure.sample_every", "1ms")]).is_empty());
    assert_eq!(
        warnings(&[("tcp.rto_min", "300ms")]),
        [
            "tcp.rto_min: 300ms is 1000 round trips of 300us, so one timeout outlasts almost every flow, and the drain \
             waits for it; unless hosts have this minimum, set tcp.rto_min to 30ms, 100 round trips"
        ]
    );
    assert!(warnings(&[("tcp.rto_min", "299ms")]).is_empty());
    let pairs = "kind = \"dumbbell\"\npairs = 2\nbottleneck = \"1Gbps\"";
    let across = with_traffic(LONG).replace("kind = \"star\"\nhosts = 3", pairs);
    let found = parse(&across, &[("tcp.initial_rto", "299us")]).unwrap().warnings;
    assert!(found[0].contains("is below 300us, the round trip between h2 and h0"), "{found:?}");
    let replaced = warnings(&[("traffic.1.transport", "cubic")]);
    assert_eq!(
        replaced,
        [
            "traffic.1.transport: all flows of the entry run cubic under every scheme; set transport_share = 1 if intended"
        ]
    );
    let share = ("traffic.1.transport_share", "1");
    assert!(warnings(&[("traffic.1.transport", "cubic"), share]).is_empty());
    let stagger = ("traffic.1.stagger", "1ms");
    assert!(warnings(&[stagger]).is_empty());
    let found = warnings(&[stagger, ("traffic.1.flows", "4")]);
    assert!(found[0].starts_with("traffic.1.stagger: 4 flows have fewer hosts (2)"), "{found:?}");
    let needless =
        "traffic.1.unmeasured: true accepts that no flow counts, and changes nothing where some do: ";
    let unmeasured = ("traffic.1.unmeasured", "true");
    assert_eq!(warnings(&[unmeasured]), [format!("{needless}2 backlogged flows")]);
    let poisson = parse(&with_traffic(POISSON), &[unmeasured]).unwrap().warnings;
    assert_eq!(poisson, [format!("{needless}about 500 flows")]);
    let too_much = parse(&with_traffic(POISSON), &[("traffic.1.load", "1.2")]).unwrap().warnings;
    let wanted =
        "traffic.1.load: 1.2 of s0->h2 (1Gbps) is more than it carries: queues grow until arrivals stop";
    assert_eq!(too_much, [wanted]);
    assert!(parse(&with_traffic(POISSON), &[("traffic.1.load", "1")]).unwrap().warnings.is_empty());
    let rare = parse(&with_traffic(POISSON), &[("duration", "1ms")]).unwrap().warnings;
    assert_eq!(rare, ["traffic.1: about 0.5 flows in the measured time; some seeds have none"]);
}
