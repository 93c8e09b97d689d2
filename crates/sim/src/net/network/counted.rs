//! Counters of a network, for the measured time and for the whole run.

use super::Network;
use crate::net::{Drops, NetworkCounts};
use crate::queue::Backlog;
use shortflow_units::{Instant, NodeId, PortId};

impl Network {
    /// Begins the measured time at `now`. The ports `kept` record the distribution of their backlog.
    pub fn open_window(&mut self, now: Instant, kept: &[PortId]) {
        self.ports.iter_mut().for_each(|port| port.open_window(now));
        self.before = self.counted();
        kept.iter().for_each(|port| self.ports[port.index()].keep_levels(now));
    }

    /// Ends the measured time at `now`.
    pub fn close_window(&mut self, now: Instant) {
        self.ports.iter_mut().for_each(|port| port.close_window(now));
        self.after = Some(self.counted());
    }

    /// Counters of the measured time; until now if the measured time continues.
    pub fn measured(&self) -> NetworkCounts {
        self.after.clone().unwrap_or_else(|| self.counted()).since(&self.before)
    }

    fn counted(&self) -> NetworkCounts {
        NetworkCounts {
            ports: self.ports.iter().map(|port| port.egress.counts()).collect(),
            nodes: self.drops.clone(),
        }
    }

    /// The present backlog of a port.
    pub fn backlog(&mut self, port: PortId, now: Instant) -> Backlog {
        self.ports[port.index()].backlog(now)
    }

    /// Number of packets that hosts have sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Number of packets that hosts have received.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Number of packets dropped at ports and nodes.
    pub fn dropped(&self) -> u64 {
        self.ports
            .iter()
            .map(|port| &port.counters().drops)
            .chain(self.drops.values())
            .map(Drops::total)
            .sum()
    }

    /// Drops at nodes without a route to the destination.
    pub fn drops_at_nodes(&self) -> impl Iterator<Item = (NodeId, &Drops)> {
        self.drops.iter().map(|(node, drops)| (*node, drops))
    }

    /// Number of packets queued or on a wire.
    pub fn in_flight(&self) -> u64 {
        self.ports.iter().map(|port| port.in_flight() as u64).sum()
    }

    /// Number of packet-hops.
    pub fn hops(&self) -> u64 {
        self.ports.iter().map(|port| port.egress.arrived()).sum()
    }
}
