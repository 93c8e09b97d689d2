//! [`Ring`]: packets of a port in order of departure, beginning with the packets on the wire.
//!
//! Packets are numbered. The number of slots is a power of two, so the low bits of a packet's number are its
//! slot. Departures are counted on demand. A packet that has reached the other end keeps its slot until its
//! departure is counted, so an arrival need not count departures.

use crate::packet::PacketId;
use shortflow_units::Instant;

/// A packet, the departure time of its last bit, and its bytes on the wire.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    pub departs: Instant,
    pub packet: PacketId,
    pub wire: u16,
}

/// Packets of one port.
#[derive(Debug, Clone, Default)]
pub(super) struct Ring {
    places: Box<[InFlight]>,
    /// Number of the packet that arrives next.
    head: usize,
    /// Number of the first packet whose departure is not counted. The packet may have arrived.
    unseen: usize,
    /// Number of the packet that is added next.
    end: usize,
    /// Number below which slots were free for new packets at the last check.
    free: usize,
}

/// Number of slots of the smallest nonempty ring.
const LEAST: usize = 4;

impl Ring {
    #[inline]
    fn slot(&self, number: usize) -> usize {
        number & self.places.len().wrapping_sub(1)
    }

    #[inline]
    fn at(&self, number: usize) -> Option<&InFlight> {
        self.places.get(self.slot(number))
    }

    #[inline]
    fn at_mut(&mut self, number: usize) -> Option<&mut InFlight> {
        let place = self.slot(number);
        self.places.get_mut(place)
    }

