//! [`LinkDefaults`]: rate and delay of links without their own in the file.

use crate::config::csv;
use shortflow_units::{Rate, Span};

/// Rate and delay of links without their own.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LinkDefaults {
    pub rate: Option<Rate>,
    pub delay: Option<Span>,
}

impl LinkDefaults {
    /// The rate that `text` gives, if any.
    pub(super) fn rate(&self, text: &str) -> Result<Rate, String> {
        let missing = || "rate: missing, and the scenario has no topology.rate for such links".to_owned();
        if text.is_empty() {
            self.rate.ok_or_else(missing)
        } else {
            rate(text).map_err(|e| format!("rate: {e}"))
        }
    }

    /// The delay that `text` gives, if any.
    pub(super) fn delay(&self, text: &str) -> Result<Span, String> {
        let missing = || "delay: missing, and the scenario has no topology.delay for such links".to_owned();
        if text.is_empty() {
            return self.delay.ok_or_else(missing);
        }
        csv::time(text).map_err(|error| format!("delay: {error}"))
    }
}

/// A rate: a number of bits per second, or with a unit.
fn rate(text: &str) -> Result<Rate, String> {
    let number = text.parse::<f64>().ok().filter(|bps| bps.fract() == 0.0 && (1.0..=1e15).contains(bps));
    let plain = number.and_then(|bps| Rate::new(bps as u64));
    plain.map_or_else(|| text.parse().map_err(|error: shortflow_units::UnitError| error.to_string()), Ok)
}
