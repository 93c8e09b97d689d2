//! Losses and marks: a packet is dropped or marked in the network, and the window and the flow table show the
//! sender's reaction.

use crate::common::{TRACE, fct, run, scenario, scheme, star, values, windows};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;
use shortflow_units::{Bytes, Span};

/// A long flow through a 1 Gbit/s bottleneck with faster access links; its window is sampled every 100 µs.
fn long_flow(name: &str, settings: &[(&str, &str)], faults: &str) -> Outcome {
    let text = format!(
        r#"
title = "one long flow"
duration = "100ms"
topology = {{ kind = "dumbbell", pairs = 1, rate = "10Gbps", bottleneck = "1Gbps", rtt = "300us" }}
switch = {{ buffer = "1000pkt", mark_above = "unlimited" }}
tcp = {{ receive_window = "40pkt" }}
traffic = [{{ kind = "long-lived", flows = 1 }}]
[measure]
ports = ["s0->s1"]
sample_every = "100us"
[faults]
{faults}
"#
    );
    run(&scenario(&text, &[]), &scheme(name, settings))
}

/// A flow of twenty segments with an initial window of ten, on an otherwise empty star.
fn twenty_segments(drop_data: &str, recovery: &str) -> Outcome {
    let faults = format!("[tcp]\ninitial_window = 10\n[faults]\ndrop_data = {drop_data}\n");
    let scheme = scheme("tcp", &[("transport.recovery", recovery)]);
    run(&scenario(&(star(3, &faults) + TRACE), &["0,h0,h2,29200"]), &scheme)
}

#[test]
fn several_losses_cost_newreno_a_round_trip_each_and_sack_one() {
    let [sack, newreno] = ["sack", "newreno"].map(|recovery| {
        let outcome = twenty_segments("[2, 4, 6]", recovery);
        assert_eq!((outcome.flows[0].retransmits, outcome.flows[0].timeouts), (3, 0));
        fct(&outcome, 0)
    });
    let later = newreno.saturating_sub(sack);
    assert!(later > Span::from_micros(300), "NewReno is only {later} later");
}

/// Segments 1 to 10 are packets 1 to 10. The ACKs of 1 and 2 release 11 to 14, and the third duplicate ACK sends
/// segment 3 again as packet 15. The timer sends segment 3 a third time, and no other segment.
#[test]
fn sack_sends_a_segment_a_third_time_by_the_timer_and_nothing_beside_it() {
    let outcome = twenty_segments("[3, 15]", "sack");
    assert_eq!((outcome.flows[0].retransmits, outcome.flows[0].timeouts), (2, 1));
}

/// RFC 6298 (2.2): the first segment takes R = 324.64 µs, so the timeout is 3 R without a minimum. The second segment
/// is lost.
#[test]
fn the_first_round_trip_sets_the_timeout() {
    let text = star(3, "[tcp]\ninitial_window = 1\nrto_min = \"1us\"\n[faults]\ndrop_data = [2]\n") + TRACE;
    for recovery in ["sack", "newreno"] {
        let outcome =
            run(&scenario(&text, &["0,h0,h2,2920"]), &scheme("tcp", &[("transport.recovery", recovery)]));
        assert_eq!(fct(&outcome, 0), Span::from_nanos(5 * 324_640), "{recovery}");
    }
}

/// The window is 40 segments (the receive window) when packet 3000 is lost, late in the run.
#[test]
fn a_loss_halves_every_transport() {
    for (name, settings) in [
        ("tcp", &[][..]),
        ("tcp", &[("transport.recovery", "newreno")]),
        ("tcp-ecn", &[]),
        ("dctcp", &[]),
        ("l2dct", &[]),
        ("d2tcp", &[]),
        ("xdctcp", &[]),
        ("atcp", &[]),
        ("atcp-dctcp", &[]),
        ("fast", &[]),
    ] {
        let outcome = long_flow(name, settings, "drop_data = [3000]");
        let windows = windows(&outcome);
        let least = windows[200..].iter().copied().fold(f64::INFINITY, f64::min);
        assert!((19.5..=21.1).contains(&least), "{name} {settings:?}: {least}");
        assert_eq!((outcome.flows[0].retransmits, outcome.flows[0].timeouts), (1, 0), "{name}");
    }
}

