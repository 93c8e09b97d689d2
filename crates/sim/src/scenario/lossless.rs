//! Memory for priority flow control: the packets that a switch may hold of the links that it pauses must fit
//! into its buffers.

use super::Spec;
use crate::config::{ConfigError, Reader};
use crate::priorities::{PrioritySet, Thresholds};
use crate::queue::{DataPriorities, LossyLimit};
use crate::specs::SwitchSpec;
use crate::topology::Link;
use shortflow_spec::counted;
use shortflow_units::{Bytes, NodeId, Occupancy, Rate, Span};

/// Size of a pause frame.
pub(crate) const PAUSE_FRAME: Bytes = Bytes::new(64);

/// The most that a switch may hold of one priority of one link: XOFF, or its share of the free memory, and headroom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input {
    from: NodeId,
    priority: u8,
    xoff: Bytes,
    alpha: Option<f64>,
    headroom: Bytes,
    /// The headroom that the link's rate and delay require.
    needed: Bytes,
}

/// Remarks about flow control: a note on the memory that it takes, and warnings.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    pub note: Option<String>,
    pub warnings: Vec<String>,
}

/// Checks that each switch has memory for XOFF and headroom of all links that it pauses.
pub(super) fn fits(top: &Reader, spec: &Spec) -> Result<Remarks, ConfigError> {
    let (inputs, graph, lossless) = (inputs(spec), &spec.graph, spec.lossless());
    let mut largest = None::<(Bytes, String)>;
    for (node, to, _) in graph.directions().filter(|(from, ..)| !inputs[from.index()].is_empty()) {
        let (port, inputs) = (spec.switch_port(node, to), &inputs[node.index()]);
        let others: Vec<Input> = inputs.iter().filter(|input| input.from != to).copied().collect();
        let name = format!("{}->{}", graph.name(node), graph.name(to));
        let memory =
            port.memory.map(|memory| ("memory", memory, inputs.clone(), graph.name(node).to_owned()));
        for (key, limit, inputs, place) in memory.into_iter().chain([("buffer", port.buffer, others, name)]) {
            let room = match limit {
                Occupancy::Unlimited => continue,
                Occupancy::Bytes(room) => room,
                Occupancy::Packets(_) => {
                    let reason =
                        format!("{limit} counts packets, and switch.xoff counts bytes; give it in bytes");
                    return Err(top.table("switch")?.impossible(key, reason));
                }
            };
            let most = most(&inputs, room);
            let sum = format!("{place}: {}", sum(&inputs, lossless, most));
            if most > room {
                let reason = format!("{sum} does not fit into its {key} of {room}{}", hint(&inputs, room));
                let key = if port.pfc_thresholds.is_some() { "pfc_thresholds" } else { "xoff" };
                return Err(top.table("switch")?.impossible(key, reason));
            }
            if largest.as_ref().is_none_or(|(largest, _)| most > *largest) {
                largest = Some((most, format!("{sum} of its {key} of {room}")));
            }
        }
    }
    priorities(top, spec, &inputs)?;
    let note = largest.map(|(_, sum)| format!("switch.xoff: the largest need is at {sum}"));
    Ok(Remarks { note, warnings: warnings(spec, &inputs) })
}

/// Warnings about packets that may be lost in spite of flow control: packets of links that are not paused,
/// and packets beyond a headroom that is too small.
fn warnings(spec: &Spec, inputs: &[Vec<Input>]) -> Vec<String> {
    let graph = &spec.graph;
    let pauses = |node: NodeId, from: NodeId| inputs[node.index()].iter().any(|input| input.from == from);
    let mut ends = graph.directions().filter(|(_, node, _)| !inputs[node.index()].is_empty());
    let free = ends.find(|(from, node, _)| !pauses(*node, *from)).map(|(from, node, _)| {
        let (from, node) = (graph.name(from), graph.name(node));
        format!("switch.xoff: {node} pauses other links, but not {from}->{node}, whose packets may fill its buffers")
    });
    let short = inputs
        .iter()
        .flatten()
        .filter(|input| input.headroom < input.needed)
        .max_by_key(|input| input.needed);
    let short = short.map(|Input { from, priority, headroom, needed, .. }| {
        let from = graph.name(*from);
        let of = if spec.lossless().len() > 1 { format!(" for priority {priority}") } else { String::new() };
        format!("switch.headroom: {headroom}{of} is less than the {needed} that may arrive from {from} after XOFF; packets may be lost")
    });
    free.into_iter().chain(short).collect()
}

/// Bytes that can still arrive after a switch has decided to pause a link of this rate and delay, whose
/// largest packet takes `packet` bytes. The bytes are:
///
/// - the packet that crossed the threshold;
/// - a packet in transmission, which delays the frame;
/// - the frame;
/// - the bytes on the wire in both directions, or delayed by the host for `lateness`;
/// - a packet that the other end has just begun to send.
fn headroom((rate, delay): (Rate, Span), packet: Bytes, lateness: Span) -> Bytes {
    let on_the_wire = rate.bytes_in(delay.times(2).plus(lateness));
    on_the_wire + PAUSE_FRAME + packet.plus(packet).plus(packet)
}

