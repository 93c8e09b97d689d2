//! Share of a traffic pattern that crosses each link.

use super::pattern::Pattern;
use crate::topology::Graph;
use shortflow_units::{HostId, NodeId};
use std::collections::{BTreeMap, VecDeque};

/// Largest number of sender–receiver pairs for which [`shares`] takes about 10 ms.
const QUICK: usize = 1 << 21;

/// Share of the flows on each of [`Graph::directions`], if flows spread evenly over equal paths.
pub(super) fn shares(graph: &Graph, pattern: &Pattern) -> Vec<f64> {
    let mut shares = vec![0.0; 2 * graph.links.len()];
    let ends = graph.directions().enumerate().filter(|(_, (_, to, _))| to.index() < graph.hosts());
    let last_hops: BTreeMap<HostId, (NodeId, usize)> =
        ends.map(|(place, (from, to, _))| (HostId(to.0), (from, place))).collect();
    let mut towards: BTreeMap<NodeId, Vec<f64>> = BTreeMap::new();
    let senders = pattern.senders();
    for (sender, source) in senders.iter().enumerate() {
        for (destination, chance) in pattern.chances(sender) {
            let (switch, last_hop) = last_hops[&destination];
            let flow = towards.entry(switch).or_insert_with(|| vec![0.0; graph.nodes.len()]);
            flow[source.index()] += chance / senders.len() as f64;
            shares[last_hop] += chance / senders.len() as f64;
        }
    }
    let ways = ways(graph);
    for (switch, flow) in towards {
        add(&ways, switch, flow, &mut shares);
    }
    shares
}

/// Computes [`shares`]. For large patterns, which take long, returns only the links to the receivers, each
/// with an equal share.
pub(super) fn quick_shares(graph: &Graph, pattern: &Pattern) -> Vec<f64> {
    let receivers = pattern.receivers();
    if receivers.len() * pattern.senders().len() <= QUICK {
        return shares(graph, pattern);
    }
    let last_hop = |to: NodeId| receivers.binary_search_by_key(&to.0, |host| host.0).is_ok();
    graph.directions().map(|(_, to, _)| f64::from(last_hop(to)) / receivers.len() as f64).collect()
}

/// Share of the flows that cross the links from `port.0` to `port.1`.
pub(super) fn share(graph: &Graph, pattern: &Pattern, port: (NodeId, NodeId)) -> f64 {
    let directions = graph.directions().zip(shares(graph, pattern));
    directions.filter(|((from, to, _), _)| (*from, *to) == port).map(|(_, share)| share).sum()
}

/// Neighbours of each node, with the index of the link in [`Graph::directions`].
fn ways(graph: &Graph) -> Vec<Vec<(NodeId, usize)>> {
    let mut ways = vec![Vec::new(); graph.nodes.len()];
    graph.directions().enumerate().for_each(|(place, (from, to, _))| ways[from.index()].push((to, place)));
    ways
}

/// Routes `flow`, which begins at each node and goes to `target`, over all shortest paths in equal parts, and
/// adds it to `shares`.
fn add(ways: &[Vec<(NodeId, usize)>], target: NodeId, mut flow: Vec<f64>, shares: &mut [f64]) {
    let mut distance = vec![u32::MAX; ways.len()];
    distance[target.index()] = 0;
    let mut order = vec![target];
    let mut queue = VecDeque::from([target]);
    while let Some(node) = queue.pop_front() {
        for &(next, _) in &ways[node.index()] {
            if distance[next.index()] == u32::MAX {
                distance[next.index()] = distance[node.index()] + 1;
                order.push(next);
                queue.push_back(next);
            }
        }
    }
    for node in order.into_iter().rev().filter(|node| *node != target) {
        let nearer =
            || ways[node.index()].iter().filter(|(next, _)| distance[next.index()] < distance[node.index()]);
        let each = flow[node.index()] / nearer().count() as f64;
        for &(next, place) in nearer() {
            flow[next.index()] += each;
            shares[place] += each;
        }
    }
}
