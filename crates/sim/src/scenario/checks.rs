//! Checks across several keys.

use super::Fault;
use super::keys::{MeasureKeys, RunKeys};
use crate::config::{ConfigError, Reader};
use crate::net::Routes;
use crate::priorities::{PrioritySet, Thresholds};
use crate::specs::{HostSpec, Measure, SwitchSpec, TcpSpec};
use crate::topology::{Graph, find_port};
use crate::traffic::Context;
use shortflow_units::{Bytes, HostId, NodeId, Occupancy, PortId};
use std::collections::BTreeSet;

/// Checks that the warm-up ends within the run, and that the first timeout is at most the largest.
pub(super) fn times(top: &Reader, run: &RunKeys, tcp: &TcpSpec) -> Result<(), ConfigError> {
    if run.warmup >= run.duration {
        let reason =
            format!("{} is not before duration = {}, so no flow would count", run.warmup, run.duration);
        return Err(top.impossible("warmup", reason));
    }
    let reader = top.table("tcp")?;
    match tcp.initial_rto {
        Some(rto) if rto > tcp.rto_max => Err(reader.crossed("initial_rto", "rto_max")),
        _ => Ok(()),
    }
}

/// Demands on ports: room for a packet and, if queues read K, marks before drops.
#[derive(Debug, Clone, Copy)]
pub(super) struct PortDemands {
    pub packet: Bytes,
    pub reads_k: bool,
}

/// Checks that the buffer holds a packet and that the switch can mark before it drops.
pub(super) fn switch_port(
    reader: &Reader,
    switch: &SwitchSpec,
    port: PortDemands,
) -> Result<(), ConfigError> {
    holds_a_packet(reader, switch.buffer, port.packet)?;
    marks_before(reader, switch.mark_above, ("buffer", switch.buffer), port)?;
    curve(reader, switch)?;
    if let (Some(xoff), Some(xon)) = (switch.xoff, switch.xon)
        && xon > xoff
    {
        return Err(reader.crossed("xon", "xoff"));
    }
    priority_thresholds(reader, switch)?;
    match switch.memory {
        None => Ok(()),
        Some(memory) => shared_memory(reader, switch, memory, port),
    }
}

/// Checks that priorities with thresholds of their own are lossless, and that dynamic thresholds have a memory.
fn priority_thresholds(reader: &Reader, switch: &SwitchSpec) -> Result<(), ConfigError> {
    let Some(given) = switch.pfc_thresholds.filter(|_| switch.xoff.is_some()) else { return Ok(()) };
    let lossless = switch.lossless.unwrap_or(PrioritySet::ALL);
    for (priority, Thresholds { alpha, .. }) in (0..).zip(given).filter_map(|(p, of)| Some((p, of?))) {
        let reason = if !lossless.has(priority) {
            format!("priority {priority} is not in switch.lossless = [{lossless}], so it is never paused")
        } else if alpha.is_some() && switch.memory.is_none() {
            let memory = reader.path("memory");
            format!(
                "priority {priority} has an alpha of the free memory, and {memory} is static; set {memory}"
            )
        } else {
            continue;
        };
        return Err(reader.impossible("pfc_thresholds", reason));
    }
    Ok(())
}

/// Checks that the maximum threshold has the unit of the minimum threshold and is not below it.
fn curve(reader: &Reader, switch: &SwitchSpec) -> Result<(), ConfigError> {
    let Some(all) = switch.mark_all_above else { return Ok(()) };
    let is_above = match (switch.mark_above, all) {
        (Occupancy::Packets(min), Occupancy::Packets(max)) => Some(min <= max),
        (Occupancy::Bytes(min), Occupancy::Bytes(max)) => Some(min <= max),
        (Occupancy::Unlimited, Occupancy::Packets(_) | Occupancy::Bytes(_)) => Some(true),
        _ => None,
    };
    let min = format!("{} = {}", reader.path("mark_above"), switch.mark_above);
    let reason = match is_above {
        Some(true) => return Ok(()),
        Some(false) => format!("{all} is below {min}"),
        None => format!("{all} and {min} have different units"),
    };
    Err(reader.impossible("mark_all_above", reason))
}

/// Checks that the buffer holds a packet and that the host can mark before it drops.
pub(super) fn host_port(reader: &Reader, host: &HostSpec, port: PortDemands) -> Result<(), ConfigError> {
    holds_a_packet(reader, host.buffer, port.packet)?;
    marks_before(reader, host.mark_above, ("buffer", host.buffer), port)
}

