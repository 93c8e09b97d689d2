//! A user's own flows, from a CSV file.

use super::context::{Context, four_digits, size_text};
use super::csv::{self, Row};
use super::{Arrival, Arrivals, ConnectionUse, Traffic};
use crate::config::{ConfigError, Kind, Name, Reader, RowError, Text, keys};
use crate::engine::Seeds;
use shortflow_cc::settings::hint;
use shortflow_units::{HostId, Instant, Span};
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
        file: String = required, Text("the name of a CSV file with the header start,source,destination,bytes");
        /// class of rows that name none
        class: String = "short", Name;
    }
}

#[derive(Debug)]
struct Trace(Arc<[Arrival]>);

impl Traffic for Trace {
    fn start(&self, _: Seeds, _: usize) -> Box<dyn Arrivals> {
        let flows = Arc::clone(&self.0);
        Box::new((0..flows.len()).map(move |i| flows[i]))
    }
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = TraceKeys::read(reader)?;
    let text = reader.file("file", &keys.file)?;
    let mut flows = parse(&text, &keys, context)?;
    let listed = flows.len();
    flows.retain(|flow| flow.at < Instant::ZERO + context.duration);
    if flows.is_empty() {
        let reason = format!(
            "none of the {listed} flows of {:?} starts before duration = {}",
            keys.file, context.duration
        );
        return Err(reader.impossible("file", reason));
    }
    context.destinations.extend(flows.iter().map(|flow| flow.destination));
    let mean = flows.iter().map(|flow| flow.size.as_f64()).sum::<f64>() / flows.len() as f64;
    context.expect(flows.len() as f64, mean);
    let note = note(&flows, listed, mean, context);
    context.note(reader, &format!("{:?}: {note}", keys.file));
    Ok(Box::new(Trace(flows.into())))
}

fn note(flows: &[Arrival], listed: usize, mean: f64, context: &Context) -> String {
    let mut bytes = vec![0.0; context.graph.hosts()];
    flows.iter().for_each(|flow| bytes[flow.destination.index()] += flow.size.as_f64());
    let busiest = (0..bytes.len()).max_by(|a, b| bytes[*a].total_cmp(&bytes[*b])).unwrap_or(0);
    let capacity =
        context.access_rate(HostId::from(busiest)).as_bps() as f64 / 8.0 * context.duration.as_secs_f64();
    let late = match listed - flows.len() {
        0 => String::new(),
        late => format!("; {late} more start after duration and are left out"),
    };
    format!(
        "{} flows of mean {}, at most offered load {} of {}{late}",
        flows.len(),
        size_text(mean),
        four_digits(bytes[busiest] / capacity),
        context.access_port(HostId::from(busiest)),
    )
}

const COLUMNS: [&str; 6] = ["start", "source", "destination", "bytes", "deadline", "class"];
const REQUIRED: usize = 4;

/// Positions of [`COLUMNS`] in the file.
type Header = [Option<usize>; COLUMNS.len()];

fn parse(text: &str, keys: &TraceKeys, context: &mut Context) -> Result<Vec<Arrival>, ConfigError> {
    let rows = csv::rows(text, &keys.file)?;
    let wrong = |line, reason| RowError { file: keys.file.clone(), line, reason };
    let Some((first, rows)) = rows.split_first() else {
        return Err(ConfigError::File(vec![wrong(
            0,
            format!("empty; expected the header {}", COLUMNS[..REQUIRED].join(",")),
        )]));
    };
    let header = header(first).map_err(|reason| ConfigError::File(vec![wrong(first.line, reason)]))?;
    let (mut flows, mut errors): (Vec<Arrival>, Vec<RowError>) = (Vec::new(), Vec::new());
    for row in rows {
        let earliest = flows.last().map_or(Instant::ZERO, |flow| flow.at);
        match flow(row, first.fields.len(), &header, &keys.class, earliest, context) {
            Ok(flow) => flows.push(flow),
            Err(reason) => errors.push(wrong(row.line, reason)),
        }
    }
    match (flows.is_empty(), errors.is_empty()) {
        (_, false) => Err(ConfigError::File(errors)),
        (true, true) => Err(ConfigError::File(vec![wrong(0, "no flow after the header".to_owned())])),
        (false, true) => Ok(flows),
    }
}

fn header(row: &Row) -> Result<Header, String> {
    if let Some(unknown) = row.fields.iter().find(|field| !COLUMNS.contains(&field.as_str())) {
        let expected = "start,source,destination,bytes[,deadline][,class]";
        return Err(format!(
            "unknown column {unknown:?} in the header, {expected}; {}",
            hint(unknown, &COLUMNS)
        ));
    }
    let header = COLUMNS.map(|column| row.fields.iter().position(|field| field == column));
    match (0..REQUIRED).find(|column| header[*column].is_none()) {
        Some(column) => Err(format!("the header has no column {:?}", COLUMNS[column])),
        None => Ok(header),
    }
}

fn flow(
    row: &Row,
    columns: usize,
    header: &Header,
    class: &str,
    earliest: Instant,
    context: &mut Context,
) -> Result<Arrival, String> {
    if row.fields.len() != columns {
        return Err(format!("{} columns, but the header has {columns}", row.fields.len()));
    }
    let field = |column: usize| header[column].map_or("", |at| row.fields[at].as_str());
    let named = |column: usize| move |reason: String| format!("{}: {reason}", COLUMNS[column]);
    let at = Instant::ZERO + csv::time(field(0)).map_err(named(0))?;
    if at < earliest {
        return Err(format!("start: {:?} is before the row above; rows must be sorted by start", field(0)));
    }
    let source = host(field(1), context).map_err(named(1))?;
    let destination = host(field(2), context).map_err(named(2))?;
    if source == destination {
        return Err(format!("host {} would send to itself", source.0));
    }
    let size = csv::bytes(field(3)).map_err(named(3))?;
    if size.get() == 0 {
        return Err("bytes: a flow has at least 1 byte".to_owned());
    }
    let deadline =
        Some(field(4)).filter(|text| !text.is_empty()).map(csv::time).transpose().map_err(named(4))?;
    if deadline.is_some_and(Span::is_zero) {
        return Err("deadline: no flow can be done after no time".to_owned());
    }
    let class = match field(5) {
        "" => class,
        text if Name::fits(text) => text,
        text => return Err(format!("class: {text:?} is not a name such as \"short\"")),
    };
    Ok(Arrival {
        at,
        source,
        destination,
        size,
        class: context.class(class),
        deadline,
        connection: ConnectionUse::New,
    })
}

/// A host by its number or its name.
fn host(text: &str, context: &Context) -> Result<HostId, String> {
    let count = context.graph.hosts();
    let number = text.strip_prefix('h').unwrap_or(text).parse::<usize>().ok();
    number
        .filter(|number| *number < count)
        .map(HostId::from)
        .ok_or_else(|| format!("{text:?} is not a host; the topology has 0 to {0} (h0 to h{0})", count - 1))
}
