//! CSV files of users: rows with line numbers, and values.

use super::{ConfigError, RowError};
use shortflow_units::{Bytes, Span};

/// A row and its line number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Line in the file, from 1.
    pub line: u64,
    /// Fields without surrounding blanks.
    pub fields: Vec<String>,
}

/// Reads the rows of a file. Skips blank lines and lines that begin with `#`.
pub(crate) fn rows(text: &str, file: &str) -> Result<Vec<Row>, ConfigError> {
    // The CSV reader counts skipped lines as part of the next row, so remove them first.
    let has_data = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let (numbers, lines): (Vec<u64>, Vec<&str>) =
        (1..).zip(text.lines()).filter(|(_, line)| has_data(line)).unzip();
    // A quote without an end swallows the next line. An extra last line makes this visible for the last row
    // too.
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

/// Largest size in bytes, and longest time in seconds.
const MOST_BYTES: f64 = 1e15;
const MOST_SECONDS: f64 = 1e5;

/// Parses a size: a whole number of bytes, such as `3000000` or `3e6`, or a number with a unit.
pub(crate) fn bytes(text: &str) -> Result<Bytes, String> {
    let number = text.parse::<f64>().ok().or_else(|| text.parse::<Bytes>().ok().map(Bytes::as_f64));
    match number.filter(|number| number.is_finite()) {
        Some(bytes) if bytes > MOST_BYTES => Err(format!("{text} is above the largest size, 1e15 bytes")),
        Some(bytes) if bytes.fract() != 0.0 => Err(format!("{text} is not a whole number of bytes")),
        Some(bytes) if bytes >= 0.0 => Ok(Bytes::new(bytes as u64)),
        _ => Err(format!("{text:?} is not a number of bytes or a size such as \"98KB\"")),
    }
}

/// Parses a time: a number of seconds, or a number with a unit.
pub(crate) fn time(text: &str) -> Result<Span, String> {
    match text.parse::<f64>().ok().filter(|seconds| seconds.is_finite()) {
        Some(seconds) if seconds > MOST_SECONDS => Err(format!(
            "{text} seconds is above 1e5 seconds, the longest time. Times start at 0 with the run: subtract the first \
             time of the file, or write the unit, such as \"300us\""
        )),
        Some(seconds) if seconds >= 0.0 => Ok(Span::from_secs_f64(seconds)),
        Some(_) => Err(format!("{text} is a negative time")),
        None => text
            .parse()
            .map_err(|_| format!("{text:?} is not a number of seconds or a time such as \"300us\"")),
    }
}

/// Error about the number of fields in a line, with the expected columns.
pub(crate) fn wrong_columns(fields: &[String], expected: &str) -> String {
    let (columns, wanted) = (fields.len(), expected.split(',').count());
    let s = if columns == 1 { "" } else { "s" };
    format!("{columns} column{s}, expected {wanted}: {expected}{}", separator(fields))
}

/// A remark for errors about columns, if another separator than commas separates the fields; otherwise empty.
pub(crate) fn separator(fields: &[String]) -> String {
    let found = [('\t', "tabs"), (';', "semicolons"), ('|', "bars"), (':', "colons"), (' ', "spaces")];
    let separates = |letter: char| fields.iter().any(|field| field.contains(letter));
    let Some((_, name)) = found.into_iter().find(|(letter, _)| separates(*letter)) else {
        return String::new();
    };
    let digits = |field: &String| field.contains(|letter: char| letter.is_ascii_digit());
    let commas = match fields {
        [_] => "",
        [..] if fields.iter().all(digits) => ", and a point in place of the comma in numbers",
        [..] => return String::new(),
    };
    format!("; the fields are separated by {name}, and commas are expected{commas}")
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
        assert_eq!(bytes("3000000.0"), Ok(Bytes::new(3_000_000)));
        assert_eq!(bytes("3e6"), bytes("3MB"));
        assert_eq!(bytes("1.5"), Err("1.5 is not a whole number of bytes".to_owned()));
        assert_eq!(time("0.0003"), time("300us"));
        for wrong in ["", "-1", "nan", "1e9s", "inf"] {
            assert!(time(wrong).is_err() && bytes(wrong).is_err(), "{wrong:?}");
        }
    }
}