/// Checks that a single active port may hold a packet of the shared memory, and that the switch can mark
/// before it drops.
fn shared_memory(
    reader: &Reader,
    switch: &SwitchSpec,
    memory: Occupancy,
    port: PortDemands,
) -> Result<(), ConfigError> {
    let wrong = |reason: String| Err(reader.impossible("memory", reason));
    // With flow control, one port may hold all of the memory, because ingress thresholds limit its use.
    let alone = switch.memory_alpha / (1.0 + switch.memory_alpha);
    let part = if switch.xoff.is_some() { 1.0 } else { alone };
    let (most, too_small) = match (memory, switch.buffer) {
        (Occupancy::Unlimited, _) => {
            return wrong("unlimited memory cannot be shared; set memory = \"static\" and buffer".to_owned());
        }
        (Occupancy::Packets(_), Occupancy::Bytes(_)) | (Occupancy::Bytes(_), Occupancy::Packets(_)) => {
            return wrong(format!("{memory} and buffer = {} have different units", switch.buffer));
        }
        (Occupancy::Packets(total), _) => {
            let most = (f64::from(total) * part) as u32;
            (Occupancy::Packets(most), most == 0)
        }
        (Occupancy::Bytes(total), _) => {
            let most = Bytes::new((total.as_f64() * part) as u64);
            (Occupancy::Bytes(most), most < port.packet)
        }
    };
    if too_small {
        let reason = format!("a port may hold {most} of {memory}, less than one packet of {}", port.packet);
        return wrong(reason);
    }
    marks_before(reader, switch.mark_above, ("memory", most), port)
}

/// Checks that K is below the port's limit, which `key` sets.
fn marks_before(
    reader: &Reader,
    mark_above: Occupancy,
    (key, most): (&str, Occupancy),
    PortDemands { packet, reads_k }: PortDemands,
) -> Result<(), ConfigError> {
    let marks_too_late = match (mark_above, most) {
        (Occupancy::Packets(k), Occupancy::Packets(buffer)) => k >= buffer,
        (Occupancy::Bytes(k), Occupancy::Bytes(buffer)) => k >= buffer,
        // If the units differ, compare by full packets.
        (Occupancy::Bytes(k), Occupancy::Packets(buffer)) => k.get() >= u64::from(buffer) * packet.get(),
        (Occupancy::Packets(k), Occupancy::Bytes(buffer)) => u64::from(k) * packet.get() >= buffer.get(),
        (Occupancy::Unlimited, _) | (_, Occupancy::Unlimited) => false,
    };
    if !(reads_k && marks_too_late) {
        return Ok(());
    }
    let limit = match key {
        "memory" => format!("{most}, a port's share of {}", reader.path(key)),
        _ => format!("{} = {most}", reader.path(key)),
    };
    let reason = format!("{mark_above} is not below {limit}, so nothing would be marked");
    Err(reader.impossible("mark_above", reason))
}

/// Checks that the buffer of the ports of table `reader` holds a packet.
fn holds_a_packet(reader: &Reader, buffer: Occupancy, packet: Bytes) -> Result<(), ConfigError> {
    let too_small = match buffer {
        Occupancy::Packets(packets) => packets == 0,
        Occupancy::Bytes(bytes) => bytes < packet,
        Occupancy::Unlimited => false,
    };
    if !too_small {
        return Ok(());
    }
    Err(reader.impossible(
        "buffer",
        format!("{buffer} cannot hold a packet of {packet} (tcp.mss, tcp.header and tcp.wire)"),
    ))
}

/// Reads the `[[traffic]]` entries, of which there must be at least one.
pub(super) fn traffic_entries<'d>(top: &Reader<'d>) -> Result<Vec<Reader<'d>>, ConfigError> {
    let entries = top.tables("traffic")?;
    if entries.is_empty() {
        let expected = "at least one [[traffic]] entry".to_owned();
        return Err(ConfigError::Missing { key: "traffic".to_owned(), expected });
    }
    Ok(entries)
}

/// Largest number of packets in a run. More packets would take hours and almost always come from a wrong
/// unit.
const MOST_PACKETS: f64 = 1e9;

/// Checks that the traffic's number of packets is feasible.
pub(super) fn packets(top: &Reader, packets: f64) -> Result<(), ConfigError> {
    if packets <= MOST_PACKETS {
        return Ok(());
    }
    let reason = format!(
        "the traffic needs about {packets:.1e} data packets, drain included; at most 1e9 are accepted"
    );
    Err(top.impossible("duration", reason))
}

/// Largest number of samples per port that memory allows for.
const MOST_SAMPLES: u64 = 10_000_000;

