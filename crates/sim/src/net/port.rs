//! A port: queue discipline, transmitter and the wire behind it.
//!
//! With a queue discipline in arrival order, the departure of a packet is known on arrival. One ring then
//! holds queue and wire, and only its head has a pending event. Departures are subtracted from the backlog
//! when the backlog is read.
//!
//! A [`Scheduler`](crate::queue::Scheduler) chooses the next packet when the transmitter becomes free. The
//! scheduler holds the waiting packets. The ring holds the packet in transmission and the packets on the
//! wire. While packets wait, the end of the transmission is a pending event too.

mod boundary;
mod faulty;
mod paused;
mod prefetch;
mod scheduled;
mod short;

use super::pauses::PauseState;
use super::ring::{InFlight, Ring};
use super::{
    FaultInjector, HostDelay, MeasurementWindow, OccupancyHistogram, Percentiles, PortCounters, PortCounts,
};
use crate::engine::prefetch;
use crate::packet::{EcnField, Handover, Left, Packet, PacketId, Packets};
use crate::queue::droptail::DropTail;
use crate::queue::{Backlog, DropReason, InOrder, Queue, QueueDiscipline, Room, Verdict};
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, PortId, Rate, Span};
use std::collections::BTreeMap;

/// Packets that take the short path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShortPath {
    /// No packets.
    Never,
    /// Packets of a queue in arrival order.
    InOrder,
    /// Packets that find the transmitter idle and no other packet waiting.
    WhenIdle,
}

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

/// Packets of a port.
#[derive(Debug, Clone, Copy)]
pub struct PortOccupancy {
    /// Packets in transmission, on the wire and, without a scheduler, waiting.
    pub ring: u64,
    /// Packets in a scheduler.
    pub waiting: Backlog,
    /// Unsent packets in ring and scheduler together.
    pub backlog: Backlog,
}

/// Sending side of one direction of a link. Fields that every packet needs come first, in few cache lines.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Port {
    ring: Ring,
    busy_until: Instant,
    delay: Span,
    backlog: Backlog,
    /// Time to send a byte; zero unless a whole number of picoseconds.
    byte_time: Span,
    /// Packets that depart up to this time are counted in totals only. Zero before the measured time, and
    /// while the distribution of the backlog is kept.
    plain_until: Instant,
    /// Largest backlog, arriving packet included, at which this packet is neither marked nor dropped, and
    /// makes no new peak.
    quiet: Backlog,
    /// Number of packets that have arrived at the other end.
    arrived: u64,
    /// Node at the other end.
    pub to: NodeId,
    /// Gap between two frames, in bytes of the link ([`Wire::gap`](crate::wire::Wire::gap)).
    gap: u16,
    /// True if the host at the other end takes arrivals early.
    pub pulls: bool,
    /// True if the port's host may delay packets.
    is_late: bool,
    /// True if the port leads to another part of the network, which holds the far end of the wire.
    crosses: bool,
    of_host: bool,
    is_scheduled: bool,
    /// True if packets wait for the end of the present transmission in the scheduler.
    waits: bool,
    short_path: ShortPath,
    counters: PortCounters,
    /// Largest backlog, arriving packet included, on the short path.
    room: Backlog,
    /// Backlog above which packets are marked on the short path.
    mark_above: Backlog,
    faults: Option<Box<FaultInjector>>,
    late: Option<Box<HostDelay>>,
    queue: Queue,
    limit: Occupancy,
    /// Node of the port.
    pub from: NodeId,
    rate: Rate,
    window: MeasurementWindow,
    levels: Option<Box<OccupancyHistogram>>,
    percentiles: Option<Percentiles>,
    /// Packets lost on the wire when the link failed.
    lost_on_wire: u64,
    /// Bytes of payload dropped or trimmed here, by connection.
    losses: BTreeMap<u32, u64>,
    /// Packets dropped since the last call of [`Port::take_dropped`]; `None` unless the port is watched.
    dropped: Option<Vec<(DropReason, Packet)>>,
    /// Packets trimmed since the last call of [`Port::take_trimmed`], with their payload; empty unless the
    /// port is watched.
    trimmed: Vec<Packet>,
    /// Counter of a port that reports to data packets.
    telemetry: Option<LinkMeter>,
    /// State of a port under flow control.
    pausing: Option<Box<PauseState>>,
}

