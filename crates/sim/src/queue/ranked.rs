//! Waiting packets, by priority and by flow. The best packet, the worst packet and the first packet of a flow are
//! found in time logarithmic in the number of packets. Packets do not move in memory, because the trees are faster
//! with small ranks.

use super::{Backlog, QueuedPacket};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Key in the order of packets: by priority, then by arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    priority: u64,
    serial: u64,
    place: u32,
}

/// Place of a waiting packet, with the places of the packets of its flow that arrived before and after it.
#[derive(Debug, Clone)]
struct Place {
    waiting: Option<QueuedPacket>,
    serial: u64,
    before: u32,
    after: u32,
}

/// No place.
const NONE: u32 = u32::MAX;

/// The waiting packets.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranked {
    /// The only waiting packet. It is not ordered yet, because most such packets leave before another arrives.
    alone: Option<QueuedPacket>,
    ranks: BTreeSet<Rank>,
    /// All places; their number is the largest number of packets that ever waited at once.
    places: Vec<Place>,
    /// Free places.
    free: Vec<u32>,
    /// Places of the earliest and the latest packet of each flow.
    flows: BTreeMap<u32, (u32, u32)>,
    arrivals: u64,
    backlog: Backlog,
}

impl Ranked {
    /// Backlog of the waiting packets.
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Adds a packet.
    pub(super) fn push(&mut self, waiting: QueuedPacket) {
        let is_alone = self.backlog.packets == 0;
        self.backlog.add(waiting.wire);
        if is_alone {
            self.alone = Some(waiting);
            return;
        }
        if let Some(first) = self.alone.take() {
            self.order(first);
        }
        self.order(waiting);
    }

    fn order(&mut self, waiting: QueuedPacket) {
        let (priority, flow, serial) = (waiting.priority, waiting.flow, self.arrivals);
        self.arrivals += 1;
        let place = self.free.pop().unwrap_or(self.places.len() as u32);
        let before = match self.flows.entry(flow) {
            Entry::Vacant(entry) => {
                entry.insert((place, place));
                NONE
            }
            Entry::Occupied(mut entry) => std::mem::replace(&mut entry.get_mut().1, place),
        };
        if let Some(last) = self.places.get_mut(before as usize) {
            last.after = place;
        }
        let added = Place { waiting: Some(waiting), serial, before, after: NONE };
        match self.places.get_mut(place as usize) {
            Some(freed) => *freed = added,
            None => self.places.push(added),
        }
        self.ranks.insert(Rank { priority, serial, place });
    }

    /// Removes the earliest packet of the flow that has the best packet. Of equally good packets, the earlier one
    /// counts.
    pub(super) fn pop(&mut self) -> Option<QueuedPacket> {
        self.pop_alone().or_else(|| {
            let best = self.at(self.ranks.first()?.place)?.flow;
            let (first, _) = *self.flows.get(&best)?;
            self.take(first)
        })
    }

    /// Removes the worst packet. Of equally bad packets, the later one counts.
    pub(super) fn pop_worst(&mut self) -> Option<QueuedPacket> {
        self.pop_alone().or_else(|| self.take(self.ranks.last()?.place))
    }

    #[inline]
    fn pop_alone(&mut self) -> Option<QueuedPacket> {
        let alone = self.alone.take()?;
        self.backlog = Backlog::default();
        Some(alone)
    }

    /// The worst packet that satisfies `is_among`. Of equally bad packets, the later one counts.
    pub(super) fn worst_mut(
        &mut self,
        is_among: impl Fn(&QueuedPacket) -> bool,
    ) -> Option<&mut QueuedPacket> {
        let mut ordered = self.ranks.iter().rev().map(|rank| rank.place);
        match ordered.find(|place| self.at(*place).is_some_and(&is_among)) {
            Some(place) => self.places.get_mut(place as usize)?.waiting.as_mut(),
            None => self.alone.as_mut().filter(|waiting| is_among(waiting)),
        }
    }

