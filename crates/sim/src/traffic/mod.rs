//! Traffic: which flows arrive, when, between which hosts, of which size. A new kind is a file with
//! `KIND` and a [`Traffic`], and one line in `KINDS`.
//!
//! Every draw comes from a stream named after the traffic entry and its purpose (gaps, sizes,
//! hosts, deadlines), so all schemes meet the same flows.

mod aggregation;
mod application;
mod arrivals;
mod context;
mod crossing;
pub mod deadlines;
mod expected;
pub mod gaps;
mod hosts;
mod incast;
mod long_lived;
mod mapreduce;
mod messages;
mod pattern;
mod periodic;
mod poisson;
mod queries;
mod query_tree;
mod rounds;
pub mod sizes;
mod trace;
mod web;

pub use application::{Application, Sending, Steps, TaskId, TaskKind, TaskRow};
pub(crate) use context::Context;
pub use expected::{Count, Expected, Measured};
pub(crate) use hosts::{HostSet, Hosts};

use crate::config::{ConfigError, Entry, Flag, Kind, Reader, keys};
use crate::engine::Seeds;
use shortflow_units::{Bytes, ClassId, HostId, Instant, Span};
use std::fmt::Debug;

/// The one list of traffic kinds.
const KINDS: &[Kind<Read>] = &[
    long_lived::KIND,
    poisson::KIND,
    arrivals::KIND,
    periodic::KIND,
    incast::KIND,
    trace::KIND,
    queries::KIND,
    aggregation::KIND,
    mapreduce::KIND,
    web::KIND,
];

/// Reads a traffic entry from its table.
type Read = fn(&Reader, &mut Context) -> Result<Box<dyn Traffic>, ConfigError>;

/// Every traffic kind, in the order of the documentation.
pub fn traffic_kinds() -> Vec<Entry> {
    let entry = |kind: &Kind<Read>| {
        let mut entry = kind.entry();
        entry.parameters.extend(EntryKeys::parameters());
        entry
    };
    KINDS.iter().map(entry).collect()
}

keys! {
    /// What every kind understands.
    struct EntryKeys {
        /// accept that none of its flows starts in the measured time, and so counts
        unmeasured: Option<bool> = optional, Flag;
    }
}

/// The keys that say when flows start, of which each kind has one.
const START_KEYS: [&str; 3] = ["at", "start", "file"];

/// The flows of an entry that count. That there are none is an error, unless the entry accepts it.
pub(crate) fn expected(
    reader: &Reader,
    traffic: &dyn Traffic,
    measured: Measured,
) -> Result<Expected, ConfigError> {
    let EntryKeys { unmeasured } = EntryKeys::read(reader)?;
    let expected = traffic.expected(measured);
    if unmeasured == Some(true) || !expected.is_nothing() {
        return Ok(expected);
    }
    let parameters = (Kind::chosen(KINDS, reader)?.parameters)();
    let is_there = |key: &&str| parameters.iter().any(|parameter| parameter.name == *key);
    let key = START_KEYS.into_iter().find(is_there).unwrap_or("kind");
    let value = reader.resolved(key).unwrap_or_default();
    let reason = format!(
        "with {value} none of its flows starts in the measured time, from warmup = {} to duration = {}; \
         move it there, or set {} = true if none is meant to count",
        measured.from,
        measured.to,
        reader.path("unmeasured"),
    );
    Err(reader.impossible(key, reason))
}

/// Reads a `[[traffic]]` entry.
pub(crate) fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let kind = Kind::chosen(KINDS, reader)?;
    reader.only(&[(kind.parameters)(), EntryKeys::parameters()].concat(), &["kind"])?;
    (kind.read)(reader, context)
}

/// A flow that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When the first byte is handed to the transport.
    pub at: Instant,
    /// Sending host.
    pub source: HostId,
    /// Receiving host.
    pub destination: HostId,
    /// Payload; [`Bytes::MAX`] for a flow that never ends.
    pub size: Bytes,
    /// Class, an index into [`Scenario::classes`](crate::scenario::Scenario::classes).
    pub class: ClassId,
    /// How long after `at` the flow should be complete.
    pub deadline: Option<Span>,
    /// Which connection carries it.
    pub connection: ConnectionUse,
}

/// The connection that carries a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionUse {
    /// Its own, from slow start.
    New,
    /// Flows of one traffic entry with the same hosts and number share a connection, in order.
    Persistent(u32),
}

/// A validated `[[traffic]]` entry: immutable, shared between runs.
pub trait Traffic: Send + Sync + Debug {
    /// Its flows for one seed. `index` is the position of the entry in the scenario, from 0.
    fn start(&self, seeds: Seeds, index: usize) -> Workload;

    /// How many of its flows count. Unless told otherwise, those of one seed: right where starts do not
    /// depend on it.
    fn expected(&self, measured: Measured) -> Expected {
        Expected::of(self.start(Seeds::new(0), 0), measured)
    }
}

/// What a traffic entry comes to in one run.
pub enum Workload {
    /// Flows whose starts do not depend on the network.
    Open(Box<dyn Arrivals>),
    /// An application that waits for answers.
    Closed(Box<dyn Application>),
}

impl Workload {
    /// These flows.
    fn open(arrivals: impl Arrivals + 'static) -> Workload {
        Workload::Open(Box::new(arrivals))
    }
}

/// Flows in non-decreasing order of their start, perhaps without end.
pub trait Arrivals: Iterator<Item = Arrival> + Send {}

impl<T: Iterator<Item = Arrival> + Send> Arrivals for T {}

#[cfg(test)]
mod tests;
