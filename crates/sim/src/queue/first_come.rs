//! [`FirstCome`]: a discipline in arrival order at a port that decides each departure when it comes, because it reports the queue
//! that a packet leaves behind. Verdicts and order are those of the discipline.

use super::discipline::{QueueDiscipline, QueuedPacket, Scheduler, SchedulerEffects, Verdict};
use super::fifo::Fifo;
use super::{Backlog, Room};
use crate::packet::Frame;
use shortflow_units::Instant;

/// A discipline, and the packets that it has accepted.
#[derive(Debug, Clone)]
pub struct FirstCome<D> {
    discipline: D,
    waiting: Fifo,
}

impl<D> FirstCome<D> {
    /// An empty queue.
    pub fn new(discipline: D) -> FirstCome<D> {
        FirstCome { discipline, waiting: Fifo::default() }
    }
}

impl<D: QueueDiscipline> Scheduler for FirstCome<D> {
    fn enqueue(&mut self, room: Room, mut waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        let frame = Frame { size: waiting.wire_size(), ecn: waiting.ecn };
        match self.discipline.arrive(waiting.arrived, room, frame) {
            Verdict::Dropped(reason) => return effects.drop(reason, waiting),
            Verdict::Marked => {
                effects.mark(&mut waiting);
            }
            Verdict::Queued => {}
        }
        self.waiting.push(waiting);
    }

    fn dequeue(&mut self, _: Instant, _: &mut SchedulerEffects) -> Option<QueuedPacket> {
        self.waiting.pop()
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}