/// One mark at a window of 40 segments, with alpha held at 0.5 (g = 0): TCP with ECN halves the window, DCTCP cuts a
/// quarter, L2DCT's long flow 0.5^0.125 / 2 = 45.9 %, L2DCT's short flow 0.5^2.5 / 2 = 8.8 %, and xDCTCP's long flow
/// all of alpha. CUBIC keeps 0.7.
#[test]
fn a_mark_cuts_by_the_law_of_the_transport() {
    let held = [("transport.g", "0"), ("transport.initial_alpha", "0.5")];
    let short = [held[0], held[1], ("transport.w_min", "2.5")];
    let unit = [held[0], held[1], ("transport.w_high", "1")];
    let cases: [(_, &[_], _); 9] = [
        ("tcp-ecn", &[], 20.0),
        ("cubic", &[("transport.ecn", "classic")], 28.0),
        ("dctcp", &held, 30.0),
        ("l2dct", &held, 21.660),
        ("l2dct", &short, 36.464),
        ("d2tcp", &held, 30.0),
        ("xdctcp", &held, 20.0),
        ("atcp-dctcp", &unit, 30.0),
        ("fast", &held, 30.0),
    ];
    for (name, settings, left) in cases {
        let outcome = long_flow(name, settings, "mark_data = [3000]");
        let least = windows(&outcome)[200..].iter().copied().fold(f64::INFINITY, f64::min);
        // The window is sampled every third of a round trip, so it may have grown by as much.
        assert!((left - 1e-3..left + 0.5).contains(&least), "{name} {settings:?}: {least}, not {left}");
        assert_eq!(outcome.flows[0].marks, 1);
    }
}

/// With every packet marked and exact echoes, the sender cuts once per window, down to its floor of one segment, and
/// alpha tends to one.
#[test]
fn full_marking_drives_dctcp_to_one_segment() {
    for name in ["dctcp", "l2dct"] {
        let outcome = long_flow(name, &[], "mark = 1.0");
        assert_eq!(windows(&outcome).last(), Some(&1.0), "{name}");
        let alpha = values(&outcome, |subject| matches!(subject, Subject::Alpha(_)));
        assert!(*alpha.last().unwrap() > 0.98, "{name}: {alpha:?}");
    }
}

/// RFC 8257 §3.2: marked segments are counted exactly, even with delayed ACKs. Every tenth packet is marked, and
/// alpha settles at this share.
#[test]
fn delayed_acks_keep_the_marked_share() {
    for every in ["1", "2"] {
        let marks: Vec<String> = (100..8000).step_by(10).map(|number: u32| number.to_string()).collect();
        let text = star(
            3,
            &format!(
                "[tcp]\nreceive_window = \"20pkt\"\nack_every = {every}\n[faults]\nmark_data = [{}]\n\
                 [[traffic]]\nkind = \"long-lived\"\nflows = 1\n[measure]\nsample_every = \"1ms\"\n",
                marks.join(", ")
            ),
        )
        .replace("duration = \"1s\"", "duration = \"100ms\"");
        // The law also cuts the window by alpha/2, which does not change the share.
        let outcome = run(&scenario(&text, &[]), &scheme("dctcp", &[]));
        let alpha = values(&outcome, |subject| matches!(subject, Subject::Alpha(_)));
        let late = &alpha[60..];
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        assert!((mean - 0.1).abs() < 0.02, "ack_every = {every}: alpha {mean}");
    }
}

