//! Short path of a packet through a port without faults, reports or tracer.
//!
//! With a queue discipline in arrival order, the known backlog is an upper bound, because departures are
//! counted late. While this bound is quiet, packets are accepted without counting departures. With a
//! scheduler, a packet takes the short path if no packet waits and the transmitter is idle.

use super::{Backlog, InFlight, Port, Queue, ShortPath};
use crate::packet::{Frame, Packet, PacketId, Packets};
use crate::queue::{QueueDiscipline, Scheduler};
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, Span};

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

impl Port {
    /// Sets the short path and its limits.
    pub(super) fn find_short_path(&mut self) {
        let never = (ShortPath::Never, Occupancy::Unlimited);
        let (short_path, threshold) = match &self.queue {
            _ if self.faults.is_some() || self.byte_time.is_zero() || self.telemetry.is_some() => never,
            Queue::InOrder(queue) => queue.threshold().map_or(never, |k| (ShortPath::InOrder, k)),
            Queue::Scheduled(queue) if self.late.is_none() && queue.passes_idle() => {
                (ShortPath::WhenIdle, Occupancy::Unlimited)
            }
            Queue::Scheduled(_) => never,
        };
        self.short_path = short_path;
        self.room = Backlog::up_to(self.limit);
        self.mark_above = Backlog::up_to(threshold);
        self.find_quiet();
    }

    /// Sets the quiet backlog. The first marked packet finds one packet more than the threshold.
    pub(super) fn find_quiet(&mut self) {
        let Backlog { packets, bytes } = self.mark_above;
        let unmarked = Backlog { packets: packets.saturating_add(1), bytes };
        self.quiet = self.room.least(unmarked).least(self.counters.peak);
    }

    #[cold]
    pub(super) fn raise_peak(&mut self) {
        self.counters.peak.rise(self.backlog);
        self.find_quiet();
    }

    /// True if packets may take the short path.
    #[inline(always)]
    pub(in crate::net) fn has_short_path(&self) -> bool {
        self.short_path != ShortPath::Never
    }

    /// Short path of [`Port::enqueue`]: accepts a packet for [`Port::start_transmission`]. `None` in rare cases.
    #[inline(always)]
    pub(in crate::net) fn offer(&mut self, now: Instant, frame: Frame) -> Option<Departure> {
        match self.short_path == ShortPath::InOrder {
            true => self.offer_in_order(now, frame),
            false => self.offer_when_idle(now, frame),
        }
    }

    /// [`Port::offer`] at a port whose queue is not in arrival order, or that has no short path.
    #[inline(never)] // keeps the common path short
    fn offer_when_idle(&mut self, now: Instant, frame: Frame) -> Option<Departure> {
        if self.short_path != ShortPath::WhenIdle || self.waits || self.busy_until > now {
            return None;
        }
        self.ring.mark_all_departed();
        self.backlog = Backlog::default();
        let after = self.backlog.with(frame.size);
        let departs = now.plus(self.frame_time(frame.size));
        if !after.is_within(self.quiet) || departs > self.plain_until || !self.ring.has_room() {
            return None;
        }
        (self.backlog, self.busy_until) = (after, departs);
        self.counters.pass((now, now, departs), frame.size);
        Some(Departure { departs, waits: Span::ZERO, is_marked: false })
    }

    /// [`Port::offer`] at a port in arrival order.
    #[inline(always)]
    fn offer_in_order(&mut self, now: Instant, frame: Frame) -> Option<Departure> {
        let is_idle = self.busy_until <= now;
        let mut after = self.backlog.with(frame.size);
        if is_idle {
            self.ring.mark_all_departed();
            after = Backlog::default().with(frame.size);
        } else if !after.is_within(self.quiet) {
            while let Some(gone) = self.ring.pop_departed(now) {
                after.remove(gone);
            }
        }
        let starts = now.max(self.busy_until);
        let departs = starts.plus(self.frame_time(frame.size));
        if !after.is_within(self.quiet) || departs > self.plain_until || !self.ring.has_room() {
            return self.judge(now, frame, after);
        }
        (self.backlog, self.busy_until) = (after, departs);
        self.counters.pass((now, starts, departs), frame.size);
        Some(Departure { departs, waits: starts.after(now), is_marked: false })
    }

    /// [`Port::offer_in_order`] with the exact backlog.
    #[inline(never)] // keeps the common path short
    fn judge(&mut self, now: Instant, frame: Frame, mut after: Backlog) -> Option<Departure> {
        while let Some(gone) = self.ring.pop_departed(now) {
            after.remove(gone);
        }
        let size = frame.size;
        let found = after - Backlog { packets: 1, bytes: size };
        self.backlog = found;
        if !after.is_within(self.room) || !self.ring.has_room() {
            return None;
        }
        let starts = now.max(self.busy_until);
        let departs = starts.plus(self.frame_time(size));
        let is_marked = !found.is_within(self.mark_above) && frame.is_ecn_capable();
        (self.backlog, self.busy_until) = (after, departs);
        self.counters.marked += u64::from(is_marked);
        self.account_at_edges((now, starts, departs), size);
        Some(Departure { departs, waits: starts.after(now), is_marked })
    }

