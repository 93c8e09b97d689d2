//! Traffic: start times, hosts and sizes of flows. A new kind is a file with a `KIND` and a [`Traffic`], and
//! one line in `KINDS`.
//!
//! Each random draw comes from a stream named after the traffic entry and the purpose (gaps, sizes, hosts,
//! deadlines). Therefore all schemes meet the same flows.

mod aggregation;
mod application;
mod arrivals;
mod context;
mod crossing;
pub(crate) mod deadlines;
mod expected;
mod flow;
mod flow_rows;
mod hosts;
mod incast;
pub(crate) mod interarrival;
mod long_lived;
mod mapreduce;
mod messages;
mod partial;
mod pattern;
mod peers;
mod periodic;
mod poisson;
mod queries;
mod query_tree;
mod ring;
mod rounds;
pub mod sizes;
mod trace;
mod web;
mod workflow;
mod workload;

pub(crate) use application::{AppActions, Application, FlowRequest, TaskId};
pub use application::{TaskKind, TaskRow};
pub(crate) use context::Context;
pub(crate) use expected::Count;
pub use expected::{Expected, MeasurementWindow};
pub(crate) use flow::Arrivals;
pub use flow::{ConnectionUse, FlowArrival};
pub(crate) use hosts::{HostSet, Hosts};
pub(crate) use peers::Peers;
pub use workload::{Traffic, Workload};

use crate::config::{ConfigError, Entry, Flag, Kind, ParamInfo, Reader, keys};
use crate::priorities::{ANY_PRIORITY, DEFAULT_PRIORITY};
use std::collections::BTreeSet;
use workload::Read;

/// Registry of traffic kinds.
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
    ring::KIND,
];

/// All traffic kinds, in the order of the documentation.
pub fn traffic_kinds() -> Vec<Entry> {
    let entry = |kind: &Kind<Read>| {
        let mut entry = kind.entry();
        entry.parameters.extend(of_every_kind());
        entry
    };
    KINDS.iter().map(entry).collect()
}

/// Keys of every traffic kind.
fn of_every_kind() -> Vec<ParamInfo> {
    [EntryKeys::parameters(), PriorityKeys::parameters(), partial::PartialKeys::parameters()].concat()
}

keys! {
    /// Key for entries without measured flows.
    struct EntryKeys {
        /// accept that no flow of this entry starts in the measured time
        unmeasured: Option<bool> = optional, Flag;
    }
}

keys! {
    /// Key for the priority of an entry's data.
    struct PriorityKeys {
        /// priority of the entry's data, by which links with priority flow control pause; 3 unless given
        pfc_priority: Option<u32> = optional, ANY_PRIORITY, acts: flow_control;
    }
}

/// Priority of the data of an entry.
pub(crate) fn priority(reader: &Reader) -> Result<u8, ConfigError> {
    let PriorityKeys { pfc_priority } = PriorityKeys::read(reader)?;
    Ok(pfc_priority.map_or(DEFAULT_PRIORITY, |priority| priority as u8))
}

/// Keys for the starts of flows. Each kind has one of them.
const START_KEYS: [&str; 3] = ["at", "start", "file"];

/// Number of measured flows of an entry. An entry without measured flows is an error unless it sets
/// `unmeasured`. If it sets `unmeasured` although flows count, this adds a warning.
pub(crate) fn expected(
    reader: &Reader,
    traffic: &dyn Traffic,
    measured: MeasurementWindow,
    warnings: &mut Vec<String>,
) -> Result<Expected, ConfigError> {
    let EntryKeys { unmeasured } = EntryKeys::read(reader)?;
    let expected = traffic.expected(measured);
    if unmeasured == Some(true) {
        let some_count = expected.backlogged > 0 || expected.number().0 >= 1.0;
        let key = reader.path("unmeasured");
        let text = format!("{key}: true has no effect, because flows of the entry are measured: {expected}");
        warnings.extend(some_count.then_some(text));
        return Ok(expected);
    }
    if !expected.is_nothing() {
        return Ok(expected);
    }
    let parameters = (Kind::chosen(KINDS, reader)?.parameters)();
    let is_there = |key: &&str| parameters.iter().any(|parameter| parameter.name == *key);
    let key = START_KEYS.into_iter().find(is_there).unwrap_or("kind");
    let value = reader.resolved(key).unwrap_or_default();
    let reason = format!(
        "with {value}, no flow of the entry starts in the measured time, from warmup = {} to duration = {}; \
         change the value, or set {} = true to accept this",
        measured.from,
        measured.to,
        reader.path("unmeasured"),
    );
    Err(reader.impossible(key, reason))
}

/// Reads the `[[traffic]]` entries.
pub(crate) fn read_all(
    entries: &[Reader],
    context: &mut Context,
) -> Result<Vec<Box<dyn Traffic>>, ConfigError> {
    let classes: Vec<_> = entries.iter().map(classes_of).collect();
    let read = |(number, entry): (usize, &Reader)| {
        let others = classes.iter().enumerate().filter(|(other, _)| *other != number);
        let others: Option<Vec<_>> = others.map(|(_, classes)| classes.clone()).collect();
        context.elsewhere = others.map(|sets| sets.into_iter().flatten().collect());
        read(entry, context)
    };
    entries.iter().enumerate().map(read).collect()
}

/// Classes that an entry names or has by default; `None` if the rows of a trace may name any class.
fn classes_of(reader: &Reader) -> Option<BTreeSet<String>> {
    let texts = reader.texts();
    let value = |key: &str| texts.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    let kind = KINDS.iter().find(|kind| Some(kind.name) == value("kind").as_deref())?;
    if kind.name == trace::KIND.name {
        return None;
    }
    let default = (kind.parameters)().into_iter().find(|key| key.name == CLASS).map(|key| key.default);
    let inside = reader.tables_inside().into_iter().filter_map(|name| reader.table(name).ok());
    let stated = inside.flat_map(|table| table.texts()).filter(|(key, _)| key == CLASS).map(|(_, name)| name);
    Some(value(CLASS).or(default).into_iter().chain(stated).collect())
}

const CLASS: &str = "class";

/// Reads a `[[traffic]]` entry.
pub(crate) fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let kind = Kind::chosen(KINDS, reader)?;
    reader.only(&[(kind.parameters)(), of_every_kind()].concat(), &["kind"])?;
    context.mentioned.clear();
    let traffic = (kind.read)(reader, context)?;
    partial::read(reader, context, traffic)
}

#[cfg(test)]
mod tests;
