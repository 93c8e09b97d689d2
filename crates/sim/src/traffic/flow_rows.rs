//! Rows of a user's trace of flows, in CSV.

use super::context::Context;
use super::flow::{Connections, FlowArrival};
use crate::config::csv::{self, Row};
use crate::config::{ConfigError, RowError, Text};
use shortflow_units::{Bytes, Instant, Span};

/// A row of the trace.
#[derive(Debug, Clone)]
pub(super) struct FlowRow {
    /// The flow. If it waits for others, its start is the delay after the last of these arrivals.
    pub flow: FlowArrival,
    /// Indices (from 0, without repetition) of earlier rows whose last byte must arrive before the flow
    /// starts.
    pub after: Vec<u32>,
}

/// Values for rows that leave a column empty.
pub(super) struct Defaults<'a> {
    /// Name of the file, for errors.
    pub file: &'a str,
    /// Default class.
    pub class: &'a str,
    /// Sharing of connections.
    pub connections: Connections,
}

const COLUMNS: [&str; 7] = ["start", "source", "destination", "bytes", "deadline", "class", "after"];
const HEADER: &str = "start,source,destination,bytes[,deadline][,class][,after]";
const REQUIRED: [&str; 4] = ["start", "source", "destination", "bytes"];

/// Parses all rows of a file.
pub(super) fn parse(
    text: &str,
    defaults: &Defaults,
    context: &mut Context,
) -> Result<Vec<FlowRow>, ConfigError> {
    let rows = csv::rows(text, defaults.file)?;
    let wrong = |line, reason| RowError { file: defaults.file.to_owned(), line, reason };
    let Some((header, rows)) = rows.split_first() else {
        let reason = format!("empty; expected the header {HEADER}");
        return Err(ConfigError::File(vec![wrong(0, reason)]));
    };
    check_header(header).map_err(|reason| ConfigError::File(vec![wrong(header.line, reason)]))?;
    let (mut found, mut errors): (Vec<FlowRow>, Vec<RowError>) = (Vec::new(), Vec::new());
    let mut earliest = Instant::ZERO;
    for (above, row) in (0u32..).zip(rows) {
        let fields = Fields { header: &header.fields, values: &row.fields };
        match fields.row(earliest, above, defaults, context) {
            Ok(row) => {
                earliest = if row.after.is_empty() { row.flow.at } else { earliest };
                found.push(row);
            }
            Err(reason) => errors.push(wrong(row.line, reason)),
        }
    }
    if rows.is_empty() {
        errors.push(wrong(0, "no flow after the header".to_owned()));
    }
    if errors.is_empty() { Ok(found) } else { Err(ConfigError::File(errors)) }
}

/// Checks the header. The error does not quote a wrong header, because the user may have named another,
/// secret file.
fn check_header(row: &Row) -> Result<(), String> {
    let names = &row.fields;
    let is_wrong = |at: &usize| !COLUMNS.contains(&names[*at].as_str()) || names[..*at].contains(&names[*at]);
    let wrong = (0..names.len()).find(is_wrong).map(|at| format!("column {} is unknown or repeated", at + 1));
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

/// Values of a row, by name of the column.
struct Fields<'a> {
    header: &'a [String],
    values: &'a [String],
}

impl<'a> Fields<'a> {
    /// Parses this row, which has `above` rows above it. A flow that waits for no other must not start before
    /// `earliest`.
    fn row(
        &self,
        earliest: Instant,
        above: u32,
        defaults: &Defaults,
        context: &mut Context,
    ) -> Result<FlowRow, String> {
        if self.values.len() != self.header.len() {
            return Err(csv::wrong_columns(self.values, &self.header.join(",")));
        }
        let at = Instant::ZERO + self.required("start", csv::time)?;
        let after = self.optional("after", |text| rows_above(text, above))?.unwrap_or_default();
        if at < earliest && after.is_empty() {
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
        let class = context.class(self.optional("class", class_name)?.unwrap_or(defaults.class));
        let connection = defaults.connections.of(0);
        let flow = FlowArrival { at, source, destination, size, class, deadline, connection, stop: None };
        Ok(FlowRow { flow, after })
    }

    /// The text in `column`; empty if there is no such column.
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
        Span::ZERO => Err("expected a time above 0s".to_owned()),
        deadline => Ok(deadline),
    }
}

fn class_name(text: &str) -> Result<&str, String> {
    if Text::Name.fits(text) { Ok(text) } else { Err(format!("{text:?} is not {}", Text::Name)) }
}

/// Parses row numbers separated by blanks. Rows count from 1, and only the first `above` rows are allowed.
fn rows_above(text: &str, above: u32) -> Result<Vec<u32>, String> {
    let number = |word: &str| match word.parse::<u32>() {
        Ok(row) if (1..=above).contains(&row) => Ok(row - 1),
        _ => Err(format!("{word:?} is not the number of a row above; rows count from 1 below the header")),
    };
    let mut found = text.split_whitespace().map(number).collect::<Result<Vec<u32>, String>>()?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
