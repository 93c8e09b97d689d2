//! CoDel — Nichols, Jacobson, "Controlling Queue Delay", ACM Queue 2012; RFC 8289. When all packets of an
//! interval have waited longer than a target, a leaving packet is dropped or marked, and then more often as
//! long as waits exceed the target.
//!
//! | symbol (RFC 8289 §5) | field |
//! |---|---|
//! | TARGET, INTERVAL | [`Params::target`], [`Params::interval`] |
//! | first_above_time | `above_until`: time at which waits have exceeded the target for an interval |
//! | dropping, drop_next, count, lastcount | `dropping`, `next`, `count`, `last_count` |
//! | maxpacket | `largest`: the largest packet so far |
//! | control_law(t, count) = t + INTERVAL / √count | `CoDel::after` |
//!
//! In a data centre, the defaults never act. Set the interval to the largest round-trip time without queues,
//! and the target to 5 to 10 % of the interval.
//!
//! Choices:
//! - An ECN-capable packet is marked instead of dropped, as in Linux. After a mark, no further waiting packet
//!   is examined; after a drop, the next packet is. After a mark as after a drop, the next time follows from
//!   the last time. In ns-3, the next time follows from the present time after a mark.
//! - The next time is computed at every drop, including the drop that ends the state. The RFC keeps the last
//!   time there.
//! - The packet in transmission is not part of the backlog that is compared with one packet.

use super::fifo::Fifo;
use super::{Backlog, DropReason, PortSetup, QueueInfo, QueuedPacket, Room, Scheduler, SchedulerEffects};
use crate::config::{Flag, POSITIVE_TIME, keys};
use shortflow_units::{Bytes, Instant, Span};

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "codel",
    summary: "first in, first out; marks or drops leaving packets if sojourn times exceed a target for an interval",
    source: "CoDel, ACM Queue 2012; RFC 8289",
    by_priority: false,
    reads_k: false,
    trims: false,
};

keys! {
    /// Parameters of the control law. The scenario sets the buffer.
    #[derive(Copy)]
    pub struct Params {
        /// target of the sojourn time
        pub target: Span = "5ms", POSITIVE_TIME;
        /// time for which sojourn times may stay above the target: about the largest round-trip time
        pub interval: Span = "100ms", POSITIVE_TIME;
        /// mark ECN-capable packets; false: drop them
        pub ecn: bool = "true", Flag, acts: ecn;
    } in order {
        target <= interval;
    }
}

/// A queue that drops or marks its first packet at the times of the control law.
#[derive(Debug, Clone)]
pub struct CoDel {
    params: Params,
    queue: Fifo,
    largest: Bytes,
    above_until: Option<Instant>,
    dropping: bool,
    next: Instant,
    count: u32,
    last_count: u32,
}

impl CoDel {
    /// The discipline of a port.
    pub fn new(params: Params, _: PortSetup) -> Self {
        CoDel {
            params,
            queue: Fifo::default(),
            largest: Bytes::ZERO,
            above_until: None,
            dropping: false,
            next: Instant::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// Time of the next drop or mark after `at`, by the control law.
    fn after(&self, at: Instant) -> Instant {
        let gap = self.params.interval.as_ps() as f64 / libm::sqrt(f64::from(self.count));
        at + Span::from_ps(gap as u64)
    }

    /// Takes the first packet. Returns the packet, and `true` if waits have exceeded the target for an
    /// interval.
    fn take(&mut self, now: Instant) -> Option<(QueuedPacket, bool)> {
        let Some(first) = self.queue.pop() else {
            self.above_until = None;
            return None;
        };
        let short = now.since(first.arrived) < self.params.target;
        if short || self.queue.backlog().bytes <= self.largest {
            self.above_until = None;
            return Some((first, false));
        }
        let until = *self.above_until.get_or_insert(now + self.params.interval);
        Some((first, now >= until))
    }

    /// First count of the control law. If drops ended recently, the law continues near their last rate.
    fn first_count(&self, now: Instant) -> u32 {
        let added = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.next) < self.params.interval.times(16);
        if added > 1 && recent { added } else { 1 }
    }
}

impl Scheduler for CoDel {
    fn enqueue(&mut self, room: Room, waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        let size = waiting.wire_size();
        if !room.fits(size) {
            return effects.drop(DropReason::BufferFull, waiting);
        }
        self.largest = self.largest.max(size);
        self.queue.push(waiting);
    }

    fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket> {
        loop {
            let Some((mut first, too_long)) = self.take(now) else {
                self.dropping = false;
                return None;
            };
            let begins = too_long && !self.dropping;
            self.dropping = too_long;
            if !too_long || (!begins && now < self.next) {
                return Some(first);
            }
            if begins {
                self.count = self.first_count(now);
                self.last_count = self.count;
            } else {
                self.count += 1;
            }
            self.next = self.after(if begins { now } else { self.next });
            if self.params.ecn && effects.mark(&mut first) {
                return Some(first);
            }
            effects.drop(DropReason::Early, first);
        }
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{leave, offer, packet, port, queued};
    use super::*;
    use crate::packet::{EcnField, Packet};

    /// A queue with the defaults in which `packets` have waited since time zero.
    fn standing(packets: u64, ecn: bool) -> CoDel {
        let mut queue = CoDel::new(Params { ecn, ..Params::default() }, port("unlimited"));
        (0..packets).for_each(|seq| assert_eq!(offer(&mut queue, packet(0, seq, 0)).drops, 0));
        queue
    }

    /// Milliseconds at which a packet is dropped or marked, if a packet leaves every millisecond until `end`.
    fn signals(queue: &mut CoDel, end: u64) -> Vec<u64> {
        let acts = |ms: &u64| {
            let (_, effects) = leave(queue, Span::from_millis(*ms));
            effects.marks > 0 || !effects.fates.is_empty()
        };
        (0..end).filter(acts).collect()
    }

    /// Waits reach 5 ms at 5 ms, and have exceeded 5 ms for 100 ms at 105 ms. The intervals after that are
    /// 100/√1, /√2, /√3, … ms, so the next times are 205, 275.7, 333.4, 383.4, 428.2, 469.0, 506.8 and 542.1
    /// ms. Each applies to the next packet that leaves.
    #[test]
    fn times_follow_the_control_law() {
        for ecn in [true, false] {
            assert_eq!(
                signals(&mut standing(1000, ecn), 560),
                [105, 205, 276, 334, 384, 429, 469, 507, 543],
                "{ecn}"
            );
        }
    }

    #[test]
    fn a_packet_that_cannot_be_marked_is_dropped() {
        let mut queue = standing(0, true);
        let plain = Packet { ecn: EcnField::NotEct, ..packet(0, 0, 0) };
        (0..500).for_each(|_| assert_eq!(offer(&mut queue, plain.clone()).drops, 0));
        assert_eq!(signals(&mut queue, 210), [105, 205]);
        assert_eq!(queue.backlog().packets, 500 - 210 - 2);
    }

    /// If at most one packet is behind the leaving packet, there is no standing queue, however long packets
    /// have waited.
    #[test]
    fn a_last_packet_is_never_dropped() {
        let mut queue = standing(2, false);
        assert!(signals(&mut queue, 1).is_empty());
        offer(&mut queue, packet(0, 2, 0));
        assert_eq!(leave(&mut queue, Span::from_millis(500)).1.fates.len(), 0);
        assert_eq!(leave(&mut queue, Span::from_millis(900)).1.fates.len(), 0);
    }

    /// A short wait ends the state. When waits soon exceed the target again, the law continues near its last
    /// rate. After seven drops, of which six came after the first, its count starts at six.
    #[test]
    fn the_law_goes_on_near_where_it_was() {
        let mut queue = standing(1000, false);
        assert_eq!(signals(&mut queue, 480).len(), 7);
        let recent = |at: u64| QueuedPacket {
            arrived: Instant::ZERO + Span::from_millis(at),
            ..queued(&packet(0, 0, 0))
        };
        queue.queue = Fifo::default();
        (0..500).for_each(|_| queue.queue.push(recent(480)));
        let again: Vec<u64> =
            (480..640).filter(|ms| !leave(&mut queue, Span::from_millis(*ms)).1.fates.is_empty()).collect();
        assert_eq!(again, [585, 626], "100 ms after 485 ms, and 100/√6 = 40.8 ms after that");
    }
}
