//! All execution plans of a run give the same outcome, to the last bit.

use crate::common::{scenario, scenario_with_file, scheme, small_topology};
use proptest::prelude::*;
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, UserDefined, Window};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::{Scheme, schemes};
use shortflow_sim::service::ServiceModel;
use shortflow_sim::simulation::{
    Cores, ExecutionPlan, Modes, NoObserver, Observer, RunError, RunProgress, cores, run_on, run_planned,
};
use shortflow_units::Instant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Long flows, many finite flows with deadlines, an incast that overflows, and messages on open connections, in
/// networks with small buffers: packets are dropped and timers expire.
const MIX: &str = r#"
[switch]
buffer = "20pkt"
mark_above = "10pkt"
[tcp]
rto_min = "2ms"
[[traffic]]
kind = "long-lived"
flows = 2
from = "0-1"
to = 9
class = "long"
[[traffic]]
kind = "poisson"
sizes = { kind = "pareto", shape = 1.2, mean = "20KB", max = "300KB" }
load = 0.5
pattern = "all-to-all"
deadline = { kind = "uniform", min = "1ms", max = "3ms" }
[[traffic]]
kind = "incast"
flows = 9
sizes = { kind = "fixed", value = "30KB" }
from = "0-8"
to = 9
at = "1ms"
repeat = 3
every = "1500us"
connections = "persistent"
"#;

/// A run of the mix for 6 ms, with more keys in its tables, as `(table, keys)`.
fn mix(topology: &str, more: &[(&str, &str)]) -> Scenario {
    let mut text = format!(
        "title = 'mix'\nduration = '6ms'\nwarmup = '1ms'\ndrain = '30ms'\n[topology]\n{}\n{MIX}\
         [measure]\nsample_every = '500us'\n[host]\n",
        small_topology(topology, 8)
    );
    for (table, keys) in more {
        let header = format!("{table}\n");
        match text.contains(&header) {
            true => text = text.replacen(&header, &format!("{header}{keys}\n"), 1),
            false => text += &format!("{header}{keys}\n"),
        }
    }
    scenario(&text, &[])
}

/// Queries, each of which waits for the answers of the previous one.
const ANSWERS: (&str, &str) = (
    "[[traffic]]\nkind = 'queries'",
    "workers = 4\nrepeat = 100\nto = 0\nsizes = { kind = 'fixed', value = '10KB' }",
);

fn on(cores: usize, scenario: &Scenario, scheme: &Scheme) -> (Outcome, Cores) {
    run_on(cores, scenario, scheme, 3, &mut NoObserver)
        .unwrap_or_else(|error| panic!("{} on {cores} cores: {error}", scheme.name))
}

/// Plans in which each choice is combined with both values of every other choice; `make modes` runs every plan.
const MODES: [Modes; 7] = [
    Modes { prefetch: true, fixed_paths: true, predicts: true, ..Modes::PLAIN },
    Modes { fixed_paths: true, predicts: true, early_hosts: true, ..Modes::PLAIN },
    Modes { prefetch: true, windows: true, by_output: true, ..Modes::PLAIN },
    Modes { fixed_paths: true, windows: true, predicts: true, early_hosts: true, ..Modes::PLAIN },
    Modes { cores: 2, fixed_paths: true, windows: true, predicts: true, by_output: true, ..Modes::PLAIN },
    Modes { cores: 3, windows: true, prefetch: true, predicts: true, early_hosts: true, ..Modes::PLAIN },
    Modes { cores: 4, fixed_paths: true, ..Modes::PLAIN },
];

/// Runs a scenario in every plan of [`MODES`] that it allows, and asserts that all outcomes are equal. Returns the
/// outcome and these plans.
pub(crate) fn all_alike(scenario: &Scenario, scheme: &Scheme, seed: u64) -> (Outcome, Vec<Modes>) {
    let run = |modes| {
        let plan = ExecutionPlan::set(modes, scenario, scheme)?;
        let run = run_planned(&plan, scenario, scheme, seed, &mut NoObserver);
        Some(run.unwrap_or_else(|error| panic!("{} {modes:?}: {error}", scheme.name)))
    };
    let plain = run(Modes::PLAIN).unwrap();
    let pauses = |outcome: &Outcome| {
        let ports = outcome.ports.iter();
        ports.map(|port| (port.pauses, port.pauses_by_priority.clone())).collect::<Vec<_>>()
    };
    let differs = |modes: &Modes| {
        let other = run(*modes)?;
        assert_eq!(other.end, plain.end, "{} {modes:?}", scheme.name);
        assert_eq!(other.counters, plain.counters, "{} {modes:?}", scheme.name);
        assert_eq!(other.digest(), plain.digest(), "{} {modes:?}", scheme.name);
        assert_eq!(pauses(&other), pauses(&plain), "{} {modes:?}", scheme.name);
        Some(*modes)
    };
    let legal = MODES.iter().filter_map(differs).collect();
    (plain, legal)
}

