//! Faults that a scenario injects at a port: random loss and marking of data packets, and exact
//! ones ("drop the fifth data packet"), so that tests enter by the real door.

use super::{Kind, Packet};
use crate::engine::Stream;
use crate::queue::{DropReason, Verdict};
use crate::scenario::Faults;

/// Decides on each data packet that arrives at one port.
#[derive(Debug, Clone)]
pub struct FaultInjector {
    faults: Faults,
    seen: u64,
    stream: Stream,
}

impl FaultInjector {
    /// The injector of a port, or `None` where the scenario asks for nothing. The lists of ordinals
    /// apply only where `exact` is set.
    pub fn new(faults: &Faults, exact: bool, stream: Stream) -> Option<Box<FaultInjector>> {
        let mut faults = faults.clone();
        if !exact {
            faults.drop_data.clear();
            faults.mark_data.clear();
        }
        let idle = faults.loss == 0.0
            && faults.mark == 0.0
            && faults.drop_data.is_empty()
            && faults.mark_data.is_empty();
        (!idle).then(|| Box::new(FaultInjector { faults, seen: 0, stream }))
    }

    /// Judges an arriving packet; `Queued` leaves the decision to the queue discipline.
    pub fn arrive(&mut self, packet: &mut Packet) -> Verdict {
        if packet.kind != Kind::Data {
            return Verdict::Queued;
        }
        self.seen += 1;
        let (loss, mark) = (self.stream.unit(), self.stream.unit());
        if loss < self.faults.loss || self.faults.drop_data.contains(&self.seen) {
            return Verdict::Dropped(DropReason::Fault);
        }
        if (mark < self.faults.mark || self.faults.mark_data.contains(&self.seen)) && packet.mark() {
            return Verdict::Marked;
        }
        Verdict::Queued
    }
}
