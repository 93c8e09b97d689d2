//! [`RateCurves`]: RED's marking curves by link rate.

use crate::{Format, Shape, Text, Value};
use shortflow_units::{Bytes, Occupancy, Rate};
use std::fmt;
use std::sync::Arc;

/// Marking probability over the backlog: zero below `min`, rising linearly to `max_p` at `max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Minimum threshold, above zero.
    pub min: Occupancy,
    /// Maximum threshold, in the unit of `min`.
    pub max: Occupancy,
    /// Probability at the maximum threshold.
    pub max_p: f64,
}

/// Curves, sorted by rate.
#[derive(Debug, Clone, PartialEq)]
pub struct RateCurves(Arc<[(Rate, Curve)]>);

impl RateCurves {
    /// Curve for links of this rate, if there is one.
    pub fn of(&self, rate: Rate) -> Option<Curve> {
        self.0.iter().find(|(known, _)| *known == rate).map(|(_, curve)| *curve)
    }
}

/// The rates that have a curve.
impl fmt::Display for RateCurves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates: Vec<String> = self.0.iter().map(|(rate, _)| rate.to_string()).collect();
        f.write_str(&rates.join(", "))
    }
}

/// The format of [`RateCurves`].
#[derive(Debug, Clone, Copy)]
pub struct Curves;

/// Curves, each as `RATE MIN MAX PROBABILITY`.
pub const RATE_CURVES: Curves = Curves;

impl Format for Curves {
    type Value = RateCurves;
    fn read(&self, value: &Value) -> Option<RateCurves> {
        let given: Vec<_> = value.as_str()?.split(';').map(curve).collect::<Option<_>>()?;
        given.is_sorted_by(|a, b| a.0 < b.0).then(|| RateCurves(given.into()))
    }
    fn shape(&self) -> Shape {
        Shape::Text(Text::RateCurves)
    }
}

/// Reads one curve, such as `25Gbps 100KB 400KB 0.2`.
fn curve(text: &str) -> Option<(Rate, Curve)> {
    let [rate, min, max, max_p] = text.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    let (min, max) = (min.parse().ok()?, max.parse().ok()?);
    let is_rising = match (min, max) {
        (Occupancy::Packets(min), Occupancy::Packets(max)) => 0 < min && min <= max,
        (Occupancy::Bytes(min), Occupancy::Bytes(max)) => Bytes::ZERO < min && min <= max,
        _ => false,
    };
    let max_p = max_p.parse().ok().filter(|share| (0.0..=1.0).contains(share) && is_rising)?;
    Some((rate.parse().ok()?, Curve { min, max, max_p }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<RateCurves> {
        RATE_CURVES.read(&Value::String(text.to_owned()))
    }

    #[test]
    fn a_rate_has_its_curve_or_none() {
        let curves = read("25Gbps 100KB 400KB 0.2; 100Gbps 30pkt 30pkt 1").unwrap();
        let of = |rate: &str| curves.of(rate.parse().unwrap());
        let bytes = |kb: u64| Occupancy::Bytes(Bytes::new(kb * 1000));
        assert_eq!(of("25Gbps"), Some(Curve { min: bytes(100), max: bytes(400), max_p: 0.2 }));
        assert_eq!(of("100000Mbps").unwrap().max, Occupancy::Packets(30));
        assert_eq!((of("40Gbps"), curves.to_string().as_str()), (None, "25Gbps, 100Gbps"));
    }

    #[test]
    fn rates_and_thresholds_rise_in_one_unit() {
        for wrong in [
            "",
            "25Gbps 100KB 400KB",
            "25Gbps 100KB 400KB 1.5",
            "25Gbps 100KB 99KB 0.2",
            "25Gbps 0KB 99KB 0.2",
            "25Gbps 5pkt 99KB 0.2",
            "25Gbps 5pkt unlimited 0.2",
            "25Gbps 1KB 2KB 0.2;",
            "25Gbps 1KB 2KB 0.2; 25Gbps 1KB 2KB 0.2",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
