//! The event queue: a timing wheel under the total order (time, rank of the event).
//!
//! Time is cut into slots that hold two events or so. Events of the present slot are kept in order, those of the next
//! four thousand slots in lists, unordered until their turn comes, and those beyond (retransmission timers, mostly) in a
//! binary heap. Most packets arrive within the wheel, so adding and taking an event costs the same in small and in large
//! networks.
//!
//! Of two events at one instant that comes first whose [`Pack::rank`] is lower: the order does not depend on when they were
//! scheduled, nor on what else there is. Events with the same number are the same.

use shortflow_units::{Instant, Span};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::marker::PhantomData;

/// An event that fits into 32 bits.
pub trait Pack: Copy {
    /// The event as a number.
    fn pack(self) -> u32;
    /// The event of a number that [`Pack::pack`] gave.
    fn unpack(bits: u32) -> Self;
    /// Where the event of a number stands among all that happen at `at`: another place for every number.
    fn rank(bits: u32, at: Instant) -> u32;
}

/// The same number with its last 27 bits mixed, in another way for each instant: a rank by which all take turns in coming
/// first. Were it always the port with the lower number, its packets would find room in full queues and the others' none:
/// in a star with equal links ties are common.
pub fn in_turn(bits: u32, at: Instant) -> u32 {
    let turn = (at.as_ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 37) as u32;
    let low = (1 << 27) - 1;
    let mix = |bits: u32, factor: u32| bits.wrapping_mul(factor) & low;
    let once = mix(bits ^ turn, 0x4f1_bbcd);
    let twice = mix(once ^ once >> 14, 0x2c1_b3c7);
    bits & !low | twice ^ twice >> 13
}

/// An event in the list of a slot, or a free place.
#[derive(Debug, Clone, Copy)]
struct Node {
    at: Instant,
    event: u32,
    next: u32,
}

const WORDS: usize = 64;
const SLOTS: u64 = 64 * WORDS as u64;
/// The end of a list.
const END: u32 = u32::MAX;
/// A slot that never comes.
const NEVER: u64 = u64::MAX;
/// Up to so many events are sorted by inserting them.
const FEW: usize = 20;
/// Unless told otherwise a slot lasts 2²⁰ ps, 1.05 µs.
const SLOT_BITS: u32 = 20;

/// A pending event, later ones being less: its time, its rank if it has been worked out (0 if not), and its number, as one
/// number that is compared at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due(Reverse<u128>);

impl Due {
    #[inline]
    fn new(at: Instant, event: u32) -> Due {
        Due(Reverse(u128::from(at.as_ps()) << 64 | u128::from(event)))
    }

    #[inline]
    fn at(self) -> Instant {
        Instant::from_ps((self.0.0 >> 64) as u64)
    }

    #[inline]
    fn event(self) -> u32 {
        self.0.0 as u32
    }

    /// The later one is less, also where their ranks have not been worked out.
    #[inline]
    fn in_order<E: Pack>(&self, other: &Due) -> Ordering {
        let rank = |due: &Due| E::rank(due.event(), due.at());
        other.at().cmp(&self.at()).then_with(|| rank(other).cmp(&rank(self)))
    }

    /// The same event with its rank.
    #[inline]
    fn ranked<E: Pack>(self) -> Due {
        let rank = E::rank(self.event(), self.at());
        Due(Reverse(self.0.0 >> 64 << 64 | u128::from(rank) << 32 | u128::from(self.event())))
    }
}