/// The frames of planned pauses are events of one part each, of which the counters tell.
#[test]
fn planned_pauses_are_counted_once_on_any_number_of_cores() {
    let mix = mix("fat-tree", &[("[[faults]]", "hosts = '0-7'\npause_at = '2ms'\nresume_at = '3ms'")]);
    let (_, legal) = all_alike(&mix, &scheme("dctcp", &[]), 3);
    assert!(legal.iter().any(|modes| modes.cores > 2), "{legal:?}");
}

#[test]
fn every_scheme_gives_the_same_by_every_plan() {
    let (mut dropped, mut timeouts, mut marks) = (0, 0, 0);
    for (info, topology) in schemes().iter().zip(["fat-tree", "leaf-spine", "two-tier-tree"].iter().cycle()) {
        let (outcome, legal) = all_alike(&mix(topology, &[]), &scheme(&info.name, &[]), 3);
        assert!(legal.len() >= 4, "{topology}: {legal:?}");
        let done = outcome.flows.iter().filter(|flow| flow.finish.is_some());
        assert!(done.count() > 100, "{}: {} flows", info.name, outcome.flows.len());
        dropped += outcome.counters.packets_dropped;
        timeouts += outcome.flows.iter().map(|flow| flow.timeouts).sum::<u32>();
        marks += outcome.flows.iter().map(|flow| flow.marks).sum::<u32>();
    }
    assert!(dropped > 1000 && timeouts > 100 && marks > 1000, "{dropped}, {timeouts}, {marks}");
}

const FIFO: (&str, &str) = ("[host]", "model = 'fifo'");

type Keys = &'static [(&'static str, &'static str)];

/// Cases with one feature each that few networks have: topology, scheme and its settings, keys of tables, and the
/// numbers of cores that the feature allows.
const RARE: [(&str, &str, Keys, Keys, &[usize]); 26] = [
    (
        "fat-tree",
        "dctcp",
        &[("host.queue", "fair")],
        &[("[host]", "jitter = '5us'\nstalls = 500")],
        &[2, 3, 4],
    ),
    ("two-tier-tree", "sack over pie", &[("queue.burst", "0s")], &[("[tcp]", "handshake = true")], &[2]),
    ("leaf-spine", "dctcp over codel", &[], &[("[tcp]", "ack_every = 2\nack_delay = '200us'")], &[2, 3]),
    ("single-rooted-tree", "tcp", &[("transport.recovery", "rack")], &[("[host]", "")], &[2]),
    ("chain", "red", &[], &[("[host]", "")], &[2, 3, 4]),
    ("star", "dctcp", &[], &[("[host]", "")], &[]),
    ("fat-tree", "dctcp", &[], &[("[switch]", "memory = '60pkt'")], &[2, 3, 4]),
    (
        "leaf-spine",
        "tcp",
        &[],
        &[("[host]", "jitter = '5us'\nbuffer = '20pkt'"), ("[switch]", "memory = '60pkt'")],
        &[2, 3],
    ),
    ("fat-tree", "swift", &[], &[("[[traffic]]", "transport = 'cubic'\ntransport_share = 0.5")], &[2, 3, 4]),
    (
        "leaf-spine",
        "tcp",
        &[],
        &[("[[traffic]]", "stop = '2ms'"), ("[tcp]", "ack_every = 2\nack_message_end = true")],
        &[2, 3],
    ),
    ("fat-tree", "dcqcn", &[], &[("[[traffic]]", "stop = '2ms'")], &[2, 3, 4]),
    ("leaf-spine", "tcp", &[], &[("[routing]", "kind = 'destination'")], &[2, 3]),
    ("fat-tree", "l2dct", &[], &[FIFO], &[2, 3, 4]),
    ("leaf-spine", "pias", &[], &[("[host]", "buffer = '5pkt'")], &[2, 3]),
    ("fat-tree", "tcp", &[], &[("[faults]", "loss = 0.01\nack_loss = 0.02")], &[2, 3, 4]),
    ("fat-tree", "pfabric", &[], &[("[faults]", "mark = 0.05\nloss = 0.01")], &[2, 3, 4]),
    ("fat-tree", "swift", &[], &[("[faults]", "corrupt = 0.01")], &[]),
    ("leaf-spine", "dcqcn", &[], &[("[faults]", "reorder = 0.05\nreorder_delay = '20us'")], &[]),
    (
        "leaf-spine",
        "tcp",
        &[],
        &[("[faults]", "hosts = '0-5'\ncorrupt = 0.01\nreorder = 0.05\nreorder_delay = '20us'")],
        &[2, 3],
    ),
    (
        "leaf-spine",
        "tcp",
        &[],
        &[("[faults]", "links = ['leaf0-spine1']\ndown_at = '1ms'\nup_at = '2ms'")],
        &[],
    ),
    ("fat-tree", "dctcp", &[], &[("[routing]", "kind = 'spray'")], &[3]),
    ("fat-tree", "dctcp", &[], &[("[routing]", "kind = 'random-spray'")], &[]),
    ("fat-tree", "dctcp", &[], &[("[routing]", "kind = 'flowlet'")], &[]),
    ("fat-tree", "ndp", &[("queue.headers", "5")], &[("[host]", "")], &[2, 3, 4]),
    ("fat-tree", "dctcp", &[], &[ANSWERS, FIFO], &[]),
    ("fat-tree", "dctcp", &[], &[ANSWERS, ("[host]", "reaction = '50us'")], &[2, 4]),
];