    /// Packets with a worse priority than `priority`, worst first.
    pub(super) fn worse_than(&self, priority: u64) -> impl Iterator<Item = &QueuedPacket> {
        let ordered = self.ranks.iter().rev().filter_map(|rank| self.at(rank.place));
        self.alone.iter().chain(ordered).take_while(move |waiting| waiting.priority > priority)
    }

    fn at(&self, place: u32) -> Option<&QueuedPacket> {
        self.places.get(place as usize)?.waiting.as_ref()
    }

    fn take(&mut self, place: u32) -> Option<QueuedPacket> {
        let Place { waiting, serial, before, after } = self.places.get_mut(place as usize)?;
        let (waiting, serial, before, after) = (waiting.take()?, *serial, *before, *after);
        let (priority, flow) = (waiting.priority, waiting.flow);
        if let Some(earlier) = self.places.get_mut(before as usize) {
            earlier.after = after;
        }
        if let Some(later) = self.places.get_mut(after as usize) {
            later.before = before;
        }
        match self.flows.get_mut(&flow) {
            Some((first, last)) if first == last => {
                self.flows.remove(&flow);
            }
            Some((first, _)) if *first == place => *first = after,
            Some((_, last)) if *last == place => *last = before,
            _ => {}
        }
        let was_ranked = self.ranks.remove(&Rank { priority, serial, place });
        debug_assert!(was_ranked, "the priority of a packet that waits has changed");
        self.free.push(place);
        self.backlog.remove(waiting.wire);
        Some(waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, queued};
    use super::*;
    use crate::packet::Packet;
    use proptest::prelude::*;

    proptest! {
        /// Compares the trees with a list that is searched from end to end.
        #[test]
        fn agrees_with_a_scan(steps in prop::collection::vec((0u32..4, 0u64..6, 0u32..4), 1..200)) {
            let mut ranked = Ranked::default();
            let (mut list, mut most) = (Vec::<Packet>::new(), 0);
            let seq = |waiting: &QueuedPacket| u64::from(waiting.id.0);
            for (number, (flow, priority, action)) in (0..).zip(steps) {
                let best = list.iter().min_by_key(|p| (p.priority, p.seq)).cloned();
                let mut worse: Vec<&Packet> = list.iter().filter(|p| p.priority > 3).collect();
                worse.sort_by_key(|p| std::cmp::Reverse((p.priority, p.seq)));
                prop_assert_eq!(
                    ranked.worse_than(3).map(seq).collect::<Vec<_>>(),
                    worse.iter().map(|p| p.seq).collect::<Vec<_>>()
                );
                let worst = list.iter().max_by_key(|p| (p.priority, p.seq)).map(|p| p.seq);
                prop_assert_eq!(ranked.worst_mut(|_| true).map(|w| seq(w)), worst);
                let gone = match action {
                    0 => {
                        let first = best.and_then(|best| list.iter().find(|p| p.flow_id == best.flow_id));
                        prop_assert_eq!(ranked.pop().map(|w| seq(&w)), first.map(|p| p.seq));
                        first.map(|p| p.seq)
                    }
                    1 => {
                        prop_assert_eq!(ranked.pop_worst().map(|w| seq(&w)), worst);
                        worst
                    }
                    _ => {
                        ranked.push(queued(&packet(flow, number, priority)));
                        list.push(packet(flow, number, priority));
                        None
                    }
                };
                list.retain(|p| Some(p.seq) != gone);
                let bytes: u64 = list.iter().map(|p| p.wire_size().get()).sum();
                prop_assert_eq!(
                    (ranked.backlog().packets as usize, ranked.backlog().bytes.get()),
                    (list.len(), bytes)
                );
                most = most.max(list.len());
                prop_assert!(ranked.places.len() <= most, "places are used again");
            }
        }
    }
}
