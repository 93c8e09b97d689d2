//! [`Pausable`]: two classes of packets in a port, of which the other end of the link can pause one — IEEE 802.1Qbb.
//!
//! | class | packets | order |
//! |---|---|---|
//! | control | acknowledgements, notifications, grants and handshakes | before data, in order of arrival; never paused |
//! | data | packets with payload | by the discipline; none while paused |
//!
//! Choice: the standard has eight classes. Switches of RoCE networks use two of them: a lossless class for data, and
//! a class with strict priority for everything else. These are the two classes here.

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
    /// An empty port whose data is not paused; `data` is the discipline of the data class.
    pub fn new(data: Box<S>) -> Pausable<S> {
        Pausable { control: Fifo::default(), data, is_paused: false }
    }

    /// Pauses or resumes data.
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
            None if self.is_paused => self.data.dequeue_control(),
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

    /// Data with sequence numbers 0 and 1000, then an acknowledgement, which goes first. While data is paused,
    /// nothing else leaves. After the pause, data leaves in order.
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
