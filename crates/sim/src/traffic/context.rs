//! [`Context`]: input for reading a traffic entry, and its findings for the scenario.

use super::peers::Peers;
use super::sizes::Sizes;
use crate::config::{ConfigError, Reader};
use crate::specs::TcpSpec;
use crate::topology::{Graph, HostNames};
use shortflow_cc::TransportConfig;
use shortflow_units::{Bytes, ClassId, HostId, Instant, NodeId, Rate, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Flows that share a link at least, where the fair share of one is asked for.
const SHARERS: u32 = 16;
/// A load of 1, and the rounding of a sum.
const FULL: f64 = 1.0 + 1e-9;

/// The scenario so far.
pub(crate) struct Context<'a> {
    pub graph: &'a Graph,
    /// The names of its hosts.
    pub names: HostNames<'a>,
    pub duration: Span,
    pub warmup: Span,
    /// Sizes of packets.
    pub tcp: TcpSpec,
    /// Bytes per second that the receive window of a connection allows over the longest base round trip.
    pub window_rate: f64,
    access_links: Vec<(NodeId, Rate)>,
    /// Names of classes, in the order in which they first occur.
    pub classes: Vec<String>,
    /// Classes of the present entry.
    pub(super) mentioned: BTreeSet<ClassId>,
    /// Names of classes that the other entries have; `None` if rows of a trace may name any.
    pub(super) elsewhere: Option<BTreeSet<String>>,
    /// Transports of classes that do not run the scheme's, with the text that names them.
    pub transports: BTreeMap<ClassId, (String, TransportConfig)>,
    /// Hosts between which flows run.
    pub peers: Peers,
    /// One line per traffic entry.
    pub notes: Vec<String>,
    /// Warnings about accepted settings.
    pub warnings: Vec<String>,
    /// Listed flows that are not simulated or not counted, a line per file and reason.
    pub omitted: Vec<String>,
    /// Some flow has a deadline.
    pub deadlines: bool,
    /// About how many data packets all of it takes.
    pub packets: f64,
    /// Bytes ahead of the last one of the largest flow at a fair share of a link, without those of backlogged flows; infinite
    /// where nobody can tell.
    backlog: f64,
    /// Bytes of the largest flow.
    largest: f64,
    /// Some link is offered more than it carries.
    pub overloaded: bool,
    /// Bits per second, headers included, that all entries together offer each of [`Graph::directions`].
    offered: Vec<f64>,
    /// Number of backlogged flows.
    pub(super) backlogged: usize,
}

