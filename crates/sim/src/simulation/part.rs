//! [`Part`]: which nodes of a network a world simulates, where several simulate one network together.

use shortflow_units::{ConnId, HostId, Instant, NodeId};
use std::sync::Arc;

/// Messages of a connection have been acknowledged whole: news for the other parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckNotice {
    pub conn: ConnId,
    /// First byte of the stream that is not acknowledged.
    pub acked: u64,
    pub at: Instant,
}

/// A part of a network: hosts and switches, with the ports that send from them.
#[derive(Debug)]
pub(super) struct Part {
    pub number: u32,
    /// The part of each node.
    pub owner: Arc<[u32]>,
    /// Changes that the other parts do not know yet.
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
