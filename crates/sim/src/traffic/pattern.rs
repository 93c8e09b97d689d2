//! [`Pattern`]: choice of sender and receiver for each flow.

use super::context::Context;
use super::hosts::{HostPair, HostSet, Hosts};
use crate::config::{ConfigError, ParamInfo, Reader, keys};
use crate::engine::{Seeds, Stream};
use crate::topology::HostNames;
use shortflow_spec::words;
use shortflow_units::HostId;
use std::collections::BTreeSet;
use std::ops::Range;

words! {
    /// Rule for the choice of receivers.
    pub enum Rule {
        ManyToOne = "many-to-one",
        AllToAll = "all-to-all",
        Permutation = "permutation",
        IntraRack = "intra-rack",
        InterRack = "inter-rack",
        RackLocality = "rack-locality",
        HotSpot = "hot-spot",
    }
}

keys! {
    /// A rule and its parameters.
    struct PatternKeys {
        /// receiver of a flow: many-to-one: one host; all-to-all: any host; permutation: one host for each sender;
        /// intra-rack: a host of the same rack; inter-rack: a host of another rack; rack-locality: both; hot-spot: more
        /// often a hot host
        pattern: Rule = "many-to-one", Rule::WORDS;
        /// for rack-locality: share of flows that stay in the rack
        local: Option<f64> = optional, 0.0..=1.0;
        /// for hot-spot: share of flows that go to hot hosts
        hot: Option<f64> = optional, 0.0..=1.0;
        /// for hot-spot: the hot hosts; the last host unless given
        hot_hosts: Option<HostSet> = optional, Hosts;
    }
}

/// Senders and receivers, and the rule that chooses among them.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    rule: Rule,
    /// Probability that a flow stays in the rack or goes to a hot host.
    share: f64,
    from: Vec<HostId>,
    /// Receivers, sorted by rack if the rule uses racks.
    to: Vec<HostId>,
    hot: Vec<HostId>,
    /// For each sender, the range of receivers in its rack.
    rack: Vec<Range<usize>>,
}

/// Random choice of sender and receiver in one run.
#[derive(Debug)]
pub(super) struct Pairs {
    pattern: Pattern,
    stream: Stream,
    /// For a permutation, the receiver of each sender.
    fixed: Vec<HostId>,
}

impl Pattern {
    /// The keys as users see them.
    pub(super) fn parameters() -> Vec<ParamInfo> {
        [PatternKeys::parameters(), HostPair::parameters()].concat()
    }

    /// Reads the pattern. Checks that each sender has a receiver.
    pub(super) fn read(reader: &Reader, context: &mut Context) -> Result<Pattern, ConfigError> {
        let keys = PatternKeys::read(reader)?;
        let ends = HostPair::read(reader)?;
        let (from, mut to) = match keys.pattern {
            Rule::ManyToOne => ends.many_to_one(reader, context).map(|(from, to)| (from, vec![to]))?,
            _ => ends.many_to_many(reader, context)?,
        };
        let rack = |host: HostId| context.graph.rack(host);
        if keys.pattern.uses_racks() {
            to.sort_by_key(|host| (rack(*host), *host));
        }
        let range = |host: &HostId| match keys.pattern.uses_racks() {
            true => {
                let below = |other: &HostId| rack(*other) < rack(*host);
                let upto = |other: &HostId| rack(*other) <= rack(*host);
                to.partition_point(below)..to.partition_point(upto)
            }
            false => 0..to.len(),
        };
        let rack = from.iter().map(range).collect();
        let (share, rule) = (keys.share(reader)?, keys.pattern);
        let hot = match rule {
            Rule::HotSpot => hot_hosts(keys.hot_hosts, reader, context)?,
            _ => Vec::new(),
        };
        let pattern = Pattern { rule, share, from, to, hot, rack };
        pattern.check(reader, &context.names)?;
        match pattern.rule {
            Rule::IntraRack => {
                let near = |(from, rack): (&HostId, &Range<usize>)| {
                    let from = *from;
                    pattern.to[rack.clone()].iter().map(move |to| (from, *to)).collect::<Vec<_>>()
                };
                context.peers.add_pairs(pattern.from.iter().zip(&pattern.rack).flat_map(near));
            }
            _ => context.peers.add(&pattern.from, &pattern.receivers()),
        }
        Ok(pattern)
    }