/// Pending events.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    now: Instant,
    /// The first event that was scheduled in the past: when it was due, and when that was.
    scheduled_in_past: Option<(Instant, Instant)>,
    /// A slot lasts 2 to this power, in picoseconds.
    slot_bits: u32,
    /// The present slot, counted from time zero.
    slot: u64,
    /// Events up to the end of the present slot, the next one last.
    present: Vec<Due>,
    /// Places for events of the wheel.
    nodes: Vec<Node>,
    /// The first free one, used last.
    free: u32,
    /// Slot n of the following `SLOTS - 1` is the list that begins at element n modulo `SLOTS`.
    heads: Box<[u32; SLOTS as usize]>,
    /// A bit for each slot that has events.
    occupied: [u64; WORDS],
    /// A bit for each word of those that is not 0.
    words: u64,
    /// Events beyond the wheel when they were scheduled.
    far: BinaryHeap<Due>,
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
            slot_bits: SLOT_BITS,
            slot: 0,
            present: Vec::new(),
            nodes: Vec::new(),
            free: END,
            heads: Box::new([END; SLOTS as usize]),
            occupied: [0; WORDS],
            words: 0,
            far: BinaryHeap::new(),
            far_slot: NEVER,
            kind: PhantomData,
        }
    }

    /// The same empty queue with slots of about this length, or longer if events are mostly scheduled `ahead` and the
    /// wheel could not hold them.
    pub fn slotted(self, slot: Span, ahead: Span) -> Self {
        let slot = slot.as_ps().max(ahead.as_ps() / (SLOTS / 2)).max(1);
        EventQueue { slot_bits: slot.ilog2().min(SLOT_BITS + 10), ..self }
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
    #[inline(always)] // most places know which event it is, and need not pack it
    pub fn schedule(&mut self, at: Instant, event: E) {
        self.insert(at, event.pack());
    }

    #[inline]
    fn insert(&mut self, at: Instant, event: u32) {
        if at < self.now {
            return self.insert_past(at, event);
        }
        let slot = self.slot_of(at);
        if slot <= self.slot {
            self.insert_present(at, event);
        } else if slot < self.slot + SLOTS {
            self.insert_near(slot, at, event);
        } else {
            self.insert_far(at, event);
        }
    }

    /// Takes the next event and moves time to it; `None` if there is none up to `limit`.
    #[inline]
    pub fn next(&mut self, limit: Instant) -> Option<E> {
        if self.present.is_empty() {
            self.turn(limit);
        }
        let next = *self.present.last()?;
        if next.at() > limit {
            return None;
        }
        self.present.pop();
        self.now = next.at();
        Some(E::unpack(next.event()))
    }

    /// Begins the next slot that has events if the present one has no more, and that one does not begin after `limit`;
    /// whether it did.
    #[inline]
    pub fn begin_slot(&mut self, limit: Instant) -> bool {
        self.present.is_empty() && self.turn(limit)
    }

    /// The events of the present slot, in order.
    #[inline]
    pub fn present(&self) -> impl Iterator<Item = E> {
        self.present.iter().rev().map(|next| E::unpack(next.event()))
    }

    /// When the next event happens.
    pub fn next_at(&self) -> Option<Instant> {
        if let Some(next) = self.present.last() {
            return Some(next.at());
        }
        let mut first = self.far.peek().map(|next| next.at());
        let mut next = self.next_occupied().map_or(END, |slot| self.heads[(slot % SLOTS) as usize]);
        while let Some(node) = self.nodes.get(next as usize) {
            first = Some(first.map_or(node.at, |first| first.min(node.at)));
            next = node.next;
        }
        first
    }

    /// Moves time to `to`, but not past an event that is still to come: for whoever runs the queue by
    /// a clock.
    pub fn advance(&mut self, to: Instant) {
        let next = self.next_at().unwrap_or(Instant::MAX);
        self.now = self.now.max(to.min(next));
    }

    #[inline]
    fn slot_of(&self, at: Instant) -> u64 {
        at.as_ps() >> self.slot_bits
    }

    #[cold]
    fn insert_past(&mut self, at: Instant, event: u32) {
        self.scheduled_in_past.get_or_insert((at, self.now));
        self.insert(self.now, event);
    }

    #[inline(never)] // most events go to the wheel
    fn insert_present(&mut self, at: Instant, event: u32) {
        let new = Due::new(at, event);
        let place = self.present.partition_point(|other| other.in_order::<E>(&new).is_lt());
        self.present.insert(place, new);
    }

    #[inline]
    fn insert_near(&mut self, slot: u64, at: Instant, event: u32) {
        let index = (slot % SLOTS) as usize;
        let place = self.free;
        let Some(node) = self.nodes.get_mut(place as usize) else { return self.insert_anew(at, event) };
        (node.at, node.event) = (at, event);
        self.free = std::mem::replace(&mut node.next, self.heads[index]);
        self.heads[index] = place;
        self.occupied[index / 64] |= 1 << (index % 64);
        self.words |= 1 << (index / 64);
    }

    /// There is no free place: adds one, and the event then.
    #[cold]
    fn insert_anew(&mut self, at: Instant, event: u32) {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node { at, event, next: END });
        self.insert(at, event);
    }

    #[inline(never)]
    fn insert_far(&mut self, at: Instant, event: u32) {
        self.far.push(Due::new(at, event));
        self.far_slot = self.far_slot.min(self.slot_of(at));
    }

    /// Makes the next slot that has events the present one, unless it begins after `limit`: what is scheduled before it
    /// then still finds the wheel. Whether it did.
    #[inline(always)] // once for every event or two
    fn turn(&mut self, limit: Instant) -> bool {
        let near = self.next_occupied().unwrap_or(NEVER);
        let slot = near.min(self.far_slot);
        if slot > self.slot_of(limit) || slot == NEVER {
            return false;
        }
        self.slot = slot;
        if near == slot {
            self.take_near((slot % SLOTS) as usize);
        }
        if self.far_slot == slot {
            self.take_far();
        }
        true
    }

    /// Brings over the list of the present slot.
    #[inline]
    fn take_near(&mut self, index: usize) {
        let word = &mut self.occupied[index / 64];
        *word &= !(1 << (index % 64));
        if *word == 0 {
            self.words &= !(1 << (index / 64));
        }
        let mut next = std::mem::replace(&mut self.heads[index], END);
        while let Some(node) = self.nodes.get_mut(next as usize) {
            self.present.push(Due::new(node.at, node.event));
            let rest = std::mem::replace(&mut node.next, self.free);
            self.free = std::mem::replace(&mut next, rest);
        }
        if self.present.len() > 1 {
            self.sort_present();
        }
    }

    /// Brings over what is due in the present slot from beyond the wheel.
    #[inline(never)]
    fn take_far(&mut self) {
        self.far_slot = loop {
            match self.far.peek() {
                None => break NEVER,
                Some(next) if self.slot_of(next.at()) > self.slot => break self.slot_of(next.at()),
                Some(due) => self.present.push(*due),
            }
            self.far.pop();
        };
        self.sort_present();
    }

    /// Most slots have few events, and fewer that tie. Where hundreds do, each rank is worked out once.
    #[inline(never)] // keeps the path of slots with one event short
    fn sort_present(&mut self) {
        if self.present.len() > FEW {
            self.present.iter_mut().for_each(|due| *due = due.ranked::<E>());
            self.present.sort_unstable();
        } else {
            self.present.sort_unstable_by(Due::in_order::<E>);
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
        if self.words == 0 {
            return None;
        }
        // The words behind that one, and from the first again.
        let turned = self.words.rotate_right(start as u32 / 64 + 1);
        let word = (start / 64 + 1 + turned.trailing_zeros() as usize) % WORDS;
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
        fn rank(bits: u32, _: Instant) -> u32 {
            bits
        }
    }

    /// Times within a slot, within the wheel and beyond it, with many ties.
    fn time() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..50, (0u64..12_000).prop_map(|slot| slot << 19), (0u64..50).prop_map(|n| n << 32)]
    }

    proptest! {
        #[test]
        fn events_come_out_by_time_then_by_number(
            events in prop::collection::vec((time(), any::<u32>()), 1..200),
        ) {
            let mut queue = EventQueue::new();
            events.iter().for_each(|&(at, event)| queue.schedule(Instant::from_ps(at), event));
            let mut expected = events;
            expected.sort();
            let taken = || queue.next(Instant::MAX).map(|event| (queue.now().as_ps(), event));
            prop_assert_eq!(std::iter::from_fn(taken).collect::<Vec<_>>(), expected);
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
                list.sort();
                let (at, event) = list.remove(0);
                prop_assert_eq!(queue.next(Instant::MAX), Some(event));
                prop_assert_eq!(queue.now(), Instant::from_ps(at));
                queue.schedule(Instant::from_ps(at + delay), i);
                list.push((at + delay, i));
            }
        }
    }

    /// Each of five ports with the same tie ten thousand times is first in a fifth of the cases, and stays what it is.
    #[test]
    fn events_take_turns() {
        let mut first = [0; 5];
        for ns in 0..10_000 {
            let at = Instant::ZERO + Span::from_nanos(ns);
            let ranks = [0, 2, 4, 6, 8].map(|port| in_turn(1 << 29 | port, at));
            assert!(ranks.iter().all(|rank| rank >> 27 == 4), "{ranks:?}");
            let lowest = (0..5).min_by_key(|place| ranks[*place]);
            first[lowest.unwrap()] += 1;
        }
        assert!(first.iter().all(|times| (1600..2400).contains(times)), "{first:?}");
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
