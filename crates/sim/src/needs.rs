//! [`Needs`]: constraints that parts of a run put on its execution. Each part declares its own constraints.

use shortflow_units::PortId;
use std::iter::Sum;

/// Constraints of one or several parts of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// If all events need one global order on one core: the reason.
    pub global_order: Option<String>,
    /// Ports whose two ends must be on the same core.
    pub whole_ports: Vec<PortId>,
    /// True if packets of a connection may take several paths.
    pub packet_routing: bool,
    /// True if packets of a connection may overtake each other.
    pub reordering: bool,
    /// True if flows start, or hosts' ports pause, in response to events at other nodes.
    pub answers: bool,
}

impl Needs {
    /// Constraints of a part for which the order of all events of the network matters.
    pub(crate) fn global_order(reason: impl Into<String>) -> Needs {
        Needs { global_order: Some(reason.into()), ..Needs::default() }
    }

    /// True if hosts may take packets early: no flow starts, and no host's port pauses, in response to events
    /// at other nodes.
    pub(crate) fn lets_hosts_go_ahead(&self) -> bool {
        self.global_order.is_none() && !self.answers
    }
}

impl Sum for Needs {
    fn sum<I: Iterator<Item = Needs>>(parts: I) -> Needs {
        parts.fold(Needs::default(), |all, part| Needs {
            global_order: all.global_order.or(part.global_order),
            whole_ports: [all.whole_ports, part.whole_ports].concat(),
            packet_routing: all.packet_routing || part.packet_routing,
            reordering: all.reordering || part.reordering,
            answers: all.answers || part.answers,
        })
    }
}
