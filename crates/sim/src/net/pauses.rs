//! [`PauseState`]: state of a port under priority flow control. [`PauseCounts`]: its pauses in the measured
//! time.

use super::MeasurementWindow;
use crate::packet::{Packet, PacketType};
use crate::priorities::{DEFAULT_PRIORITY, PRIORITIES, PrioritySet};
use crate::queue::{QueuedPacket, TrafficClass};
use shortflow_units::{Instant, PortId, Span};
use std::collections::VecDeque;

/// Changes of pauses that are due at their times: the priorities, and `true` if a pause begins.
type Changes = VecDeque<(Instant, PrioritySet, bool)>;

/// Pauses of a port by the far end of its link and by the scenario, and the origins of its packets, whose bytes the
/// port's node counts by link.
#[derive(Debug, Clone)]
pub(crate) struct PauseState {
    /// Priorities of data in the network.
    used: PrioritySet,
    window: MeasurementWindow,
    /// Frames on their way to the port, by arrival time.
    frames: Changes,
    /// Priorities that the other end has paused.
    told: PrioritySet,
    /// The scenario's pauses.
    planned: Changes,
    /// Number of the scenario's pauses in progress, by priority.
    open: [u32; PRIORITIES],
    /// Time since which a priority is paused, by the other end or by the scenario.
    since: [Option<Instant>; PRIORITIES],
    /// Pauses that began in the measured time by priority, and paused time in the measured time without the
    /// present pause.
    counts: [PauseCounts; PRIORITIES],
    /// Time since which some priority is paused.
    any_since: Option<Instant>,
    /// Time in the measured time in which some priority was paused, without the present pause.
    any_paused: Span,
    /// Port from which the next packet comes, if its link has a threshold.
    source: Option<PortId>,
    /// Priority of the next packet, if it is data.
    priority: u8,
    /// Memory freed since the last call of `take_freed`.
    freed: Vec<FreedMemory>,
}

impl PauseState {
    /// State of a port that is not paused, with the priorities of data and the measured time.
    pub(super) fn new(used: PrioritySet, window: MeasurementWindow) -> PauseState {
        PauseState {
            used,
            window,
            frames: VecDeque::new(),
            told: PrioritySet::NONE,
            planned: VecDeque::new(),
            open: [0; PRIORITIES],
            since: [None; PRIORITIES],
            counts: [PauseCounts::default(); PRIORITIES],
            any_since: None,
            any_paused: Span::ZERO,
            source: None,
            priority: DEFAULT_PRIORITY,
            freed: Vec::new(),
        }
    }

    /// Sets the port from which the next packet comes, if its link has a threshold, and the packet's priority.
    pub(super) fn came_from(&mut self, source: Option<PortId>, priority: u8) {
        (self.source, self.priority) = (source, priority);
    }

    /// Writes priority and origin into a packet that will wait in the port.
    pub(super) fn hold(&self, arriving: &mut QueuedPacket) {
        if arriving.class != TrafficClass::CONTROL {
            arriving.class = TrafficClass::data(self.priority);
            arriving.from = self.source.unwrap_or(QueuedPacket::OWN);
        }
    }

    /// Records that `wire` bytes of a packet left the queue or were dropped from it.
    pub(super) fn free(&mut self, QueuedPacket { from, class, .. }: &QueuedPacket, wire: u16) {
        if *from != QueuedPacket::OWN
            && let Some(priority) = class.priority()
        {
            self.freed.push(FreedMemory { from: *from, priority, wire });
        }
    }

    /// Records that a packet was refused before it reached the queue.
    pub(super) fn free_refused(&mut self, packet: &Packet) {
        if let Some(from) = self.source.filter(|_| packet.kind == PacketType::Data) {
            self.freed.push(FreedMemory { from, priority: self.priority, wire: packet.wire });
        }
    }

    /// Takes the memory freed since the last call. The caller must return the list.
    pub(super) fn take_freed(&mut self) -> Vec<FreedMemory> {
        std::mem::take(&mut self.freed)
    }

    /// Returns the list from [`PauseState::take_freed`], to reuse its allocation.
    pub(super) fn return_freed(&mut self, mut freed: Vec<FreedMemory>) {
        freed.clear();
        self.freed = freed;
    }

    /// Expects a frame that arrives at `at` and pauses or resumes a priority.
    pub(super) fn expect_frame(&mut self, at: Instant, priority: u8, pauses: bool) {
        self.frames.push_back((at, PrioritySet::of(priority), pauses));
    }

