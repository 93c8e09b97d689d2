//! The testbed: the hosts of a scenario as network namespaces with the kernel's own TCP, and between them the
//! scenario's network, run by the clock.
//!
//! Everything belongs to one process: namespaces without names, TAP devices and sockets are gone once it is, however
//! it ends.

mod awake;
mod card;
mod congestion;
mod document;
mod host;
mod measured;
mod plan;
#[cfg_attr(not(feature = "bpf"), path = "without_programs.rs")]
mod programs;
mod run;
pub mod switch;
pub mod sys;
mod traffic;
mod verdict;

pub use document::document;
pub use measured::Measured;
pub use run::{Choice, check, run};
pub use verdict::{Trust, verdict};
