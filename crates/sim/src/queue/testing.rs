//! Shared parts of the tests in this folder.

use super::{Backlog, DropReason, PortSetup, QueuedPacket, Room, Scheduler, SchedulerEffects};
use crate::engine::Seeds;
use crate::packet::{EcnField, Packet, PacketId, PacketType};
use shortflow_units::{Bytes, ConnId, Instant, Occupancy, Rate, Span};

/// A 1 Gbit/s port that marks above `mark_above`.
pub(crate) fn port(mark_above: &str) -> PortSetup {
    PortSetup {
        mark_above: mark_above.parse().unwrap(),
        mark_all_above: None,
        mark_probability: None,
        rate: Rate::new(1_000_000_000).unwrap(),
        gap: Bytes::ZERO,
        header: Bytes::new(40),
        seeds: Seeds::new(1),
        index: 0,
    }
}

/// An ECN-capable packet of 1500 bytes. `seq` distinguishes packets.
pub(super) fn packet(flow: u32, seq: u64, priority: u64) -> Packet {
    let (payload, wire, ecn) = (1460, 1500, EcnField::Ect);
    Packet { seq, priority, conn: ConnId(flow), flow_id: flow, payload, wire, ecn, ..Packet::EMPTY }
}

/// The header of a waiting packet that arrived at time zero. Its place is its `seq`.
pub(super) fn queued(packet: &Packet) -> QueuedPacket {
    QueuedPacket::new(PacketId(packet.seq as u32), packet, Instant::ZERO)
}

/// The packet with this header.
fn unqueued(QueuedPacket { priority, id, flow, wire, ecn, .. }: QueuedPacket) -> Packet {
    Packet { wire, ecn, ..packet(flow, id.0.into(), priority) }
}

/// An acknowledgement.
pub(super) fn ack(flow: u32) -> Packet {
    Packet { wire: 40, payload: 0, kind: PacketType::Ack, ecn: EcnField::NotEct, ..packet(flow, 0, 0) }
}

/// Marks and drops of any packets at an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Admission {
    pub marks: u32,
    /// Drops by a full buffer.
    pub drops: usize,
}

impl Admission {
    pub(super) const DROPPED: Admission = Admission { marks: 0, drops: 1 };
}

/// Offers a packet to a queue whose port has no limit and transmits nothing.
pub(super) fn offer(queue: &mut impl Scheduler, packet: Packet) -> Admission {
    offer_behind(queue, 0, packet)
}

/// Offers a packet to a queue whose port has this limit and transmits nothing.
pub(super) fn offer_within(limit: &str, queue: &mut impl Scheduler, packet: Packet) -> Admission {
    let room = Room { found: queue.backlog(), limit: limit.parse().unwrap() };
    offer_in(room, queue, packet)
}

/// Offers a packet to a queue whose port transmits `transmitted` packets of 1500 bytes, 0 or 1.
pub(super) fn offer_behind(queue: &mut impl Scheduler, transmitted: u32, packet: Packet) -> Admission {
    let waiting = queue.backlog();
    let found = Backlog {
        packets: waiting.packets + transmitted,
        bytes: waiting.bytes + Bytes::new(u64::from(transmitted) * 1500),
    };
    offer_in(Room { found, limit: Occupancy::Unlimited }, queue, packet)
}

fn offer_in(room: Room, queue: &mut impl Scheduler, packet: Packet) -> Admission {
    let mut effects = SchedulerEffects::default();
    queue.enqueue(room, queued(&packet), &mut effects);
    assert!(effects.drops().all(|(reason, _)| reason == DropReason::BufferFull));
    Admission { marks: effects.marks, drops: effects.drops().count() }
}

/// The packet that leaves at `at`, and the marks and drops at its departure.
pub(super) fn leave(queue: &mut impl Scheduler, at: Span) -> (Option<Packet>, SchedulerEffects) {
    let mut effects = SchedulerEffects::default();
    let left = queue.dequeue(Instant::ZERO + at, &mut effects);
    (left.map(unqueued), effects)
}

/// All packets in the order in which they leave at time zero.
pub(super) fn drain(queue: &mut impl Scheduler) -> Vec<Packet> {
    std::iter::from_fn(|| leave(queue, Span::ZERO).0).collect()
}

/// `seq` of each packet.
pub(super) fn seqs(packets: &[Packet]) -> Vec<u64> {
    packets.iter().map(|packet| packet.seq).collect()
}

/// `seq` of the marked packets.
pub(super) fn marked(packets: &[Packet]) -> Vec<u64> {
    packets.iter().filter(|packet| packet.ecn == EcnField::Ce).map(|packet| packet.seq).collect()
}
