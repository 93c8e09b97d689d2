//! A deterministic packet-level simulator of data-centre transports.
//!
//! A [`Scenario`](scenario::Scenario) describes workload and network. A [`Scheme`](scheme::Scheme) describes
//! transport and queues. A seed fixes every random draw. [`simulation::run`] takes the three and returns an
//! [`Outcome`](outcome::Outcome). The simulator reads no clock, no file and no environment variable.
//!
//! ```
//! use shortflow_sim::prelude::*;
//!
//! let text = r#"
//!     title = "Two flows to one host"
//!     duration = "100ms"
//!     topology = { kind = "star", hosts = 3, rate = "1Gbps", rtt = "100us" }
//!     switch = { buffer = "250pkt", mark_above = "20pkt" }
//!     traffic = [{ kind = "incast", flows = 2, to = 2, sizes = { kind = "fixed", value = "1MB" } }]
//! "#;
//! let no_files = |name: &str| Err(format!("there is no file {name}"));
//! let scenario = Scenario::parse(text, "two-flows", &[], &no_files)?;
//! let outcome = run(&scenario, &Scheme::named("dctcp", &[])?, 1, &mut NoObserver)?;
//! let times: Vec<Span> = outcome.flows.iter().filter_map(FlowRow::fct).collect();
//! // Without headers, 2 MB take 16 ms at 1 Gbps.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | modules | content |
//! |---|---|
//! | [`prelude`] | names to run scenarios and to write laws |
//! | [`scenario`], [`scheme`], [`service`], [`parameter_sets`], [`specs`], [`topology`], [`traffic`], [`routing`], [`queue`], [`priorities`] | the parts of a run, and the lists of their kinds |
//! | [`simulation`], [`ideal`], [`floor`] | runs by packets and by ideal schedulers, and a minimal loop as a lower bound on time |
//! | [`outcome`], [`tables`], [`probe`], [`fairness`], [`remarks`], [`theory`] | results, remarks on results, and theory |
//! | [`host`], [`packet`], [`tcp`], [`engine`], [`net`] | parts that tests and testbeds use directly |

// Comments in the source link to private modules and items too.
#![allow(rustdoc::private_intra_doc_links)]

mod config;
mod digest;
pub mod engine;
pub mod fairness;
pub mod floor;
mod homa;
pub mod host;
pub mod ideal;
mod idle;
mod minimal;
mod ndp;
mod needs;
pub mod net;
pub mod outcome;
pub mod packet;
pub mod parameter_sets;
pub mod prelude;
pub mod priorities;
pub mod probe;
pub mod queue;
mod reassembly;
pub mod remarks;
mod roce;
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
mod wire;

pub use schema::{all_wrong, check, declared, schema};
