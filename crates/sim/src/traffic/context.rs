//! [`Context`]: inputs for reading traffic entries, and facts about the traffic that the scenario collects.

use super::peers::Peers;
use super::sizes::Sizes;
use crate::config::{ConfigError, Reader};
use crate::specs::TcpSpec;
use crate::topology::{Graph, HostNames};
use shortflow_cc::TransportConfig;
use shortflow_units::{Bytes, ClassId, HostId, Instant, NodeId, Rate, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Smallest number of flows assumed to share a link, for the fair share of one flow.
const SHARERS: u32 = 16;
/// A load of 1, with a tolerance for rounding in sums.
const FULL: f64 = 1.0 + 1e-9;

/// The scenario as read so far.
pub(crate) struct Context<'a> {
    pub graph: &'a Graph,
    /// Names of the network's hosts.
    pub names: HostNames<'a>,
    pub duration: Span,
    pub warmup: Span,
    /// TCP settings, for packet sizes.
    pub tcp: TcpSpec,
    /// Largest rate of a connection in bytes per second: the receive window over the longest base round trip.
    pub window_rate: f64,
    access_links: Vec<(NodeId, Rate)>,
    /// Class names in order of first mention.
    pub classes: Vec<String>,
    /// Classes of the entry being read.
    pub(super) mentioned: BTreeSet<ClassId>,
    /// Class names of all other entries; `None` if rows of a trace may name any class.
    pub(super) elsewhere: Option<BTreeSet<String>>,
    /// Classes with a transport other than the scheme's, with the scenario's text for the transport.
    pub transports: BTreeMap<ClassId, (String, TransportConfig)>,
    /// Hosts between which flows run.
    pub peers: Peers,
    /// One line per traffic entry.
    pub notes: Vec<String>,
    /// Warnings about accepted settings.
    pub warnings: Vec<String>,
    /// Lines on listed flows that are not simulated or not counted, one per file and reason.
    pub omitted: Vec<String>,
    /// True if some flow has a deadline.
    pub deadlines: bool,
    /// Estimated number of data packets of all traffic.
    pub packets: f64,
    /// Bytes that precede the last byte of the largest flow if flows share a link fairly, not counting
    /// backlogged flows. Infinite if there is no bound.
    backlog: f64,
    /// Size of the largest flow in bytes.
    largest: f64,
    /// True if some link is offered more than its rate.
    pub overloaded: bool,
    /// Offered rate of all entries together on each of [`Graph::directions`], in bits per second including
    /// headers.
    offered: Vec<f64>,
    /// Number of backlogged flows.
    pub(super) backlogged: usize,
}

impl<'a> Context<'a> {
    /// A context without traffic entries.
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

    /// The class with this name, created on first mention.
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

    /// Name and rate of the port that sends to `host`, for example `s0->h22 (1Gbps)`.
    pub(super) fn access_port(&self, host: HostId) -> String {
        let (switch, rate) = self.access_links[host.index()];
        format!("{}->{} ({rate})", self.graph.name(switch), self.graph.name(NodeId(host.0)))
    }

    /// Index in [`Graph::directions`] of the link to `host`, and the bits per second of load `load` on this
    /// link.
    pub(super) fn to_host(&self, host: HostId, load: f64) -> (usize, f64) {
        let last_hop = self.graph.directions().take_while(|(_, to, _)| *to != NodeId(host.0)).count();
        (last_hop, load * self.access_rate(host).as_bps() as f64)
    }

    /// The host with the highest number.
    pub(super) fn last_host(&self) -> HostId {
        HostId::from(self.graph.hosts() - 1)
    }

    /// The value of `key` as an instant. It must precede the end of arrivals.
    pub(super) fn start(&self, reader: &Reader, key: &str, start: Span) -> Result<Instant, ConfigError> {
        if start < self.duration {
            return Ok(Instant::ZERO + start);
        }
        Err(reader.impossible(
            key,
            format!("{start} is not before the end of arrivals, duration = {}", self.duration),
        ))
    }

    /// Counts `flows` flows of `mean` bytes. Their backlog has no bound, because one may wait for another for
    /// any time.
    pub(super) fn expect(&mut self, flows: f64, mean: f64) {
        self.packets += flows * (mean / self.tcp.mss.as_f64()).max(1.0);
        self.backlog = f64::INFINITY;
    }

    /// Counts `flows` flows with the given sizes, of which `together` start at once. `load` is the load of
    /// the entry. `offered` has the entry's bits per second on links, by index in [`Graph::directions`]. The
    /// backlog of a link has a bound only if each flow has its own connection (`apart`) and all entries
    /// together overload no link.
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

    /// Warns of a `stagger` without effect, because only host 0 sends.
    pub(crate) fn check_stagger<'h>(
        &mut self,
        reader: &Reader,
        stagger: Span,
        mut senders: impl Iterator<Item = &'h HostId>,
    ) {
        if !stagger.is_zero() && senders.all(|host| host.0 == 0) {
            let key = reader.path("stagger");
            self.warnings.push(format!(
                "{key}: has no effect, because only host 0 sends and its delay is 0 x {stagger}"
            ));
        }
    }

    /// Data packets that the links to all destinations can carry in `time`, as an upper bound for flows of
    /// unknown size.
    pub(crate) fn carried(&self, time: Span) -> f64 {
        let bps: f64 = self.peers.receivers().iter().map(|to| self.access_rate(*to).as_bps() as f64).sum();
        bps * time.as_secs_f64() / (8.0 * self.tcp.mss.as_f64())
    }

    /// Bytes that precede the last byte of the largest flow if all flows share a link fairly.
    pub(crate) fn backlog(&self) -> f64 {
        self.backlog + self.largest * self.backlogged as f64
    }

    /// Adds a note on the entry of `reader`.
    pub(super) fn note(&mut self, reader: &Reader, text: &str) {
        self.notes.push(format!("{}: {text}", reader.place()));
    }
}

/// A number with four digits, without trailing zeros.
pub(super) fn four_digits(number: f64) -> String {
    let whole_digits = if number >= 1.0 { libm::log10(number) as usize + 1 } else { 0 };
    let text = format!("{number:.*}", 4usize.saturating_sub(whole_digits));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A mean size in bytes as text.
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
