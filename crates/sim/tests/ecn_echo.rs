//! A sender's reaction to ECN-Echo, ACK by ACK, with every window law of TCP.

use crate::common::{TRACE, run, scenario, scheme, star, windows};
use proptest::prelude::*;
use shortflow_cc::{Ecn, Role};
use shortflow_sim::host::{EndpointContext, EndpointId, Flow, PacketSink};
use shortflow_sim::packet::{EcnField, Handover, Packet, PacketType};
use shortflow_sim::scheme::{Scheme, SchemeInfo, schemes};
use shortflow_sim::tcp::Sender;
use shortflow_units::{Bytes, ClassId, ConnId, FlowId, HostId, Instant, Span};
use std::collections::VecDeque;

/// Segments on their way: each data packet, and one past its last byte.
#[derive(Default)]
struct Wire(VecDeque<(Packet, u64)>);

impl PacketSink for Wire {
    fn send(&mut self, packet: Packet) -> Handover {
        let end = packet.seq + u64::from(packet.payload);
        self.0.push_back((packet, end));
        Handover::DROPPED
    }
}

/// Gives a backlogged sender an ACK for each segment, in order and 10 µs apart, with these echoes. Returns for each
/// ACK the window before and after, `snd_una`, and one past the last byte sent before the ACK.
fn answers(scheme: &Scheme, echoes: &[bool]) -> Vec<(f64, f64, u64, u64)> {
    let tcp = scenario(&star(3, "[[traffic]]\nkind = \"long-lived\"\nflows = 1\n"), &[]).tcp;
    let identity = EndpointId { conn: ConnId(0), flow_id: 0, peer: HostId(1), way: 0 };
    let flow = Flow { flow: FlowId(0), class: ClassId(0), role: Role::Unknown, deadline: None };
    let mut sender = Sender::new(identity, &scheme.transport, &tcp, Span::from_millis(10));
    let (mut wire, mut now, mut sent) = (Wire::default(), Instant::ZERO, 0);
    sender.push(flow, Bytes::MAX);
    sender.start(EndpointContext { now, tcp: &tcp }, &mut wire);
    let answer = |&ece: &bool| {
        let (data, end) = wire.0.pop_front().expect("a sender without losses has data out");
        assert_eq!(data.ecn != EcnField::NotEct, scheme.transport.ecn() != Ecn::Off);
        now += Span::from_micros(10);
        sent = wire.0.back().map_or(end, |&(_, last)| last);
        let ack = Packet { kind: PacketType::Ack, seq: end, payload: 0, ecn_flag: ece, ..data };
        let before = sender.window().cwnd;
        sender.on_ack(&ack, EndpointContext { now, tcp: &tcp }, &mut wire);
        (before, sender.window().cwnd, end, sent)
    };
    echoes.iter().map(answer).collect()
}

/// Schemes whose laws declare that they follow the rule for ECN-Echo. All of them use ECN here.
fn monotone() -> impl Iterator<Item = Scheme> {
    let declares = |info: &&SchemeInfo| scheme(&info.name, &[]).transport.info().ecn_monotone;
    schemes().iter().filter(declares).map(|info| {
        let chosen = scheme(&info.name, &[]);
        match chosen.transport.ecn() {
            Ecn::Off => scheme(&info.name, &[("transport.ecn", "exact")]),
            _ => chosen,
        }
    })
}

