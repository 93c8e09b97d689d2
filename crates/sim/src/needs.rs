//! [`Needs`]: demands of the parts of a run on the way in which it is executed. Every part declares its own.

use shortflow_units::PortId;
use std::iter::Sum;

/// Demands of one part of a run, or of several together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// The reason for one core and one order of time over all nodes.
    pub global_order: Option<String>,
    /// Ports whose two ends must be on one core.
    pub whole_ports: Vec<PortId>,
    /// Packets of a connection may take several paths.
    pub packet_routing: bool,
    /// Packets of a connection may overtake one another.
    pub reordering: bool,
    /// Flows start, or hosts' ports pause, because of what happens elsewhere.
    pub answers: bool,
}

impl Needs {
    /// Demands of a part for which the order of all events of the network matters.
    pub fn global_order(reason: impl Into<String>) -> Needs {
        Needs { global_order: Some(reason.into()), ..Needs::default() }
    }

    /// True if hosts may take packets ahead of time: no flow starts because of what happens elsewhere.
    pub fn lets_hosts_go_ahead(&self) -> bool {
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
