//! [`FirstCome`]: a discipline in arrival order at a port that decides each departure only at its time. Such a port
//! reports or judges the queue that a packet leaves behind, or may be paused.

use super::discipline::{QueueDiscipline, QueuedPacket, Scheduler, SchedulerEffects, Verdict};
use super::fifo::Fifo;
use super::{Backlog, DropReason, MarkAt, Room};
use crate::packet::Frame;
use shortflow_units::{Instant, Occupancy};

/// A discipline, and the packets that the discipline has accepted.
#[derive(Debug, Clone)]
pub struct FirstCome<D> {
    discipline: D,
    mark: MarkAt,
    waiting: Fifo,
}

impl<D: QueueDiscipline> FirstCome<D> {
    /// An empty queue whose discipline judges packets at the time `mark`. A packet that does not fit is dropped on
    /// arrival in both cases.
    pub fn new(discipline: D, mark: MarkAt) -> FirstCome<D> {
        FirstCome { discipline, mark, waiting: Fifo::default() }
    }

    /// Judges a packet by the backlog in `room`. Returns `None` if the packet is dropped.
    fn judge(
        &mut self,
        now: Instant,
        room: Room,
        mut packet: QueuedPacket,
        effects: &mut SchedulerEffects,
    ) -> Option<QueuedPacket> {
        let frame = Frame { size: packet.wire_size(), ecn: packet.ecn };
        match self.discipline.arrive(now, room, frame) {
            Verdict::Dropped(reason) => {
                effects.drop(reason, packet);
                return None;
            }
            Verdict::Marked => {
                effects.mark(&mut packet);
            }
            Verdict::Queued => {}
        }
        Some(packet)
    }
}

impl<D: QueueDiscipline> Scheduler for FirstCome<D> {
    fn enqueue(&mut self, room: Room, waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        let accepted = match self.mark {
            MarkAt::Arrival => self.judge(waiting.arrived, room, waiting, effects),
            MarkAt::Departure if room.fits(waiting.wire_size()) => Some(waiting),
            MarkAt::Departure => {
                effects.drop(DropReason::BufferFull, waiting);
                None
            }
        };
        accepted.into_iter().for_each(|waiting| self.waiting.push(waiting));
    }

    fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket> {
        while let Some(next) = self.waiting.pop() {
            let behind = Room { found: self.waiting.backlog(), limit: Occupancy::Unlimited };
            let judged = match self.mark {
                MarkAt::Arrival => Some(next),
                MarkAt::Departure => self.judge(now, behind, next, effects),
            };
            if judged.is_some() {
                return judged;
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{drain, marked, offer, packet, port};
    use super::super::{Queue, QueueConfig, Scheduled, step_ecn};
    use super::*;

    /// `seq` of the marked packets among six that arrive together and leave together, with K = 3.
    fn marks(mark: MarkAt) -> Vec<u64> {
        let queue = QueueConfig::StepEcn(step_ecn::Params { mark }).build(port("3pkt"));
        let Queue::Scheduled(queue) = queue.decided_at_departure() else { panic!("decided on arrival") };
        let Scheduled::FirstCome(mut queue) = *queue else { panic!("{queue:?}") };
        for seq in 0..6 {
            offer(&mut queue, packet(0, seq, 0));
        }
        marked(&drain(&mut queue))
    }

    /// On arrival, the last two packets find more than three. At departure, the first two leave more than three
    /// behind.
    #[test]
    fn the_last_are_marked_on_arrival_and_the_first_at_departure() {
        assert_eq!(marks(MarkAt::Arrival), [4, 5]);
        assert_eq!(marks(MarkAt::Departure), [0, 1]);
    }
}
