//! Priority flow control — IEEE 802.1Qbb: a switch counts the bytes that it holds, by the link from which
//! they arrived. If the count exceeds XOFF, the switch tells the other end of the link to pause data, until
//! the count falls to XON.
//!
//! | symbol | field |
//! |---|---|
//! | XOFF, XON | [`Ingress::xoff`], [`Ingress::xon`] |
//! | dynamic XOFF, α (B − H − Q(t)) | [`Ingress::alpha`], with the memory B of the switch and the headroom H of all its links |
//! | headroom | [`lossless`] |
//!
//! Choices:
//! - A packet counts from its arrival until its transmission begins.
//! - The state of a link changes only when its own packets arrive or leave. Memory that other packets free therefore has
//!   its effect at the next of these events.
//! - A pause lasts until a frame ends it. Frames are not refreshed, and pauses have no timeout.
//! - A frame precedes all waiting packets, but waits for the packet in transmission. A frame has 64 bytes and
//!   delays no packet.
//! - There are two classes: data may be paused, and all other packets are never paused.

use super::Port;
use crate::scenario::{Scenario, lossless};
use crate::specs::SwitchSpec;
use crate::topology::Graph;
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, PortId, Rate};
use std::collections::BTreeMap;

/// A frame that pauses or resumes data.
#[derive(Debug, Clone, Copy)]
pub struct PauseFrame {
    /// The port that must obey the frame.
    pub port: PortId,
    /// Arrival time at that port.
    pub at: Instant,
    /// True if the frame pauses data, false if it resumes data.
    pub pauses: bool,
}

/// Count of one link's packets at its switch.
#[derive(Debug, Clone, Copy)]
struct Ingress {
    node: NodeId,
    xoff: Bytes,
    xon: Bytes,
    /// Alpha of the dynamic threshold, and the memory without all headroom.
    alpha: Option<(f64, Bytes)>,
    held: Bytes,
    is_paused: bool,
}

/// Counts for the links at all switches of a network.
#[derive(Debug, Clone)]
pub(crate) struct FlowControl {
    /// Indexed by the port that sends to the switch; `None` without a threshold.
    ingress: Vec<Option<Ingress>>,
    /// Bytes held by each node.
    used: Vec<Bytes>,
}

impl FlowControl {
    /// The flow control of `scenario`; `None` if no port has a threshold.
    pub(crate) fn new(scenario: &Scenario) -> Option<Box<FlowControl>> {
        let graph = &scenario.graph;
        let inputs = lossless::inputs(scenario);
        if inputs.iter().all(Vec::is_empty) {
            return None;
        }
        let reserved: Vec<Bytes> = inputs.iter().map(|inputs| lossless::reserved(inputs)).collect();
        let ingress =
            |(from, to, _): (NodeId, NodeId, Rate)| ingress(scenario, (from, to), reserved[to.index()]);
        let ingress = graph.directions().map(ingress).collect();
        Some(Box::new(FlowControl { ingress, used: vec![Bytes::ZERO; graph.nodes.len()] }))
    }

    /// Marks the ports that flow control affects: their far end may pause them, or their node counts bytes by link.
    pub(crate) fn affected_ports(&self, graph: &Graph) -> Vec<bool> {
        let mut counts = vec![false; graph.nodes.len()];
        self.ingress.iter().flatten().for_each(|ingress| counts[ingress.node.index()] = true);
        let of_ports = graph.directions().zip(&self.ingress);
        of_ports.map(|((from, ..), ingress)| ingress.is_some() || counts[from.index()]).collect()
    }

    /// Counts a packet that arrived from port `from`. Returns `true` if its link has a threshold.
    pub(crate) fn arrive(&mut self, from: PortId, wire: u16) -> bool {
        let Some(Some(ingress)) = self.ingress.get_mut(from.index()) else { return false };
        ingress.held += Bytes::new(wire.into());
        self.used[ingress.node.index()] += Bytes::new(wire.into());
        true
    }

    /// Releases the bytes of a packet that arrived from port `from`.
    pub(crate) fn leave(&mut self, from: PortId, wire: u16) {
        let Some(Some(ingress)) = self.ingress.get_mut(from.index()) else { return };
        let (wire, used) = (Bytes::new(wire.into()), &mut self.used[ingress.node.index()]);
        (ingress.held, *used) = (ingress.held - wire, *used - wire);
    }