/// The first segment and its retransmission are lost. Until the timeout, 10 ms later, recovery sends one new segment
/// for each SACKed one. About five segments are then in the network, and more than a hundred are not acknowledged.
#[test]
fn a_timeout_in_recovery_halves_the_data_in_flight() {
    let text = "[tcp]\ninitial_window = 10\nrto_min = \"10ms\"\n[faults]\ndrop_data = [1, 11]\n[[traffic]]\n\
                kind = \"long-lived\"\nflows = 1\nfrom = [0]\nto = 2\n[measure]\nsample_every = \"1ms\"\n";
    let text = star(3, text).replace("duration = \"1s\"", "duration = \"14ms\"");
    let outcome = run(&scenario(&text, &[]), &scheme("tcp", &[("transport.recovery", "sack")]));
    let flow = &outcome.flows[0];
    assert_eq!((flow.timeouts, flow.retransmits), (1, 2));
    assert!(flow.acked > Bytes::new(130 * 1460), "{}", flow.acked);
    // Slow start to two or three segments, then one for each round trip of 0.325 ms.
    let last = *windows(&outcome).last().unwrap();
    assert!((5.0..20.0).contains(&last), "{last}");
}

/// The whole first window is lost, and the first retransmitted segment is marked. The timeout has already responded
/// to the losses, so the mark only keeps the window at one segment for a round trip. Slow start goes on to half of
/// the flight (1, 1, 2, 4, 8, 16 and 8 segments instead of 1, 2, 4, 8, 16 and 9). A decrease would end slow start at
/// two segments.
#[test]
fn a_mark_on_a_retransmission_after_a_timeout_does_not_cut() {
    let lost = (1..=40).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let [plain, marked] = ["", "mark_data = [41]"].map(|faults| {
        let rest = format!("[tcp]\ninitial_window = 40\n[faults]\ndrop_data = [{lost}]\n{faults}\n");
        run(&scenario(&(star(3, &rest) + TRACE), &["0,h0,h2,58400"]), &scheme("dctcp", &[]))
    });
    assert_eq!((plain.flows[0].timeouts, marked.flows[0].timeouts, marked.flows[0].marks), (1, 1, 1));
    let later = fct(&marked, 0).saturating_sub(fct(&plain, 0));
    assert!(Span::from_micros(300) < later && later < Span::from_micros(350), "{later} later");
}

/// After a timeout and its repair, duplicate ACKs find a loss again, and also each of two losses in a row.
#[test]
fn losses_far_apart_are_each_repaired_without_the_timer() {
    for recovery in ["sack", "newreno"] {
        for (faults, retransmits, timeouts) in [("[60, 200]", 2, 0), ("[1, 11, 200]", 3, 1)] {
            let faults = format!("drop_data = {faults}");
            let outcome = long_flow("tcp", &[("transport.recovery", recovery)], &faults);
            let flow = &outcome.flows[0];
            assert_eq!((flow.retransmits, flow.timeouts), (retransmits, timeouts), "{recovery}: {faults}");
        }
    }
}

/// RFC 5681 §4.2: data above a gap, and data that fills a gap, is acknowledged at once, even with one ACK for two
/// segments. The seventh of ten segments is lost, and each of the last three causes a duplicate ACK.
#[test]
fn out_of_order_data_is_acknowledged_at_once() {
    let settings =
        "[tcp]\ninitial_window = 10\nack_every = 2\nack_delay = \"5ms\"\n[faults]\ndrop_data = [7]\n";
    for recovery in ["sack", "newreno"] {
        let scheme = scheme("tcp", &[("transport.recovery", recovery)]);
        let outcome = run(&scenario(&(star(3, settings) + TRACE), &["0,h0,h2,14600"]), &scheme);
        assert_eq!((outcome.flows[0].retransmits, outcome.flows[0].timeouts), (1, 0), "{recovery}");
        assert!(fct(&outcome, 0) < Span::from_millis(1), "{recovery}: {}", fct(&outcome, 0));
    }
}
