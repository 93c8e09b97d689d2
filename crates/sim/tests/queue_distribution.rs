//! The distribution of a measured port's backlog, and its maximum, compared with results by hand.

use crate::common::{TRACE, run, scenario, scheme, star};
use shortflow_sim::net::Percentiles;
use shortflow_sim::outcome::{Outcome, PortRow};
use shortflow_units::Bytes;

const SAMPLED: &str = "[measure]\nsample_every = \"1ms\"\n";
const BURST: &str = "[tcp]\ninitial_window = 10\n";

fn port(outcome: &Outcome) -> &PortRow {
    outcome.ports.iter().find(|row| row.percentiles.is_some()).expect("a measured port")
}

/// Two hosts send a window of ten segments each to a third host at time `start`. A segment takes 12 µs. The first two
/// segments arrive together, and from then on two arrive while one leaves.
fn burst(start: &str, rest: &str, duration: &str) -> Outcome {
    let traffic = format!("{TRACE}unmeasured = true\n{BURST}{SAMPLED}");
    let text = star(3, &traffic).replace("duration = \"1s\"", duration);
    let rows = [format!("{start},0,2,14600"), format!("{start},1,2,14600")];
    run(&scenario(&format!("{rest}{text}"), &[&rows[0], &rows[1]]), &scheme("tcp", &[]))
}

#[test]
fn percentiles_are_shares_of_the_measured_time() {
    // The queue has n packets for 12 µs each, with n = 2, 3, …, 11, then 10, …, 1: 240 µs in all, half of the
    // measured time of 480 µs.
    let outcome = burst("0", "", "duration = \"480us\"");
    let row = port(&outcome);
    assert_eq!(row.max_packets, 11);
    // The 95th percentile is 24 µs from the top: the queue is above 10 packets for 12 µs, and at 10 packets for 24
    // µs.
    let found = row.percentiles.unwrap();
    assert_eq!(found.packets, [0, 10, 11]);
    assert_eq!(found.bytes, [0, 10 * 1500, 11 * 1500].map(|bytes: u64| bytes.next_multiple_of(128)));
    assert!((row.mean_packets - 12.0 * (65.0 + 55.0) / 480.0).abs() < 1e-9, "{}", row.mean_packets);
}

#[test]
fn a_queue_of_the_warm_up_does_not_count() {
    // The round trip of 300 µs is that of four links. Segments come to the switch after 12 + 75 µs. The queue is
    // longest 108 µs later and empty after 327 µs. It has seven packets when the warm-up ends at 250 µs.
    let outcome = burst("0", "warmup = \"250us\"\n", "duration = \"1ms\"");
    let row = port(&outcome);
    assert_eq!((row.max_packets, row.max_bytes), (7, Bytes::new(7 * 1500)));
    let after = burst("0", "warmup = \"500us\"\n", "duration = \"1ms\"");
    assert_eq!((port(&after).max_packets, port(&after).max_bytes), (0, Bytes::ZERO));
    assert_eq!((port(&after).mean_packets, port(&after).mean_bytes), (0.0, 0.0));
    assert_eq!((port(&after).tx_packets, port(&after).tx_bytes), (0, Bytes::ZERO));
    assert_eq!(port(&after).percentiles, Some(Percentiles { packets: [0; 3], bytes: [0; 3] }));
}

#[test]
fn queues_that_reorder_keep_the_same_distribution() {
    let [in_order, reordered] = ["dctcp", "pecn"].map(|name| {
        let text = star(3, &format!("{TRACE}{BURST}{SAMPLED}")).replace("\"20pkt\"", "\"unlimited\"");
        let text = text.replace("duration = \"1s\"", "duration = \"480us\"");
        run(&scenario(&text, &["0,0,2,14600", "0,1,2,14600"]), &scheme(name, &[]))
    });
    assert_eq!(port(&in_order).percentiles, port(&reordered).percentiles);
    assert_eq!(port(&in_order).max_packets, port(&reordered).max_packets);
}

#[test]
fn without_samples_there_is_none() {
    let text = star(3, TRACE);
    let outcome = run(&scenario(&text, &["0,0,2,14600"]), &scheme("tcp", &[]));
    assert!(outcome.ports.iter().all(|row| row.percentiles.is_none()));
}
