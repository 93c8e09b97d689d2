//! Keys whose checks need other keys.

use crate::config::{ANY_TIME, Flag, KeywordOr, ListOf, POSITIVE_TIME, Text, keys};
use shortflow_units::Span;

keys! {
    /// Keys outside any table.
    pub(super) struct RunKeys {
        /// title in one line
        pub title: String = required, Text::Line("the scenario");
        /// time at which arrivals and the measured time end
        pub duration: Span = required, POSITIVE_TIME;
        /// start of the measured time; flows that start earlier do not count
        pub warmup: Span = "0s", ANY_TIME;
        /// longest time after duration in which finite flows may finish. The default is the longest of duration, 4
        /// tcp.initial_rto, and two consecutive timeouts with their recovery (at most 16 tcp.rto_min)
        pub drain: Option<Span> = optional, ANY_TIME, acts: finite_flows;
    }
}

keys! {
    /// Measurements, before ports are looked up.
    pub(super) struct MeasureKeys {
        /// ports whose queue is recorded; unless given: the slowest port that all traffic crosses, if all traffic goes
        /// to one host, otherwise all switch ports
        pub ports: Option<Vec<String>> = optional, PORTS;
        /// sampling interval
        pub sample_every: Option<Span> = "off", KeywordOr("off", POSITIVE_TIME);
        /// record flows that start in the drain, as load for measured flows, in a separate table
        pub drain_flows: bool = "false", Flag;
    }
}

const PORTS: ListOf<Text> = ListOf(Text::Port, "a list of ports such as [\"s0->h22\"]");
