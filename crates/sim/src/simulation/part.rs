//! [`Part`]: the nodes that one core simulates.

use shortflow_units::{ConnId, HostId, Instant, NodeId};
use std::sync::Arc;

/// A report from one part to all others.
#[derive(Debug, Clone, Copy)]
pub(super) enum Notice {
    /// The sender's stream is acknowledged up to byte `acked`, the end of a message.
    Acked { conn: ConnId, acked: u64, at: Instant },
    /// The receiver has the stream up to byte `received`, so an application can answer a message.
    Arrived { conn: ConnId, flow_id: u32, received: u64, at: Instant },
}

/// A part of a network: hosts and switches, with their output ports.
#[derive(Debug)]
pub(super) struct Part {
    pub number: u32,
    /// The part of each node.
    pub owner: Arc<[u32]>,
    /// Notices not yet sent to the other parts.
    pub notices: Vec<Notice>,
}

impl Part {
    /// True if this part simulates `node`.
    pub(super) fn owns(&self, node: NodeId) -> bool {
        self.owner[node.index()] == self.number
    }
}

/// True if `part` simulates `host`, or if the network is not split.
pub(super) fn owns(part: &Option<Part>, host: HostId) -> bool {
    part.as_ref().is_none_or(|part| part.owns(NodeId(host.0)))
}