impl Spec {
    /// Headroom that each link to a switch requires: the other end of the link, the switch and the bytes that can still
    /// arrive after the switch has decided to pause the link.
    pub fn headrooms(&self) -> Vec<(NodeId, NodeId, Bytes)> {
        let (graph, jitter) = (&self.graph, self.jitter());
        let stall = if self.host.stalls > 0.0 { self.host.stall_max } else { Span::ZERO };
        let ends = graph.links.iter().flat_map(|link| [(link.a, link.b, link), (link.b, link.a, link)]);
        let needed = |(from, to, link): (NodeId, NodeId, &Link)| {
            let late = jitter.get(from.index()).map(|jitter| jitter.plus(stall)).unwrap_or_default();
            (from, to, headroom((link.rate, link.delay), self.tcp.link_bytes(self.tcp.mss), late))
        };
        ends.filter(|(_, to, _)| !graph.is_host(*to)).map(needed).collect()
    }
}

/// The links that each node pauses, once for each lossless priority.
pub(crate) fn inputs(spec: &Spec) -> Vec<Vec<Input>> {
    let (graph, mut inputs) = (&spec.graph, vec![Vec::new(); spec.graph.nodes.len()]);
    let is_on = |(from, to, _): (NodeId, NodeId, Rate)| {
        !graph.is_host(to) && spec.switch_port(to, from).xoff.is_some()
    };
    if !graph.directions().any(is_on) {
        return inputs;
    }
    for (from, to, needed) in spec.headrooms() {
        let port = spec.switch_port(to, from);
        let Some(thresholds) = port.thresholds() else { continue };
        let of_priority = |priority: u8| {
            let Thresholds { xoff, headroom, alpha, .. } = thresholds[usize::from(priority)];
            let (alpha, headroom) = (alpha.filter(|_| port.memory.is_some()), headroom.unwrap_or(needed));
            Input { from, priority, xoff, alpha, headroom, needed }
        };
        inputs[to.index()].extend(spec.lossless().iter().map(of_priority));
    }
    inputs
}

/// Sum of the headroom of all links.
pub(crate) fn reserved(inputs: &[Input]) -> Bytes {
    inputs.iter().map(|input| input.headroom).fold(Bytes::ZERO, Bytes::plus)
}

/// The most that a switch holds of all links together: their headroom and their thresholds. Dynamic
/// thresholds are taken as if the links fill up one after another.
fn most(inputs: &[Input], room: Bytes) -> Bytes {
    let thresholds: Bytes = inputs.iter().map(|input| input.xoff).fold(Bytes::ZERO, Bytes::plus);
    let headroom = reserved(inputs);
    let pool = room.saturating_sub(headroom).as_f64();
    // Each link that fills up leaves 1 / (1 + α) of the memory that was free before.
    let free: Option<f64> = inputs.iter().map(|input| input.alpha.map(|alpha| 1.0 / (1.0 + alpha))).product();
    let shared = free.map(|free| Bytes::new((pool * (1.0 - free)).ceil() as u64));
    shared.unwrap_or(thresholds).min(thresholds) + headroom
}

/// Priorities of data at each port, and the memory for lossy data.
pub(crate) fn at_ports(spec: &Spec) -> Vec<DataPriorities> {
    let (graph, inputs) = (&spec.graph, inputs(spec));
    let all = DataPriorities::equal(spec.used_priorities());
    let lossy = all.used - spec.lossless();
    let of_port = |(from, to, _): (NodeId, NodeId, Rate)| {
        if graph.is_host(from) {
            return all;
        }
        let (port, inputs) = (spec.switch_port(from, to), &inputs[from.index()]);
        let weights = port.weights.unwrap_or(all.weights);
        if inputs.is_empty() {
            return DataPriorities { weights, ..all };
        }
        DataPriorities { weights, lossy, limit: lossy_limit(port, to, inputs), ..all }
    };
    graph.directions().map(of_port).collect()
}

/// Limit of lossy data in the port to `to` of a switch that pauses `inputs`.
fn lossy_limit(port: &SwitchSpec, to: NodeId, inputs: &[Input]) -> LossyLimit {
    let Some(memory) = port.memory else {
        let others: Vec<Input> = inputs.iter().filter(|input| input.from != to).copied().collect();
        let reserved = bytes(port.buffer).map_or(Bytes::ZERO, |buffer| most(&others, buffer));
        return LossyLimit { reserved, alpha: None };
    };
    // Dynamic thresholds of lossless data fall as lossy data takes memory; only headroom must stay free.
    let is_dynamic = inputs.iter().all(|input| input.alpha.is_some());
    let needed = |memory| if is_dynamic { reserved(inputs) } else { most(inputs, memory) };
    let reserved = bytes(memory).map_or(Bytes::ZERO, needed);
    LossyLimit { reserved, alpha: Some(port.memory_alpha) }
}

