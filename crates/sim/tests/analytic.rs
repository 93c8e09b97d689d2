//! Completion times computed by hand, to the picosecond. On the star, a 1460-byte segment takes 12 µs per link, an
//! ACK 0.32 µs, and each link has a delay of 75 µs.

use crate::common::{TRACE, fct, run, scenario, scheme, star};
use shortflow_units::Span;

fn ns(nanoseconds: u64) -> Span {
    Span::from_nanos(nanoseconds)
}

/// Keys of `[tcp]`; rows of the trace; and for each row the completion time and the ideal time, in nanoseconds.
type Case = (&'static str, &'static [&'static str], &'static [(u64, u64)]);

const DELAYED: &str = "ack_every = 2\nack_delay = \"500us\"";
const AT_MESSAGE_END: &str =
    "ack_every = 2\nack_delay = \"500us\"\ninitial_window = 1\nack_message_end = true";
/// Data 2 × (12 + 75), ACK 2 × (0.32 + 75).
const ROUND: u64 = 324_640;
/// 140 bytes take 1.12 µs per link.
const SHORT: u64 = 2 * (1_120 + 75_000) + 2 * 75_320;

const CASES: [Case; 7] = [
    ("", &["0,h0,h2,1460"], &[(ROUND, ROUND)]),
    ("", &["0,h0,h2,100"], &[(SHORT, SHORT)]),
    // Segments 1 and 2 leave at once. The ACK of 1 releases 3 and 4, and 4 leaves 12 µs after 3. Ideal: four back to
    // back.
    ("", &["0,h0,h2,5840"], &[(ROUND + 12_000 + ROUND, 3 * 12_000 + ROUND)]),
    ("handshake = true", &["0,h0,h2,1460"], &[(4 * 75_320 + ROUND, ROUND)]),
    (
        DELAYED,
        &["0,h0,h2,1460", "1ms,h0,h2,2920"],
        &[(ROUND + 500_000, ROUND), (ROUND + 12_000, ROUND + 12_000)],
    ),
    // The ACK of the first of two segments waits for the timer, because the first is not the end of the message.
    (
        AT_MESSAGE_END,
        &["0,h0,h2,1460", "1ms,h0,h2,2920"],
        &[(ROUND, ROUND), (2 * ROUND + 500_000, ROUND + 12_000)],
    ),
    ("receive_window = \"1pkt\"", &["0,h0,h2,4380"], &[(3 * ROUND, ROUND + 2 * 12_000)]),
];

#[test]
fn a_single_flow_takes_the_time_of_its_packets() {
    for (tcp, rows, expected) in CASES {
        let text = star(3, &format!("[tcp]\n{tcp}\n{TRACE}"));
        let outcome = run(&scenario(&text, rows), &scheme("tcp", &[]));
        let times: Vec<_> =
            outcome.flows.iter().map(|flow| (flow.fct().unwrap(), flow.ideal.unwrap())).collect();
        assert_eq!(
            times,
            expected.iter().map(|(fct, ideal)| (ns(*fct), ns(*ideal))).collect::<Vec<_>>(),
            "{tcp} {rows:?}"
        );
    }
}

/// With Ethernet, a full segment takes the time of 1460 + 40 + 18 + 20 = 1538 bytes, 12.304 µs; a last segment of 100
/// bytes takes that of 178 bytes, 1.424 µs. An ACK, and a segment of one byte, are padded to 64 bytes and take the
/// time of 84 bytes, 0.672 µs.
#[test]
fn ethernet_takes_its_framing_too() {
    let round = |segment: u64| ns(2 * (segment + 75_000) + 2 * (672 + 75_000));
    for (bytes, expected) in [
        (1460, round(12_304)),
        (100, round(1_424)),
        (1, round(672)),
        // The short segment waits in the switch until the full one has left.
        (1560, ns(2 * 12_304 + 1_424 + 150_000 + 2 * (672 + 75_000))),
    ] {
        let tcp = "[tcp]\nwire = \"ethernet\"\n";
        let text = star(3, &format!("{tcp}{TRACE}"));
        let outcome = run(&scenario(&text, &[&format!("0,h0,h2,{bytes}")]), &scheme("tcp", &[]));
        let flow = &outcome.flows[0];
        assert_eq!((flow.fct(), flow.ideal), (Some(expected), Some(expected)), "{bytes} bytes");
    }
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
fn a_timeout_doubles_until_the_segment_arrives() {
    let text = star(3, "[tcp]\ninitial_window = 1\n[faults]\ndrop_data = [1, 2, 3]\n") + TRACE;
    for name in ["tcp", "tcp-ecn", "dctcp", "l2dct"] {
        let outcome = run(&scenario(&text, &["0,h0,h2,1460"]), &scheme(name, &[]));
        // RTO 10, 20 and 40 ms, then one round trip.
        assert_eq!(fct(&outcome, 0), Span::from_millis(70) + ns(324_640), "{name}");
        assert_eq!((outcome.flows[0].timeouts, outcome.flows[0].retransmits), (3, 3));
    }
}
