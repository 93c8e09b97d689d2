//! Swift in a network: the queueing delay, hundreds of flows below one segment, and flow scaling.

use crate::common::{fairness, mean, queue, run, scenario, scheme, values};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;

/// `flows` long flows into one port of 10 Gbit/s with a round-trip time of 40 µs. The measured time is from 20 to 60
/// ms.
fn long_flows(flows: usize, settings: &[(&str, &str)]) -> Outcome {
    long_flows_beside(flows, "", settings)
}

fn long_flows_beside(flows: usize, rest: &str, settings: &[(&str, &str)]) -> Outcome {
    let text = format!(
        r#"
title = "swift"
duration = "60ms"
warmup = "20ms"
topology = {{ kind = "star", hosts = {}, rate = "10Gbps", rtt = "40us" }}
switch = {{ buffer = "1000pkt", mark_above = "999pkt" }}
tcp = {{ initial_window = 1 }}
traffic = [{{ kind = "long-lived", flows = {flows}, from = "0-{}", to = {flows} }}]
[measure]
sample_every = "10us"
{rest}
"#,
        flows + 1,
        flows - 1
    );
    run(&scenario(&text, &[]), &scheme("swift", settings))
}

/// Mean time in the queue in µs: each packet ahead takes 1.2 µs.
fn queueing(outcome: &Outcome) -> f64 {
    mean(&queue(outcome, 0.02)) * 1.2
}

/// Goodput as a share of the link's payload rate.
fn goodput(outcome: &Outcome) -> f64 {
    let bits: f64 = outcome.flows.iter().map(|flow| flow.delivered_in_window.as_f64() * 8.0).sum();
    bits / 0.04 / (10e9 * 1460.0 / 1500.0)
}

fn windows(outcome: &Outcome) -> Vec<f64> {
    values(outcome, |subject| matches!(subject, Subject::Cwnd(_)))
}

/// §3.1: the queueing delay settles at the target. With targets of 100 and 200 µs, the mean is within a fifth of the
/// target, and the link is full.
#[test]
fn the_queue_stays_at_the_target() {
    for target in [100.0, 200.0] {
        let queueing_us = format!("{target}us");
        let outcome = long_flows(8, &[("transport.queueing", &queueing_us), ("transport.fs_range", "0s")]);
        let (measured, goodput) = (queueing(&outcome), goodput(&outcome));
        assert!((0.8 * target..1.2 * target).contains(&measured), "{measured} us for {target}");
        assert!(goodput > 0.95, "{goodput}");
    }
}

/// §3.4: 200 senders share a path that holds 33 + 42 packets. Their windows are below one segment on average, no
/// packet is lost, and no sender waits for a timeout. With a smallest window of one segment, they fill the queue with
/// 165 packets.
#[test]
fn two_hundred_senders_live_below_one_segment() {
    let with = |min_cwnd| {
        let same = [("transport.queueing", "50us"), ("transport.fs_range", "0s")];
        long_flows(200, &[same[0], same[1], ("transport.min_cwnd", min_cwnd)])
    };
    let outcome = with("0.001");
    let late = windows(&outcome).split_off(200 * 2000);
    assert!(mean(&late) < 0.7, "{}", mean(&late));
    let timeouts: u32 = outcome.flows.iter().map(|flow| flow.timeouts).sum();
    assert_eq!((timeouts, outcome.counters.packets_dropped), (0, 0));
    let (short, goodput) = (queueing(&outcome), goodput(&outcome));
    assert!(goodput > 0.95, "{goodput}");
    let long = queueing(&with("1"));
    assert!(long > 190.0 && short < 0.4 * long, "{short} us, and {long} us at one segment");
}

/// Drops and timeouts of an incast of 200 flows of 100 KB into a buffer of 1000 packets.
fn incast(initial_window: u32, recovery: &str) -> (u64, u32) {
    let text = format!(
        r#"
title = "incast"
duration = "20ms"
drain = "1s"
topology = {{ kind = "star", hosts = 201, rate = "10Gbps", rtt = "40us" }}
switch = {{ buffer = "1000pkt", mark_above = "unlimited" }}
tcp = {{ initial_window = {initial_window} }}
traffic = [
    {{ kind = "incast", flows = 200, from = "0-199", to = 200, sizes = {{ kind = "fixed", value = "100KB" }} }},
]
"#
    );
    let outcome = run(&scenario(&text, &[]), &scheme("swift", &[("transport.recovery", recovery)]));
    (outcome.counters.packets_dropped, outcome.flows.iter().map(|flow| flow.timeouts).sum())
}

/// First windows of one or two segments fit in the buffer, and no packet is lost later either. With ten segments, the
/// first 2,000 packets do not fit whatever the law does: half of them are dropped, and most flows wait for a timeout.
/// `recovery=rack` finds more of these losses without a timeout.
#[test]
fn an_incast_loses_no_more_than_its_first_windows() {
    assert_eq!([incast(1, "sack"), incast(2, "sack")], [(0, 0); 2]);
    let (sack, rack) = (incast(10, "sack"), incast(10, "rack"));
    assert!(sack.0 > 900 && sack.1 > 100 && rack.1 < sack.1, "{sack:?}, {rack:?}");
}

/// §3.3: each host is late by up to 100 µs. Packets keep their order, so with more packets in flight each is later.
/// The end hosts' window is the smaller one. By Little's law, it keeps the hosts' delay, which is the time of a
/// window beyond the round trip of the empty network, at its target. The switch's delay is far below its own target
/// of 50 µs, and the link is not full. With a target of the hosts that is never reached, the link carries more.
#[test]
fn the_delay_of_the_hosts_is_kept_at_a_target_of_its_own() {
    let with = |target| {
        let settings = [("transport.host_target", target), ("transport.ai", "0.5")];
        let outcome = long_flows_beside(1, "[host]\njitter = \"100us\"\n", &settings);
        let goodput = goodput(&outcome);
        let round_trip = mean(&windows(&outcome).split_off(2000)) * 1.2 / goodput;
        (round_trip - 42.5, goodput, queueing(&outcome))
    };
    let [low, high, free] = ["140us", "160us", "1ms"].map(with);
    for (delay, target) in [(low.0, 140.0), (high.0, 160.0)] {
        assert!((0.9 * target..1.1 * target).contains(&delay), "{delay} us for {target}");
    }
    assert!(low.1 < 0.6 * high.1 && high.1 < 0.6 * free.1, "{low:?}, {high:?}, {free:?}");
    assert!(high.2 < 5.0, "{high:?}");
}

/// §3.5: with flow scaling, the target grows with the number of flows, by 1/√cwnd of each flow. The queue grows too,
/// and shares that are unequal without flow scaling become equal.
#[test]
fn flow_scaling_raises_the_target_and_makes_shares_equal() {
    let with = |range| [("transport.queueing", "50us"), ("transport.fs_range", range)];
    let [fixed, scaled] = ["0s", "100us"].map(|range| long_flows(200, &with(range)));
    let few = long_flows(4, &with("100us"));
    let (few, many) = (queueing(&few), queueing(&scaled));
    assert!(many > 1.5 * few, "{few} us with 4 flows, {many} with 200");
    let [unequal, equal] = [&fixed, &scaled].map(fairness);
    assert!(equal > 0.98 && unequal < 0.8, "{unequal} without, {equal} with");
}
