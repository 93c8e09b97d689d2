//! Priority dropping and scheduling — pFabric (Alizadeh et al., SIGCOMM 2013) §4.2. A full port drops the
//! packet with the lowest priority. A port sends from the flow with the highest priority.
//!
//! | paper | here |
//! |---|---|
//! | priority number (§4.1) | [`Packet::priority`](crate::packet::Packet::priority); a lower number leaves sooner |
//! | priority dropping (§4.2) | a full buffer evicts the worst packet if the arriving one is better |
//! | a host sends its best flow first (§4.1) | the same queue in hosts: `host.queue` of the scheme |
//! | starvation prevention (§4.2) | the earliest packet of the flow with the best packet is sent |
//!
//! Deviations and choices:
//! - The earliest packet is the packet that arrived first, not the packet with the lowest sequence number.
//!   Flows are therefore never reordered, including retransmissions.
//! - Among equally bad packets, the last arrival is evicted. An arriving packet that is no better than the
//!   worst packet is dropped. The paper does not define ties.
//! - With a buffer in bytes, packets are evicted only if this makes room for the arriving packet.
//! - The packet in transmission counts against the buffer and is not evicted.

use super::ranked::Ranked;
use super::{Backlog, DropReason, PortSetup, QueueInfo, QueuedPacket, Room, Scheduler, SchedulerEffects};
use shortflow_spec::keys;
use shortflow_units::Instant;

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "pfabric",
    summary: "sends the packet with the best priority; a full buffer drops the worst",
    source: "pFabric, SIGCOMM 2013",
    by_priority: true,
    reads_k: false,
    trims: false,
};

keys! {
    /// The discipline has no parameters. The scenario sets the buffer.
    #[derive(Copy)]
    pub struct Params {}
}

/// A queue in order of priority, which drops from its end.
#[derive(Debug, Clone)]
pub struct PFabric {
    packets: Ranked,
}

impl PFabric {
    /// The discipline of a port.
    pub fn new(_: Params, _: PortSetup) -> Self {
        PFabric { packets: Ranked::default() }
    }

    /// Number of packets to drop for `packet`; `None` if one of them is no worse.
    fn victims(&self, mut room: Room, packet: &QueuedPacket) -> Option<u32> {
        let size = packet.wire_size();
        let mut worse = self.packets.worse_than(packet.priority);
        let mut victims = 0;
        while !room.fits(size) {
            room.found.remove(worse.next()?.wire);
            victims += 1;
        }
        Some(victims)
    }
}

impl Scheduler for PFabric {
    fn enqueue(&mut self, room: Room, waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        let Some(victims) = self.victims(room, &waiting) else {
            return effects.drop(DropReason::BufferFull, waiting);
        };
        for worst in (0..victims).filter_map(|_| self.packets.pop_worst()) {
            effects.drop(DropReason::BufferFull, worst);
        }
        self.packets.push(waiting);
    }

    fn dequeue(&mut self, _: Instant, _: &mut SchedulerEffects) -> Option<QueuedPacket> {
        self.packets.pop()
    }

    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    fn passes_idle(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Admission, ack, drain, offer, offer_within, packet, port, queued, seqs};
    use super::*;
    use crate::packet::Packet;

    fn filled(packets: &[Packet]) -> PFabric {
        let mut queue = PFabric::new(Params::default(), port("unlimited"));
        for packet in packets {
            assert_eq!(offer(&mut queue, packet.clone()), Admission::default());
        }
        queue
    }

    #[test]
    fn a_full_buffer_gives_up_the_worst_packet_for_a_better_one() {
        let mut queue = filled(&[packet(1, 0, 9), packet(2, 1, 20), packet(3, 2, 5)]);
        assert_eq!(offer_within("3pkt", &mut queue, packet(4, 3, 7)), Admission { marks: 0, drops: 1 });
        assert_eq!(seqs(&drain(&mut queue)), [2, 3, 0]);
    }

    #[test]
    fn a_packet_no_better_than_the_worst_is_dropped() {
        for priority in [9, 10] {
            let mut queue = filled(&[packet(1, 0, 9), packet(2, 1, 5)]);
            assert_eq!(offer_within("2pkt", &mut queue, packet(3, 2, priority)), Admission::DROPPED);
            assert_eq!(seqs(&drain(&mut queue)), [1, 0]);
        }
    }

    #[test]
    fn the_flow_of_the_best_packet_sends_its_earliest_one() {
        let mut queue = filled(&[packet(1, 0, 9), packet(2, 1, 5), packet(1, 2, 2)]);
        assert_eq!(seqs(&drain(&mut queue)), [0, 2, 1]);
    }

    /// Packets of 1500, 1460 and 40 bytes fill a buffer of 3000 bytes. Evicting the ACK frees too little, and
    /// evicting two packets frees enough.
    #[test]
    fn a_buffer_in_bytes_evicts_only_if_that_makes_room() {
        let small = Packet { wire: 40, ..packet(1, 1, 30) };
        let mut queue = filled(&[packet(1, 0, 20), small, Packet { wire: 1460, ..packet(2, 2, 10) }]);
        let room = Room { found: queue.backlog(), limit: "3000B".parse().unwrap() };
        assert_eq!(queue.victims(room, &queued(&packet(3, 3, 20))), None);
        assert_eq!(queue.victims(room, &queued(&packet(3, 3, 15))), Some(2));
        assert_eq!(queue.victims(room, &queued(&ack(4))), Some(1));
        assert_eq!(offer_within("3000B", &mut queue, packet(3, 3, 15)), Admission { marks: 0, drops: 2 });
        assert_eq!(seqs(&drain(&mut queue)), [2, 3]);
    }
}
