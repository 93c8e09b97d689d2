//! Priority flow control — IEEE 802.1Qbb: a switch counts the bytes that it holds, by the link from which
//! they arrived and by priority. If a count exceeds XOFF, the switch tells the other end of the link to pause
//! the priority, until the count falls to XON.
//!
//! | symbol | field |
//! |---|---|
//! | XOFF, XON | [`Limits::xoff`], [`Limits::xon`] of each priority |
//! | dynamic XOFF, α (B − H − Q(t)) | [`Limits::alpha`], with the memory B of the switch and the headroom H of all its links in [`Ingress::memory`] |
//! | headroom | [`lossless`] |
//!
//! Choices:
//! - A packet counts from its arrival until its transmission begins.
//! - The states of a link change only when its own packets arrive or leave. Memory that other packets free
//!   therefore has its effect at the next of these events.
//! - A pause lasts until a frame ends it. Frames are not refreshed, and pauses have no timeout.
//! - A frame precedes all waiting packets, but waits for the packet in transmission. A frame has 64 bytes and
//!   delays no packet.
//! - Packets without data are never paused. Data of lossy priorities is never paused, and takes free memory.
//! - A frame pauses or resumes one priority.

use super::Port;
use super::pauses::FreedMemory;
use crate::priorities::{PRIORITIES, PrioritySet, Thresholds};
use crate::scenario::{Scenario, lossless};
use crate::topology::Graph;
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, PortId, Rate};
use std::collections::BTreeMap;

/// A frame that pauses or resumes a priority.
#[derive(Debug, Clone, Copy)]
pub struct PauseFrame {
    /// The port that must obey the frame.
    pub port: PortId,
    /// Arrival time at that port.
    pub at: Instant,
    /// The priority.
    pub priority: u8,
    /// True if the frame pauses the priority, false if it resumes the priority.
    pub pauses: bool,
}

/// A cycle of paused ports that wait for each other.
#[derive(Debug)]
pub(crate) struct Deadlock {
    /// The paused priority.
    pub priority: u8,
    pub cycle: Vec<PortId>,
    /// Time since which all these ports are paused.
    pub since: Instant,
}

/// Thresholds of one priority of a link.
#[derive(Debug, Clone, Copy)]
struct Limits {
    xoff: Bytes,
    xon: Bytes,
    /// Alpha of the dynamic threshold.
    alpha: Option<f64>,
}

/// Counts of one link's packets at its switch.
#[derive(Debug, Clone, Copy)]
struct Ingress {
    node: NodeId,
    /// Thresholds by priority.
    limits: [Limits; PRIORITIES],
    /// Memory of the switch without all headroom, for dynamic thresholds.
    memory: Bytes,
    /// Data by priority.
    held: [Bytes; PRIORITIES],
    paused: PrioritySet,
}

/// Counts for the links at all switches of a network.
#[derive(Debug, Clone)]
pub(crate) struct FlowControl {
    /// Indexed by the port that sends to the switch; `None` without a threshold.
    ingress: Vec<Option<Ingress>>,
    /// Bytes held by each node.
    used: Vec<Bytes>,
    /// Priorities that links pause.
    lossless: PrioritySet,
}

