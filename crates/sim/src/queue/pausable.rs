//! [`Pausable`]: classes of packets in a port, of which the other end of the link can pause those with data —
//! IEEE 802.1Qbb.
//!
//! | class | packets | order |
//! |---|---|---|
//! | control | acknowledgements, notifications, grants and handshakes | before data, in order of arrival; never paused |
//! | a priority of data | packets with payload | by the discipline; while paused, only trimmed packets, before other data |
//!
//! Choices:
//! - Priorities share the link by surplus round robin (Adiseshu, Parulkar and Varghese, SIGCOMM 1996): a
//!   priority sends while it has credit, may overdraw by a packet, and gets credit in proportion to its
//!   weight when its turn begins.
//! - Each priority has its own instance of the discipline, which sees the backlog of its priority, of control
//!   and of the packet in transmission.
//! - Disciplines that draw are copies, so the priorities of a port draw the same numbers.

use super::discipline::{DropReason, QueuedPacket, Scheduler, SchedulerEffects};
use super::fifo::Fifo;
use super::{Backlog, Room};
use crate::priorities::{PRIORITIES, PrioritySet, Weights};
use shortflow_units::{Bytes, Instant, Occupancy};

/// Credit of the smallest weight for a turn, in bytes.
const QUANTUM: u32 = 1500;

/// Priorities of data at a port.
#[derive(Debug, Clone, Copy)]
pub struct DataPriorities {
    /// Priorities of data in the network.
    pub used: PrioritySet,
    /// Weights of the priorities.
    pub weights: Weights,
    /// Priorities in `used` that are never paused, and limited instead.
    pub lossy: PrioritySet,
    /// Limit of lossy data.
    pub limit: LossyLimit,
}

impl DataPriorities {
    /// Priorities with equal weights.
    pub fn equal(used: PrioritySet) -> DataPriorities {
        let limit = LossyLimit { reserved: Bytes::ZERO, alpha: None };
        DataPriorities { used, weights: [1; PRIORITIES], lossy: PrioritySet::NONE, limit }
    }
}

/// Memory that lossy data of a port may take.
#[derive(Debug, Clone, Copy)]
pub struct LossyLimit {
    /// Memory that lossless data may need.
    pub reserved: Bytes,
    /// For a shared memory: limit divided by the free memory, without `reserved`.
    pub alpha: Option<f64>,
}

/// Packets of one priority.
#[derive(Debug, Clone)]
struct Class<S> {
    priority: u8,
    data: S,
    /// Bytes that the priority may send before its turn ends.
    credit: i64,
    /// Credit for a turn.
    quantum: i64,
}

/// The priorities of a port.
#[derive(Debug, Clone)]
struct Classes<S> {
    /// In ascending order of priority.
    classes: Vec<Class<S>>,
    /// Index of the class whose turn it is.
    turn: usize,
    priorities: DataPriorities,
    paused: PrioritySet,
}

impl<S: Scheduler> Classes<S> {
    fn is_ready(&self, class: &Class<S>) -> bool {
        !self.paused.has(class.priority) && class.data.backlog().packets > 0
    }

    /// Backlog of the classes that `wanted` selects.
    fn backlog(&self, wanted: impl Fn(&Class<S>) -> bool) -> Backlog {
        let chosen = self.classes.iter().filter(|class| wanted(class));
        chosen.fold(Backlog::default(), |sum, class| sum + class.data.backlog())
    }

    /// True if a lossy packet of `size` bytes fits into the port, which holds `control` too.
    fn fits_lossy(&self, room: Room, control: Backlog, size: Bytes) -> bool {
        let Occupancy::Bytes(limit) = room.limit else { return true };
        let LossyLimit { reserved, alpha } = self.priorities.limit;
        let lossless = self.backlog(|class| !self.priorities.lossy.has(class.priority));
        let after = room.found.bytes - lossless.bytes - control.bytes + size;
        let Some(alpha) = alpha else { return after + reserved <= limit };
        let free = limit.saturating_sub(room.found.bytes).saturating_sub(reserved);
        size <= free && after.as_f64() <= alpha * free.as_f64()
    }

    /// Index of the class that sends next; `None` if all waiting packets are paused.
    fn next(&mut self) -> Option<usize> {
        let is_ready = |class: &&Class<S>| self.is_ready(class);
        let ready: PrioritySet = self.classes.iter().filter(is_ready).map(|class| class.priority).collect();
        if ready.len() <= 1 {
            self.turn = self.classes.iter().position(|class| ready.has(class.priority))?;
            let class = &mut self.classes[self.turn];
            class.credit = class.quantum; // a class that is alone owes nothing
            return Some(self.turn);
        }
        loop {
            let class = &mut self.classes[self.turn];
            match ready.has(class.priority) {
                true if class.credit > 0 => return Some(self.turn),
                true => {}
                false => class.credit = class.credit.min(0),
            }
            self.turn = (self.turn + 1) % self.classes.len();
            let class = &mut self.classes[self.turn];
            class.credit += if ready.has(class.priority) { class.quantum } else { 0 };
        }
    }
}

