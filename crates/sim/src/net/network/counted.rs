//! Counts of a network, in the measured time and in all.

use super::Network;
use crate::net::{Drops, NetworkCounts, Port};
use crate::queue::Backlog;
use shortflow_units::{Instant, NodeId, PortId};

impl Network {
    /// The measured time begins at `now`; the ports `kept` keep the distribution of the backlog.
    pub fn open_window(&mut self, now: Instant, kept: &[PortId]) {
        self.ports.iter_mut().for_each(|port| port.open_window(now));
        self.before = self.counted();
        kept.iter().for_each(|port| self.ports[port.index()].keep_levels(now));
    }

    /// The measured time ends at `now`.
    pub fn close_window(&mut self, now: Instant) {
        self.ports.iter_mut().for_each(|port| port.close_window(now));
        self.after = Some(self.counted());
    }

    /// Counters of the measured time, until now if it is not over.
    pub fn measured(&self) -> NetworkCounts {
        self.after.clone().unwrap_or_else(|| self.counted()).since(&self.before)
    }

    fn counted(&self) -> NetworkCounts {
        NetworkCounts { ports: self.ports.iter().map(Port::counts).collect(), nodes: self.drops.clone() }
    }

    /// The backlog of a port now.
    pub fn backlog(&mut self, port: PortId, now: Instant) -> Backlog {
        self.ports[port.index()].backlog(now)
    }

    /// Packets that hosts have sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Packets that hosts have received.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Packets dropped anywhere.
    pub fn dropped(&self) -> u64 {
        self.ports
            .iter()
            .map(|port| &port.counters().drops)
            .chain(self.drops.values())
            .map(Drops::total)
            .sum()
    }

    /// Drops at nodes without a route.
    pub fn drops_at_nodes(&self) -> impl Iterator<Item = (NodeId, &Drops)> {
        self.drops.iter().map(|(node, drops)| (*node, drops))
    }

    /// Packets queued or on a wire.
    pub fn in_flight(&self) -> u64 {
        self.ports.iter().map(|port| port.in_flight() as u64).sum()
    }

    /// Links crossed by packets.
    pub fn hops(&self) -> u64 {
        self.ports.iter().map(Port::arrived).sum()
    }
}
