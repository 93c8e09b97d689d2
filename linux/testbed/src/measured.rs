//! [`Measured`]: result of a run on the testbed.

use crate::switch::{Stalls, SwitchReport};
use shortflow_sim::outcome::Outcome;
use shortflow_units::Span;

/// Result of a run on the testbed.
#[derive(Debug)]
pub struct Measured {
    /// Tables and counters, as a simulation has them.
    pub outcome: Outcome,
    /// Report of the switch. Its samples are in `outcome`.
    pub switch: SwitchReport,
    /// Stalls of the hosts' thread, which records the start and the finish of each flow.
    pub host_stalls: Stalls,
    /// Largest delay of the start of a flow with an end. A delay of at most 1 % of the flow's own transmission time
    /// on the slowest link counts as zero.
    pub start_error: Span,
    /// Name of the congestion control.
    pub congestion: String,
}
