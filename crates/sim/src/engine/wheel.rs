//! [`Wheel`]: pending events grouped by time slot, without order within a slot.
//!
//! Each of the next 4,095 slots has a list. Later events, mostly retransmission timers, are in a binary heap.
//! Most packets arrive within the wheel, so the cost of adding and taking an event does not grow with the
//! network.

use super::due::{NodeScope, ScheduledEvent};
use shortflow_units::{Instant, Span};
use std::collections::BinaryHeap;

/// An event in the list of a slot, or a free entry.
#[derive(Debug, Clone, Copy)]
struct Node {
    at: Instant,
    event: u32,
    site: NodeScope,
    next: u32,
}

const WORDS: usize = 64;
const SLOTS: u64 = 64 * WORDS as u64;
/// End of a list.
const END: u32 = u32::MAX;
/// A slot that never comes.
const NEVER: u64 = u64::MAX;
/// Default length of a slot: 1 µs.
const SLOT: Span = Span::from_ps(1_000_000);

/// Pending events from the next slot on.
#[derive(Debug, Clone)]
pub(super) struct Wheel {
    /// Number of slots in 2⁶⁴ ps. The slot of a time is then a multiplication, which is faster than a
    /// division.
    slots: u64,
    /// Number of the present slot, counted from time zero.
    slot: u64,
    /// Entries of all lists.
    nodes: Vec<Node>,
    /// First free entry. It is the entry used last, so it is likely in the cache.
    free: u32,
    /// First entry of the list of each slot. Slot n has index n modulo `SLOTS`.
    heads: Box<[u32; SLOTS as usize]>,
    /// A bit for each slot that has events.
    occupied: [u64; WORDS],
    /// A bit for each nonzero word of `words`.
    words: u64,
    /// Events that were beyond the wheel when they were scheduled.
    far: BinaryHeap<ScheduledEvent>,
    /// Slot of the first of these events.
    far_slot: u64,
}

/// Shortest slot. The number of slots in 2⁶⁴ ps must fit into 64 bits.
pub(crate) const SHORTEST_SLOT: Span = Span::from_ps(2);

/// Number of slots of this length in 2⁶⁴ ps, rounded up.
fn slots(length: Span) -> u64 {
    (1u128 << 64).div_ceil(length.max(SHORTEST_SLOT).as_ps().into()) as u64
}

impl Wheel {
    /// An empty wheel at the slot of time zero.
    pub(super) fn new() -> Wheel {
        Wheel {
            slots: slots(SLOT),
            slot: 0,
            nodes: Vec::new(),
            free: END,
            heads: Box::new([END; SLOTS as usize]),
            occupied: [0; WORDS],
            words: 0,
            far: BinaryHeap::new(),
            far_slot: NEVER,
        }
    }

    /// Sets the length of slots.
    pub(super) fn slotted(self, slot: Span) -> Wheel {
        Wheel { slots: slots(slot), ..self }
    }

    /// Shortest slot length with which the wheel holds events scheduled `ahead`.
    pub(super) fn shortest(ahead: Span) -> Span {
        Span::from_ps(ahead.as_ps() / (SLOTS / 2))
    }

    /// True if `at` lies in the present slot or before it.
    #[inline]
    pub(super) fn has_reached(&self, at: Instant) -> bool {
        self.slot_of(at) <= self.slot
    }

    /// First instant after the present slot.
    pub(super) fn end_of_slot(&self) -> Instant {
        self.begin(self.slot + 1)
    }

    /// First instant of the slot that contains `at`.
    pub(super) fn begin_of_slot(&self, at: Instant) -> Instant {
        self.begin(self.slot_of(at))
    }

    fn begin(&self, slot: u64) -> Instant {
        let begin = (u128::from(slot) << 64).div_ceil(u128::from(self.slots));
        Instant::from_ps(begin.min(u64::MAX.into()) as u64)
    }

    #[inline]
    fn slot_of(&self, at: Instant) -> u64 {
        ((u128::from(at.as_ps()) * u128::from(self.slots)) >> 64) as u64
    }

    /// Adds an event that is due after the present slot.
    #[inline]
    pub(super) fn insert(&mut self, at: Instant, site: NodeScope, event: u32) {
        let slot = self.slot_of(at);
        if slot < self.slot + SLOTS {
            self.insert_near(slot, at, site, event);
        } else {
            self.insert_far(at, site, event);
        }
    }

    #[inline]
    fn insert_near(&mut self, slot: u64, at: Instant, site: NodeScope, event: u32) {
        let (index, free) = ((slot % SLOTS) as usize, self.free);
        let Some(node) = self.nodes.get_mut(free as usize) else { return self.insert_anew(at, site, event) };
        (node.at, node.event, node.site) = (at, event, site);
        self.free = std::mem::replace(&mut node.next, self.heads[index]);
        self.heads[index] = free;
        self.occupied[index / 64] |= 1 << (index % 64);
        self.words |= 1 << (index / 64);
    }

