//! The packet, and [`Packets`], a table of the packets in queues and on wires. Queues and wires hold the
//! numbers of the places in this table. Rare fields of a packet are in an [`Extension`] behind a pointer.

use crate::engine::prefetch;
use crate::routing::Hop;
use shortflow_cc::HopSample;
use shortflow_spec::words;
use shortflow_units::{Bytes, ConnId, HostId, Instant, NodeId, Span};

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnField {
    /// Not ECN-capable: never marked.
    NotEct,
    /// ECN-capable transport.
    Ect,
    /// Congestion experienced.
    Ce,
}

words! {
    /// Type of a packet, by its name in tables.
    pub enum PacketType {
        /// Payload, from sender to receiver.
        Data = "data",
        /// Acknowledgement, from receiver to sender.
        Ack = "ack",
        /// Connection request.
        Syn = "syn",
        /// Answer to a connection request.
        SynAck = "syn-ack",
        /// Notification of congestion (RoCE's CNP), from receiver to sender.
        Cnp = "cnp",
        /// Negative acknowledgement, from receiver to sender. RoCE's requests all data from its sequence
        /// number on, NDP's the packet that was trimmed.
        Nack = "nack",
        /// Permission to send more data, from receiver to sender.
        Grant = "grant",
        /// Request for missing bytes, from receiver to sender.
        Resend = "resend",
        /// Header of data whose payload a switch has trimmed.
        Trimmed = "trimmed",
        /// Header of data that a switch has returned to its sender, because the header found no room.
        Returned = "returned",
    }
}

impl PacketType {
    /// True if packets of this type go to the sender of data: from receivers, or from a switch that returns
    /// them.
    pub fn is_answer(self) -> bool {
        match self {
            PacketType::Data | PacketType::Syn | PacketType::Trimmed => false,
            PacketType::Ack | PacketType::SynAck | PacketType::Cnp => true,
            PacketType::Nack | PacketType::Grant | PacketType::Resend | PacketType::Returned => true,
        }
    }
}

/// Up to three SACK blocks, as offsets from the cumulative acknowledgement. With timestamps, the options have
/// room for three (RFC 2018). The most recent block is first, and unused blocks are empty. A block for
/// duplicate data may precede the others (RFC 2883).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks([(i32, i32); 3]);

impl SackBlocks {
    /// The first three of `ranges`. Ranges with an end 2 GiB or more from `ack` are left out.
    pub fn new(ack: u64, ranges: &[(u64, u64)]) -> SackBlocks {
        SackBlocks::with_duplicate(ack, None, ranges)
    }

    /// [`SackBlocks::new`], with a block for `duplicate` first.
    pub fn with_duplicate(ack: u64, duplicate: Option<(u64, u64)>, ranges: &[(u64, u64)]) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let offset = |seq: u64| i32::try_from(seq.wrapping_sub(ack) as i64).ok();
        let all = duplicate.iter().chain(ranges);
        let fitting = all.filter_map(|&(start, end)| Some((offset(start)?, offset(end)?)));
        for (slot, block) in blocks.0.iter_mut().zip(fitting) {
            *slot = block;
        }
        blocks
    }

    /// True if there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0] == (0, 0)
    }

    /// The blocks as sequence ranges `start..end`.
    pub fn ranges(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let used = self.0.iter().take_while(|block| **block != (0, 0));
        let seq = move |offset: i32| ack.wrapping_add_signed(offset.into());
        used.map(move |&(start, end)| (seq(start), seq(end)))
    }

    /// Range of duplicate data: the first block, if it is below `ack` or within the second block (RFC 2883
    /// §4).
    pub fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let mut ranges = self.ranges(ack);
        let first = ranges.next()?;
        let within = ranges.next().is_some_and(|(start, end)| start <= first.0 && first.1 <= end);
        (first.0 < ack || within).then_some(first)
    }
}

