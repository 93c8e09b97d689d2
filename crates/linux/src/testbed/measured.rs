//! [`Measured`]: what a run on the testbed gives.

use crate::switch::SwitchReport;
use shortflow_sim::outcome::Outcome;
use shortflow_units::Span;

/// What a run on the testbed gives.
#[derive(Debug)]
pub struct Measured {
    /// The same tables as a simulation's.
    pub outcome: Outcome,
    /// The switch's account of itself, its samples taken out.
    pub switch: SwitchReport,
    /// By how much the last of the starts was late.
    pub late_starts: Span,
    /// The kernel's congestion control.
    pub congestion: String,
}
