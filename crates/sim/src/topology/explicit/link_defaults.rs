//! [`LinkDefaults`]: rate and delay of links for which the file gives none.

use crate::config::csv;
use shortflow_units::{Rate, Span};

/// Rate and delay of links for which the file gives none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LinkDefaults {
    pub rate: Option<Rate>,
    pub delay: Option<Span>,
}

/// A value and its source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read<T> {
    pub value: T,
    pub from: From,
}

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// The file, with a unit.
    Quantity,
    /// The file, as a plain number.
    Number,
    /// The scenario's default.
    Scenario,
}

impl LinkDefaults {
    /// The rate in `text`, or the default if `text` is empty.
    pub(super) fn rate(&self, text: &str) -> Result<Read<Rate>, String> {
        let missing = || "rate: missing, and the scenario has no topology.rate for such links".to_owned();
        if text.is_empty() {
            return self.rate.map(|value| Read { value, from: From::Scenario }).ok_or_else(missing);
        }
        rate(text).map(|value| Read { value, from: of_file(text) }).map_err(|error| format!("rate: {error}"))
    }

    /// The delay in `text`, or the default if `text` is empty.
    pub(super) fn delay(&self, text: &str) -> Result<Read<Span>, String> {
        let missing = || "delay: missing, and the scenario has no topology.delay for such links".to_owned();
        if text.is_empty() {
            return self.delay.map(|value| Read { value, from: From::Scenario }).ok_or_else(missing);
        }
        let read = csv::time(text).map(|value| Read { value, from: of_file(text) });
        read.map_err(|error| format!("delay: {error}"))
    }
}

fn of_file(text: &str) -> From {
    if text.parse::<f64>().is_ok() { From::Number } else { From::Quantity }
}

/// Parses a rate: a number of bits per second, or a number with a unit.
fn rate(text: &str) -> Result<Rate, String> {
    let number = text.parse::<f64>().ok().filter(|bps| bps.fract() == 0.0 && (1.0..=1e15).contains(bps));
    let plain = number.and_then(|bps| Rate::new(bps as u64));
    plain.map_or_else(|| text.parse().map_err(|error: shortflow_units::UnitError| error.to_string()), Ok)
}
