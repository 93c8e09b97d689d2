//! RACK-TLP (RFC 8985): a packet is dropped or delayed in the network, and the flow table shows the repair. Times are
//! as in `analytic.rs`: a segment and its ACK take 324.64 µs, and each further segment 12 µs.

use crate::common::{TRACE, fct, run, scenario, scheme, star};
use shortflow_sim::outcome::Outcome;
use shortflow_units::Span;

const ROUND: u64 = 324_640;
const SEGMENT: u64 = 12_000;

/// One flow of `segments` from h0 to h2, with a first window of ten segments.
fn flow(segments: u64, tcp: &str, faults: &str, settings: &[(&str, &str)]) -> Outcome {
    let text = star(3, &format!("[tcp]\ninitial_window = 10\n{tcp}\n[[faults]]\n{faults}\n")) + TRACE;
    run(&scenario(&text, &[&format!("0,h0,h2,{}", segments * 1460)]), &scheme("tcp", settings))
}

fn rack(segments: u64, faults: &str) -> Outcome {
    flow(segments, "", faults, &[("transport.recovery", "rack")])
}

/// Retransmitted segments, and timeouts.
fn repairs(outcome: &Outcome) -> (u32, u32) {
    (outcome.flows[0].retransmits, outcome.flows[0].timeouts)
}

/// §7.2: the last of twenty segments is lost. The ACK of the segment before it comes two round trips and eight
/// segments after the start, the probe two smoothed round trips later, and the ACK of the probe one round trip after
/// that. SACK needs the timeout of 10 ms.
#[test]
fn a_lost_tail_is_probed_for_after_two_round_trips() {
    let outcome = rack(20, "drop_data = [20]");
    assert_eq!(repairs(&outcome), (1, 0));
    assert_eq!(fct(&outcome, 0), Span::from_nanos(5 * ROUND + 8 * SEGMENT));
    let sack = flow(20, "", "drop_data = [20]", &[("transport.recovery", "sack")]);
    assert_eq!(repairs(&sack), (1, 1));
    assert!(fct(&sack, 0) > Span::from_millis(10), "{}", fct(&sack, 0));
}

/// §7.4.1: the last three of ten segments are lost. The probe is the tenth, and its SACK shows that the two before it
/// are lost. Half of a flight of three is less than two, so the ninth waits for the ACK of the eighth.
#[test]
fn the_answer_to_a_probe_shows_earlier_losses() {
    let outcome = rack(10, "drop_data = [8, 9, 10]");
    assert_eq!(repairs(&outcome), (3, 0));
    assert_eq!(fct(&outcome, 0), Span::from_nanos(6 * ROUND + 6 * SEGMENT));
}

/// §6.2 steps 4 and 5: the second of four segments is lost. Two SACKed segments are fewer than DupThresh, so the loss
/// is found a quarter of the round trip after the fourth. Other recoveries need the timeout.
#[test]
fn a_loss_with_two_duplicates_is_found_when_the_reordering_window_is_over() {
    let outcome = rack(4, "drop_data = [2]");
    assert_eq!(repairs(&outcome), (1, 0));
    assert_eq!(fct(&outcome, 0), Span::from_nanos(2 * ROUND + 3 * SEGMENT + ROUND / 4));
    for recovery in ["sack", "newreno"] {
        let outcome = flow(4, "", "drop_data = [2]", &[("transport.recovery", recovery)]);
        assert_eq!(repairs(&outcome), (1, 1), "{recovery}");
    }
}

/// Three SACKed segments reach DupThresh, and RACK is as fast as SACK. SACKs release the fifteenth and sixteenth
/// segments (limited transmit), so the retransmission of the third segment is packet 17.
#[test]
fn a_loss_with_three_duplicates_is_repaired_at_once() {
    let outcome = rack(20, "drop_data = [3]");
    assert_eq!(repairs(&outcome), (1, 0));
    assert!(fct(&outcome, 0) < Span::from_micros(1200), "{}", fct(&outcome, 0));
}

/// A lost retransmission is found when a packet that was sent later arrives.
#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    let outcome = rack(40, "drop_data = [3, 17]");
    assert_eq!(repairs(&outcome), (2, 0));
    assert!(fct(&outcome, 0) < Span::from_millis(3), "{}", fct(&outcome, 0));
    let sack = flow(40, "", "drop_data = [3, 15]", &[("transport.recovery", "sack")]);
    assert_eq!(repairs(&sack), (2, 1));
}

/// §7.3: the whole first window is lost, and the handshake has given the round trip. The probe is new data, the
/// eleventh segment.
#[test]
fn a_lost_window_is_probed_for_with_new_data() {
    let lost = "drop_data = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
    let outcome = flow(40, "handshake = true", lost, &[("transport.recovery", "rack")]);
    assert_eq!(repairs(&outcome), (10, 0));
    assert!(fct(&outcome, 0) < Span::from_millis(5), "{}", fct(&outcome, 0));
}

/// Without a handshake, the connection is assumed to know its round trip. Both segments are lost. The probe is the
/// second segment, and its ACK comes a round trip later and shows that the first is lost. The ACK that ends the flow
/// comes another round trip later.
#[test]
fn a_connection_that_was_there_before_can_probe_at_once() {
    let outcome = rack(2, "drop_data = [1, 2]");
    assert_eq!(repairs(&outcome), (2, 0));
    assert_eq!(fct(&outcome, 0), Span::from_nanos(4 * ROUND));
}

