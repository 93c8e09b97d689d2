//! [`PathChoice`]: interface of a way of routing to a network.

use shortflow_units::{HostId, Instant, NodeId};

/// A place where a packet may go on over several equally short paths.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hop {
    /// The switch.
    pub node: NodeId,
    /// The packet's destination.
    pub to: HostId,
    /// Number of its connection.
    pub flow_id: u32,
    /// Number of paths, two or more.
    pub paths: usize,
    /// The packet's sequence number; 0 if a whole connection is asked for.
    pub seq: u64,
    /// The label that its host has given it, which counts its packets modulo 256.
    pub label: u8,
}

/// Chooses among equally short paths.
pub trait PathChoice {
    /// The path of a packet that reaches `hop` now, counted from 0 in the order of the links of the topology.
    fn choose(&mut self, now: Instant, hop: Hop) -> usize;

    /// The path that all packets of the flow take there, if that is known before they come.
    fn of_flow(&self, hop: Hop) -> Option<usize>;

    /// The path of a packet there, if nothing but the packet decides.
    fn of_packet(&self, hop: Hop) -> Option<usize> {
        self.of_flow(hop)
    }

    /// A path that all packets of a flow may take there while they follow each other without gaps; `None` if each chooses anew.
    fn of_stream(&self, hop: Hop) -> Option<usize> {
        self.of_flow(hop)
    }
}

/// A way of routing in lists and documentation.
#[derive(Debug, Clone, Copy)]
pub struct RoutingInfo {
    /// Name that users type.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Paper or RFC; may be empty.
    pub source: &'static str,
    /// Packets of a connection may take different paths, and so overtake one another.
    pub reorders: bool,
    /// More than the packet decides on its path, such as a random number or the time.
    pub draws: bool,
}
