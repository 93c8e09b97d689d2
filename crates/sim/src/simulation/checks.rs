//! Checks at the end of every run, in release builds too. A run that breaks an invariant of the simulator is
//! an error and has no result.
//!
//! | invariant | how it is checked |
//! |---|---|
//! | no byte is acknowledged before it arrives | when a connection ends: bytes acknowledged = bytes received in order |
//! | packets of a connection neither overtake each other nor vanish | without reordering: bytes missing when later bytes arrived ≤ bytes dropped or trimmed |
//! | a delivered packet reaches its host | packets delivered by the network = packets received by hosts |
//! | no flow is faster than its ideal time | FCT of each finished flow, if packets keep one path and links do not fail |
//! | no link exceeds its rate | each port: busy time ≥ time of its bytes at the link's rate, and ≤ elapsed time |
//! | every packet is accounted for | each port: accepted = arrived + queued + on the wire + lost with the link |
//! | links count packets only while they wait | bytes that flow control counts ≤ bytes that wait at ports |
//! | paused ports do not wait for each other | no cycle of ports that have packets of one priority and have been paused for 1 ms; a cycle is an error of the scenario |
//! | time does not go back | no event was scheduled in the past |

use super::RunError;
use super::rows::Rows;
use super::state::Simulation;
use super::world::World;
use crate::net::{Deadlock, Port};
use crate::outcome::FlowRow;
use crate::queue::Backlog;
use shortflow_units::{Bytes, ConnId, Instant, PortId, Rate, Span};

/// Shortest pause that makes a cycle of waiting ports a deadlock.
const DEADLOCK: Span = Span::from_millis(1);

/// Checks the open connections and all other invariants at the end of a run.
pub(super) fn check(simulation: &mut Simulation<'_>) -> Result<(), RunError> {
    let end = simulation.end();
    let Simulation { world, books, rows, plan, .. } = simulation;
    let open: Vec<ConnId> = world.connections.iter_mut().map(|(conn, _)| conn).collect();
    open.into_iter().for_each(|conn| books.check_connection(world, conn));
    check_deadlocks(world, end)?;
    let is_bound = !plan.needs.packet_routing;
    let mss = world.scenario.tcp.mss;
    let checked = books.check(&world.network).and_then(|()| check_accounts(world));
    let checked = checked.and_then(|()| if is_bound { check_ideals(rows, mss) } else { Ok(()) });
    checked.map_err(RunError::Broken)
}

fn check_deadlocks(world: &World<'_>, end: Instant) -> Result<(), RunError> {
    let deadline = Instant::ZERO + end.since(Instant::ZERO).saturating_sub(DEADLOCK);
    let (ports, graph) = (world.network.ports(), &world.scenario.graph);
    let name = |port: &PortId| {
        let port = &ports[port.index()];
        format!("{}->{}", graph.name(port.from), graph.name(port.to()))
    };
    let told = |Deadlock { priority, cycle, since }| {
        let ports = cycle.iter().map(name).collect::<Vec<_>>().join(", ");
        format!("a deadlock in priority {priority}: {ports} have waited for one another since {since}")
    };
    let deadlocks: Vec<_> = world.network.deadlocks(deadline).into_iter().map(told).collect();
    if deadlocks.is_empty() { Ok(()) } else { Err(RunError::Deadlock(deadlocks.join("; "))) }
}

fn check_accounts(world: &World<'_>) -> Result<(), String> {
    world.check_time()?;
    let (network, graph, tcp) = (&world.network, &world.scenario.graph, &world.scenario.tcp);
    for (index, port) in network.ports().iter().enumerate() {
        let rate = graph.links[index / 2].rate;
        port_accounts(port, rate, tcp.wire.gap()).map_err(|reason| {
            format!("port {}->{}: {reason}", graph.name(port.from), graph.name(port.to()))
        })?;
    }
    let waiting = network.ports().iter().map(|port| port.held().waiting.bytes);
    let (counted, waiting) = (network.counted_at_links(), waiting.fold(Bytes::ZERO, Bytes::plus));
    if counted > waiting {
        return Err(format!("flow control counts {counted} of waiting packets, but {waiting} wait"));
    }
    let (delivered, taken) = (network.delivered(), world.packets_received);
    if delivered != taken {
        return Err(format!("the network delivered {delivered} packets, but hosts received {taken}"));
    }
    Ok(())
}