fn bytes(limit: Occupancy) -> Option<Bytes> {
    match limit {
        Occupancy::Bytes(bytes) => Some(bytes),
        Occupancy::Packets(_) | Occupancy::Unlimited => None,
    }
}

/// Checks that some traffic has a lossless priority, and that ports have memory for lossy data.
fn priorities(top: &Reader, spec: &Spec, inputs: &[Vec<Input>]) -> Result<(), ConfigError> {
    let (graph, switch, used) = (&spec.graph, top.table("switch")?, spec.used_priorities());
    let is_on = |(from, to, _): (NodeId, NodeId, Rate)| {
        !graph.is_host(from) && spec.switch_port(from, to).xoff.is_some()
    };
    if !graph.directions().any(is_on) {
        return Ok(());
    }
    if spec.lossless().is_empty() {
        let reason = format!("no traffic has one of these priorities; traffic has {used}");
        return Err(switch.impossible("lossless", reason));
    }
    if spec.lossless() == used {
        return Ok(());
    }
    let packet = spec.tcp.full_frame();
    for (node, to, _) in graph.directions().filter(|(from, ..)| !inputs[from.index()].is_empty()) {
        let port = spec.switch_port(node, to);
        let LossyLimit { reserved, .. } = lossy_limit(port, to, &inputs[node.index()]);
        let limits = [(port.memory, "memory"), (Some(port.buffer), "buffer")];
        let least = limits.into_iter().filter_map(|(limit, key)| Some((bytes(limit?)?, key))).min();
        let Some((room, key)) = least.filter(|(room, _)| reserved + packet > *room) else { continue };
        let (node, to, left) = (graph.name(node), graph.name(to), room.saturating_sub(reserved));
        let reason = format!(
            "{node}->{to}: lossless data may need {reserved} of {room}, and the rest of {left} has no room for a lossy \
             packet of {packet}; raise switch.{key} or lower switch.xoff"
        );
        return Err(switch.impossible("lossless", reason));
    }
    Ok(())
}

/// The sum as text. Names the thresholds of each lossless priority if they differ.
fn sum(inputs: &[Input], lossless: PrioritySet, most: Bytes) -> String {
    let links = counted(inputs.len() / lossless.len().max(1), "link");
    let of_priorities = match lossless.len() {
        0 | 1 => links.clone(),
        several => format!("{links} x {several} priorities"),
    };
    let limits = |input: &Input| (input.xoff, input.headroom);
    let first = |priority| inputs.iter().find(|input| input.priority == priority);
    let by_priority: Vec<&Input> = lossless.iter().filter_map(first).collect();
    let is_alike = inputs
        .iter()
        .all(|input| input.alpha.is_none() && first(input.priority).map(limits) == Some(limits(input)));
    match &by_priority[..] {
        [first, others @ ..] if is_alike && others.iter().all(|other| limits(other) == limits(first)) => {
            format!("{of_priorities} x ({} + {} of headroom) = {most}", first.xoff, first.headroom)
        }
        [_, _, ..] if is_alike => {
            let limits = by_priority.iter().map(|Input { priority, xoff, headroom, .. }| {
                format!("{xoff} + {headroom} of headroom for priority {priority}")
            });
            format!("{links} x ({}) = {most}", limits.collect::<Vec<_>>().join(", "))
        }
        _ => format!("thresholds and headroom of {of_priorities} = {most}"),
    }
}

/// Remark with the largest common threshold that would fit, if there is one.
fn hint(inputs: &[Input], room: Bytes) -> String {
    let headroom = reserved(inputs);
    match room.get().saturating_sub(headroom.get()) / inputs.len().max(1) as u64 {
        0 => format!("; headroom alone takes {headroom}"),
        fits => format!("; an xoff of at most {} fits", Bytes::new(fits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priorities::DEFAULT_PRIORITY;

    fn links(count: usize, xoff: u64, alpha: Option<f64>) -> Vec<Input> {
        let input = Input {
            from: NodeId(0),
            priority: DEFAULT_PRIORITY,
            xoff: Bytes::new(xoff),
            alpha,
            headroom: Bytes::new(50_000),
            needed: Bytes::new(50_000),
        };
        vec![input; count]
    }

    /// 24 links with 40 KB and 50 KB of headroom each need 2.16 MB. With 33,333 bytes each, they would fit
    /// into 2 MB.
    #[test]
    fn thresholds_and_headroom_add_up() {
        let (room, inputs) = (Bytes::new(2_000_000), links(24, 40_000, None));
        assert_eq!(most(&inputs, room), Bytes::new(2_160_000));
        assert_eq!(hint(&inputs, room), "; an xoff of at most 33.333KB fits");
    }

    /// Four links with α = 1/4, which fill up one after another, leave 0.8⁴ of the 1.8 MB beyond the headroom
    /// free.
    #[test]
    fn dynamic_thresholds_leave_memory_free() {
        let inputs = links(4, 10_000_000, Some(0.25));
        assert_eq!(most(&inputs, Bytes::new(2_000_000)), Bytes::new(1_262_720));
    }
}
