//! Drop-tail: accept while there is room.

use super::{Backlog, DropReason, QueueDiscipline, QueueInfo, Verdict};
use crate::net::Packet;
use crate::scenario::SwitchSpec;
use shortflow_units::{Instant, Occupancy};

/// Registry entry.
pub const INFO: QueueInfo = QueueInfo {
    name: "droptail",
    summary: "first in, first out; drops what does not fit into the buffer",
    source: "",
};

/// Drop-tail with a finite buffer.
#[derive(Debug, Clone)]
pub struct DropTail {
    buffer: Occupancy,
}

impl DropTail {
    /// The discipline of a port of `switch`.
    pub fn new(switch: &SwitchSpec) -> Self {
        DropTail::with_buffer(switch.buffer)
    }

    /// A queue of at most `buffer`.
    pub fn with_buffer(buffer: Occupancy) -> Self {
        DropTail { buffer }
    }
}

impl QueueDiscipline for DropTail {
    #[inline]
    fn arrive(&mut self, _: Instant, found: Backlog, packet: &mut Packet) -> Verdict {
        if found.has_room(packet.wire_size(), self.buffer) {
            Verdict::Queued
        } else {
            Verdict::Dropped(DropReason::BufferFull)
        }
    }
}
