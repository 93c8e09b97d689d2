//! The sender and its host's card: a small queue, as in Linux, keeps a connection from filling the shared card.
//!
//! The card has at most a limit of its segments. Each departure that makes room wakes the sender, as the kernel's
//! tsq_tasklet_func() does. Repairs that ignore the window also pass the limit, and are counted: the first segment of a fast
//! retransmit, of a partial ACK and of a timeout, and a tail loss probe.

use crate::host::LazyTimer;
use crate::specs::SMALL_QUEUE;
use shortflow_units::{Instant, Span};

const MOST: usize = SMALL_QUEUE as usize;

/// The segments of a connection in its host's card.
#[derive(Debug)]
pub(super) struct Card {
    /// Most segments; 0 is no limit.
    limit: u8,
    /// First byte of the segment that waits for room, and the start of its wait.
    held: Option<(u64, Instant)>,
    /// Segments whose departure a scheduler has not reported yet.
    waiting: u32,
    /// The card is full until then.
    until: Instant,
    /// The latest departures that are known, the last of them last.
    departs: [Instant; MOST],
    /// The time at which the card has room, if the sender has more to send.
    pub alarm: LazyTimer,
}

impl Card {
    /// An empty card with a limit of segments per connection.
    pub fn new(limit: usize) -> Card {
        Card {
            limit: limit.min(MOST) as u8,
            held: None,
            waiting: 0,
            until: Instant::ZERO,
            departs: [Instant::ZERO; MOST],
            alarm: LazyTimer::IDLE,
        }
    }

    /// A segment was handed over that departs then, [`Instant::MAX`] if a scheduler will tell.
    #[inline]
    pub fn on_sent(&mut self, departs: Instant) {
        if self.limit > 0 {
            match departs {
                Instant::MAX => self.waiting += 1,
                departs => self.keep(departs),
            }
            self.find_room();
        }
    }

    /// The scheduler reports a segment: its departure, or its drop.
    pub fn on_left(&mut self, departs: Instant) {
        if self.limit == 0 {
            return;
        }
        self.waiting = self.waiting.saturating_sub(1);
        self.keep(departs);
        self.find_room();
        if self.holds() {
            self.set_alarm();
        }
    }

    #[inline]
    fn keep(&mut self, departs: Instant) {
        let [oldest, .., newest] = self.departs;
        if departs >= newest {
            self.departs.copy_within(1.., 0);
            self.departs[MOST - 1] = departs;
        } else {
            self.departs[0] = oldest.max(departs); // a drop, or a link that has been down
            self.departs.sort_unstable();
        }
    }

    #[inline]
    fn find_room(&mut self) {
        let free = u32::from(self.limit).saturating_sub(self.waiting) as usize;
        self.until = if free == 0 { Instant::MAX } else { self.departs[(MOST - free) % MOST] };
    }

    /// True if the card has no room for another segment.
    #[inline]
    pub fn is_full(&self, now: Instant) -> bool {
        self.until > now
    }

    /// True if the sender waits for room.
    #[inline]
    pub fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// From now on this segment waits for room, or none. Returns the one that has waited, and its time since the last call.
    pub fn hold(&mut self, start: Option<u64>, now: Instant) -> Option<(u64, Span)> {
        let before = std::mem::replace(&mut self.held, start.map(|start| (start, now)));
        self.alarm.deadline = None;
        if self.holds() {
            self.set_alarm();
        }
        before.map(|(start, since)| (start, now.since(since)))
    }

    fn set_alarm(&mut self) {
        self.alarm.deadline = Some(self.until).filter(|until| *until < Instant::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As a list of all segments has it, whatever links they take, with those that a scheduler has and tells of in any
        /// order, and those that it drops.
        #[test]
        fn agrees_with_a_list(
            limit in 1usize..=MOST,
            steps in prop::collection::vec((0u8..4, 0u64..40), 1..100),
        ) {
            let at = |us: u64| Instant::ZERO + Span::from_micros(us);
            let (mut card, mut departs, mut waiting, mut now) = (Card::new(limit), Vec::new(), 0, 0);
            for (step, by) in steps {
                match step {
                    0 => now += by,
                    1 => {
                        departs.push(now + by);
                        card.on_sent(at(now + by));
                    }
                    2 => {
                        waiting += 1;
                        card.on_sent(Instant::MAX);
                    }
                    _ if waiting > 0 => {
                        waiting -= 1;
                        departs.push(now + by);
                        card.on_left(at(now + by));
                    }
                    _ => {}
                }
                let inside = waiting + departs.iter().filter(|departs| **departs > now).count();
                prop_assert_eq!(card.is_full(at(now)), inside >= limit);
            }
        }
    }
}
