//! Sizes from a table of the cumulative distribution, which is a user's file or published.

use super::Sizes;
use super::distribution::{LARGEST, whole};
use crate::config::csv::{self, Row};
use crate::config::{ANY_SIZE, ConfigError, Kind, Reader, RowError, Text, keys};
use crate::engine::Stream;
use shortflow_units::Bytes;
use std::sync::Arc;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "cdf",
    summary: "from a CSV file of lines bytes,cumulative that ends at 1; linear between lines",
    source: "",
    parameters: CdfKeys::parameters,
    read,
};

keys! {
    /// Keys of a distribution in a file.
    struct CdfKeys {
        /// CSV file, relative to the scenario
        file: String = required, Text::SizeFile;
        /// lower limit; all sizes are above min
        min: Option<Bytes> = optional, ANY_SIZE;
        /// largest size
        max: Option<Bytes> = optional, ANY_SIZE;
    }
}

fn read(reader: &Reader) -> Result<Arc<dyn Sizes>, ConfigError> {
    let keys = CdfKeys::read(reader)?;
    let text = reader.file("file", &keys.file)?;
    let table = parse(&text, &keys.file)?;
    Ok(Arc::new(table.within(keys.min, keys.max, reader)?))
}

/// Largest error of a sum of shares.
const ROUNDING: f64 = 1e-9;

/// Points (size in bytes, share of flows up to this size), with linear interpolation in size. Two points of
/// equal size are a jump: their difference in share is the share of flows with exactly this size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table(Vec<(f64, f64)>);

impl Table {
    /// Checks the points. An error holds the index of the wrong point and the reason. The last share may
    /// differ from 1 by `ROUNDING`.
    pub(super) fn new(mut points: Vec<(f64, f64)>) -> Result<Table, (usize, String)> {
        let mut before = (0.0, 0.0);
        for (i, (size, share)) in points.iter().copied().enumerate() {
            if !(before.0..=LARGEST).contains(&size) {
                return Err((
                    i,
                    format!("size {size} is below the previous size, {}, or above 1e15", before.0),
                ));
            }
            if share < before.1 || share.is_nan() {
                return Err((i, format!("the share {share} is below the previous share, {}", before.1)));
            }
            if share > 1.0 + ROUNDING {
                return Err((i, format!("the share {share} is above 1; divide shares in per cent by 100")));
            }
            before = (size, share);
        }
        let last = points.len().saturating_sub(1);
        if before.1 < 1.0 - ROUNDING {
            return Err((last, format!("the cumulative distribution ends at {}, not at 1", before.1)));
        }
        points.iter_mut().for_each(|point| point.1 = point.1.min(1.0));
        points[last].1 = 1.0;
        Ok(Table(points))
    }

    /// The distribution restricted to sizes above `min` and up to `max`.
    pub(super) fn within(
        self,
        min: Option<Bytes>,
        max: Option<Bytes>,
        reader: &Reader,
    ) -> Result<Table, ConfigError> {
        let (smallest, largest) = (whole(self.0[0].0), whole(self.0[self.0.len() - 1].0));
        let below = match max {
            None => self,
            Some(max) => self.below(max.as_f64()).ok_or_else(|| {
                let none = "no size of this distribution is at most";
                reader.impossible("max", format!("{none} {max}; the smallest is {smallest}"))
            })?,
        };
        if below.mean() <= 0.0 {
            let key = if max.is_some() { "max" } else { "file" };
            return Err(reader.impossible(key, "leaves only flows of 0 bytes; a flow has at least 1 byte"));
        }
        let Some(min) = min else { return Ok(below) };
        below.above(min.as_f64()).ok_or_else(|| {
            let up_to = max.map_or(String::new(), |max| format!(" and at most {max}"));
            let none = format!("no size of this distribution is above {min}{up_to}");
            reader.impossible("min", format!("{none}; the largest is {largest}"))
        })
    }

    fn below(&self, max: f64) -> Option<Table> {
        let inside = self.0.partition_point(|point| point.0 <= max);
        let mut points = self.0[..inside].to_vec();
        points.last()?;
        points.extend(self.between(inside, max));
        let kept = points.last()?.1;
        points.iter_mut().for_each(|point| point.1 /= kept);
        (kept > 0.0).then_some(Table(points))
    }

    fn above(&self, min: f64) -> Option<Table> {
        let first = self.0.partition_point(|point| point.0 <= min);
        if first == 0 {
            return Some(self.clone());
        }
        let mut points: Vec<(f64, f64)> = self.between(first, min).into_iter().collect();
        points.extend_from_slice(&self.0[first..]);
        let cut = points.first()?.1;
        points.iter_mut().for_each(|point| point.1 = (point.1 - cut) / (1.0 - cut));
        (cut < 1.0).then_some(Table(points))
    }

