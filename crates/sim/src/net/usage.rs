//! Counters of a port, and time averages over the measured time.
//!
//! The integral of the backlog is the sum of the packets' times in the port. If the departure is known on
//! arrival, the time is added at once. Otherwise, a packet is counted until the end of the window, and the
//! rest is subtracted when the packet departs or is evicted. Both ways are exact after the window. The
//! distribution of the backlog, [`OccupancyHistogram`](super::OccupancyHistogram), is kept only for measured
//! ports in runs with samples.

use super::{Drops, PortCounts};
use crate::queue::Backlog;
use shortflow_units::{Bytes, Instant, Span};

/// The measured time, over which averages are taken.
#[derive(Debug, Clone, Copy)]
pub struct MeasurementWindow {
    /// End of the warm-up.
    pub from: Instant,
    /// End of the measured time.
    pub to: Instant,
}

impl MeasurementWindow {
    /// Part of `from..to` inside the window.
    #[inline]
    pub(super) fn overlap(&self, from: Instant, to: Instant) -> Span {
        to.min(self.to).since(from.max(self.from))
    }

    /// Part of the time after `from` inside the window.
    fn rest(&self, from: Instant) -> Span {
        self.overlap(from, self.to)
    }

    /// Length of the window.
    pub fn length(&self) -> Span {
        self.to.since(self.from)
    }
}

/// Usage of a port. Counts cover the run so far. Times cover the measured window, except `busy_outside`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)] // fields that every packet changes come first
pub struct PortCounters {
    /// Sum over packets of size times time in the port, in byte-picoseconds, in the window.
    pub byte_time: u128,
    /// Packets accepted and not evicted later.
    pub accepted: u64,
    /// Bytes on the wire of accepted packets.
    pub accepted_bytes: Bytes,
    /// Time the transmitter was busy, in the window.
    pub busy: Span,
    /// Sum over packets of their time in the port, in the window: the integral of the backlog.
    pub packet_time: Span,
    /// Packets marked here.
    pub marked: u64,
    /// Largest backlog, in the window.
    pub peak: Backlog,
    /// Time the transmitter was busy outside the window.
    pub busy_outside: Span,
    /// Packets dropped, on arrival or later.
    pub drops: Drops,
    /// Packets trimmed here.
    pub trimmed: u64,
    /// Headers returned from here to the senders of their data.
    pub returned: u64,
}

impl PortCounters {
    /// Counters of a port with this backlog. Departures are accepted packets less the backlog.
    pub(super) fn counts(&self, backlog: Backlog) -> PortCounts {
        let PortCounters { accepted, accepted_bytes, drops, marked, trimmed, returned, .. } = *self;
        let (departed, departed_bytes) =
            (accepted - u64::from(backlog.packets), accepted_bytes - backlog.bytes);
        PortCounts { departed, departed_bytes, drops, marked, trimmed, returned }
    }

    /// Accounts a packet enqueued at `now` and sent during `starts..departs`, inside the window.
    #[inline(always)]
    pub(super) fn pass(&mut self, (now, starts, departs): (Instant, Instant, Instant), size: Bytes) {
        self.book(departs.after(starts), departs.after(now), size);
    }

    /// [`PortCounters::pass`] at any time. `backlog` includes the packet.
    pub(super) fn pass_within(
        &mut self,
        window: &MeasurementWindow,
        (now, starts, departs): (Instant, Instant, Instant),
        size: Bytes,
        backlog: Backlog,
    ) {
        self.note_peak(window, now, backlog);
        let busy = window.overlap(starts, departs);
        self.busy_outside += departs.since(starts).saturating_sub(busy);
        self.book(busy, window.overlap(now, departs), size);
    }

    #[inline]
    fn book(&mut self, busy: Span, stay: Span, size: Bytes) {
        self.accepted += 1;
        self.accepted_bytes = self.accepted_bytes.plus(size);
        self.busy = self.busy.plus(busy);
        self.packet_time = self.packet_time.plus(stay);
        self.byte_time += byte_time(size, stay);
    }

    /// Accounts a change of the backlog at `now` without known departures.
    pub(super) fn admit(
        &mut self,
        window: &MeasurementWindow,
        now: Instant,
        before: Backlog,
        after: Backlog,
    ) {
        self.accepted = self.accepted + u64::from(after.packets) - u64::from(before.packets);
        self.accepted_bytes = self.accepted_bytes + after.bytes - before.bytes;
        let rest = window.rest(now);
        self.packet_time += rest.times(after.packets.into());
        self.byte_time += byte_time(after.bytes, rest);
        self.unbook(before, rest);
    }

    /// Accounts the transmission of an admitted packet.
    pub(super) fn depart(
        &mut self,
        window: &MeasurementWindow,
        (starts, departs): (Instant, Instant),
        size: Bytes,
    ) {
        let busy = window.overlap(starts, departs);
        self.busy += busy;
        self.busy_outside += departs.since(starts).saturating_sub(busy);
        self.unbook(Backlog { packets: 1, bytes: size }, window.rest(departs));
    }

    /// Removes a packet that would have been sent during `starts..departs`, because its link fails at `now`.
    pub(super) fn cancel(
        &mut self,
        window: &MeasurementWindow,
        now: Instant,
        (starts, departs): (Instant, Instant),
        size: Bytes,
    ) {
        let stay = window.overlap(now, departs);
        let unused = departs.since(starts.max(now));
        let within = window.overlap(starts.max(now), departs);
        self.busy = self.busy.saturating_sub(within);
        self.busy_outside = self.busy_outside.saturating_sub(unused.saturating_sub(within));
        self.packet_time = self.packet_time.saturating_sub(stay);
        self.byte_time -= byte_time(size, stay);
        self.accepted -= 1;
        self.accepted_bytes = self.accepted_bytes - size;
    }

    /// Removes a packet that waits in a scheduler, because the packet is dropped at `now`, or its link fails.
    pub(super) fn evict(&mut self, window: &MeasurementWindow, now: Instant, size: Bytes) {
        self.unbook(Backlog { packets: 1, bytes: size }, window.rest(now));
        self.accepted -= 1;
        self.accepted_bytes = self.accepted_bytes - size;
    }

    fn unbook(&mut self, backlog: Backlog, time: Span) {
        self.packet_time = self.packet_time.saturating_sub(time.times(backlog.packets.into()));
        self.byte_time -= byte_time(backlog.bytes, time);
    }

    /// Notes the backlog after a change at `now`, or at the start of the window.
    pub(super) fn note_peak(&mut self, window: &MeasurementWindow, now: Instant, backlog: Backlog) {
        if window.from <= now && now < window.to {
            self.peak.rise(backlog);
        }
    }
}

fn byte_time(bytes: Bytes, time: Span) -> u128 {
    u128::from(bytes.get()) * u128::from(time.as_ps())
}
