//! Warnings about accepted settings.

use super::Spec;
use crate::topology::Graph;
use crate::traffic::{Count, Expected};
use shortflow_units::{Bytes, NodeId, Occupancy, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of round trips from which on the smallest timeout is long.
const LONG_TIMEOUT: u64 = 1000;

/// The base round trip between the two hosts that are farthest apart, and these hosts.
pub(super) fn round_trip(graph: &Graph) -> (Span, NodeId, NodeId) {
    let (one, _) = farthest(graph, NodeId(0));
    let (other, delay) = farthest(graph, one);
    (delay.times(2), one, other)
}

/// All warnings, one line each, beginning with the key.
pub(super) fn of(
    spec: &Spec,
    (round_trip, one, other): (Span, NodeId, NodeId),
    rto_min_is_given: bool,
    expected: &[Expected],
) -> Vec<String> {
    let Spec { graph, tcp, duration, .. } = spec;
    let mut warnings = of_buffers(spec);
    if tcp.ack_every > 1 && tcp.ack_delay >= tcp.rto_min {
        warnings.push(format!(
            "tcp.ack_delay: {} is not below tcp.rto_min = {}, so delayed ACKs cause timeouts",
            tcp.ack_delay, tcp.rto_min
        ));
    }
    let endless = |entry: &Expected| entry.backlogged > 0 && entry.flows == Count::Exactly(0);
    if rto_min_is_given && tcp.rto_min >= round_trip.times(LONG_TIMEOUT) && !expected.iter().all(endless) {
        warnings.push(format!(
            "tcp.rto_min: {} is {} round trips of {round_trip}, so one timeout outlasts almost every flow, and the drain \
             waits for it; unless hosts have this minimum, set tcp.rto_min to {}, 100 round trips",
            tcp.rto_min,
            tcp.rto_min.as_ps() / round_trip.as_ps().max(1),
            round_trip.times(100)
        ));
    }
    if let Some(rto) = tcp.initial_rto
        && rto < round_trip
    {
        warnings.push(format!(
            "tcp.initial_rto: {rto} is below {round_trip}, the round trip between {} and {}, so flows between \
             these hosts retransmit their first packets",
            graph.name(one),
            graph.name(other)
        ));
    }
    if let Some(every) = spec.measure.sample_every.filter(|every| every > duration) {
        warnings.push(format!(
            "measure.sample_every: {every} is longer than duration = {duration}, so only the start of the run is sampled"
        ));
    }
    for (entry, expected) in (1..).zip(expected) {
        if matches!(expected.flows, Count::About(flows) if flows < 1.0) {
            warnings.push(format!("traffic.{entry}: {expected} in the measured time; some seeds have none"));
        }
    }
    warnings
}

/// Warnings about buffers that hold only one packet: of the first such port of a switch, and of hosts.
fn of_buffers(spec: &Spec) -> Vec<String> {
    let (graph, packet) = (&spec.graph, spec.tcp.full_frame());
    let from_switches = graph.directions().filter(|(from, ..)| !graph.is_host(*from));
    let mut of_switches = from_switches.map(|(from, to, _)| {
        let place = format!(" (for example at {}->{})", graph.name(from), graph.name(to));
        ("switch.buffer", spec.switch_port(from, to).buffer, place)
    });
    let of_switch = of_switches.find(|(_, buffer, _)| is_tiny(*buffer, packet));
    let of_host = Some(("host.buffer", spec.host.buffer, String::new()));
    let of_host = of_host.filter(|(_, buffer, _)| is_tiny(*buffer, packet));
    let warning = |(key, buffer, place)| {
        format!(
            "{key}: {buffer} holds only the packet in transmission, of {packet}, so a flow may lose every packet that it \
             sends; set 2 packets or more{place}"
        )
    };
    [of_switch, of_host].into_iter().flatten().map(warning).collect()
}

/// The host farthest from `from`, and its delay. Two applications give the diameter of common networks.
fn farthest(graph: &Graph, from: NodeId) -> (NodeId, Span) {
    let mut links = vec![Vec::new(); graph.nodes.len()];
    for link in &graph.links {
        links[link.a.index()].push((link.b, link.delay));
        links[link.b.index()].push((link.a, link.delay));
    }
    let mut is_reached = vec![false; graph.nodes.len()];
    let mut nearest = BinaryHeap::from([Reverse((Span::ZERO, from))]);
    let mut last = (from, Span::ZERO);
    while let Some(Reverse((delay, node))) = nearest.pop() {
        if std::mem::replace(&mut is_reached[node.index()], true) {
            continue;
        }
        if graph.is_host(node) && delay > last.1 {
            last = (node, delay);
        }
        nearest.extend(links[node.index()].iter().map(|&(next, more)| Reverse((delay + more, next))));
    }
    last
}

/// True if the buffer has no room for a second packet.
fn is_tiny(buffer: Occupancy, packet: Bytes) -> bool {
    match buffer {
        Occupancy::Packets(packets) => packets < 2,
        Occupancy::Bytes(bytes) => bytes.get() < 2 * packet.get(),
        Occupancy::Unlimited => false,
    }
}
