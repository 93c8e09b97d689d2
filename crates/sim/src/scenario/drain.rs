//! The drain of scenarios that set none.

use super::faults::Fault;
use crate::config::Reader;
use crate::specs::TcpSpec;
use crate::topology::Graph;
use crate::traffic::Context;
use shortflow_units::{Rate, Span};

/// Multiple of the smallest timeout for four consecutive timeouts. With exponential back-off, these take 15
/// times the smallest.
const TIMEOUTS: u64 = 16;
/// Multiple of the smallest timeout for two consecutive timeouts.
const FEW_TIMEOUTS: u64 = 3;
/// Number of round trips in which the window opens again after two timeouts.
const ROUND_TRIPS: u64 = 64;
/// Multiple of the initial timeout for a connection without a round-trip sample. Two consecutive timeouts
/// take 3 times the initial one.
const INITIAL_TIMEOUTS: u64 = 4;

/// The default drain, whose value and reason are shown.
pub(super) fn by_default(top: &Reader, round_trip: Span, faults: &[Fault], context: &mut Context) -> Span {
    let backlog = if faults.iter().all(Fault::marks_alone) { context.backlog() } else { f64::INFINITY };
    let network = (backlog, context.overloaded, context.graph);
    let (drain, why) = drain_and_reason(context.duration, &context.tcp, round_trip, network);
    top.defaulted("drain", drain.to_string());
    context.notes.insert(0, format!("drain: {drain} (default: {why})"));
    drain
}

