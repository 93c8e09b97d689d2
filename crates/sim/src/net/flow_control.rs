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
//! - A link is judged when its own packets arrive or leave, so that memory which others free lets it go on at the next of these.
//! - A pause lasts until it is lifted: refreshing frames are not sent, and no pause ends by its own time.
//! - A frame goes before all waiting packets, and waits for the packet in transmission. It has 64 bytes, and delays no packet.
//! - Data is one class and may be paused, everything else is another and never is.

use super::Port;
use crate::scenario::{Scenario, lossless};
use crate::specs::SwitchSpec;
use crate::topology::Graph;
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, PortId, Rate};
use std::collections::BTreeMap;

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

/// Account of one link's packets at its switch.
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

/// Accounts of the links at all switches of a network.
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

    /// Releases the bytes of a packet from this port.
    pub fn leave(&mut self, from: PortId, wire: u16) {
        let Some(Some(ingress)) = self.ingress.get_mut(from.index()) else { return };
        let (wire, used) = (Bytes::new(wire.into()), &mut self.used[ingress.node.index()]);
        (ingress.held, *used) = (ingress.held - wire, *used - wire);
    }

    /// Judges a link. Returns the verdict if it has changed: `true` pauses, `false` lets go on.
    pub fn judge(&mut self, from: PortId) -> Option<bool> {
        let ingress = self.ingress.get_mut(from.index())?.as_mut()?;
        let free = |memory: Bytes| memory.get().saturating_sub(self.used[ingress.node.index()].get());
        let dynamic = ingress.alpha.map(|(alpha, memory)| Bytes::new((alpha * free(memory) as f64) as u64));
        let xoff = dynamic.unwrap_or(ingress.xoff).min(ingress.xoff);
        let xon = ingress.xon.min(xoff);
        let is_paused = if ingress.is_paused { ingress.held > xon } else { ingress.held > xoff };
        (std::mem::replace(&mut ingress.is_paused, is_paused) != is_paused).then_some(is_paused)
    }

    /// The link of this port has failed or recovered: nobody has told its other end to pause.
    pub fn reset(&mut self, from: PortId) {
        if let Some(Some(ingress)) = self.ingress.get_mut(from.index()) {
            ingress.is_paused = false;
        }
    }

    /// Adopts the account of a link from the part that has its switch.
    pub fn adopt(&mut self, from: PortId, other: &FlowControl) {
        self.ingress[from.index()] = other.ingress[from.index()];
    }

    /// A cycle of ports that have paused one another since before `deadline`, each waiting for the next, and the time since which
    /// the last of them is paused. A port goes on, and is in none, once those that are not in one have sent all that they hold.
    pub fn deadlock(&self, ports: &[Port], deadline: Instant) -> Option<(Vec<PortId>, Instant)> {
        let is_stuck = |port: &Port| port.stuck_since().is_some_and(|since| since <= deadline);
        let stuck = ports.iter().enumerate().filter(|(_, port)| is_stuck(port));
        let mut waiting: BTreeMap<PortId, BTreeMap<PortId, Bytes>> =
            stuck.map(|(number, port)| (PortId::from(number), port.waiting_by_origin())).collect();
        while let Some(free) = waiting.keys().copied().find(|port| self.goes_on(*port, &waiting)) {
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

    /// True if a port would go on, were nothing held of it but what waits in these ports.
    fn goes_on(&self, port: PortId, waiting: &BTreeMap<PortId, BTreeMap<PortId, Bytes>>) -> bool {
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
