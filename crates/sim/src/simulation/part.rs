//! [`Part`]: the nodes that one of several simulations of a network has.

use shortflow_units::{ConnId, HostId, Instant, NodeId};
use std::sync::Arc;

/// Fully acknowledged messages of a connection, for the other parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckNotice {
    pub conn: ConnId,
    /// First unacknowledged byte of the stream.
    pub acked: u64,
    pub at: Instant,
}

/// A part of a network: hosts and switches, with the ports that send from them.
#[derive(Debug)]
pub(super) struct Part {
    pub number: u32,
    /// The part of each node.
    pub owner: Arc<[u32]>,
    /// Notices not yet sent to the other parts.
    pub news: Vec<AckNotice>,
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
