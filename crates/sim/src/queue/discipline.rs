//! Interface of a queue discipline to a port: [`QueueDiscipline`] or [`Scheduler`].

use super::{Backlog, Room};
use crate::engine::Seeds;
use crate::packet::{EcnField, Frame, Packet, PacketId, PacketType, Packets};
use shortflow_units::{Bytes, Instant, Occupancy, PortId, Rate};

/// Outcome of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted.
    Queued,
    /// Accepted, with CE to be set.
    Marked,
    /// Gone; the caller counts why.
    Dropped(DropReason),
}

/// Why a packet was dropped. The reasons after the first two are the scenario's faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// No room in the buffer, for itself or beside a packet with a better priority.
    BufferFull,
    /// The discipline gave up room to signal congestion.
    Early,
    /// Lost by chance, or because the scenario names it.
    Loss,
    /// Damaged on the wire, and dropped at its end.
    Corrupted,
    /// It was queued for, on, or sent to a link that was down.
    LinkDown,
    /// No path of links that are up leads to its host.
    NoRoute,
}

impl DropReason {
    /// Every reason.
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

/// A queue discipline with arrival order.
pub trait QueueDiscipline {
    /// Judges a packet that arrives at `now`.
    fn arrive(&mut self, now: Instant, room: Room, packet: Frame) -> Verdict;

    /// Marking threshold, if it reads nothing else.
    fn threshold(&self) -> Option<Occupancy> {
        None
    }
}

/// Class of a packet at ports whose other end may pause data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrafficClass {
    /// Packets with payload.
    Data,
    /// All others.
    Control,
}

impl TrafficClass {
    /// The class of packets of this type.
    #[inline]
    pub fn of(kind: PacketType) -> TrafficClass {
        if kind == PacketType::Data { TrafficClass::Data } else { TrafficClass::Control }
    }
}

/// A waiting packet's place, and the header fields that schedulers read.
#[derive(Debug, Clone, Copy)]
pub struct QueuedPacket {
    /// Arrival time.
    pub arrived: Instant,
    /// Rank among waiting packets: lower leaves sooner.
    pub priority: u64,
    /// Place of the packet.
    pub id: PacketId,
    /// Flow in a switch: packets of one connection in one direction.
    pub flow: u32,
    /// Port that it came from; [`QueuedPacket::OWN`] unless its switch counts what each link has brought.
    pub from: PortId,
    /// Bytes on the wire.
    pub wire: u16,
    /// ECN field. The packet gets this one when it leaves.
    pub ecn: EcnField,
    /// Class.
    pub class: TrafficClass,
}

impl QueuedPacket {
    /// No port.
    pub const OWN: PortId = PortId(u32::MAX);

    /// The packet at place `id`, which arrives now.
    #[inline]
    pub fn new(id: PacketId, packet: &Packet, arrived: Instant) -> QueuedPacket {
        let &Packet { priority, flow_id, wire, ecn, kind, .. } = packet;
        let (from, class) = (QueuedPacket::OWN, TrafficClass::of(kind));
        QueuedPacket { arrived, priority, id, flow: flow_id, from, wire, ecn, class }
    }

    /// Bytes on the wire.
    #[inline]
    pub fn wire_size(&self) -> Bytes {
        Bytes::new(self.wire.into())
    }

    /// Takes the packet out of its place, with the marks that it got while it waited.
    pub fn take(&self, packets: &mut Packets) -> Packet {
        Packet { ecn: self.ecn, ..packets.take(self.id) }
    }
}

/// What becomes of a packet that does not wait any longer as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is gone.
    Dropped(DropReason),
    /// It has lost its payload.
    Trimmed {
        /// Its bytes on the wire before.
        was: u16,
    },
}

/// Marks, drops and trims of a scheduler.
#[derive(Debug, Default)]
pub struct SchedulerEffects {
    /// Packets marked.
    pub marks: u32,
    /// Packets dropped or trimmed, the arriving one or any that waited.
    pub fates: Vec<(Fate, QueuedPacket)>,
}

impl SchedulerEffects {
    /// Sets CE on an ECN-capable packet, and counts it unless it was set. Returns `true` if marked now.
    pub fn mark(&mut self, packet: &mut QueuedPacket) -> bool {
        self.marks += u32::from(packet.ecn == EcnField::Ect);
        if packet.ecn != EcnField::NotEct {
            packet.ecn = EcnField::Ce;
        }
        packet.ecn == EcnField::Ce
    }

    /// Drops a packet.
    pub fn drop(&mut self, reason: DropReason, packet: QueuedPacket) {
        self.fates.push((Fate::Dropped(reason), packet));
    }

    /// Trims a data packet to a header of so many bytes on the wire, on an arrival. It is a control packet from then on.
    pub fn trim(&mut self, packet: &mut QueuedPacket, header: u16) {
        let was = packet.wire;
        (packet.wire, packet.class) = (was.min(header), TrafficClass::Control);
        self.fates.push((Fate::Trimmed { was }, *packet));
    }

    /// Packets dropped, and why.
    pub fn drops(&self) -> impl Iterator<Item = (DropReason, &QueuedPacket)> {
        self.fates.iter().filter_map(|(fate, packet)| match fate {
            Fate::Dropped(reason) => Some((*reason, packet)),
            Fate::Trimmed { .. } => None,
        })
    }
}

/// A queue discipline that acts on departure: it chooses the next packet, or marks or drops it then. It has the places and
/// headers of the waiting packets; the port has the packet in transmission.
pub trait Scheduler {
    /// Takes a packet in, or drops it or others for it. The backlog found includes the packet in transmission. A
    /// queue in which packets wait does not become empty by this.
    fn enqueue(&mut self, room: Room, waiting: QueuedPacket, effects: &mut SchedulerEffects);

    /// Takes out the packet to be sent at `now`. It may be marked, and others dropped before it. Unless all
    /// that wait are dropped or paused, one is given: ports never idle.
    fn dequeue(&mut self, now: Instant, effects: &mut SchedulerEffects) -> Option<QueuedPacket>;

    /// Waiting packets.
    fn backlog(&self) -> Backlog;

    /// True if a packet that finds an idle port leaves at once, neither marked nor dropped, and leaves the scheduler as it was.
    fn passes_idle(&self) -> bool {
        false
    }
}

/// A discipline in lists and documentation.
#[derive(Debug, Clone, Copy)]
pub struct QueueInfo {
    /// Name that users type.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Reads the priority of packets, so that one of a connection may overtake another.
    pub by_priority: bool,
    /// Reads K, the marking threshold of its port.
    pub reads_k: bool,
    /// Trims packets, whose headers may overtake data. Transports must understand them.
    pub trims: bool,
}

/// The port that a discipline is for.
#[derive(Debug, Clone)]
pub struct PortSetup {
    /// K, the marking threshold.
    pub mark_above: Occupancy,
    /// Maximum threshold of RED, if the port has its own.
    pub mark_all_above: Option<Occupancy>,
    /// Probability of a mark at that threshold, if the port has its own.
    pub mark_probability: Option<f64>,
    /// Rate of the link.
    pub rate: Rate,
    /// Bytes that the link could send between two packets.
    pub gap: Bytes,
    /// The size in buffers of a packet without payload.
    pub header: Bytes,
    /// Random streams of the run.
    pub seeds: Seeds,
    /// Number of the port: disciplines that draw have a stream per port.
    pub index: usize,
}
