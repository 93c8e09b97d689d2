//! Hosts, links and ports as scenarios and traces name them.

use super::Graph;
use crate::config::{ConfigError, Reader};
use shortflow_spec::{hint, nearest};
use shortflow_units::{HostId, NodeId};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Hosts by name and by position. A number in a trace file is a name, and a number in a scenario is a
/// position.
pub(crate) struct HostNames<'g> {
    graph: &'g Graph,
    by_name: BTreeMap<&'g str, NodeId>,
    /// One line for each key with a position that is also the number in another host's name.
    warnings: RefCell<Vec<String>>,
}

impl<'g> HostNames<'g> {
    /// The hosts of a network.
    pub(crate) fn of(graph: &'g Graph) -> HostNames<'g> {
        let names = graph.nodes.iter().zip(0usize..);
        let by_name = names.map(|(node, i)| (node.name.as_str(), NodeId::from(i))).collect();
        HostNames { graph, by_name, warnings: RefCell::default() }
    }

    /// Number of hosts.
    pub(crate) fn count(&self) -> usize {
        self.graph.hosts()
    }

    /// The name of a host.
    pub(crate) fn name(&self, host: HostId) -> &'g str {
        self.graph.name(NodeId(host.0))
    }

    /// A host as the value of a key: its position if hosts are named h0, h1, …, otherwise its name.
    pub(crate) fn shown(&self, host: HostId) -> String {
        let (name, position) = (self.name(host), host.0.to_string());
        if name.strip_prefix('h') == Some(&position) { position } else { name.to_owned() }
    }

    /// Warnings about ambiguous numbers in keys.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }

    /// The host that a field of a trace file names. A number n means the host named n or, if hosts are named
    /// h0, h1, …, the host hn.
    pub(crate) fn in_file(&self, text: &str) -> Result<HostId, String> {
        if let Some(host) = self.named(text)? {
            return Ok(host);
        }
        let number = text.parse::<u32>().ok();
        if let Some(host) = number.and_then(|number| self.named(&format!("h{number}")).ok().flatten()) {
            return Ok(host);
        }
        let rule = match number {
            Some(_) if self.name(HostId(0)) != "h0" => "; a number in a file is a name, not a position",
            _ => "",
        };
        Err(format!("{text:?} is not a host; {}{rule}", self.known(text)))
    }

    /// The host at the position that `key` gives. It is an error if the number is also the name of another
    /// node.
    pub(crate) fn at(&self, position: u32, reader: &Reader, key: &str) -> Result<HostId, ConfigError> {
        let namesake = self.by_name.get(position.to_string().as_str());
        let (host, last) = (HostId(position), self.count() - 1);
        let is_switch = namesake.is_some_and(|node| !self.graph.is_host(*node));
        match namesake {
            _ if position as usize > last => {
                let quoted = match namesake {
                    Some(_) if !is_switch => {
                        format!("; write \"{position}\", in quotes, for the host of this name")
                    }
                    _ => String::new(),
                };
                let reason =
                    format!("there is no host {position}; the topology has hosts 0 to {last}{quoted}");
                Err(reader.impossible(key, reason))
            }
            Some(node) if *node != NodeId(position) => {
                let name = self.name(host);
                let (other, remedy) = match is_switch {
                    true => (format!("\"{position}\" is a switch"), format!("the name in quotes, {name:?}")),
                    false => (
                        format!("the host called \"{position}\" is host {}", node.0),
                        format!("the name in quotes, {name:?} or \"{position}\", several as a list"),
                    ),
                };
                let reason = format!(
                    "{position} has two meanings: host {position}, counted from 0, is called {name:?}, and {other}; \
                     write {remedy}"
                );
                Err(reader.impossible(key, reason))
            }
            _ => {
                self.warn(host, reader, key);
                Ok(host)
            }
        }
    }

    /// Warns, once per key, that the number in a host's name differs from its position.
    fn warn(&self, host: HostId, reader: &Reader, key: &str) {
        let name = self.name(host);
        let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let other = format!("{stem}{}", host.0);
        let (path, mut warnings) = (reader.path(key), self.warnings.borrow_mut());
        let is_told = warnings.iter().any(|told| told.starts_with(&format!("{path}: ")));
        if stem != name && other != name && !is_told && self.named(&other).is_ok_and(|host| host.is_some()) {
            let number = host.0;
            warnings.push(format!(
                "{path}: {number} is host {number}, counted from 0, which is called {name:?}; write {other:?} for the \
                 host of that name"
            ));
        }
    }

