//! [`Transmitter`]: sends the packets of a port one after another onto the wire, on which they stay until they
//! arrive at the other end.

use crate::engine::prefetch;
use crate::net::HostDelay;
use crate::net::ring::{InFlight, Ring};
use crate::packet::{Packet, PacketId, Packets};
use shortflow_units::{Bytes, Instant, NodeId, Rate, Span};

/// Departure of an accepted packet.
#[derive(Debug, Clone, Copy)]
pub(in crate::net) struct Departure {
    /// Departure of its last bit.
    pub departs: Instant,
    /// Wait in the queue.
    pub waits: Span,
    /// True if the packet gets CE.
    pub is_marked: bool,
}

/// The transmitter of a port, the packets with a known departure, and the wire. An arrival reads these fields
/// alone, which take a cache line and a half.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Transmitter {
    pub(super) ring: Ring,
    /// End of the last transmission with a known departure.
    pub(super) busy_until: Instant,
    delay: Span,
    /// Time to send a byte; zero unless a whole number of picoseconds.
    byte_time: Span,
    rate: Rate,
    /// Delays by the port's host, if the host may delay packets.
    late: Option<Box<HostDelay>>,
    /// Node at the other end.
    to: NodeId,
    /// Gap between two frames, in bytes of the link ([`Wire::gap`](crate::wire::Wire::gap)).
    gap: u8,
    /// True if the host at the other end takes arrivals early.
    to_early_host: bool,
    /// True if the other end belongs to another part of the network, which holds the packets on the wire.
    to_other_part: bool,
    /// True if packets wait in a scheduler for the end of the present transmission.
    pub(super) waits: bool,
}

impl Transmitter {
    /// An idle transmitter, whose wire leads to `to`.
    pub(super) fn new(to: NodeId, (rate, delay): (Rate, Span)) -> Transmitter {
        Transmitter {
            ring: Ring::default(),
            busy_until: Instant::ZERO,
            delay,
            byte_time: rate.byte_time().unwrap_or_default(),
            rate,
            late: None,
            to,
            gap: 0,
            to_early_host: false,
            to_other_part: false,
            waits: false,
        }
    }

    /// Sets the delays of the port's host.
    pub(super) fn set_delays(&mut self, late: Option<HostDelay>) {
        self.late = late.map(Box::new);
    }

    /// Sets the time between two frames, in bytes of the link.
    pub(in crate::net) fn set_gap(&mut self, gap: Bytes) {
        self.gap = gap.get() as u8;
    }

