//! A deterministic packet-level simulator of data-centre transports.
//!
//! A [`Scenario`](scenario::Scenario) is the workload and network, a [`Scheme`](scheme::Scheme) the
//! transport and queues, a seed fixes every draw; [`simulation::run`] turns the three into an
//! [`Outcome`](outcome::Outcome). Nothing here reads a clock, a file or an environment variable.

pub mod config;
mod digest;
pub mod engine;
pub mod fairness;
pub mod floor;
pub mod homa;
pub mod host;
pub mod ideal;
mod idle;
pub mod minimal;
mod needs;
pub mod net;
pub mod outcome;
pub mod packet;
pub mod parameter_sets;
pub mod probe;
pub mod queue;
pub mod remarks;
pub mod roce;
pub mod routing;
pub mod scenario;
mod schema;
pub mod scheme;
pub mod service;
pub mod simulation;
pub mod specs;
pub mod tables;
pub mod tcp;
pub mod theory;
pub mod topology;
pub mod traffic;
pub mod wire;

pub use schema::{all_wrong, check, declared, schema};
