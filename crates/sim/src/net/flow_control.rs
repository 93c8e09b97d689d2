//! Priority flow control — IEEE 802.1Qbb: a switch counts what it holds by the link that brought it. Above XOFF it tells the other
//! end of that link to pause data, until it holds no more than XON.
//!
//! | symbol | field |
//! |---|---|
//! | XOFF, XON | [`Ingress::xoff`], [`Ingress::xon`] |
//! | dynamic XOFF, α (B − H − Q(t)) | [`Ingress::alpha`], with the memory B of the switch and the headroom H of all its links |
//! | headroom | [`lossless`] |
//!
//! Choices:
//! - A packet counts from its arrival until its transmission begins.
//! - A pause lasts until it is lifted: refreshing frames are not sent, and no pause ends by its own time.
//! - A frame goes before all waiting packets, and waits for the packet in transmission. It has 64 bytes, and delays no packet.
//! - Data is one class and may be paused, everything else is another and never is.

use super::Port;
use crate::scenario::{Scenario, lossless};
use crate::specs::SwitchSpec;
use crate::topology::Graph;
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, PortId, Rate};

/// A frame that pauses data, or lets it go on.
#[derive(Debug, Clone, Copy)]
pub struct PauseFrame {
    /// Port that is to obey it.
    pub port: PortId,
    /// Its arrival there.
    pub at: Instant,
    /// True if it pauses.
    pub pauses: bool,
}

/// What a switch holds of one link's packets.
#[derive(Debug, Clone, Copy)]
struct Ingress {
    node: NodeId,
    xoff: Bytes,
    xon: Bytes,
    /// Alpha of a dynamic threshold, with the memory beyond all headroom.
    alpha: Option<(f64, Bytes)>,
    held: Bytes,
    is_paused: bool,
}

/// What the switches of a network hold, link by link.
#[derive(Debug, Clone)]
pub struct FlowControl {
    /// By the port that sends to the switch; `None` where no threshold holds.
    ingress: Vec<Option<Ingress>>,
    /// Held by each node.
    used: Vec<Bytes>,
}

impl FlowControl {
    /// The flow control of `scenario`; `None` if no port has a threshold.
    pub fn new(scenario: &Scenario) -> Option<Box<FlowControl>> {
        let graph = &scenario.graph;
        let pauses = |(from, to, _): (NodeId, NodeId, Rate)| {
            !graph.is_host(to) && scenario.switch_port(to, from).xoff.is_some()
        };
        if !graph.directions().any(pauses) {
            return None;
        }
        let nodes = (0..graph.nodes.len()).map(NodeId::from);
        let reserved: Vec<Bytes> =
            nodes.map(|node| lossless::reserved(&lossless::inputs(scenario, node))).collect();
        let ingress =
            |(from, to, _): (NodeId, NodeId, Rate)| ingress(scenario, (from, to), reserved[to.index()]);
        let ingress = graph.directions().map(ingress).collect();
        Some(Box::new(FlowControl { ingress, used: vec![Bytes::ZERO; graph.nodes.len()] }))
    }

    /// True for the ports that take part: the other end may pause them, or their node counts what links bring.
    pub fn concerns(&self, graph: &Graph) -> Vec<bool> {
        let mut counts = vec![false; graph.nodes.len()];
        self.ingress.iter().flatten().for_each(|ingress| counts[ingress.node.index()] = true);
        let of_ports = graph.directions().zip(&self.ingress);
        of_ports.map(|((from, ..), ingress)| ingress.is_some() || counts[from.index()]).collect()
    }

    /// A packet has arrived from this port. Returns `true` if its link counts.
    pub fn arrive(&mut self, from: PortId, wire: u16) -> bool {
        let Some(Some(ingress)) = self.ingress.get_mut(from.index()) else { return false };
        ingress.held += Bytes::new(wire.into());
        self.used[ingress.node.index()] += Bytes::new(wire.into());
        true
    }

    /// It leaves.
    pub fn leave(&mut self, from: PortId, wire: u16) {
        let Some(Some(ingress)) = self.ingress.get_mut(from.index()) else { return };
        let (wire, used) = (Bytes::new(wire.into()), &mut self.used[ingress.node.index()]);
        (ingress.held, *used) = (ingress.held - wire, *used - wire);
    }

    /// Present verdict on a link if it has changed: `true` pauses, `false` lets go on.
    pub fn change(&mut self, from: PortId) -> Option<bool> {
        let ingress = self.ingress.get_mut(from.index())?.as_mut()?;
        let free = |memory: Bytes| memory.get().saturating_sub(self.used[ingress.node.index()].get());
        let dynamic = ingress.alpha.map(|(alpha, memory)| Bytes::new((alpha * free(memory) as f64) as u64));
        let xoff = dynamic.unwrap_or(ingress.xoff).min(ingress.xoff);
        let xon = ingress.xon.min(xoff);
        let is_paused = if ingress.is_paused { ingress.held > xon } else { ingress.held > xoff };
        (std::mem::replace(&mut ingress.is_paused, is_paused) != is_paused).then_some(is_paused)
    }

    /// The link of this port has failed.
    pub fn forget(&mut self, from: PortId) {
        if let Some(Some(ingress)) = self.ingress.get_mut(from.index()) {
            ingress.is_paused = false;
        }
    }

    /// Takes the account of a link from the part that has its switch.
    pub fn take(&mut self, from: PortId, other: &FlowControl) {
        self.ingress[from.index()] = other.ingress[from.index()];
    }

    /// Ports that have paused one another in a circle since before `deadline`, each waiting for the next, and the time since which
    /// the last of them is paused.
    pub fn deadlock(&self, ports: &[Port], deadline: Instant) -> Option<(Vec<PortId>, Instant)> {
        let is_stuck = |port: &Port| port.stuck_since().is_some_and(|since| since <= deadline);
        let after = |port: PortId| {
            let node = ports[port.index()].to;
            let holds = |next: &usize| ports[*next].from == node && ports[*next].holds_of(port);
            (0..ports.len()).filter(|next| is_stuck(&ports[*next])).find(holds).map(PortId::from)
        };
        let mut seen = vec![false; ports.len()];
        for first in (0..ports.len()).filter(|port| is_stuck(&ports[*port])) {
            let mut way: Vec<PortId> = Vec::new();
            let mut next = Some(PortId::from(first));
            while let Some(port) = next {
                if let Some(begin) = way.iter().position(|before| *before == port) {
                    let circle = way.split_off(begin);
                    let since = circle.iter().filter_map(|port| ports[port.index()].stuck_since()).max();
                    return since.map(|since| (circle, since));
                }
                if std::mem::replace(&mut seen[port.index()], true) {
                    break;
                }
                way.push(port);
                next = after(port);
            }
        }
        None
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
