//! Faults of links in a network: packets are lost, damaged or delayed, and links fail.

use crate::common::{TRACE, fct, run, scenario, scheme, star};
use shortflow_sim::net::PERCENTS;
use shortflow_sim::outcome::{Outcome, Place};
use shortflow_sim::probe::{Sample, Subject};
use shortflow_sim::queue::DropReason;
use shortflow_sim::scheme::schemes;
use shortflow_units::{Instant, Span};

/// Packets dropped anywhere for this reason.
fn lost(outcome: &Outcome, reason: DropReason) -> u64 {
    outcome.drops.iter().filter(|row| row.reason == reason).map(|row| row.in_run).sum()
}

/// One flow of 2,000 segments from h0 to h2 on a star, with a receive window of 40 segments.
fn one_flow(faults: &str) -> Outcome {
    let text = star(3, &format!("[tcp]\nreceive_window = \"40pkt\"\n{faults}\n{TRACE}"));
    run(&scenario(&text, &["0,h0,h2,2920000"]), &scheme("tcp", &[]))
}

#[test]
fn a_damaged_packet_uses_the_link_and_is_dropped_at_its_end() {
    let outcome = one_flow("[faults]\nlinks = [\"s0->h2\"]\ncorrupt = 0.01");
    let damaged = lost(&outcome, DropReason::Corrupted);
    assert!((8..=40).contains(&damaged), "{damaged} of about 2,000");
    assert_eq!(damaged, outcome.counters.packets_dropped);
    let port = outcome.ports.iter().find(|port| port.from.0 == 3 && port.to.0 == 2).unwrap();
    assert_eq!(port.tx_packets, outcome.flows[0].packets + damaged);
    assert_eq!(port.drops, damaged);
    assert_eq!(outcome.drops.len(), 1);
    assert_eq!(outcome.drops[0].place, Place::Port(port.from, port.to));
}

/// Cumulative ACKs replace lost ACKs: a tenth of the ACKs is lost, and no data is retransmitted.
#[test]
fn lost_acks_cost_no_data() {
    let outcome = one_flow("[faults]\nhosts = 0\nack_loss = 0.1");
    let gone = lost(&outcome, DropReason::Loss);
    assert!((150..=250).contains(&gone), "{gone} of about 2,000");
    assert_eq!((outcome.flows[0].packets, outcome.flows[0].retransmits), (2000, 0));
    let whole = one_flow("");
    assert!(fct(&outcome, 0) >= fct(&whole, 0));
}

/// A packet that is 20 µs late is overtaken by one packet of 12 µs, and the sender sees no loss. A packet that is 200
/// µs late is overtaken by 16 packets, so it is retransmitted although nothing was dropped.
#[test]
fn reordered_packets_arrive_late_and_out_of_order() {
    let late = |delay: &str| {
        one_flow(&format!("[faults]\nlinks = [\"s0->h2\"]\nreorder = 0.01\nreorder_delay = \"{delay}\""))
    };
    let (little, much) = (late("20us"), late("200us"));
    assert_eq!((little.counters.packets_dropped, much.counters.packets_dropped), (0, 0));
    assert_eq!(little.flows[0].retransmits, 0);
    assert!(much.flows[0].retransmits > 5, "{}", much.flows[0].retransmits);
}

/// Two racks and two spines, with flows from h0 … h3 to h4 … h7 that are long enough to meet the faults.
fn leaf_spine(faults: &str, name: &str) -> Outcome {
    let text = format!(
        r#"
title = "outage"
duration = "50ms"
drain = "100s"
[topology]
kind = "leaf-spine"
racks = 2
hosts_per_rack = 4
spines = 2
rate = "1Gbps"
uplink_rate = "2Gbps"
rtt = "100us"
[switch]
buffer = "100pkt"
mark_above = "20pkt"
{faults}
{TRACE}"#
    );
    let rows: Vec<String> =
        (0..16).map(|i| format!("{},h{},h{},{}", f64::from(i) * 1e-3, i % 4, 4 + i % 4, 1_000_000)).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    run(&scenario(&text, &rows), &scheme(name, &[]))
}

/// Bytes on the links of one spine, in both directions.
fn carried(outcome: &Outcome, spine: u32) -> u64 {
    let ports = outcome.ports.iter().filter(|port| port.from.0 == spine || port.to.0 == spine);
    ports.map(|port| port.tx_bytes.get()).sum()
}

