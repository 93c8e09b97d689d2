//! Topologies: which hosts and switches there are, and the links between them. A new one is a file
//! with `KIND` and a [`Topology`], and one line in `KINDS`.

mod dumbbell;
mod single_rooted_tree;
mod star;

use crate::config::{ConfigError, Entry, Kind, Reader};
use shortflow_units::{NodeId, Rate, Span};
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// The one list of topologies.
const KINDS: &[Kind<Read>] = &[star::KIND, single_rooted_tree::KIND, dumbbell::KIND];

/// Reads a topology from its table.
type Read = fn(&Reader) -> Result<Box<dyn Topology>, ConfigError>;

/// A flow needs two hosts.
const HOSTS: RangeInclusive<u32> = 2..=100_000;

/// Builds a network.
pub trait Topology: Debug {
    /// The nodes and links.
    fn build(&self) -> Graph;
}

/// Every topology, in the order of the documentation.
pub fn topologies() -> Vec<Entry> {
    KINDS.iter().map(Kind::entry).collect()
}

/// Reads the `[topology]` table.
pub(crate) fn read(reader: &Reader) -> Result<Box<dyn Topology>, ConfigError> {
    let kind = Kind::chosen(KINDS, reader)?;
    kind.check_keys(reader)?;
    (kind.read)(reader)
}

/// A full-duplex link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Rate in each direction.
    pub rate: Rate,
    /// One-way propagation delay.
    pub delay: Span,
}

/// A host or a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// `h0`, `h1`, … for hosts, `s0`, `s1`, … for switches.
    pub name: String,
    /// Whether it is a host.
    pub is_host: bool,
}

/// Nodes and links. Hosts come first, so the node of host i is node i.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// Hosts, then switches.
    pub nodes: Vec<Node>,
    /// Links in the order in which they were added.
    pub links: Vec<Link>,
}

impl Graph {
    /// A network of `hosts` hosts and `switches` switches without links.
    pub fn new(hosts: usize, switches: usize) -> Graph {
        let node = |letter, is_host| move |i| Node { name: format!("{letter}{i}"), is_host };
        let nodes = (0..hosts).map(node('h', true)).chain((0..switches).map(node('s', false))).collect();
        Graph { nodes, links: Vec::new() }
    }

    /// Adds a link.
    pub fn connect(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Span) {
        self.links.push(Link { a, b, rate, delay });
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.nodes.iter().take_while(|node| node.is_host).count()
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// The node of this name.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|node| node.name == name).map(NodeId::from)
    }

    /// For each host the switch that it hangs on and the rate of its link.
    pub fn access_links(&self) -> Vec<(NodeId, Rate)> {
        let hosts = self.hosts();
        let from_host = |link: &Link| [(link.a, link.b, link.rate), (link.b, link.a, link.rate)];
        let mut links: Vec<(NodeId, NodeId, Rate)> =
            self.links.iter().flat_map(from_host).filter(|(host, ..)| host.index() < hosts).collect();
        links.sort_by_key(|(host, ..)| *host);
        links.into_iter().map(|(_, switch, rate)| (switch, rate)).collect()
    }

    /// Whether a link joins the two nodes.
    pub fn linked(&self, from: NodeId, to: NodeId) -> bool {
        self.links.iter().any(|link| (link.a, link.b) == (from, to) || (link.b, link.a) == (from, to))
    }
}
