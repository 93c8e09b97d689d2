//! Ports under priority flow control. The far end of the link may pause data, and the port's node counts the
//! bytes that each link has brought.

use super::{EMPTY_QUEUE, Port, PortEvent};
use crate::net::pauses::{FreedMemory, PauseCounts};
use crate::packet::{Packet, PacketType, Packets};
use crate::queue::{Queue, QueuedPacket, Scheduler, SchedulerEffects, TrafficClass};
use shortflow_units::{Bytes, Instant, PortId, Span};
use std::collections::{BTreeMap, VecDeque};

impl Port {
    /// Puts the port under flow control, which disables the short path.
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

    /// Sets the port from which the next packet comes, if its link has a threshold.
    pub(in crate::net) fn came_from(&mut self, source: Option<PortId>) {
        if let Some(state) = &mut self.pausing {
            state.source = source;
        }
    }

    /// Records the origin of a packet that will wait in this port.
    #[inline]
    pub(super) fn hold(&mut self, arriving: &mut QueuedPacket) {
        if let Some(state) = &mut self.pausing
            && let Some(from) = state.source.filter(|_| arriving.class == TrafficClass::Data)
        {
            arriving.from = from;
        }
    }

    /// Records that a packet from `from` left the queue or was dropped from it.
    #[inline]
    pub(super) fn free(&mut self, from: PortId, wire: u16) {
        if from != QueuedPacket::OWN
            && let Some(state) = &mut self.pausing
        {
            state.freed.push(FreedMemory { from, wire });
        }
    }

    /// Records that a packet was refused before it reached the queue.
    pub(super) fn free_refused(&mut self, packet: &Packet) {
        if let Some(state) = &mut self.pausing
            && let Some(from) = state.source.filter(|_| packet.kind == PacketType::Data)
        {
            state.freed.push(FreedMemory { from, wire: packet.wire });
        }
    }

    /// Bytes that wait in this port, by the port from which they came.
    pub(in crate::net) fn waiting_by_origin(&self) -> BTreeMap<PortId, Bytes> {
        let (mut queue, mut waiting) = (self.queue.clone(), BTreeMap::new());
        queue.pause(false);
        let Queue::Scheduled(mut queue) = queue else { return waiting };
        let mut effects = SchedulerEffects::default();
        while let Some(next) = queue.dequeue(self.busy_until, &mut effects) {
            *waiting.entry(next.from).or_insert(Bytes::ZERO) += next.wire_size();
        }
        waiting
    }

    /// Takes the memory freed since the last call. The caller must return the list.
    pub(in crate::net) fn take_freed(&mut self) -> Vec<FreedMemory> {
        self.pausing.as_mut().map(|state| std::mem::take(&mut state.freed)).unwrap_or_default()
    }

    /// Returns the list from [`Port::take_freed`], to reuse its allocation.
    pub(in crate::net) fn return_freed(&mut self, mut freed: Vec<FreedMemory>) {
        if let Some(state) = &mut self.pausing {
            freed.clear();
            state.freed = freed;
        }
    }

    /// Time at which a frame of `size` bytes, sent at `now` ahead of waiting packets, reaches the other end.
    pub(in crate::net) fn frame_arrival(&self, now: Instant, size: Bytes) -> Instant {
        now.max(self.busy_until) + self.tx_time(size) + self.delay
    }

    /// Expects a frame that arrives at `at` and pauses or resumes data.
    pub(in crate::net) fn expect_frame(&mut self, at: Instant, pauses: bool) {
        if let Some(state) = &mut self.pausing {
            state.frames.push_back((at, pauses));
        }
    }

    /// Plans a pause of data from one time until another, or for the rest of the run.
    pub(in crate::net) fn plan_pause(&mut self, (from, to): (Span, Option<Span>)) {
        self.control_flow();
        if let Some(state) = &mut self.pausing {
            let frames = [(Some(from), true), (to, false)].into_iter();
            let frame = |(at, pauses): (Option<Span>, bool)| at.map(|at| (Instant::ZERO + at, pauses));
            state.planned.extend(frames.filter_map(frame));
            state.planned.make_contiguous().sort_by_key(|(at, begins)| (*at, !begins));
        }
    }

    /// Times at which planned pauses start and end.
    pub(in crate::net) fn planned_frames(&self) -> impl Iterator<Item = Instant> {
        self.pausing.iter().flat_map(|state| state.planned.iter().map(|(at, _)| *at))
    }

    /// Applies the frames and planned pauses that are due. Starts the next transmission if data may be sent.
    /// Returns the packet being sent, with its wait.
    pub(in crate::net) fn obey_frame<'p>(
        &mut self,
        now: Instant,
        packets: &'p mut Packets,
        mut wake: impl FnMut(PortEvent),
    ) -> Option<&'p Packet> {
        let state = self.pausing.as_mut()?;
        let due = |frames: &VecDeque<(Instant, bool)>| frames.partition_point(|(at, _)| *at <= now);
        let arrived = due(&state.frames);
        if let Some((_, pauses)) = state.frames.drain(..arrived).next_back() {
            state.told = pauses;
        }
        let planned = due(&state.planned);
        for (_, begins) in state.planned.drain(..planned) {
            state.open = if begins { state.open + 1 } else { state.open - 1 };
        }
        self.pause_as_told(now);
        let waits = self.queue.waiting().packets > 0;
        if self.is_paused() || self.waits || !waits {
            return None;
        }
        // A packet is still in transmission, so the next one starts at its end.
        if self.busy_until > now {
            self.waits = true;
            wake(PortEvent::Done(self.busy_until, self.from));
            return None;
        }
        self.send_next(now, packets, wake)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.pausing.as_ref().is_some_and(|state| state.told || state.open > 0)
    }

    /// Pauses or resumes data, and updates the counters.
    fn pause_as_told(&mut self, now: Instant) {
        let (is_paused, window, Some(state)) = (self.is_paused(), self.window, &mut self.pausing) else {
            return;
        };
        match state.since {
            Some(since) if !is_paused => {
                state.paused += window.overlap(since, now);
                state.since = None;
            }
            None if is_paused => {
                state.pauses += u64::from(window.from <= now && now < window.to);
                state.since = Some(now);
            }
            _ => return,
        }
        self.queue.pause(is_paused);
    }

    /// Handles a failure of the link: ends the pause by the other end, and discards frames on the wire.
    pub(super) fn forget_pauses(&mut self, now: Instant) {
        if let Some(state) = &mut self.pausing {
            state.told = false;
            state.frames.clear();
        }
        self.pause_as_told(now);
    }

    /// Pauses in the measured time, which is over; `None` if nothing can pause the port.
    pub fn pauses(&self) -> Option<PauseCounts> {
        let state = self.pausing.as_ref()?;
        let open = state.since.map_or(Span::ZERO, |since| self.window.overlap(since, self.window.to));
        Some(PauseCounts { pauses: state.pauses, paused: state.paused + open })
    }

    /// Time since which data is paused, if packets wait and none is being sent.
    pub(in crate::net) fn stuck_since(&self) -> Option<Instant> {
        let since = self.pausing.as_ref()?.since?;
        (self.queue.waiting().packets > 0 && !self.waits).then_some(since)
    }
}
