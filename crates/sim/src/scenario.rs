//! A [`Scenario`] has the topology, the traffic, the duration and the measurements of runs. A scenario names no
//! scheme, so every scheme can run in it. A [`Scenario`] is a [`Spec`] that was read and validated.

mod checks;
mod drain;
mod faults;
mod keys;
pub(crate) mod lossless;
mod read;
mod slowest;
#[cfg(test)]
mod tests;
mod tiers;
mod warnings;

pub use faults::Fault;
pub use read::tables;
pub use tiers::Tiers;

use crate::config::Setting;
use crate::priorities::PrioritySet;
use crate::routing::Routing;
use crate::specs::{Conduct, HostSpec, Measure, SwitchSpec, TcpSpec};
use crate::topology::Graph;
use crate::traffic::{Expected, Peers, Traffic};
use shortflow_cc::TransportConfig;
use shortflow_spec::counted;
use shortflow_units::{ClassId, NodeId, Rate, Span};
use slowest::slowest_links;
use std::collections::BTreeMap;
use std::ops::Deref;

/// Input of a run, as plain values.
#[derive(Debug)]
pub struct Spec {
    /// Name of the scenario.
    pub name: String,
    /// One-line summary.
    pub title: String,
    /// End of arrivals and of the measured time.
    pub duration: Span,
    /// Start of the measured time. Flows that start earlier do not count.
    pub warmup: Span,
    /// Longest time after `duration` for finite flows to finish.
    pub drain: Span,
    /// The network.
    pub graph: Graph,
    /// Choice among shortest paths.
    pub routing: Routing,
    /// Switch ports, unless their tier or port has other settings.
    pub switch: SwitchSpec,
    /// Settings of switch ports by tier and port.
    pub tiers: Tiers,
    /// Host ports.
    pub host: HostSpec,
    /// TCP of every host.
    pub tcp: TcpSpec,
    /// Model of TCP's packets in hosts.
    pub conduct: Conduct,
    /// Names of traffic classes, indexed by [`ClassId`].
    pub classes: Vec<String>,
    /// Transports of classes that do not run the scheme's transport.
    pub transports: BTreeMap<ClassId, TransportConfig>,
    /// Traffic entries in the order of the file.
    pub traffic: Vec<Box<dyn Traffic>>,
    /// Priority of the data of each traffic entry.
    pub priorities: Vec<u8>,
    /// Hosts between which flows run.
    pub peers: Peers,
    /// True if some flow has a deadline.
    pub deadlines: bool,
    /// Measurements.
    pub measure: Measure,
    /// Faults of links.
    pub faults: Vec<Fault>,
}

/// A validated scenario: a [`Spec`] with derived facts. Only [`Scenario::parse`], [`Scenario::of_values`] and
/// [`Scenario::with_settings`] create one, and it is immutable.
#[derive(Debug)]
pub struct Scenario {
    spec: Spec,
    resolved: Vec<Setting>,
    facts: Vec<(&'static str, bool)>,
    notes: Vec<String>,
    expected: Vec<Expected>,
    warnings: Vec<String>,
    omitted: Vec<String>,
}

impl Deref for Scenario {
    type Target = Spec;

    #[inline]
    fn deref(&self) -> &Spec {
        &self.spec
    }
}

impl Scenario {
    /// All values with their sources.
    pub fn resolved(&self) -> &[Setting] {
        &self.resolved
    }

    /// Facts for conditions of keys that only the reader of a table knows.
    pub fn facts(&self) -> &[(&'static str, bool)] {
        &self.facts
    }

    /// Notes on values derived from other keys, on the topology, and on the offered load of each traffic
    /// entry.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Number of measured flows of each traffic entry.
    pub fn expected(&self) -> &[Expected] {
        &self.expected
    }

    /// Warnings about accepted settings.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Text on flows in the user's files that are not simulated or not counted. The warnings include this
    /// text.
    pub fn omitted(&self) -> &[String] {
        &self.omitted
    }
}

impl Spec {
    /// Settings of the switch port from `from` to `to`.
    pub fn switch_port(&self, from: NodeId, to: NodeId) -> &SwitchSpec {
        self.tiers.port(&self.graph, from, to).unwrap_or(&self.switch)
    }

    /// Priorities of data.
    pub fn used_priorities(&self) -> PrioritySet {
        self.priorities.iter().copied().collect()
    }

    /// Priorities of data that switches with flow control pause.
    pub fn lossless(&self) -> PrioritySet {
        self.used_priorities() & self.switch.lossless.unwrap_or(PrioritySet::ALL)
    }

    /// Half the transmission time of a full packet on a link of this rate. Jitter of this length breaks the
    /// phase between packets and departures from such a link.
    pub fn half_packet(&self, rate: Rate) -> Span {
        self.tcp.tx_time(rate, self.tcp.mss).divided_by(2)
    }

    /// Largest jitter of each host.
    pub fn jitter(&self) -> Vec<Span> {
        if let Some(given) = self.host.jitter {
            return vec![given; self.graph.hosts()];
        }
        let of_link = |link: usize| self.half_packet(self.graph.links[link].rate);
        let slowest = slowest_links(&self.graph, &self.peers);
        slowest.into_iter().map(|link| link.map_or(Span::ZERO, of_link)).collect()
    }

    /// Note on the values of `host.jitter = "half-packet"`, with the links that determine them.
    fn jitter_note(&self) -> Option<String> {
        const SHOWN: usize = 3;
        let slowest =
            if self.host.jitter.is_none() { slowest_links(&self.graph, &self.peers) } else { Vec::new() };
        let mut hosts: BTreeMap<Rate, (usize, usize)> = BTreeMap::new();
        for link in slowest.into_iter().flatten() {
            hosts.entry(self.graph.links[link].rate).or_insert((0, link)).0 += 1;
        }
        let value = |(rate, (hosts, link)): (&Rate, &(usize, usize))| {
            let link = &self.graph.links[*link];
            let (a, b) = (self.graph.name(link.a), self.graph.name(link.b));
            let hosts = counted(*hosts, "host");
            format!("{} at {hosts} (slowest link {rate}, as {a}-{b})", self.half_packet(*rate))
        };
        let mut values: Vec<String> = hosts.iter().map(value).collect();
        let last = values.last().cloned()?;
        if values.len() > SHOWN {
            values.truncate(SHOWN - 1);
            values.extend(["…".to_owned(), last]);
        }
        Some(format!("host.jitter: half-packet is {}", values.join("; ")))
    }
}
