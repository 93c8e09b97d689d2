//! The fixed-point laws of the eBPF congestion controls: their parameters, how they run on this host, and how
//! far they are from the floating-point laws that they stand for.

mod errors;
mod fields;
mod grid;
mod native;

pub use errors::{Comparison, compare};
pub use fields::{LawError, params};
pub use native::{FixedPoint, exp2_neg, log2_fixed, power, priority_dscp, priority_label, role_number};

/// The laws that have a fixed-point form, by their names in `shortflow_cc`.
pub const NAMES: [&str; 6] = ["dctcp", "d2tcp", "l2dct", "xdctcp", "atcp", "fast"];