#[test]
fn connections_go_round_a_failed_link_and_come_back() {
    let whole = leaf_spine("", "dctcp");
    assert!(carried(&whole, 10) > 0 && carried(&whole, 11) > 0);
    let gone = leaf_spine("[faults]\nlinks = [\"leaf0-spine1\"]\ndown_at = \"0s\"", "dctcp");
    assert_eq!(
        (carried(&gone, 11), lost(&gone, DropReason::LinkDown)),
        (0, 0),
        "known before the first packet"
    );
    let hit = leaf_spine("[faults]\nlinks = [\"leaf0-spine1\"]\ndown_at = \"5ms\"\nup_at = \"8ms\"", "dctcp");
    assert!(lost(&hit, DropReason::LinkDown) > 0);
    assert_eq!(lost(&hit, DropReason::NoRoute), 0, "the other spine leads there");
    assert_eq!(hit.counters.unfinished, 0);
    assert!(carried(&hit, 11) > carried(&whole, 11) / 4, "the link is used after its return");
    assert!(hit.drops.iter().all(|row| matches!(row.place, Place::Port(..))));
}

#[test]
fn without_a_route_packets_are_dropped_where_they_stand_and_timeouts_bring_flows_back() {
    let faults =
        "[faults]\nlinks = [\"leaf0-spine0\", \"spine1-leaf0\"]\ndown_at = \"5ms\"\nup_at = \"30ms\"";
    for info in schemes() {
        let outcome = leaf_spine(faults, &info.name);
        let stranded = outcome.drops.iter().find(|row| row.reason == DropReason::NoRoute);
        assert_eq!(
            stranded.map(|row| row.place),
            Some(Place::Node(shortflow_units::NodeId(8))),
            "{}",
            info.name
        );
        assert_eq!(outcome.counters.unfinished, 0, "{}", info.name);
        assert!(outcome.flows.iter().any(|flow| flow.timeouts > 0));
        let between = Instant::ZERO + Span::from_millis(6)..Instant::ZERO + Span::from_millis(30);
        let finished = outcome.flows.iter().filter_map(|flow| flow.finish);
        assert_eq!(finished.filter(|at| between.contains(at)).count(), 0, "{}", info.name);
    }
}

/// A port is idle while its link is down: the outage and the wait for the timer after it take 40 of 100 ms.
#[test]
fn a_port_whose_link_is_down_is_neither_busy_nor_full() {
    let text = star(2, "[faults]\nhosts = 1\ndown_at = \"20ms\"\nup_at = \"60ms\"\n[[traffic]]\nkind = \"long-lived\"\nflows = 1\nfrom = 0\n")
        .replace("duration = \"1s\"", "duration = \"100ms\"");
    for name in ["tcp", "pecn"] {
        let outcome = run(&scenario(&text, &[]), &scheme(name, &[]));
        let port = outcome.ports.iter().find(|port| port.to.0 == 1).unwrap();
        assert!((0.2..0.6).contains(&port.utilisation), "{name}: {}", port.utilisation);
        let sent = port.tx_bytes.as_f64() * 8.0 / 1e9;
        assert!((port.utilisation * 0.1 - sent).abs() < 1e-4, "{name}: {} and {sent}", port.utilisation);
        assert!(port.mean_packets < f64::from(port.max_packets), "{name}");
    }
}

/// An outage removes packets from a queue at once, and also from its distribution: the percentiles are those of
/// samples every 100 ns. The link returns after 10 µs, while packets still arrive and some of the lost packets would
/// still be in the queue.
#[test]
fn the_distribution_of_a_queue_omits_packets_lost_in_an_outage() {
    let rest = "[tcp]\ninitial_window = 20\n[measure]\nports = [\"s0->h3\"]\nsample_every = \"100ns\"\n\
                [[faults]]\nhosts = 3\ndown_at = \"1.2ms\"\nup_at = \"1.21ms\"\n";
    let text = star(4, &format!("{rest}{TRACE}")).replace("duration = \"1s\"", "duration = \"3ms\"");
    let rows = ["1ms,h0,h3,60KB", "1ms,h1,h3,60KB", "1ms,h2,h3,60KB"];
    for name in ["tcp", "pecn"] {
        let outcome = run(&scenario(&text, &rows), &scheme(name, &[]));
        assert!(lost(&outcome, DropReason::LinkDown) > 10);
        let kept = outcome.ports.iter().find_map(|port| port.percentiles).unwrap();
        let of_queue = |sample: &Sample| matches!(sample.subject, Subject::QueuePackets(_));
        let mut levels: Vec<u64> =
            outcome.samples.iter().filter(of_queue).map(|sample| sample.value as u64).collect();
        levels.sort_unstable();
        let sampled = PERCENTS.map(|percent| levels[levels.len() * percent as usize / 100]);
        assert_eq!(kept.packets, sampled, "{name}");
        assert!(sampled[2] > 15, "{name}: {sampled:?}");
    }
}