    /// The point of the curve at `size`, which lies between point `index` and the point before it.
    fn between(&self, index: usize, size: f64) -> Option<(f64, f64)> {
        let (next, last) = (self.0.get(index)?, self.0.get(index.checked_sub(1)?)?);
        Some((size, last.1 + (next.1 - last.1) * (size - last.0) / (next.0 - last.0)))
    }
}

impl Sizes for Table {
    fn sample(&self, stream: &mut Stream) -> Bytes {
        let u = stream.unit();
        let above = self.0.partition_point(|point| point.1 <= u).min(self.0.len() - 1);
        let high = self.0[above];
        let low = if above == 0 { (high.0, 0.0) } else { self.0[above - 1] };
        whole(low.0 + (high.0 - low.0) * (u - low.1) / (high.1 - low.1))
    }

    fn mean(&self) -> f64 {
        let first = self.0[0].0 * self.0[0].1;
        let pieces = self.0.windows(2).map(|p| (p[1].1 - p[0].1) * (p[0].0 + p[1].0) / 2.0);
        first + pieces.sum::<f64>()
    }

    fn largest(&self) -> f64 {
        self.0.last().map_or(LARGEST, |point| point.0)
    }
}

/// Names of the two columns in a header.
const HEADERS: [&[&str]; 2] = [&["bytes", "size", "size_bytes"], &["cumulative", "cdf", "share"]];

/// True if a line is a header.
fn is_header(row: &Row) -> bool {
    let known = |(field, names): (&String, &&[&str])| names.contains(&field.to_lowercase().as_str());
    row.fields.len() == HEADERS.len() && row.fields.iter().zip(&HEADERS).all(known)
}

/// Parses lines `bytes,cumulative`, with or without a header.
fn parse(text: &str, file: &str) -> Result<Table, ConfigError> {
    let mut rows = csv::rows(text, file)?;
    let wrong = |line, reason| RowError { file: file.to_owned(), line, reason };
    match rows.first() {
        Some(first) if is_header(first) => drop(rows.remove(0)),
        // The error does not quote the line, because the user may have named another, secret file.
        Some(first) if point(first).is_err() => {
            let reason = "expected a size in bytes and a share, such as 98000,0.5, or a header of them such as \
                          \"bytes,cumulative\" or \"size,cdf\"";
            let columns = match first.fields.len() {
                1 | 2 => String::new(),
                columns => format!("; this line has {columns} columns"),
            };
            let is_header =
                first.fields.iter().all(|field| !field.contains(|letter: char| letter.is_ascii_digit()));
            let header = if is_header { "; this line looks like a header of other names" } else { "" };
            let remarks = [&columns, header, &csv::separator(&first.fields), &percent(&rows)].concat();
            let reason = format!("{reason}{remarks}");
            return Err(ConfigError::File(vec![wrong(first.line, reason)]));
        }
        _ => {}
    }
    let (mut points, mut errors) = (Vec::new(), Vec::new());
    for row in &rows {
        match point(row) {
            Ok(point) => points.push(point),
            Err(reason) => errors.push(wrong(row.line, reason)),
        }
    }
    if points.is_empty() && errors.is_empty() {
        errors.push(wrong(0, "empty; expected lines bytes,cumulative".to_owned()));
    }
    if !errors.is_empty() {
        return Err(ConfigError::File(errors));
    }
    Table::new(points).map_err(|(i, reason)| ConfigError::File(vec![wrong(rows[i].line, reason)]))
}

/// A remark about shares in per cent, if the last number of the last line is 100; otherwise empty.
fn percent(rows: &[Row]) -> String {
    let last = rows.last().and_then(|row| row.fields.last());
    let last = last.and_then(|field| field.rsplit(['\t', ';', '|', ':', ' ']).next()).unwrap_or_default();
    let number = last.trim_end_matches('%').parse::<f64>();
    match number.is_ok_and(|number| (number / 100.0 - 1.0).abs() <= ROUNDING) {
        true => format!("; the last share is {last}, so shares are in per cent: divide them by 100"),
        false => String::new(),
    }
}