fn check_ideals(rows: &Rows, mss: Bytes) -> Result<(), String> {
    match rows.flows.iter().position(|row| beats_its_ideal(row, mss)) {
        None => Ok(()),
        Some(flow) => Err(flow_text(flow, &rows.flows[flow])),
    }
}

/// True if a flow was faster than on an empty network. A flow that sent more segments than its size needs is
/// exempt: switches forward smaller segments sooner than the ideal time assumes.
fn beats_its_ideal(row: &FlowRow, mss: Bytes) -> bool {
    let (Some(fct), Some(ideal)) = (row.fct(), row.ideal) else { return false };
    fct < ideal && row.left.saturating_sub(row.retransmits.into()) <= row.size.get().div_ceil(mss.get())
}

fn flow_text(flow: usize, row: &FlowRow) -> String {
    let (source, to) = (row.source.0, row.destination.0);
    let [fct, ideal] = [row.fct(), row.ideal].map(|time| time.unwrap_or_default());
    format!(
        "flow {flow}, {} from host {source} to host {to}: took {fct}, less than the ideal time {ideal}",
        row.size
    )
}

/// Checks the counters of a port whose link has this rate and a gap of `gap` bytes between packets.
fn port_accounts(port: &Port, rate: Rate, gap: Bytes) -> Result<(), String> {
    let (counters, held) = (port.counters(), port.held());
    let accounted = port.egress().arrived()
        + port.egress().account.lost_on_wire
        + held.ring
        + u64::from(held.waiting.packets);
    if counters.accepted != accounted {
        return Err(format!(
            "{} packets were accepted, but {accounted} arrived, were lost or wait",
            counters.accepted
        ));
    }
    if port.egress().known_backlog() != held.backlog {
        let [counted, found] = [port.egress().known_backlog(), held.backlog].map(backlog_text);
        return Err(format!("the counted backlog is {counted}, but the port holds {found}"));
    }
    let packets = counters.accepted - u64::from(held.waiting.packets);
    let sent = counters.accepted_bytes - held.waiting.bytes + Bytes::new(packets * gap.get());
    let (spent, needed) = (counters.busy + counters.busy_outside, rate.tx_time(sent));
    // At a few bits per second, a full queue needs more time than a Span holds.
    if spent < needed && needed < Span::MAX {
        return Err(format!("{sent} were sent in {spent}, but take {needed} at {rate}"));
    }
    match port.egress().busy_until() {
        until if spent > until => {
            Err(format!("the link was busy for {spent}, longer than the time until {until}"))
        }
        _ => Ok(()),
    }
}

