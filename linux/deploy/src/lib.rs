//! Shortflow's transports on real Linux: eBPF congestion controls, their loader, and the fixed-point laws in them.

#[cfg(feature = "bpf")]
pub mod check;
#[cfg(feature = "bpf")]
pub mod commands;
mod failure;
pub mod laws;
#[cfg(feature = "bpf")]
mod packages;
#[cfg(feature = "bpf")]
pub mod programs;
pub mod sys;
#[cfg(feature = "bpf")]
mod warning;

pub use failure::Failure;