/// §7.2: there is no probe while segments are SACKed. The third of twenty segments is lost, and the seventeenth,
/// packet 18. So are their retransmissions, packets 17 and 23. The ACK of the third ends the recovery when three
/// segments are SACKed above the hole.
#[test]
fn a_segment_lost_twice_below_sacked_segments_waits_for_the_timer() {
    assert_eq!(repairs(&rack(20, "drop_data = [3, 17, 18, 23]")), (4, 1));
}

/// §7.2: the ACK of the third segment is delayed by 5 ms. The probe allows for this delay. With `tlp_ack_delay =
/// "0s"` it does not, and the receiver gets the segment twice.
#[test]
fn a_probe_waits_for_a_delayed_ack() {
    let delayed = "ack_every = 2\nack_delay = \"5ms\"";
    for (tlp, sent_again) in [("", 0), ("tlp_ack_delay = \"0s\"", 1)] {
        let outcome = flow(3, &format!("{delayed}\n{tlp}"), "", &[("transport.recovery", "rack")]);
        assert_eq!(repairs(&outcome), (sent_again, 0), "{tlp:?}");
    }
}

/// As in Linux, the DSACK for the probe of the third segment is no sign of reordering. The second of the four
/// segments of the next message, packet 6, is lost, and found a quarter of the smallest round trip after the fourth.
#[test]
fn a_probe_in_vain_does_not_widen_the_reordering_window() {
    let tcp = "[tcp]\ninitial_window = 10\nack_every = 2\nack_delay = \"5ms\"\ntlp_ack_delay = \"0s\"\n";
    let text = star(3, &format!("{tcp}[[faults]]\ndrop_data = [6]\n{TRACE}connections = \"persistent\"\n"));
    let rows = ["0,h0,h2,4380", "0.01,h0,h2,5840"];
    let outcome = run(&scenario(&text, &rows), &scheme("tcp", &[("transport.recovery", "rack")]));
    assert_eq!([0, 1].map(|flow| outcome.flows[flow].retransmits), [1, 1]);
    let found = ROUND + 3 * SEGMENT + ROUND / 4; // the smallest round trip is the handshake's
    assert_eq!(fct(&outcome, 1), Span::from_nanos(found + ROUND));
}

/// One in a hundred packets is late by 200 µs, behind sixteen others, and another one in a hundred by `also`. None is
/// lost. Returns the number of retransmitted segments.
fn reordered(segments: u64, also: &str, settings: &[(&str, &str)]) -> u32 {
    let late = |by| format!("links = [\"s0->h2\"]\nreorder = 0.01\nreorder_delay = \"{by}\"\n");
    let faults = format!("{}[[faults]]\n{}", late("200us"), late(also));
    let outcome = flow(segments, "receive_window = \"40pkt\"", &faults, settings);
    assert_eq!((outcome.counters.packets_dropped, outcome.flows[0].timeouts), (0, 0));
    outcome.flows[0].retransmits
}

/// §6.2 steps 3 and 4: a packet that two others overtake reveals reordering. From then on the sender waits for the
/// reordering window: at first a quarter of the round trip, 81 µs, and as much more with each round of DSACKs. So few
/// of the two hundred packets that are later than this are taken for lost.
#[test]
fn reordering_is_learnt() {
    let rack = |segments| reordered(segments, "24us", &[("transport.recovery", "rack")]);
    let (first, all) = (rack(2000), rack(20_000));
    assert!((1..=4).contains(&first) && all <= first + 2, "{first} {all}");
    assert!(reordered(20_000, "24us", &[("transport.recovery", "sack")]) > 100);
}

/// Step 3: every late packet is overtaken by more than DupThresh others, and retransmitted before it arrives. DSACKs
/// widen the reordering window, but the sender does not wait for this window until a late packet arrives that was not
/// retransmitted.
#[test]
fn reordering_that_is_never_seen_takes_longer_to_learn() {
    let [seen, unseen] =
        ["24us", "200us"].map(|also| reordered(2000, also, &[("transport.recovery", "rack")]));
    assert!(unseen > 3 * seen, "{unseen} {seen}");
}

/// With a `dupthresh` above the sixteen overtaking packets, no packet is ever taken for lost.
#[test]
fn a_higher_threshold_of_duplicates_tolerates_reordering() {
    for recovery in ["sack", "newreno"] {
        let with = |dupthresh| {
            reordered(2000, "200us", &[("transport.recovery", recovery), ("transport.dupthresh", dupthresh)])
        };
        assert!(with("3") > 5, "{recovery}");
        assert_eq!(with("40"), 0, "{recovery}");
    }
}

/// The third of twenty segments is lost, and at most seventeen segments are SACKed above it.
#[test]
fn a_threshold_above_the_window_leaves_losses_to_the_timer() {
    for (dupthresh, timeouts) in [("5", 0), ("30", 1)] {
        let settings = [("transport.recovery", "sack"), ("transport.dupthresh", dupthresh)];
        let outcome = flow(20, "", "drop_data = [3]", &settings);
        assert_eq!(repairs(&outcome), (1, timeouts), "{dupthresh}");
    }
}
