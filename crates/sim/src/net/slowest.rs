//! The slowest link that packets of a host may cross.

use crate::topology::Graph;
use shortflow_units::{NodeId, Rate};

/// Links by node: the other end, and the rate.
type Neighbours = Vec<Vec<(usize, Rate)>>;

/// For each host the rate of the slowest link on its shortest paths to the others.
pub(super) fn slowest_links(graph: &Graph) -> Vec<Rate> {
    let rates = || graph.links.iter().map(|link| link.rate);
    let (slowest, fastest) = (rates().min().unwrap_or(Rate::MAX), rates().max());
    if Some(slowest) == fastest {
        return vec![slowest; graph.hosts()];
    }
    let mut neighbours: Neighbours = vec![Vec::new(); graph.nodes.len()];
    for link in &graph.links {
        neighbours[link.a.index()].push((link.b.index(), link.rate));
        neighbours[link.b.index()].push((link.a.index(), link.rate));
    }
    // Hosts of a switch share its paths.
    let mut from_switch = vec![None; graph.nodes.len()];
    let mut slowest = |host: usize| {
        let through = |&(next, rate): &(usize, Rate)| {
            rate.min(*from_switch[next].get_or_insert_with(|| slowest_from(graph, &neighbours, next)))
        };
        neighbours[host].iter().map(through).min().unwrap_or(Rate::MAX)
    };
    (0..graph.hosts()).map(&mut slowest).collect()
}

/// The slowest link on the shortest paths from a node to all hosts, node by node in order of distance.
fn slowest_from(graph: &Graph, neighbours: &Neighbours, start: usize) -> Rate {
    let mut found: Vec<Option<(u32, Rate)>> = vec![None; neighbours.len()];
    found[start] = Some((0, Rate::MAX));
    let (mut order, mut next) = (vec![start], 0);
    while let Some(&node) = order.get(next) {
        next += 1;
        let Some((distance, so_far)) = found[node] else { continue };
        if node != start && graph.is_host(NodeId::from(node)) {
            continue; // hosts do not forward
        }
        for &(to, rate) in &neighbours[node] {
            let through = rate.min(so_far);
            match &mut found[to] {
                Some((known, slowest)) if *known == distance + 1 => *slowest = through.min(*slowest),
                Some(_) => {}
                place => {
                    *place = Some((distance + 1, through));
                    order.push(to);
                }
            }
        }
    }
    found[..graph.hosts()].iter().flatten().map(|(_, rate)| *rate).min().unwrap_or(Rate::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shortflow_units::Span;

    /// h0 and h1 at s3, h2 at s4, over a link of 1 Gbps; s5 leads from s3 to s4 too, but by two links, of 0.1 Gbps.
    #[test]
    fn only_links_on_shortest_paths_count() {
        let gbps = |tenths: u64| Rate::new(tenths * 100_000_000).unwrap();
        let mut graph = Graph::new(3, 3);
        for (a, b, tenths) in [(0, 3, 100), (1, 3, 50), (2, 4, 100), (3, 4, 10), (3, 5, 1), (5, 4, 1)] {
            graph.connect(NodeId(a), NodeId(b), gbps(tenths), Span::from_micros(1));
        }
        assert_eq!(slowest_links(&graph), [gbps(10); 3]);
        graph.links.iter_mut().for_each(|link| link.rate = gbps(7));
        assert_eq!(slowest_links(&graph), [gbps(7); 3]);
        graph.links[1].rate = gbps(2);
        graph.links[2].rate = gbps(3);
        assert_eq!(slowest_links(&graph), [gbps(2), gbps(2), gbps(2)]);
        graph.links[1].rate = gbps(9);
        assert_eq!(slowest_links(&graph), [gbps(3); 3]);
    }
}
