//! Small traces that follow single packets through the network. Each test fails if one rule is off by one or missing.

use crate::common::{TRACE, fct, run, scenario, scheme, star};
use shortflow_sim::outcome::Outcome;
use shortflow_units::Span;

/// One flow of `segments` full segments, all sent at once.
fn burst(segments: u64, name: &str, settings: &[(&str, &str)], rest: &str) -> Outcome {
    let text = star(3, &format!("[tcp]\ninitial_window = {segments}\n{rest}\n")) + TRACE;
    run(&scenario(&text, &[&format!("0,h0,h2,{}", 1460 * segments)]), &scheme(name, settings))
}

/// [`burst`] towards a link that is ten times slower, so packet n finds n - 1 packets before it.
fn pile(segments: u64, name: &str, buffer: &str, mark_above: &str) -> Outcome {
    let slow = "kind = \"dumbbell\"\npairs = 1\nbottleneck = \"1Gbps\"\nrate = \"10Gbps\"";
    let text = star(2, &format!("[tcp]\ninitial_window = {segments}\n")) + TRACE;
    let text = text
        .replace("kind = \"star\"\nhosts = 2\nrate = \"1Gbps\"", slow)
        .replace("250pkt", buffer)
        .replace("20pkt", mark_above);
    run(&scenario(&text, &[&format!("0,h0,h1,{}", 1460 * segments)]), &scheme(name, &[]))
}

/// K = 5: the seventh packet finds six packets and is marked, the sixth finds five and is not.
#[test]
fn the_first_packet_that_finds_more_than_k_is_marked() {
    for (k, marks) in [("4pkt", 2), ("5pkt", 1), ("6pkt", 0), ("8999B", 1), ("9000B", 0)] {
        assert_eq!(pile(7, "dctcp", "250pkt", k).flows[0].marks, marks, "K = {k}");
    }
}

/// A buffer of six packets, including the packet in transmission: the seventh packet does not fit.
#[test]
fn the_first_packet_that_does_not_fit_is_dropped() {
    for (buffer, drops) in [("5pkt", 2), ("6pkt", 1), ("7pkt", 0), ("10499B", 1), ("10500B", 0)] {
        assert_eq!(pile(7, "tcp", buffer, "1pkt").counters.packets_dropped, drops, "buffer {buffer}");
    }
}

/// Segment 1 is lost, and its retransmission is acknowledged 10.3 ms after the first transmission. This is no RTT
/// sample (Karn), so the timeout stays at 20 ms; a sample would make it 31 ms. Segments 2 and 3 are lost too.
#[test]
fn a_resent_segment_gives_no_round_trip_time() {
    let text = star(3, "[tcp]\ninitial_window = 1\n[faults]\ndrop_data = [1, 3, 4]\n") + TRACE;
    for recovery in ["sack", "newreno"] {
        let scheme = scheme("tcp", &[("transport.recovery", recovery)]);
        let outcome = run(&scenario(&text, &["0,h0,h2,4380"]), &scheme);
        assert_eq!(outcome.flows[0].timeouts, 2);
        let (least, most) = (Span::from_millis(30), Span::from_millis(32));
        assert!((least..most).contains(&fct(&outcome, 0)), "{recovery}: {}", fct(&outcome, 0));
    }
}

/// All 20 segments of a burst are lost, then the first retransmission. The second timeout of a segment keeps ssthresh
/// at half of the 20 outstanding segments. Sixty segments then take 8 round trips (1, 2, 4, 8, 10, …). With an
/// ssthresh of 2 they would take 11 (1, 2, 3, 4, …).
#[test]
fn a_second_timeout_of_a_segment_keeps_ssthresh() {
    let lost: Vec<String> = (1..=21).map(|n| n.to_string()).collect();
    let text = star(3, &format!("[tcp]\ninitial_window = 20\n[faults]\ndrop_data = [{}]\n", lost.join(",")));
    let outcome = run(&scenario(&(text + TRACE), &["0,h0,h2,87600"]), &scheme("tcp", &[]));
    assert_eq!(outcome.flows[0].timeouts, 2);
    let recovering = fct(&outcome, 0).saturating_sub(Span::from_millis(30));
    let round_trips = recovering.as_secs_f64() / 324.64e-6;
    assert!((8.0..9.0).contains(&round_trips), "{round_trips} round trips");
}

/// RFC 6582 §3.2 step 2. Segments 1, 3, 5, 7 and 9 are lost, and the retransmission of 1 (packet 21), so the timer
/// expires with 25 segments outstanding. NewReno then retransmits within the window of slow start:
///
/// | ACK up to | cwnd | retransmitted |
/// |---|---|---|
/// | 0 | 1 | 1 |
/// | 2 | 2 | 3, 4 |
/// | 4 | 3 | 5, 6, 7 |
/// | 6 | 4 | 8, 9, 10 |
/// | 8 | 5 | 11, 12, 13 |
///
/// Segment 9 fills the last gap. The retransmissions 10 to 13 then cause duplicate ACKs while new data is
/// outstanding. These are no loss, because the ACK of 25 does not exceed `recover`. In all, twelve segments and the
/// fast retransmit are retransmitted.
#[test]
fn duplicates_of_retransmissions_are_no_loss() {
    let tcp = "[tcp]\ninitial_window = 20\nreceive_window = \"25pkt\"\n";
    let text = star(3, &format!("{tcp}[faults]\ndrop_data = [1, 3, 5, 7, 9, 21]\n")) + TRACE;
    let scheme = scheme("tcp", &[("transport.recovery", "newreno")]);
    let outcome = run(&scenario(&text, &["0,h0,h2,116800"]), &scheme);
    assert_eq!((outcome.flows[0].timeouts, outcome.flows[0].retransmits), (1, 13));
}