    /// Adds a free entry, then the event.
    #[cold]
    fn insert_anew(&mut self, at: Instant, site: NodeScope, event: u32) {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node { at, event, site, next: END });
        self.insert(at, site, event);
    }

    #[inline(never)]
    fn insert_far(&mut self, at: Instant, site: NodeScope, event: u32) {
        self.far.push(ScheduledEvent::sited(at, site, event));
        self.far_slot = self.far_slot.min(self.slot_of(at));
    }

    /// Advances to the next slot with events, and passes its events to `take`. `outside` is the time of the first
    /// event that the caller keeps outside the wheel ([`Instant::MAX`]: none); its slot has an event too.
    /// Returns `false`, and stays, if the slot begins after `limit`: events scheduled before that slot must
    /// still find their place in the wheel.
    pub(super) fn advance(
        &mut self,
        outside: Instant,
        limit: Instant,
        mut take: impl FnMut(Instant, NodeScope, u32),
    ) -> bool {
        let near = self.next_occupied().unwrap_or(NEVER);
        let outside_slot = if outside == Instant::MAX { NEVER } else { self.slot_of(outside) };
        let slot = near.min(self.far_slot).min(outside_slot);
        if slot > self.slot_of(limit) || slot == NEVER {
            return false;
        }
        self.slot = slot;
        if near == slot {
            self.take_near((slot % SLOTS) as usize, &mut take);
        }
        if self.far_slot == slot {
            self.take_far(&mut take);
        }
        true
    }

    /// Takes the next event if it is due up to `limit`, is alone in its slot, and its slot is in the present
    /// word of `occupied`.
    #[inline(always)]
    pub(super) fn take_lone(&mut self, limit: Instant) -> Option<(Instant, u32)> {
        let start = ((self.slot + 1) % SLOTS) as usize;
        let ahead = self.occupied[start / 64] >> (start % 64);
        let slot = self.slot + 1 + u64::from(ahead.trailing_zeros());
        let index = (slot % SLOTS) as usize;
        let node = self.nodes.get_mut(self.heads[index] as usize)?;
        if ahead == 0 || slot >= self.far_slot || node.next != END || node.at > limit {
            return None;
        }
        self.slot = slot;
        node.next = self.free;
        self.free = std::mem::replace(&mut self.heads[index], END);
        let lone = (node.at, node.event);
        self.clear(index);
        Some(lone)
    }

    /// Marks the slot at `index` as empty.
    #[inline]
    fn clear(&mut self, index: usize) {
        let word = &mut self.occupied[index / 64];
        *word &= !(1 << (index % 64));
        if *word == 0 {
            self.words &= !(1 << (index / 64));
        }
    }

    /// Empties the list of the present slot.
    #[inline]
    fn take_near(&mut self, index: usize, mut take: impl FnMut(Instant, NodeScope, u32)) {
        self.clear(index);
        let mut next = std::mem::replace(&mut self.heads[index], END);
        while let Some(node) = self.nodes.get_mut(next as usize) {
            take(node.at, node.site, node.event);
            let rest = std::mem::replace(&mut node.next, self.free);
            self.free = std::mem::replace(&mut next, rest);
        }
    }

    /// Takes the events of the present slot from the heap.
    #[inline(never)]
    fn take_far(&mut self, mut take: impl FnMut(Instant, NodeScope, u32)) {
        self.far_slot = loop {
            match self.far.peek() {
                None => break NEVER,
                Some(next) if self.slot_of(next.at()) > self.slot => break self.slot_of(next.at()),
                Some(due) => take(due.at(), due.site(), due.event()),
            }
            self.far.pop();
        };
    }

    /// Time of the first event.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let mut first = self.far.peek().map(|next| next.at());
        let mut next = self.next_occupied().map_or(END, |slot| self.heads[(slot % SLOTS) as usize]);
        while let Some(node) = self.nodes.get(next as usize) {
            first = Some(first.map_or(node.at, |first| first.min(node.at)));
            next = node.next;
        }
        first
    }

    /// First slot after the present slot that has events in the wheel.
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
        // Search the words after the present word, then from the first word on.
        let turned = self.words.rotate_right(start as u32 / 64 + 1);
        let word = (start / 64 + 1 + turned.trailing_zeros() as usize) % WORDS;
        let index = word as u64 * 64 + u64::from(self.occupied[word].trailing_zeros());
        Some(self.slot + 1 + (index + SLOTS - start as u64) % SLOTS)
    }
}
