//! Packets that wait, by priority and by flow. Both ends of the order of priorities and the first
//! packet of a flow are found in time logarithmic in the number of packets: nothing is scanned.

use super::{Backlog, Waiting};
use crate::packet::Packet;
use std::collections::{BTreeMap, BTreeSet};

/// Orders packets: by priority, then by arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    priority: u64,
    serial: u64,
    flow: u32,
}

impl Rank {
    fn place(self) -> (u32, u64) {
        (self.flow, self.serial)
    }
}

/// The packets.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranked {
    ranks: BTreeSet<Rank>,
    /// By flow, in order of arrival.
    packets: BTreeMap<(u32, u64), Waiting>,
    arrivals: u64,
    backlog: Backlog,
}

impl Ranked {
    /// What waits.
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Adds a packet.
    pub(super) fn push(&mut self, waiting: Waiting) {
        let packet = &waiting.packet;
        let rank = Rank { priority: packet.priority, serial: self.arrivals, flow: packet.flow() };
        self.arrivals += 1;
        self.backlog.add(packet);
        self.ranks.insert(rank);
        self.packets.insert(rank.place(), waiting);
    }

    /// Takes the earliest packet of the flow that has the best packet, of equals the earlier one.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let best = *self.ranks.first()?;
        let (&(flow, serial), waiting) = self.packets.range((best.flow, 0)..).next()?;
        self.take(Rank { priority: waiting.packet.priority, serial, flow })
    }

    /// Takes the worst packet, of equals the later one.
    pub(super) fn pop_worst(&mut self) -> Option<Waiting> {
        let worst = *self.ranks.last()?;
        self.take(worst)
    }

    /// The worst packet, of equals the later one.
    pub(super) fn worst_mut(&mut self) -> Option<&mut Packet> {
        let worst = self.ranks.last()?;
        self.packets.get_mut(&worst.place()).map(|waiting| &mut waiting.packet)
    }

    /// Packets that are worse than `priority`, the worst first.
    pub(super) fn worse_than(&self, priority: u64) -> impl Iterator<Item = &Packet> {
        let worse = self.ranks.iter().rev().take_while(move |rank| rank.priority > priority);
        worse.filter_map(|rank| self.packets.get(&rank.place())).map(|waiting| &waiting.packet)
    }

    fn take(&mut self, rank: Rank) -> Option<Waiting> {
        self.ranks.remove(&rank);
        let waiting = self.packets.remove(&rank.place())?;
        self.backlog.remove(&waiting.packet);
        Some(waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::packet;
    use super::*;
    use proptest::prelude::*;
    use shortflow_units::Instant;

    proptest! {
        /// Against a list that is searched from end to end.
        #[test]
        fn agrees_with_a_scan(steps in prop::collection::vec((0u32..4, 0u64..6, 0u32..4), 1..200)) {
            let mut ranked = Ranked::default();
            let mut list: Vec<Packet> = Vec::new();
            for (seq, (flow, priority, action)) in (0..).zip(steps) {
                let best = list.iter().min_by_key(|p| (p.priority, p.seq)).cloned();
                let worst = list.iter().max_by_key(|p| (p.priority, p.seq)).map(|p| p.seq);
                let gone = match action {
                    0 => {
                        let first = best.and_then(|best| list.iter().find(|p| p.flow_id == best.flow_id));
                        prop_assert_eq!(ranked.pop().map(|w| w.packet.seq), first.map(|p| p.seq));
                        first.map(|p| p.seq)
                    }
                    1 => {
                        prop_assert_eq!(ranked.pop_worst().map(|w| w.packet.seq), worst);
                        worst
                    }
                    _ => {
                        ranked.push(Waiting { packet: packet(flow, seq, priority), arrived: Instant::ZERO });
                        list.push(packet(flow, seq, priority));
                        None
                    }
                };
                list.retain(|p| Some(p.seq) != gone);
                prop_assert_eq!(ranked.backlog().packets as usize, list.len());
                prop_assert_eq!(ranked.worse_than(3).count(), list.iter().filter(|p| p.priority > 3).count());
            }
        }
    }
}
