//! Warnings about values in a file that are probably not read as intended: attributes with unknown names
//! whose place a default takes, and numbers without a unit.

use super::link_defaults::{From, Read};
use super::plan::{LinkRow, Plan};
use crate::config::{ConfigError, RowError};
use shortflow_units::Span;
use std::collections::BTreeSet;
use std::fmt::Display;

/// Meaning of an attribute.
#[derive(Clone, Copy)]
pub(super) struct Meaning {
    /// Name of the attribute that is read.
    name: &'static str,
    /// Words whose presence in a name suggests this meaning.
    words: &'static [&'static str],
    /// Form of the attribute's values.
    form: &'static str,
}

pub(super) const RATE: Meaning = Meaning {
    name: "rate",
    words: &["rate", "speed", "bandwidth", "capacity", "throughput", "bps", "bw"],
    form: "in bits per second or with a unit, such as 10Gbps",
};
pub(super) const DELAY: Meaning = Meaning {
    name: "delay",
    words: &["delay", "latency", "propagation"],
    form: "in seconds or with a unit, such as 5us",
};
const KIND: Meaning =
    Meaning { name: "kind", words: &["kind", "type", "role", "device"], form: "host or switch" };
const TIER: Meaning =
    Meaning { name: "tier", words: &["tier", "layer", "level"], form: "in lower-case letters, such as leaf" };

/// Plain rates below this number of bits per second probably lack a unit.
const SLOW: u64 = 10_000_000;
/// Plain delays of at least this length probably lack a unit.
const LONG: Span = Span::from_millis(10);

impl Meaning {
    /// True if the name of an attribute suggests this meaning.
    pub(super) fn resembles(self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.words.iter().any(|word| name.contains(word))
    }

    /// Advice to use the right name and form instead of `found`.
    pub(super) fn advice(self, found: &str) -> String {
        let Meaning { name, form, .. } = self;
        format!("{found} looks like a {name} and is not read; write attr.name=\"{name}\" and values {form}")
    }

    /// Lists unread attributes that seem to have this meaning or, if there are none, unread attributes of
    /// unknown meaning.
    fn candidates(self, unread: &BTreeSet<String>) -> Option<String> {
        let alike = unread.iter().filter(|name| self.resembles(name));
        let alike: Vec<String> = alike.map(|name| self.advice(name)).collect();
        if !alike.is_empty() {
            return Some(alike.join("; "));
        }
        let is_unknown = |name: &&String| ![RATE, DELAY, KIND, TIER].iter().any(|of| of.resembles(name));
        let unknown: Vec<&str> = unread.iter().filter(is_unknown).map(String::as_str).collect();
        (!unknown.is_empty()).then(|| format!("attributes that are not read: {}", unknown.join(", ")))
    }
}

/// All warnings about a plan, one line each.
pub(super) fn warnings(plan: &Plan) -> Vec<String> {
    let Plan { file, nodes, links, unread: [of_nodes, of_links], .. } = plan;
    let kinds = guessed_kinds(plan).map(|found| format!("topology.file: {found}"));
    let no_tiers = nodes.iter().all(|node| node.tier.is_none());
    let tiers = of_nodes.iter().find(|name| no_tiers && TIER.resembles(name));
    let tiers =
        tiers.map(|name| format!("topology.file: no node of {file} has a tier; {}", TIER.advice(name)));
    let plain = |from| from == From::Number;
    let slow = links.iter().filter(|link| plain(link.rate.from) && link.rate.value.as_bps() < SLOW);
    let slow = slow.min_by_key(|link| link.rate.value);
    let long = links.iter().filter(|link| plain(link.delay.from) && link.delay.value >= LONG);
    let long = long.max_by_key(|link| link.delay.value);
    [
        filled_in(links, |link| link.rate, RATE, file, of_links),
        filled_in(links, |link| link.delay, DELAY, file, of_links),
        kinds,
        tiers,
        slow.map(|link| no_unit((file, link.line), "rate", link.rate.value, "10Gbps")),
        long.map(|link| no_unit((file, link.line), "delay", link.delay.value, "5us")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Number of nodes without a kind, with attributes that may be meant as the kind.
fn guessed_kinds(plan: &Plan) -> Option<String> {
    let guessed = plan.nodes.iter().filter(|node| node.guessed).count();
    let found = KIND.candidates(&plan.unread[0]).filter(|_| guessed > 0)?;
    Some(format!(
        "{guessed} of {} nodes of {} have no kind and are hosts if their id begins with h, else switches; {found}",
        plan.nodes.len(),
        plan.file
    ))
}

/// Extends an error about the network by attributes that may be meant as the kind of nodes.
pub(super) fn explained(error: ConfigError, plan: &Plan) -> ConfigError {
    match (error, guessed_kinds(plan)) {
        (ConfigError::File(mut rows), Some(reason)) => {
            rows.push(RowError { file: plan.file.clone(), line: 0, reason });
            ConfigError::File(rows)
        }
        (error, _) => error,
    }
}

/// Warns if links take the scenario's value although they have unread attributes.
fn filled_in<T: Display>(
    links: &[LinkRow],
    value: impl Fn(&LinkRow) -> Read<T>,
    of: Meaning,
    file: &str,
    unread: &BTreeSet<String>,
) -> Option<String> {
    let values = links.iter().map(value).filter(|value| value.from == From::Scenario);
    let values: Vec<T> = values.map(|value| value.value).collect();
    let (value, found, name) = (values.first()?, of.candidates(unread)?, of.name);
    Some(format!(
        "topology.{name}: {value} holds for {} of {} links, which have no {name} in {file}; {found}",
        values.len(),
        links.len()
    ))
}

/// Warns that a value without a unit is implausible.
fn no_unit((file, line): (&str, u64), name: &str, value: impl Display, example: &str) -> String {
    format!(
        "topology.file: {file}:{line}: the {name} has no unit and is read as {value}; write a unit, such as {example}"
    )
}
