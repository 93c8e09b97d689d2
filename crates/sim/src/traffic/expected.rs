//! [`Expected`]: number of measured flows of a traffic entry, known or estimated before a run.

use super::context::four_digits;
use shortflow_units::{Instant, Span};
use std::fmt;

/// The measured time. A flow counts if it starts within this time.
#[derive(Debug, Clone, Copy)]
pub struct MeasurementWindow {
    /// End of the warm-up.
    pub from: Instant,
    /// End of arrivals, not included.
    pub to: Instant,
}

impl MeasurementWindow {
    /// True if a flow that starts at `at` counts.
    pub(super) fn counts(&self, at: Instant) -> bool {
        self.from <= at && at < self.to
    }

    /// Number of the instants `first`, `first + every`, `first + 2 every`, … within the measured time.
    /// `every` must be positive.
    pub(super) fn regular(&self, first: Instant, every: Span) -> u64 {
        let before = |end: Instant| end.since(first).as_ps().div_ceil(every.as_ps());
        before(self.to) - before(self.from)
    }
}

/// A number of flows, with its accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Count {
    /// Exact number, the same for all seeds.
    Exactly(u64),
    /// Mean number over seeds, from the mean rate. Irregular gaps give slightly more flows.
    About(f64),
    /// Number of certain flows. Further flows follow from responses, which depend on the network.
    AtLeast(u64),
}

impl Count {
    /// Number of flows known before the run.
    pub fn known(self) -> f64 {
        match self {
            Count::Exactly(flows) | Count::AtLeast(flows) => flows as f64,
            Count::About(flows) => flows,
        }
    }
}

/// Flows of a traffic entry that start in the measured time, and its backlogged flows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Finite flows.
    pub flows: Count,
    /// Backlogged flows, whenever they start.
    pub backlogged: u64,
}

impl Expected {
    /// Finite flows only.
    pub(super) fn finite(flows: Count) -> Expected {
        Expected { flows, backlogged: 0 }
    }

    /// True if it is certain that no flow of the entry counts.
    pub fn is_nothing(&self) -> bool {
        self.backlogged == 0 && matches!(self.flows, Count::Exactly(0))
    }

    /// Number of finite flows, and its accuracy: `exactly`, `about` or `at least`.
    pub fn number(&self) -> (f64, &'static str) {
        match self.flows {
            Count::Exactly(flows) => (flows as f64, "exactly"),
            Count::About(flows) => (flows, "about"),
            Count::AtLeast(flows) => (flows as f64, "at least"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, sort) = self.number();
        let flows = match number {
            1.0 => "1 flow".to_owned(),
            _ => format!("{} flows", four_digits(number)),
        };
        match (self.flows, self.backlogged) {
            (Count::Exactly(0), 1) => f.write_str("1 backlogged flow"),
            (Count::Exactly(0), flows) if flows > 1 => write!(f, "{flows} backlogged flows"),
            (Count::Exactly(_), _) => f.write_str(&flows),
            (Count::About(_), _) => write!(f, "{sort} {flows}"),
            (Count::AtLeast(_), _) => write!(f, "{sort} {flows}; how many more depends on responses"),
        }
    }
}
