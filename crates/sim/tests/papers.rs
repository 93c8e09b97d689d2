//! Results of the papers with few flows: traffic, marks and losses enter the network; windows, completion times and
//! timeouts are measured.

use crate::common::{fct, run, scenario, scheme, star, values, windows};
use shortflow_sim::engine::Seeds;
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::traffic::Workload;
use shortflow_units::{Instant, Span};

/// Two flows over 100 Mbit/s, 200 µs and 100 packets; the second starts `millis` later. From 40 MB on a flow has the
/// low weight, which only the first flow reaches.
fn two_weights(millis: u64) -> Outcome {
    let text = format!(
        r#"
title = "two weights"
duration = "9s"
topology = {{ kind = "dumbbell", pairs = 2, rate = "1Gbps", bottleneck = "100Mbps", rtt = "200us" }}
switch = {{ buffer = "100pkt", mark_above = "unlimited" }}
tcp = {{ receive_window = "150pkt" }}
traffic = [
    {{ kind = "long-lived", flows = 1, from = 0, to = 2 }},
    {{ kind = "long-lived", flows = 1, from = 1, to = 2, start = "{millis}ms" }},
]
[measure]
ports = ["s0->s1"]
sample_every = "1ms"
"#
    );
    let weights = [("transport.w_high", "2"), ("transport.t1", "40MB"), ("transport.t2", "40MB")];
    let settings = [&weights[..], &[("transport.recovery", "sack")]].concat();
    run(&scenario(&text, &[]), &scheme("atcp", &settings))
}

/// Mean window of flow `index` from 6.5 s on.
fn mean_window(outcome: &Outcome, index: usize) -> f64 {
    let late = outcome.samples.iter().filter(|sample| sample.at.as_secs_f64() > 6.5);
    let own = late.filter(|sample| matches!(sample.subject, Subject::Cwnd(flow) if flow.index() == index));
    let windows: Vec<f64> = own.map(|sample| sample.value).collect();
    windows.iter().sum::<f64>() / windows.len() as f64
}

/// ATCP's Theorem 1, and claim `atcp/fig5-weighted-ratio`: weights 1 and 2 with losses of a full buffer. SACK repairs
/// several losses in one round trip, so each congestion event halves the window once, as the theorem assumes.
#[test]
fn windows_of_weights_one_and_two_are_as_one_to_two() {
    let starts = [5000, 5037, 5074, 5111, 5148];
    let ratios: Vec<f64> = starts
        .map(two_weights)
        .iter()
        .map(|outcome| mean_window(outcome, 1) / mean_window(outcome, 0))
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((mean - 2.0).abs() <= 0.1, "{mean} of {ratios:?}");
}

/// FaST §5.2: 100 workers answer with 10 KB each over one port of 100 KB, with K = 30 KB and RTOmin 10 ms.
fn query(name: &str, settings: &[(&str, &str)]) -> Outcome {
    let text = r#"
title = "query"
duration = "5s"
topology = { kind = "star", hosts = 101, rate = "1Gbps", rtt = "100us" }
switch = { buffer = "100KB", mark_above = "30KB" }
[[traffic]]
kind = "incast"
flows = 100
from = "0-99"
to = 100
sizes = { kind = "fixed", value = "10KB" }
repeat = 10
every = "400ms"
jitter = "10us"
"#;
    run(&scenario(text, &[]), &scheme(name, settings))
}

/// Means over the queries: time to the last answer in milliseconds, and number of timeouts.
fn query_time(outcome: &Outcome) -> (f64, f64) {
    let queries = outcome.flows.chunks(100);
    let count = queries.len() as f64;
    let last = queries.map(|flows| flows.iter().filter_map(|flow| flow.fct()).max().unwrap_or(Span::MAX));
    let timeouts: u32 = outcome.flows.iter().map(|flow| flow.timeouts).sum();
    (last.map(Span::as_secs_f64).sum::<f64>() / count * 1e3, f64::from(timeouts) / count)
}

/// Claims `fast/fig5-fast-fewest` and `fast/fig6-fast-at-most-one`: with FaST, each worker has at most one timeout.
/// In this single rack, with first windows of two segments, the order is the printed one (72 ms for NewReno, 43 ms
/// for DCTCP, 16 ms for FaST), as in `fast/fig4-order-100` (undecided) over five racks.
#[test]
fn a_query_to_a_hundred_workers_is_answered_soonest_by_fast() {
    let newreno = ("transport.recovery", "newreno");
    let dctcp = [newreno, ("transport.cwnd_floor", "2"), ("transport.initial_alpha", "1")];
    let fast = query("fast", &[newreno]);
    let [tcp, dctcp] = [query("tcp", &[newreno]), query("dctcp", &dctcp)].map(|outcome| query_time(&outcome));
    assert!(fast.flows.iter().all(|flow| flow.timeouts <= 1));
    let fast = query_time(&fast);
    assert!(fast.0 < 20.0 && fast.0 < dctcp.0 / 2.0 && dctcp.0 < tcp.0, "{fast:?} {dctcp:?} {tcp:?}");
    assert!(fast.1 < dctcp.1 / 2.0 && dctcp.1 < tcp.1, "{fast:?} {dctcp:?} {tcp:?}");
}

