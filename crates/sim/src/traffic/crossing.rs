//! Share of a traffic pattern that crosses a link, for loads relative to one link.

use super::pattern::Pattern;
use crate::topology::Graph;
use shortflow_units::{HostId, NodeId};
use std::collections::{BTreeMap, VecDeque};

/// The share of flows that cross the link from `port.0` to `port.1`, when flows spread evenly over
/// equal paths.
pub(super) fn share(graph: &Graph, pattern: &Pattern, port: (NodeId, NodeId)) -> f64 {
    let mut towards: BTreeMap<HostId, Vec<f64>> = BTreeMap::new();
    let senders = pattern.senders();
    for (sender, source) in senders.iter().enumerate() {
        for (destination, chance) in pattern.chances(sender) {
            let flow = towards.entry(destination).or_insert_with(|| vec![0.0; graph.nodes.len()]);
            flow[source.index()] += chance / senders.len() as f64;
        }
    }
    let links = neighbours(graph);
    towards.into_iter().map(|(destination, flow)| crossing(&links, destination, flow, port)).sum()
}

/// The nodes at the other end of every node's links, once for each link.
fn neighbours(graph: &Graph) -> Vec<Vec<NodeId>> {
    let mut links = vec![Vec::new(); graph.nodes.len()];
    for link in &graph.links {
        links[link.a.index()].push(link.b);
        links[link.b.index()].push(link.a);
    }
    links
}

/// Part of `flow` that crosses the port. It begins at each node and goes to `destination` by
/// shortest paths, an equal part over each.
fn crossing(links: &[Vec<NodeId>], destination: HostId, mut flow: Vec<f64>, port: (NodeId, NodeId)) -> f64 {
    let target = NodeId(destination.0);
    let mut distance = vec![u32::MAX; links.len()];
    distance[target.index()] = 0;
    let mut order = vec![target];
    let mut queue = VecDeque::from([target]);
    while let Some(node) = queue.pop_front() {
        for &next in &links[node.index()] {
            if distance[next.index()] == u32::MAX {
                distance[next.index()] = distance[node.index()] + 1;
                order.push(next);
                queue.push_back(next);
            }
        }
    }
    let mut crossed = 0.0;
    for node in order.into_iter().rev().filter(|node| *node != target) {
        let nearer = |next: &&NodeId| distance[next.index()] < distance[node.index()];
        let ways: Vec<NodeId> = links[node.index()].iter().filter(nearer).copied().collect();
        let each = flow[node.index()] / ways.len() as f64;
        for next in ways {
            flow[next.index()] += each;
            if (node, next) == port {
                crossed += each;
            }
        }
    }
    crossed
}