    /// Transmission time at a port with a short path.
    #[inline(always)]
    fn frame_time(&self, size: Bytes) -> Span {
        self.byte_time.by(size.plus(self.gap()).get())
    }

    /// Puts an accepted packet on the wire. Returns its arrival if it is the head.
    #[inline(always)]
    pub(in crate::net) fn start_transmission(
        &mut self,
        departs: Instant,
        packet: PacketId,
        wire: u16,
    ) -> Option<(Instant, NodeId)> {
        let is_head = self.ring.len() == 0;
        self.ring.put(InFlight { departs, packet, wire });
        (is_head && !self.crosses).then(|| (departs.plus(self.delay), self.to))
    }

    /// [`Port::start_transmission`] of a host's new packet.
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
        let (on_time, to) = self.start_transmission(departure.departs, id, wire)?;
        let at = if self.is_late { self.late_arrival(packets, 0)? } else { on_time };
        Some((at, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Seeds;
    use crate::net::{MeasurementWindow, PortEvent};
    use crate::packet::EcnField;
    use crate::queue::{PortSetup, QueueKind};
    use proptest::prelude::*;
    use shortflow_units::{ConnId, Rate};

    /// A port of 1 Gbit/s with the defaults of a discipline, in its measured time.
    fn port(kind: QueueKind, limit: Occupancy) -> Port {
        let rate = Rate::new(1_000_000_000).unwrap();
        let setup = PortSetup {
            mark_above: Occupancy::Packets(0),
            mark_all_above: None,
            mark_probability: None,
            rate,
            gap: Bytes::ZERO,
            header: Bytes::new(40),
            seeds: Seeds::new(1),
            index: 0,
        };
        let config = shortflow_spec::read_toml("", |reader| kind.read(&reader)).unwrap();
        let window = MeasurementWindow { from: Instant::ZERO, to: Instant::from_ps(1 << 50) };
        let ends = (NodeId(0), NodeId(1));
        let mut port = Port::new(ends, (rate, Span::ZERO), (config.build(setup), limit), None, window);
        port.open_window(Instant::ZERO);
        port
    }

    /// Lets transmissions end and packets arrive up to `until`. `left` receives the packets that arrive.
    fn advance((port, packets): (&mut Port, &mut Packets), until: Instant, left: &mut Vec<String>) {
        loop {
            let done = port.next_done().filter(|done| *done <= until);
            let arrival = port.arrival(packets, 0).map(|(at, _)| at).filter(|at| *at <= until);
            if let Some(done) = done {
                port.transmit_done(done, packets, |_| ());
            } else if let Some(at) = arrival {
                let mut packet = Packet::EMPTY;
                port.arrive(packets, &mut packet);
                left.push(format!("{at:?} {packet:?}"));
            } else {
                return;
            }
        }
    }

    /// Sends packets through a port, on the short path if `shortly`. Returns the number of packets on the
    /// short path, and all packets that left.
    fn pass(port: &mut Port, packets: &[(u64, Packet)], shortly: bool) -> (usize, Vec<String>) {
        let (mut places, mut now, mut short, mut left) = (Packets::default(), Instant::ZERO, 0, Vec::new());
        for (gap, packet) in packets {
            now += Span::from_nanos(*gap);
            advance((port, &mut places), now, &mut left);
            let mut packet = packet.clone();
            if let Some(departure) = shortly.then(|| port.offer(now, packet.frame())).flatten() {
                short += 1;
                packet.go(departure.waits, departure.is_marked, false);
                let (wire, id) = (packet.wire, places.put(packet));
                port.start_transmission(departure.departs, id, wire);
            } else {
                packet.hop += 1;
                let id = places.put(packet);
                port.enqueue(now, &mut places, id, |due| assert!(!matches!(due, PortEvent::Left(_))));
            }
        }
        advance((port, &mut places), Instant::MAX, &mut left);
        (short, left)
    }

    proptest! {
        /// Under every discipline, packets on the short path leave as on the long path, and leave the same
        /// state behind. The last packet finds the port idle.
        #[test]
        fn the_short_path_agrees_with_the_long_one(
            drawn in prop::collection::vec((0u64..30_000, 0u32..4, 0u64..10, 41u16..=1500), 1..100),
            limit in prop_oneof![Just("unlimited"), Just("3pkt"), Just("2KB")],
        ) {
            let (ecn, payload) = (EcnField::Ect, 1);
            let mut packets: Vec<(u64, Packet)> = drawn.into_iter().map(|(gap, flow_id, priority, wire)| {
                (gap, Packet { priority, conn: ConnId(flow_id), flow_id, payload, wire, ecn, ..Packet::EMPTY })
            }).collect();
            packets.push((10_000_000, packets[0].1.clone()));
            for kind in QueueKind::ALL {
                let (mut short, mut long) = (port(*kind, limit.parse().unwrap()), port(*kind, limit.parse().unwrap()));
                let (passed, left) = pass(&mut short, &packets, true);
                prop_assert_eq!(left, pass(&mut long, &packets, false).1, "{:?}", kind);
                prop_assert_eq!(passed > 0, short.has_short_path(), "{:?}", kind);
                let state = |port: &Port| format!("{:?} {:?} {:?}", port.queue, port.counters, port.busy_until);
                prop_assert_eq!(state(&short), state(&long), "{:?}", kind);
            }
        }
    }
}
