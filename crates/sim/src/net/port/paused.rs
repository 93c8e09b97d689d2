//! Ports under priority flow control: the other end of their link may pause data, and their node counts what each link has brought.

use super::{EMPTY_QUEUE, Port, PortEvent};
use crate::net::pauses::{FreedMemory, PauseCounts};
use crate::packet::{Packet, PacketType, Packets};
use crate::queue::{Queue, QueuedPacket, Scheduler, SchedulerEffects, TrafficClass};
use shortflow_units::{Bytes, Instant, PortId, Span};
use std::collections::{BTreeMap, VecDeque};

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

    /// Bytes that wait here, by the port that they came from.
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

    /// The other end has sent a frame that pauses data here or lets it go on, from this time on.
    pub(in crate::net) fn expect_frame(&mut self, at: Instant, pauses: bool) {
        if let Some(state) = &mut self.pausing {
            state.frames.push_back((at, pauses));
        }
    }

    /// Has data paused from one time on until the other, if any.
    pub(in crate::net) fn plan_pause(&mut self, (from, to): (Span, Option<Span>)) {
        self.control_flow();
        if let Some(state) = &mut self.pausing {
            let frames = [(Some(from), true), (to, false)].into_iter();
            let frame = |(at, pauses): (Option<Span>, bool)| at.map(|at| (Instant::ZERO + at, pauses));
            state.planned.extend(frames.filter_map(frame));
            state.planned.make_contiguous().sort_by_key(|(at, begins)| (*at, !begins));
        }
    }

    /// Times of planned frames.
    pub(in crate::net) fn planned_frames(&self) -> impl Iterator<Item = Instant> {
        self.pausing.iter().flat_map(|state| state.planned.iter().map(|(at, _)| *at))
    }

    /// Frames of the other end or pauses of the scenario are due. Starts the next transmission if data may go on. Returns the packet
    /// with its wait.
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

    /// Pauses data, or lets it go on, and keeps the account.
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

    /// The link has failed: the other end's pause is over, and frames on the wire are lost.
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

    /// Time since which data is paused while packets wait, if nothing is on its way to be sent.
    pub(in crate::net) fn stuck_since(&self) -> Option<Instant> {
        let since = self.pausing.as_ref()?.since?;
        (self.queue.waiting().packets > 0 && !self.waits).then_some(since)
    }
}
