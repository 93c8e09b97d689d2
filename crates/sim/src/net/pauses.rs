//! [`PauseState`]: state of a port under priority flow control, beside its queue. [`PauseCounts`]: its pauses.

use shortflow_units::{Instant, PortId, Span};
use std::collections::VecDeque;

/// State of a port under flow control, beside its queue.
#[derive(Debug, Clone, Default)]
pub struct PauseState {
    /// Frames on their way to it, with their arrivals: `true` pauses, `false` lets go on.
    pub(super) frames: VecDeque<(Instant, bool)>,
    /// The other end's last frame paused.
    pub(super) told: bool,
    /// Beginnings and ends of the scenario's pauses: `true` begins one.
    pub(super) planned: VecDeque<(Instant, bool)>,
    /// Pauses of the scenario that have begun and not ended.
    pub(super) open: u32,
    /// Time since which data is paused, by the other end or by the scenario.
    pub(super) since: Option<Instant>,
    /// Pauses that began in the window.
    pub(super) pauses: u64,
    /// Paused time in the window, until `since`.
    pub(super) paused: Span,
    /// Port that the next packet has come from, if its link counts.
    pub(super) source: Option<PortId>,
    /// Packets that have left the queue, or were dropped, since the last call.
    pub(super) freed: Vec<FreedMemory>,
}

/// Memory of a switch that a packet gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreedMemory {
    /// Port that the packet came from.
    pub from: PortId,
    /// Bytes on the wire.
    pub wire: u16,
}

/// Pauses of a port in the measured time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PauseCounts {
    /// Their number.
    pub pauses: u64,
    /// Time for which data was paused.
    pub paused: Span,
}