    /// Sets the rate.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        (self.rate, self.byte_time) = (rate, rate.byte_time().unwrap_or_default());
    }

    /// Rate and one-way propagation delay.
    pub(in crate::net) fn link(&self) -> (Rate, Span) {
        (self.rate, self.delay)
    }

    /// Node at the other end.
    #[inline(always)]
    pub(super) fn to(&self) -> NodeId {
        self.to
    }

    /// True if a byte takes a whole number of picoseconds.
    pub(super) fn has_byte_time(&self) -> bool {
        !self.byte_time.is_zero()
    }

    /// True if the port's host may delay packets.
    pub(super) fn is_late(&self) -> bool {
        self.late.is_some()
    }

    /// True if the host at the other end takes arrivals early.
    #[inline(always)]
    pub(crate) fn leads_to_early_host(&self) -> bool {
        self.to_early_host
    }

    /// Sets whether the host at the other end takes arrivals early.
    pub(in crate::net) fn lead_to_early_host(&mut self, is_early: bool) {
        self.to_early_host = is_early;
    }

    /// Makes the transmitter export its packets to the part of the network that has the other end.
    pub(in crate::net) fn lead_to_other_part(&mut self) {
        self.to_other_part = true;
    }

    /// A frame with the gap that follows it.
    #[inline(always)]
    pub(super) fn with_gap_after(&self, frame: Bytes) -> Bytes {
        frame.plus(Bytes::new(self.gap.into()))
    }

    /// Transmission time, without a division at usual rates.
    #[inline]
    pub(super) fn tx_time(&self, frame: Bytes) -> Span {
        let takes = self.with_gap_after(frame);
        match self.byte_time {
            Span::ZERO => self.rate.tx_time(takes),
            time => time.times(takes.get()),
        }
    }

    /// Transmission time if a byte takes a whole number of picoseconds.
    #[inline(always)]
    pub(super) fn frame_time(&self, frame: Bytes) -> Span {
        self.byte_time.by(self.with_gap_after(frame).get())
    }

    /// End of the transmission, if packets wait in a scheduler.
    #[inline]
    pub(in crate::net) fn next_done(&self) -> Option<Instant> {
        self.waits.then_some(self.busy_until)
    }

    /// True if the transmitter has sent all packets, and no packet waits for it.
    #[inline]
    pub(super) fn is_idle(&self, now: Instant) -> bool {
        !self.waits && self.busy_until <= now
    }

    /// Sends a packet whose last bit departs at `departs`. Returns its arrival if the packet is the next to arrive.
    #[inline]
    pub(super) fn send(
        &mut self,
        departs: Instant,
        (packets, packet): (&mut Packets, PacketId),
        wire: u16,
    ) -> Option<(Instant, NodeId)> {
        self.busy_until = departs;
        self.lag(Bytes::new(wire.into()));
        self.ring.push(InFlight { departs, packet, wire });
        if self.ring.len() > 1 || self.to_other_part {
            return None;
        }
        self.arrival(packets, 0).map(|(at, _)| (at, self.to))
    }

    /// Sends a packet that took the short path. Returns its arrival if the packet is the next to arrive.
    #[inline(always)]
    pub(in crate::net) fn start(
        &mut self,
        departs: Instant,
        packet: PacketId,
        wire: u16,
    ) -> Option<(Instant, NodeId)> {
        let is_head = self.ring.len() == 0;
        self.ring.put(InFlight { departs, packet, wire });
        (is_head && !self.to_other_part).then(|| (departs.plus(self.delay), self.to))
    }

    /// [`Transmitter::start`] of a host's new packet.
    #[inline(always)]
    pub(in crate::net) fn start_from_host(
        &mut self,
        departure: Departure,
        packets: &mut Packets,
        mut packet: Packet,
    ) -> Option<(Instant, NodeId)> {
        let wire = packet.wire;
        packet.go(departure.waits, departure.is_marked, true);
        self.lag(packet.wire_size());
        let id = packets.put(packet);
        let (on_time, to) = self.start(departure.departs, id, wire)?;
        let at = if self.is_late() { self.late_arrival(packets, 0)? } else { on_time };
        Some((at, to))
    }

    /// Adds the pause of the transmitter of a late host after a frame of this size.
    #[inline(always)]
    fn lag(&mut self, frame: Bytes) {
        if let Some(late) = &self.late {
            self.busy_until += late.lags(self.tx_time(frame));
        }
    }

    /// Place of the packet that arrives next.
    #[inline]
    pub(in crate::net) fn head(&self) -> Option<PacketId> {
        self.ring.front().map(|head| head.packet)
    }

    /// Removes the head of the wire, which arrives. Returns the arrival of the packet after it, if any.
    #[inline(always)]
    pub(in crate::net) fn advance(&mut self, packets: &mut Packets) -> Option<Instant> {
        let late = if self.is_late() { self.late_arrival(packets, 1) } else { None };
        self.ring.skip(1);
        late.or_else(|| self.ring.front().map(|next| next.departs.plus(self.delay)))
    }

    /// Packet at position `before` of the ring, and its arrival.
    #[inline(always)]
    pub(in crate::net) fn arrival(
        &mut self,
        packets: &mut Packets,
        before: usize,
    ) -> Option<(Instant, PacketId)> {
        let late = if self.is_late() { self.late_arrival(packets, before) } else { None };
        let (_, next) = self.ring.nth(before)?;
        Some((late.unwrap_or(next.departs.plus(self.delay)), next.packet))
    }

    /// Arrival of the packet at position `before` of the ring, if the host may delay packets. The arrivals of
    /// all packets before this position must be known.
    #[inline(never)] // keeps the common path short
    fn late_arrival(&mut self, packets: &mut Packets, before: usize) -> Option<Instant> {
        let (number, &next) = self.ring.nth(before)?;
        let (on_time, takes) = (next.departs + self.delay, self.tx_time(Bytes::new(next.wire.into())));
        let late = self.late.as_mut()?;
        if let Some(known) = late.known(number) {
            return Some(known);
        }
        let at = late.put_off(number, on_time, takes);
        packets.get_mut(next.packet).add_host_delay(at.since(on_time));
        Some(at)
    }

    /// Removes the next `count` packets of the ring, which arrive.
    #[inline(always)]
    pub(in crate::net) fn skip(&mut self, count: usize) {
        self.ring.skip(count);
    }

    /// Arrival of a frame of `size` bytes at the other end, if the frame is sent at `now` ahead of waiting packets.
    pub(in crate::net) fn frame_arrival(&self, now: Instant, size: Bytes) -> Instant {
        now.max(self.busy_until) + self.tx_time(size) + self.delay
    }

    /// Discards all packets, because the link fails at `now`.
    pub(super) fn clear(&mut self, now: Instant) {
        self.ring.clear();
        self.waits = false;
        self.busy_until = now;
    }

    /// Departure time of the next packet that arrives or is exported.
    pub(in crate::net) fn next_departure(&self) -> Instant {
        self.ring.front().map_or(Instant::MAX, |head| head.departs)
    }

    /// Puts a packet from another part of the network on the wire. Returns its arrival time if it is the first
    /// on the wire.
    pub(in crate::net) fn import(
        &mut self,
        departs: Instant,
        packet: Packet,
        packets: &mut Packets,
    ) -> Option<Instant> {
        let wire = packet.wire;
        self.ring.push(InFlight { departs, packet: packets.put(packet), wire });
        self.ring.mark_all_departed();
        if self.ring.len() == 1 { self.arrival(packets, 0).map(|(at, _)| at) } else { None }
    }

    /// Takes the far end of the wire back from the other part of the network.
    pub(in crate::net) fn join(&mut self, far: &mut Transmitter) {
        let own = std::mem::replace(&mut self.ring, std::mem::take(&mut far.ring));
        self.ring.append(own);
    }

    /// Prefetches the ring slot of the packet that arrives next.
    #[inline]
    pub(in crate::net) fn prefetch_head(&self) {
        self.ring.front().into_iter().for_each(|head| prefetch(head, 1));
    }

    /// Prefetches the packets that arrive next, at most `most`.
    #[inline]
    pub(in crate::net) fn prefetch_packets(&self, packets: &Packets, most: usize) {
        self.ring.upcoming(most).for_each(|next| packets.prefetch(next.packet));
    }

    /// Prefetches the ring slots of the first packet with an uncounted departure, and of the packet to be
    /// added.
    #[inline]
    pub(in crate::net) fn prefetch_ring(&self) {
        self.ring.first_unseen().into_iter().for_each(|next| prefetch(next, 1));
        self.ring.back().into_iter().for_each(|last| prefetch(last, 2));
    }
}
