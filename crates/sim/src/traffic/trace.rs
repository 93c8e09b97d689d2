//! A user's own flows, from a CSV file.

use super::context::{Context, four_digits, size_text};
use super::flow::{Connections, FlowArrival};
use super::{Traffic, Workload};
use crate::config::csv::{self, Row};
use crate::config::{ConfigError, Kind, Reader, RowError, Text, keys};
use crate::engine::Seeds;
use shortflow_spec::counted;
use shortflow_units::{Bytes, HostId, Instant, Span};
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "trace",
    summary: "flows from a CSV file: start,source,destination,bytes[,deadline][,class]",
    source: "",
    parameters: TraceKeys::parameters,
    read,
};

keys! {
    /// A file.
    struct TraceKeys {
        /// CSV file, relative to the scenario, by increasing start; times in seconds or with a unit
        file: String = required, Text::FlowFile;
        /// class of rows that name none
        class: String = "short", Text::Name;
        /// new: a connection for each flow; persistent: flows of the entry between two hosts share one; shared: so do
        /// flows of all entries that say shared
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
    let mut flows = parse(&text, &keys, context)?;
    let listed = flows.len();
    let last = flows.last().map_or(Instant::ZERO, |flow| flow.at);
    flows.retain(|flow| flow.at < Instant::ZERO + context.duration);
    let late = listed - flows.len();
    let remedy = remedy(last.since(Instant::ZERO), context.duration, late * 2 > listed);
    if flows.is_empty() {
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
    let early = flows.partition_point(|flow| flow.at < Instant::ZERO + context.warmup);
    if early > 0 {
        context.omitted.push(format!(
            "{}: rows that start before warmup = {} load the network and are not counted: {early} of {listed}",
            keys.file, context.warmup
        ));
    }
    context.peers.add_pairs(flows.iter().map(|flow| (flow.source, flow.destination)));
    context.deadlines |= flows.iter().any(|flow| flow.deadline.is_some());
    let mean = flows.iter().map(|flow| flow.size.as_f64()).sum::<f64>() / flows.len() as f64;
    context.expect(flows.len() as f64, mean);
    let note = note(&flows, mean, context);
    context.note(reader, &format!("{:?}: {note}", keys.file));
    Ok(Box::new(Trace(flows.into())))
}

/// The start of the last row, and a question about the unit of starts if nanoseconds, the smallest usual unit, put every row
/// before `duration` and most rows are `lost`. The rows do not tell which of the smaller units is meant.
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

const COLUMNS: [&str; 6] = ["start", "source", "destination", "bytes", "deadline", "class"];
const HEADER: &str = "start,source,destination,bytes[,deadline][,class]";
const REQUIRED: [&str; 4] = ["start", "source", "destination", "bytes"];

fn parse(text: &str, keys: &TraceKeys, context: &mut Context) -> Result<Vec<FlowArrival>, ConfigError> {
    let rows = csv::rows(text, &keys.file)?;
    let wrong = |line, reason| RowError { file: keys.file.clone(), line, reason };
    let Some((header, rows)) = rows.split_first() else {
        let reason = format!("empty; expected the header {HEADER}");
        return Err(ConfigError::File(vec![wrong(0, reason)]));
    };
    check_header(header).map_err(|reason| ConfigError::File(vec![wrong(header.line, reason)]))?;
    let (mut flows, mut errors): (Vec<FlowArrival>, Vec<RowError>) = (Vec::new(), Vec::new());
    for row in rows {
        let earliest = flows.last().map_or(Instant::ZERO, |flow| flow.at);
        let fields = Fields { header: &header.fields, values: &row.fields };
        match fields.flow(earliest, keys, context) {
            Ok(flow) => flows.push(flow),
            Err(reason) => errors.push(wrong(row.line, reason)),
        }
    }
    if rows.is_empty() {
        errors.push(wrong(0, "no flow after the header".to_owned()));
    }
    if errors.is_empty() { Ok(flows) } else { Err(ConfigError::File(errors)) }
}

/// The text of a wrong header is not told, as the file may be another one, and secret.
fn check_header(row: &Row) -> Result<(), String> {
    let names = &row.fields;
    let is_wrong = |at: &usize| !COLUMNS.contains(&names[*at].as_str()) || names[..*at].contains(&names[*at]);
    let wrong = (0..names.len()).find(is_wrong).map(|at| format!("column {} is none of these", at + 1));
    let missing = REQUIRED.iter().find(|column| !names.iter().any(|name| name == *column));
    let missing = missing.map(|column| match names.iter().all(|name| name.parse::<f64>().is_ok()) {
        true => "this line has numbers".to_owned(),
        false => format!("there is no column {column:?}"),
    });
    let reason = missing.or(wrong);
    reason.map_or(Ok(()), |reason| {
        Err(format!("expected the header {HEADER}; {reason}{}", csv::separator(names)))
    })
}

/// The values of a row by the names of their columns.
struct Fields<'a> {
    header: &'a [String],
    values: &'a [String],
}

impl<'a> Fields<'a> {
    /// The flow of this row; it starts no earlier than the row above.
    fn flow(
        &self,
        earliest: Instant,
        keys: &TraceKeys,
        context: &mut Context,
    ) -> Result<FlowArrival, String> {
        if self.values.len() != self.header.len() {
            return Err(csv::wrong_columns(self.values, &self.header.join(",")));
        }
        let at = Instant::ZERO + self.required("start", csv::time)?;
        if at < earliest {
            let start = self.get("start");
            return Err(format!("start: {start:?} is before the row above; rows must be sorted by start"));
        }
        let source = self.required("source", |text| context.names.in_file(text))?;
        let destination = self.required("destination", |text| context.names.in_file(text))?;
        if source == destination {
            return Err(format!("host {} would send to itself", context.names.name(source)));
        }
        let size = self.required("bytes", size)?;
        let deadline = self.optional("deadline", deadline)?;
        let class = context.class(self.optional("class", class_name)?.unwrap_or(&keys.class));
        let connection = keys.connections.of(0);
        Ok(FlowArrival { at, source, destination, size, class, deadline, connection, stop: None })
    }

    /// The text in `column`; empty where there is no such column.
    fn get(&self, column: &str) -> &'a str {
        self.header.iter().position(|name| name == column).map_or("", |at| &self.values[at])
    }

    fn required<T>(&self, column: &str, read: impl Fn(&'a str) -> Result<T, String>) -> Result<T, String> {
        read(self.get(column)).map_err(|reason| format!("{column}: {reason}"))
    }

    fn optional<T>(
        &self,
        column: &str,
        read: impl Fn(&'a str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        if self.get(column).is_empty() { Ok(None) } else { self.required(column, read).map(Some) }
    }
}

fn size(text: &str) -> Result<Bytes, String> {
    match csv::bytes(text)? {
        Bytes::ZERO => Err("a flow has at least 1 byte".to_owned()),
        size => Ok(size),
    }
}

fn deadline(text: &str) -> Result<Span, String> {
    match csv::time(text)? {
        Span::ZERO => Err("no flow can be done after no time".to_owned()),
        deadline => Ok(deadline),
    }
}

fn class_name(text: &str) -> Result<&str, String> {
    if Text::Name.fits(text) { Ok(text) } else { Err(format!("{text:?} is not {}", Text::Name)) }
}
