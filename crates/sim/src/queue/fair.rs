//! Fair queueing per flow — deficit round robin, Shreedhar and Varghese, "Efficient Fair Queuing Using
//! Deficit Round Robin", ToN 1996. Flows take turns, and each sends as many bytes per turn as its deficit
//! allows.
//!
//! | paper | here |
//! |---|---|
//! | Quantum_i | [`Params::quantum`], equal for all flows |
//! | DC_i, ActiveList | `Flow::deficit`, `active` |
//! | buffer stealing (§5) | a full buffer drops the last packet of the flow with most bytes |
//!
//! Choices:
//! - A flow is one direction of a connection, identified without hashing. A flow whose queue becomes empty
//!   loses its deficit (§3).
//! - A flow that returns gets one quantum at once, and has the last turn.
//! - Among equally long flows, the flow with the lowest number loses its packet. If the arriving packet's
//!   flow is among the longest, the arriving packet is dropped.
//! - The marking rule is that of [`pias`](super::pias), with one queue per flow.

use super::fifo::Fifo;
use super::marking::{Marking, Scope};
use super::{Backlog, DropReason, PortSetup, QueueInfo, QueuedPacket, Room, Scheduler, SchedulerEffects};
use shortflow_spec::keys;
use shortflow_units::{Bytes, Instant};
use std::collections::{BTreeMap, VecDeque};

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "fair",
    summary: "flows take turns (deficit round robin); a full buffer drops from the longest",
    source: "DRR, ToN 1996",
    by_priority: false,
    reads_k: true,
    trims: false,
};

keys! {
    /// Parameters of turns and marks. The scenario sets buffer and threshold.
    #[derive(Copy)]
    pub struct Params {
        /// number of bytes that a flow may send per turn
        pub quantum: Bytes = "1500B", Bytes::new(64)..=Bytes::new(65_500);
        /// quantity that is compared with the marking threshold: port: backlog of the port; queue: backlog of the flow;
        /// sojourn: wait of the packet
        pub ecn: Scope = "port", Scope::WORDS, acts: ecn && has_threshold;
    }
}

/// Packets of a flow, and the bytes that it may send in its turn.
#[derive(Debug, Clone)]
struct Flow {
    packets: Fifo,
    deficit: u64,
}

/// Queues of flows that take turns.
#[derive(Debug, Clone)]
pub struct Fair {
    quantum: u64,
    marking: Marking,
    /// Flows with waiting packets.
    flows: BTreeMap<u32, Flow>,
    /// Flows in the order of their turns.
    active: VecDeque<u32>,
    backlog: Backlog,
}

impl Fair {
    /// The discipline of a port.
    pub fn new(params: Params, port: PortSetup) -> Self {
        Fair {
            quantum: params.quantum.get(),
            marking: Marking::new(params.ecn, &port),
            flows: BTreeMap::new(),
            active: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }

    /// Drops packets of the longest flows until `arriving` fits. Returns false if the flow of `arriving` is
    /// the longest.
    fn make_room(&mut self, mut room: Room, arriving: &QueuedPacket, effects: &mut SchedulerEffects) -> bool {
        let (size, own) = (arriving.wire_size(), arriving.flow);
        while !room.fits(size) {
            let bytes = |flow: &Flow| flow.packets.backlog().bytes;
            let others = self.flows.iter().filter(|(id, _)| **id != own);
            let Some((longest, most)) =
                others.map(|(id, flow)| (*id, bytes(flow))).reduce(|a, b| if b.1 > a.1 { b } else { a })
            else {
                return false;
            };
            if self.flows.get(&own).map_or(Bytes::ZERO, bytes) + size >= most {
                return false;
            }
            let Some(last) = self.take(longest, Fifo::pop_last) else { return false };
            room.found.remove(last.wire);
            effects.drop(DropReason::BufferFull, last);
        }
        true
    }

    /// Takes a packet of flow `id`. If this was its only packet, the flow has no more turns.
    fn take(&mut self, id: u32, pop: impl FnOnce(&mut Fifo) -> Option<QueuedPacket>) -> Option<QueuedPacket> {
        let flow = self.flows.get_mut(&id)?;
        let waiting = pop(&mut flow.packets)?;
        self.backlog.remove(waiting.wire);
        if flow.packets.is_empty() {
            self.flows.remove(&id);
            let turn = self.active.iter().position(|active| *active == id)?;
            self.active.remove(turn);
        }
        Some(waiting)
    }
}

impl Scheduler for Fair {
    fn enqueue(&mut self, room: Room, mut waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        if !self.make_room(room, &waiting, effects) {
            return effects.drop(DropReason::BufferFull, waiting);
        }
        let id = waiting.flow;
        let flow = self.flows.entry(id).or_insert_with(|| {
            self.active.push_back(id);
            Flow { packets: Fifo::default(), deficit: self.quantum }
        });
        if self.marking.on_arrival(room.found, flow.packets.backlog()) {
            effects.mark(&mut waiting);
        }
        self.backlog.add(waiting.wire);
        flow.packets.push(waiting);
    }

    fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket> {
        loop {
            let id = *self.active.front()?;
            let flow = self.flows.get_mut(&id)?;
            let size = flow.packets.front()?.wire_size().get();
            if size <= flow.deficit {
                flow.deficit -= size;
                let mut next = self.take(id, Fifo::pop)?;
                if self.marking.on_departure(now, &next) {
                    effects.mark(&mut next);
                }
                return Some(next);
            }
            flow.deficit += self.quantum;
            self.active.rotate_left(1);
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn passes_idle(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Admission, drain, marked, offer, offer_within, packet, port};
    use super::*;
    use crate::packet::Packet;

    fn queue(quantum: u64, ecn: Scope, mark_above: &str) -> Fair {
        Fair::new(Params { quantum: Bytes::new(quantum), ecn }, port(mark_above))
    }

    fn flows(packets: &[Packet]) -> Vec<u32> {
        packets.iter().map(Packet::flow).collect()
    }

    #[test]
    fn flows_take_turns() {
        let mut queue = queue(1500, Scope::Port, "unlimited");
        for flow in [7, 7, 7, 7, 2, 2, 5] {
            offer(&mut queue, packet(flow, 0, 0));
        }
        assert_eq!(flows(&drain(&mut queue)), [7, 2, 5, 7, 2, 7, 7]);
    }

    /// With a quantum of 500 bytes, flow 1 sends three packets of 500 bytes for each packet of 1500 bytes of
    /// flow 2.
    #[test]
    fn turns_are_counted_in_bytes() {
        let mut queue = queue(500, Scope::Port, "unlimited");
        for _ in 0..6 {
            offer(&mut queue, Packet { wire: 500, ..packet(1, 0, 0) });
            offer(&mut queue, packet(2, 0, 0));
        }
        let first: Vec<u32> = flows(&drain(&mut queue)).into_iter().take(8).collect();
        assert_eq!(first, [1, 1, 1, 2, 1, 1, 1, 2]);
    }

    #[test]
    fn a_full_buffer_gives_up_the_last_packet_of_the_longest_flow() {
        let mut queue = queue(1500, Scope::Port, "unlimited");
        for (flow, seq) in [(1, 0), (2, 1), (2, 2), (2, 3)] {
            offer(&mut queue, packet(flow, seq, 0));
        }
        assert_eq!(offer_within("4pkt", &mut queue, packet(1, 4, 0)), Admission { marks: 0, drops: 1 });
        assert_eq!(offer_within("4pkt", &mut queue, packet(2, 5, 0)), Admission::DROPPED);
        let left: Vec<(u32, u64)> =
            drain(&mut queue).iter().map(|packet| (packet.flow(), packet.seq)).collect();
        assert_eq!(left, [(1, 0), (2, 1), (1, 4), (2, 2)]);
    }

    /// K = 2 packets. The fourth packet finds three packets in the port, and none of its flow.
    #[test]
    fn the_threshold_is_of_the_port_or_of_the_flow() {
        for (ecn, expected) in [(Scope::Port, vec![3]), (Scope::Queue, vec![])] {
            let mut queue = queue(1500, ecn, "2pkt");
            for (flow, seq) in [(1, 0), (1, 1), (1, 2), (2, 3)] {
                offer(&mut queue, packet(flow, seq, 0));
            }
            assert_eq!(marked(&drain(&mut queue)), expected, "{ecn:?}");
        }
    }
}