/// Sending time and waits of a data packet, for transports that read delays. These are the timestamp option
/// (RFC 7323) and in-band telemetry. The ACK returns them, and adds its own waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Telemetry {
    /// Time of hand-over to the host's port.
    pub sent: Instant,
    /// Bytes that the connection had delivered at that time.
    pub delivered: u64,
    /// Time at which the last of these bytes was acknowledged.
    pub delivered_at: Instant,
    /// Sending time of the packet whose delivery began the present rate sample.
    pub first_sent: Instant,
    /// True if the present rate sample is limited by the application, because the sender had no more data.
    pub app_limited: bool,
    /// Time in hosts: in queues, at a receiver that delayed its answer, and in waits for a processor.
    pub in_hosts: Span,
    /// Part of `in_hosts` in the queue of the sender's own host.
    pub at_sender: Span,
    /// Part of `in_hosts` in the receiver's queue, behind its own packets.
    pub at_receiver: Span,
    /// Part of `in_hosts` for which the receiver delayed its answer.
    pub ack_delay: Span,
    /// Time in the queues of switches.
    pub in_switches: Span,
    /// Number of switches that the data packet has crossed.
    pub hops: u32,
}

/// Rare contents of packets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extension {
    /// Selective acknowledgements, of an ACK.
    pub sack: SackBlocks,
    /// Telemetry, for transports that read delays.
    pub telemetry: Option<Telemetry>,
    /// Two numbers of the hosts, whose meaning the hosts define.
    pub header: [u64; 2],
    /// Reports of the ports that a data packet has left, for ports that report. The ACK returns these
    /// reports.
    pub hops: Vec<HopSample>,
}

impl Extension {
    /// An extension with these SACK blocks; `None` without blocks.
    pub fn of_sack(sack: SackBlocks) -> Option<Box<Extension>> {
        (!sack.is_empty()).then(|| Box::new(Extension { sack, ..Extension::default() }))
    }

    #[inline(never)] // keeps the path of packets without extension short
    fn wait(&mut self, time: Span, in_host: bool, kind: PacketType) {
        let Some(telemetry) = &mut self.telemetry else { return };
        if in_host {
            telemetry.in_hosts += time;
            *if kind == PacketType::Data { &mut telemetry.at_sender } else { &mut telemetry.at_receiver } +=
                time;
        } else {
            telemetry.in_switches += time;
            telemetry.hops += u32::from(kind == PacketType::Data);
        }
    }
}

/// Header fields of a packet that queues in arrival order read.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Bytes on the wire.
    pub size: Bytes,
    /// ECN field.
    pub ecn: EcnField,
}

impl Frame {
    /// True if the packet may be marked.
    #[inline]
    pub fn is_ecn_capable(&self) -> bool {
        self.ecn != EcnField::NotEct
    }
}

/// A packet.
#[derive(Debug, Clone)]
pub struct Packet {
    /// Data: first payload byte. ACK: next byte expected.
    pub seq: u64,
    /// Time spent waiting in queues so far.
    pub waited: Span,
    /// Rank among waiting packets, for queues that reorder packets. A packet with a lower rank leaves sooner.
    pub priority: u64,
    /// Slot of the connection.
    pub conn: ConnId,
    /// Number of the connection, which is never reused. It distinguishes late packets from those of the
    /// slot's next connection, and selects among equal paths.
    pub flow_id: u32,
    /// Destination.
    pub to: HostId,
    /// Part of `waited` in switches, in picoseconds. Single precision keeps packets small.
    pub in_switches: f32,
    /// Payload bytes.
    pub payload: u16,
    /// Bytes on the wire.
    pub wire: u16,
    /// Rare contents.
    pub extension: Option<Box<Extension>>,
    /// Type.
    pub kind: PacketType,
    /// ECN field.
    pub ecn: EcnField,
    /// ECN flag of the TCP header: ECE of an ACK, CWR of data.
    pub ecn_flag: bool,
    /// Index of the next port on the path of the connection: from 0 in the direction of data, and from
    /// [`REVERSE`](crate::net::REVERSE) in the other direction. If connections have no fixed paths: the label
    /// from the packet's host, plus the number of ports crossed.
    pub hop: u8,
}

impl Packet {
    /// Placeholder of a slot without a packet.
    pub const EMPTY: Packet = Packet {
        seq: 0,
        waited: Span::ZERO,
        priority: 0,
        conn: ConnId(0),
        flow_id: 0,
        to: HostId(0),
        in_switches: 0.0,
        payload: 0,
        wire: 0,
        extension: None,
        kind: PacketType::Data,
        ecn: EcnField::NotEct,
        ecn_flag: false,
        hop: 0,
    };

