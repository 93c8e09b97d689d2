//! [`Egress`]: transmitter of a port, its backlog and its account.

use super::account::Account;
use super::short_path::{Limits, ShortPackets, ShortPath};
use super::transmitter::{Departure, Transmitter};
use crate::net::ring::InFlight;
use crate::net::{MeasurementWindow, PortCounters, PortCounts};
use crate::packet::{Frame, Packets};
use crate::queue::{Backlog, Room, SchedulerEffects};
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, Rate, Span};
use std::mem::offset_of;

/// Way of packets out of a port, beside the queue discipline. Accepts packets on the short path alone. Fields that
/// every packet needs come first, in few cache lines.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(crate) struct Egress {
    pub(crate) transmitter: Transmitter,
    /// Packets that have not departed. Departures are subtracted when the backlog is read.
    pub(super) backlog: Backlog,
    pub(super) short_path: ShortPath,
    pub(crate) account: Account,
    pub(super) limits: Limits,
}

/// Packets of a port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PortOccupancy {
    /// Packets in transmission, on the wire and, without a scheduler, waiting.
    pub ring: u64,
    /// Packets in a scheduler.
    pub waiting: Backlog,
    /// Unsent packets in ring and scheduler together.
    pub backlog: Backlog,
}

/// Leading cache lines that an arrival needs.
pub(super) const WIRE_LINES: usize = size_of::<Transmitter>().div_ceil(64);
/// Leading cache lines that a transmission needs, which end with the counters that every packet changes.
pub(super) const HOT_LINES: usize = 3;
const _: () = assert!(offset_of!(Egress, account) + offset_of!(PortCounters, marked) <= 64 * HOT_LINES);

impl Egress {
    /// An idle egress to a node. The port has this buffer.
    pub(super) fn new(
        to: NodeId,
        link: (Rate, Span),
        buffer: Occupancy,
        window: MeasurementWindow,
    ) -> Egress {
        Egress {
            transmitter: Transmitter::new(to, link),
            backlog: Backlog::default(),
            short_path: ShortPath::NONE,
            account: Account::new(window),
            limits: Limits::new(buffer, Occupancy::Unlimited),
        }
    }

    /// Lets these packets take the short path, at a port whose queue marks by `threshold`.
    pub(super) fn set_short_path(&mut self, packets: ShortPackets, threshold: Occupancy) {
        self.short_path.packets = packets;
        self.limits = Limits::new(self.limits.buffer, threshold);
        self.find_quiet();
    }

    /// Sets the limit of the buffer, and leaves the short path.
    pub(in crate::net) fn set_limit(&mut self, limit: Occupancy) {
        self.limits.buffer = limit;
        self.short_path.packets = ShortPackets::None;
    }

    fn find_quiet(&mut self) {
        self.short_path.find_quiet(&self.limits, self.account.counters.peak);
    }

    /// Starts the measured time.
    pub(super) fn open_window(&mut self, now: Instant) {
        self.account.note_peak(now, self.backlog);
        self.short_path.plain_until = self.account.window.to;
        self.find_quiet();
    }

    /// Keeps the distribution of the backlog from `now` to the end of the window.
    pub(super) fn keep_levels(&mut self, now: Instant) {
        self.account.keep_levels(now, self.backlog, self.transmitter.ring.undeparted());
        self.short_path.plain_until = Instant::ZERO;
    }

    /// True if packets may take the short path.
    #[inline(always)]
    pub(in crate::net) fn has_short_path(&self) -> bool {
        self.short_path.packets != ShortPackets::None
    }

    /// Short path of [`Port::enqueue`](super::Port::enqueue): accepts a packet for [`Transmitter::start`]. `None` in
    /// rare cases.
    #[inline(always)]
    pub(in crate::net) fn offer(&mut self, now: Instant, frame: Frame) -> Option<Departure> {
        match self.short_path.packets == ShortPackets::InOrder {
            true => self.offer_in_order(now, frame),
            false => self.offer_when_idle(now, frame),
        }
    }

    /// [`Egress::offer`] at a port whose queue is not in arrival order, or that has no short path.
    #[inline(never)] // keeps the common path short
    fn offer_when_idle(&mut self, now: Instant, frame: Frame) -> Option<Departure> {
        let Egress { transmitter, short_path, .. } = self;
        if short_path.packets != ShortPackets::WhenIdle || transmitter.waits || transmitter.busy_until > now {
            return None;
        }
        transmitter.ring.mark_all_departed();
        self.backlog = Backlog::default();
        let after = self.backlog.with(frame.size);
        let departs = now.plus(transmitter.frame_time(frame.size));
        if !short_path.admits(after, departs) || !transmitter.ring.has_room() {
            return None;
        }
        (self.backlog, transmitter.busy_until) = (after, departs);
        self.account.counters.pass((now, now, departs), frame.size);
        Some(Departure { departs, waits: Span::ZERO, is_marked: false })
    }

    /// [`Egress::offer`] at a port in arrival order.
    #[inline(always)]
    fn offer_in_order(&mut self, now: Instant, frame: Frame) -> Option<Departure> {
        let Egress { transmitter, short_path, .. } = self;
        let is_idle = transmitter.busy_until <= now;
        let mut after = self.backlog.with(frame.size);
        if is_idle {
            transmitter.ring.mark_all_departed();
            after = Backlog::default().with(frame.size);
        } else if !after.is_within(short_path.quiet) {
            while let Some(gone) = transmitter.ring.pop_departed(now) {
                after.remove(gone);
            }
        }
        let starts = now.max(transmitter.busy_until);
        let departs = starts.plus(transmitter.frame_time(frame.size));
        if !short_path.admits(after, departs) || !transmitter.ring.has_room() {
            return self.judge(now, frame, after);
        }
        (self.backlog, transmitter.busy_until) = (after, departs);
        self.account.counters.pass((now, starts, departs), frame.size);
        Some(Departure { departs, waits: starts.after(now), is_marked: false })
    }