fn backlog_text(backlog: Backlog) -> String {
    format!("{} packets of {}", backlog.packets, backlog.bytes)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::packet::{Packet, PacketType};
    use crate::scenario::Scenario;
    use crate::scheme::Scheme;
    use crate::simulation::event::Event;
    use crate::simulation::plan::ExecutionPlan;
    use crate::simulation::state::Simulation;
    use crate::simulation::world::World;
    use crate::simulation::{self, NoObserver};
    use shortflow_units::{Instant, Span};

    /// Thirty simultaneous flows from ten hosts. Packets of one connection queue behind each other.
    const INCAST: &str = "
title = 'incast'
duration = '20ms'
drain = '1s'
host = { model = 'fifo' }
topology = { kind = 'star', hosts = 11, rate = '1Gbps', rtt = '300us' }
switch = { buffer = '100pkt', mark_above = '20pkt' }
tcp = { initial_window = 2 }
[[traffic]]
kind = 'incast'
flows = 30
sizes = { kind = 'fixed', value = '100KB' }
";

    fn scenario(text: &str) -> Scenario {
        Scenario::parse(text, "test", &[], &|_| Err("no file".to_owned())).unwrap()
    }

    /// Error of the checks after `run` has run `text` in order of time, if the checks assume that packets
    /// stay in order.
    fn complaint(scheme: &str, text: &str, run: impl FnOnce(&mut Simulation)) -> String {
        let (scenario, right) = (scenario(text), scenario(INCAST));
        let scheme = Scheme::named(scheme, &[]).unwrap();
        let mut plan = ExecutionPlan::derive(&scenario, &scheme, 1, false);
        (plan.needs.reordering, plan.modes.windows) = (false, false);
        let mut simulation = Simulation::new((&scenario, &scheme), 1, &plan, None).unwrap();
        run(&mut simulation);
        simulation.world.scenario = &right;
        check(&mut simulation).unwrap_err().to_string()
    }

    /// Runs a simulation. `meddle` sees each packet that reaches its host, may change it, and returns false
    /// to make it vanish.
    fn meddled(simulation: &mut Simulation, mut meddle: impl FnMut(&mut Packet) -> bool) {
        let mut packet = Packet::EMPTY;
        while let Some(event) = simulation.world.events.next(simulation.limit()) {
            let Event::Network(event) = event else {
                simulation.handle(event, &mut packet);
                continue;
            };
            let World { network, events, scenario, .. } = &mut simulation.world;
            if network.handle(events, &scenario.graph, event, &mut packet, |_| {}) && meddle(&mut packet) {
                simulation.receive(&mut packet);
            }
        }
    }

    /// Runs with drops (tcp), without drops (dctcp), and with queues that reorder packets (pfabric, pias).
    #[test]
    fn a_sound_run_passes() {
        for scheme in ["tcp", "dctcp", "pfabric", "pias"] {
            let named = Scheme::named(scheme, &[]).unwrap();
            let outcome = simulation::run(&scenario(INCAST), &named, 1, &mut NoObserver).unwrap();
            assert_eq!(outcome.flows.len(), 30, "{scheme}");
        }
    }

    #[test]
    fn links_a_percent_too_fast_are_found() {
        for scheme in ["tcp", "dctcp", "pfabric"] {
            let fast = INCAST.replace("1Gbps", "1010Mbps");
            let text = complaint(scheme, &fast, |simulation| simulation.run(&mut NoObserver).unwrap());
            assert!(
                text.contains("port h") && text.contains("but take") && text.contains("at 1Gbps"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_packet_lost_after_it_was_counted_is_found() {
        let mut data = 0;
        let text = complaint("dctcp", INCAST, |simulation| {
            meddled(simulation, |packet| {
                data += u32::from(packet.kind == PacketType::Data);
                packet.kind != PacketType::Data || data % 100 > 0
            });
        });
        assert!(text.contains("but only 0 of them were dropped or trimmed"), "{text}");
        let text = after(|simulation| simulation.world.packets_received -= 1);
        assert!(text.contains("the network delivered") && text.contains("but hosts received"), "{text}");
    }

    #[test]
    fn a_packet_that_overtakes_another_is_found() {
        for scheme in ["tcp", "dctcp"] {
            let faults = format!("{INCAST}[faults]\nreorder = 0.01\nreorder_delay = '100us'\n");
            let text = complaint(scheme, &faults, |simulation| simulation.run(&mut NoObserver).unwrap());
            assert!(text.contains("bytes arrived out of order or not at all"), "{scheme}: {text}");
        }
    }

    /// ACKs acknowledge 720 bytes too many, the length of the last segment of 100 KB.
    #[test]
    fn a_segment_acknowledged_before_its_arrival_is_found() {
        let text = complaint("tcp", INCAST, |simulation| {
            meddled(simulation, |packet| {
                packet.seq += if packet.kind == PacketType::Ack { 720 } else { 0 };
                true
            });
        });
        assert!(text.contains("bytes acknowledged,") && text.contains("delivered in order"), "{text}");
    }

    /// Error of the checks after `change` has changed a finished run.
    fn after(change: impl FnOnce(&mut Simulation)) -> String {
        complaint("dctcp", INCAST, |simulation| {
            simulation.run(&mut NoObserver).unwrap();
            assert_eq!(check(simulation), Ok(()));
            change(simulation);
        })
    }

    #[test]
    fn a_flow_faster_than_its_ideal_is_named() {
        let text = after(|simulation| simulation.rows.flows[7].ideal = Some(Span::from_millis(9_000)));
        assert!(text.contains("flow 7, 100KB from host 7 to host 10: took"), "{text}");
        assert!(text.ends_with("less than the ideal time 9s"), "{text}");
    }

    #[test]
    fn bytes_acknowledged_in_another_part_must_have_arrived() {
        let text = after(|simulation| simulation.books.check_acked(&mut simulation.world, 0.into(), 1 << 40));
        assert!(text.contains("1099511627776 bytes acknowledged"), "{text}");
    }

    #[test]
    fn an_event_in_the_past_is_an_error() {
        let text = after(|simulation| simulation.world.schedule_common(Instant::from_ps(5), Event::Sample));
        assert!(text.contains("an event was scheduled for 5ps, before"), "{text}");
    }
}
