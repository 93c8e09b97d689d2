//! Keys whose checks need other keys.

use crate::config::{ANY_TIME, Flag, KeywordOr, ListOf, POSITIVE_TIME, Text, keys};
use shortflow_units::Span;

keys! {
    /// Keys outside any table.
    pub(super) struct RunKeys {
        /// one line on what the scenario is
        pub title: String = required, Text::Line("the scenario");
        /// arrivals stop and time-based metrics end here
        pub duration: Span = required, POSITIVE_TIME;
        /// the time before, and flows started before, do not count
        pub warmup: Span = "0s", ANY_TIME;
        /// after duration the run goes on until every finite flow is done, for at most this time. The default is the
        /// longest of duration, 4 tcp.initial_rto, and two timeouts in a row with their recovery (at most 16 tcp.rto_min)
        pub drain: Option<Span> = optional, ANY_TIME, acts: finite_flows;
    }
}

keys! {
    /// Measurements, before ports are looked up.
    pub(super) struct MeasureKeys {
        /// ports whose queue is followed; unless given, the slowest that all traffic to one host crosses,
        /// or all switch ports
        pub ports: Option<Vec<String>> = optional, PORTS;
        /// sampling interval
        pub sample_every: Option<Span> = "off", KeywordOr("off", POSITIVE_TIME);
        /// flows that start in the drain, as load for measured flows, have rows in a table of their own
        pub drain_flows: bool = "false", Flag;
    }
}

const PORTS: ListOf<Text> = ListOf(Text::Port, "a list of ports such as [\"s0->h22\"]");
