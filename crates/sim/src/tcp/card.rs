//! The sender's view of its host's network card. As in Linux, a small queue keeps one connection from filling
//! the shared card.
//!
//! The card holds at most `limit` segments of a connection. Each departure that makes room wakes the sender,
//! like the kernel's tsq_tasklet_func(). Repairs that ignore the window also pass this limit, but count
//! towards it: the first segment of a fast retransmit, of a partial ACK and of a timeout, and a tail loss
//! probe.

use crate::host::LazyTimer;
use crate::specs::SMALL_QUEUE;
use shortflow_units::{Instant, Span};

const MOST: usize = SMALL_QUEUE as usize;

/// Segments of one connection in its host's card.
#[derive(Debug)]
pub(super) struct Card {
    /// Largest number of segments; 0 means no limit.
    limit: u8,
    /// First byte of the segment that waits for room, and the time since when it waits.
    held: Option<(u64, Instant)>,
    /// Segments in a scheduler that has not yet reported their departure.
    waiting: u32,
    /// Time until which the card is full.
    until: Instant,
    /// Latest known departure times, in ascending order.
    departs: [Instant; MOST],
    /// Fires when the card has room, if the sender has more to send.
    pub alarm: LazyTimer,
}

impl Card {
    /// An empty card with a limit of `limit` segments per connection.
    pub(super) fn new(limit: usize) -> Card {
        Card {
            limit: limit.min(MOST) as u8,
            held: None,
            waiting: 0,
            until: Instant::ZERO,
            departs: [Instant::ZERO; MOST],
            alarm: LazyTimer::IDLE,
        }
    }

    /// A segment enters the card and departs at `departs`, or at [`Instant::MAX`] if a scheduler will report
    /// its departure.
    #[inline]
    pub(super) fn on_sent(&mut self, departs: Instant) {
        if self.limit > 0 {
            match departs {
                Instant::MAX => self.waiting += 1,
                departs => self.keep(departs),
            }
            self.find_room();
        }
    }

    /// The scheduler reports the departure or drop of a segment.
    pub(super) fn on_left(&mut self, departs: Instant) {
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
            self.departs[0] = oldest.max(departs); // a drop or an outage breaks the order
            self.departs.sort_unstable();
        }
    }

    #[inline]
    fn find_room(&mut self) {
        // When the departure at this index has passed, fewer than `free` segments with known departures
        // remain in the card.
        let free = u32::from(self.limit).saturating_sub(self.waiting) as usize;
        self.until = if free == 0 { Instant::MAX } else { self.departs[(MOST - free) % MOST] };
    }

    /// True if the card has no room for another segment.
    #[inline]
    pub(super) fn is_full(&self, now: Instant) -> bool {
        self.until > now
    }

    /// True if the sender waits for room.
    #[inline]
    pub(super) fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// From now on the segment at `start` waits for room, or no segment waits. Returns the segment that
    /// waited before, and its wait since the last call.
    pub(super) fn hold(&mut self, start: Option<u64>, now: Instant) -> Option<(u64, Span)> {
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
        /// The card agrees with a plain list of all segments. Segments take different links, and a scheduler
        /// reports departures and drops in any order.
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