    /// Value of `hop` at a packet that takes no stored path. At 255 hops it would have one again.
    const WITHOUT_PATH: u8 = 64;

    /// Takes the packet out of its place. A copy without extension remains there.
    #[inline]
    pub fn take(&mut self) -> Packet {
        Packet { extension: self.extension.take(), ..*self }
    }

    /// A copy without extension.
    #[inline]
    pub fn bare(&self) -> Packet {
        Packet { extension: None, ..*self }
    }

    /// Size on the wire, and ECN field.
    #[inline]
    pub fn frame(&self) -> Frame {
        Frame { size: self.wire_size(), ecn: self.ecn }
    }

    /// Bytes on the wire.
    #[inline]
    pub fn wire_size(&self) -> Bytes {
        Bytes::new(u64::from(self.wire))
    }

    /// ECN-Echo flag of the TCP header.
    pub fn ece(&self) -> bool {
        self.ecn_flag && self.kind != PacketType::Data
    }

    /// CWR flag of the TCP header.
    pub fn cwr(&self) -> bool {
        self.ecn_flag && self.kind == PacketType::Data
    }

    /// Flow in a switch: packets of one connection in one direction.
    #[inline]
    pub fn flow(&self) -> u32 {
        self.flow_id
    }

    /// Selective acknowledgements, of an ACK.
    #[inline]
    pub fn sack(&self) -> SackBlocks {
        self.extension.as_ref().map_or_else(SackBlocks::default, |extension| extension.sack)
    }

    /// Sending time and waits, for transports that read delays.
    #[inline]
    pub fn telemetry(&self) -> Option<Telemetry> {
        self.extension.as_ref()?.telemetry
    }

    /// Adds a wait of `time` in the queue of a host (`in_host`) or of a switch.
    #[inline]
    pub fn wait(&mut self, time: Span, in_host: bool) {
        self.waited = self.waited.plus(time);
        if !in_host {
            self.in_switches += time.as_ps() as i64 as f32; // signed: one instruction
        }
        if let Some(extension) = &mut self.extension {
            extension.wait(time, in_host, self.kind);
        }
    }

    /// Hop of the packet at `node`, with a choice among `paths` paths.
    pub fn hop_at(&self, node: NodeId, paths: usize) -> Hop {
        Hop { node, to: self.to, flow_id: self.flow_id, paths, seq: self.seq, label: self.hop }
    }

    /// Moves the packet to its next port, which sends it after `waits`.
    #[inline(always)]
    pub fn go(&mut self, waits: Span, is_marked: bool, in_host: bool) {
        self.hop = self.hop.wrapping_add(1);
        self.wait(waits, in_host);
        if is_marked {
            self.ecn = EcnField::Ce;
        }
    }

    /// Adds a delay of `time` in the packet's host.
    pub fn add_host_delay(&mut self, time: Span) {
        if let Some(telemetry) = self.extension.as_mut().and_then(|extension| extension.telemetry.as_mut()) {
            telemetry.in_hosts += time;
        }
    }

    /// Removes the payload. The header has `wire` bytes on the wire.
    pub fn trim(&mut self, wire: u16) {
        (self.kind, self.payload, self.wire) = (PacketType::Trimmed, 0, wire);
    }

    /// Turns a header round, to the sender of its data at `source`. The header has no stored path: its place
    /// lies beyond every path, and switches route it hop by hop.
    pub fn turn_round(&mut self, source: HostId) {
        (self.kind, self.to, self.hop) = (PacketType::Returned, source, Packet::WITHOUT_PATH);
    }

    /// Sets CE if the packet is ECN-capable. Returns `true` if the packet has CE afterwards.
    #[inline]
    pub fn mark(&mut self) -> bool {
        if self.ecn == EcnField::NotEct {
            return false;
        }
        self.ecn = EcnField::Ce;
        true
    }
}

/// Place of a packet in [`Packets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PacketId(pub u32);

/// Place of a packet, which is one cache line.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Place(Packet);

/// Packets in queues and on wires. A packet keeps its place while a queue or ring holds its number. A free
/// place has no extension, and has the number of the next free place in `flow_id`.
#[derive(Debug, Clone)]
pub struct Packets {
    places: Vec<Place>,
    free: u32,
}

impl Default for Packets {
    fn default() -> Packets {
        Packets { places: Vec::new(), free: u32::MAX }
    }
}

