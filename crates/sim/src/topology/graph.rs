//! [`Graph`]: hosts, switches and links of a network.

use shortflow_units::{HostId, NodeId, PortId, Rate, Span};
use std::collections::{BTreeMap, BTreeSet};

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
    /// `h0`, `h1`, … for hosts. A switch has the name of its tier and a number, such as `leaf0`, or `s0`,
    /// `s1`, … without a tier.
    pub name: String,
    /// True for a host.
    pub is_host: bool,
    /// For a switch with a tier: index in [`Graph::tiers`].
    tier: Option<u32>,
    /// For a switch: height above the hosts. This is the tier counted from 1 or, in a network from a file,
    /// the number of links to the nearest host.
    height: Option<u32>,
    /// For a host: its rack. For a switch with hosts: the rack of these hosts.
    rack: Option<u32>,
}

impl Node {
    /// A node without links.
    fn new(name: String, is_host: bool, tier: Option<u32>) -> Node {
        Node { name, is_host, tier, height: tier.map(|tier| tier + 1), rack: None }
    }
}

/// Nodes and links. Hosts come first, so host i is node i. A host has one link, which leads to a switch. The
/// hosts of one switch form a rack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// Hosts, followed by switches.
    pub nodes: Vec<Node>,
    /// Links in the order in which they were added.
    pub links: Vec<Link>,
    /// Names of the tiers of switches, from the hosts upwards; may be empty.
    pub tiers: Vec<String>,
    hosts: usize,
    racks: u32,
}

impl Graph {
    /// A network of `hosts` hosts and `switches` switches, without tiers and links.
    pub fn new(hosts: usize, switches: usize) -> Graph {
        let node = |letter, is_host| move |i| Node::new(format!("{letter}{i}"), is_host, None);
        let nodes = (0..hosts).map(node('h', true)).chain((0..switches).map(node('s', false))).collect();
        Graph { nodes, hosts, ..Graph::default() }
    }

    /// A network of hosts with these names, without switches.
    pub(super) fn of_hosts(names: Vec<String>) -> Graph {
        let hosts = names.len();
        let nodes = names.into_iter().map(|name| Node::new(name, true, None)).collect();
        Graph { nodes, hosts, ..Graph::default() }
    }

    /// Adds a switch. A new tier lies above all existing tiers.
    pub(super) fn add_switch(&mut self, name: String, tier: Option<&str>) -> NodeId {
        let tier = tier.map(|tier| {
            self.tiers.iter().position(|known| known == tier).unwrap_or_else(|| {
                self.tiers.push(tier.to_owned());
                self.tiers.len() - 1
            }) as u32
        });
        self.nodes.push(Node::new(name, false, tier));
        NodeId::from(self.nodes.len() - 1)
    }

    /// Adds a switch at a given height. The tier is only a name: the network's links determine the height.
    pub(super) fn add_switch_at(&mut self, name: String, tier: Option<&str>, height: Option<u32>) {
        let node = self.add_switch(name, tier);
        self.nodes[node.index()].height = height;
    }

    /// Adds `count` switches of a tier, named after the tier.
    pub(super) fn add_tier(&mut self, tier: &str, count: usize) -> Vec<NodeId> {
        (0..count).map(|i| self.add_switch(format!("{tier}{i}"), Some(tier))).collect()
    }