/// Placeholder for a queue while the queue is replaced.
const EMPTY_QUEUE: Queue = Queue::InOrder(InOrder::DropTail(DropTail));

/// Number of a port that reports, and its bytes sent.
#[derive(Debug, Clone, Copy)]
struct LinkMeter {
    /// Number of the port.
    port: u32,
    /// Bytes sent on the link so far, with the gaps between frames.
    sent: Bytes,
}

/// Leading cache lines of a port that an arrival needs, and that a transmission needs.
const WIRE_LINES: usize = 2;
const HOT_LINES: usize = 3;

impl Port {
    /// An idle port whose buffer is `limit`.
    pub fn new(
        (from, to): (NodeId, NodeId),
        (rate, delay): (Rate, Span),
        (queue, limit): (Queue, Occupancy),
        faults: Option<Box<FaultInjector>>,
        window: MeasurementWindow,
    ) -> Port {
        let mut port = Port {
            from,
            to,
            quiet: Backlog::default(),
            room: Backlog::default(),
            mark_above: Backlog::default(),
            of_host: false,
            is_scheduled: matches!(queue, Queue::Scheduled(_)),
            waits: false,
            short_path: ShortPath::Never,
            pulls: false,
            crosses: false,
            rate,
            delay,
            queue,
            limit,
            faults,
            late: None,
            window,
            plain_until: Instant::ZERO,
            levels: None,
            percentiles: None,
            busy_until: Instant::ZERO,
            ring: Ring::default(),
            backlog: Backlog::default(),
            byte_time: rate.byte_time().unwrap_or_default(),
            gap: 0,
            is_late: false,
            counters: PortCounters::default(),
            arrived: 0,
            lost_on_wire: 0,
            losses: BTreeMap::new(),
            dropped: None,
            trimmed: Vec::new(),
            telemetry: None,
            pausing: None,
        };
        port.find_short_path();
        port
    }

    /// Records drops and trims from now on, and leaves the short path.
    pub fn watch(&mut self) {
        self.dropped = Some(Vec::new());
        // A port with a fault injector has no short path, even if the injector is idle.
        self.faults.get_or_insert_with(FaultInjector::idle);
        self.find_short_path();
    }

    /// Writes a report into each data packet with an extension from now on, under the number of the port, and
    /// leaves the short path.
    pub fn report(&mut self, port: PortId) {
        self.telemetry = Some(LinkMeter { port: port.0, sent: Bytes::ZERO });
        // A report has the backlog at the start of the packet's transmission, so the port needs an event at this
        // time. Only ports with a scheduler have one.
        let queue = std::mem::replace(&mut self.queue, EMPTY_QUEUE);
        self.queue = queue.decided_at_departure();
        self.is_scheduled = true;
        self.find_short_path();
    }

    /// Packets dropped since the last call, at a watched port.
    pub fn take_dropped(&mut self) -> Vec<(DropReason, Packet)> {
        self.dropped.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Packets trimmed since the last call, with their payload, at a watched port.
    pub fn take_trimmed(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.trimmed)
    }

    /// True if a scheduler chooses the next packet.
    pub fn is_scheduled(&self) -> bool {
        self.is_scheduled
    }

    /// Declares that the port is a host's, and sets the delays of this host.
    pub fn of_host(self, late: Option<HostDelay>) -> Port {
        let mut port = Port { of_host: true, is_late: late.is_some(), late: late.map(Box::new), ..self };
        port.find_short_path();
        port
    }

    /// Sets the time between two frames, in bytes of the link.
    pub(super) fn with_gap(self, gap: Bytes) -> Port {
        Port { gap: gap.get() as u16, ..self }
    }

