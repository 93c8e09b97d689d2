//! Drop-tail: accept while there is room.

use super::{Backlog, DropReason, PortSetup, QueueDiscipline, QueueInfo, Verdict};
use crate::packet::Frame;
use shortflow_spec::keys;
use shortflow_units::{Instant, Occupancy};

/// Registry entry.
pub const INFO: QueueInfo = QueueInfo {
    name: "droptail",
    summary: "first in, first out; drops packets that do not fit into the buffer",
    source: "",
    by_priority: false,
};

keys! {
    /// The buffer is the scenario's.
    #[derive(Copy)]
    pub struct Params {}
}

/// Drop-tail with a finite buffer.
#[derive(Debug, Clone)]
pub struct DropTail {
    buffer: Occupancy,
}

impl DropTail {
    /// The discipline of a port.
    pub fn new(_: Params, port: PortSetup) -> Self {
        DropTail { buffer: port.buffer }
    }
}

impl QueueDiscipline for DropTail {
    #[inline]
    fn arrive(&mut self, _: Instant, found: Backlog, packet: Frame) -> Verdict {
        if found.has_room(packet.size, self.buffer) {
            Verdict::Queued
        } else {
            Verdict::Dropped(DropReason::BufferFull)
        }
    }

    fn set_limit(&mut self, limit: Occupancy) {
        self.buffer = limit;
    }

    fn limits(&self) -> Option<(Occupancy, Occupancy)> {
        Some((self.buffer, Occupancy::Unlimited))
    }
}
