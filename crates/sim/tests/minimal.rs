//! pFabric's own sender by the real door: packets are dropped in the network, and the flow table shows the
//! reaction. Times as in `analytic.rs`: a segment and its ACK take 324.64 µs, one more segment 12, so that the path holds 27.

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

/// A window of a bandwidth-delay product keeps the link busy from the first packet on; one of two does not.
#[test]
fn a_flow_starts_at_the_rate_of_the_link() {
    assert_eq!(told(&flow(27, "", &[])), (ROUND + 26 * SEGMENT, 0, 0));
    let (long, ..) = told(&flow(270, "", &[]));
    assert!(long < ROUND + 269 * SEGMENT + 10_000, "{long}");
    assert_eq!(told(&flow(4, "", &[("transport.window", "2")])), (2 * ROUND + SEGMENT, 0, 0));
}

/// The fifth of twenty is lost, and the ACKs of fifteen tell so. The timeout comes three round trips after the ACK of the
/// fourth, and sends that one segment.
#[test]
fn a_loss_is_found_by_the_timeout_alone_and_only_what_is_missing_is_sent() {
    assert_eq!(told(&flow(20, "drop_data = [5]", &[])), (5 * ROUND + 3 * SEGMENT, 1, 1));
    // With the fifteenth lost as well, the packets between are known to be there: two are sent, the second when the window
    // is two.
    assert_eq!(told(&flow(20, "drop_data = [5, 15]", &[])), (6 * ROUND + 3 * SEGMENT, 2, 1));
    let rto = [("transport.rto", "2ms")];
    assert_eq!(told(&flow(20, "drop_data = [5]", &rto)), (2 * ROUND + 3 * SEGMENT + 2_000_000, 1, 1));
}

/// All of eight are lost. One leaves at the timeout, then two, four, and the last.
#[test]
fn after_a_timeout_it_starts_slowly() {
    let all = "drop_data = [1, 2, 3, 4, 5, 6, 7, 8]";
    assert_eq!(told(&flow(8, all, &[])), (7 * ROUND, 8, 1));
}

/// A segment is lost five times, the last at twelve round trips. The fifth timeout sends a header, which is lost as well,
/// and so does the next, whose answer, 23.36 µs quicker than that of a segment, brings the data back.
#[test]
fn timeouts_in_a_row_begin_to_probe() {
    let lost = "drop_data = [1, 2, 3, 4, 5, 6]";
    assert_eq!(told(&flow(1, lost, &[])), (20 * ROUND - 23_360, 5, 5));
    // Three times, and the probe at nine round trips arrives.
    let soon = [("transport.probe_after", "3")];
    assert_eq!(told(&flow(1, "drop_data = [1, 2, 3]", &soon)), (11 * ROUND - 23_360, 3, 3));
}

/// A probe's answer comes 301.28 µs after it and releases the segment, whose own answer comes 324.64 µs later. The 460 µs of
/// the timeout begin anew: counted from the probe they would be over, and the segment sent once more.
#[test]
fn what_an_answered_probe_releases_has_a_timeout_of_its_own() {
    let soon = [("transport.probe_after", "3"), ("transport.rto", "460us")];
    let expected = 3 * 460_000 + 2 * ROUND - 23_360;
    assert_eq!(told(&flow(1, "drop_data = [1, 2, 3]", &soon)), (expected, 3, 3));
}

/// Small flows beside a long one into one port: each packet of theirs goes first, and a full buffer drops the long flow's.
#[test]
fn small_flows_pass_a_long_one() {
    let text = star(4, TRACE).replace("250pkt", "54pkt");
    let small = (0..20).map(|i| format!("{},h1,h3,14600", 0.001 + f64::from(i) * 0.001));
    let rows: Vec<String> = std::iter::once("0,h0,h3,5000000".to_owned()).chain(small).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let outcome = run(&scenario(&text, &rows), &scheme("pfabric-minimal", &[]));
    let slowest = (1..=20).map(|index| fct(&outcome, index)).max().unwrap();
    // Ten segments, and at most one of the long flow's ahead.
    assert!(slowest <= Span::from_nanos(ROUND + 10 * SEGMENT), "{slowest}");
    assert!(fct(&outcome, 0) < Span::from_micros(55_000), "{}", fct(&outcome, 0));
}