impl FlowControl {
    /// Puts ports under the flow control of `scenario`. Returns its accounts, and `true` if some port may be paused.
    pub(crate) fn control(scenario: &Scenario, ports: &mut [Port]) -> (Option<Box<FlowControl>>, bool) {
        let accounts = FlowControl::new(scenario);
        let pauses = || scenario.faults.iter().filter_map(|fault| Some((fault, fault.pause?)));
        if accounts.is_none() && pauses().next().is_none() {
            return (None, false);
        }
        let priorities = lossless::at_ports(scenario);
        let affected = accounts.iter().flat_map(|accounts| accounts.affected_ports(&scenario.graph));
        for ((port, priorities), _) in ports.iter_mut().zip(&priorities).zip(affected).filter(|(_, is)| *is) {
            port.control_flow(*priorities);
        }
        for (fault, during) in pauses() {
            for port in &fault.ports {
                ports[port.index()].control_flow(priorities[port.index()]);
                if let Some(pauses) = &mut ports[port.index()].pauses {
                    pauses.plan_pause(during, fault.pause_priorities);
                }
            }
        }
        (accounts, true)
    }

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
        let used = vec![Bytes::ZERO; graph.nodes.len()];
        Some(Box::new(FlowControl { ingress, used, lossless: scenario.lossless() }))
    }

    /// Marks the ports that flow control affects: their far end may pause them, or their node counts bytes by link.
    pub(crate) fn affected_ports(&self, graph: &Graph) -> Vec<bool> {
        let mut counts = vec![false; graph.nodes.len()];
        self.ingress.iter().flatten().for_each(|ingress| counts[ingress.node.index()] = true);
        let of_ports = graph.directions().zip(&self.ingress);
        of_ports.map(|((from, ..), ingress)| ingress.is_some() || counts[from.index()]).collect()
    }

    /// Counts data that arrived from port `from`. Returns `true` if its link has a threshold.
    pub(crate) fn arrive(&mut self, from: PortId, priority: u8, wire: u16) -> bool {
        let Some(Some(ingress)) = self.ingress.get_mut(from.index()) else { return false };
        let wire = Bytes::new(wire.into());
        self.used[ingress.node.index()] += wire;
        ingress.held[usize::from(priority)] += wire;
        true
    }

    /// Releases memory.
    pub(super) fn leave(&mut self, FreedMemory { from, priority, wire }: FreedMemory) {
        let Some(Some(ingress)) = self.ingress.get_mut(from.index()) else { return };
        let (held, used) = (&mut ingress.held[usize::from(priority)], &mut self.used[ingress.node.index()]);
        let wire = Bytes::new(wire.into());
        (*held, *used) = (*held - wire, *used - wire);
    }

    /// Bytes that all links count.
    pub(crate) fn counted(&self) -> Bytes {
        self.ingress.iter().flatten().flat_map(|ingress| ingress.held).fold(Bytes::ZERO, Bytes::plus)
    }

    /// Updates the states of a link. Calls `change` with each priority that the link must now pause (`true`)
    /// or resume.
    pub(crate) fn update(&mut self, from: PortId, mut change: impl FnMut(u8, bool)) {
        let Some(Some(ingress)) = self.ingress.get_mut(from.index()) else { return };
        let free = ingress.memory.saturating_sub(self.used[ingress.node.index()]).as_f64();
        let before = ingress.paused;
        let exceeds = |priority: &u8| {
            let Limits { xoff, xon, alpha } = ingress.limits[usize::from(*priority)];
            let dynamic = alpha.map(|alpha| Bytes::new((alpha * free) as u64));
            let xoff = dynamic.unwrap_or(xoff).min(xoff);
            ingress.held[usize::from(*priority)] > if before.has(*priority) { xon.min(xoff) } else { xoff }
        };
        ingress.paused = self.lossless.iter().filter(exceeds).collect();
        (ingress.paused - before).iter().for_each(|priority| change(priority, true));
        (before - ingress.paused).iter().for_each(|priority| change(priority, false));
    }

    /// Resets the states of a link that failed or recovered, because its other end is no longer paused.
    pub(crate) fn reset(&mut self, from: PortId) {
        if let Some(Some(ingress)) = self.ingress.get_mut(from.index()) {
            ingress.paused = PrioritySet::NONE;
        }
    }

    /// Takes the counts of a link from the part that simulates its switch.
    pub(crate) fn adopt(&mut self, from: PortId, other: &FlowControl) {
        self.ingress[from.index()] = other.ingress[from.index()];
    }

    /// Finds a cycle of ports for each priority that has one. The data of this priority has been paused at these ports
    /// since `deadline` or longer, and the ports wait for each other. A paused port is in no cycle if it can resume
    /// after the ports outside cycles have sent all their packets.
    pub(crate) fn deadlocks(&self, ports: &[Port], deadline: Instant) -> Vec<Deadlock> {
        self.lossless.iter().filter_map(|priority| self.deadlock(priority, ports, deadline)).collect()
    }

    fn deadlock(&self, priority: u8, ports: &[Port], deadline: Instant) -> Option<Deadlock> {
        let is_stuck = |port: &Port| port.stuck_since(priority).is_some_and(|since| since <= deadline);
        let stuck = ports.iter().enumerate().filter(|(_, port)| is_stuck(port));
        let mut waiting: BTreeMap<PortId, BTreeMap<PortId, Bytes>> =
            stuck.map(|(number, port)| (PortId::from(number), port.waiting_by_origin(priority))).collect();
        while let Some(free) = waiting.keys().copied().find(|port| self.can_resume(*port, priority, &waiting))
        {
            waiting.remove(&free);
        }
        let mut way = vec![*waiting.keys().next()?];
        loop {
            let last = *way.last()?;
            let next = *waiting.iter().find(|(_, origins)| origins.contains_key(&last))?.0;
            if let Some(begin) = way.iter().position(|before| *before == next) {
                let cycle = way.split_off(begin);
                let since = cycle.iter().filter_map(|port| ports[port.index()].stuck_since(priority)).max();
                return since.map(|since| Deadlock { priority, cycle, since });
            }
            way.push(next);
        }
    }

    /// True if the port could resume if its switch held only those of its packets that wait in the ports
    /// `waiting`.
    fn can_resume(
        &self,
        port: PortId,
        priority: u8,
        waiting: &BTreeMap<PortId, BTreeMap<PortId, Bytes>>,
    ) -> bool {
        let Some(ingress) = self.ingress[port.index()].filter(|ingress| ingress.paused.has(priority)) else {
            return true;
        };
        let held =
            waiting.values().filter_map(|origins| origins.get(&port)).copied().fold(Bytes::ZERO, Bytes::plus);
        held <= ingress.limits[usize::from(priority)].xon
    }
}

fn ingress(scenario: &Scenario, (from, to): (NodeId, NodeId), reserved: Bytes) -> Option<Ingress> {
    if scenario.graph.is_host(to) {
        return None;
    }
    let (port, packet) = (scenario.switch_port(to, from), scenario.tcp.full_frame());
    let memory = match port.memory {
        Some(Occupancy::Bytes(memory)) => Some(memory.saturating_sub(reserved)),
        _ => None,
    };
    let limits = port.thresholds()?.map(|Thresholds { xoff, xon, alpha, .. }| {
        let xon = xon.unwrap_or_else(|| Bytes::new(xoff.get().saturating_sub(2 * packet.get())));
        Limits { xoff, xon, alpha: alpha.filter(|_| memory.is_some()) }
    });
    let (memory, held) = (memory.unwrap_or(Bytes::ZERO), [Bytes::ZERO; PRIORITIES]);
    Some(Ingress { node: to, limits, memory, held, paused: PrioritySet::NONE })
}
