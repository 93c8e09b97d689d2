//! Strict priority queues — PIAS (Bai et al., NSDI 2015) §3: a port of a commodity switch with eight FIFO
//! queues, served in strict order, and ECN.
//!
//! | paper | here |
//! |---|---|
//! | P₁ … P₈ | `levels`, chosen by [`Packet::priority`](crate::packet::Packet::priority) 0 … 7 |
//! | tags by bytes sent, thresholds α (§3.1) | the sender's rule `priority.by = levels` |
//! | K, per port (the paper's choice) or per queue (§4) | `mark_above`, [`Params::ecn`]; `ecn = sojourn` is the rule of [`tcn`](super::tcn) |
//!
//! Deviations and choices:
//! - Priorities above 7 share the last queue.
//! - All queues share one buffer. A full buffer drops the arriving packet.
//! - Per port, K is compared with the backlog that the arriving packet finds, including the packet in
//!   transmission. Per queue, K is compared with the packets that wait in the packet's own queue.
//! - Flows are demoted and never promoted, so packets of a flow keep their order. A new message on a
//!   persistent connection starts with the best priority, and may overtake the end of the message before it.

use super::fifo::Fifo;
use super::marking::{Marking, Scope};
use super::{Backlog, DropReason, PortSetup, QueueInfo, QueuedPacket, Room, Scheduler, SchedulerEffects};
use shortflow_spec::keys;
use shortflow_units::Instant;

/// Registry entry.
pub(crate) const INFO: QueueInfo = QueueInfo {
    name: "pias",
    summary: "eight FIFO queues in strict priority; marks above K, per port or per queue",
    source: "PIAS, NSDI 2015",
    by_priority: true,
    reads_k: true,
    trims: false,
};

/// Number of queues of a port.
pub(crate) const LEVELS: usize = 8;

keys! {
    /// Parameters of marks. The scenario sets buffer and threshold.
    #[derive(Copy)]
    pub struct Params {
        /// quantity that is compared with the marking threshold: port: backlog of the port; queue: backlog of the
        /// packet's queue; sojourn: wait of the packet
        pub ecn: Scope = "port", Scope::WORDS, acts: ecn && has_threshold;
    }
}

/// Strict priority queues behind one buffer.
#[derive(Debug, Clone)]
pub struct Pias {
    marking: Marking,
    levels: Vec<Fifo>,
    backlog: Backlog,
}

impl Pias {
    /// The discipline of a port.
    pub fn new(params: Params, port: PortSetup) -> Self {
        let marking = Marking::new(params.ecn, &port);
        let levels = vec![Fifo::default(); LEVELS];
        Pias { marking, levels, backlog: Backlog::default() }
    }
}

impl Scheduler for Pias {
    fn enqueue(&mut self, room: Room, mut waiting: QueuedPacket, effects: &mut SchedulerEffects) {
        if !room.fits(waiting.wire_size()) {
            return effects.drop(DropReason::BufferFull, waiting);
        }
        let level = &mut self.levels[waiting.priority.min(LEVELS as u64 - 1) as usize];
        if self.marking.on_arrival(room.found, level.backlog()) {
            effects.mark(&mut waiting);
        }
        self.backlog.add(waiting.wire);
        level.push(waiting);
    }

    fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket> {
        let mut next = self.levels.iter_mut().find_map(Fifo::pop)?;
        self.backlog.remove(next.wire);
        if self.marking.on_departure(now, &next) {
            effects.mark(&mut next);
        }
        Some(next)
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
    use super::super::testing::{
        Admission, drain, leave, marked, offer, offer_behind, offer_within, packet, port, seqs,
    };
    use super::*;
    use shortflow_units::Span;

    fn queue(ecn: Scope, mark_above: &str) -> Pias {
        Pias::new(Params { ecn }, port(mark_above))
    }

    #[test]
    fn the_first_queue_that_is_not_empty_is_served() {
        let mut queue = queue(Scope::Port, "unlimited");
        for (seq, priority) in [(0, 2), (1, 0), (2, 2), (3, 1), (4, u64::MAX), (5, 7), (6, 0)] {
            offer(&mut queue, packet(0, seq, priority));
        }
        assert_eq!(seqs(&drain(&mut queue)), [1, 6, 3, 0, 2, 4, 5]);
    }

    /// K = 2 packets. The fourth packet finds three packets in the port, and one in its own queue.
    #[test]
    fn the_threshold_is_of_the_port_or_of_the_queue() {
        for (ecn, expected) in [(Scope::Port, vec![3, 4]), (Scope::Queue, vec![])] {
            let mut queue = queue(ecn, "2pkt");
            for (seq, priority) in [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1)] {
                offer(&mut queue, packet(0, seq, priority));
            }
            let mut got = marked(&drain(&mut queue));
            got.sort_unstable();
            assert_eq!(got, expected, "{ecn:?}");
        }
    }

    /// K = 2 packets. Per queue, the fourth packet of one priority finds three packets in its queue, and is
    /// marked. A later packet of another priority finds no packet in its queue.
    #[test]
    fn per_queue_the_packet_that_finds_its_own_queue_too_long_is_marked() {
        let mut queue = queue(Scope::Queue, "2pkt");
        let marks = [(0, 1), (1, 1), (2, 1), (3, 1), (4, 0), (5, 2)]
            .map(|(seq, priority)| offer(&mut queue, packet(0, seq, priority)).marks);
        assert_eq!(marks, [0, 0, 0, 1, 0, 0]);
        assert_eq!(marked(&drain(&mut queue)), [3]);
    }

    /// K = 2 packets. One packet in transmission and two waiting packets exceed K; two waiting packets alone
    /// do not.
    #[test]
    fn per_port_the_packet_in_transmission_counts() {
        for (transmitted, marks) in [(0, 0), (1, 1)] {
            let mut queue = queue(Scope::Port, "2pkt");
            offer(&mut queue, packet(0, 0, 0));
            offer(&mut queue, packet(0, 1, 0));
            assert_eq!(offer_behind(&mut queue, transmitted, packet(0, 2, 0)).marks, marks);
        }
    }

    #[test]
    fn the_queues_share_the_buffer() {
        let mut queue = queue(Scope::Port, "unlimited");
        offer(&mut queue, packet(0, 0, 7));
        offer(&mut queue, packet(0, 1, 7));
        assert_eq!(offer_within("2pkt", &mut queue, packet(0, 2, 0)), Admission::DROPPED);
    }

    /// K = 2 packets, which take 24 us at 1 Gbit/s. Packets that have waited longer are marked when they
    /// leave.
    #[test]
    fn by_waits_the_packet_that_leaves_late_is_marked() {
        let mut queue = queue(Scope::Sojourn, "2pkt");
        let marks = [0, 1, 2, 3].map(|seq| offer(&mut queue, packet(0, seq, seq % 2)).marks);
        assert_eq!(marks, [0; 4]);
        let mut left = |us: u64| {
            let (packet, effects) = leave(&mut queue, Span::from_micros(us));
            (packet.unwrap().seq, effects.marks)
        };
        assert_eq!([left(0), left(24), left(25), left(36)], [(0, 0), (2, 0), (1, 1), (3, 1)]);
    }
}
