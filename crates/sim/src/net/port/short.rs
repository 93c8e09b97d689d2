//! Short path of a packet through a port in arrival order, without faults or tracer.
//!
//! The backlog is an upper bound here, because departures are counted late. While even that is quiet, a packet is accepted
//! without counting them.

use super::{Backlog, Port, Queue};
use crate::packet::{EcnField, Frame, Packet};
use crate::queue::QueueDiscipline;
use shortflow_units::{Instant, NodeId, Span};

/// Departure of an accepted packet.
#[derive(Debug, Clone, Copy)]
pub(in crate::net) struct Turn {
    /// Departure of its last bit.
    pub departs: Instant,
    /// Its wait in the queue.
    pub waits: Span,
    /// True if CE is to be set.
    pub is_marked: bool,
}

impl Port {
    /// Sets the limits of the short path.
    pub(super) fn find_short_path(&mut self) {
        let threshold = match &self.queue {
            Queue::InOrder(queue) if self.faults.is_none() && !self.byte_time.is_zero() => queue.threshold(),
            _ => None,
        };
        self.room = threshold.map_or(Backlog::default(), |_| Backlog::up_to(self.limit));
        self.mark_above = threshold.map_or(Backlog::default(), Backlog::up_to);
        self.find_quiet();
    }

    /// Sets the quiet backlog. The first marked packet finds one more than the threshold.
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

    /// True if the short path can take packets.
    #[inline(always)]
    pub(in crate::net) fn has_short_path(&self) -> bool {
        self.room.packets > 0
    }

    /// Short path of [`Port::enqueue`]: accepts a packet for [`Port::start_transmission`]. `None` in rare cases.
    #[inline(always)]
    pub(in crate::net) fn offer(&mut self, now: Instant, frame: Frame) -> Option<Turn> {
        if !self.has_short_path() {
            return None;
        }
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
        let departs = starts + self.byte_time.times(frame.size.plus(self.gap).get());
        if !after.is_within(self.quiet) || departs > self.plain_until || !self.ring.has_room() {
            return self.judge(now, frame, after);
        }
        (self.backlog, self.busy_until) = (after, departs);
        self.counters.pass((now, starts, departs), frame.size);
        Some(Turn { departs, waits: starts.after(now), is_marked: false })
    }

    /// [`Port::offer`] with the exact backlog.
    #[inline(never)] // keeps the path of the others short
    fn judge(&mut self, now: Instant, frame: Frame, mut after: Backlog) -> Option<Turn> {
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
        let departs = starts + self.byte_time.times(size.plus(self.gap).get());
        let is_marked = !found.is_within(self.mark_above) && frame.is_ecn_capable();
        (self.backlog, self.busy_until) = (after, departs);
        self.counters.marked += u64::from(is_marked);
        self.account_at_edges((now, starts, departs), size);
        Some(Turn { departs, waits: starts.after(now), is_marked })
    }

    /// Moves an accepted packet into the ring, of a host's port or of a switch's. Returns its arrival if it is the head of the wire.
    #[inline(always)]
    pub(in crate::net) fn start_transmission(
        &mut self,
        turn: Turn,
        packet: &mut Packet,
        in_host: bool,
    ) -> Option<(Instant, NodeId)> {
        let Turn { departs, waits, is_marked } = turn;
        if in_host {
            self.lag(packet.wire_size());
        }
        let is_head = self.ring.len() == 0;
        let place = self.ring.put(departs)?;
        *place = packet.take();
        place.hop += 1;
        place.wait(waits, in_host);
        if is_marked {
            place.ecn = EcnField::Ce;
        }
        if !is_head || self.crosses {
            return None;
        }
        let at = if self.late.is_some() { self.late_arrival(0)? } else { departs + self.delay };
        Some((at, self.to))
    }
}