    fn check(&self, reader: &Reader, names: &HostNames) -> Result<(), ConfigError> {
        if self.rule == Rule::Permutation {
            for (key, hosts) in [("from", &self.from), ("to", &self.to)] {
                each_once(hosts).map_err(|host| {
                    let reason = format!(
                        "host {} is listed twice; a permutation has each host once",
                        names.name(host)
                    );
                    reader.impossible(key, reason)
                })?;
            }
        }
        if self.rule == Rule::Permutation && self.from.len() != self.to.len() {
            let reason = format!("{} senders and {} receivers", self.from.len(), self.to.len());
            return Err(reader
                .impossible("to", format!("{reason}; a permutation needs as many receivers as senders")));
        }
        if !self.rule.uses_racks() {
            return Ok(());
        }
        for (host, rack) in self.from.iter().zip(&self.rack) {
            let alone = self.to[rack.clone()].iter().all(|other| other == host);
            if self.share > 0.0 && alone {
                let reason = format!("host {} has no receiver in its rack", names.name(*host));
                return Err(reader.impossible("pattern", reason));
            }
            if self.share < 1.0 && rack.len() == self.to.len() {
                let reason = format!("host {} has no receiver outside its rack", names.name(*host));
                return Err(reader.impossible("pattern", reason));
            }
        }
        Ok(())
    }