/// The default drain and its reason, the same for all schemes. The drain is as long as the measured time,
/// unless that time is too short for flows to recover from timeouts. The drain then allows for four
/// consecutive timeouts.
///
/// Two timeouts, their round trips and `backlog` bytes over the slowest link suffice under three conditions:
/// flow sizes are bounded, no link is overloaded, and all flows start by themselves on their own connections.
fn drain_and_reason(
    duration: Span,
    tcp: &TcpSpec,
    round_trip: Span,
    (backlog, overloaded, graph): (f64, bool, &Graph),
) -> (Span, String) {
    let slowest = graph.links.iter().map(|link| link.rate).min().unwrap_or(Rate::MAX).as_bps() as f64;
    let initial = tcp.initial_rto.unwrap_or_default().times(INITIAL_TIMEOUTS);
    // RFC 6298: the timeout is the round trip plus the clock's granularity, but at least the minimum.
    let by_clock = round_trip + tcp.clock_granularity;
    let (rto, name) = match !tcp.clock_granularity.is_zero() && by_clock > tcp.rto_min {
        true => (by_clock, "(round trip + tcp.clock_granularity)"),
        false => (tcp.rto_min, "tcp.rto_min"),
    };
    let many = rto.times(TIMEOUTS);
    // Round to whole microseconds, and cap at the value beyond which `many` is smaller anyway.
    let transfer = Span::from_micros((8e6 * backlog / slowest).ceil().min(many.as_secs_f64() * 1e6) as u64);
    let few = rto.times(FEW_TIMEOUTS) + round_trip.times(ROUND_TRIPS) + transfer;
    match duration.max(initial).max(many.min(few)) {
        longest if longest == duration => (longest, "same as duration".to_owned()),
        longest if longest == initial => (longest, format!("{INITIAL_TIMEOUTS} tcp.initial_rto")),
        longest if longest == many => {
            let why = if overloaded { ", because a link is overloaded" } else { "" };
            (longest, format!("{TIMEOUTS} {name}{why}"))
        }
        longest => {
            let of_flow = format!("{transfer} for the largest flow at a fair share of the slowest link");
            let timeouts = format!("{FEW_TIMEOUTS} {name} + {ROUND_TRIPS} round trips of {round_trip}");
            (longest, format!("{timeouts} + {of_flow}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HEAD, POISSON, parse, setting};
    use crate::config::Source;

    /// At 1 Gbps, 50 KB of 16 flows take 6.4 ms, 64 round trips of 300 µs take 19.2 ms, and three timeouts of
    /// 10 ms take 30 ms; 50 KB of 100 simultaneous flows take 40 ms. If sizes are unbounded, applications
    /// answer or packets are lost, the drain allows for four consecutive timeouts.
    #[test]
    fn the_default_drain_follows_from_the_scenario() {
        let read = |traffic: &str, settings: &[(&str, &str)]| {
            parse(&format!("{HEAD}\n{traffic}"), &[&[("duration", "6ms")], settings].concat()).unwrap()
        };
        let drain = |settings: &[(&str, &str)]| read(POISSON, settings).drain.to_string();
        assert_eq!(drain(&[("duration", "3s")]), "3s");
        assert_eq!(drain(&[]), "55.6ms");
        assert_eq!(drain(&[("tcp.rto_min", "1ms")]), "16ms");
        assert_eq!(drain(&[("faults.loss", "0.1")]), "160ms");
        assert_eq!(drain(&[("traffic.1.sizes", "{ kind = \"exponential\", mean = \"50KB\" }")]), "160ms");
        assert_eq!(drain(&[("traffic.1.connections", "persistent")]), "160ms");
        assert_eq!(drain(&[("traffic.1.load", "1.1")]), "160ms");
        let together = format!("{POISSON}{}", POISSON.trim_start());
        let both = |load, to| {
            let keys = [("traffic.1.load", load), ("traffic.2.load", load), ("traffic.1.to", to)];
            read(&together, &keys)
        };
        assert_eq!(both("0.4", "2").drain.to_string(), "62ms");
        assert_eq!(both("0.49", "2").drain.to_string(), "160ms", "0.98 of payload is 1.007 with headers");
        assert_eq!(both("0.9", "1").drain.to_string(), "62ms");
        let overload = both("0.9", "2");
        assert_eq!(overload.drain.to_string(), "160ms");
        assert!(overload.notes[0].ends_with("(default: 16 tcp.rto_min, because a link is overloaded)"));
        assert!(overload.warnings()[0].contains("1.85 of its rate, headers included"));
        assert_eq!(drain(&[("tcp.clock_granularity", "15ms")]), "71.5ms");
        assert_eq!(drain(&[("drain", "0s")]), "0ps");
        let burst =
            "[[traffic]]\nkind = \"incast\"\nflows = 100\nsizes = { kind = \"fixed\", value = \"50KB\" }\n";
        assert_eq!(read(burst, &[]).drain.to_string(), "89.2ms");
        let beside = "[[traffic]]\nkind = \"long-lived\"\nflows = 50\n";
        assert_eq!(read(&format!("{burst}{beside}"), &[]).drain.to_string(), "109.2ms");
        assert_eq!(read(&format!("{burst}{burst}"), &[]).drain.to_string(), "129.2ms");
        let again = format!("{burst}repeat = 5\nevery = \"1ms\"\n");
        assert_eq!(read(&again, &[]).drain.to_string(), "160ms");
        let asked = burst.replace("incast", "queries").replace("flows", "workers");
        assert_eq!(read(&asked, &[]).drain.to_string(), "160ms");
        let note = |settings: &[(&str, &str)]| read(POISSON, settings).notes[0].clone();
        assert_eq!(
            note(&[]),
            "drain: 55.6ms (default: 3 tcp.rto_min + 64 round trips of 300us + 6.4ms for the largest flow at a fair share of \
             the slowest link)"
        );
        assert_eq!(note(&[("tcp.rto_min", "1ms")]), "drain: 16ms (default: 16 tcp.rto_min)");
        assert_eq!(note(&[("tcp.initial_rto", "1s")]), "drain: 4s (default: 4 tcp.initial_rto)");
        assert_eq!(setting(&read(POISSON, &[]), "drain"), ("55.6ms", &Source::Default));
        assert_eq!(setting(&read(POISSON, &[("drain", "5s")]), "drain"), ("5s", &Source::Set));
    }
}
