//! Ports with a scheduler, which chooses the next packet when the transmitter is free.

use super::{LinkMeter, Port, PortEvent, Queue, ShortPath};
use crate::packet::{Handover, Left, Packet, PacketId, PacketType, Packets};
use crate::queue::{DropReason, Fate, QueuedPacket, Room, Scheduler, SchedulerEffects};
use shortflow_cc::HopSample;
use shortflow_units::{Instant, Span};

impl Port {
    /// End of the transmission, if packets wait.
    #[inline]
    pub(in crate::net) fn next_done(&self) -> Option<Instant> {
        self.waits.then_some(self.busy_until)
    }

    /// Sends the next packet when the transmitter becomes free, and returns it. Returns `None` if nothing is
    /// sent, or if the link has failed since the event was scheduled.
    pub fn transmit_done<'p>(
        &mut self,
        now: Instant,
        packets: &'p mut Packets,
        wake: impl FnMut(PortEvent),
    ) -> Option<&'p Packet> {
        if self.busy_until != now {
            return None;
        }
        self.advance_departures(now);
        self.send_next(now, packets, wake)
    }

    /// Starts the next transmission, and passes the events that follow to `wake`. Returns the packet.
    #[inline]
    pub(super) fn send_next<'p>(
        &mut self,
        now: Instant,
        packets: &'p mut Packets,
        mut wake: impl FnMut(PortEvent),
    ) -> Option<&'p Packet> {
        let started = self.start_next(now, packets, &mut wake);
        if let Some(sent) = self.ring.back().filter(|_| started) {
            self.tell(packets.get(sent.packet), sent.departs, &mut wake);
        }
        self.waits = started && self.queue.waiting().packets > 0; // if no packet was sent, all waiting packets are paused
        if self.waits {
            wake(PortEvent::Done(self.busy_until, self.from));
        }
        self.ring.back().filter(|_| started).map(|sent| packets.get(sent.packet))
    }

    /// True if one of the next `arrivals` packets may be returned to the sender of its data.
    pub(in crate::net) fn may_return(&self, arrivals: usize) -> bool {
        let Queue::Scheduled(queue) = &self.queue else { return false };
        queue.may_return(self.limit, arrivals as u32)
    }

    /// Hands a packet to the scheduler.
    #[inline(never)] // keeps the path of the other queues short
    pub(super) fn enqueue_scheduled(
        &mut self,
        now: Instant,
        (packets, id): (&mut Packets, PacketId),
        marked: bool,
        mut wake: impl FnMut(PortEvent),
    ) -> Handover {
        let mut arriving = QueuedPacket::new(id, packets.get(id), now);
        self.hold(&mut arriving);
        let Queue::Scheduled(queue) = &mut self.queue else { return Handover::DROPPED };
        let (waited, mut effects) = (queue.backlog(), SchedulerEffects::default());
        let room = Room { found: self.backlog, limit: self.limit };
        queue.enqueue(room, arriving, &mut effects);
        let waiting = queue.backlog();
        self.counters.marked += u64::from(marked);
        self.count(&effects, packets, &mut wake);
        let found = self.backlog;
        self.backlog = found + waiting - waited;
        self.counters.admit(&self.window, now, found, self.backlog);
        self.counters.note_peak(&self.window, now, self.backlog);
        if let Some(levels) = &mut self.levels {
            levels.change(now, self.backlog);
        }
        if self.short_path == ShortPath::WhenIdle && !self.backlog.is_within(self.quiet) {
            self.find_quiet();
        }
        let mut departs = Instant::MAX;
        let is_idle = !self.waits && self.busy_until <= now;
        if is_idle {
            if self.start_next(now, packets, &mut wake)
                && let Some(sent) = self.ring.back()
            {
                departs = sent.departs; // without the transmitter's pause, which follows the last bit
                self.waits = waiting.packets > 1; // if other packets wait at an idle port, they are paused
            }
        } else if !self.waits {
            self.waits = waiting.packets > 0;
        }
        if self.waits && (is_idle || waited.packets == 0) {
            wake(PortEvent::Done(self.busy_until, self.from));
        }
        Handover { waits: Span::ZERO, departs }
    }

    /// Starts sending the scheduler's next packet, if any.
    #[inline(always)]
    fn start_next(&mut self, now: Instant, packets: &mut Packets, wake: &mut impl FnMut(PortEvent)) -> bool {
        let Queue::Scheduled(queue) = &mut self.queue else { return false };
        let mut effects = SchedulerEffects::default();
        let next = queue.dequeue(now, &mut effects);
        debug_assert_eq!(
            effects.drops().count(),
            effects.fates.len(),
            "packets are trimmed at arrivals only"
        );
        self.count(&effects, packets, wake);
        if !effects.fates.is_empty() {
            self.evict(now, &effects);
        }
        let Some(next) = next else { return false };
        self.free(&next, next.wire);
        let departs = now + self.tx_time(next.wire_size());
        let packet = packets.get_mut(next.id);
        packet.ecn = next.ecn;
        if self.telemetry.is_some() {
            self.write_report(now, packet);
        }
        packet.wait(now.since(next.arrived), self.of_host);
        if let Some(levels) = &mut self.levels {
            levels.schedule_departure(departs, next.wire);
        }
        self.counters.depart(&self.window, (now, departs), next.wire_size());
        if self.push(departs, next.id, next.wire)
            && let Some(at) = self.arrival_of_head(packets)
        {
            wake(PortEvent::Arrival(at, self.to));
        }
        true
    }

    /// Counts a packet whose transmission begins, and writes a report into it if it is a data packet.
    #[inline(never)] // keeps the path of ports that do not report short
    fn write_report(&mut self, at: Instant, packet: &mut Packet) {
        let (takes, rate) = (packet.wire_size().plus(self.gap()), self.rate);
        let queued = self.queue.waiting().bytes;
        let Some(LinkMeter { port, sent }) = &mut self.telemetry else { return };
        if let Some(extension) = packet.extension.as_mut().filter(|_| packet.kind == PacketType::Data) {
            extension.hops.push(HopSample { port: *port, at, sent: *sent, queued, rate });
        }
        *sent += takes;
    }

    /// Counts the marks, drops and trims of the scheduler.
    fn count(&mut self, effects: &SchedulerEffects, packets: &mut Packets, wake: &mut impl FnMut(PortEvent)) {
        self.counters.marked += u64::from(effects.marks);
        for (fate, waiting) in &effects.fates {
            match *fate {
                Fate::Dropped(reason) => self.drop_waiting(reason, waiting, packets, wake),
                // Answers and headers that were returned before are not returned, and a host's port is no switch.
                Fate::Returned if self.of_host || packets.get(waiting.id).kind.is_answer() => {
                    self.drop_waiting(DropReason::BufferFull, waiting, packets, wake);
                }
                Fate::Returned => {
                    self.free(waiting, waiting.wire);
                    self.counters.returned += 1;
                    wake(PortEvent::Returned(waiting.id));
                }
                Fate::Trimmed { was } => {
                    self.free(waiting, was - waiting.wire);
                    self.trim(waiting.wire, packets.get_mut(waiting.id), wake);
                }
            }
        }
    }

    fn drop_waiting(
        &mut self,
        reason: DropReason,
        waiting: &QueuedPacket,
        packets: &mut Packets,
        wake: &mut impl FnMut(PortEvent),
    ) {
        let packet = waiting.take(packets);
        self.free(waiting, waiting.wire);
        self.drop(reason, &packet);
        self.tell(&packet, Instant::ZERO, wake);
    }

    /// Trims a packet. Its host gets the same report as for a drop.
    #[inline(never)] // keeps the common path short
    fn trim(&mut self, wire: u16, packet: &mut Packet, wake: &mut impl FnMut(PortEvent)) {
        self.counters.trimmed += 1;
        *self.losses.entry(packet.flow_id).or_default() += u64::from(packet.payload);
        self.tell(packet, Instant::ZERO, wake);
        if self.dropped.is_some() {
            self.trimmed.push(packet.clone());
        }
        packet.trim(wire);
    }

    /// Reports the departure of a waiting packet to the host, or with a `departs` of zero its drop.
    pub(super) fn tell(&self, packet: &Packet, departs: Instant, wake: &mut impl FnMut(PortEvent)) {
        if self.of_host && packet.payload > 0 {
            wake(PortEvent::Left(Left { conn: packet.conn, flow_id: packet.flow_id, departs }));
        }
    }

    /// Removes dropped packets from the backlog and from the counters of accepted packets.
    fn evict(&mut self, now: Instant, effects: &SchedulerEffects) {
        for (_, waiting) in effects.drops() {
            self.counters.evict(&self.window, now, waiting.wire_size());
            self.backlog.remove(waiting.wire);
        }
        if let Some(levels) = &mut self.levels {
            levels.change(now, self.backlog);
        }
    }
}