    /// Hosts that receive flows, including hot hosts.
    pub(super) fn receivers(&self) -> Vec<HostId> {
        let mut all: Vec<HostId> = self.to.iter().chain(&self.hot).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The senders, which are equally likely.
    pub(super) fn senders(&self) -> &[HostId] {
        &self.from
    }

    /// Probabilities of the receivers of sender `sender`. For a permutation, the mean over all permutations,
    /// which are equally likely.
    pub(super) fn chances(&self, sender: usize) -> Vec<(HostId, f64)> {
        let source = self.from[sender];
        let evenly = |among: &[&[HostId]], share: f64| -> Vec<(HostId, f64)> {
            let others: Vec<HostId> =
                among.iter().flat_map(|hosts| hosts.iter().copied()).filter(|host| *host != source).collect();
            let each = share / others.len().max(1) as f64;
            others.into_iter().map(|host| (host, each)).collect()
        };
        let rack = &self.rack[sender];
        match self.rule {
            Rule::ManyToOne | Rule::AllToAll | Rule::Permutation => evenly(&[&self.to], 1.0),
            Rule::IntraRack | Rule::InterRack | Rule::RackLocality => {
                let near = evenly(&[&self.to[rack.clone()]], self.share);
                let far = evenly(&[&self.to[..rack.start], &self.to[rack.end..]], 1.0 - self.share);
                [near, far].concat()
            }
            Rule::HotSpot => {
                let hot = evenly(&[&self.hot], self.share);
                let rest = if hot.is_empty() { 1.0 } else { 1.0 - self.share };
                [hot, evenly(&[&self.to], rest)].concat()
            }
        }
    }

    /// Random choice for traffic entry `index`.
    pub(super) fn pairs(&self, seeds: Seeds, index: usize) -> Pairs {
        let fixed = match self.rule {
            Rule::Permutation => {
                permutation(&self.from, &self.to, &mut seeds.stream("traffic permutation", index))
            }
            _ => Vec::new(),
        };
        Pairs { pattern: self.clone(), stream: seeds.stream("traffic hosts", index), fixed }
    }
}

impl PatternKeys {
    /// Probability that a flow stays in the rack or goes to a hot host. A key that the pattern does not use
    /// is an error.
    fn share(&self, reader: &Reader) -> Result<f64, ConfigError> {
        let unused = match self.pattern {
            Rule::RackLocality => [("hot", self.hot.is_some()), ("hot_hosts", self.hot_hosts.is_some())],
            Rule::HotSpot => [("local", self.local.is_some()), ("", false)],
            _ => [("local", self.local.is_some()), ("hot", self.hot.is_some() || self.hot_hosts.is_some())],
        };
        if let Some((key, _)) = unused.iter().find(|(_, given)| *given) {
            return Err(reader.impossible(key, "the pattern does not use this key"));
        }
        let needed = |key: &str, share: Option<f64>| {
            let expected = "a share of the flows, from 0 to 1".to_owned();
            share.ok_or_else(|| ConfigError::Missing { key: reader.path(key), expected })
        };
        match self.pattern {
            Rule::RackLocality => needed("local", self.local),
            Rule::HotSpot => needed("hot", self.hot),
            Rule::IntraRack => Ok(1.0),
            _ => Ok(0.0),
        }
    }
}

impl Rule {
    fn uses_racks(self) -> bool {
        matches!(self, Rule::IntraRack | Rule::InterRack | Rule::RackLocality)
    }
}

fn hot_hosts(set: Option<HostSet>, reader: &Reader, context: &Context) -> Result<Vec<HostId>, ConfigError> {
    match set {
        Some(set) => set.resolve(&context.names, reader, "hot_hosts"),
        None => {
            reader.defaulted("hot_hosts", context.names.shown(context.last_host()));
            Ok(vec![context.last_host()])
        }
    }
}

impl Pairs {
    /// Draws the sender and the receiver of the next flow.
    pub(super) fn draw(&mut self) -> (HostId, HostId) {
        let Pairs { pattern, stream, fixed } = self;
        let sender = stream.below(pattern.from.len() as u64) as usize;
        let source = pattern.from[sender];
        let destination = match pattern.rule {
            Rule::ManyToOne | Rule::AllToAll => other_than(source, &pattern.to, stream),
            Rule::Permutation => fixed[sender],
            Rule::IntraRack | Rule::InterRack | Rule::RackLocality => {
                let rack = &pattern.rack[sender];
                match stream.unit() < pattern.share {
                    true => other_than(source, &pattern.to[rack.clone()], stream),
                    false => outside(rack, &pattern.to, stream),
                }
            }
            Rule::HotSpot => {
                let hot = pattern.hot.iter().any(|host| *host != source) && stream.unit() < pattern.share;
                other_than(source, if hot { &pattern.hot } else { &pattern.to }, stream)
            }
        };
        (source, destination)
    }
}

/// A random order of the receivers `to` in which no sender of `from` meets itself. Both lists have the same
/// length.
pub(super) fn permutation(from: &[HostId], to: &[HostId], stream: &mut Stream) -> Vec<HostId> {
    let mut to = to.to_vec();
    for i in (1..to.len()).rev() {
        to.swap(i, stream.below(i as u64 + 1) as usize);
    }
    for i in 0..to.len() {
        // The next receiver differs from both senders involved, so a swap creates no other fixed point.
        if to[i] == from[i] {
            to.swap(i, (i + 1) % from.len());
        }
    }
    to
}

/// Returns the first host that is listed twice as an error.
fn each_once(hosts: &[HostId]) -> Result<(), HostId> {
    let mut seen = BTreeSet::new();
    hosts.iter().find(|host| !seen.insert(**host)).map_or(Ok(()), |host| Err(*host))
}

/// A random host of `hosts` other than `source`.
fn other_than(source: HostId, hosts: &[HostId], stream: &mut Stream) -> HostId {
    loop {
        let host = hosts[stream.below(hosts.len() as u64) as usize];
        if host != source {
            return host;
        }
    }
}

/// A random host of `hosts` whose position is not in `rack`.
fn outside(rack: &Range<usize>, hosts: &[HostId], stream: &mut Stream) -> HostId {
    let place = stream.below((hosts.len() - rack.len()) as u64) as usize;
    hosts[if place < rack.start { place } else { place + rack.len() }]
}
