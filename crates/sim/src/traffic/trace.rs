//! A user's trace of flows, from a CSV file.

use super::context::{Context, four_digits, size_text};
use super::flow::{Connections, FlowArrival};
use super::flow_rows::{Defaults, FlowRow, parse};
use super::workflow::Workflow;
use super::{Traffic, Workload};
use crate::config::{ConfigError, Kind, Reader, Text, keys};
use crate::engine::Seeds;
use shortflow_spec::counted;
use shortflow_units::{HostId, Instant, Span};
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "trace",
    summary: "flows from a CSV file: start,source,destination,bytes[,deadline][,class][,after]",
    source: "",
    parameters: TraceKeys::parameters,
    read,
};

keys! {
    /// Keys of a trace.
    struct TraceKeys {
        /// CSV file, relative to the scenario, sorted by start; times are in seconds or have a unit. If a row has
        /// after, start is the time from the arrival of the last byte of all rows in after to the start of the flow
        file: String = required, Text::FlowFile;
        /// class of rows without a class
        class: String = "short", Text::Name;
        /// sharing of connections: new: each flow has a connection; persistent: flows of this entry between two hosts
        /// share a connection; shared: flows of all entries with shared between two hosts share a connection
        connections: Connections = "new", Connections::WORDS;
    }
}

#[derive(Debug)]
struct Trace(Arc<[FlowArrival]>);

impl Traffic for Trace {
    fn start(&self, _: Seeds, _: usize) -> Workload {
        let flows = Arc::clone(&self.0);
        Workload::open((0..flows.len()).map(move |i| flows[i]))
    }
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = TraceKeys::read(reader)?;
    let text = reader.file("file", &keys.file)?;
    let defaults = Defaults { file: &keys.file, class: &keys.class, connections: keys.connections };
    let rows = parse(&text, &defaults, context)?;
    let listed = rows.len();
    let known = |row: &&FlowRow| row.after.is_empty();
    let last = rows.iter().rfind(known).map_or(Instant::ZERO, |row| row.flow.at);
    let rows = in_time(rows, Instant::ZERO + context.duration);
    let late = listed - rows.len();
    let remedy = remedy(last.since(Instant::ZERO), context.duration, late * 2 > listed);
    if rows.is_empty() {
        let reason =
            format!("no row of {:?} starts before duration = {}. {remedy}", keys.file, context.duration);
        return Err(reader.impossible("file", reason));
    }
    if late > 0 {
        context.omitted.push(format!(
            "{}: rows that start at duration = {} or later are not simulated: {late} of {listed}. {remedy}",
            keys.file, context.duration
        ));
    }
    let is_early = |row: &&FlowRow| row.flow.at < Instant::ZERO + context.warmup;
    let early = rows.iter().filter(known).filter(is_early).count();
    if early > 0 {
        context.omitted.push(format!(
            "{}: rows that start before warmup = {} load the network and are not counted: {early} of {listed}",
            keys.file, context.warmup
        ));
    }
    let flows: Vec<FlowArrival> = rows.iter().map(|row| row.flow).collect();
    context.peers.add_pairs(flows.iter().map(|flow| (flow.source, flow.destination)));
    context.deadlines |= flows.iter().any(|flow| flow.deadline.is_some());
    let mean = flows.iter().map(|flow| flow.size.as_f64()).sum::<f64>() / flows.len() as f64;
    context.expect(flows.len() as f64, mean);
    let waiting = rows.len() - rows.iter().filter(known).count();
    let waits = if waiting > 0 { format!(", {waiting} of them after others") } else { String::new() };
    let note = note(&flows, mean, context);
    context.note(reader, &format!("{:?}: {note}{waits}", keys.file));
    match waiting {
        0 => Ok(Box::new(Trace(flows.into()))),
        _ => Ok(Box::new(Workflow::new(&rows))),
    }
}

/// The rows that start before `end`, and the rows that wait only for such rows.
fn in_time(rows: Vec<FlowRow>, end: Instant) -> Vec<FlowRow> {
    let (mut places, mut found) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for mut row in rows {
        let after: Option<Vec<u32>> = row.after.iter().map(|above| places[*above as usize]).collect();
        let after = after.filter(|_| !row.after.is_empty() || row.flow.at < end);
        places.push(after.is_some().then_some(found.len() as u32));
        if let Some(after) = after {
            row.after = after;
            found.push(row);
        }
    }
    found
}

/// Text with the start of the last row. Asks for the unit of the starts if most rows are `lost` and
/// nanoseconds, the smallest common unit, would put all starts before `duration`. The rows do not show which
/// smaller unit is meant.
fn remedy(last: Span, duration: Span, lost: bool) -> String {
    const NANOSECONDS: u64 = 1_000_000_000;
    if lost && Span::from_ps(last.as_ps() / NANOSECONDS) < duration {
        return format!(
            "The last row starts at {last}. Are the starts in milliseconds, microseconds or nanoseconds? A start without a unit \
             is in seconds; write 1.5ms, 1.5us or 1.5ns"
        );
    }
    format!("The last row starts at {last}")
}

fn note(flows: &[FlowArrival], mean: f64, context: &Context) -> String {
    let mut bytes = vec![0.0; context.graph.hosts()];
    flows.iter().for_each(|flow| bytes[flow.destination.index()] += flow.size.as_f64());
    let busiest = (0..bytes.len()).max_by(|a, b| bytes[*a].total_cmp(&bytes[*b])).unwrap_or(0);
    let capacity =
        context.access_rate(HostId::from(busiest)).as_bps() as f64 / 8.0 * context.duration.as_secs_f64();
    format!(
        "{} of mean {}, at most offered load {} of {}",
        counted(flows.len(), "flow"),
        size_text(mean),
        four_digits(bytes[busiest] / capacity),
        context.access_port(HostId::from(busiest)),
    )
}
