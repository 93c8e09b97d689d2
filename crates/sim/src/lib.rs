//! A deterministic packet-level simulator of data-centre transports.
//!
//! A [`Scenario`](scenario::Scenario) is the workload and network, a [`Scheme`](scheme::Scheme) the
//! transport and queues, a seed fixes every draw; [`simulation::run`] turns the three into an
//! [`Outcome`](outcome::Outcome). Nothing here reads a clock, a file or an environment variable.
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
//! // 2 MB take 16 ms at 1 Gbps, headers aside.
//! assert!(times.iter().max() > Some(&Span::from_millis(16)));
//! assert_eq!(outcome.counters.packets_dropped, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | modules | for |
//! |---|---|
//! | [`prelude`] | running scenarios, and laws of your own |
//! | [`scenario`], [`scheme`], [`service`], [`parameter_sets`], [`specs`], [`topology`], [`traffic`], [`routing`], [`queue`] | what a run consists of, and lists of its kinds |
//! | [`simulation`], [`ideal`], [`floor`] | runs by packets, by ideal schedulers, and by nothing but a loop |
//! | [`outcome`], [`tables`], [`probe`], [`fairness`], [`remarks`], [`theory`] | results, and what is said of them |
//! | [`host`], [`packet`], [`tcp`], [`engine`], [`net`] | parts that tests and testbeds drive by hand |

// Comments of the source name private modules and items too.
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
