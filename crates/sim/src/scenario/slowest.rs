//! The slowest link that the flows of a host may cross.

use crate::topology::Graph;
use crate::traffic::Peers;
use shortflow_units::{HostId, NodeId};
use std::collections::BTreeMap;

/// For each node, its links: the node at the other end, and the link's index.
type Neighbours = Vec<Vec<(usize, usize)>>;

/// Hosts of one switch, and the hosts with which they exchange packets.
type Exchange<'p> = (Vec<HostId>, &'p [HostId]);

/// For each host, the index of the slowest link on its shortest paths to the hosts with which it exchanges
/// packets: data in one direction, ACKs in the other. `None` for a host without flows.
pub(super) fn slowest_links(graph: &Graph, peers: &Peers) -> Vec<Option<usize>> {
    let mut neighbours: Neighbours = vec![Vec::new(); graph.nodes.len()];
    for (place, link) in graph.links.iter().enumerate() {
        neighbours[link.a.index()].push((link.b.index(), place));
        neighbours[link.b.index()].push((link.a.index(), place));
    }
    // Compute paths once per switch, because its hosts share them.
    let mut by_switch: BTreeMap<usize, Vec<Exchange>> = BTreeMap::new();
    for (senders, receivers) in peers.groups() {
        for (hosts, others) in [(senders, receivers), (receivers, senders)] {
            let mut here: BTreeMap<usize, Vec<HostId>> = BTreeMap::new();
            for host in hosts {
                here.entry(neighbours[host.index()][0].0).or_default().push(*host);
            }
            here.into_iter()
                .for_each(|(switch, hosts)| by_switch.entry(switch).or_default().push((hosts, others)));
        }
    }
    let mut slowest = vec![None; graph.hosts()];
    for (switch, groups) in by_switch {
        let from_here = slowest_from(graph, &neighbours, switch);
        for (hosts, others) in groups {
            // A path from a host to itself, which no flow takes, has no link other than the host's own.
            let through = others.iter().filter_map(|other| from_here[other.index()]);
            let through = through.reduce(|one, other| slower(graph, one, other));
            for host in hosts {
                let own = neighbours[host.index()][0].1;
                let known = slowest[host.index()].unwrap_or(own);
                slowest[host.index()] =
                    Some(slower(graph, known, slower(graph, own, through.unwrap_or(own))));
            }
        }
    }
    slowest
}

/// The slower of two links; of equally slow links, the first.
fn slower(graph: &Graph, one: usize, other: usize) -> usize {
    std::cmp::min_by_key(one, other, |link| (graph.links[*link].rate, *link))
}

/// The slowest link on the shortest paths from a switch to each host. Visits nodes in order of distance.
fn slowest_from(graph: &Graph, neighbours: &Neighbours, start: usize) -> Vec<Option<usize>> {
    let mut found: Vec<Option<(u32, Option<usize>)>> = vec![None; neighbours.len()];
    found[start] = Some((0, None));
    let (mut order, mut next) = (vec![start], 0);
    while let Some(&node) = order.get(next) {
        next += 1;
        let Some((distance, so_far)) = found[node] else { continue };
        if graph.is_host(NodeId::from(node)) {
            continue; // hosts do not forward packets
        }
        for &(to, link) in &neighbours[node] {
            let through = so_far.map_or(link, |slowest| slower(graph, slowest, link));
            match &mut found[to] {
                Some((known, slowest)) if *known == distance + 1 => {
                    *slowest = Some(slowest.map_or(through, |slowest| slower(graph, slowest, through)));
                }
                Some(_) => {}
                place => {
                    *place = Some((distance + 1, Some(through)));
                    order.push(to);
                }
            }
        }
    }
    found[..graph.hosts()].iter().map(|found| found.and_then(|(_, slowest)| slowest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shortflow_units::{Rate, Span};

    /// h0 and h1 are at s3, and h2 is at s4, over a link of 1 Gbps. Another path from s3 to s4 leads over s5,
    /// by two links of 0.1 Gbps.
    #[test]
    fn only_links_on_shortest_paths_of_flows_count() {
        let gbps = |tenths: u64| Rate::new(tenths * 100_000_000).unwrap();
        let mut graph = Graph::new(3, 3);
        for (a, b, tenths) in [(0, 3, 100), (1, 3, 50), (2, 4, 100), (3, 4, 10), (3, 5, 1), (5, 4, 1)] {
            graph.connect(NodeId(a), NodeId(b), gbps(tenths), Span::from_micros(1));
        }
        let slowest = |graph: &Graph, pairs: &[(u32, u32)]| {
            let mut peers = Peers::default();
            peers.add_pairs(pairs.iter().map(|(from, to)| (HostId(*from), HostId(*to))));
            slowest_links(graph, &peers)
        };
        assert_eq!(slowest(&graph, &[(0, 2), (1, 2)]), [Some(3); 3]);
        assert_eq!(slowest(&graph, &[(0, 2)]), [Some(3), None, Some(3)], "h1 has no flows");
        assert_eq!(slowest(&graph, &[(0, 1)]), [Some(1), Some(1), None], "no flow leaves the switch");
        assert_eq!(slowest(&graph, &[(1, 0), (2, 0)]), [Some(3), Some(1), Some(3)]);
        graph.links.iter_mut().for_each(|link| link.rate = gbps(7));
        assert_eq!(slowest(&graph, &[(2, 1)]), [None, Some(1), Some(1)], "of equal links the first");
    }
}
