//! Interface of a queue discipline to a port: [`QueueDiscipline`] or [`Scheduler`].

use super::{Backlog, Room};
use crate::engine::Seeds;
use crate::packet::{EcnField, Frame, Packet, PacketId, PacketType, Packets};
use crate::priorities::{DEFAULT_PRIORITY, PRIORITIES};
use shortflow_units::{Bytes, Instant, Occupancy, PortId, Rate};

/// Outcome of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted.
    Queued,
    /// Accepted, with CE to be set.
    Marked,
    /// Dropped. The caller counts the reason.
    Dropped(DropReason),
}

/// Reason for a drop. The reasons after the first two are faults of the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The buffer had no room for the packet, or for the packet beside a better one.
    BufferFull,
    /// The discipline dropped the packet to signal congestion, although there was room.
    Early,
    /// The packet was lost at random, or because the scenario names it.
    Loss,
    /// The packet was damaged on the wire, and dropped at the end of the wire.
    Corrupted,
    /// The packet was queued for a link that failed, was on this link, or was sent to it.
    LinkDown,
    /// No path to the packet's host has links that are all up.
    NoRoute,
}

impl DropReason {
    /// All reasons.
    pub const ALL: [DropReason; 6] = [
        DropReason::BufferFull,
        DropReason::Early,
        DropReason::Loss,
        DropReason::Corrupted,
        DropReason::LinkDown,
        DropReason::NoRoute,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::BufferFull => "buffer full",
            DropReason::Early => "early",
            DropReason::Loss => "loss",
            DropReason::Corrupted => "corrupted",
            DropReason::LinkDown => "link down",
            DropReason::NoRoute => "no route",
        }
    }
}

/// A queue discipline in arrival order.
pub trait QueueDiscipline {
    /// Judges a packet that arrives at `now`.
    fn arrive(&mut self, now: Instant, room: Room, packet: Frame) -> Verdict;

    /// Marking threshold, if marks depend on nothing else.
    fn threshold(&self) -> Option<Occupancy> {
        None
    }
}

/// Class of a packet at ports whose other end may pause data: control, or a priority of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrafficClass(u8);

impl TrafficClass {
    /// All packets other than data.
    pub(crate) const CONTROL: TrafficClass = TrafficClass(PRIORITIES as u8);

    /// Data packets of this priority.
    #[inline]
    pub(crate) fn data(priority: u8) -> TrafficClass {
        TrafficClass(priority)
    }

    /// The class of packets of this type, with the default priority of data.
    #[inline]
    fn of(kind: PacketType) -> TrafficClass {
        if kind == PacketType::Data { TrafficClass::data(DEFAULT_PRIORITY) } else { TrafficClass::CONTROL }
    }

    /// Priority of data; `None` for control.
    #[inline]
    pub(crate) fn priority(self) -> Option<u8> {
        (self != TrafficClass::CONTROL).then_some(self.0)
    }
}

/// Place of a waiting packet, and the header fields that schedulers read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueuedPacket {
    /// Arrival time.
    pub arrived: Instant,
    /// Rank among waiting packets. A packet with a lower rank leaves sooner.
    pub priority: u64,
    /// Place of the packet.
    pub id: PacketId,
    /// Flow in a switch: packets of one connection in one direction.
    pub flow: u32,
    /// Port from which the packet came, if its switch counts the packets of each link; otherwise
    /// [`QueuedPacket::OWN`].
    pub from: PortId,
    /// Bytes on the wire.
    pub wire: u16,
    /// ECN field, which the packet gets when it leaves.
    pub ecn: EcnField,
    /// Class.
    pub class: TrafficClass,
}

impl QueuedPacket {
    /// Stands for no port.
    pub(crate) const OWN: PortId = PortId(u32::MAX);

    /// Entry for the packet at place `id`, which arrives at `arrived`.
    #[inline]
    pub(crate) fn new(id: PacketId, packet: &Packet, arrived: Instant) -> QueuedPacket {
        let &Packet { priority, flow_id, wire, ecn, kind, .. } = packet;
        let (from, class) = (QueuedPacket::OWN, TrafficClass::of(kind));
        QueuedPacket { arrived, priority, id, flow: flow_id, from, wire, ecn, class }
    }

    /// Bytes on the wire.
    #[inline]
    pub(crate) fn wire_size(&self) -> Bytes {
        Bytes::new(self.wire.into())
    }

    /// Takes the packet out of its place, with the mark that it got while it waited.
    pub(crate) fn take(&self, packets: &mut Packets) -> Packet {
        Packet { ecn: self.ecn, ..packets.take(self.id) }
    }
}

