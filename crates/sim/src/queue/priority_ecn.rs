//! pECN — Huang, Zhang, Liu, "A Mechanism Achieving Low Latency for Wireless Datacenter Applications",
//! ComSIS 2016 §4: ECN keeps the queue short, and the port sends the packet with the best priority.
//!
//! | symbol | field |
//! |---|---|
//! | K (Eq. 1) | `mark_above`, in packets or bytes, above a seventh of the bandwidth–delay product |
//! | priority in the header (§4.2) | [`Packet::priority`](crate::packet::Packet::priority); a lower number leaves sooner |
//! | marking of the arriving packet, or pMark (§4.1) | [`Params::mark`] |
//!
//! Deviations and choices:
//! - §5.1 sets the priority "positively proportional to the flow size", although small flows go first. The
//!   number is therefore a rank.
//! - The paper does not define the order of packets of one flow with different priorities. Here, flows are
//!   never reordered: the flow with the best packet sends its earliest packet. If all packets of a flow have
//!   one priority, this is the paper's rule.
//! - Equal packets leave in order of arrival. A full buffer drops the arriving packet, whatever its priority,
//!   because the paper changes only marking and dequeue.
//! - As in step marking, K is compared with the backlog that the arriving packet finds, including the packet
//!   in transmission and without the arriving packet.
//! - pMark marks nothing if the packet with the lowest priority is already marked or is not ECN-capable
//!   ([`Params::among`]). Among equal packets, it marks the last arrival.

use super::ranked::Ranked;
use super::{Backlog, DropReason, PortSetup, QueueInfo, QueuedPacket, Room, Scheduler, SchedulerEffects};
use crate::packet::EcnField;
use shortflow_spec::{keys, words};
use shortflow_units::{Instant, Occupancy};

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "priority-ecn",
    summary: "sends the packet with the best priority; marks when the backlog is above K",
    source: "pECN, ComSIS 2016",
    by_priority: true,
    reads_k: true,
    trims: false,
};

words! {
    /// Packet that a marking queue marks.
    pub enum Marked {
        /// The arriving packet: plain ECN.
        Arriving = "arriving",
        /// The departing packet, if it leaves a backlog above K behind.
        Departing = "departing",
        /// The packet with the lowest priority among the queued packets and the arriving packet: pMark.
        Lowest = "lowest",
    }
}

words! {
    /// Packets among which pMark looks for the lowest priority.
    pub enum Among {
        /// All packets.
        All = "all",
        /// Packets that it can mark.
        Unmarked = "unmarked",
    }
}

keys! {
    /// Parameters of marks. The scenario sets buffer and threshold.
    #[derive(Copy)]
    pub struct Params {
        /// packet that is marked: arriving: the arriving packet; departing: the departing packet; lowest: the packet
        /// with the lowest priority (pMark)
        pub mark: Marked = "arriving", Marked::WORDS, acts: ecn && has_threshold;
        /// packets among which pMark looks for the lowest priority: all: all packets; unmarked: packets that it can
        /// mark
        pub among: Among = "all", Among::WORDS, acts: ecn && has_threshold && mark == lowest;
    }
}

/// A queue in order of priority that marks above a threshold.
#[derive(Debug, Clone)]
pub struct PriorityEcn {
    params: Params,
    mark_above: Occupancy,
    packets: Ranked,
}

impl PriorityEcn {
    /// The discipline of a port.
    pub fn new(params: Params, port: PortSetup) -> Self {
        PriorityEcn { params, mark_above: port.mark_above, packets: Ranked::default() }
    }
}

impl Scheduler for PriorityEcn {
    fn enqueue(&mut self, room: Room, mut waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        if !room.fits(waiting.wire_size()) {
            return effects.drop(DropReason::BufferFull, waiting);
        }
        let due = room.found.is_above(self.mark_above);
        if due && self.params.mark == Marked::Arriving {
            effects.mark(&mut waiting);
        }
        self.packets.push(waiting);
        if due && self.params.mark == Marked::Lowest {
            let is_among =
                |packet: &QueuedPacket| self.params.among == Among::All || packet.ecn == EcnField::Ect;
            self.packets.worst_mut(is_among).map(|worst| effects.mark(worst));
        }
    }

