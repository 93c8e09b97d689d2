//! Flows that arrive as a Poisson process.

use super::arrivals;
use super::interarrival::InterArrival;
use crate::config::Kind;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "poisson",
    summary: "independent flows at random times, at an offered load or a rate",
    source: "",
    parameters: arrivals::parameters,
    read: |reader, context| arrivals::read(InterArrival::Exponential, reader, context),
};
