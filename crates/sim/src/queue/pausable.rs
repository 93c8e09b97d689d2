//! [`Pausable`]: a discipline whose packets wait while the other end of the link has paused them, beside packets that are never
//! paused — IEEE 802.1Qbb.
//!
//! | class | packets | order |
//! |---|---|---|
//! | control | acknowledgements, notifications, grants and handshakes | first, in order of arrival; never paused |
//! | data | packets with payload | that of the discipline, unless paused |
//!
//! Choice: the standard has eight classes, and switches of RoCE networks use two of them, one without losses for data and one with
//! strict priority for the rest. These are the two here.

use super::discipline::{DropReason, QueuedPacket, Scheduler, SchedulerEffects, TrafficClass};
use super::fifo::Fifo;
use super::{Backlog, Room};
use shortflow_units::Instant;

/// The two classes of a port.
#[derive(Debug, Clone)]
pub struct Pausable<S> {
    control: Fifo,
    data: Box<S>,
    is_paused: bool,
}

impl<S> Pausable<S> {
    /// Both classes empty, and data not paused.
    pub fn new(data: Box<S>) -> Pausable<S> {
        Pausable { control: Fifo::default(), data, is_paused: false }
    }

    /// Pauses data, or lets it go on.
    pub fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }
}

impl<S: Scheduler> Scheduler for Pausable<S> {
    fn enqueue(&mut self, room: Room, waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        match waiting.class {
            TrafficClass::Data => self.data.enqueue(room, waiting, effects),
            TrafficClass::Control if room.fits(waiting.wire_size()) => self.control.push(waiting),
            TrafficClass::Control => effects.drop(DropReason::BufferFull, waiting),
        }
    }

    fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket> {
        match self.control.pop() {
            None if self.is_paused => None,
            None => self.data.dequeue(now, effects),
            control => control,
        }
    }

    fn backlog(&self) -> Backlog {
        self.control.backlog() + self.data.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, drain, offer, packet, port, seqs};
    use super::super::{Queue, QueueConfig, Scheduled, droptail};
    use super::*;

    fn pausable() -> Pausable<Scheduled> {
        let queue = QueueConfig::DropTail(droptail::Params {}).build(port("unlimited"));
        match queue.pausable() {
            Queue::Scheduled(queue) => match *queue {
                Scheduled::Pausable(queue) => queue,
                other => panic!("{other:?}"),
            },
            Queue::InOrder(queue) => panic!("{queue:?}"),
        }
    }

    /// Data of sequence 0 and 1000, then an acknowledgement, which goes first. While data is paused, nothing more leaves; then
    /// data leaves in order.
    #[test]
    fn control_goes_first_and_data_waits_while_paused() {
        let mut queue = pausable();
        offer(&mut queue, packet(0, 0, 0));
        offer(&mut queue, packet(0, 1000, 0));
        offer(&mut queue, ack(0));
        queue.pause(true);
        assert_eq!(drain(&mut queue).len(), 1);
        assert_eq!(queue.backlog().packets, 2);
        queue.pause(false);
        assert_eq!(seqs(&drain(&mut queue)), [0, 1000]);
    }
}