#[test]
fn rare_features_give_equal_outcomes_in_all_modes() {
    for (topology, name, settings, keys, cores) in RARE {
        let (outcome, legal) = all_alike(&mix(topology, keys), &scheme(name, settings), 3);
        let used: Vec<usize> = legal.iter().map(|modes| modes.cores).filter(|cores| *cores > 1).collect();
        assert_eq!(used, cores, "{topology} {keys:?}");
        let ports = &outcome.ports;
        assert!(outcome.counters.packets_dropped > 0 || ports.iter().any(|port| port.marks > 0));
        assert!(name != "ndp" || ports.iter().any(|port| port.returns > 0));
    }
}

/// If queues read priorities, the next message of a connection overtakes the tail of the previous one.
#[test]
fn packets_that_overtake_by_priority_are_no_error() {
    let text = "title = 'overtaking'\nduration = '5ms'\ndrain = '1s'\n\
        topology = { kind = 'star', hosts = 5, rate = '1Gbps', rtt = '100us' }\nswitch = { buffer = '1000pkt', mark_above = 'unlimited' }\n\
        [[traffic]]\nkind = 'incast'\nflows = 4\nsizes = { kind = 'fixed', value = '20KB' }\nrepeat = 5\nevery = '50us'\n\
        connections = 'persistent'\n";
    let (outcome, _) = all_alike(&scenario(text, &[]), &scheme("pias", &[("priority.thresholds", "5KB")]), 1);
    assert_eq!((outcome.counters.packets_dropped, outcome.counters.unfinished), (0, 0));
}

