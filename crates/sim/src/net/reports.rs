//! [`Reports`] of ports to their network.

use crate::packet::{Left, PacketId};

/// Reports of ports that handle a packet.
#[derive(Debug, Clone, Default)]
pub(super) struct Reports {
    /// Packets that waited in the scheduler of a host's port, if hosts need these reports.
    pub left: Option<Vec<Left>>,
    /// Headers that a switch is about to send back.
    pub returned: Vec<PacketId>,
}
