//! The event queue: a timing wheel under the total order (time, order of scheduling).
//!
//! Time is cut into slots of about a microsecond. Events of the present slot are kept in order, those
//! of the next thousand slots unordered until their turn comes, and those
//! beyond (retransmission timers, mostly) in a binary heap. Most packets arrive within the wheel, so
//! adding and taking an event costs the same in small and in large networks.
//!
//! An entry is one 128-bit number, so that one comparison orders two entries:
//!
//! | bits | what | limit |
//! |---|---|---|
//! | 127–72 | time in picoseconds | 20 hours |
//! | 71–32 | order of scheduling | 10¹² events |
//! | 31–0 | the event, packed | |

use shortflow_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::marker::PhantomData;

/// An event that fits into 32 bits.
pub trait Pack: Copy {
    /// The event as a number.
    fn pack(self) -> u32;
    /// The event of a number that [`Pack::pack`] gave.
    fn unpack(bits: u32) -> Self;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

const LATEST: u64 = (1 << 56) - 1;
/// A slot lasts 2²⁰ ps, 1.05 µs.
const SLOT_BITS: u32 = 20;
const SLOTS: u64 = 1024;
const WORDS: usize = SLOTS as usize / 64;
/// A slot that never comes.
const NEVER: u64 = u64::MAX;

impl Entry {
    #[inline]
    fn new(at: Instant, order: u64, event: u32) -> Entry {
        let at = at.as_ps().min(LATEST);
        Entry(u128::from(at) << 72 | u128::from(order) << 32 | u128::from(event))
    }

    #[inline]
    fn at(self) -> Instant {
        Instant::from_ps((self.0 >> 72) as u64)
    }

    #[inline]
    fn slot(self) -> u64 {
        self.at().as_ps() >> SLOT_BITS
    }
}

/// Pending events. Two events at the same instant come out in the order in which they went in.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    now: Instant,
    /// The first event that was scheduled in the past: when it was due, and when that was.
    scheduled_in_past: Option<(Instant, Instant)>,
    scheduled: u64,
    /// The present slot, counted from time zero.
    slot: u64,
    /// Events up to the end of the present slot, the next one last.
    present: Vec<Entry>,
    /// Slot n of the following `SLOTS - 1` is element n modulo `SLOTS`.
    wheel: Box<[Vec<Entry>; SLOTS as usize]>,
    /// A bit for each element of the wheel that has events.
    occupied: [u64; WORDS],
    /// Events beyond the wheel when they were scheduled.
    far: BinaryHeap<Reverse<Entry>>,
    /// The slot of the first of those.
    far_slot: u64,
    kind: PhantomData<E>,
}

impl<E: Pack> EventQueue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        EventQueue {
            now: Instant::ZERO,
            scheduled_in_past: None,
            scheduled: 0,
            slot: 0,
            present: Vec::new(),
            wheel: Box::new([const { Vec::new() }; SLOTS as usize]),
            occupied: [0; WORDS],
            far: BinaryHeap::new(),
            far_slot: NEVER,
            kind: PhantomData,
        }
    }

    /// The time of the event taken last.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The first event that was scheduled in the past: when it was due, and when it was scheduled.
    pub fn scheduled_in_past(&self) -> Option<(Instant, Instant)> {
        self.scheduled_in_past
    }

    /// Adds an event; one in the past happens now, and [`EventQueue::scheduled_in_past`] tells of it.
    #[inline]
    pub fn schedule(&mut self, at: Instant, event: E) {
        self.insert(at, event.pack());
    }

    fn insert(&mut self, at: Instant, event: u32) {
        self.scheduled += 1;
        let at = if at < self.now { self.note_past(at) } else { at };
        let entry = Entry::new(at, self.scheduled, event);
        let slot = entry.slot();
        if slot <= self.slot {
            self.insert_present(entry);
        } else if slot < self.slot + SLOTS {
            let index = (slot % SLOTS) as usize;
            self.wheel[index].push(entry);
            self.occupied[index / 64] |= 1 << (index % 64);
        } else {
            self.insert_far(entry);
        }
    }

    /// Takes the next event and moves time to it; `None` if there is none up to `limit`.
    #[inline]
    pub fn next(&mut self, limit: Instant) -> Option<E> {
        if self.present.is_empty() {
            self.turn();
        }
        let next = *self.present.last()?;
        if next.at() > limit {
            return None;
        }
        self.present.pop();
        self.now = next.at();
        Some(E::unpack(next.0 as u32))
    }

    /// When the next event happens.
    pub fn next_at(&mut self) -> Option<Instant> {
        if self.present.is_empty() {
            self.turn();
        }
        self.present.last().map(|entry| entry.at())
    }

    /// Moves time to `to`, but not past an event that is still to come: for whoever runs the queue by
    /// a clock.
    pub fn advance(&mut self, to: Instant) {
        let next = self.next_at().unwrap_or(Instant::MAX);
        self.now = self.now.max(to.min(next));
    }

    #[cold]
    fn note_past(&mut self, at: Instant) -> Instant {
        self.scheduled_in_past.get_or_insert((at, self.now));
        self.now
    }

    #[inline(never)] // most events go to the wheel
    fn insert_present(&mut self, entry: Entry) {
        let place = self.present.partition_point(|other| *other > entry);
        self.present.insert(place, entry);
    }

    #[inline(never)]
    fn insert_far(&mut self, entry: Entry) {
        self.far.push(Reverse(entry));
        self.far_slot = self.far_slot.min(entry.slot());
    }

    /// Brings over what is due in the present slot.
    #[inline(never)]
    fn take_far(&mut self) {
        while let Some(&Reverse(entry)) = self.far.peek() {
            if entry.slot() > self.slot {
                self.far_slot = entry.slot();
                return;
            }
            self.far.pop();
            self.insert_present(entry);
        }
        self.far_slot = NEVER;
    }

    /// Makes the next slot that has events the present one.
    #[inline]
    fn turn(&mut self) {
        let near = self.next_occupied().unwrap_or(NEVER);
        let slot = near.min(self.far_slot);
        if slot == NEVER {
            return;
        }
        self.slot = slot;
        if near == slot {
            let index = (slot % SLOTS) as usize;
            std::mem::swap(&mut self.present, &mut self.wheel[index]);
            self.occupied[index / 64] &= !(1 << (index % 64));
            if self.present.len() > 1 {
                self.present.sort_unstable_by(|a, b| b.cmp(a));
            }
        }
        if self.far_slot == slot {
            self.take_far();
        }
    }

    /// The first slot after the present one that has events in the wheel.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        let start = ((self.slot + 1) % SLOTS) as usize;
        let ahead = self.occupied[start / 64] >> (start % 64);
        if ahead != 0 {
            return Some(self.slot + 1 + u64::from(ahead.trailing_zeros()));
        }
        let words = (1..=WORDS).map(|i| (start / 64 + i) % WORDS);
        let word = words.into_iter().find(|&word| self.occupied[word] != 0)?;
        let index = word as u64 * 64 + u64::from(self.occupied[word].trailing_zeros());
        Some(self.slot + 1 + (index + SLOTS - start as u64) % SLOTS)
    }
}

