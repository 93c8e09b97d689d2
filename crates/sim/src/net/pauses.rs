//! [`PauseState`]: state of a port under priority flow control. [`PauseCounts`]: its pauses in the measured
//! time.

use shortflow_units::{Instant, PortId, Span};
use std::collections::VecDeque;

/// State of a port under flow control, in addition to its queue.
#[derive(Debug, Clone, Default)]
pub(super) struct PauseState {
    /// Arrival times of frames on their way to the port: `true` pauses data, `false` resumes data.
    pub(super) frames: VecDeque<(Instant, bool)>,
    /// True if the last frame from the other end paused data.
    pub(super) told: bool,
    /// Times of the scenario's pauses: `true` starts a pause, `false` ends one.
    pub(super) planned: VecDeque<(Instant, bool)>,
    /// Number of the scenario's pauses in progress.
    pub(super) open: u32,
    /// Time since which data is paused, by the other end or by the scenario.
    pub(super) since: Option<Instant>,
    /// Number of pauses that began in the measured time.
    pub(super) pauses: u64,
    /// Paused time in the measured time, without the present pause.
    pub(super) paused: Span,
    /// Port from which the next packet comes, if its link has a threshold.
    pub(super) source: Option<PortId>,
    /// Packets that have left the queue, or were dropped, since the last call of `take_freed`.
    pub(super) freed: Vec<FreedMemory>,
}

/// Memory of a switch that a packet frees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FreedMemory {
    /// Port from which the packet came.
    pub from: PortId,
    /// Size of the packet in bytes.
    pub wire: u16,
}

/// Pauses of a port in the measured time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PauseCounts {
    /// Number of pauses.
    pub pauses: u64,
    /// Total time for which data was paused.
    pub paused: Span,
}
