//! [`PathChoice`]: interface between the network and a routing method.

use shortflow_units::{HostId, Instant, NodeId};

/// A switch at which a packet can continue over several shortest paths.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hop {
    /// The switch.
    pub node: NodeId,
    /// The packet's destination.
    pub to: HostId,
    /// Flow id of the packet's connection.
    pub flow_id: u32,
    /// Number of paths, two or more.
    pub paths: usize,
    /// The packet's sequence number; 0 in a question about a whole connection.
    pub seq: u64,
    /// Label that the sending host gives the packet: a packet count modulo 256.
    pub label: u8,
}

/// Chooses among shortest paths.
pub(crate) trait PathChoice {
    /// Path of a packet that reaches `hop` now. Paths count from 0 in the order of the topology's links.
    fn choose(&mut self, now: Instant, hop: Hop) -> usize;

    /// Path of all packets of the flow at `hop`, if it is known in advance.
    fn of_flow(&self, hop: Hop) -> Option<usize>;

    /// Path of a packet at `hop`, if it depends only on the packet.
    fn of_packet(&self, hop: Hop) -> Option<usize> {
        self.of_flow(hop)
    }

    /// A path that all packets of a flow may take at `hop` while they follow each other without gaps. `None`
    /// if each packet chooses independently.
    fn of_stream(&self, hop: Hop) -> Option<usize> {
        self.of_flow(hop)
    }
}

/// Description of a routing method for lists and documentation.
#[derive(Debug, Clone, Copy)]
pub struct RoutingInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Paper or RFC; may be empty.
    pub source: &'static str,
    /// True if packets of a connection may take different paths and overtake each other.
    pub reorders: bool,
    /// True if the path depends on more than the packet, such as a random number or the time.
    pub draws: bool,
}
