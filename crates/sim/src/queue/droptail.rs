//! Drop-tail: packets are accepted while there is room.

use super::{DropReason, PortSetup, QueueDiscipline, QueueInfo, Room, Verdict};
use crate::packet::Frame;
use shortflow_spec::keys;
use shortflow_units::{Instant, Occupancy};

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "droptail",
    summary: "first in, first out; drops packets that do not fit into the buffer",
    source: "",
    by_priority: false,
    reads_k: false,
    trims: false,
};

keys! {
    /// The discipline has no parameters. The scenario sets the buffer.
    #[derive(Copy)]
    pub struct Params {}
}

/// Drop-tail with a finite buffer.
#[derive(Debug, Clone)]
pub struct DropTail;

impl DropTail {
    /// The discipline of a port.
    pub fn new(_: Params, _: PortSetup) -> Self {
        DropTail
    }
}

impl QueueDiscipline for DropTail {
    #[inline]
    fn arrive(&mut self, _: Instant, room: Room, packet: Frame) -> Verdict {
        if room.fits(packet.size) { Verdict::Queued } else { Verdict::Dropped(DropReason::BufferFull) }
    }

    fn threshold(&self) -> Option<Occupancy> {
        Some(Occupancy::Unlimited)
    }
}
