//! Homa in a network: short messages behind long ones, grants by size, priorities, and lost packets.

use crate::common::{TRACE, run, scenario, scheme};
use shortflow_sim::outcome::{FlowRow, Outcome};

/// Text of a star with 10 Gbit/s and 10 µs, followed by `rest`.
fn star(hosts: usize, rest: &str) -> String {
    format!(
        r#"
title = "homa"
duration = "100ms"
drain = "1s"
topology = {{ kind = "star", hosts = {hosts}, rate = "10Gbps", rtt = "10us" }}
switch = {{ buffer = "1MB", mark_above = "100KB" }}
{rest}
"#
    )
}

fn rows(rest: &str, rows: &[&str]) -> Outcome {
    run(&scenario(&(star(6, "") + TRACE + rest), rows), &scheme("homa", &[]))
}

/// Time until the last byte arrives, divided by the ideal time. The acknowledgement of the message is not included.
fn stretch(flow: &FlowRow) -> f64 {
    let took = flow.received.unwrap().since(flow.start);
    took.as_secs_f64() / flow.ideal.unwrap().as_secs_f64()
}

/// Each message has its own connection, even with persistent connections. A message of 10 KB passes an earlier
/// message of 2 MB to the same host: in the host by the agent's order, in the switch by priority.
#[test]
fn a_short_message_passes_a_long_one_of_its_connection() {
    let persistent = "connections = \"persistent\"\n";
    let alone = rows(persistent, &["0.0003,h0,h5,10000"]);
    let behind = rows(persistent, &["0,h0,h5,2000000", "0.0003,h0,h5,10000"]);
    let [alone, behind] = [&alone.flows[0], &behind.flows[1]].map(stretch);
    // The card may hold 5 µs of the long message, and the switch one packet of it.
    assert!(behind - alone < 0.5, "{alone} alone, {behind} behind");
}

/// Of two messages from two hosts, the one with fewer bytes left is served at the rate of the link, and the other
/// waits.
#[test]
fn the_shorter_of_two_messages_is_served_first() {
    let outcome = rows("", &["0,h0,h5,4000000", "0,h1,h5,2000000"]);
    let [long, short] = [0, 1].map(|flow| stretch(&outcome.flows[flow]));
    assert!(short < 1.02, "{short}");
    assert!((1.4..1.6).contains(&long), "{long}");
    assert_eq!(outcome.counters.packets_dropped, 0);
}

/// A single message uses the whole link: its receiver grants as fast as packets arrive.
#[test]
fn grants_keep_the_link_full() {
    for size in ["1000", "100000", "10000000"] {
        let outcome = rows("", &[&format!("0,h0,h5,{size}")]);
        assert!(stretch(&outcome.flows[0]) < 1.002, "{size}: {}", stretch(&outcome.flows[0]));
    }
}

/// Every lost packet is repaired: packets of the first and the last part of a message, grants and acknowledgements.
#[test]
fn lost_packets_are_requested_again() {
    for lost in ["drop_data = [1]", "drop_data = [3, 4, 9]", "drop_data = [68]", "loss = 0.05"] {
        let faults = format!("[faults]\n{lost}\n");
        let text = star(6, &faults) + TRACE;
        let outcome = run(&scenario(&text, &["0,h0,h5,98000", "0,h1,h5,150000"]), &scheme("homa", &[]));
        for flow in &outcome.flows {
            assert_eq!(flow.acked, flow.size, "{lost}");
        }
        assert!(outcome.flows.iter().any(|flow| flow.retransmits > 0), "{lost}");
    }
}

/// Forty messages of 20 to 160 KB start at once. The buffer holds all unscheduled bytes, and the shortest messages
/// finish first.
#[test]
fn an_incast_is_granted_one_after_another() {
    let sizes: Vec<String> = (1..=5)
        .flat_map(|host| (1..9).map(move |size| (host - 1, size)))
        .map(|(host, size)| format!("0,h{host},h5,{}", 20_000 * size))
        .collect();
    let outcome = rows("", &sizes.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(outcome.counters.packets_dropped, 0);
    let mut by_size: Vec<_> = outcome.flows.iter().map(|flow| (flow.size, flow.received.unwrap())).collect();
    by_size.sort();
    let mean = |flows: &[(_, shortflow_units::Instant)]| {
        flows.iter().map(|flow| flow.1.as_secs_f64()).sum::<f64>() / flows.len() as f64
    };
    assert!(mean(&by_size[..10]) < 0.35 * mean(&by_size[30..]), "{by_size:?}");
}
