//! [`Part`]: the nodes that one of several simulations of a network has.

use shortflow_units::{ConnId, HostId, Instant, NodeId};
use std::sync::Arc;

/// News of a part, for the others.
#[derive(Debug, Clone, Copy)]
pub(super) enum Notice {
    /// The sender of a connection has its stream acknowledged up to this byte, where a message ends.
    Acked { conn: ConnId, acked: u64, at: Instant },
    /// The receiver has the stream up to this byte, and so a message whose application waits.
    Arrived { conn: ConnId, flow_id: u32, received: u64, at: Instant },
}

/// A part of a network: hosts and switches, with the ports that send from them.
#[derive(Debug)]
pub(super) struct Part {
    pub number: u32,
    /// The part of each node.
    pub owner: Arc<[u32]>,
    /// Notices not yet sent to the other parts.
    pub news: Vec<Notice>,
}

impl Part {
    /// True if a node is in the part.
    pub fn owns(&self, node: NodeId) -> bool {
        self.owner[node.index()] == self.number
    }
}

/// True if a host is in `part`; without a part, always.
pub(super) fn owns(part: &Option<Part>, host: HostId) -> bool {
    part.as_ref().is_none_or(|part| part.owns(NodeId(host.0)))
}
