//! Shortflow on real Linux: eBPF congestion controls, and a software switch between network namespaces.

#[cfg(feature = "bpf")]
pub mod check;
mod failure;
pub mod laws;
#[cfg(feature = "bpf")]
pub mod packages;
#[cfg(feature = "bpf")]
pub mod programs;
pub mod switch;
pub mod sys;
pub mod testbed;

pub use failure::Failure;