impl<'a> Context<'a> {
    /// Before the first entry.
    pub(crate) fn new(graph: &'a Graph, duration: Span, tcp: TcpSpec) -> Context<'a> {
        Context {
            graph,
            names: HostNames::of(graph),
            duration,
            warmup: Span::ZERO,
            tcp,
            window_rate: f64::INFINITY,
            access_links: graph.access_links(),
            classes: Vec::new(),
            mentioned: BTreeSet::new(),
            elsewhere: None,
            transports: BTreeMap::new(),
            peers: Peers::default(),
            notes: Vec::new(),
            warnings: Vec::new(),
            omitted: Vec::new(),
            deadlines: false,
            packets: 0.0,
            backlog: 0.0,
            largest: 0.0,
            overloaded: false,
            offered: vec![0.0; 2 * graph.links.len()],
            backlogged: 0,
        }
    }

    /// The class of this name, which is new at its first mention.
    pub(super) fn class(&mut self, name: &str) -> ClassId {
        let known = self.classes.iter().position(|class| class == name);
        let class = ClassId::from(known.unwrap_or_else(|| {
            self.classes.push(name.to_owned());
            self.classes.len() - 1
        }));
        self.mentioned.insert(class);
        class
    }

    /// Rate of the link to `host`.
    pub(super) fn access_rate(&self, host: HostId) -> Rate {
        self.access_links[host.index()].1
    }

    /// The port that sends to `host`, for example `s0->h22 (1Gbps)`.
    pub(super) fn access_port(&self, host: HostId) -> String {
        let (switch, rate) = self.access_links[host.index()];
        format!("{}->{} ({rate})", self.graph.name(switch), self.graph.name(NodeId(host.0)))
    }

    /// The link to `host`, by its place in [`Graph::directions`], and the bits per second of this load of it.
    pub(super) fn to_host(&self, host: HostId, load: f64) -> (usize, f64) {
        let last_hop = self.graph.directions().take_while(|(_, to, _)| *to != NodeId(host.0)).count();
        (last_hop, load * self.access_rate(host).as_bps() as f64)
    }

    /// The host with the highest number.
    pub(super) fn last_host(&self) -> HostId {
        HostId::from(self.graph.hosts() - 1)
    }

    /// The value of `key` as an instant, which must lie before the end of arrivals.
    pub(super) fn start(&self, reader: &Reader, key: &str, start: Span) -> Result<Instant, ConfigError> {
        if start < self.duration {
            return Ok(Instant::ZERO + start);
        }
        Err(reader.impossible(
            key,
            format!("{start} is not before the end of arrivals, duration = {}", self.duration),
        ))
    }

    /// Counts `flows` flows of `mean` bytes, which may follow one another for any time.
    pub(super) fn expect(&mut self, flows: f64, mean: f64) {
        self.packets += flows * (mean / self.tcp.mss.as_f64()).max(1.0);
        self.backlog = f64::INFINITY;
    }

    /// Counts `flows` flows of these sizes; `together` start at once. Any number may wait for one another unless they are
    /// `apart`, each on a connection of its own, and all entries together offer no link more than it carries. `load` is that
    /// of the entry, `offered` its bits per second over links, by their places in [`Graph::directions`].
    pub(super) fn expect_sizes(
        &mut self,
        flows: f64,
        sizes: &dyn Sizes,
        together: u32,
        (load, offered): (f64, impl IntoIterator<Item = (usize, f64)>),
        apart: bool,
    ) {
        let backlog = self.backlog + sizes.largest() * f64::from(together.max(SHARERS));
        self.expect(flows, sizes.mean());
        self.largest = self.largest.max(sizes.largest());
        let directions: Vec<_> = self.graph.directions().collect();
        let (mut most, mut fullest) = (load, None);
        for (place, bps) in offered.into_iter().filter(|(_, bps)| *bps > 0.0) {
            self.offered[place] += bps;
            let (from, to, rate) = directions[place];
            let of_link = self.offered[place] / rate.as_bps() as f64;
            if of_link > most.max(FULL) {
                (most, fullest) = (of_link, Some((from, to, rate)));
            }
        }
        if let Some((from, to, rate)) = fullest.filter(|_| load <= FULL) {
            self.warnings.push(format!(
                "traffic: {}->{} ({rate}) is offered {} of its rate, headers included: queues grow until arrivals stop",
                self.graph.name(from),
                self.graph.name(to),
                four_digits(most)
            ));
        }
        self.overloaded |= most > FULL;
        if apart && most <= FULL {
            self.backlog = backlog;
        }
    }

    /// Warns of a `stagger` that moves no flow, since host 0 alone sends.
    pub(crate) fn check_stagger<'h>(
        &mut self,
        reader: &Reader,
        stagger: Span,
        mut senders: impl Iterator<Item = &'h HostId>,
    ) {
        if !stagger.is_zero() && senders.all(|host| host.0 == 0) {
            let key = reader.path("stagger");
            self.warnings.push(format!("{key}: host 0 alone sends, and 0 times {stagger} moves no flow"));
        }
    }

    /// Data packets that the links to all destinations carry in this time: a bound for flows of any size.
    pub(crate) fn carried(&self, time: Span) -> f64 {
        let bps: f64 = self.peers.receivers().iter().map(|to| self.access_rate(*to).as_bps() as f64).sum();
        bps * time.as_secs_f64() / (8.0 * self.tcp.mss.as_f64())
    }

    /// Bytes ahead of the last one of the largest flow where all share a link fairly.
    pub(crate) fn backlog(&self) -> f64 {
        self.backlog + self.largest * self.backlogged as f64
    }

    /// Adds a note on the entry of `reader`.
    pub(super) fn note(&mut self, reader: &Reader, text: &str) {
        self.notes.push(format!("{}: {text}", reader.place()));
    }
}

/// A number to four digits, without the zeros at its end.
pub(super) fn four_digits(number: f64) -> String {
    let whole_digits = if number >= 1.0 { libm::log10(number) as usize + 1 } else { 0 };
    let text = format!("{number:.*}", 4usize.saturating_sub(whole_digits));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A mean size as text.
pub(super) fn size_text(mean: f64) -> String {
    Bytes::new(mean.round() as u64).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in
            [(500.0, "500"), (0.2, "0.2"), (1234.5678, "1235"), (12.3456, "12.35"), (1e7, "10000000")]
        {
            assert_eq!(four_digits(number), text);
        }
        assert_eq!(size_text(42_371.4), "42.371KB");
    }
}
