//! A port: queue discipline, transmitter and the wire behind it.
//!
//! With a queue discipline in arrival order, the departure of a packet is known on arrival. One ring then
//! holds queue and wire, and only its head has a pending event. Departures are subtracted from the backlog
//! when the backlog is read.
//!
//! A [`Scheduler`] chooses the next packet when the transmitter becomes free. The
//! scheduler holds the waiting packets. The ring holds the packet in transmission and the packets on the
//! wire. While packets wait, the end of the transmission is a pending event too.
//!
//! | part | purpose |
//! |---|---|
//! | [`Egress`] | backlog, account and short path of packets on their way out |
//! | [`Transmitter`](transmitter::Transmitter) | sends packets one after another, and holds them until they arrive |
//! | [`Account`](account::Account) | counters, distribution of the backlog, losses |
//! | [`FaultInjector`] | faults of the link |
//! | [`PauseState`] | pauses under flow control |
//! | [`LinkMeter`] | reports to data packets |

mod account;
mod egress;
mod short_path;
mod telemetry;
#[cfg(test)]
mod tests;
mod transmitter;

use super::faults::WireOutcome;
use super::pauses::PauseState;
use super::{FaultInjector, HostDelay, MeasurementWindow, PortCounters};
use crate::engine::prefetch;
use crate::packet::{EcnField, Handover, Left, Packet, PacketId, Packets};
use crate::priorities::PrioritySet;
use crate::queue::droptail::DropTail;
use crate::queue::{
    Backlog, DataPriorities, DropReason, Fate, InOrder, Pausable, Queue, QueueDiscipline, QueuedPacket,
    Scheduler, SchedulerEffects, Verdict,
};
use egress::{Egress, HOT_LINES, PortOccupancy, WIRE_LINES};
use short_path::ShortPackets;
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, PortId, Rate, Span};
use std::collections::BTreeMap;
use telemetry::LinkMeter;

/// Next event of a port with its node, or a report to the port's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortEvent {
    /// Arrival of the head of the wire.
    Arrival(Instant, NodeId),
    /// End of a transmission while packets wait.
    Done(Instant, NodeId),
    /// A data packet of the port's host has left the scheduler.
    Left(Left),
    /// The header at this place goes back to the sender of its data.
    Returned(PacketId),
}

/// Sending side of one direction of a link. What every packet needs comes first.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Port {
    pub(super) egress: Egress,
    pub(super) faults: Option<Box<FaultInjector>>,
    queue: Queue,
    /// Node of the port.
    pub from: NodeId,
    of_host: bool,
    /// Meter of a port that reports to data packets.
    telemetry: Option<LinkMeter>,
    /// State of a port under flow control.
    pub(super) pauses: Option<Box<PauseState>>,
}

/// Placeholder for a queue while the queue is replaced.
const EMPTY_QUEUE: Queue = Queue::InOrder(InOrder::DropTail(DropTail));

impl Port {
    /// An idle port whose buffer is `limit`.
    pub fn new(
        (from, to): (NodeId, NodeId),
        link: (Rate, Span),
        (queue, limit): (Queue, Occupancy),
        faults: Option<Box<FaultInjector>>,
        window: MeasurementWindow,
    ) -> Port {
        let mut port = Port {
            egress: Egress::new(to, link, limit, window),
            faults,
            queue,
            from,
            of_host: false,
            telemetry: None,
            pauses: None,
        };
        port.find_short_path();
        port
    }

    /// Records drops and trims from now on, and leaves the short path.
    pub fn watch(&mut self) {
        self.egress.account.watch();
        // A port with a fault injector has no short path, even if the injector is idle.
        self.faults.get_or_insert_with(FaultInjector::idle);
        self.find_short_path();
    }

    /// Writes a report into each data packet with an extension from now on, under the number of the port, and
    /// leaves the short path.
    pub fn report(&mut self, port: PortId) {
        self.telemetry = Some(LinkMeter::new(port));
        // A report has the backlog at the start of the packet's transmission, so the port needs an event at this
        // time. Only ports with a scheduler have one.
        let queue = std::mem::replace(&mut self.queue, EMPTY_QUEUE);
        self.queue = queue.decided_at_departure();
        self.find_short_path();
    }

    /// Puts the port under flow control, which disables the short path.
    pub fn control_flow(&mut self, priorities: DataPriorities) {
        if self.pauses.is_some() {
            return;
        }
        let queue = std::mem::replace(&mut self.queue, EMPTY_QUEUE);
        self.queue = queue.pausable(priorities);
        self.pauses = Some(Box::new(PauseState::new(priorities.used, self.egress.account.window)));
        self.find_short_path();
    }

