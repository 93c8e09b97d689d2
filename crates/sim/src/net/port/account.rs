//! [`Account`]: counters of a port, the distribution of its backlog, and its losses by connection.

use crate::net::ring::InFlight;
use crate::net::{MeasurementWindow, OccupancyHistogram, Percentiles, PortCounters};
use crate::packet::Packet;
use crate::queue::{Backlog, DropReason};
use shortflow_units::{Bytes, Instant};
use std::collections::BTreeMap;

/// Books of a port over the run, with the measured time. The counters come first, because every packet changes them.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Account {
    pub(in crate::net) counters: PortCounters,
    pub(super) window: MeasurementWindow,
    /// Distribution of the backlog, while it is kept.
    levels: Option<Box<OccupancyHistogram>>,
    /// Percentiles of the backlog over the window, once it is closed, if its distribution was kept.
    pub(crate) percentiles: Option<Percentiles>,
    /// Bytes of payload dropped or trimmed here, by connection.
    losses: BTreeMap<u32, u64>,
    /// Packets lost on the wire when the link failed.
    pub(crate) lost_on_wire: u64,
    /// Packets of the ring that were lost when the link failed, on the wire or before their departure.
    pub(super) cleared: u64,
    /// Dropped and trimmed packets for the tracer; `None` unless the port is watched.
    removed: Option<Box<RemovedPackets>>,
}

/// Packets dropped and trimmed at a watched port since they were last taken.
#[derive(Debug, Clone, Default)]
struct RemovedPackets {
    /// Dropped packets, with the reasons.
    dropped: Vec<(DropReason, Packet)>,
    /// Trimmed packets, with their payload.
    trimmed: Vec<Packet>,
}

impl Account {
    /// Books of a port before its first packet.
    pub(super) fn new(window: MeasurementWindow) -> Account {
        Account {
            counters: PortCounters::default(),
            window,
            levels: None,
            percentiles: None,
            losses: BTreeMap::new(),
            lost_on_wire: 0,
            cleared: 0,
            removed: None,
        }
    }

    /// Records dropped and trimmed packets from now on.
    pub(super) fn watch(&mut self) {
        self.removed = Some(Box::default());
    }

    /// Packets dropped since the last call, at a watched port.
    pub(in crate::net) fn take_dropped(&mut self) -> Vec<(DropReason, Packet)> {
        self.removed.as_mut().map(|removed| std::mem::take(&mut removed.dropped)).unwrap_or_default()
    }

    /// Packets trimmed since the last call, with their payload, at a watched port.
    pub(in crate::net) fn take_trimmed(&mut self) -> Vec<Packet> {
        self.removed.as_mut().map(|removed| std::mem::take(&mut removed.trimmed)).unwrap_or_default()
    }

    /// Notes the largest backlog.
    pub(super) fn note_peak(&mut self, now: Instant, backlog: Backlog) {
        self.counters.note_peak(&self.window, now, backlog);
    }

    /// Keeps the distribution of the backlog from `now`, when the packets of `undeparted` will depart.
    pub(super) fn keep_levels<'a>(
        &mut self,
        now: Instant,
        backlog: Backlog,
        undeparted: impl Iterator<Item = &'a InFlight>,
    ) {
        let mut levels = OccupancyHistogram::new(now, backlog);
        undeparted.for_each(|next| levels.schedule_departure(next.departs, next.wire));
        self.levels = Some(Box::new(levels));
    }

    /// Ends the measured time.
    pub(super) fn close(&mut self, now: Instant) {
        self.percentiles = self.levels.take().map(|levels| levels.percentiles(now));
    }

    /// Accounts a packet with a known departure outside the window, at its edge, or at a measured port.
    /// `backlog` includes the packet.
    #[inline(never)] // keeps the path of the other ports short
    pub(super) fn pass_with_levels(
        &mut self,
        (now, starts, departs): (Instant, Instant, Instant),
        size: Bytes,
        backlog: Backlog,
    ) {
        self.counters.pass_within(&self.window, (now, starts, departs), size, backlog);
        if let Some(levels) = &mut self.levels {
            levels.change(now, backlog);
            levels.schedule_departure(departs, size.get() as u16);
        }
    }

    /// Accounts a change of the backlog by an arrival at a scheduler.
    pub(super) fn admit(&mut self, now: Instant, before: Backlog, after: Backlog) {
        self.counters.admit(&self.window, now, before, after);
        self.note_peak(now, after);
        self.note_level(now, after);
    }

    /// Accounts the transmission of an admitted packet.
    pub(super) fn depart(&mut self, now: Instant, departs: Instant, wire: u16) {
        if let Some(levels) = &mut self.levels {
            levels.schedule_departure(departs, wire);
        }
        self.counters.depart(&self.window, (now, departs), Bytes::new(wire.into()));
    }

    /// Removes an admitted packet, which is lost at `now`.
    pub(super) fn evict(&mut self, now: Instant, size: Bytes) {
        self.counters.evict(&self.window, now, size);
    }

    /// Sets the backlog in the distribution.
    pub(super) fn note_level(&mut self, now: Instant, backlog: Backlog) {
        if let Some(levels) = &mut self.levels {
            levels.change(now, backlog);
        }
    }

    /// Counts a dropped packet.
    #[inline(never)] // keeps the common path short
    pub(super) fn drop(&mut self, reason: DropReason, packet: &Packet) {
        self.counters.drops.count(reason, 1);
        *self.losses.entry(packet.flow_id).or_default() += u64::from(packet.payload);
        self.record_drop(reason, packet);
    }

    /// Records a dropped packet for the tracer.
    pub(super) fn record_drop(&mut self, reason: DropReason, packet: &Packet) {
        if let Some(removed) = &mut self.removed {
            removed.dropped.push((reason, packet.clone()));
        }
    }

    /// Counts a packet that is about to be trimmed.
    pub(super) fn trim(&mut self, packet: &Packet) {
        self.counters.trimmed += 1;
        *self.losses.entry(packet.flow_id).or_default() += u64::from(packet.payload);
        if let Some(removed) = &mut self.removed {
            removed.trimmed.push(packet.clone());
        }
    }

    /// Removes a packet that would have been sent during `starts..departs`, because its link fails at `now`.
    pub(super) fn cancel(&mut self, now: Instant, times: (Instant, Instant), size: Bytes) {
        self.counters.cancel(&self.window, now, times, size);
    }

    /// Counts the packets of the ring and `others` as lost, because the link failed at `now`.
    pub(super) fn fail(&mut self, now: Instant, others: u64, (in_ring, on_wire): (u64, u64)) {
        self.counters.drops.count(DropReason::LinkDown, in_ring + others);
        self.cleared += in_ring;
        self.lost_on_wire += on_wire;
        if let Some(levels) = &mut self.levels {
            levels.empty(now);
        }
    }

    /// Payload of connection `flow_id` that was dropped or trimmed here.
    pub(in crate::net) fn lost(&self, flow_id: u32) -> u64 {
        self.losses.get(&flow_id).copied().unwrap_or(0)
    }
}