/// With every packet marked, vwnd falls to the smallest segment, and only packets of 100 bytes are sent.
#[test]
fn full_marking_drives_fast_to_its_smallest_segment() {
    let text = star(
        3,
        "[[traffic]]\nkind = \"long-lived\"\nflows = 1\n[measure]\nsample_every = \"1ms\"\n[faults]\nmark = 1.0\n",
    );
    for recovery in ["sack", "newreno"] {
        let outcome = run(&scenario(&text, &[]), &scheme("fast", &[("transport.recovery", recovery)]));
        assert_eq!(windows(&outcome).last(), Some(&(100.0 / 1460.0)));
        let flow = &outcome.flows[0];
        let mean = flow.acked.as_f64() / flow.packets as f64;
        assert!((100.0..110.0).contains(&mean), "{mean}");
        let alpha = values(&outcome, |subject| matches!(subject, Subject::Alpha(_)));
        assert_eq!(alpha.last(), Some(&1.0));
    }
}

/// Half of all packets are marked and one in fifty is lost, so segments of every size are lost and retransmitted.
#[test]
fn fast_delivers_every_byte_whatever_is_marked_and_lost() {
    let text = star(
        9,
        "[[traffic]]\nkind = \"incast\"\nflows = 8\nsizes = { kind = \"uniform\", min = \"1B\", max = \"200KB\" }\n\
         repeat = 4\nevery = \"200ms\"\n[faults]\nmark = 0.5\nloss = 0.02\n",
    );
    for recovery in ["sack", "newreno"] {
        for nagle in ["true", "false"] {
            let settings = [("transport.recovery", recovery), ("transport.nagle", nagle)];
            let outcome = run(&scenario(&text, &[]), &scheme("fast", &settings));
            assert!(outcome.flows.iter().all(|flow| flow.acked == flow.size && flow.finish.is_some()));
            assert!(outcome.flows.iter().map(|flow| flow.retransmits).sum::<u32>() > 20);
        }
    }
}

/// Two flows of 10 MB share 1 Gbit/s, which takes 160 ms. The first has a deadline of 100 ms, the second of one
/// second.
fn near_and_far(name: &str) -> (Span, Span) {
    let flow = |host: usize, deadline: &str| {
        format!(
            "[[traffic]]\nkind = \"incast\"\nflows = 1\nfrom = {host}\nto = 2\n\
             sizes = {{ kind = \"fixed\", value = \"10MB\" }}\n\
             deadline = {{ kind = \"fixed\", value = \"{deadline}\" }}\n"
        )
    };
    let text = star(3, &(flow(0, "100ms") + &flow(1, "1s")));
    let outcome = run(&scenario(&text, &[]), &scheme(name, &[]));
    (fct(&outcome, 0), fct(&outcome, 1))
}

/// With D2TCP, the flow with the nearer deadline backs off less, and finishes earlier than with an equal share.
#[test]
fn d2tcp_gives_way_to_the_nearer_deadline() {
    let (near, far) = near_and_far("d2tcp");
    let (equal, other) = near_and_far("dctcp");
    assert!(equal.abs_diff(other) < Span::from_millis(30), "{equal} {other}");
    assert!(equal > Span::from_millis(130), "{equal}");
    assert!(near < equal.saturating_sub(Span::from_millis(15)), "{near} instead of {equal}");
    assert!(near < far && far < Span::from_millis(170), "{near} {far}");
}

/// A million flows of the shipped scenario, at 49.5 flows per second, so that the median gap is the middle of the
/// published range (ATCP, Sec. III and Fig. 3). 80 % of the flows are below 100 KB and 99 % below 10 MB, 83 % of the
/// bytes are in larger flows, and 80 % of the gaps are 0.4 to 40 ms. The tolerances are five standard deviations.
#[test]
fn a_million_flows_of_atcps_trace_have_the_published_shares() {
    let text = include_str!("../../../python/shortflow/scenarios/atcp-trace.toml");
    let faster =
        [("topology.trunk_rate", "1Gbps"), ("load", "1.0205")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    let scenario = Scenario::parse(text, "atcp-trace", &faster, &|_| Err("no files".to_owned()))
        .unwrap_or_else(|error| panic!("{error}"));
    let Workload::Open(arrivals) = scenario.traffic[0].start(Seeds::new(1), 0) else { panic!("not open") };
    let (mut below, mut bytes, mut usual, mut last) = ([0u32; 2], [0.0; 2], 0u32, Instant::ZERO);
    let mut flows = 0.0;
    for arrival in arrivals.take(1_000_000) {
        let size = arrival.size.as_f64();
        below[0] += u32::from(size < 100e3);
        below[1] += u32::from(size < 10e6);
        bytes[usize::from(size > 10e6)] += size;
        let gap = arrival.at.since(last).as_secs_f64();
        usual += u32::from((0.4e-3..40e-3).contains(&gap));
        last = arrival.at;
        flows += 1.0;
    }
    let close = |found: f64, expected: f64, tolerance: f64| {
        assert!((found - expected).abs() < tolerance, "{found} is not {expected}");
    };
    close(f64::from(below[0]) / flows, 0.80, 0.002);
    close(f64::from(below[1]) / flows, 0.99, 0.0005);
    close(bytes[1] / (bytes[0] + bytes[1]), 0.834, 0.01);
    close(f64::from(usual) / flows, 0.80, 0.002);
    close(flows / last.since(Instant::ZERO).as_secs_f64(), 49.5, 49.5 * 0.025);
}
