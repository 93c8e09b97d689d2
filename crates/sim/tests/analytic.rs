//! Completion times computed by hand, to the picosecond. On the star: 1460-byte segments take 12 µs
//! per link, ACKs 0.32 µs, each link delays by 75 µs.

use crate::common::{TRACE, fct, run, scenario, scheme, star};
use shortflow_units::Span;

fn ns(nanoseconds: u64) -> Span {
    Span::from_nanos(nanoseconds)
}

#[test]
fn one_segment() {
    let outcome = run(&scenario(&star(3, TRACE), &["0,h0,h2,1460"]), &scheme("tcp", &[]));
    // Data 2 × (12 + 75), ACK 2 × (0.32 + 75).
    assert_eq!(fct(&outcome, 0), ns(324_640));
    assert_eq!(outcome.flows[0].ideal, Some(ns(324_640)));
    assert_eq!(outcome.counters.packet_hops, 4);
}

#[test]
fn a_short_last_segment_is_sent_short() {
    let outcome = run(&scenario(&star(3, TRACE), &["0,h0,h2,100"]), &scheme("tcp", &[]));
    // 140 bytes take 1.12 µs per link.
    assert_eq!(fct(&outcome, 0), ns(2 * (1_120 + 75_000) + 2 * 75_320));
}

#[test]
fn slow_start_in_two_rounds() {
    let outcome = run(&scenario(&star(3, TRACE), &["0,h0,h2,5840"]), &scheme("tcp", &[]));
    // Segments 1 and 2 leave at once; the ACK of 1 (324.64) releases 3 and 4; 4 leaves 12 µs after 3.
    assert_eq!(fct(&outcome, 0), ns(324_640 + 12_000 + 324_640));
    // Ideal: four back to back.
    assert_eq!(outcome.flows[0].ideal, Some(ns(3 * 12_000 + 324_640)));
}

#[test]
fn a_second_sender_waits_for_one_transmission() {
    let rows = ["0,h0,h2,1460", "0,h1,h2,1460"];
    let outcome = run(&scenario(&star(3, TRACE), &rows), &scheme("tcp", &[]));
    let mut flows = [0, 1].map(|flow| (fct(&outcome, flow), outcome.flows[flow].waited));
    flows.sort();
    assert_eq!(flows, [(ns(324_640), ns(0)), (ns(336_640), ns(12_000))]);
}

#[test]
fn a_handshake_costs_one_header_round_trip() {
    let text = star(3, "[tcp]\nhandshake = true\n") + TRACE;
    let outcome = run(&scenario(&text, &["0,h0,h2,1460"]), &scheme("tcp", &[]));
    assert_eq!(fct(&outcome, 0), ns(4 * 75_320 + 324_640));
}

#[test]
fn a_delayed_ack_waits_for_a_second_segment_or_for_its_timer() {
    let text = star(3, "[tcp]\nack_every = 2\nack_delay = \"500us\"\n") + TRACE;
    let outcome = run(&scenario(&text, &["0,h0,h2,1460", "1ms,h0,h2,2920"]), &scheme("tcp", &[]));
    assert_eq!(fct(&outcome, 0), ns(324_640 + 500_000));
    assert_eq!(fct(&outcome, 1), ns(324_640 + 12_000));
}

#[test]
fn the_end_of_a_message_need_not_wait() {
    let settings =
        "[tcp]\nack_every = 2\nack_delay = \"500us\"\ninitial_window = 1\nack_message_end = true\n";
    let text = star(3, settings) + TRACE;
    let outcome = run(&scenario(&text, &["0,h0,h2,1460", "1ms,h0,h2,2920"]), &scheme("tcp", &[]));
    assert_eq!(fct(&outcome, 0), ns(324_640));
    // The first of two segments waits for its timer: it is not the end.
    assert_eq!(fct(&outcome, 1), ns(2 * 324_640 + 500_000));
}

#[test]
fn the_receive_window_limits_the_flight() {
    let text = star(3, "[tcp]\nreceive_window = \"1pkt\"\n") + TRACE;
    let outcome = run(&scenario(&text, &["0,h0,h2,4380"]), &scheme("tcp", &[]));
    assert_eq!(fct(&outcome, 0), ns(3 * 324_640));
}

#[test]
fn a_timeout_doubles_until_the_segment_arrives() {
    let text = star(3, "[tcp]\ninitial_window = 1\n[faults]\ndrop_data = [1, 2, 3]\n") + TRACE;
    for name in ["tcp", "tcp-ecn", "dctcp", "l2dct"] {
        let outcome = run(&scenario(&text, &["0,h0,h2,1460"]), &scheme(name, &[]));
        // RTO 10, 20 and 40 ms, then one round trip.
        assert_eq!(fct(&outcome, 0), Span::from_millis(70) + ns(324_640), "{name}");
        assert_eq!((outcome.flows[0].timeouts, outcome.flows[0].retransmits), (3, 3));
    }
}

#[test]
fn the_mean_queue_is_the_time_packets_spend_there() {
    let text = star(3, TRACE).replace("duration = \"1s\"", "duration = \"1ms\"");
    let outcome = run(&scenario(&text, &["0,h0,h2,1460", "0,h1,h2,1460"]), &scheme("tcp", &[]));
    let port = outcome.ports.iter().find(|port| port.from.0 == 3 && port.to.0 == 2).unwrap();
    // One packet stays 12 µs, the other 24, in a millisecond.
    assert!((port.mean_packets - 0.036).abs() < 1e-12, "{}", port.mean_packets);
    assert!((port.utilisation - 0.024).abs() < 1e-12);
    assert_eq!(port.max_packets, 2);
}