/// A timer may expire after its connection has closed, at the host of another connection that has the same slot.
#[test]
fn timers_of_earlier_connections_change_nothing() {
    let text = "title = 'short'\nduration = '10ms'\n\
        topology = { kind = 'leaf-spine', racks = 4, hosts_per_rack = 4, spines = 2, rate = '10Gbps', uplink_rate = '40Gbps', rtt = '16us' }\n\
        switch = { buffer = '250pkt', mark_above = '65pkt' }\ntcp = { rto_min = '200us' }\n\
        [[traffic]]\nkind = 'poisson'\nsizes = { kind = 'pareto', shape = 1.2, mean = '20KB', max = '300KB' }\nload = 0.8\n";
    for name in ["dcqcn", "swift", "pecn"] {
        assert_eq!(all_alike(&scenario(text, &[]), &scheme(name, &[]), 1).1, MODES);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Links have different delays. A window is as long as the shortest delay between parts. The end of a flow, and
    /// an arrival at an application, is known after the longest delay; applications take as long to answer. Some
    /// switches are far from all hosts, or in another network.
    #[test]
    fn random_networks_give_equal_outcomes_in_all_modes(
        delays in prop::collection::vec(prop_oneof![500u64..2000, 2000u64..300_000], 14),
        (far, answers, seed) in (any::<bool>(), any::<bool>(), 0u64..1000),
        name in prop::sample::select(vec!["tcp", "dctcp", "l2dct", "swift", "pfabric", "dcqcn"]),
    ) {
        let ends = "h0,s0 h1,s0 h2,s1 h3,s1 h4,s2 h5,s2 h6,s3 h7,s3 s0,s4 s1,s4 s2,s4 s3,s4 s0,s1 s2,s3";
        let links = ends.split(' ').zip(&delays).map(|(ends, delay)| format!("{ends},1Gbps,{delay}ns\n"));
        let beside = if far { "s7,s8,1Gbps,3ns\ns8,s9,1Gbps,3ns\ns9,s7,1Gbps,3ns\n" } else { "" };
        let edges = format!("a,b,rate,delay\n{}{beside}", links.collect::<String>());
        let waiting = format!("[host]\nreaction = '{}ns'\n{}\n{}\n", delays.iter().max().unwrap(), ANSWERS.0, ANSWERS.1);
        let text = "title = 'any network'\nduration = '1ms'\nwarmup = '200us'\ndrain = '4ms'\n\
            [topology]\nkind = 'explicit'\nfile = 'links.csv'\n[switch]\nbuffer = '20pkt'\nmark_above = '8pkt'\n\
            [tcp]\nrto_min = '1ms'\n[measure]\nsample_every = '100us'\n\
            [[traffic]]\nkind = 'poisson'\nsizes = { kind = 'uniform', min = '1KB', max = '60KB' }\n\
            load = 0.6\npattern = 'all-to-all'\n";
        let text = format!("{text}{}", if answers { &waiting } else { "" });
        let (scenario, scheme) = (scenario_with_file(&text, &edges), scheme(name, &[]));
        let (outcome, legal) = all_alike(&scenario, &scheme, seed);
        let all = MODES.into_iter().filter(|modes| !(answers && modes.early_hosts));
        prop_assert_eq!(legal, all.collect::<Vec<_>>());
        prop_assert!(!answers || outcome.flows.iter().any(|flow| flow.task.is_some()));
        prop_assert!(outcome.flows.iter().any(|flow| flow.finish.is_some()));
    }
}

/// Runs may end at the end of the drain with unfinished flows; at the end of the measured time if nothing is waited
/// for; or with only backlogged flows.
#[test]
fn so_do_runs_however_they_end() {
    let with = |change: &dyn Fn(String) -> String| {
        let text = format!(
            "title = 'end'\nduration = '5ms'\ndrain = '1ms'\n[topology]\n{}\n{MIX}",
            small_topology("fat-tree", 8)
        );
        scenario(&change(text), &[])
    };
    let (cut_short, _) = all_alike(&with(&|text| text), &scheme("tcp", &[]), 3);
    assert!(cut_short.counters.unfinished > 0 && cut_short.flows.iter().any(|flow| flow.finish.is_some()));
    let endless = |text: String| text[..text.find("[[traffic]]\nkind = \"poisson\"").unwrap()].to_owned();
    let (endless, _) = all_alike(&with(&endless), &scheme("dctcp", &[]), 3);
    assert_eq!((endless.flows.len(), endless.end.as_secs_f64()), (2, 0.005));
}

/// A user-defined law with a constant window, which asserts that time never goes back on its clock. Connections may
/// share a clock.
#[derive(Debug)]
struct Own(Arc<Mutex<Instant>>);

impl Own {
    fn scheme(shared: bool) -> Scheme {
        let clock = || Arc::new(Mutex::new(Instant::ZERO));
        let of_all = clock();
        let law =
            move || Box::new(Own(if shared { of_all.clone() } else { clock() })) as Box<dyn UserDefined>;
        Scheme::user_defined("tcp", "own".to_owned(), String::new(), &[], Arc::new(law)).unwrap()
    }
}

impl CongestionControl for Own {
    fn on_ack(&mut self, _: &mut Window, ack: &AckSample) {
        let mut clock = self.0.lock().unwrap();
        assert!(*clock <= ack.flow.now, "{} after {}", ack.flow.now, *clock);
        *clock = ack.flow.now;
    }
    fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {}
}

/// All connections may share the state of user-defined laws, so these laws must see events in order of time.
#[test]
fn laws_from_outside_see_all_connections_in_order_of_time() {
    on(1, &mix("fat-tree", &[("[host]", "model = 'fifo'")]), &Own::scheme(true));
}

#[test]
fn a_run_on_one_core_names_the_reason() {
    let (own, dctcp) = (Own::scheme(false), scheme("dctcp", &[]));
    let why = |scenario: &Scenario, scheme: &Scheme, cores| {
        let (outcome, taken) = on(cores, scenario, scheme);
        assert_eq!(outcome.digest(), on(1, scenario, scheme).0.digest());
        (taken.used, taken.why.unwrap_or_default())
    };
    let one = |reason: &str| (1, reason.to_owned());
    let plain = mix("fat-tree", &[]);
    let lossy = |keys| mix("fat-tree", &[("[faults]", keys)]);
    let sprayed = mix("fat-tree", &[("[routing]", "kind = 'spray'")]);
    let drawn = mix("fat-tree", &[("[routing]", "kind = 'random-spray'")]);
    assert_eq!(why(&plain, &dctcp, 1), one(""));
    assert_eq!(why(&plain, &dctcp, 2), (2, String::new()));
    assert_eq!(why(&plain, &dctcp, 64), (8, "the network has 8 racks".to_owned()));
    assert_eq!(why(&plain, &own, 2), one("the transport is user-defined"));
    assert_eq!(why(&mix("star", &[]), &dctcp, 2), one("all hosts are at one switch"));
    assert_eq!(why(&lossy("loss = 0.001"), &dctcp, 2), (2, String::new()));
    let halved = one("edge0-agg1, between two parts, damages or delays packets");
    assert_eq!(why(&lossy("corrupt = 0.001"), &dctcp, 8), halved);
    let failing = lossy("links = ['edge0-agg0']\ndown_at = '1ms'\nup_at = '2ms'");
    assert_eq!(why(&failing, &dctcp, 2), one("links fail"));
    assert_eq!(cores(&plain, &dctcp, 2, true).why.as_deref(), Some("each packet is recorded"));
    assert_eq!(why(&sprayed, &dctcp, 2), (2, String::new()));
    assert_eq!(why(&drawn, &dctcp, 2), one("routing.kind = random-spray draws the path of each packet"));
    let answers = mix("fat-tree", &[ANSWERS]);
    let sooner =
        "traffic.4 waits for answers, and host.reaction is below 16.666666us, the longest delay of a link";
    assert_eq!(why(&answers, &dctcp, 2), one(sooner));
    let later = mix("fat-tree", &[ANSWERS, ("[host]", "reaction = '50us'")]);
    assert_eq!(why(&later, &dctcp, 2), (2, String::new()));
    let ideal = ServiceModel::named("ideal-srpt", &[]).unwrap();
    let (_, taken) = ideal.run_on(2, &plain, 1, &mut NoObserver).unwrap();
    assert_eq!((taken.used, taken.why.unwrap_or_default()), one("ideal-srpt simulates no packets"));
}

/// Not simulated window by window: small networks whose links carry few packets in a window, short links, permanent
/// starts of flows or samples, and one random stream for packets at several nodes.
#[test]
fn networks_are_simulated_in_windows_where_that_pays() {
    let text = "title = 'any'\nduration = '3ms'\n\
        topology = { kind = 'fat-tree', k = 8, rate = '10Gbps', rtt = '120us' }\n\
        switch = { buffer = '250pkt', mark_above = '65pkt' }\n[measure]\nsample_every = '1ms'\n\
        [[traffic]]\nkind = 'poisson'\nsizes = { kind = 'fixed', value = '1MB' }\nload = 0.5\npattern = 'all-to-all'\n";
    let dctcp = scheme("dctcp", &[]);
    let windows_in = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from));
        let scenario = scenario(&text.replace(from, to), &[]);
        ExecutionPlan::derive(&scenario, &dctcp, 1, false).modes.windows
    };
    let windows = |from: &str, to: &str| windows_in(text, from, to);
    assert!(windows("", ""));
    assert!(windows("[measure]", "[faults]\nloss = 0.01\ncorrupt = 0.01\n[measure]"));
    assert!(windows("k = 8", "k = 4"));
    // With 96 ports, a link must carry four packets of 1.2 µs in a window, which is a twelfth of the RTT.
    let small = |rtt: &str| windows_in(&text.replace("k = 8", "k = 4"), "120us", rtt);
    assert_eq!([small("57600ns"), small("57588ns")], [true, false]);
    let star = |hosts: u32| {
        windows("'fat-tree', k = 8, rate = '10Gbps'", &format!("'star', hosts = {hosts}, rate = '1Gbps'"))
    };
    assert_eq!([star(64), star(63)], [true, false]);
    assert!(!windows("120us", "1us"));
    assert!(!windows("1MB", "10KB"));
    let warm = text.replace("'3ms'", "'3ms'\nwarmup = '2ms'");
    assert_eq!([windows_in(&warm, "1MB", "300KB"), windows_in(&warm, "1MB", "200KB")], [true, false]);
    assert!(!windows("'1ms'", "'1us'"));
    assert!(windows("[measure]", "[routing]\nkind = 'spray'\n[measure]"));
    assert!(!windows("[measure]", "[routing]\nkind = 'random-spray'\n[measure]"));
    assert!(
        !ExecutionPlan::derive(&scenario(text, &[]), &dctcp, 1, true).modes.windows,
        "packets are watched"
    );
    let from = "'3ms'\ntopology = { kind = 'fat-tree', k = 8, rate = '10Gbps', rtt = '120us' }";
    let short = |rtt: &str| from.replace("3ms", "1us").replace("10Gbps", "20000Tbps").replace("120us", rtt);
    assert!(windows(from, &short("24ps")));
    assert!(!windows(from, &short("12ps")));
}