    /// [`Egress::offer_in_order`] with the exact backlog.
    #[inline(never)] // keeps the common path short
    fn judge(&mut self, now: Instant, frame: Frame, mut after: Backlog) -> Option<Departure> {
        let Egress { transmitter, limits, .. } = self;
        while let Some(gone) = transmitter.ring.pop_departed(now) {
            after.remove(gone);
        }
        let size = frame.size;
        let found = after - Backlog { packets: 1, bytes: size };
        self.backlog = found;
        if !after.is_within(limits.room) || !transmitter.ring.has_room() {
            return None;
        }
        let starts = now.max(transmitter.busy_until);
        let departs = starts.plus(transmitter.frame_time(size));
        let is_marked = !found.is_within(limits.mark_above) && frame.is_ecn_capable();
        (self.backlog, transmitter.busy_until) = (after, departs);
        self.account.counters.marked += u64::from(is_marked);
        self.pass((now, starts, departs), size);
        Some(Departure { departs, waits: starts.after(now), is_marked })
    }

    /// Accounts a packet with a known departure, which has been added to the backlog.
    #[inline(always)]
    pub(super) fn pass(&mut self, times: (Instant, Instant, Instant), size: Bytes) {
        if times.2 > self.short_path.plain_until {
            return self.account.pass_with_levels(times, size, self.backlog);
        }
        self.account.counters.pass(times, size);
        if !self.backlog.is_within(self.account.counters.peak) {
            self.raise_peak();
        }
    }

    #[cold]
    fn raise_peak(&mut self) {
        self.account.counters.peak.rise(self.backlog);
        self.find_quiet();
    }

    /// Accounts an arrival at `now` that changes the backlog of a scheduler from `waited` to `waiting`.
    #[inline(always)]
    pub(super) fn admit(&mut self, now: Instant, waited: Backlog, waiting: Backlog) {
        let found = self.backlog;
        self.backlog = found + waiting - waited;
        self.account.admit(now, found, self.backlog);
        if self.short_path.packets == ShortPackets::WhenIdle && !self.backlog.is_within(self.short_path.quiet)
        {
            self.find_quiet();
        }
    }

    /// Subtracts departures up to `now` from the backlog. `waiting` returns the packets that wait in a scheduler.
    #[inline(always)]
    pub(super) fn advance_departures(&mut self, now: Instant, waiting: impl FnOnce() -> Backlog) {
        if self.transmitter.busy_until <= now {
            self.transmitter.ring.mark_all_departed();
            self.backlog = waiting();
            return;
        }
        while let Some(gone) = self.transmitter.ring.pop_departed(now) {
            self.backlog.remove(gone);
        }
    }

    /// Room for an arriving packet.
    pub(super) fn room(&self) -> Room {
        Room { found: self.backlog, limit: self.limits.buffer }
    }

    /// Removes packets that a scheduler has dropped from the backlog and from the counters of accepted packets.
    pub(super) fn evict(&mut self, now: Instant, effects: &SchedulerEffects) {
        for (_, waiting) in effects.drops() {
            self.account.evict(now, waiting.wire_size());
            self.backlog.remove(waiting.wire);
        }
        self.account.note_level(now, self.backlog);
    }

    /// The backlog as last counted.
    pub(crate) fn known_backlog(&self) -> Backlog {
        self.backlog
    }

    /// Counters of the port, for the backlog as last counted.
    pub(in crate::net) fn counts(&self) -> PortCounts {
        self.account.counters.counts(self.backlog)
    }

    /// Time from zero to the end of the last transmission with a known departure.
    pub(crate) fn busy_until(&self) -> Span {
        self.transmitter.busy_until.since(Instant::ZERO)
    }

    /// Packets of the port, recounted, of which `waiting` wait in a scheduler.
    pub(super) fn held(&self, waiting: Backlog) -> PortOccupancy {
        let mut backlog = waiting;
        self.transmitter.ring.undeparted().for_each(|next| backlog.add(next.wire));
        PortOccupancy { ring: self.transmitter.ring.len() as u64, waiting, backlog }
    }

    /// Number of packets that have arrived at the other end.
    pub(crate) fn arrived(&self) -> u64 {
        self.transmitter.ring.removed() - self.account.cleared
    }

    /// Discards the packets in transmission and on the wire, because the link fails at `now`. `lost` other packets
    /// are lost too.
    pub(super) fn fail(&mut self, now: Instant, lost: u64, packets: &mut Packets) {
        let Egress { transmitter, account, .. } = self;
        for &InFlight { departs, wire, .. } in transmitter.ring.undeparted() {
            let size = Bytes::new(wire.into());
            let starts =
                Instant::ZERO + departs.since(Instant::ZERO).saturating_sub(transmitter.tx_time(size));
            account.cancel(now, (starts, departs), size);
        }
        account.fail(now, lost, (transmitter.ring.len() as u64, transmitter.ring.departed() as u64));
        transmitter.ring.iter().for_each(|next| drop(packets.take(next.packet)));
        transmitter.clear(now);
        self.backlog = Backlog::default();
    }
}