    /// Bytes that all links count.
    pub(crate) fn counted(&self) -> Bytes {
        self.ingress.iter().flatten().fold(Bytes::ZERO, |sum, ingress| sum + ingress.held)
    }

    /// Updates the state of a link. Returns `true` if the link must now pause, and `false` if it must now resume.
    pub(crate) fn update(&mut self, from: PortId) -> Option<bool> {
        let ingress = self.ingress.get_mut(from.index())?.as_mut()?;
        let free = |memory: Bytes| memory.get().saturating_sub(self.used[ingress.node.index()].get());
        let dynamic = ingress.alpha.map(|(alpha, memory)| Bytes::new((alpha * free(memory) as f64) as u64));
        let xoff = dynamic.unwrap_or(ingress.xoff).min(ingress.xoff);
        let xon = ingress.xon.min(xoff);
        let is_paused = if ingress.is_paused { ingress.held > xon } else { ingress.held > xoff };
        (std::mem::replace(&mut ingress.is_paused, is_paused) != is_paused).then_some(is_paused)
    }

    /// Resets the state of a link that failed or recovered, because its other end is no longer paused.
    pub(crate) fn reset(&mut self, from: PortId) {
        if let Some(Some(ingress)) = self.ingress.get_mut(from.index()) {
            ingress.is_paused = false;
        }
    }

    /// Takes the count of a link from the part that simulates its switch.
    pub(crate) fn adopt(&mut self, from: PortId, other: &FlowControl) {
        self.ingress[from.index()] = other.ingress[from.index()];
    }

    /// Finds a cycle of ports that have been paused since `deadline` or longer and wait for each other.
    /// Returns the ports, and the time since which all of them are paused. A paused port is in no cycle if it
    /// can resume after the ports outside cycles have sent all their packets.
    pub(crate) fn deadlock(&self, ports: &[Port], deadline: Instant) -> Option<(Vec<PortId>, Instant)> {
        let is_stuck = |port: &Port| port.stuck_since().is_some_and(|since| since <= deadline);
        let stuck = ports.iter().enumerate().filter(|(_, port)| is_stuck(port));
        let mut waiting: BTreeMap<PortId, BTreeMap<PortId, Bytes>> =
            stuck.map(|(number, port)| (PortId::from(number), port.waiting_by_origin())).collect();
        while let Some(free) = waiting.keys().copied().find(|port| self.can_resume(*port, &waiting)) {
            waiting.remove(&free);
        }
        let mut way = vec![*waiting.keys().next()?];
        loop {
            let last = *way.last()?;
            let next = *waiting.iter().find(|(_, origins)| origins.contains_key(&last))?.0;
            if let Some(begin) = way.iter().position(|before| *before == next) {
                let cycle = way.split_off(begin);
                let since = cycle.iter().filter_map(|port| ports[port.index()].stuck_since()).max();
                return since.map(|since| (cycle, since));
            }
            way.push(next);
        }
    }

    /// True if the port could resume if its switch held only those of its packets that wait in the ports
    /// `waiting`.
    fn can_resume(&self, port: PortId, waiting: &BTreeMap<PortId, BTreeMap<PortId, Bytes>>) -> bool {
        let Some(ingress) = self.ingress[port.index()].filter(|ingress| ingress.is_paused) else {
            return true;
        };
        let held =
            waiting.values().filter_map(|origins| origins.get(&port)).copied().fold(Bytes::ZERO, Bytes::plus);
        held <= ingress.xon
    }
}

fn ingress(scenario: &Scenario, (from, to): (NodeId, NodeId), reserved: Bytes) -> Option<Ingress> {
    if scenario.graph.is_host(to) {
        return None;
    }
    let &SwitchSpec { xoff, xon, xoff_alpha, memory, .. } = scenario.switch_port(to, from);
    let (xoff, packet) = (xoff?, scenario.tcp.full_frame());
    let xon = xon.unwrap_or_else(|| Bytes::new(xoff.get().saturating_sub(2 * packet.get())));
    let alpha = match (xoff_alpha, memory) {
        (Some(alpha), Some(Occupancy::Bytes(memory))) => Some((alpha, memory.saturating_sub(reserved))),
        _ => None,
    };
    Some(Ingress { node: to, xoff, xon, alpha, held: Bytes::ZERO, is_paused: false })
}
