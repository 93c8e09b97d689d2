//! Ports under priority flow control. The far end of the link may pause data, and the port's node counts the
//! bytes that each link has brought.

use super::{EMPTY_QUEUE, Port, PortEvent};
use crate::net::pauses::{FreedMemory, PauseCounts, PauseState};
use crate::packet::{Packet, PacketType, Packets};
use crate::priorities::PrioritySet;
use crate::queue::{
    DataPriorities, Pausable, Queue, QueuedPacket, Scheduler, SchedulerEffects, TrafficClass,
};
use shortflow_units::{Bytes, Instant, PortId, Span};
use std::collections::{BTreeMap, VecDeque};

impl Port {
    /// Puts the port under flow control, which disables the short path.
    pub fn control_flow(&mut self, priorities: DataPriorities) {
        if self.pausing.is_some() {
            return;
        }
        let queue = std::mem::replace(&mut self.queue, EMPTY_QUEUE);
        self.queue = queue.pausable(priorities);
        self.is_scheduled = true;
        self.pausing = Some(Box::new(PauseState::new(priorities.used)));
        self.find_short_path();
    }

    /// Sets the port from which the next packet comes, if its link has a threshold, and the packet's priority.
    pub(in crate::net) fn came_from(&mut self, source: Option<PortId>, priority: u8) {
        if let Some(state) = &mut self.pausing {
            (state.source, state.priority) = (source, priority);
        }
    }

    /// Records priority and origin of a packet that will wait in this port.
    #[inline]
    pub(super) fn hold(&mut self, arriving: &mut QueuedPacket) {
        if let Some(state) = &mut self.pausing
            && arriving.class != TrafficClass::CONTROL
        {
            arriving.class = TrafficClass::data(state.priority);
            arriving.from = state.source.unwrap_or(QueuedPacket::OWN);
        }
    }

    /// Records that `wire` bytes of a packet left the queue or were dropped from it.
    #[inline]
    pub(super) fn free(&mut self, QueuedPacket { from, class, .. }: &QueuedPacket, wire: u16) {
        if *from != QueuedPacket::OWN
            && let Some(state) = &mut self.pausing
            && let Some(priority) = class.priority()
        {
            state.freed.push(FreedMemory { from: *from, priority, wire });
        }
    }

    /// Records that a packet was refused before it reached the queue.
    pub(super) fn free_refused(&mut self, packet: &Packet) {
        if let Some(state) = &mut self.pausing
            && let Some(from) = state.source.filter(|_| packet.kind == PacketType::Data)
        {
            state.freed.push(FreedMemory { from, priority: state.priority, wire: packet.wire });
        }
    }