    /// Plans a pause of `priorities` from one time until another, or for the rest of the run.
    pub(super) fn plan_pause(&mut self, (from, to): (Span, Option<Span>), priorities: PrioritySet) {
        let begin = (Instant::ZERO + from, priorities, true);
        let end = to.map(|to| (Instant::ZERO + to, priorities, false));
        self.planned.extend([begin].into_iter().chain(end));
        self.planned.make_contiguous().sort_by_key(|(at, _, begins)| (*at, !begins));
    }

    /// Times at which planned pauses start and end.
    pub(super) fn planned_frames(&self) -> impl Iterator<Item = Instant> {
        self.planned.iter().map(|(at, ..)| *at)
    }

    /// Applies the frames and planned pauses that are due. Returns the paused priorities.
    pub(super) fn obey(&mut self, now: Instant) -> PrioritySet {
        let due = |changes: &Changes| changes.partition_point(|(at, ..)| *at <= now);
        let arrived = due(&self.frames);
        for (_, priorities, pauses) in self.frames.drain(..arrived) {
            self.told = if pauses { self.told | priorities } else { self.told - priorities };
        }
        let planned = due(&self.planned);
        for (_, priorities, begins) in self.planned.drain(..planned) {
            for priority in priorities.iter() {
                let open = &mut self.open[usize::from(priority)];
                *open = if begins { *open + 1 } else { *open - 1 };
            }
        }
        self.count(now)
    }

    /// Handles a failure of the link: ends the pauses by the other end, and discards frames on the wire. Returns the
    /// paused priorities.
    pub(super) fn forget(&mut self, now: Instant) -> PrioritySet {
        self.told = PrioritySet::NONE;
        self.frames.clear();
        self.count(now)
    }

    /// Counts the pauses that begin or end at `now`. Returns the paused priorities.
    fn count(&mut self, now: Instant) -> PrioritySet {
        let is_open = |priority: &u8| self.open[usize::from(*priority)] > 0;
        let paused = self.told | self.used.iter().filter(is_open).collect();
        for priority in self.used.iter() {
            let place = usize::from(priority);
            let (since, counts) = (&mut self.since[place], &mut self.counts[place]);
            match *since {
                Some(begin) if !paused.has(priority) => {
                    counts.paused += self.window.overlap(begin, now);
                    *since = None;
                }
                None if paused.has(priority) => {
                    counts.pauses += u64::from(self.window.from <= now && now < self.window.to);
                    *since = Some(now);
                }
                _ => {}
            }
        }
        match self.any_since {
            Some(begin) if paused.is_empty() => {
                self.any_paused += self.window.overlap(begin, now);
                self.any_since = None;
            }
            None if !paused.is_empty() => self.any_since = Some(now),
            _ => {}
        }
        paused
    }

    /// Time since which a priority is paused.
    pub(super) fn paused_since(&self, priority: u8) -> Option<Instant> {
        self.since[usize::from(priority)]
    }

    /// Pauses in the measured time, which is over.
    pub(crate) fn total(&self) -> PauseCounts {
        let pauses = self.counts.iter().map(|counts| counts.pauses).sum();
        PauseCounts { pauses, paused: self.any_paused + self.since_in_window(self.any_since) }
    }

    /// Pauses in the measured time by priority, if data has several.
    pub(crate) fn by_priority(&self) -> Vec<(u8, PauseCounts)> {
        if self.used.len() <= 1 {
            return Vec::new();
        }
        let counts = |priority: u8| {
            let place = usize::from(priority);
            let PauseCounts { pauses, paused } = self.counts[place];
            PauseCounts { pauses, paused: paused + self.since_in_window(self.since[place]) }
        };
        self.used.iter().map(|priority| (priority, counts(priority))).collect()
    }

    /// Time in the measured time since a pause began, which lasts.
    fn since_in_window(&self, since: Option<Instant>) -> Span {
        since.map_or(Span::ZERO, |since| self.window.overlap(since, self.window.to))
    }
}

/// Memory of a switch that a packet frees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FreedMemory {
    /// Port from which the packet came.
    pub from: PortId,
    /// Priority of the packet.
    pub priority: u8,
    /// Size of the packet in bytes.
    pub wire: u16,
}

/// Pauses of a port, or of one of its priorities, in the measured time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PauseCounts {
    /// Number of pauses, of all priorities.
    pub pauses: u64,
    /// Total time for which data of some priority was paused.
    pub paused: Span,
}
