//! TCN — Bai, Chen, Chen, Kim, "Enabling ECN over Generic Packet Scheduling", CoNEXT 2016. A packet that has
//! waited longer than a threshold is marked when it leaves. The threshold is a time, and does not depend on
//! the rate of the queue.
//!
//! | symbol | field |
//! |---|---|
//! | T = RTT · λ (§4) | [`Params::threshold`]; auto: the time in which the port sends K |
//!
//! This file is TCN with one queue. [`pias`](super::pias) and [`fair`](super::fair) are ports with several
//! queues, which mark by the same rule if `ecn = sojourn`.
//!
//! Choice: for a K in packets, each packet counts as 1500 bytes.

use super::fifo::Fifo;
use super::marking::time_to_send;
use super::{Backlog, DropReason, PortSetup, QueueInfo, QueuedPacket, Room, Scheduler, SchedulerEffects};
use crate::config::{KeywordOr, POSITIVE_TIME, keys};
use shortflow_units::{Instant, Span};

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "tcn",
    summary: "first in, first out; marks leaving packets whose sojourn time is above a threshold",
    source: "TCN, CoNEXT 2016",
    by_priority: false,
    reads_k: true,
    trims: false,
};

keys! {
    /// Parameter of marks. The scenario sets the buffer.
    #[derive(Copy)]
    pub struct Params {
        /// longest sojourn time without a mark; auto: the time in which the port sends mark_above
        pub threshold: Option<Span> = "auto", KeywordOr("auto", POSITIVE_TIME), acts: ecn;
    }
}

/// A queue that marks its first packet if this packet has waited too long.
#[derive(Debug, Clone)]
pub struct Tcn {
    threshold: Span,
    queue: Fifo,
}

impl Tcn {
    /// The discipline of a port.
    pub fn new(params: Params, port: PortSetup) -> Self {
        let of_port = || time_to_send(port.mark_above, port.rate);
        let threshold = params.threshold.unwrap_or_else(of_port);
        Tcn { threshold, queue: Fifo::default() }
    }
}

impl Scheduler for Tcn {
    fn enqueue(&mut self, room: Room, waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        match room.fits(waiting.wire_size()) {
            true => self.queue.push(waiting),
            false => effects.drop(DropReason::BufferFull, waiting),
        }
    }

    fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket> {
        let mut first = self.queue.pop()?;
        if now.since(first.arrived) > self.threshold {
            effects.mark(&mut first);
        }
        Some(first)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn passes_idle(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, leave, offer, packet, port};
    use super::*;
    use crate::packet::EcnField;

    fn marks(params: Params, at_us: &[u64]) -> Vec<u32> {
        let mut queue = Tcn::new(params, port("20pkt"));
        at_us.iter().for_each(|_| assert_eq!(offer(&mut queue, packet(0, 0, 0)).marks, 0));
        at_us.iter().map(|us| leave(&mut queue, Span::from_micros(*us)).1.marks).collect()
    }

    /// K = 20 packets, which take 240 us at 1 Gbit/s.
    #[test]
    fn what_waited_longer_than_the_threshold_is_marked() {
        assert_eq!(marks(Params { threshold: None }, &[0, 240, 241, 300]), [0, 0, 1, 1]);
        assert_eq!(marks(Params { threshold: Some(Span::from_micros(50)) }, &[49, 50, 51]), [0, 0, 1]);
    }

    #[test]
    fn what_cannot_be_marked_passes() {
        let mut queue = Tcn::new(Params::default(), port("0pkt"));
        offer(&mut queue, ack(0));
        let (packet, effects) = leave(&mut queue, Span::from_millis(1));
        assert_eq!((packet.unwrap().ecn, effects.marks, effects.fates.len()), (EcnField::NotEct, 0, 0));
    }
}