    /// Sets the rate of the port.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        (self.rate, self.byte_time) = (rate, rate.byte_time().unwrap_or_default());
        self.find_short_path();
    }

    /// Starts the measured time.
    pub fn open_window(&mut self, now: Instant) {
        self.advance_departures(now);
        self.counters.note_peak(&self.window, now, self.backlog);
        self.plain_until = self.window.to;
        self.find_quiet();
    }

    /// Keeps the distribution of the backlog from `now` to the end of the window.
    pub fn keep_levels(&mut self, now: Instant) {
        self.advance_departures(now);
        let mut levels = OccupancyHistogram::new(now, self.backlog);
        self.ring.undeparted().for_each(|next| levels.schedule_departure(next.departs, next.wire));
        self.levels = Some(Box::new(levels));
        self.plain_until = Instant::ZERO;
    }

    /// Ends the measured time.
    pub fn close_window(&mut self, now: Instant) {
        self.advance_departures(now);
        self.percentiles = self.levels.take().map(|levels| levels.percentiles(now));
    }

    /// Percentiles of the backlog over the window, once it is closed, if its distribution was kept.
    pub fn percentiles(&self) -> Option<Percentiles> {
        self.percentiles
    }

    /// Rate and one-way propagation delay.
    pub fn link(&self) -> (Rate, Span) {
        (self.rate, self.delay)
    }

    /// Usage of the port so far.
    pub fn counters(&self) -> &PortCounters {
        &self.counters
    }

    /// Counters, for the backlog as last counted.
    pub(super) fn counts(&self) -> PortCounts {
        self.counters.counts(self.backlog)
    }

    /// Number of packets that have arrived at the other end.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Packets lost on the wire when the link failed.
    pub fn lost_on_wire(&self) -> u64 {
        self.lost_on_wire
    }

    /// Time from zero to the end of the last transmission with a known departure.
    pub fn busy_until(&self) -> Span {
        self.busy_until.since(Instant::ZERO)
    }

    /// The backlog as last counted.
    pub fn known_backlog(&self) -> Backlog {
        self.backlog
    }

    /// Packets of the port, recounted.
    pub fn held(&self) -> PortOccupancy {
        let waiting = self.queue.waiting();
        let mut backlog = waiting;
        self.ring.undeparted().for_each(|next| backlog.add(next.wire));
        PortOccupancy { ring: self.ring.len() as u64, waiting, backlog }
    }

    /// Payload of connection `flow_id` that was dropped or trimmed here.
    pub fn lost(&self, flow_id: u32) -> u64 {
        self.losses.get(&flow_id).copied().unwrap_or(0)
    }

    /// Packets in the queue, on the wire, or delayed by a fault.
    pub fn in_flight(&self) -> usize {
        let held = self.faults.as_ref().map_or(0, |faults| faults.held());
        self.ring.len() + self.queue.waiting().packets as usize + held
    }

    /// True if faults can happen here.
    #[inline]
    pub fn is_faulty(&self) -> bool {
        self.faults.is_some()
    }

    /// The backlog at `now`.
    pub fn backlog(&mut self, now: Instant) -> Backlog {
        self.advance_departures(now);
        self.backlog
    }

    /// Sets the limit of the buffer, and leaves the short path.
    pub fn set_limit(&mut self, limit: Occupancy) {
        self.limit = limit;
        self.short_path = ShortPath::Never;
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
        let Queue::InOrder(queue) = &mut self.queue else {
            return self.enqueue_scheduled(now, (packets, id), marked, wake);
        };
        match queue.arrive(now, Room { found: self.backlog, limit: self.limit }, packet.frame()) {
            Verdict::Dropped(reason) => return self.refuse(reason, packets.take(id)),
            Verdict::Marked => {
                packet.ecn = EcnField::Ce;
                marked = true;
            }
            Verdict::Queued => {}
        }
        self.counters.marked += u64::from(marked);
        let starts = now.max(self.busy_until);
        let departs = starts + self.tx_time(packet.wire_size());
        let waits = starts.after(now);
        packet.wait(waits, self.of_host);
        let wire = packet.wire;
        self.backlog.add(wire);
        self.account_at_edges((now, starts, departs), Bytes::new(wire.into()));
        if self.push(departs, id, wire)
            && let Some(at) = self.arrival_of_head(packets)
        {
            wake(PortEvent::Arrival(at, self.to));
        }
        Handover { waits, departs }
    }

    /// Removes the head of the wire, which arrives. Returns the arrival of the packet after it, if any.
    #[inline(always)]
    pub(super) fn advance(&mut self, packets: &mut Packets) -> Option<Instant> {
        let late = if self.is_late { self.late_arrival(packets, 1) } else { None };
        self.skip(1);
        late.or_else(|| self.ring.front().map(|next| next.departs.plus(self.delay)))
    }

    /// Packet at position `before` of the ring, and its arrival.
    #[inline(always)]
    pub(super) fn arrival(&mut self, packets: &mut Packets, before: usize) -> Option<(Instant, PacketId)> {
        let late = if self.is_late { self.late_arrival(packets, before) } else { None };
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

    /// Arrival of the head of the wire.
    #[inline]
    fn arrival_of_head(&mut self, packets: &mut Packets) -> Option<Instant> {
        self.arrival(packets, 0).map(|(at, _)| at)
    }

    /// Removes the next `count` packets of the ring, which arrive.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: usize) {
        self.ring.skip(count);
        self.arrived += count as u64;
    }

    /// Moves the packet that arrives into `place`. Returns the next arrival, if any; `None` if the wire is
    /// empty.
    #[inline]
    pub fn arrive(&mut self, packets: &mut Packets, place: &mut Packet) -> Option<Option<Instant>> {
        let head = self.head()?;
        let next = self.advance(packets);
        *place = packets.take(head);
        Some(next)
    }

    #[inline(never)] // keeps the common path short
    fn refuse(&mut self, reason: DropReason, packet: Packet) -> Handover {
        self.free_refused(&packet);
        self.drop(reason, &packet);
        Handover::DROPPED
    }

    #[inline(never)] // keeps the common path short
    fn drop(&mut self, reason: DropReason, packet: &Packet) {
        self.counters.drops.count(reason, 1);
        *self.losses.entry(packet.flow_id).or_default() += u64::from(packet.payload);
        if let Some(dropped) = &mut self.dropped {
            dropped.push((reason, packet.clone()));
        }
    }

    /// Accounts a packet that has been added to the backlog.
    #[inline(always)]
    fn account_at_edges(&mut self, times: (Instant, Instant, Instant), size: Bytes) {
        if times.2 > self.plain_until {
            return self.book_with_levels(times.0, times.1, times.2, size);
        }
        self.counters.pass(times, size);
        if !self.backlog.is_within(self.counters.peak) {
            self.raise_peak();
        }
    }

    /// Accounts a packet outside the window, at its edge, or at a measured port.
    #[inline(never)] // keeps the path of the other ports short
    fn book_with_levels(&mut self, now: Instant, starts: Instant, departs: Instant, size: Bytes) {
        self.counters.pass_within(&self.window, (now, starts, departs), size, self.backlog);
        if let Some(levels) = &mut self.levels {
            levels.change(now, self.backlog);
            levels.schedule_departure(departs, size.get() as u16);
        }
    }

    /// Puts a packet on the wire. Returns `true` if it is the head.
    #[inline]
    fn push(&mut self, departs: Instant, packet: PacketId, wire: u16) -> bool {
        self.busy_until = departs;
        self.lag(Bytes::new(wire.into()));
        self.ring.push(InFlight { departs, packet, wire });
        self.ring.len() == 1 && !self.crosses
    }

    /// Adds the pause of the transmitter of a late host after a frame of this size.
    #[inline(always)]
    fn lag(&mut self, frame: Bytes) {
        if let Some(late) = &self.late {
            self.busy_until += late.lags(self.tx_time(frame));
        }
    }

    /// Subtracts departures up to `now` from the backlog.
    #[inline(always)]
    fn advance_departures(&mut self, now: Instant) {
        if self.busy_until <= now {
            self.ring.mark_all_departed();
            self.backlog = self.queue.waiting();
            return;
        }
        while let Some(gone) = self.ring.pop_departed(now) {
            self.backlog.remove(gone);
        }
    }

    #[inline(always)]
    fn gap(&self) -> Bytes {
        Bytes::new(self.gap.into())
    }

    /// Transmission time, without a division at usual rates.
    #[inline]
    fn tx_time(&self, frame: Bytes) -> Span {
        let takes = frame.plus(self.gap());
        match self.byte_time {
            Span::ZERO => self.rate.tx_time(takes),
            time => time.times(takes.get()),
        }
    }

    /// Place of the packet that arrives next.
    #[inline]
    pub(super) fn head(&self) -> Option<PacketId> {
        self.ring.front().map(|head| head.packet)
    }
}
