//! What is accepted, but hardly meant.

use super::Tiers;
use crate::specs::{HostSpec, SwitchSpec, TcpSpec};
use crate::topology::Graph;
use crate::traffic::{Count, Expected};
use shortflow_units::{Bytes, Occupancy, Span};

/// One line for each, which names the key.
pub(super) fn of(
    graph: &Graph,
    (switch, tiers, host): (&SwitchSpec, &Tiers, &HostSpec),
    tcp: &TcpSpec,
    expected: &[Expected],
    (duration, sample_every): (Span, Option<Span>),
) -> Vec<String> {
    let packet = tcp.mss + tcp.header;
    let directions = graph.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
    let from_switches = directions.filter(|(from, _)| !graph.is_host(*from));
    let mut of_switches = from_switches.map(|(from, to)| {
        let place = format!(", as at {}->{}", graph.name(from), graph.name(to));
        ("switch.buffer", tiers.port(graph, from, to).unwrap_or(switch).buffer, place)
    });
    let of_switch = of_switches.find(|(_, buffer, _)| is_tiny(*buffer, packet));
    let of_host =
        Some(("host.buffer", host.buffer, String::new())).filter(|(_, buffer, _)| is_tiny(*buffer, packet));
    let mut warnings = Vec::new();
    for (key, buffer, place) in [of_switch, of_host].into_iter().flatten() {
        warnings.push(format!(
            "{key}: {buffer} holds one packet of {packet} at a time, the one in transmission included, so a \
             flow may find no room at every attempt, for ever; 2 packets or more avoid that{place}"
        ));
    }
    if tcp.ack_every > 1 && tcp.ack_delay >= tcp.rto_min {
        warnings.push(format!(
            "tcp.ack_delay: {} is not below tcp.rto_min = {}, so delayed ACKs cause timeouts",
            tcp.ack_delay, tcp.rto_min
        ));
    }
    let mut to_hosts: Vec<Span> = graph
        .links
        .iter()
        .flat_map(|link| [(link.a, link.delay), (link.b, link.delay)])
        .filter_map(|(end, delay)| graph.is_host(end).then_some(delay))
        .collect();
    to_hosts.sort_unstable();
    let shortest = to_hosts.iter().take(2).fold(Span::ZERO, |sum, delay| sum + delay.times(2));
    if let Some(rto) = tcp.initial_rto.filter(|rto| *rto < shortest) {
        warnings.push(format!(
            "tcp.initial_rto: {rto} is below {shortest}, the shortest round trip between two hosts, so every flow sends \
             its first packets again"
        ));
    }
    if let Some(every) = sample_every.filter(|every| *every > duration) {
        warnings.push(format!(
            "measure.sample_every: {every} is longer than duration = {duration}, so only its beginning is sampled"
        ));
    }
    for (entry, expected) in (1..).zip(expected) {
        if matches!(expected.flows, Count::About(flows) if flows < 1.0) {
            warnings.push(format!("traffic.{entry}: {expected} in the measured time; some seeds have none"));
        }
    }
    warnings
}

/// Whether no second packet fits.
fn is_tiny(buffer: Occupancy, packet: Bytes) -> bool {
    match buffer {
        Occupancy::Packets(packets) => packets < 2,
        Occupancy::Bytes(bytes) => bytes.get() < 2 * packet.get(),
        Occupancy::Unlimited => false,
    }
}
