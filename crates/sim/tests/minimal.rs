//! pFabric's own sender: packets are dropped in the network, and the flow table shows the reaction. Times are as in
//! `analytic.rs`: a segment and its ACK take 324.64 µs, and each further segment 12 µs, so the path holds 27
//! segments.

use crate::common::{TRACE, fct, run, scenario, scheme, star};
use shortflow_sim::outcome::Outcome;
use shortflow_units::Span;

const ROUND: u64 = 324_640;
const SEGMENT: u64 = 12_000;

/// One flow of `segments` from h0 to h2.
fn flow(segments: u64, faults: &str, settings: &[(&str, &str)]) -> Outcome {
    let text = star(3, &format!("[faults]\n{faults}\n{TRACE}"));
    run(&scenario(&text, &[&format!("0,h0,h2,{}", segments * 1460)]), &scheme("pfabric-minimal", settings))
}

/// Completion time in ns, retransmitted segments, and timeouts.
fn told(outcome: &Outcome) -> (u64, u32, u32) {
    let row = &outcome.flows[0];
    (fct(outcome, 0).as_ps() / 1000, row.retransmits, row.timeouts)
}

/// A window of one bandwidth-delay product keeps the link busy from the first packet on; a window of two segments
/// does not.
#[test]
fn a_flow_starts_at_the_rate_of_the_link() {
    assert_eq!(told(&flow(27, "", &[])), (ROUND + 26 * SEGMENT, 0, 0));
    let (long, ..) = told(&flow(270, "", &[]));
    assert!(long < ROUND + 269 * SEGMENT + 10_000, "{long}");
    assert_eq!(told(&flow(4, "", &[("transport.window", "2")])), (2 * ROUND + SEGMENT, 0, 0));
}

/// The fifth of twenty segments is lost, and the ACKs of the fifteen later ones report it. The timeout comes three
/// round trips after the ACK of the fourth, and only the fifth segment is retransmitted.
#[test]
fn a_loss_is_found_by_the_timeout_alone_and_only_what_is_missing_is_sent() {
    assert_eq!(told(&flow(20, "drop_data = [5]", &[])), (5 * ROUND + 3 * SEGMENT, 1, 1));
    // With the fifteenth lost as well, the sender knows that the segments between have arrived. It retransmits two
    // segments, the second when the window is two.
    assert_eq!(told(&flow(20, "drop_data = [5, 15]", &[])), (6 * ROUND + 3 * SEGMENT, 2, 1));
    let rto = [("transport.rto", "2ms")];
    assert_eq!(told(&flow(20, "drop_data = [5]", &rto)), (2 * ROUND + 3 * SEGMENT + 2_000_000, 1, 1));
}

/// All eight segments are lost. One leaves at the timeout, then two, four, and the last one.
#[test]
fn after_a_timeout_it_starts_slowly() {
    let all = "drop_data = [1, 2, 3, 4, 5, 6, 7, 8]";
    assert_eq!(told(&flow(8, all, &[])), (7 * ROUND, 8, 1));
}

/// A segment is lost five times, the last time after twelve round trips. The fifth timeout sends a header, which is
/// lost too. The next timeout sends another header, whose answer is 23.36 µs faster than that to a segment and
/// releases the data.
#[test]
fn timeouts_in_a_row_begin_to_probe() {
    let lost = "drop_data = [1, 2, 3, 4, 5, 6]";
    assert_eq!(told(&flow(1, lost, &[])), (20 * ROUND - 23_360, 5, 5));
    // The segment is lost three times, and the probe after nine round trips arrives.
    let soon = [("transport.probe_after", "3")];
    assert_eq!(told(&flow(1, "drop_data = [1, 2, 3]", &soon)), (11 * ROUND - 23_360, 3, 3));
}

/// The answer to a probe comes after 301.28 µs and releases the segment, whose own answer comes 324.64 µs later. The
/// timeout of 460 µs restarts at the answer. Counted from the probe, it would expire, and the segment would be sent
/// once more.
#[test]
fn what_an_answered_probe_releases_has_a_timeout_of_its_own() {
    let soon = [("transport.probe_after", "3"), ("transport.rto", "460us")];
    let expected = 3 * 460_000 + 2 * ROUND - 23_360;
    assert_eq!(told(&flow(1, "drop_data = [1, 2, 3]", &soon)), (expected, 3, 3));
}

/// Small flows and a long flow share a port. Each packet of the small flows goes first, and a full buffer drops
/// packets of the long flow.
#[test]
fn small_flows_pass_a_long_one() {
    let text = star(4, TRACE).replace("250pkt", "54pkt");
    let small = (0..20).map(|i| format!("{},h1,h3,14600", 0.001 + f64::from(i) * 0.001));
    let rows: Vec<String> = std::iter::once("0,h0,h3,5000000".to_owned()).chain(small).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let outcome = run(&scenario(&text, &rows), &scheme("pfabric-minimal", &[]));
    let slowest = (1..=20).map(|index| fct(&outcome, index)).max().unwrap();
    // Ten segments, behind at most one segment of the long flow.
    assert!(slowest <= Span::from_nanos(ROUND + 10 * SEGMENT), "{slowest}");
    assert!(fct(&outcome, 0) < Span::from_micros(55_000), "{}", fct(&outcome, 0));
}
