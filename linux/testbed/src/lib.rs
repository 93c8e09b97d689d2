//! The testbed. The hosts of a scenario are network namespaces with the kernel's own TCP. A software switch between
//! them runs the scenario's network in real time.
//!
//! One process owns the unnamed namespaces, the TAP devices and the sockets, so all are gone when the process ends,
//! even if it is killed.

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