    /// Declares that the port is a host's, and sets the delays of this host.
    pub fn of_host(mut self, late: Option<HostDelay>) -> Port {
        self.of_host = true;
        self.egress.transmitter.set_delays(late);
        self.find_short_path();
        self
    }

    /// Sets the rate of the port.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        self.egress.transmitter.set_rate(rate);
        self.find_short_path();
    }

    /// Sets the packets that take the short path.
    fn find_short_path(&mut self) {
        let transmitter = &self.egress.transmitter;
        let is_plain = self.faults.is_none() && self.telemetry.is_none() && transmitter.has_byte_time();
        let (packets, threshold) = match &self.queue {
            _ if !is_plain => (ShortPackets::None, None),
            Queue::InOrder(queue) => {
                let threshold = queue.threshold();
                (threshold.map_or(ShortPackets::None, |_| ShortPackets::InOrder), threshold)
            }
            Queue::Scheduled(queue) if !transmitter.is_late() && queue.passes_idle() => {
                (ShortPackets::WhenIdle, None)
            }
            Queue::Scheduled(_) => (ShortPackets::None, None),
        };
        self.egress.set_short_path(packets, threshold.unwrap_or(Occupancy::Unlimited));
    }

    /// Starts the measured time.
    pub fn open_window(&mut self, now: Instant) {
        self.advance_departures(now);
        self.egress.open_window(now);
    }

    /// Keeps the distribution of the backlog from `now` to the end of the window.
    pub fn keep_levels(&mut self, now: Instant) {
        self.advance_departures(now);
        self.egress.keep_levels(now);
    }

    /// Ends the measured time.
    pub fn close_window(&mut self, now: Instant) {
        self.advance_departures(now);
        self.egress.account.close(now);
    }

    /// Node at the other end.
    #[inline(always)]
    pub fn to(&self) -> NodeId {
        self.egress.transmitter.to()
    }

    /// Rate and one-way propagation delay.
    pub fn link(&self) -> (Rate, Span) {
        self.egress.transmitter.link()
    }

    /// True if a scheduler chooses the next packet.
    #[inline]
    pub fn is_scheduled(&self) -> bool {
        // Short paths in order answer without the cache line of the queue.
        self.egress.short_path.packets != ShortPackets::InOrder && matches!(self.queue, Queue::Scheduled(_))
    }

    /// True if one of the next `arrivals` packets may be returned to the sender of its data.
    pub(super) fn may_return(&self, arrivals: usize) -> bool {
        let Queue::Scheduled(queue) = &self.queue else { return false };
        queue.may_return(self.egress.limits.buffer, arrivals as u32)
    }

    /// True if faults can happen here.
    #[inline]
    pub fn is_faulty(&self) -> bool {
        self.faults.is_some()
    }

    /// True if the link is down.
    pub fn is_down(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.is_down())
    }

    /// Backlog as last counted, account and wire.
    pub(crate) fn egress(&self) -> &Egress {
        &self.egress
    }

    /// Usage of the port so far.
    pub fn counters(&self) -> &PortCounters {
        &self.egress.account.counters
    }

    /// Pauses of the port; `None` if nothing can pause it.
    pub(crate) fn pauses(&self) -> Option<&PauseState> {
        self.pauses.as_deref()
    }

    /// The backlog at `now`.
    pub fn backlog(&mut self, now: Instant) -> Backlog {
        self.advance_departures(now);
        self.egress.backlog
    }

    /// Subtracts departures up to `now` from the backlog.
    #[inline(always)]
    fn advance_departures(&mut self, now: Instant) {
        self.egress.advance_departures(now, || self.queue.waiting());
    }

    /// Packets of the port, recounted.
    pub(crate) fn held(&self) -> PortOccupancy {
        self.egress.held(self.queue.waiting())
    }

    /// Packets in the queue, on the wire, or delayed by a fault.
    pub fn in_flight(&self) -> usize {
        let held = self.faults.as_ref().map_or(0, |faults| faults.held());
        self.egress.transmitter.ring.len() + self.queue.waiting().packets as usize + held
    }

    /// Bytes of a priority that wait in this port, by the port from which they came.
    pub(super) fn waiting_by_origin(&self, priority: u8) -> BTreeMap<PortId, Bytes> {
        self.queue.waiting_by_origin(priority, self.egress.transmitter.busy_until)
    }

    /// Time since which a priority is paused, if packets of the priority wait.
    pub(super) fn stuck_since(&self, priority: u8) -> Option<Instant> {
        let since = self.pauses.as_ref()?.paused_since(priority)?;
        (self.queue.classes()?.waiting_of(priority).packets > 0).then_some(since)
    }

    /// Enqueues the packet at place `id`. Returns its known delays. `wake` receives the events that follow.
    #[inline(never)] // keeps the short path short
    pub fn enqueue(
        &mut self,
        now: Instant,
        packets: &mut Packets,
        id: PacketId,
        mut wake: impl FnMut(PortEvent),
    ) -> Handover {
        self.advance_departures(now);
        let (packet, mut marked) = (packets.get_mut(id), false);
        if let Some(faults) = &mut self.faults {
            match faults.arrive(packet) {
                Verdict::Dropped(reason) => return self.refuse(reason, packets.take(id)),
                verdict => marked = verdict == Verdict::Marked,
            }
        }
        let room = self.egress.room();
        let Queue::InOrder(queue) = &mut self.queue else {
            return self.enqueue_scheduled(now, (packets, id), marked, wake);
        };
        match queue.arrive(now, room, packet.frame()) {
            Verdict::Dropped(reason) => return self.refuse(reason, packets.take(id)),
            Verdict::Marked => {
                packet.ecn = EcnField::Ce;
                marked = true;
            }
            Verdict::Queued => {}
        }
        self.egress.account.counters.marked += u64::from(marked);
        let transmitter = &self.egress.transmitter;
        let starts = now.max(transmitter.busy_until);
        let departs = starts + transmitter.tx_time(packet.wire_size());
        let waits = starts.after(now);
        packet.wait(waits, self.of_host);
        let wire = packet.wire;
        self.egress.backlog.add(wire);
        self.egress.pass((now, starts, departs), Bytes::new(wire.into()));
        if let Some((at, to)) = self.egress.transmitter.send(departs, (packets, id), wire) {
            wake(PortEvent::Arrival(at, to));
        }
        Handover { waits, departs }
    }

    /// [`Port::enqueue`] at a port with a scheduler.
    #[inline(never)] // keeps the path of the other queues short
    fn enqueue_scheduled(
        &mut self,
        now: Instant,
        (packets, id): (&mut Packets, PacketId),
        marked: bool,
        mut wake: impl FnMut(PortEvent),
    ) -> Handover {
        let mut arriving = QueuedPacket::new(id, packets.get(id), now);
        if let Some(pauses) = &self.pauses {
            pauses.hold(&mut arriving);
        }
        let room = self.egress.room();
        let Queue::Scheduled(queue) = &mut self.queue else { return Handover::DROPPED };
        let (waited, mut effects) = (queue.backlog(), SchedulerEffects::default());
        queue.enqueue(room, arriving, &mut effects);
        let waiting = queue.backlog();
        self.egress.account.counters.marked += u64::from(marked);
        self.count(&effects, packets, &mut wake);
        self.egress.admit(now, waited, waiting);
        let mut departs = Instant::MAX;
        let is_idle = self.egress.transmitter.is_idle(now);
        if is_idle {
            if self.start_next(now, packets, &mut wake)
                && let Some(sent) = self.egress.transmitter.ring.back()
            {
                departs = sent.departs; // without the transmitter's pause, which follows the last bit
                self.egress.transmitter.waits = waiting.packets > 1; // if other packets wait at an idle port, they are paused
            }
        } else if !self.egress.transmitter.waits {
            self.egress.transmitter.waits = waiting.packets > 0;
        }
        if let Some(done) = self.egress.transmitter.next_done()
            && (is_idle || waited.packets == 0)
        {
            wake(PortEvent::Done(done, self.from));
        }
        Handover { waits: Span::ZERO, departs }
    }

    /// Sends the next packet when the transmitter becomes free, and returns it. Returns `None` if nothing is
    /// sent, or if the link has failed since the event was scheduled.
    pub fn transmit_done<'p>(
        &mut self,
        now: Instant,
        packets: &'p mut Packets,
        wake: impl FnMut(PortEvent),
    ) -> Option<&'p Packet> {
        if self.egress.transmitter.busy_until != now {
            return None;
        }
        self.advance_departures(now);
        self.send_next(now, packets, wake)
    }

    /// Applies the frames and planned pauses that are due. Starts the next transmission if data may be sent.
    /// Returns the packet being sent, with its wait.
    pub(super) fn obey_frame<'p>(
        &mut self,
        now: Instant,
        packets: &'p mut Packets,
        mut wake: impl FnMut(PortEvent),
    ) -> Option<&'p Packet> {
        self.queue.pause(self.pauses.as_mut()?.obey(now));
        let transmitter = &mut self.egress.transmitter;
        if transmitter.waits || !self.queue.classes().is_some_and(Pausable::may_send) {
            return None;
        }
        // A packet is still in transmission, so the next one starts at its end.
        if transmitter.busy_until > now {
            transmitter.waits = true;
            wake(PortEvent::Done(transmitter.busy_until, self.from));
            return None;
        }
        self.send_next(now, packets, wake)
    }

    /// Starts the next transmission, and passes the events that follow to `wake`. Returns the packet.
    #[inline]
    fn send_next<'p>(
        &mut self,
        now: Instant,
        packets: &'p mut Packets,
        mut wake: impl FnMut(PortEvent),
    ) -> Option<&'p Packet> {
        let started = self.start_next(now, packets, &mut wake);
        if let Some(sent) = self.egress.transmitter.ring.back().filter(|_| started) {
            self.tell(packets.get(sent.packet), sent.departs, &mut wake);
        }
        let transmitter = &mut self.egress.transmitter;
        transmitter.waits = started && self.queue.waiting().packets > 0; // if no packet was sent, all waiting packets are paused
        if transmitter.waits {
            wake(PortEvent::Done(transmitter.busy_until, self.from));
        }
        transmitter.ring.back().filter(|_| started).map(|sent| packets.get(sent.packet))
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
            self.egress.evict(now, &effects);
        }
        let Some(next) = next else { return false };
        self.free(&next, next.wire);
        let Egress { transmitter, account, .. } = &mut self.egress;
        let departs = now + transmitter.tx_time(next.wire_size());
        let packet = packets.get_mut(next.id);
        packet.ecn = next.ecn;
        if let Some(meter) = &mut self.telemetry {
            let takes = transmitter.with_gap_after(packet.wire_size());
            meter.write(packet, now, (takes, transmitter.link().0), self.queue.waiting().bytes);
        }
        packet.wait(now.since(next.arrived), self.of_host);
        account.depart(now, departs, next.wire);
        if let Some((at, to)) = transmitter.send(departs, (packets, next.id), next.wire) {
            wake(PortEvent::Arrival(at, to));
        }
        true
    }

    /// Counts the marks, drops and trims of the scheduler.
    fn count(&mut self, effects: &SchedulerEffects, packets: &mut Packets, wake: &mut impl FnMut(PortEvent)) {
        self.egress.account.counters.marked += u64::from(effects.marks);
        for (fate, waiting) in &effects.fates {
            match *fate {
                Fate::Dropped(reason) => self.drop_waiting(reason, waiting, packets, wake),
                // Answers and headers that were returned before are not returned, and a host's port is no switch.
                Fate::Returned if self.of_host || packets.get(waiting.id).kind.is_answer() => {
                    self.drop_waiting(DropReason::BufferFull, waiting, packets, wake);
                }
                Fate::Returned => {
                    self.free(waiting, waiting.wire);
                    self.egress.account.counters.returned += 1;
                    wake(PortEvent::Returned(waiting.id));
                }
                Fate::Trimmed { was } => {
                    self.free(waiting, was - waiting.wire);
                    self.trim(waiting.wire, packets.get_mut(waiting.id), wake);
                }
            }
        }
    }

    /// Drops a packet that waited in the scheduler or was about to wait.
    fn drop_waiting(
        &mut self,
        reason: DropReason,
        waiting: &QueuedPacket,
        packets: &mut Packets,
        wake: &mut impl FnMut(PortEvent),
    ) {
        let packet = waiting.take(packets);
        self.free(waiting, waiting.wire);
        self.egress.account.drop(reason, &packet);
        self.tell(&packet, Instant::ZERO, wake);
    }

    /// Trims a packet. Its host gets the same report as for a drop.
    #[inline(never)] // keeps the common path short
    fn trim(&mut self, wire: u16, packet: &mut Packet, wake: &mut impl FnMut(PortEvent)) {
        self.egress.account.trim(packet);
        self.tell(packet, Instant::ZERO, wake);
        packet.trim(wire);
    }

    /// Drops a packet before it reaches the queue.
    #[inline(never)] // keeps the common path short
    fn refuse(&mut self, reason: DropReason, packet: Packet) -> Handover {
        if let Some(pauses) = &mut self.pauses {
            pauses.free_refused(&packet);
        }
        self.egress.account.drop(reason, &packet);
        Handover::DROPPED
    }

    /// Records for flow control that `wire` bytes of a packet left the queue or were dropped from it.
    #[inline]
    fn free(&mut self, waiting: &QueuedPacket, wire: u16) {
        if let Some(pauses) = &mut self.pauses {
            pauses.free(waiting, wire);
        }
    }

    /// Reports the departure of a waiting packet to the host, or with a `departs` of zero its drop.
    fn tell(&self, packet: &Packet, departs: Instant, wake: &mut impl FnMut(PortEvent)) {
        if self.of_host && packet.payload > 0 {
            wake(PortEvent::Left(Left { conn: packet.conn, flow_id: packet.flow_id, departs }));
        }
    }

    /// Moves the packet that arrives into `place`. Returns the next arrival, if any; `None` if the wire is
    /// empty.
    #[inline]
    pub fn arrive(&mut self, packets: &mut Packets, place: &mut Packet) -> Option<Option<Instant>> {
        let head = self.egress.transmitter.head()?;
        let next = self.egress.transmitter.advance(packets);
        *place = packets.take(head);
        Some(next)
    }

    /// True if the head of the wire arrives at `now`. False if the link has failed since the event was
    /// scheduled.
    pub fn is_due(&mut self, packets: &mut Packets, now: Instant) -> bool {
        self.egress.transmitter.arrival(packets, 0).is_some_and(|(at, _)| at == now)
    }

    /// Delivers `packet` from the wire, drops it, or delays it. The error is the time until which the packet
    /// is delayed, or `None` if the packet is dropped.
    pub fn pass(&mut self, now: Instant, packet: &mut Packet) -> Result<(), Option<Instant>> {
        let Some(faults) = &mut self.faults else { return Ok(()) };
        match faults.pass() {
            WireOutcome::Delivered => Ok(()),
            WireOutcome::Corrupted => {
                self.egress.account.drop(DropReason::Corrupted, packet);
                Err(None)
            }
            WireOutcome::Delayed(by) => {
                faults.hold(now + by, packet.take());
                Err(Some(now + by))
            }
        }
    }

    /// Lets the link fail. Waiting packets and packets on the wire are lost.
    pub fn fail(&mut self, now: Instant, packets: &mut Packets, mut wake: impl FnMut(PortEvent)) {
        self.advance_departures(now);
        let Some(faults) = &mut self.faults else { return };
        let sent = self.egress.transmitter.ring.iter().map(|next| packets.get(next.packet));
        for packet in faults.kept().chain(sent) {
            self.egress.account.record_drop(DropReason::LinkDown, packet);
        }
        let mut lost = faults.fail();
        let paused = self.pauses.as_mut().map_or(PrioritySet::NONE, |pauses| pauses.forget(now));
        self.queue.pause(PrioritySet::NONE); // paused packets are lost too
        if let Queue::Scheduled(queue) = &mut self.queue {
            let mut effects = SchedulerEffects::default();
            while let Some(waiting) = queue.dequeue(now, &mut effects) {
                effects.drop(DropReason::LinkDown, waiting);
            }
            lost += effects.drops().count() as u64;
            for (reason, waiting) in effects.drops() {
                self.egress.account.evict(now, waiting.wire_size());
                let packet = waiting.take(packets);
                self.free(waiting, waiting.wire);
                self.tell(&packet, Instant::ZERO, &mut wake);
                self.egress.account.record_drop(reason, &packet);
            }
        }
        self.queue.pause(paused);
        self.egress.fail(now, lost, packets);
    }

    /// Lets the link recover.
    pub fn restore(&mut self) {
        if let Some(faults) = &mut self.faults {
            faults.restore();
        }
    }

    /// Takes the next packet that departs to another part of the network before `end`, with its departure time.
    pub(super) fn export(&mut self, end: Instant, packets: &mut Packets) -> Option<(Instant, Packet)> {
        let departs = self.egress.transmitter.next_departure();
        if departs >= end {
            return None;
        }
        self.advance_departures(departs);
        self.egress.transmitter.ring.advance().map(|(packet, _)| (departs, packets.take(packet)))
    }

    /// Prefetches the part of a port that an arrival reads.
    #[inline]
    pub(super) fn prefetch_wire(&self) {
        prefetch(self, WIRE_LINES);
    }

    /// Prefetches the part of a port that the sending of a packet reads.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(self, HOT_LINES);
    }
}
