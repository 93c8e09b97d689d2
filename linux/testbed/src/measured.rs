//! [`Measured`]: result of a run on the testbed.

use crate::switch::{Stalls, SwitchReport};
use shortflow_sim::outcome::Outcome;
use shortflow_units::Span;

/// Result of a run on the testbed.
#[derive(Debug)]
pub struct Measured {
    /// Tables, as of a simulation.
    pub outcome: Outcome,
    /// The switch's account of itself, its samples taken out.
    pub switch: SwitchReport,
    /// Stalls of the hosts' thread, which takes the times of flows.
    pub host_stalls: Stalls,
    /// By how much the latest start was late of a flow with an end, if by more than a hundredth of its own time.
    pub start_error: Span,
    /// The kernel's congestion control.
    pub congestion: String,
}