    /// Number of packets that have not arrived.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.end - self.head
    }

    /// Number of packets that have left the ring.
    pub(super) fn removed(&self) -> u64 {
        self.head as u64
    }

    /// Number of packets on the wire whose departure is counted.
    pub(super) fn departed(&self) -> usize {
        self.unseen.saturating_sub(self.head)
    }

    /// The packet that arrives next.
    #[inline]
    pub(super) fn front(&self) -> Option<&InFlight> {
        if self.head == self.end { None } else { self.at(self.head) }
    }

    /// The packet added last, unless it has arrived.
    #[inline]
    pub(super) fn back(&self) -> Option<&InFlight> {
        if self.head == self.end { None } else { self.at(self.end - 1) }
    }

    /// Packets that have not arrived.
    pub(super) fn iter(&self) -> impl Iterator<Item = &InFlight> {
        (self.head..self.end).filter_map(|number| self.at(number))
    }

    /// The packet with `before` packets ahead of it, and the low 32 bits of its number.
    #[inline(always)]
    pub(super) fn nth(&self, before: usize) -> Option<(u32, &InFlight)> {
        let number = self.head + before;
        if number < self.end { Some((number as u32, self.at(number)?)) } else { None }
    }

    /// The next packets that arrive, at most `most`.
    #[inline(always)]
    pub(super) fn upcoming(&self, most: usize) -> impl Iterator<Item = &InFlight> {
        (self.head..self.end.min(self.head + most)).filter_map(|number| self.at(number))
    }

    /// Marks the next `count` packets as arrived. They stay in their slots.
    #[inline]
    pub(super) fn skip(&mut self, count: usize) {
        self.head += count;
    }

    /// Drops all packets. Numbering continues.
    pub(super) fn clear(&mut self) {
        (self.head, self.unseen) = (self.end, self.end);
    }

    /// Packets whose departure is not counted.
    pub(super) fn undeparted(&self) -> impl Iterator<Item = &InFlight> {
        (self.unseen..self.end).filter_map(|number| self.at(number))
    }

    /// Slot of the first packet whose departure is not counted, or of the next packet.
    #[inline]
    pub(super) fn first_unseen(&self) -> Option<&InFlight> {
        self.at(self.unseen)
    }

    /// True if a slot is free.
    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        self.end < self.free || self.find_room()
    }

    #[inline(never)] // once per revolution of the ring
    fn find_room(&mut self) -> bool {
        self.free = self.unseen.min(self.head) + self.places.len();
        self.end < self.free
    }

    /// Adds a packet that departs after all others.
    #[inline]
    pub(super) fn push(&mut self, next: InFlight) {
        if !self.has_room() {
            self.grow();
        }
        self.put(next);
    }

    /// Adds a packet that departs after all others. The ring must have room.
    #[inline(always)]
    pub(super) fn put(&mut self, next: InFlight) {
        self.end += 1;
        if let Some(place) = self.at_mut(self.end - 1) {
            *place = next;
        }
    }

    #[cold]
    #[inline(never)] // keeps the path of packets short
    fn grow(&mut self) {
        let blank = InFlight { departs: Instant::ZERO, packet: PacketId(0), wire: 0 };
        let places = vec![blank; (2 * self.places.len()).max(LEAST)].into_boxed_slice();
        let mut old = Ring { places: std::mem::replace(&mut self.places, places), ..*self };
        for number in self.unseen.min(self.head)..self.end {
            if let (Some(from), Some(to)) = (old.at_mut(number), self.at_mut(number)) {
                std::mem::swap(from, to);
            }
        }
        self.free = self.unseen.min(self.head) + self.places.len();
    }

    /// Takes the packet that arrives next. Returns it with the departure time of the following packet.
    #[inline(always)]
    pub(super) fn advance(&mut self) -> Option<(PacketId, Option<Instant>)> {
        let packet = self.front()?.packet;
        self.head += 1;
        Some((packet, self.front().map(|next| next.departs)))
    }

    /// Counts the next departure if it is due by `now`. Returns the bytes of the packet.
    #[inline]
    pub(super) fn pop_departed(&mut self, now: Instant) -> Option<u16> {
        if self.unseen == self.end {
            return None;
        }
        let next = self.places.get(self.slot(self.unseen)).filter(|next| next.departs <= now)?;
        let wire = next.wire;
        self.unseen += 1;
        Some(wire)
    }

    /// Counts all departures.
    #[inline]
    pub(super) fn mark_all_departed(&mut self) {
        self.unseen = self.end;
    }

    /// Appends the packets of `other`. All present packets depart earlier, and their departures are counted.
    pub(super) fn append(&mut self, mut other: Ring) {
        let unseen = self.end + other.departed();
        while let Some(head) = other.front().copied() {
            self.push(head);
            other.advance();
        }
        self.unseen = unseen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shortflow_units::Span;
    use std::collections::VecDeque;

    fn next(departs: u64) -> InFlight {
        InFlight {
            departs: Instant::from_ps(departs),
            packet: PacketId(departs as u32),
            wire: departs as u16,
        }
    }

    fn seqs<'a>(of: impl Iterator<Item = &'a InFlight>) -> Vec<u64> {
        of.map(|place| u64::from(place.packet.0)).collect()
    }

    proptest! {
        /// Packet `n` departs at time `n`. Arrivals and counted departures agree with two lists.
        #[test]
        fn agrees_with_lists(steps in prop::collection::vec((0..4u8, 0u64..6), 1..200)) {
            let (mut ring, mut held, mut waiting) = (Ring::default(), VecDeque::new(), VecDeque::new());
            let (mut sent, mut now) = (0, 0);
            for (step, by) in steps {
                match step {
                    0 => for _ in 0..by {
                        sent += 1;
                        ring.push(next(sent));
                        held.push_back(sent);
                        waiting.push_back(sent);
                    },
                    1 => {
                        let head = ring.advance().map(|(packet, next)| (u64::from(packet.0), next));
                        let expected = held.pop_front().map(|seq| (seq, held.front().copied().map(Instant::from_ps)));
                        prop_assert_eq!(head, expected);
                    }
                    2 => {
                        now = sent.min(now + by);
                        while let Some(gone) = ring.pop_departed(Instant::from_ps(now)) {
                            prop_assert_eq!(Some(u64::from(gone)), waiting.pop_front());
                        }
                        prop_assert!(waiting.front().is_none_or(|next| *next > now));
                    }
                    _ => {
                        now = sent;
                        ring.mark_all_departed();
                        waiting.clear();
                    }
                }
                prop_assert_eq!(ring.len(), held.len());
                prop_assert_eq!(ring.departed(), held.len().saturating_sub(waiting.len()));
                prop_assert_eq!(seqs(ring.iter()), Vec::from(held.clone()));
                prop_assert_eq!(seqs(ring.undeparted()), Vec::from(waiting.clone()));
                prop_assert_eq!(ring.front().map(|head| u64::from(head.packet.0)), held.front().copied());
                prop_assert_eq!(ring.back().map(|last| u64::from(last.packet.0)), held.back().copied());
                let next = ring.first_unseen().filter(|_| !waiting.is_empty());
                prop_assert_eq!(next.map(|next| u64::from(next.packet.0)), waiting.front().copied());
            }
        }

        /// Packets on the wire come first. The number of departed packets among the appended ones stays the
        /// same.
        #[test]
        fn a_ring_is_appended_to_the_packets_on_the_wire(far in 0u64..20, own in 0u64..20, gone in 0u64..20) {
            let [mut wire, mut rest] = [Ring::default(), Ring::default()];
            (0..far).for_each(|n| wire.push(next(n)));
            wire.mark_all_departed();
            (far..far + own).for_each(|n| rest.push(next(n)));
            let now = Instant::ZERO + Span::from_ps(far) + Span::from_ps(gone);
            while rest.pop_departed(now).is_some() {}
            wire.append(rest);
            prop_assert_eq!(seqs(wire.iter()), (0..far + own).collect::<Vec<_>>());
            prop_assert_eq!(seqs(wire.undeparted()), (far + gone + 1..far + own).collect::<Vec<_>>());
        }
    }
}
