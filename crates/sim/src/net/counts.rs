//! [`PortCounts`] and [`NetworkCounts`]: counters of ports and nodes. Counts of the measured time are the
//! difference of two snapshots, at its start and at its end. Packets therefore need no counting of their own
//! in the measured time.

use super::Drops;
use shortflow_units::{Bytes, NodeId};
use std::collections::BTreeMap;

/// Counters of a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Packets whose last bit has departed.
    pub departed: u64,
    /// Bytes of these packets on the wire.
    pub departed_bytes: Bytes,
    /// Packets dropped, on arrival or later.
    pub drops: Drops,
    /// Packets marked.
    pub marked: u64,
    /// Packets trimmed.
    pub trimmed: u64,
    /// Headers returned to the senders of their data.
    pub returned: u64,
}

impl PortCounts {
    /// Counts since `before`.
    fn since(self, before: PortCounts) -> PortCounts {
        PortCounts {
            departed: self.departed - before.departed,
            departed_bytes: self.departed_bytes - before.departed_bytes,
            drops: self.drops.since(before.drops),
            marked: self.marked - before.marked,
            trimmed: self.trimmed - before.trimmed,
            returned: self.returned - before.returned,
        }
    }
}

/// Counters of a network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkCounts {
    /// Counters of each port.
    pub ports: Vec<PortCounts>,
    /// Drops at nodes without a route, by node.
    pub nodes: BTreeMap<NodeId, Drops>,
}

impl NetworkCounts {
    /// Takes the counts of port `index` from `other`, if `other` has counts of this port.
    pub(super) fn take_port(&mut self, index: usize, other: &NetworkCounts) {
        self.ports
            .iter_mut()
            .skip(index)
            .zip(other.ports.get(index))
            .for_each(|(mine, theirs)| *mine = *theirs);
    }

    /// Counts since `before`. An empty `before` means that all counts were zero.
    pub fn since(self, before: &NetworkCounts) -> NetworkCounts {
        let ports = self.ports.into_iter().enumerate();
        let ports = ports.map(|(i, now)| now.since(before.ports.get(i).copied().unwrap_or_default()));
        let of_node = |node: &NodeId| before.nodes.get(node).copied().unwrap_or_default();
        let nodes = self.nodes.iter().map(|(node, now)| (*node, now.since(of_node(node))));
        NetworkCounts { ports: ports.collect(), nodes: nodes.collect() }
    }
}
