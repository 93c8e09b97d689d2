//! Packets of networks whose ports share memory or pause data, or whose packets are watched.

use super::{Network, PortHooks, WithNetwork, hand_over};
use crate::engine::EventQueue;
use crate::packet::{Handover, Packet, PacketType};
use crate::priorities::DEFAULT_PRIORITY;
use crate::probe::watch::EnqueueRecord;
use shortflow_units::{Instant, PortId};

impl Network {
    /// Enqueues a packet at `port` if ports share memory or are under flow control, or if packets are
    /// watched.
    #[inline(never)] // keeps the common path short
    pub(super) fn forward_hooked(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        port: PortId,
        packet: &mut Packet,
    ) -> Handover {
        let Some(PortHooks { memory, flow_control, source, watch, priorities }) = self.special.as_deref_mut()
        else {
            return Handover::DROPPED;
        };
        let now = events.now();
        if let Some(limit) = memory.as_ref().and_then(|memory| memory.limit(&mut self.ports, port, now)) {
            self.ports[port.index()].egress.set_limit(limit);
        }
        let sender = &mut self.ports[port.index()];
        let priority = priorities.get(packet.flow_id as usize).copied().unwrap_or(DEFAULT_PRIORITY);
        // A packet that no link counts has no source, so that its departure releases no bytes.
        let is_data = packet.kind == PacketType::Data;
        let counts = |from: &PortId| {
            let control = flow_control.as_mut().filter(|_| is_data);
            control.is_some_and(|control| control.arrive(*from, priority, packet.wire))
        };
        let source_counted = source.filter(counts);
        if let Some(pauses) = &mut sender.pauses {
            pauses.came_from(source_counted, priority);
        }
        let marked = sender.counters().marked;
        let wanted = watch.as_ref().is_some_and(|watch| watch.wants(Some(port), packet));
        let copy = wanted.then(|| packet.clone());
        let handover = hand_over(sender, (events, &mut self.reports), port, (&mut self.packets, packet));
        if let Some(watch) = watch {
            let scheduled = sender.is_scheduled();
            watch.arrival(EnqueueRecord {
                at: now,
                port,
                of_host: sender.from.index() < self.hosts,
                scheduled,
                packet: copy,
                marked: !scheduled && sender.counters().marked > marked,
                dropped: sender.egress.account.take_dropped(),
                trimmed: sender.egress.account.take_trimmed(),
                backlog: sender.egress.known_backlog(),
            });
        }
        if flow_control.is_some() {
            let source = *source;
            self.send_frames(events, port, source);
        }
        handover
    }

    /// Records drops of a port for the tracer.
    #[inline(never)] // keeps the common path short
    pub(super) fn note_drops(&mut self, now: Instant, port: PortId) {
        let Some(watch) = self.special.as_mut().and_then(|special| special.watch.as_mut()) else { return };
        let sender = &mut self.ports[port.index()];
        let backlog = Some(sender.backlog(now));
        watch.lost(now, Some(port), sender.egress.account.take_dropped(), backlog);
    }
}