/// Reads the measurements and looks up the measured ports.
pub(super) fn measure(reader: &Reader, context: &Context) -> Result<Measure, ConfigError> {
    let keys = MeasureKeys::read(reader)?;
    let samples = keys.sample_every.map_or(0, |every| context.duration.as_ps() / every.as_ps());
    if samples > MOST_SAMPLES {
        let reason =
            format!("{samples} samples until duration = {}; at most 1e7 are accepted", context.duration);
        return Err(reader.impossible("sample_every", reason));
    }
    let ports = match keys.ports {
        None => {
            let ports = default_ports(context);
            reader.defaulted("ports", ports_text(&ports, context.graph));
            ports
        }
        Some(names) if names.is_empty() => return Err(reader.impossible("ports", "[] names no port")),
        Some(names) => {
            let mut ports = Vec::new();
            for name in &names {
                match find_port(name, "ports", context.graph, reader)? {
                    port if ports.contains(&port) => {
                        return Err(reader.impossible("ports", format!("{name:?} is named twice")));
                    }
                    port => ports.push(port),
                }
            }
            ports
        }
    };
    Ok(Measure { ports, sample_every: keys.sample_every, drain_flows: keys.drain_flows })
}

/// Checks that faults by packet number refer to a switch port. Only switch ports count packets.
pub(super) fn faults(
    top: &Reader,
    faults: &[Fault],
    measure: &Measure,
    graph: &Graph,
) -> Result<(), ConfigError> {
    let Some(&(from, to)) = measure.ports.first().filter(|(from, _)| graph.is_host(*from)) else {
        return Ok(());
    };
    let port = format!("{}->{}", graph.name(from), graph.name(to));
    for (number, fault) in faults.iter().enumerate() {
        let keys = [("drop_data", &fault.drop_data), ("mark_data", &fault.mark_data)];
        let Some((key, _)) = keys.iter().find(|(_, numbers)| !numbers.is_empty()) else { continue };
        let entry = if faults.len() == 1 { "faults".to_owned() } else { format!("faults.{}", number + 1) };
        let reason = format!(
            "the first of measure.ports is {port}, a host's port; only packets at switches are counted"
        );
        return Err(top.impossible(&format!("{entry}.{key}"), reason));
    }
    Ok(())
}

/// Largest size of the routing problem. Routes take a few bytes and steps for each pair of a rack and a
/// switch or link that its packets might cross. This many pairs take about five seconds.
const MOST_ROUTES: u64 = 600_000_000;

/// Checks that the routes fit into memory.
pub(super) fn routes(top: &Reader, graph: &Graph) -> Result<(), ConfigError> {
    let (racks, switches) = (graph.racks() as u64, (graph.nodes.len() - graph.hosts()) as u64);
    let links = graph.links.len().saturating_sub(graph.hosts()) as u64;
    if racks.saturating_mul(switches + links) <= MOST_ROUTES {
        return Ok(());
    }
    let reason = format!(
        "{racks} racks times {} switches and links between them need too many routes; at most {MOST_ROUTES} \
         are accepted",
        switches + links
    );
    Err(top.impossible("topology", reason))
}

/// The ports that are measured by default. If all traffic goes to one host, its queue builds up at the
/// slowest switch port that all traffic crosses; of equally slow ports, the first. Otherwise, all switch
/// ports are measured.
fn default_ports(context: &Context) -> Vec<(NodeId, NodeId)> {
    let graph = context.graph;
    let receivers = context.peers.receivers();
    if let (Some(only), 1) = (receivers.first(), receivers.len())
        && let Some(slowest) = slowest_common_port(context, *only)
    {
        return vec![slowest];
    }
    let from_switch = |(from, _): &(NodeId, NodeId)| !graph.nodes[from.index()].is_host;
    let links = graph.links.iter();
    links.flat_map(|link| [(link.a, link.b), (link.b, link.a)]).filter(from_switch).collect()
}

/// The slowest switch port that all packets to a host cross, on any path.
fn slowest_common_port(context: &Context, to: HostId) -> Option<(NodeId, NodeId)> {
    let graph = context.graph;
    let routes = Routes::new(graph).ok()?;
    let ends = |port: &PortId| graph.ends(*port);
    let way = |from: HostId| {
        let (mut nodes, mut way) = (BTreeSet::from([NodeId(from.0)]), Vec::new());
        loop {
            let ports: BTreeSet<PortId> =
                nodes.iter().flat_map(|node| routes.next(*node, to)).copied().collect();
            if ports.is_empty() {
                return way;
            }
            way.extend(ports.first().filter(|_| ports.len() == 1));
            nodes = ports.iter().map(|port| ends(port).1).collect();
        }
    };
    let senders: BTreeSet<HostId> = context.peers.groups().flat_map(|(from, _)| from).copied().collect();
    let ways = senders.into_iter().filter(|from| *from != to).map(way);
    let common = ways.reduce(|mut common, way| {
        common.retain(|port| way.contains(port));
        common
    })?;
    let of_switches = common.iter().filter(|port| !graph.is_host(ends(port).0));
    of_switches.min_by_key(|port| graph.links[port.index() / 2].rate).map(ends)
}

fn ports_text(ports: &[(NodeId, NodeId)], graph: &Graph) -> String {
    match ports {
        [(from, to)] => format!("[\"{}->{}\"]", graph.name(*from), graph.name(*to)),
        several => format!("all {} switch ports", several.len()),
    }
}