/// The classes of a port.
#[derive(Debug, Clone)]
pub struct Pausable<S> {
    control: Fifo,
    data: Classes<S>,
}

impl<S> Pausable<S> {
    /// An empty port that is not paused; `data` is the discipline of each priority.
    pub fn new(data: &S, priorities: DataPriorities) -> Pausable<S>
    where
        S: Clone,
    {
        let DataPriorities { used, weights, .. } = priorities;
        let weight = |priority: u8| weights[usize::from(priority)];
        let least = used.iter().map(weight).min().unwrap_or(1);
        let class = |priority| {
            let quantum = i64::from(QUANTUM * weight(priority) / least);
            Class { priority, data: data.clone(), credit: 0, quantum }
        };
        let classes = used.iter().map(class).collect();
        let data = Classes { classes, turn: 0, priorities, paused: PrioritySet::NONE };
        Pausable { control: Fifo::default(), data }
    }

    /// Sets the priorities that are paused.
    pub fn pause(&mut self, paused: PrioritySet) {
        self.data.paused = paused;
    }

    /// Backlog of a priority.
    pub(crate) fn waiting_of(&self, priority: u8) -> Backlog
    where
        S: Scheduler,
    {
        self.data.backlog(|class| class.priority == priority)
    }

    /// True if control or data may leave. Trimmed packets wait for no pause to end.
    pub(crate) fn may_send(&self) -> bool
    where
        S: Scheduler,
    {
        !self.control.is_empty() || self.data.classes.iter().any(|class| self.data.is_ready(class))
    }
}

impl<S: Scheduler> Scheduler for Pausable<S> {
    fn enqueue(&mut self, room: Room, waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        let size = waiting.wire_size();
        let Some(priority) = waiting.class.priority() else {
            return match room.fits(size) {
                true => self.control.push(waiting),
                false => effects.drop(DropReason::BufferFull, waiting),
            };
        };
        let priorities = &self.data.priorities;
        if priorities.lossy.has(priority) && !self.data.fits_lossy(room, self.control.backlog(), size) {
            return effects.drop(DropReason::BufferFull, waiting);
        }
        let others = self.data.backlog(|class| class.priority != priority);
        let place = priorities.used.rank(priority);
        self.data.classes[place].data.enqueue(room.without(others), waiting, effects);
    }

    fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket> {
        if let Some(control) = self.control.pop() {
            return Some(control);
        }
        let paused = self.data.paused;
        let mut classes = self.data.classes.iter_mut().filter(|class| paused.has(class.priority));
        if let Some(trimmed) = classes.find_map(|class| class.data.dequeue_control()) {
            return Some(trimmed);
        }
        // The discipline of a class may drop all its packets.
        while let Some(place) = self.data.next() {
            let class = &mut self.data.classes[place];
            if let Some(next) = class.data.dequeue(now, effects) {
                class.credit -= i64::from(next.wire);
                return Some(next);
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.control.backlog() + self.data.backlog(|_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, drain, offer, packet, port, queued, seqs};
    use super::super::{Queue, QueueConfig, Scheduled, TrafficClass, droptail, trim};
    use super::*;
    use crate::priorities::DEFAULT_PRIORITY;

    fn pausable(priorities: DataPriorities) -> Pausable<Scheduled> {
        pausable_of(&QueueConfig::DropTail(droptail::Params {}), priorities)
    }

    fn pausable_of(discipline: &QueueConfig, priorities: DataPriorities) -> Pausable<Scheduled> {
        match discipline.build(port("unlimited")).pausable(priorities) {
            Queue::Scheduled(queue) => match *queue {
                Scheduled::Pausable(queue) => queue,
                other => panic!("{other:?}"),
            },
            Queue::InOrder(queue) => panic!("{queue:?}"),
        }
    }

    /// Offers a packet of a priority. Returns `true` if it is accepted.
    fn offer_data(queue: &mut Pausable<Scheduled>, limit: &str, priority: u8, seq: u64) -> bool {
        let class = TrafficClass::data(priority);
        let waiting = QueuedPacket { class, ..queued(&packet(priority.into(), seq, 0)) };
        let room = Room { found: queue.backlog(), limit: limit.parse().unwrap() };
        let mut effects = SchedulerEffects::default();
        queue.enqueue(room, waiting, &mut effects);
        effects.fates.is_empty()
    }

    fn leave(queue: &mut Pausable<Scheduled>) -> Option<u8> {
        queue.dequeue(Instant::ZERO, &mut SchedulerEffects::default())?.class.priority()
    }

    /// Data with sequence numbers 0 and 1000, then an acknowledgement, which goes first. While data is paused,
    /// nothing else leaves. After the pause, data leaves in order.
    #[test]
    fn control_goes_first_and_data_waits_while_paused() {
        let mut queue = pausable(DataPriorities::equal(PrioritySet::of(DEFAULT_PRIORITY)));
        offer(&mut queue, packet(0, 0, 0));
        offer(&mut queue, packet(0, 1000, 0));
        offer(&mut queue, ack(0));
        queue.pause(PrioritySet::of(DEFAULT_PRIORITY));
        assert_eq!(drain(&mut queue).len(), 1);
        assert!(queue.backlog().packets == 2 && !queue.may_send());
        queue.pause(PrioritySet::NONE);
        assert_eq!(seqs(&drain(&mut queue)), [0, 1000]);
    }

    /// With weights 1 and 3, a round has one packet of priority 3 and three of priority 4. While priority 4
    /// is paused, priority 3 has the link alone, and runs into no debt.
    #[test]
    fn priorities_share_the_link_by_weight() {
        let used = [3, 4].into_iter().collect();
        let weights = [1, 1, 1, 1, 3, 1, 1, 1];
        let mut queue = pausable(DataPriorities { weights, ..DataPriorities::equal(used) });
        for seq in 0..40 {
            assert!(
                offer_data(&mut queue, "unlimited", 3, seq) && offer_data(&mut queue, "unlimited", 4, seq)
            );
        }
        let sent: Vec<u8> = (0..16).filter_map(|_| leave(&mut queue)).collect();
        assert_eq!(sent, [4, 4, 4, 3, 4, 4, 4, 3, 4, 4, 4, 3, 4, 4, 4, 3]);
        queue.pause(PrioritySet::of(4));
        assert!((0..20).all(|_| leave(&mut queue) == Some(3)));
        queue.pause(PrioritySet::NONE);
        let sent: Vec<u8> = (0..8).filter_map(|_| leave(&mut queue)).collect();
        assert_eq!(sent.iter().filter(|priority| **priority == 3).count(), 2, "{sent:?}");
    }

    /// Both priorities keep one packet, and trim one. While priority 3 is paused, its header leaves before
    /// the data of priority 4, and its data stays. Priority 4 sends its header first, as the discipline
    /// decides.
    #[test]
    fn trimmed_packets_of_a_paused_priority_go_before_data() {
        let used = [3, 4].into_iter().collect();
        let one = trim::Params { data: 1, tail: 0.0, ..trim::Params::default() };
        let mut queue = pausable_of(&QueueConfig::Trim(one), DataPriorities::equal(used));
        for seq in 0..2 {
            assert!(offer_data(&mut queue, "unlimited", 4, seq) == (seq == 0));
            assert!(offer_data(&mut queue, "unlimited", 3, seq) == (seq == 0));
        }
        queue.pause(PrioritySet::of(3));
        let mut sent = || {
            let next = queue.dequeue(Instant::ZERO, &mut SchedulerEffects::default())?;
            Some((next.class.priority()?, next.wire))
        };
        assert_eq!([(); 4].map(|()| sent()), [Some((3, 40)), Some((4, 40)), Some((4, 1500)), None]);
        assert_eq!(queue.waiting_of(3).packets, 1);
    }

    /// Of 12,000 bytes, 9,000 are reserved for lossless data. Two packets of 1,500 bytes of priority 0 fit,
    /// whether or not priority 3 holds some of the others.
    #[test]
    fn lossy_data_takes_no_reserved_memory() {
        let used = [0, 3].into_iter().collect();
        let limit = LossyLimit { reserved: Bytes::new(9_000), alpha: None };
        let lossy = PrioritySet::of(0);
        for before in [0, 4] {
            let mut queue = pausable(DataPriorities { lossy, limit, ..DataPriorities::equal(used) });
            assert!((0..before).all(|seq| offer_data(&mut queue, "12KB", 3, seq)));
            let mut accepted =
                |priority| (0..10).filter(|seq| offer_data(&mut queue, "12KB", priority, *seq)).count();
            assert_eq!([0, 3].map(&mut accepted), [2, 6 - before as usize]);
        }
    }
}
