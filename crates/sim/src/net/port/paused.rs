//! Ports under priority flow control: the other end of their link may pause data, and their node counts what each link has brought.

use super::{EMPTY_QUEUE, Port, PortEvent};
use crate::net::pauses::{FreedMemory, PauseCounts};
use crate::packet::{Packet, PacketType, Packets};
use crate::queue::{Queue, QueuedPacket, Scheduler, SchedulerEffects, TrafficClass};
use shortflow_units::{Bytes, Instant, PortId, Span};

impl Port {
    /// Puts the port under flow control, and leaves the short path.
    pub fn control_flow(&mut self) {
        if self.pausing.is_some() {
            return;
        }
        let queue = std::mem::replace(&mut self.queue, EMPTY_QUEUE);
        self.queue = queue.pausable();
        self.is_scheduled = true;
        self.pausing = Some(Box::default());
        self.find_short_path();
    }

    /// Names the port that the next packet has come from, if its link counts.
    pub(in crate::net) fn came_from(&mut self, source: Option<PortId>) {
        if let Some(state) = &mut self.pausing {
            state.source = source;
        }
    }

    /// Notes the origin of a packet that is to wait here.
    #[inline]
    pub(super) fn hold(&mut self, arriving: &mut QueuedPacket) {
        if let Some(state) = &mut self.pausing
            && let Some(from) = state.source.filter(|_| arriving.class == TrafficClass::Data)
        {
            arriving.from = from;
        }
    }

    /// A packet from `from` has left the queue, or was dropped there.
    #[inline]
    pub(super) fn free(&mut self, from: PortId, wire: u16) {
        if from != QueuedPacket::OWN
            && let Some(state) = &mut self.pausing
        {
            state.freed.push(FreedMemory { from, wire });
        }
    }

    /// A packet was refused before it reached the queue.
    pub(super) fn free_refused(&mut self, packet: &Packet) {
        if let Some(state) = &mut self.pausing
            && let Some(from) = state.source.filter(|_| packet.kind == PacketType::Data)
        {
            state.freed.push(FreedMemory { from, wire: packet.wire });
        }
    }

    /// True if packets from this port wait here.
    pub(in crate::net) fn holds_of(&self, from: PortId) -> bool {
        let mut queue = self.queue.clone();
        queue.pause(false);
        let Queue::Scheduled(mut queue) = queue else { return false };
        let mut effects = SchedulerEffects::default();
        while let Some(next) = queue.dequeue(self.busy_until, &mut effects) {
            if next.from == from {
                return true;
            }
        }
        effects.drops.iter().any(|(_, dropped)| dropped.from == from)
    }

    /// Memory given back since the last call. The list wants to be returned.
    pub(in crate::net) fn take_freed(&mut self) -> Vec<FreedMemory> {
        self.pausing.as_mut().map(|state| std::mem::take(&mut state.freed)).unwrap_or_default()
    }

    /// Returns the list of memory given back, which keeps its room.
    pub(in crate::net) fn return_freed(&mut self, mut freed: Vec<FreedMemory>) {
        if let Some(state) = &mut self.pausing {
            freed.clear();
            state.freed = freed;
        }
    }

    /// Time at which a frame of `size` that goes first has reached the other end, if it is sent at `now`.
    pub(in crate::net) fn frame_arrival(&self, now: Instant, size: Bytes) -> Instant {
        now.max(self.busy_until) + self.tx_time(size) + self.delay
    }

    /// The other end has sent a frame that pauses data here or lets it go on.
    pub(in crate::net) fn expect_frame(&mut self, pauses: bool) {
        if let Some(state) = &mut self.pausing {
            state.frames.push_back(pauses);
        }
    }

    /// Has data paused from one time on until the other, if any.
    pub(in crate::net) fn plan_pause(&mut self, (from, to): (Span, Option<Span>)) {
        self.control_flow();
        if let Some(state) = &mut self.pausing {
            let frames = [(Some(from), true), (to, false)].into_iter();
            let frame = |(at, pauses): (Option<Span>, bool)| at.map(|at| (Instant::ZERO + at, pauses));
            state.planned.extend(frames.filter_map(frame));
            state.planned.make_contiguous().sort_by_key(|(at, _)| *at);
        }
    }

    /// Times of planned frames.
    pub(in crate::net) fn planned_frames(&self) -> impl Iterator<Item = Instant> {
        self.pausing.iter().flat_map(|state| state.planned.iter().map(|(at, _)| *at))
    }

    /// The next frame of the other end is here. Starts the next transmission if data may go on. Returns the packet with its wait.
    pub(in crate::net) fn obey_frame<'p>(
        &mut self,
        now: Instant,
        packets: &'p mut Packets,
        mut wake: impl FnMut(PortEvent),
    ) -> Option<&'p Packet> {
        let state = self.pausing.as_mut()?;
        let is_planned = state.planned.front().is_some_and(|(at, _)| *at == now);
        let planned = if is_planned { state.planned.pop_front() } else { None };
        let pauses = planned.map(|(_, pauses)| pauses).or_else(|| state.frames.pop_front())?;
        self.pause(now, pauses);
        let waits = self.queue.waiting().packets > 0;
        if pauses || self.waits || !waits {
            return None;
        }
        if self.busy_until > now {
            self.waits = true;
            wake(PortEvent::Done(self.busy_until, self.from));
            return None;
        }
        self.send_next(now, packets, wake)
    }

    /// Pauses data, or lets it go on, and keeps the account.
    fn pause(&mut self, now: Instant, pauses: bool) {
        let (window, Some(state)) = (self.window, &mut self.pausing) else { return };
        if let Some(since) = state.since.take() {
            state.paused += window.overlap(since, now);
        }
        if pauses {
            state.pauses += u64::from(window.from <= now && now < window.to);
            state.since = Some(now);
        }
        self.queue.pause(pauses);
    }

    /// The link has failed: a pause ends, and frames on the wire are lost.
    pub(super) fn forget_pauses(&mut self, now: Instant) {
        self.pause(now, false);
        if let Some(state) = &mut self.pausing {
            state.frames.clear();
        }
    }

    /// Pauses in the measured time, which is over; `None` if nothing can pause the port.
    pub fn pauses(&self) -> Option<PauseCounts> {
        let state = self.pausing.as_ref()?;
        let open = state.since.map_or(Span::ZERO, |since| self.window.overlap(since, self.window.to));
        Some(PauseCounts { pauses: state.pauses, paused: state.paused + open })
    }

    /// Time since which data is paused while packets wait, if nothing is on its way to be sent.
    pub(in crate::net) fn stuck_since(&self) -> Option<Instant> {
        let since = self.pausing.as_ref()?.since?;
        (self.queue.waiting().packets > 0 && !self.waits).then_some(since)
    }
}