/// Data is prefetched from 1,024 ports on. TCP predicts packets unless its loss recovery or its law reads each packet.
#[test]
fn shortcuts_are_taken_where_they_pay() {
    let modes =
        |scenario, name, set: &[_]| ExecutionPlan::derive(&scenario, &scheme(name, set), 1, false).modes;
    let hosts = |hosts| {
        scenario(
            &format!(
                "title = 'large'\nduration = '6ms'\n[topology]\nkind = 'star'\nhosts = {hosts}\nrate = '1Gbps'\nrtt = '10us'\n{MIX}"
            ),
            &[],
        )
    };
    assert_eq!([511, 512].map(|number| modes(hosts(number), "dctcp", &[]).prefetch), [false, true]);
    let predicts = |name, set: &[_], keys| modes(mix("star", &[("[[traffic]]", keys)]), name, set).predicts;
    assert!(predicts("dctcp", &[], "") && predicts("swift", &[], "transport = 'cubic'"));
    let no = [("dcqcn", &[][..]), ("swift", &[]), ("tcp", &[("transport.recovery", "rack")])];
    assert_eq!(no.map(|(name, set)| predicts(name, set, "")), [false; 3]);
}

/// Features of a run forbid plans that they do not allow: several cores, windows, or fixed paths.
#[test]
fn no_plan_is_against_the_needs_of_a_part() {
    let several = [
        Modes::PLAIN,
        Modes { cores: 2, ..Modes::PLAIN },
        Modes { windows: true, ..Modes::PLAIN },
        Modes { fixed_paths: true, ..Modes::PLAIN },
    ];
    let legal = |topology: &str, table, keys| {
        let set = |modes| {
            Some(ExecutionPlan::set(modes, &mix(topology, &[(table, keys)]), &scheme("dctcp", &[]))?.modes)
        };
        several.map(|modes| set(modes).is_some_and(|set| set == modes))
    };
    let failing = "links = ['edge0-agg0']\ndown_at = '1ms'\nup_at = '2ms'";
    assert_eq!(legal("fat-tree", "[host]", ""), [true; 4]);
    assert_eq!(legal("star", "[host]", ""), [true, false, true, true]);
    assert_eq!(legal("leaf-spine", "[faults]", "hosts = '0-5'\ncorrupt = 0.01"), [true; 4]);
    assert_eq!(legal("leaf-spine", "[faults]", "corrupt = 0.01"), [true, false, true, true]);
    assert_eq!(
        legal("leaf-spine", "[faults]", "reorder = 0.01\nreorder_delay = '1us'"),
        [true, false, true, true]
    );
    assert_eq!(legal("fat-tree", "[faults]", failing), [true, false, false, false]);
    assert_eq!(legal("fat-tree", ANSWERS.0, ANSWERS.1), [true, false, false, true]);
    assert_eq!(legal("fat-tree", "[routing]", "kind = 'spray'"), [true, true, true, false]);
    for kind in ["kind = 'random-spray'", "kind = 'flowlet'"] {
        assert_eq!(legal("fat-tree", "[routing]", kind), [true, false, false, false]);
    }
}