/// Change of a packet that was dropped, trimmed or returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The packet was dropped.
    Dropped(DropReason),
    /// The packet lost its payload.
    Trimmed {
        /// Bytes on the wire before the trim.
        was: u16,
    },
    /// The packet found no room, and its header goes back to the sender of its data. Packets without data are
    /// dropped.
    Returned,
}

/// Marks, drops and trims of a scheduler.
#[derive(Debug, Default)]
pub(crate) struct SchedulerEffects {
    /// Packets marked.
    pub marks: u32,
    /// Packets that were dropped, trimmed or returned: the arriving packet, or packets that waited.
    pub fates: Vec<(Fate, QueuedPacket)>,
}

impl SchedulerEffects {
    /// Sets CE on an ECN-capable packet, and counts the mark if CE was not set before. Returns `true` if the
    /// packet has CE afterwards.
    pub(crate) fn mark(&mut self, packet: &mut QueuedPacket) -> bool {
        self.marks += u32::from(packet.ecn == EcnField::Ect);
        if packet.ecn != EcnField::NotEct {
            packet.ecn = EcnField::Ce;
        }
        packet.ecn == EcnField::Ce
    }

    /// Drops a packet.
    pub(crate) fn drop(&mut self, reason: DropReason, packet: QueuedPacket) {
        self.fates.push((Fate::Dropped(reason), packet));
    }

    /// Trims a data packet to a header of `header` bytes on the wire, at an arrival. The header keeps its class
    /// here, whose memory it takes until it leaves.
    pub(crate) fn trim(&mut self, packet: &mut QueuedPacket, header: u16) {
        let was = packet.wire;
        packet.wire = was.min(header);
        self.fates.push((Fate::Trimmed { was }, *packet));
    }

    /// Returns a packet to the sender of its data, at an arrival.
    pub(crate) fn give_back(&mut self, packet: QueuedPacket) {
        self.fates.push((Fate::Returned, packet));
    }

    /// Packets that were dropped, with the reasons.
    pub(crate) fn drops(&self) -> impl Iterator<Item = (DropReason, &QueuedPacket)> {
        self.fates.iter().filter_map(|(fate, packet)| match fate {
            Fate::Dropped(reason) => Some((*reason, packet)),
            Fate::Trimmed { .. } | Fate::Returned => None,
        })
    }
}

/// A queue discipline that decides at departures: it chooses the next packet, or marks or drops packets then.
/// The scheduler has the places and headers of the waiting packets. The port has the packet in transmission.
pub(crate) trait Scheduler {
    /// Accepts a packet, drops or trims it, or drops or trims other packets for it. The backlog in `room`
    /// includes the packet in transmission. A queue with waiting packets does not become empty.
    fn enqueue(&mut self, room: Room, waiting: QueuedPacket, effects: &mut SchedulerEffects);

    /// Removes the packet to be sent at `now`. This packet may be marked, and other packets may be dropped
    /// before it. Ports never idle: there is a packet unless all waiting packets are dropped or paused.
    fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket>;

    /// Removes the next trimmed packet to be sent, which leaves although data is paused.
    fn dequeue_control(&mut self) -> Option<QueuedPacket> {
        None
    }

    /// Waiting packets.
    fn backlog(&self) -> Backlog;

    /// True if one of the next `arrivals` packets may be returned, in a port whose buffer is `limit`.
    fn may_return(&self, _limit: Occupancy, _arrivals: u32) -> bool {
        false
    }

    /// True if a packet that finds the port idle leaves at once, is neither marked nor dropped, and leaves
    /// the scheduler unchanged.
    fn passes_idle(&self) -> bool {
        false
    }
}

/// Description of a discipline, for lists and documentation.
#[derive(Debug, Clone, Copy)]
pub struct QueueInfo {
    /// Name that users type.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// True if the discipline reads the priority of packets. A packet may then overtake another packet of its
    /// connection.
    pub by_priority: bool,
    /// True if the discipline reads K, the marking threshold of its port.
    pub reads_k: bool,
    /// True if the discipline trims packets. Headers may then overtake data, and transports must understand
    /// headers.
    pub trims: bool,
}

/// Properties of the port of a discipline.
#[derive(Debug, Clone)]
pub struct PortSetup {
    /// K, the marking threshold.
    pub mark_above: Occupancy,
    /// Maximum threshold of RED, if the scenario sets one for the port.
    pub mark_all_above: Option<Occupancy>,
    /// Probability of a mark at the maximum threshold, if the scenario sets one for the port.
    pub mark_probability: Option<f64>,
    /// Rate of the link.
    pub rate: Rate,
    /// Bytes that the link could send between two packets.
    pub gap: Bytes,
    /// Size of a packet without payload in buffers.
    pub header: Bytes,
    /// Random streams of the run.
    pub seeds: Seeds,
    /// Number of the port. Disciplines that draw random numbers have one stream per port.
    pub index: usize,
}