    fn dequeue(&mut self, _: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket> {
        let mut next = self.packets.pop()?;
        if self.params.mark == Marked::Departing && self.packets.backlog().is_above(self.mark_above) {
            effects.mark(&mut next);
        }
        Some(next)
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
    use super::super::testing::{
        Admission, ack, drain, marked, offer, offer_behind, offer_within, packet, port, seqs,
    };
    use super::*;
    use crate::packet::Packet;
    use proptest::prelude::*;

    fn queue(mark: Marked, mark_above: &str) -> PriorityEcn {
        PriorityEcn::new(Params { mark, among: Among::All }, port(mark_above))
    }

    fn filled(queue: &mut PriorityEcn, packets: impl IntoIterator<Item = Packet>) -> Admission {
        packets.into_iter().fold(Admission::default(), |all, packet| {
            let one = offer(queue, packet);
            Admission { marks: all.marks + one.marks, drops: all.drops + one.drops }
        })
    }

    /// Claim pecn/sec41-pmark-policy. K = 30 KB is 20 full packets, so the 22nd packet finds 31.5 KB.
    #[test]
    fn pmark_marks_the_lowest_priority_among_queued_and_arriving() {
        let mut queue = queue(Marked::Lowest, "30KB");
        let fill = (0..21).map(|i| packet(i, u64::from(i), 100 + u64::from(i)));
        assert_eq!(filled(&mut queue, fill), Admission::default());
        assert_eq!(
            offer(&mut queue, packet(21, 21, 5)).marks,
            1,
            "the queued packet 20, not the arriving one"
        );
        assert_eq!(offer(&mut queue, packet(22, 22, 5)).marks, 0, "packet 20 is marked already");
        assert_eq!(offer(&mut queue, packet(23, 23, 200)).marks, 1, "the arriving one is the lowest");
        assert_eq!(marked(&drain(&mut queue)), [20, 23]);
    }

    /// Section 4.1, another reading. Packet 2 is marked, so packet 1 is marked next.
    #[test]
    fn pmark_may_pass_over_marked_packets() {
        let params = Params { mark: Marked::Lowest, among: Among::Unmarked };
        let mut queue = PriorityEcn::new(params, port("2pkt"));
        let marks = filled(&mut queue, (0..5).map(|seq| packet(0, seq, if seq < 3 { seq } else { 0 }))).marks;
        assert_eq!((marks, marked(&drain(&mut queue))), (2, vec![1, 2]));
    }

    /// Section 4.1, the other policy. The arriving packet is marked, whatever its priority.
    #[test]
    fn plain_ecn_marks_the_arriving_packet() {
        let mut queue = queue(Marked::Arriving, "30KB");
        filled(&mut queue, (0..21).map(|i| packet(i, u64::from(i), 100)));
        assert_eq!(offer(&mut queue, packet(21, 21, 5)).marks, 1);
        assert_eq!(offer(&mut queue, ack(22)).marks, 0, "not ECN-capable");
        assert_eq!(marked(&drain(&mut queue)), [21]);
    }

    /// K = 2 packets. Of five packets with one rank, the first two leave more than two packets behind.
    #[test]
    fn the_departing_packet_is_marked_by_what_it_leaves_behind() {
        let mut queue = queue(Marked::Departing, "2pkt");
        assert_eq!(filled(&mut queue, (0..5).map(|i| packet(i, u64::from(i), 1))).marks, 0);
        assert_eq!(marked(&drain(&mut queue)), [0, 1]);
    }

    /// K = 2 packets. One packet in transmission and two waiting packets exceed K; two waiting packets alone
    /// do not.
    #[test]
    fn the_packet_in_transmission_counts() {
        for mark in [Marked::Arriving, Marked::Lowest] {
            for (transmitted, marks) in [(0, 0), (1, 1)] {
                let mut queue = queue(mark, "2pkt");
                filled(&mut queue, [packet(0, 0, 1), packet(0, 1, 1)]);
                assert_eq!(offer_behind(&mut queue, transmitted, packet(0, 2, 1)).marks, marks, "{mark:?}");
            }
        }
    }

    proptest! {
        /// Claim pecn/sec42-dequeue-policy. Priorities are any 64-bit numbers, and equal packets leave in
        /// order of arrival.
        #[test]
        fn the_best_priority_leaves_first(priorities in prop::collection::vec(prop_oneof![any::<u64>(), 0..3u64], 1..100)) {
            let mut queue = queue(Marked::Arriving, "unlimited");
            let packets = || (0..).zip(&priorities).map(|(i, &priority)| packet(i, u64::from(i), priority));
            filled(&mut queue, packets());
            let mut expected: Vec<Packet> = packets().collect();
            expected.sort_by_key(|packet| packet.priority);
            prop_assert_eq!(seqs(&drain(&mut queue)), seqs(&expected));
        }
    }

    /// Flow 1 (remaining size 9, then 2) goes before flow 2 (5) because of its second packet, and keeps its
    /// order.
    #[test]
    fn a_flow_is_never_reordered() {
        let mut queue = queue(Marked::Arriving, "unlimited");
        filled(&mut queue, [packet(1, 0, 9), packet(2, 1, 5), packet(1, 2, 2)]);
        assert_eq!(seqs(&drain(&mut queue)), [0, 2, 1]);
    }

    #[test]
    fn a_full_buffer_drops_the_arriving_packet_even_if_it_is_urgent() {
        let mut queue = queue(Marked::Arriving, "unlimited");
        filled(&mut queue, [packet(1, 0, 9), packet(2, 1, 9)]);
        assert_eq!(offer_within("2pkt", &mut queue, packet(3, 2, 0)), Admission::DROPPED);
        assert_eq!(seqs(&drain(&mut queue)), [0, 1]);
    }
}
