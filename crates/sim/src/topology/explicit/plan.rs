//! [`Plan`]: nodes and links as a file lists them, and the checks that they form a network.

use super::link_defaults::Read;
use crate::config::{ConfigError, ParamInfo, RowError, Text};
use crate::specs::SwitchSpec;
use crate::topology::{Graph, HOSTS};
use shortflow_spec::hint;
use shortflow_units::{NodeId, Rate, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A node and the line that lists it.
#[derive(Debug)]
pub(super) struct NodeRow {
    pub line: u64,
    pub name: String,
    pub is_host: bool,
    /// True if the kind (host or switch) is inferred from the name.
    pub guessed: bool,
    pub tier: Option<String>,
}

/// A link and the line that lists it.
#[derive(Debug)]
pub(super) struct LinkRow {
    pub line: u64,
    pub ends: [String; 2],
    pub rate: Read<Rate>,
    pub delay: Read<Span>,
}

/// The source of nodes and their kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinds {
    /// Links name the nodes, so a misspelt name creates a new node.
    Links,
    /// A file lists each node with its kind.
    NodeFile,
    /// GraphML, in which a node may have a kind.
    Attributes,
}

impl Kinds {
    /// The rule that makes nodes hosts, to end an error about hosts.
    fn rule(self) -> &'static str {
        match self {
            Kinds::Links => {
                "; without topology.node_file, hosts are the nodes whose name begins with h: list the nodes in a \
                 node_file to name hosts otherwise"
            }
            Kinds::NodeFile => "",
            Kinds::Attributes => {
                "; hosts are the nodes whose attribute kind is host, or that have no kind and an id that begins with h"
            }
        }
    }
}

/// All nodes and links.
#[derive(Debug)]
pub(super) struct Plan {
    /// The file that lists the links.
    pub file: String,
    /// The file that lists the nodes.
    pub node_file: String,
    /// The source of nodes and their kinds.
    pub kinds: Kinds,
    pub nodes: Vec<NodeRow>,
    pub links: Vec<LinkRow>,
    /// Attributes of nodes and of links that are not read.
    pub unread: [BTreeSet<String>; 2],
}

/// True if a node without a kind is a host by its name, which begins with h.
pub(super) fn looks_like_a_host(name: &str) -> bool {
    name.starts_with('h')
}

/// True if `kind` is host, `None` if it is empty.
pub(super) fn is_host(kind: &str) -> Result<Option<bool>, String> {
    match kind {
        "host" => Ok(Some(true)),
        "switch" => Ok(Some(false)),
        "" => Ok(None),
        other => Err(format!("kind: {other:?} is not one of host, switch")),
    }
}

impl Plan {
    /// The network. Hosts are sorted by name, with numbers in numerical order; switches are sorted by height
    /// and name. The order of rows has no effect.
    pub(super) fn graph(&mut self) -> Result<Graph, ConfigError> {
        some(self.node_errors())?;
        let height = self.heights();
        self.nodes.sort_by_cached_key(|node| {
            let above = if node.is_host { 0 } else { height.get(&node.name).copied().unwrap_or(u32::MAX) };
            (above, by_number(&node.name))
        });
        let hosts = self.nodes.iter().take_while(|node| node.is_host);
        let mut graph = Graph::of_hosts(hosts.map(|node| node.name.clone()).collect());
        for node in &self.nodes[graph.hosts()..] {
            graph.add_switch_at(node.name.clone(), node.tier.as_deref(), height.get(&node.name).copied());
        }
        self.connect(&mut graph)?;
        some(self.unreachable(&graph))?;
        Ok(graph)
    }

    /// Number of links from each node to the nearest host, for nodes with a path to a host.
    fn heights(&self) -> BTreeMap<String, u32> {
        let mut neighbours: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for LinkRow { ends: [a, b], .. } in &self.links {
            neighbours.entry(a).or_default().push(b);
            neighbours.entry(b).or_default().push(a);
        }
        let hosts = self.nodes.iter().filter(|node| node.is_host);
        let mut frontier: Vec<&str> = hosts.map(|node| node.name.as_str()).collect();
        let mut found: BTreeMap<String, u32> = frontier.iter().map(|host| ((*host).to_owned(), 0)).collect();
        for height in 1.. {
            let mut next = Vec::new();
            for near in frontier.iter().filter_map(|node| neighbours.get(node)).flatten().copied() {
                if !found.contains_key(near) {
                    found.insert(near.to_owned(), height);
                    next.push(near);
                }
            }
            if next.is_empty() {
                break;
            }
            frontier = next;
        }
        found
    }

    fn node_errors(&self) -> Vec<RowError> {
        let wrong = |node: &NodeRow, reason| self.node_error(node, reason);
        let mut errors = Vec::new();
        let mut lines: BTreeMap<&str, u64> = BTreeMap::new();
        for node in &self.nodes {
            if node.name.is_empty() || node.name.contains("->") {
                errors.push(wrong(
                    node,
                    format!("{:?} is not a name: it is empty or contains \"->\"", node.name),
                ));
            }
            if let Some(first) = lines.insert(&node.name, node.line) {
                errors.push(wrong(
                    node,
                    format!("node {:?} is listed twice, first in line {first}", node.name),
                ));
            }
            if let Some(reason) = node.tier.as_deref().and_then(|tier| tier_error(tier, node.is_host)) {
                errors.push(wrong(node, reason));
            }
        }
        let hosts = self.nodes.iter().filter(|node| node.is_host).count();
        if errors.is_empty() && !u32::try_from(hosts).is_ok_and(|hosts| HOSTS.contains(&hosts)) {
            let (least, most) = (HOSTS.start(), HOSTS.end());
            let reason = format!("{hosts} hosts; expected {least} to {most}{}", self.kinds.rule());
            errors.push(RowError { file: self.node_file.clone(), line: 0, reason });
        }
        errors
    }

