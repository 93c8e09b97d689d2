//! Laws that read measurements of the network, on RoCE's hosts: HPCC reads reports of ports, TIMELY round-trip times.

use crate::common::{mean, run, scenario, scheme, values};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;

/// Share of payload on a link: 1,000 of 1,078 bytes, including Ethernet's preamble and gap.
const PAYLOAD: f64 = 1000.0 / 1078.0;

/// `flows` long flows to one host over 100 Gbit/s and 8 µs, whose starts are spread over 2 ms. The measured time is
/// from 4 to 8 ms.
fn long_flows(name: &str, flows: usize) -> Outcome {
    let text = format!(
        r#"
title = "long flows"
duration = "8ms"
warmup = "4ms"
topology = {{ kind = "star", hosts = {}, rate = "100Gbps", rtt = "8us" }}
switch = {{ buffer = "8MB", mark_above = "100KB" }}
tcp = {{ mss = "1000B", wire = "ethernet", rto_min = "1ms" }}
measure = {{ sample_every = "1us" }}
[[traffic]]
kind = "long-lived"
flows = {flows}
stagger = "{}us"
"#,
        flows + 1,
        2000 / flows,
    );
    run(&scenario(&text, &[]), &scheme(name, &[]))
}

/// Goodput of each flow in the measured time, as a share of the link's payload rate.
fn shares(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.delivered_in_window.as_f64() * 8.0 / 4e-3 / 1e11 / PAYLOAD).collect()
}

/// Backlog in bytes, over the whole run.
fn queue(outcome: &Outcome) -> Vec<f64> {
    values(outcome, |subject| matches!(subject, Subject::QueueBytes(_)))
}

/// §2.3, §3: two flows share η of the link, and the queue holds one or two packets. The second flow starts at the
/// rate of its link, so for one round trip the queue takes the excess of both: at most B · T, 100 KB, plus a few
/// packets.
#[test]
fn hpcc_keeps_its_share_and_an_empty_queue() {
    for (name, eta) in [("hpcc@paper", 0.95), ("hpcc@best", 0.99)] {
        let outcome = long_flows(name, 2);
        let shares = shares(&outcome);
        assert!((shares.iter().sum::<f64>() - eta).abs() < 0.01, "{shares:?} of {eta}");
        assert!((shares[0] / shares[1] - 1.0).abs() < 0.1, "{shares:?}");
        let queue = queue(&outcome);
        let late = &queue[queue.len() / 2..];
        assert!(mean(late) < 4_000.0, "{} bytes", mean(late));
        let most = queue.iter().fold(0.0, |most: f64, bytes| most.max(*bytes));
        assert!((10_000.0..130_000.0).contains(&most), "{most} bytes");
        assert_eq!(outcome.counters.packets_dropped, 0);
    }
}

/// Sixteen flows start with one full window each, which the buffer holds, and then drain the buffer.
#[test]
fn hpcc_drains_an_incast() {
    let outcome = long_flows("hpcc", 16);
    assert_eq!(outcome.counters.packets_dropped, 0);
    let shares = shares(&outcome);
    assert!((shares.iter().sum::<f64>() - 0.95).abs() < 0.05, "{shares:?}");
}

/// Two flows keep the round-trip time near T_low = 50 µs, below which TIMELY increases with every gradient, and they
/// share the link. The queue is far from empty.
#[test]
fn timely_stays_at_its_low_threshold() {
    let outcome = long_flows("timely", 2);
    let shares = shares(&outcome);
    assert!(shares.iter().sum::<f64>() > 0.8, "{shares:?}");
    let queue = queue(&outcome);
    let delay = mean(&queue[queue.len() / 2..]) * 8.0 / 1e11;
    assert!((2e-6..60e-6).contains(&delay), "{delay} s");
    assert_eq!(outcome.counters.packets_dropped, 0);
}