/// The first change of the window against the rule for ECN-Echo, after ACKs with these echoes.
fn breach(scheme: &Scheme, echoes: &[bool]) -> Option<String> {
    let mut cut_until = None;
    answers(scheme, echoes).into_iter().zip(echoes).find_map(|((before, after, una, sent), marked)| {
        let is_early = after < before && cut_until.is_some_and(|until| una <= until);
        if after < before {
            cut_until = Some(sent);
        }
        let is_wrong = if *marked { after > before } else { after < before };
        (is_early || is_wrong).then(|| format!("marked: {marked}, from {before} to {after} at byte {una}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// RFC 3168 §6.1.2: a marked ACK never opens the window. The window decreases at most once until all bytes that
    /// were outstanding at the decrease are acknowledged. An unmarked ACK never decreases the window.
    #[test]
    fn a_marked_ack_never_opens_the_window_and_cuts_at_most_once_per_window(
        echoes in prop::collection::vec(prop::bool::weighted(0.3), 1..400)
    ) {
        // Without probes, FaST is as its base law.
        for chosen in monotone().chain([scheme("fast", &[("transport.probes", "0")])]) {
            prop_assert_eq!(breach(&chosen, &echoes), None, "{}", chosen.name);
        }
    }
}

/// Every ECN-capable packet is marked. A sender without ECN sends no such packet and ignores echoes. The window of
/// senders with ECN does not grow.
#[test]
fn full_marking_stops_growth_with_ecn_and_changes_nothing_without() {
    let rest = "[tcp]\ninitial_window = 8\n[faults]\nmark = 1.0\n[[traffic]]\nkind = \"long-lived\"\nflows = 1\n\
                [measure]\nsample_every = \"100us\"\n";
    let text = star(3, rest).replace("duration = \"1s\"", "duration = \"6ms\"");
    for (name, has_ecn) in [
        ("tcp", false),
        ("atcp", false),
        ("atcp-dctcp", true),
        ("l2dct", true),
        ("xdctcp", true),
        ("d2tcp", true),
    ] {
        let scheme = scheme(name, &[]);
        let outcome = run(&scenario(&text, &[]), &scheme);
        let falls = windows(&outcome).is_sorted_by(|before, after| after <= before);
        assert_eq!((outcome.flows[0].marks > 0, falls), (has_ecn, has_ecn), "{name}");
        let echoed = answers(&scheme, &[true; 20]);
        assert!(echoed.iter().all(|(before, after, ..)| (after <= before) == has_ecn), "{name}: {echoed:?}");
    }
}

/// Every packet is marked and alpha stays at 0, so decreases only end slow start. With `grow_on_marked_acks = "yes"`,
/// all ACKs of a window except the decreasing one open it, by 1 − 1/W segments in all: from 2 segments to about 14 in
/// 16 to 18 round trips. With `"ns-2"`, all except the very first ACK open it, by one segment per round trip. With
/// `"no"`, the window stays at two segments.
#[test]
fn marked_acks_open_the_window_only_if_the_scenario_permits_it() {
    let held = scheme("dctcp", &[("transport.g", "0"), ("transport.initial_alpha", "0")]);
    let last_window = |grow: &str| {
        let rest = format!(
            "[tcp]\ninitial_window = 2\ngrow_on_marked_acks = \"{grow}\"\n[faults]\nmark = 1.0\n\
             [[traffic]]\nkind = \"long-lived\"\nflows = 1\n[measure]\nsample_every = \"100us\"\n"
        );
        let text = star(3, &rest).replace("duration = \"1s\"", "duration = \"6ms\"");
        *windows(&run(&scenario(&text, &[]), &held)).last().unwrap()
    };
    assert_eq!(last_window("no"), 2.0);
    let (all, after_first) = (last_window("yes"), last_window("ns-2"));
    assert!(
        (12.0..=16.0).contains(&all) && all + 1.0 < after_first && after_first <= 19.0,
        "{all} {after_first}"
    );
}

/// Some of the six segments of the first window are marked, with alpha 0 and in congestion avoidance. Under ns-2's
/// rule, a marked ACK after an unmarked one does not open the window: 2 and 5 of the marked 2, 3 and 5. Other marked
/// ACKs do.
#[test]
fn the_first_marked_ack_after_one_without_opens_nothing_under_the_rule_of_ns_2() {
    let held = scheme("dctcp", &[("transport.g", "0"), ("transport.initial_alpha", "0")]);
    let grown = |rule: &str, marked: &str| {
        let rest = format!(
            "[tcp]\ninitial_window = 6\ninitial_ssthresh = \"1pkt\"\ngrow_on_marked_acks = \"{rule}\"\n\
             [faults]\nmark_data = {marked}\n[[traffic]]\nkind = \"long-lived\"\nflows = 1\n\
             [measure]\nsample_every = \"500us\"\n"
        );
        let text = star(3, &rest).replace("duration = \"1s\"", "duration = \"550us\"");
        *windows(&run(&scenario(&text, &[]), &held)).last().unwrap()
    };
    let after = |acks: usize| (0..acks).fold(6.0, |window, _| window + 1.0 / window);
    for (rule, marked, acks) in [
        ("no", "[2, 3, 5]", 3),
        ("ns-2", "[2, 3, 5]", 4),
        ("yes", "[2, 3, 5]", 5),
        ("ns-2", "[1, 2, 3]", 5),
        ("ns-2", "[]", 6),
    ] {
        assert!((grown(rule, marked) - after(acks)).abs() < 1e-9, "{rule} {marked}");
    }
}

/// RFC 8257 §3.2, Figure 1, with one ACK for two segments: an ACK is sent before a segment whose mark differs from
/// that of a waiting segment, and only then. Four segments are sent at once; the test counts all packets.
#[test]
fn a_changed_mark_sends_the_ack_that_waits() {
    for (marked, acks) in
        [("[]", 2), ("[1, 2, 3, 4]", 2), ("[3, 4]", 2), ("[2]", 3), ("[4]", 3), ("[2, 3]", 3)]
    {
        let rest = format!("[tcp]\ninitial_window = 4\nack_every = 2\n[faults]\nmark_data = {marked}\n");
        let outcome = run(&scenario(&(star(3, &rest) + TRACE), &["0,h0,h2,5840"]), &scheme("dctcp", &[]));
        assert_eq!(outcome.counters.packets_sent, 4 + acks, "{marked}");
    }
}
