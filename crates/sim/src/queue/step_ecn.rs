//! Step marking — DCTCP (Alizadeh et al., SIGCOMM 2010) §3.1: a packet that finds the present backlog above K
//! is marked. Step marking is RED with both thresholds at K and a weight of one.
//!
//! | symbol | field |
//! |---|---|
//! | K | `mark_above`, in packets or bytes |
//!
//! Choices:
//! - K is compared with the backlog that the arriving packet finds, including the packet in transmission and
//!   without the arriving packet. Many switches compare at departure instead: see [`Params::mark`].

use super::{DropReason, MarkAt, PortSetup, QueueDiscipline, QueueInfo, Room, Verdict};
use crate::packet::Frame;
use shortflow_spec::keys;
use shortflow_units::{Instant, Occupancy};

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "step-ecn",
    summary: "first in, first out; marks ECN-capable packets that find the backlog above K",
    source: "DCTCP, SIGCOMM 2010",
    by_priority: false,
    reads_k: true,
    trims: false,
};

keys! {
    /// Parameters of marks. The scenario sets buffer and threshold.
    #[derive(Copy)]
    pub struct Params {
        /// time of the decision: arrival: by the backlog that the packet finds; departure: by the backlog that it
        /// leaves behind
        pub mark: MarkAt = "arrival", MarkAt::WORDS, acts: ecn && has_threshold;
    }
}

/// Step marking with a finite buffer.
#[derive(Debug, Clone)]
pub struct StepEcn {
    mark_above: Occupancy,
}

impl StepEcn {
    /// The discipline of a port.
    pub fn new(_: Params, port: PortSetup) -> Self {
        StepEcn { mark_above: port.mark_above }
    }
}

impl QueueDiscipline for StepEcn {
    #[inline]
    fn arrive(&mut self, _: Instant, room: Room, packet: Frame) -> Verdict {
        if !room.fits(packet.size) {
            return Verdict::Dropped(DropReason::BufferFull);
        }
        if room.found.is_above(self.mark_above) && packet.is_ecn_capable() {
            return Verdict::Marked;
        }
        Verdict::Queued
    }

    fn threshold(&self) -> Option<Occupancy> {
        Some(self.mark_above)
    }
}