/// RFC 3168 §6.1.5: retransmissions are not ECN-capable with classic ECN, so they are not marked. DCTCP's are.
#[test]
fn classic_ecn_resends_without_ect() {
    for (name, marks) in [("tcp-ecn", 19), ("dctcp", 20)] {
        let outcome = burst(20, name, &[], "[faults]\nmark = 1.0\ndrop_data = [3]");
        let flow = &outcome.flows[0];
        assert_eq!((flow.retransmits, flow.packets, flow.marks), (1, 20, marks), "{name}");
    }
}

/// Flows of one segment whose `rto` is shorter than the round trip. A copy crosses the network in 150 µs and two
/// transmissions. The flows are done after 324.64 µs, and closed 75 µs later, after one more link.
fn with_a_late_copy(rto: &str, flows: &[&str]) -> Outcome {
    let tcp = format!("[tcp]\ninitial_rto = \"{rto}\"\nrto_min = \"100us\"\n");
    let outcome = run(&scenario(&(star(3, &tcp) + TRACE), flows), &scheme("tcp", &[]));
    assert_eq!(outcome.flows[0].retransmits, 1);
    assert_eq!(fct(&outcome, 0), Span::from_nanos(324_640));
    outcome
}

/// The copy arrives after 374 µs, before the receiver knows that the flow is done, or after 424 µs.
#[test]
fn a_late_packet_is_answered_until_the_end_of_its_flow_is_known() {
    for (rto, sent, arrived) in [("200us", 4, 2), ("250us", 3, 1)] {
        let outcome = with_a_late_copy(rto, &["0,h0,h2,1460"]);
        let counters = outcome.counters;
        assert_eq!((counters.packets_sent, counters.packets_delivered), (sent, sent), "{rto}");
        assert_eq!(outcome.flows[0].packets, arrived, "{rto}");
    }
}

/// The copy arrives after 474 µs, when the next flow has the slot of the first.
#[test]
fn a_late_packet_does_not_reach_the_next_connection() {
    let outcome = with_a_late_copy("300us", &["0,h0,h2,1460", "410us,h0,h2,1460"]);
    assert_eq!(outcome.counters.connections_peak, 1, "the second flow takes the slot of the first");
    assert_eq!(fct(&outcome, 1), fct(&outcome, 0));
    assert_eq!((outcome.flows[0].packets, outcome.flows[1].packets), (1, 1));
}

/// L2DCT's weight depends on the message. The first message has sent 1.5 MB and has a small weight, the second starts
/// with the largest. A mark in the second, with alpha held at a half, takes 8.8 % and not 45.9 % of a window of 40.
#[test]
fn a_message_has_a_weight_of_its_own() {
    let text = star(
        3,
        "[tcp]\nreceive_window = \"40pkt\"\n[faults]\nmark_data = [1032]\n[[traffic]]\nkind = \"incast\"\n\
         flows = 1\nfrom = 0\nto = 2\nsizes = { kind = \"fixed\", value = \"1500KB\" }\nrepeat = 2\nevery = \"250ms\"\n\
         connections = \"persistent\"\n",
    )
    .replace("300us", "3ms");
    let scenario = scenario(&text, &[]);
    let held = [("transport.g", "0"), ("transport.initial_alpha", "0.5")];
    let second = |weight| {
        let outcome = run(&scenario, &scheme("l2dct", &[held[0], held[1], weight]));
        assert_eq!(outcome.flows[1].marks, 1);
        fct(&outcome, 1)
    };
    let always_heavy = second(("transport.w_min", "2.5"));
    let always_light = second(("transport.w_max", "0.125"));
    assert_eq!(second(("transport.profile", "las")), always_heavy);
    assert!(always_light > always_heavy);
}

/// Two tables with three flows each: from h0 to h2 (twice) and from h1 to h2.
#[test]
fn flows_of_a_trace_may_share_connections() {
    let rows = ["0,h0,h2,14600", "1ms,h0,h2,14600", "2ms,h1,h2,14600"];
    let opened = |connections: [&str; 2]| {
        let table = |kind| format!("{TRACE}connections = \"{kind}\"\n");
        let text = star(3, &connections.map(table).concat());
        let outcome = run(&scenario(&text, &rows), &scheme("dctcp", &[]));
        assert!(outcome.flows.iter().all(|flow| flow.acked == flow.size));
        (outcome.counters.connections_peak, fct(&outcome, 5))
    };
    let [new, persistent, shared] = ["new", "persistent", "shared"].map(|kind| opened([kind; 2]));
    assert_eq!((persistent.0, shared.0, opened(["shared", "persistent"]).0), (4, 2, 4));
    assert!(
        new.0 <= 4 && shared.1 > new.1,
        "flow 5 waits behind flow 4 of its connection: {shared:?}, {new:?}"
    );
}