/// If parts would wait for each other longer than they work, `cores` advises fewer cores, or one.
#[test]
fn as_many_cores_are_advised_as_have_room() {
    let with = |rtt: &str, more: &str, most| {
        let text = format!(
            "title = 'room'\nduration = '5ms'\n[topology]\nkind = 'fat-tree'\nk = 4\nrate = '10Gbps'\nrtt = '{rtt}'\n{MIX}{more}"
        );
        cores(&scenario(&text, &[]), &scheme("dctcp", &[]), most, false)
    };
    let advised = |rtt, most| with(rtt, "", most);
    // 48 links in both directions; a window is a twelfth of the RTT; a packet takes 1.2 µs.
    let why = |span, carried| {
        Some(format!(
            "8 parts would synchronise every {span}, in which links carry at most {carried} packets; each part needs 100"
        ))
    };
    assert_eq!(advised("240us", 8), Cores { used: 8, why: None });
    assert_eq!(advised("60us", 8), Cores { used: 4, why: why("5us", 400) });
    assert_eq!(advised("12us", 8), Cores { used: 1, why: why("1us", 80) });
    let damaged = with("240us", "[faults]\nlinks = ['edge0-agg1']\ncorrupt = 0.01\n", 8);
    let reason = "edge0-agg1, between two parts, damages or delays packets";
    assert_eq!(damaged, Cores { used: 7, why: Some(reason.to_owned()) });
}