    /// Bytes of a priority that wait in this port, by the port from which they came.
    pub(in crate::net) fn waiting_by_origin(&self, priority: u8) -> BTreeMap<PortId, Bytes> {
        let (mut queue, mut waiting) = (self.queue.clone(), BTreeMap::new());
        queue.pause(PrioritySet::NONE);
        let Queue::Scheduled(mut queue) = queue else { return waiting };
        let mut effects = SchedulerEffects::default();
        while let Some(next) = queue.dequeue(self.busy_until, &mut effects) {
            if next.class.priority() == Some(priority) {
                *waiting.entry(next.from).or_insert(Bytes::ZERO) += next.wire_size();
            }
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

    /// Expects a frame that arrives at `at` and pauses or resumes a priority.
    pub(in crate::net) fn expect_frame(&mut self, at: Instant, priority: u8, pauses: bool) {
        if let Some(state) = &mut self.pausing {
            state.frames.push_back((at, PrioritySet::of(priority), pauses));
        }
    }

    /// Plans a pause of `priorities` from one time until another, or for the rest of the run. The port must be
    /// under flow control.
    pub(in crate::net) fn plan_pause(&mut self, (from, to): (Span, Option<Span>), priorities: PrioritySet) {
        if let Some(state) = &mut self.pausing {
            let frames = [(Some(from), true), (to, false)].into_iter();
            let frame =
                |(at, pauses): (Option<Span>, bool)| at.map(|at| (Instant::ZERO + at, priorities, pauses));
            state.planned.extend(frames.filter_map(frame));
            state.planned.make_contiguous().sort_by_key(|(at, _, begins)| (*at, !begins));
        }
    }

    /// Times at which planned pauses start and end.
    pub(in crate::net) fn planned_frames(&self) -> impl Iterator<Item = Instant> {
        self.pausing.iter().flat_map(|state| state.planned.iter().map(|(at, ..)| *at))
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
        let due =
            |frames: &VecDeque<(Instant, PrioritySet, bool)>| frames.partition_point(|(at, ..)| *at <= now);
        let arrived = due(&state.frames);
        for (_, priorities, pauses) in state.frames.drain(..arrived) {
            state.told = if pauses { state.told | priorities } else { state.told - priorities };
        }
        let planned = due(&state.planned);
        for (_, priorities, begins) in state.planned.drain(..planned) {
            for priority in priorities.iter() {
                let open = &mut state.open[usize::from(priority)];
                *open = if begins { *open + 1 } else { *open - 1 };
            }
        }
        self.pause_as_told(now);
        if self.waits || !self.queue.classes().is_some_and(Pausable::may_send) {
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

    /// Priorities that are paused.
    pub(super) fn paused(&self) -> PrioritySet {
        self.pausing.as_ref().map_or(PrioritySet::NONE, |state| state.paused())
    }

    /// Pauses or resumes priorities, and updates the counters.
    fn pause_as_told(&mut self, now: Instant) {
        let (paused, window, Some(state)) = (self.paused(), self.window, &mut self.pausing) else {
            return;
        };
        for priority in state.used.iter() {
            let place = usize::from(priority);
            let (since, counts) = (&mut state.since[place], &mut state.counts[place]);
            match *since {
                Some(begin) if !paused.has(priority) => {
                    counts.paused += window.overlap(begin, now);
                    *since = None;
                }
                None if paused.has(priority) => {
                    counts.pauses += u64::from(window.from <= now && now < window.to);
                    *since = Some(now);
                }
                _ => {}
            }
        }
        match state.any_since {
            Some(begin) if paused.is_empty() => {
                state.any_paused += window.overlap(begin, now);
                state.any_since = None;
            }
            None if !paused.is_empty() => state.any_since = Some(now),
            _ => {}
        }
        self.queue.pause(paused);
    }

    /// Handles a failure of the link: ends the pauses by the other end, and discards frames on the wire.
    pub(super) fn forget_pauses(&mut self, now: Instant) {
        if let Some(state) = &mut self.pausing {
            state.told = PrioritySet::NONE;
            state.frames.clear();
        }
        self.pause_as_told(now);
    }

    /// Pauses in the measured time, which is over; `None` if nothing can pause the port.
    pub fn pauses(&self) -> Option<PauseCounts> {
        let state = self.pausing.as_ref()?;
        let pauses = state.counts.iter().map(|counts| counts.pauses).sum();
        Some(PauseCounts { pauses, paused: state.any_paused + self.since_in_window(state.any_since) })
    }

    /// Pauses in the measured time by priority, if data has several.
    pub fn pauses_by_priority(&self) -> Vec<(u8, PauseCounts)> {
        let state = self.pausing.iter().filter(|state| state.used.len() > 1);
        let counts = |state: &PauseState, priority: u8| {
            let place = usize::from(priority);
            let PauseCounts { pauses, paused } = state.counts[place];
            PauseCounts { pauses, paused: paused + self.since_in_window(state.since[place]) }
        };
        state
            .flat_map(|state| state.used.iter().map(move |priority| (priority, counts(state, priority))))
            .collect()
    }

    /// Time in the measured time since a pause began, which lasts.
    fn since_in_window(&self, since: Option<Instant>) -> Span {
        since.map_or(Span::ZERO, |since| self.window.overlap(since, self.window.to))
    }

    /// Time since which a priority is paused, if packets of the priority wait.
    pub(in crate::net) fn stuck_since(&self, priority: u8) -> Option<Instant> {
        let since = self.pausing.as_ref()?.since[usize::from(priority)]?;
        (self.queue.classes()?.waiting_of(priority).packets > 0).then_some(since)
    }
}
