//! Shortest-path routes with equal-cost multipath by connection.

use crate::topology::Graph;
use shortflow_units::{HostId, NodeId, PortId};
use std::collections::{BTreeMap, VecDeque};

/// A network in which some packet could not be delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// Two hosts with no path between them.
    #[error("there is no path from {from} to {to}")]
    Unreachable {
        /// Name of the source.
        from: String,
        /// Name of the destination.
        to: String,
    },
}

/// Ports that lead nearer to a host.
#[derive(Debug, Clone, Copy)]
enum NextHops {
    None,
    One(PortId),
    /// `count` ports from `first` in the list of hops.
    Many {
        first: u32,
        count: u32,
    },
}

/// Next hops of every node towards every host. Equal sets of next hops are stored once per node.
#[derive(Debug, Clone)]
pub struct Routes {
    hosts: usize,
    sets: Vec<NextHops>,
    set_of: Vec<u32>,
    hops: Vec<PortId>,
    salts: Vec<u64>,
}

impl Routes {
    /// Routes over `graph`, whose link i is ports 2i (a to b) and 2i + 1 (b to a). `salts` has one
    /// random number a node, so that switches spread flows independently.
    pub fn new(graph: &Graph, salts: Vec<u64>) -> Result<Routes, RouteError> {
        let neighbours = neighbours(graph);
        let hosts = graph.hosts();
        let mut routes = Routes {
            hosts,
            sets: vec![NextHops::None],
            set_of: vec![0; graph.nodes.len() * hosts],
            hops: vec![],
            salts,
        };
        let mut known: Vec<BTreeMap<Vec<PortId>, u32>> = vec![BTreeMap::new(); graph.nodes.len()];
        for host in 0..hosts {
            let distance = distances(&neighbours, graph, host);
            for (node, known) in known.iter_mut().enumerate().filter(|(node, _)| *node != host) {
                let nearer = |next: &(usize, PortId)| {
                    distance[next.0].is_some_and(|far| Some(far + 1) == distance[node])
                };
                let ports: Vec<PortId> = neighbours[node].iter().filter(|n| nearer(n)).map(|n| n.1).collect();
                if ports.is_empty() && graph.nodes[node].is_host {
                    let name = |index: usize| graph.name(NodeId::from(index)).to_owned();
                    return Err(RouteError::Unreachable { from: name(node), to: name(host) });
                }
                let set = *known.entry(ports).or_insert_with_key(|ports| {
                    let first = routes.hops.len() as u32;
                    routes.sets.push(match ports[..] {
                        [] => NextHops::None,
                        [port] => NextHops::One(port),
                        _ => NextHops::Many { first, count: ports.len() as u32 },
                    });
                    routes.hops.extend(ports);
                    routes.sets.len() as u32 - 1
                });
                routes.set_of[node * hosts + host] = set;
            }
        }
        Ok(routes)
    }

    /// The port on which `node` sends packets of connection `ordinal` towards `to`; `None` at `to`
    /// itself.
    #[inline]
    pub fn next(&self, node: NodeId, to: HostId, ordinal: u32) -> Option<PortId> {
        match self.sets[self.set_of[node.index() * self.hosts + to.index()] as usize] {
            NextHops::None => None,
            NextHops::One(port) => Some(port),
            NextHops::Many { first, count } => {
                let spread = mix(self.salts[node.index()] ^ u64::from(ordinal) ^ (u64::from(to.0) << 32));
                let choice = ((spread >> 32) * u64::from(count)) >> 32;
                Some(self.hops[first as usize + choice as usize])
            }
        }
    }
}

fn neighbours(graph: &Graph) -> Vec<Vec<(usize, PortId)>> {
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for (i, link) in graph.links.iter().enumerate() {
        neighbours[link.a.index()].push((link.b.index(), PortId::from(2 * i)));
        neighbours[link.b.index()].push((link.a.index(), PortId::from(2 * i + 1)));
    }
    neighbours
}

/// Hops from every node to `host`; hosts do not forward.
fn distances(neighbours: &[Vec<(usize, PortId)>], graph: &Graph, host: usize) -> Vec<Option<u32>> {
    let mut distance = vec![None; neighbours.len()];
    distance[host] = Some(0);
    let mut frontier = VecDeque::from([(host, 0u32)]);
    while let Some((node, far)) = frontier.pop_front() {
        if node != host && graph.nodes[node].is_host {
            continue;
        }
        for &(next, _) in &neighbours[node] {
            if distance[next].is_none() {
                distance[next] = Some(far + 1);
                frontier.push_back((next, far + 1));
            }
        }
    }
    distance
}

/// The finaliser of SplitMix64: spreads neighbouring numbers over all bits.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Link, Node};
    use shortflow_units::{Rate, Span};

    /// h0 and h1 behind two switches that are joined by `spines` parallel two-hop paths.
    fn leaf_spine(spines: usize) -> Graph {
        let node = |name: String, is_host| Node { name, is_host };
        let mut nodes = vec![node("h0".into(), true), node("h1".into(), true)];
        nodes.extend((0..2 + spines).map(|i| node(format!("s{i}"), false)));
        let link = |a: usize, b: usize| Link {
            a: NodeId::from(a),
            b: NodeId::from(b),
            rate: Rate::new(1_000_000_000).unwrap(),
            delay: Span::from_micros(1),
        };
        let mut links = vec![link(0, 2), link(1, 3)];
        links.extend((0..spines).flat_map(|i| [link(2, 4 + i), link(4 + i, 3)]));
        Graph { nodes, links }
    }

    #[test]
    fn equal_paths_share_connections_evenly() {
        let routes = Routes::new(&leaf_spine(4), vec![7; 8]).unwrap();
        let mut counts = BTreeMap::new();
        for ordinal in 0..4000 {
            *counts.entry(routes.next(NodeId(2), HostId(1), ordinal).unwrap()).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 4);
        let chi_square: f64 = counts.values().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 16.27, "chi-square {chi_square} is beyond the 99.9 % point of 3 degrees");
    }

    #[test]
    fn a_connection_keeps_its_path_and_ends_at_its_host() {
        let routes = Routes::new(&leaf_spine(4), vec![7; 8]).unwrap();
        assert_eq!(routes.next(NodeId(2), HostId(1), 5), routes.next(NodeId(2), HostId(1), 5));
        assert_eq!(routes.next(NodeId(1), HostId(1), 5), None);
        assert_eq!(routes.next(NodeId(3), HostId(1), 5), Some(PortId(3)));
    }

    #[test]
    fn a_split_network_is_an_error_with_names() {
        let error = Routes::new(&leaf_spine(0), vec![0; 4]).unwrap_err();
        assert_eq!(error.to_string(), "there is no path from h1 to h0");
    }
}