fn point(row: &Row) -> Result<(f64, f64), String> {
    let [bytes, cumulative] = row.fields.as_slice() else {
        return Err(csv::wrong_columns(&row.fields, "bytes,cumulative"));
    };
    let bytes = csv::bytes(bytes).map_err(|reason| format!("size: {reason}"))?.as_f64();
    let share = cumulative.parse::<f64>().ok().filter(|share| *share >= 0.0);
    share.map(|share| (bytes, share)).ok_or_else(|| {
        let percent = if cumulative.ends_with('%') { "; divide per cent by 100" } else { "" };
        format!("share: {cumulative:?} is not a number from 0 to 1{percent}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Seeds;
    use crate::traffic::sizes::tests::check_mean;

    /// Half of the flows are uniform on [100, 200], a tenth are exactly 200, and the rest are uniform on
    /// [200, 400].
    #[test]
    fn worked_example_with_a_jump() {
        let table = parse("bytes,cumulative\n100,0\n200,0.5\n200,0.6\n400,1\n", "sizes.csv").unwrap();
        assert!((table.mean() - (0.5 * 150.0 + 0.1 * 200.0 + 0.4 * 300.0)).abs() < 1e-9);
        check_mean(&table, 1);
        let mut stream = Seeds::new(1).stream("test", 0);
        let jump = (0..10_000).filter(|_| table.sample(&mut stream).get() == 200).count();
        assert!((900..1200).contains(&jump), "{jump}");
    }

    #[test]
    fn a_first_line_above_zero_is_a_jump() {
        let table = parse("1460,0.5\n2920,1\n", "sizes.csv").unwrap();
        assert!((table.mean() - (0.5 * 1460.0 + 0.5 * 2190.0)).abs() < 1e-9);
        check_mean(&table, 1);
        assert_eq!(parse("1KB,1", "sizes.csv").unwrap().mean(), 1000.0);
        assert_eq!(parse("0,0\n1KB,0.9999999999999999", "sizes.csv").unwrap().mean(), 500.0);
    }

    #[test]
    fn truncation_keeps_the_shape_below() {
        let table = Table::new(vec![(0.0, 0.0), (100.0, 0.5), (300.0, 1.0)]).unwrap();
        assert_eq!(table.below(200.0), Some(Table(vec![(0.0, 0.0), (100.0, 0.5 / 0.75), (200.0, 1.0)])));
        assert_eq!(table.below(1e9), Some(table.clone()));
        assert_eq!(Table::new(vec![(10.0, 0.5), (20.0, 1.0)]).unwrap().below(5.0), None);
    }

    /// A quarter of the flows are exactly 100, half are uniform on [100, 300], and a quarter are exactly 300.
    #[test]
    fn truncation_keeps_the_shape_above() {
        let table = Table::new(vec![(100.0, 0.25), (300.0, 0.75), (300.0, 1.0)]).unwrap();
        assert_eq!(table.above(200.0), Some(Table(vec![(200.0, 0.0), (300.0, 0.5), (300.0, 1.0)])));
        assert_eq!(table.above(100.0), Some(Table(vec![(100.0, 0.0), (300.0, 0.5 / 0.75), (300.0, 1.0)])));
        assert_eq!(table.above(99.0), Some(table.clone()));
        assert_eq!(table.above(300.0), None);
        let (below, above) = (table.below(200.0).unwrap(), table.above(200.0).unwrap());
        assert!((0.5 * below.mean() + 0.5 * above.mean() - table.mean()).abs() < 1e-9);
        check_mean(&above, 1);
    }

    #[test]
    fn a_public_file_hears_of_its_separator_and_its_per_cent() {
        for (text, remarks) in [
            ("0\t0\n10000\t0.5\n20000\t1\n", "separated by tabs"),
            (
                "0 0\n10000 15\n30000 100\n",
                "separated by spaces, and commas are expected; the last share is 100",
            ),
            ("size;cdf\n100;0.5\n200;1\n", "separated by semicolons"),
            ("bytes,cumulative\n0;0\n100;1\n", "separated by semicolons"),
            ("0:0\n100:1\n", "separated by colons"),
            (
                "0,0%\n100,50%\n200,100%\n",
                "the last share is 100%, so shares are in per cent: divide them by 100",
            ),
            ("0,0\n100,50\n200,100\n", "the share 50 is above 1; divide shares in per cent by 100"),
            (
                "0;0,0\n100;1,0\n",
                "separated by semicolons, and commas are expected, and a point in place of the comma",
            ),
            ("100,1,0.5\n200,1,1\n", "this line has 3 columns"),
            ("0,100\n0.5,200\n", "size: 0.5 is not a whole number of bytes"),
        ] {
            let error = parse(text, "sizes.csv").unwrap_err().to_string();
            assert!(error.contains(remarks), "{text:?}: {error}");
        }
        for shares in ["cdf,bytes\n0,0\n1,2000\n", "flow size,cdf\n0,0\n100,1\n"] {
            let error = parse(shares, "sizes.csv").unwrap_err().to_string();
            assert!(!error.contains("per cent"), "{shares:?}: {error}");
        }
    }

    #[test]
    fn a_header_names_bytes_and_a_share() {
        let bare = parse("1460,0.5\n2920,1\n", "sizes.csv").unwrap();
        for header in ["bytes,cumulative", "size,cdf", "Size,CDF", "size_bytes,share"] {
            assert_eq!(
                parse(&format!("{header}\n1460,0.5\n2920,1\n"), "sizes.csv").unwrap(),
                bare,
                "{header}"
            );
        }
    }
}