impl<E: Pack> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Pack for u32 {
        fn pack(self) -> u32 {
            self
        }
        fn unpack(bits: u32) -> u32 {
            bits
        }
    }

    /// Times within a slot, within the wheel and beyond it, with many ties.
    fn time() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..50, (0u64..3000).prop_map(|slot| slot << 19), (0u64..50).prop_map(|n| n << 32)]
    }

    proptest! {
        #[test]
        fn events_come_out_by_time_then_by_order_of_scheduling(times in prop::collection::vec(time(), 1..200)) {
            let mut queue = EventQueue::new();
            for (i, &at) in (0..).zip(&times) {
                queue.schedule(Instant::from_ps(at), i);
            }
            let mut expected: Vec<u32> = (0..times.len() as u32).collect();
            expected.sort_by_key(|&i| times[i as usize]);
            let got: Vec<u32> = std::iter::from_fn(|| queue.next(Instant::MAX)).collect();
            prop_assert_eq!(got, expected);
        }

        /// Each event schedules another while time goes on, against a sorted list.
        #[test]
        fn agrees_with_a_sorted_list(delays in prop::collection::vec((time(), time()), 1..100)) {
            let mut queue = EventQueue::new();
            let mut list: Vec<(u64, u32)> = Vec::new();
            for (i, &(at, _)) in (0..).zip(&delays) {
                queue.schedule(Instant::from_ps(at), i);
                list.push((at, i));
            }
            for (i, &(_, delay)) in (delays.len() as u32..).zip(&delays) {
                list.sort_by_key(|event| event.0);
                let (at, event) = list.remove(0);
                prop_assert_eq!(queue.next(Instant::MAX), Some(event));
                prop_assert_eq!(queue.now(), Instant::from_ps(at));
                queue.schedule(Instant::from_ps(at + delay), i);
                list.push((at + delay, i));
            }
        }
    }

    #[test]
    fn time_moves_by_a_clock_up_to_the_next_event() {
        let mut queue = EventQueue::new();
        queue.advance(Instant::from_ps(7 << 30));
        queue.schedule(Instant::from_ps(9 << 30), 1u32);
        assert_eq!(queue.next_at(), Some(Instant::from_ps(9 << 30)));
        queue.advance(Instant::from_ps(8 << 30));
        queue.schedule(Instant::ZERO, 2);
        assert_eq!((queue.next(Instant::MAX), queue.now()), (Some(2), Instant::from_ps(8 << 30)));
        queue.advance(Instant::from_ps(10 << 30));
        assert_eq!(queue.now(), Instant::from_ps(9 << 30));
        assert_eq!(queue.next(Instant::MAX), Some(1));
    }

    #[test]
    fn time_never_goes_back_and_stops_at_the_limit() {
        let mut queue = EventQueue::new();
        queue.schedule(Instant::from_ps(10), 1u32);
        assert_eq!(queue.next(Instant::from_ps(9)), None);
        assert_eq!(queue.next(Instant::from_ps(10)), Some(1));
        assert_eq!(queue.scheduled_in_past(), None);
        queue.schedule(Instant::from_ps(5), 2);
        queue.schedule(Instant::from_ps(6), 3);
        assert_eq!(queue.scheduled_in_past(), Some((Instant::from_ps(5), Instant::from_ps(10))));
        assert_eq!(queue.next(Instant::MAX), Some(2));
        assert_eq!(queue.next(Instant::MAX), Some(3));
        assert_eq!(queue.now(), Instant::from_ps(10));
        assert_eq!(queue.next(Instant::MAX), None);
    }
}
