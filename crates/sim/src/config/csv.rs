//! CSV files of users: rows with their line numbers, and the values in them.

use super::{ConfigError, RowError};
use shortflow_units::{Bytes, Span};

/// A row and where it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Line of the file, from 1.
    pub line: u64,
    /// Its fields, without surrounding blanks.
    pub fields: Vec<String>,
}

/// The rows of a file; blank lines and lines that begin with `#` are skipped.
pub(crate) fn rows(text: &str, file: &str) -> Result<Vec<Row>, ConfigError> {
    // The CSV reader counts skipped lines to the next row, so it does not get to see any.
    let has_data = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let (numbers, lines): (Vec<u64>, Vec<&str>) =
        (1..).zip(text.lines()).filter(|(_, line)| has_data(line)).unzip();
    // A quote without its end takes up the line behind it, of which even the last row has one.
    let data = lines.join("\n") + "\nbehind";
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(::csv::Trim::All)
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_reader(data.as_bytes());
    let mut records = reader.records().flatten().peekable();
    let row = |(line, next): (u64, u64)| {
        let record = records.next().unwrap_or_default();
        let is_next = |record: &::csv::StringRecord| record.position().is_some_and(|at| at.line() == next);
        if records.peek().is_some_and(is_next) {
            return Ok(Row { line, fields: record.iter().map(str::to_owned).collect() });
        }
        let reason = "a quote has no end; expected \" behind the text in quotes".to_owned();
        Err(ConfigError::File(vec![RowError { file: file.to_owned(), line, reason }]))
    };
    numbers.into_iter().zip(2..).map(row).collect()
}

/// A size: a number of bytes, or with a unit.
pub(crate) fn bytes(text: &str) -> Result<Bytes, String> {
    let number = text.parse::<u64>().ok().map(Bytes::new);
    number
        .or_else(|| text.parse().ok())
        .filter(|size| size.get() <= 1_000_000_000_000_000)
        .ok_or_else(|| format!("{text:?} is not a number of bytes or a size such as \"98KB\""))
}

/// A time: a number of seconds, or with a unit.
pub(crate) fn time(text: &str) -> Result<Span, String> {
    let seconds =
        || text.parse::<f64>().ok().filter(|secs| (0.0..=1e5).contains(secs)).map(Span::from_secs_f64);
    let wrong = || format!("{text:?} is not a number of seconds or a time such as \"300us\"");
    seconds().or_else(|| text.parse().ok()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_know_their_line_past_blank_lines_and_comments() {
        let rows = rows("a, b\n\n# note\nc,d\r\n\"e,f\",g,h\n", "x.csv").unwrap();
        let lines: Vec<u64> = rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [1, 4, 5]);
        assert_eq!(rows[0].fields, ["a", "b"]);
        assert_eq!(rows[2].fields, ["e,f", "g", "h"]);
    }

    #[test]
    fn a_quote_without_its_end_is_wrong() {
        for text in ["a,b\n1,\"2\n3,4\n", "a,b\n1,\"2", "a,b\n1\",\"2\n"] {
            let error = rows(text, "x.csv").unwrap_err().to_string();
            assert!(error.starts_with("x.csv:2: a quote has no end"), "{error}");
        }
        assert_eq!(rows("\"a \"\"b\"\"\",c", "x.csv").unwrap()[0].fields, ["a \"b\"", "c"]);
    }

    #[test]
    fn values_have_a_natural_unit() {
        assert_eq!(bytes("1500"), bytes("1.5KB"));
        assert_eq!(time("0.0003"), time("300us"));
        for wrong in ["", "-1", "nan", "1e9s", "inf"] {
            assert!(time(wrong).is_err() && bytes(wrong).is_err(), "{wrong:?}");
        }
    }
}
