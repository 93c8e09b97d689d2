//! Room for priority flow control: what a switch may hold of the links that it pauses has to fit into its buffers.

use super::Spec;
use crate::config::{ConfigError, Reader};
use shortflow_spec::counted;
use shortflow_units::{Bytes, NodeId, Occupancy, Rate, Span};
use std::collections::BTreeSet;

/// Size of a frame that pauses.
pub(crate) const PAUSE_FRAME: Bytes = Bytes::new(64);

/// What a switch may hold of one link: XOFF, its share of the free memory, and headroom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input {
    from: NodeId,
    xoff: Bytes,
    alpha: Option<f64>,
    headroom: Bytes,
}

/// Checks that every switch has room for XOFF and headroom of all links that it pauses. Returns a note on the room.
pub(super) fn fits(top: &Reader, spec: &Spec) -> Result<Option<String>, ConfigError> {
    let (mut largest, graph) = (None::<(Bytes, String)>, &spec.graph);
    for node in (graph.hosts()..graph.nodes.len()).map(NodeId::from) {
        let inputs = inputs(spec, node);
        let neighbours: BTreeSet<NodeId> =
            graph.directions().filter(|(from, ..)| *from == node).map(|(_, to, _)| to).collect();
        for &to in neighbours.iter().filter(|_| !inputs.is_empty()) {
            let port = spec.switch_port(node, to);
            let (key, limit) = port.memory.map_or(("buffer", port.buffer), |memory| ("memory", memory));
            let others = |input: &&Input| port.memory.is_some() || input.from != to;
            let counting: Vec<Input> = inputs.iter().filter(others).copied().collect();
            let place = match key {
                "memory" => graph.name(node).to_owned(),
                _ => format!("{}->{}", graph.name(node), graph.name(to)),
            };
            match limit {
                Occupancy::Unlimited => {}
                Occupancy::Packets(_) => {
                    let reason =
                        format!("{limit} counts packets, and switch.xoff counts bytes; give it in bytes");
                    return Err(top.table("switch")?.impossible(key, reason));
                }
                Occupancy::Bytes(room) => {
                    let most = most(&counting, room);
                    let sum = format!("{place}: {}", sum(&counting, most));
                    if most > room {
                        let reason =
                            format!("{sum} does not fit into its {key} of {room}{}", hint(&counting, room));
                        return Err(top.table("switch")?.impossible("xoff", reason));
                    }
                    if largest.as_ref().is_none_or(|(largest, _)| most > *largest) {
                        largest = Some((most, format!("{sum} of its {key} of {room}")));
                    }
                }
            }
        }
    }
    Ok(largest.map(|(_, sum)| format!("switch.xoff: at most, at {sum}")))
}

/// Bytes that can still arrive after a switch has begun to send a frame that pauses, over a link of this rate and delay with
/// packets of `packet` bytes on the link: a packet that the frame waits for, the frame, one that has just begun at the
/// other end, what is on the wire both ways, and the packet that crossed the threshold.
fn headroom((rate, delay): (Rate, Span), packet: Bytes, lateness: Span) -> Bytes {
    let on_the_wire = rate.bytes_in(delay.times(2).plus(lateness));
    on_the_wire + PAUSE_FRAME + packet.plus(packet).plus(packet)
}

/// The links that `node` pauses.
pub(crate) fn inputs(spec: &Spec, node: NodeId) -> Vec<Input> {
    let jitter = spec.jitter();
    let input = |(from, rate, delay): (NodeId, Rate, Span)| {
        let port = spec.switch_port(node, from);
        let late = jitter.get(from.index()).copied().unwrap_or_default();
        let needed = headroom((rate, delay), spec.tcp.link_bytes(spec.tcp.mss), late);
        let (xoff, alpha) = (port.xoff?, port.xoff_alpha.filter(|_| port.memory.is_some()));
        Some(Input { from, xoff, alpha, headroom: port.headroom.unwrap_or(needed) })
    };
    let links = spec.graph.links.iter();
    let ends = links.flat_map(|link| [(link.a, link.b, link), (link.b, link.a, link)]);
    ends.filter(|(_, to, _)| *to == node)
        .filter_map(|(from, _, link)| input((from, link.rate, link.delay)))
        .collect()
}

/// The headroom of all links.
pub(crate) fn reserved(inputs: &[Input]) -> Bytes {
    inputs.iter().map(|input| input.headroom).fold(Bytes::ZERO, Bytes::plus)
}

/// The most that all of them hold together: their thresholds, or what dynamic ones leave free, and headroom.
fn most(inputs: &[Input], room: Bytes) -> Bytes {
    let thresholds: Bytes = inputs.iter().map(|input| input.xoff).fold(Bytes::ZERO, Bytes::plus);
    let alphas: Option<f64> = inputs.iter().map(|input| input.alpha).sum();
    let headroom = reserved(inputs);
    let pool = room.saturating_sub(headroom).as_f64();
    let shared = alphas.map(|sum| Bytes::new((pool * sum / (1.0 + sum)) as u64));
    shared.unwrap_or(thresholds).min(thresholds) + headroom
}

/// The sum in words.
fn sum(inputs: &[Input], most: Bytes) -> String {
    let links = counted(inputs.len(), "link");
    match inputs {
        [first, rest @ ..]
            if first.alpha.is_none()
                && rest.iter().all(|input| (input.xoff, input.headroom) == (first.xoff, first.headroom)) =>
        {
            format!("{links} x ({} + {} of headroom) = {most}", first.xoff, first.headroom)
        }
        _ => format!("thresholds and headroom of {links} = {most}"),
    }
}

/// The threshold that would fit, if one for all does.
fn hint(inputs: &[Input], room: Bytes) -> String {
    let headroom = reserved(inputs);
    match room.get().saturating_sub(headroom.get()) / inputs.len().max(1) as u64 {
        0 => format!("; headroom alone takes {headroom}"),
        fits => format!("; up to {} would", Bytes::new(fits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(count: usize, xoff: u64, alpha: Option<f64>) -> Vec<Input> {
        let input = Input { from: NodeId(0), xoff: Bytes::new(xoff), alpha, headroom: Bytes::new(50_000) };
        vec![input; count]
    }

    /// 24 links of 40 KB and 50 KB of headroom ask for 2.16 MB; 33,333 bytes each would fit into 2 MB.
    #[test]
    fn thresholds_and_headroom_add_up() {
        let (room, inputs) = (Bytes::new(2_000_000), links(24, 40_000, None));
        assert_eq!(most(&inputs, room), Bytes::new(2_160_000));
        assert_eq!(hint(&inputs, room), "; up to 33.333KB would");
    }

    /// Four links with α = 1/4 take half of what headroom of 0.2 MB leaves of 2 MB: 0.9 MB, and the headroom.
    #[test]
    fn dynamic_thresholds_leave_memory_free() {
        let inputs = links(4, 10_000_000, Some(0.25));
        assert_eq!(most(&inputs, Bytes::new(2_000_000)), Bytes::new(1_100_000));
    }
}