/// Two sites are far from each other, and the racks in each site are close. Two parts are worthwhile, more are not.
#[test]
fn the_recommended_number_of_parts_is_the_number_used() {
    let mut edges = "a,b,rate,delay\ns0,s3,10Gbps,5ms\n".to_owned();
    for site in [0, 3] {
        edges += &format!("s{site},s{},10Gbps,10ns\ns{site},s{},10Gbps,10ns\n", site + 1, site + 2);
        for host in 0..6 {
            edges += &format!("h{},s{},10Gbps,10ns\n", 2 * site + host, site + host / 2);
        }
    }
    let text = "title = 'sites'\nduration = '1ms'\n[topology]\nkind = 'explicit'\nfile = 'links.csv'\n\
        [switch]\nbuffer = '50pkt'\nmark_above = '20pkt'\n[[traffic]]\nkind = 'long-lived'\nflows = 2\nfrom = '0-1'\nto = 9\n";
    let (sites, dctcp) = (scenario_with_file(text, &edges), scheme("dctcp", &[]));
    for most in 2..=6 {
        let advised = cores(&sites, &dctcp, most, false);
        assert_eq!((advised.used, advised.why.is_some()), (2, most > 2), "{most}: {advised:?}");
        assert_eq!(on(advised.used, &sites, &dctcp).1.used, 2);
    }
}

/// Stops a run at its third tick, or panics.
struct Stopping {
    looks: u32,
    panics: bool,
}

impl Observer for Stopping {
    fn tick(&mut self, standing: RunProgress) -> bool {
        assert!(standing.flows > 0 && standing.open > 0, "{standing:?}");
        self.looks += 1;
        assert!(!self.panics || self.looks < 3, "as was asked for");
        self.looks < 3
    }
}

#[test]
fn an_observer_can_stop_all_parts() {
    let scenario = mix("fat-tree", &[]);
    let stopped = |panics| {
        let mut observer = Stopping { looks: 0, panics };
        let result = run_on(3, &scenario, &scheme("dctcp", &[]), 1, &mut observer);
        assert_eq!(observer.looks, 3);
        result.map(|(outcome, _)| outcome.digest())
    };
    assert_eq!(stopped(false), Err(RunError::Cancelled));
    let panic = catch_unwind(AssertUnwindSafe(|| stopped(true))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"as was asked for"));
}