    fn connect(&self, graph: &mut Graph) -> Result<(), ConfigError> {
        let ids: BTreeMap<&str, NodeId> =
            self.nodes.iter().enumerate().map(|(i, node)| (node.name.as_str(), NodeId::from(i))).collect();
        let mut errors = Vec::new();
        let mut lines = BTreeMap::new();
        let mut access = BTreeMap::new();
        for link in &self.links {
            let ends = link.ends.each_ref().map(|name| ids.get(name.as_str()).copied());
            let checked = self.known(link, ends).and_then(|ends| {
                check_ends(link, ends, graph, self.kinds)?;
                // The order of the two ends does not matter for a repeated link.
                let both = ends.iter().min().zip(ends.iter().max()).map(|(a, b)| (*a, *b));
                if let Some(first) = both.and_then(|both| lines.insert(both, link.line)) {
                    return Err(format!(
                        "a second link {}, after line {first}; for parallel links write one with their total rate",
                        link.name()
                    ));
                }
                let host = ends.into_iter().find(|end| graph.is_host(*end));
                if let Some((host, first)) = host.and_then(|host| Some((host, access.insert(host, link.line)?))) {
                    return Err(format!(
                        "a second link of host {:?}, after line {first}; a host has one link{}",
                        graph.name(host),
                        self.kinds.rule()
                    ));
                }
                Ok(ends)
            });
            match checked {
                Ok([a, b]) => graph.connect(a, b, link.rate.value, link.delay.value),
                Err(reason) => errors.push(RowError { file: self.file.clone(), line: link.line, reason }),
            }
        }
        some(errors)
    }

    /// The nodes at the ends of `link`, or an error for an unknown name.
    fn known(&self, link: &LinkRow, ends: [Option<NodeId>; 2]) -> Result<[NodeId; 2], String> {
        match ends {
            [Some(a), Some(b)] => Ok([a, b]),
            [a, _] => {
                let name = &link.ends[usize::from(a.is_some())];
                let names: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
                let hint = if names.len() > 30 { String::new() } else { format!("; {}", hint(name, &names)) };
                Err(format!("unknown node {name:?}{hint}"))
            }
        }
    }

    /// Errors for hosts that the first host cannot reach, and for switches with one link that come from a
    /// misspelt name.
    fn unreachable(&self, graph: &Graph) -> Vec<RowError> {
        let neighbours = neighbours(graph);
        let mut reached = vec![false; graph.nodes.len()];
        let mut frontier = vec![0];
        while let Some(node) = frontier.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                frontier.extend(&neighbours[node]);
            }
        }
        let first = &self.nodes[0].name;
        let error = |(i, node): (usize, &NodeRow)| {
            let reason = match (neighbours[i].len(), node.is_host) {
                (0, true) => format!("host {:?} has no link", node.name),
                (_, true) if !reached[i] => format!("there is no path from {first} to {}", node.name),
                (1, false) if node.guessed => {
                    let rule = self.kinds.rule();
                    format!("switch {:?} has no other link: a dead end, or a misspelt name{rule}", node.name)
                }
                _ => return None,
            };
            Some(self.node_error(node, reason))
        };
        let mut errors: Vec<RowError> = self.nodes.iter().enumerate().filter_map(error).collect();
        errors.sort_by_key(|error| error.line);
        errors
    }

    fn node_error(&self, node: &NodeRow, reason: String) -> RowError {
        RowError { file: self.node_file.clone(), line: node.line, reason }
    }
}

impl LinkRow {
    fn name(&self) -> String {
        format!("{}-{}", self.ends[0], self.ends[1])
    }
}

fn some(errors: Vec<RowError>) -> Result<(), ConfigError> {
    if errors.is_empty() { Ok(()) } else { Err(ConfigError::File(errors)) }
}

fn check_ends(link: &LinkRow, [a, b]: [NodeId; 2], graph: &Graph, kinds: Kinds) -> Result<(), String> {
    if a == b {
        return Err(format!("{:?} is linked to itself", link.ends[0]));
    }
    if graph.is_host(a) && graph.is_host(b) {
        return Err(format!("{} joins two hosts; a host is linked to a switch{}", link.name(), kinds.rule()));
    }
    Ok(())
}

fn neighbours(graph: &Graph) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for link in &graph.links {
        neighbours[link.a.index()].push(link.b.index());
        neighbours[link.b.index()].push(link.a.index());
    }
    neighbours
}

/// Sort key that puts h2 before h10.
fn by_number(name: &str) -> (String, u64, String) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem.to_owned(), name[stem.len()..].parse().unwrap_or(0), name.to_owned())
}

fn tier_error(tier: &str, is_host: bool) -> Option<String> {
    let taken = |key: &ParamInfo| key.name == tier;
    if is_host {
        Some("tier: hosts have no tier".to_owned())
    } else if !Text::Name.fits(tier) {
        Some(format!(
            "tier: {tier:?} is not a name of lower-case letters, digits, \"-\" and \"_\", such as \"leaf\""
        ))
    } else if tier == "up" || SwitchSpec::parameters().iter().any(taken) {
        Some(format!("tier: {tier:?} is a key of [switch]"))
    } else {
        None
    }
}