    /// Adds a link. A switch that gets its first host forms the next rack.
    pub fn connect(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Span) {
        self.links.push(Link { a, b, rate, delay });
        for (host, switch) in [(a, b), (b, a)] {
            if self.is_host(host) && !self.is_host(switch) {
                let rack = *self.nodes[switch.index()].rack.get_or_insert_with(|| {
                    self.racks += 1;
                    self.racks - 1
                });
                self.nodes[host.index()].rack = Some(rack);
            }
        }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// True if `node` is a host.
    pub fn is_host(&self, node: NodeId) -> bool {
        node.index() < self.hosts
    }

    /// Number of racks, that is, of switches with hosts.
    pub fn racks(&self) -> usize {
        self.racks as usize
    }

    /// The rack of a host. Racks count from 0 in the order of their first hosts.
    pub fn rack(&self, host: HostId) -> u32 {
        self.nodes[host.index()].rack.unwrap_or(0)
    }

    /// Index in `tiers` of a switch's tier.
    pub fn tier(&self, node: NodeId) -> Option<usize> {
        self.nodes[node.index()].tier.map(|tier| tier as usize)
    }

    /// Sending and receiving node of a port. Link i has the ports 2i and 2i + 1.
    pub fn ends(&self, port: PortId) -> (NodeId, NodeId) {
        let link = &self.links[port.index() / 2];
        if port.index().is_multiple_of(2) { (link.a, link.b) } else { (link.b, link.a) }
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// The node with this name.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|node| node.name == name).map(NodeId::from)
    }

    /// True if both nodes are switches and `to` is farther from the hosts than `from`.
    pub fn leads_up(&self, from: NodeId, to: NodeId) -> bool {
        let height = |node: NodeId| self.nodes[node.index()].height;
        height(from).zip(height(to)).is_some_and(|(from, to)| to > from)
    }

    /// Checks that tier number `tier` has ports that lead up, and that their direction is unambiguous.
    pub(crate) fn upwards(&self, tier: usize) -> Result<(), String> {
        let of_tier = |node: &&Node| node.tier.is_some_and(|of| of as usize == tier);
        let heights: BTreeSet<u32> =
            self.nodes.iter().filter(of_tier).filter_map(|node| node.height).collect();
        if heights.len() > 1 {
            return Err(format!(
                "switches of tier {:?} are not equally far from the hosts, so it is not clear which ports lead up; {}",
                self.tiers[tier],
                self.heights()
            ));
        }
        let of_tier = |(from, _, _): &(NodeId, NodeId, Rate)| self.tier(*from) == Some(tier);
        let is_level = |(from, to, _): &(NodeId, NodeId, Rate)| {
            !self.is_host(*to) && !self.leads_up(*from, *to) && !self.leads_up(*to, *from)
        };
        let level = self.directions().filter(of_tier).find(is_level);
        if let Some((from, to, _)) = level.filter(|(from, ..)| self.nodes[from.index()].height.is_some()) {
            return Err(format!(
                "{} and {} are linked and equally far from the hosts, so neither port between them leads up; {}",
                self.name(from),
                self.name(to),
                self.heights()
            ));
        }
        match self.directions().filter(of_tier).any(|(from, to, _)| self.leads_up(from, to)) {
            true => Ok(()),
            false => Err(format!("no port of tier {:?} leads up; {}", self.tiers[tier], self.heights())),
        }
    }

    /// Text with the heights of tiers and their switches, lowest first.
    fn heights(&self) -> String {
        const SHOWN: usize = 3;
        let mut groups: BTreeMap<(u32, Option<u32>), Vec<&str>> = BTreeMap::new();
        for node in &self.nodes {
            let Some(height) = node.height else { continue };
            groups.entry((height, node.tier)).or_default().push(&node.name);
        }
        let group = |((height, tier), names): (&(u32, Option<u32>), &Vec<&str>)| {
            let tier = tier.map_or("no tier", |tier| &self.tiers[tier as usize]);
            let more = match names.len() {
                0..=SHOWN => String::new(),
                all => format!(" and {} more", all - SHOWN),
            };
            format!("{tier} {height} ({}{more})", names[..names.len().min(SHOWN)].join(", "))
        };
        format!("heights: {}", groups.iter().map(group).collect::<Vec<_>>().join(", "))
    }

    /// For each host, its switch and the rate of its link.
    pub fn access_links(&self) -> Vec<(NodeId, Rate)> {
        let hosts = self.hosts();
        let mut links: Vec<(NodeId, NodeId, Rate)> =
            self.directions().filter(|(host, ..)| host.index() < hosts).collect();
        links.sort_by_key(|(host, ..)| *host);
        links.into_iter().map(|(_, switch, rate)| (switch, rate)).collect()
    }

    /// Both directions of each link, one after the other, as sending node, receiving node and rate.
    pub fn directions(&self) -> impl Iterator<Item = (NodeId, NodeId, Rate)> + '_ {
        self.links.iter().flat_map(|link| [(link.a, link.b, link.rate), (link.b, link.a, link.rate)])
    }

    /// True if a link joins the two nodes.
    pub fn linked(&self, from: NodeId, to: NodeId) -> bool {
        self.links.iter().any(|link| (link.a, link.b) == (from, to) || (link.b, link.a) == (from, to))
    }
}