impl Packets {
    /// Puts a packet into the place that was freed last, or into a new place.
    #[inline(always)]
    pub fn put(&mut self, packet: Packet) -> PacketId {
        let number = self.free;
        match self.places.get_mut(number as usize) {
            Some(Place(place)) => {
                self.free = place.flow_id;
                std::mem::forget(std::mem::replace(place, packet)); // a free place has no extension to drop
                PacketId(number)
            }
            None => self.put_behind(packet),
        }
    }

    #[inline(never)] // keeps the common path short
    fn put_behind(&mut self, packet: Packet) -> PacketId {
        self.places.push(Place(packet));
        PacketId(self.places.len() as u32 - 1)
    }

    /// The packet in a place.
    #[inline(always)]
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.places[id.0 as usize].0
    }

    /// Prefetches a packet.
    #[inline(always)]
    pub fn prefetch(&self, id: PacketId) {
        prefetch(self.places.as_ptr().wrapping_add(id.0 as usize), 1);
    }

    /// [`Packets::get`], mutable.
    #[inline(always)]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.places[id.0 as usize].0
    }

    /// Takes a packet out of its place, and frees the place.
    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet {
        let Place(place) = &mut self.places[id.0 as usize];
        let packet = place.take();
        place.flow_id = self.free;
        self.free = id.0;
        packet
    }

    /// Frees the place of a packet without extension.
    #[inline(always)]
    pub fn free(&mut self, id: PacketId) {
        let Place(place) = &mut self.places[id.0 as usize];
        debug_assert!(place.extension.is_none());
        place.flow_id = self.free;
        self.free = id.0;
    }
}

/// Wait and departure of a packet that a port has taken or dropped.
#[derive(Debug, Clone, Copy)]
pub struct Handover {
    /// Wait in the queue; zero if a scheduler decides.
    pub waits: Span,
    /// Departure of the last bit; zero if dropped, [`Instant::MAX`] while a scheduler decides.
    pub departs: Instant,
}

impl Handover {
    /// Hand-over of a dropped packet.
    pub const DROPPED: Handover = Handover { waits: Span::ZERO, departs: Instant::ZERO };
}

/// Report on a data packet that has left the scheduler of a host's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Slot of the connection.
    pub conn: ConnId,
    /// Number of the connection.
    pub flow_id: u32,
    /// Departure of the last bit; zero if dropped.
    pub departs: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small() {
        assert!(size_of::<Packet>() <= 56, "{}", size_of::<Packet>());
    }

    #[test]
    fn what_is_taken_out_of_a_place_has_the_extension_and_the_place_has_none() {
        let sack = SackBlocks::new(0, &[(1460, 2920)]);
        let mut place = Packet { seq: 7, extension: Extension::of_sack(sack), ..Packet::EMPTY };
        let taken = place.take();
        assert_eq!((taken.seq, taken.extension.is_some()), (7, true));
        assert!(place.extension.is_none() && place.take().extension.is_none());
    }

    #[test]
    fn blocks_survive_the_trip() {
        let ranges = [(3000, 4460), (8840, 10300), (11760, 13220), (20000, 21460)];
        let blocks = SackBlocks::new(1460, &ranges);
        assert_eq!(blocks.ranges(1460).collect::<Vec<_>>(), ranges[..3]);
        assert!(SackBlocks::new(0, &[]).is_empty());
        assert!(SackBlocks::new(0, &[(1 << 33, (1 << 33) + 1)]).is_empty());
    }

    #[test]
    fn what_arrived_twice_is_below_the_acknowledgement_or_within_a_block() {
        let duplicate = |first, rest: &[(u64, u64)]| {
            let blocks = SackBlocks::with_duplicate(5000, Some(first), rest);
            assert_eq!(blocks.ranges(5000).collect::<Vec<_>>(), [&[first], rest].concat());
            blocks.duplicate(5000)
        };
        assert_eq!(duplicate((0, 1000), &[]), Some((0, 1000)));
        assert_eq!(duplicate((7000, 8000), &[(6000, 9000)]), Some((7000, 8000)));
        assert_eq!(duplicate((7000, 8000), &[(9000, 9500)]), None);
        assert_eq!(SackBlocks::default().duplicate(5000), None);
    }
}
