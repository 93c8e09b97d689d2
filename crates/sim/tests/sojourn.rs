//! Disciplines that act on sojourn times (CoDel, TCN and PIE), by their effect on a link.

use crate::common::{run, scenario, scheme};
use shortflow_sim::outcome::Outcome;
use shortflow_units::NodeId;

/// Text of two pairs of hosts over a bottleneck, with K = 20 packets.
fn network(bottleneck: &str, rest: &str) -> String {
    format!(
        r#"
title = "waits"
duration = "200ms"
warmup = "50ms"
drain = "100s"
topology = {{ kind = "dumbbell", pairs = 2, rate = "40Gbps", bottleneck = "{bottleneck}", rtt = "100us" }}
switch = {{ buffer = "5000pkt", mark_above = "20pkt" }}
[measure]
ports = ["s0->s1"]
{rest}
"#
    )
}

fn long_flows(n: u32) -> String {
    format!("[[traffic]]\nkind = \"long-lived\"\nflows = {n}\nfrom = \"0-1\"\nto = 2\n")
}

/// Utilisation of the bottleneck from s0 to s1, and the transmission time of its mean backlog in microseconds.
fn bottleneck(outcome: &Outcome) -> (f64, f64) {
    let port = outcome.ports.iter().find(|port| (port.from, port.to) == (NodeId(4), NodeId(5))).unwrap();
    (port.utilisation, port.mean_bytes * 8e6 / port.rate.as_bps() as f64)
}

/// A thousand packets come at once, and one leaves every 1.2 ms. Packet 5 is the first that has waited 5 ms, at 6 ms.
/// The first packet after 106 ms is marked, number 89 at 106.8 ms. Then one packet is marked every 100 ms / √n, as
/// long as more than one waits. This makes 38 marks: 100 (1 + 1/√2 + … + 1/√37) ms = 1078.7 ms, and with 1/√38 1094.9
/// ms, more than the remaining 1090.8 ms.
#[test]
fn codel_at_its_defaults_follows_the_control_law_on_a_slow_link() {
    let burst = "[tcp]\ninitial_window = 1000\nrto_min = \"60s\"\nrto_max = \"60s\"\n[[traffic]]\nkind = \"incast\"\n\
        flows = 1\nfrom = 0\nto = 2\nsizes = { kind = \"fixed\", value = \"1460KB\" }\nunmeasured = true\n";
    let outcome = run(&scenario(&network("10Mbps", burst), &[]), &scheme("dctcp over codel", &[]));
    assert_eq!((outcome.flows[0].packets, outcome.flows[0].marks), (1000, 38));
}

/// TCP over a link of 10 Mbit/s with a round trip of 20 ms. Drop-tail fills the buffer. CoDel and PIE keep waits near
/// their targets of 5 and 15 ms, and the link stays busy.
#[test]
fn a_slow_link_stays_busy_and_waits_short() {
    let text = network("10Mbps", &long_flows(2)).replace("100us", "20ms");
    let text = text.replace("200ms", "30s").replace("50ms", "10s").replace("5000pkt", "400pkt");
    let of =
        |queue: &str| bottleneck(&run(&scenario(&text, &[]), &scheme(&format!("sack over {queue}"), &[])));
    let ([droptail, codel, pie], least) = (["droptail", "codel", "pie"].map(of), 0.93);
    assert!(droptail.0 > 0.99 && droptail.1 > 200_000.0, "{droptail:?}");
    assert!(codel.0 > least && (2_000.0..12_000.0).contains(&codel.1), "{codel:?}");
    assert!(pie.0 > least && (5_000.0..25_000.0).contains(&pie.1), "{pie:?}");
}

/// A threshold in time gives the same wait at 1 and at 10 Gbit/s; a threshold in packets gives a tenth of the wait at
/// 10 Gbit/s. TCN with the transmission time of K as threshold marks as step marking does.
#[test]
fn a_threshold_in_time_does_not_depend_on_the_rate() {
    let [slow, fast] = ["1Gbps", "10Gbps"].map(|rate| scenario(&network(rate, &long_flows(2)), &[]));
    let both = |queue: &str, settings: &[(&str, &str)]| {
        let scheme = scheme(&format!("dctcp over {queue}"), settings);
        [&slow, &fast].map(|scenario| bottleneck(&run(scenario, &scheme)))
    };
    let waits = |runs: [(f64, f64); 2]| {
        assert!(runs.iter().all(|(busy, _)| *busy > 0.99), "{runs:?}");
        runs.map(|(_, wait)| wait)
    };
    let step = waits(both("step-ecn", &[]));
    assert!(step[0] > 8.0 * step[1], "K = 20 packets: {step:?} us");
    let tcn = waits(both("tcn", &[("queue.threshold", "100us")]));
    assert!(tcn.iter().all(|wait| (90.0..110.0).contains(wait)), "100 us: {tcn:?}");
    assert_eq!(waits(both("tcn", &[])), step);
    let codel = waits(both("codel", &[("queue.target", "50us"), ("queue.interval", "500us")]));
    assert!(codel.iter().all(|wait| (50.0..125.0).contains(wait)), "50 us beyond 500 us: {codel:?}");
}