    /// The hosts that a text in a scenario names: one host, or a range of names or positions.
    pub(crate) fn listed(&self, text: &str, reader: &Reader, key: &str) -> Result<Vec<HostId>, ConfigError> {
        let wrong = |reason: String| reader.impossible(key, reason);
        if let Some(host) = self.named(text).map_err(wrong)? {
            return Ok(vec![host]);
        }
        // A name may contain "-" too.
        let cuts = text.match_indices('-').map(|(at, _)| (text[..at].trim(), text[at + 1..].trim()));
        for (first, last) in cuts {
            let ends = match (first.parse::<u32>(), last.parse::<u32>()) {
                (Ok(first), Ok(last)) => {
                    // Check the ends first: the range may be much longer than any network.
                    (self.at(first, reader, key)?, self.at(last, reader, key)?)
                }
                _ => match (self.named(first).map_err(wrong)?, self.named(last).map_err(wrong)?) {
                    (Some(first), Some(last)) => (first, last),
                    _ => continue,
                },
            };
            if ends.0 > ends.1 {
                return Err(wrong(format!("the range {text:?} ends before it begins")));
            }
            let is_positions = first.parse::<u32>().is_ok();
            let hosts = (ends.0.0..=ends.1.0).map(HostId);
            return match is_positions {
                true => hosts.map(|host| self.at(host.0, reader, key)).collect(),
                false => Ok(hosts.collect()),
            };
        }
        let position = text.parse::<u32>().ok().filter(|number| (*number as usize) < self.count());
        let quotes = position.map_or(String::new(), |number| {
            format!("; without quotes, {number} is host {number}, {:?}", self.name(HostId(number)))
        });
        Err(wrong(format!("there is no host {text:?}; {}{quotes}", self.known(text))))
    }

    /// The host with this name, if any. The name of a switch is an error.
    fn named(&self, text: &str) -> Result<Option<HostId>, String> {
        match self.by_name.get(text) {
            Some(node) if self.graph.is_host(*node) => Ok(Some(HostId(node.0))),
            Some(_) => Err(format!("{text:?} is a switch, not a host; hosts are {}", self.ends())),
            None => Ok(None),
        }
    }

    /// A suggestion for a wrong name: the nearest name, or the first and the last name.
    fn known(&self, text: &str) -> String {
        let hosts: Vec<&str> =
            self.graph.nodes[..self.count()].iter().map(|node| node.name.as_str()).collect();
        match nearest(text, &hosts) {
            Some(name) if text.parse::<u32>().is_err() => format!("did you mean {name:?}?"),
            _ => format!("hosts are {}", self.ends()),
        }
    }

    /// First and last host name, or some names if their numbers are not consecutive.
    fn ends(&self) -> String {
        const SHOWN: usize = 4;
        let names: Vec<&str> = (0..self.count()).map(|host| self.name(HostId::from(host))).collect();
        let (first, last) = (names[0], names[names.len() - 1]);
        let stem = first.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let begin: u32 = first[stem.len()..].parse().unwrap_or(0);
        if names.iter().zip(begin..).all(|(name, number)| **name == format!("{stem}{number}")) {
            return format!("{first} to {last}");
        }
        match names.len() {
            0..=SHOWN => names.join(", "),
            all => format!("{}, … and {last}, {all} in all", names[..SHOWN - 1].join(", ")),
        }
    }
}

/// The link with the name `name`, which is the value of `key`. A link's name has its two ends in either
/// order.
pub(crate) fn find_link(name: &str, key: &str, graph: &Graph, reader: &Reader) -> Result<usize, ConfigError> {
    let links = graph.links.iter().map(|link| (graph.name(link.a), graph.name(link.b)));
    let names: Vec<String> = links.flat_map(|(a, b)| [format!("{a}-{b}"), format!("{b}-{a}")]).collect();
    names.iter().position(|known| known == name).map(|i| i / 2).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let hint = match nearest(name, &known) {
            Some(link) => format!("did you mean {link:?}?"),
            None => format!("links are called like {:?}", known.first().unwrap_or(&"s0-h0")),
        };
        reader.impossible(key, format!("there is no link {name:?}; {hint}"))
    })
}

/// The port with the name `name`, which is the value of `key`, as (sending node, receiving node).
pub(crate) fn find_port(
    name: &str,
    key: &str,
    graph: &Graph,
    reader: &Reader,
) -> Result<(NodeId, NodeId), ConfigError> {
    let ends = name.split_once("->").map(|(from, to)| (from.trim(), to.trim()));
    let (from, to) =
        ends.ok_or_else(|| reader.impossible(key, format!("{name:?} is not a port such as \"s0->h22\"")))?;
    let node = |name: &str| {
        graph.node_named(name).ok_or_else(|| {
            let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
            let hint = match names.len() {
                0..=30 => hint(name, &names),
                _ => format!("names go from {} to {}", names[0], names[names.len() - 1]),
            };
            reader.impossible(key, format!("there is no node {name:?}; {hint}"))
        })
    };
    let port = (node(from)?, node(to)?);
    if graph.linked(port.0, port.1) {
        return Ok(port);
    }
    Err(reader.impossible(key, format!("no link leads from {from} to {to}")))
}
