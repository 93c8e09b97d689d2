//! [`PauseState`]: state of a port under priority flow control. [`PauseCounts`]: its pauses in the measured
//! time.

use crate::priorities::{DEFAULT_PRIORITY, PRIORITIES, PrioritySet};
use shortflow_units::{Instant, PortId, Span};
use std::collections::VecDeque;

/// State of a port under flow control, in addition to its queue.
#[derive(Debug, Clone)]
pub(super) struct PauseState {
    /// Priorities of data in the network.
    pub(super) used: PrioritySet,
    /// Arrival times of frames on their way to the port, each with the priorities that it pauses (`true`) or resumes.
    pub(super) frames: VecDeque<(Instant, PrioritySet, bool)>,
    /// Priorities that the other end has paused.
    pub(super) told: PrioritySet,
    /// Times of the scenario's pauses, each with the priorities: `true` starts a pause, `false` ends one.
    pub(super) planned: VecDeque<(Instant, PrioritySet, bool)>,
    /// Number of the scenario's pauses in progress, by priority.
    pub(super) open: [u32; PRIORITIES],
    /// Time since which a priority is paused, by the other end or by the scenario.
    pub(super) since: [Option<Instant>; PRIORITIES],
    /// Pauses that began in the measured time by priority, and paused time in the measured time without the
    /// present pause.
    pub(super) counts: [PauseCounts; PRIORITIES],
    /// Time since which some priority is paused.
    pub(super) any_since: Option<Instant>,
    /// Time in the measured time in which some priority was paused, without the present pause.
    pub(super) any_paused: Span,
    /// Port from which the next packet comes, if its link has a threshold.
    pub(super) source: Option<PortId>,
    /// Priority of the next packet, if it is data.
    pub(super) priority: u8,
    /// Packets that have left the queue, or were dropped, since the last call of `take_freed`.
    pub(super) freed: Vec<FreedMemory>,
}

impl PauseState {
    /// State of a port that is not paused.
    pub(super) fn new(used: PrioritySet) -> PauseState {
        PauseState {
            used,
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

    /// Priorities that are paused, by the other end or by the scenario.
    pub(super) fn paused(&self) -> PrioritySet {
        let is_open = |priority: &u8| self.open[usize::from(*priority)] > 0;
        self.told | self.used.iter().filter(is_open).collect()
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
