//! Shortest-path routes: the ports that lead closer to a host.

use crate::packet::Packet;
use crate::routing::{Chooser, Hop, PathChoice};
use crate::topology::Graph;
use shortflow_units::{HostId, NodeId, PortId, Rate, Span};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::slice;

/// A network in which some packets cannot be delivered.
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

/// Ports that lead closer to a host: `count` entries of the list of hops, from index `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NextHops {
    first: u32,
    count: u32,
}

/// Attachment of a host to its switch.
#[derive(Debug, Clone, Copy)]
struct Access {
    switch: NodeId,
    rack: u32,
    /// The port of the host to the switch.
    up: PortId,
    /// The port of the switch to the host.
    down: PortId,
}

/// Consecutive racks with equal next hops, from `rack` up to the next run.
#[derive(Debug, Clone, Copy)]
struct Run {
    rack: u32,
    hops: NextHops,
}

/// Next hops towards all hosts. Hosts of a rack share their routes up to the rack's switch, so switches store
/// next hops by rack. Consecutive racks with equal next hops, which most racks of a tree are, form one run.
/// Each switch stores equal sets of next hops once.
#[derive(Debug, Clone)]
pub struct Routes {
    access: Vec<Access>,
    /// Index of the end of each switch's runs. They start at the end of the previous switch.
    ends: Vec<u32>,
    runs: Vec<Run>,
    hops: Vec<PortId>,
}

impl Routes {
    /// Routes over `graph`, whose link i has the ports 2i (a to b) and 2i + 1 (b to a).
    pub fn new(graph: &Graph) -> Result<Routes, RouteError> {
        let routes = Routes::build(graph, access(graph)?, |_| true);
        routes.check_reach(graph)?;
        Ok(routes)
    }

    /// Routes over the links of `graph` that are up. Some hosts may be unreachable.
    pub fn over(&self, graph: &Graph, is_up: impl Fn(usize) -> bool) -> Routes {
        Routes::build(graph, self.access.clone(), is_up)
    }

    fn build(graph: &Graph, access: Vec<Access>, is_up: impl Fn(usize) -> bool) -> Routes {
        let neighbours = neighbours(graph, is_up);
        let switches: Vec<usize> = rack_switches(&access, graph.racks()).collect();
        let mut tables = vec![Table::default(); neighbours.len()];
        for (first, racks) in (0..).step_by(BATCH).zip(switches.chunks(BATCH)) {
            let rings = rings(&neighbours, racks);
            for (from, table) in tables.iter_mut().enumerate() {
                table.extend(
                    (first, racks.len()),
                    &neighbours[from],
                    &nearer(&neighbours[from], from, &rings),
                );
            }
        }
        let mut routes = Routes { access, ends: vec![], runs: vec![], hops: vec![] };
        tables.into_iter().for_each(|table| routes.add(table));
        routes
    }

    /// Appends the table of the next switch.
    fn add(&mut self, table: Table) {
        let begin = self.hops.len() as u32;
        self.hops.extend(table.hops);
        self.runs.extend(table.runs.into_iter().map(|Run { rack, hops }| {
            let hops = NextHops { first: hops.first + begin, ..hops };
            Run { rack, hops }
        }));
        self.ends.push(self.runs.len() as u32);
    }

    /// True if some switch has several shortest paths towards some rack.
    pub fn has_choice(&self) -> bool {
        self.runs.iter().any(|run| run.hops.count > 1)
    }

    /// Checks that all hosts reach the first rack. Links are bidirectional, so all hosts then reach each
    /// other.
    fn check_reach(&self, graph: &Graph) -> Result<(), RouteError> {
        let mut switches = rack_switches(&self.access, graph.racks());
        let Some(first) = switches.next() else { return Ok(()) };
        let node = |switch: usize| NodeId::from(switch + self.access.len());
        let cuts_off = |switch: usize| switch != first && self.next_to_rack(node(switch), 0).is_empty();
        match switches.position(cuts_off) {
            Some(lost) => {
                let host = |rack: usize| self.access.iter().position(|access| access.rack as usize == rack);
                Err(unreachable(graph, host(lost + 1).unwrap_or(0), host(0).unwrap_or(0)))
            }
            None => Ok(()),
        }
    }

    /// The ports on which `node` may send a packet towards `to`; empty at `to` itself.
    #[inline]
    pub fn next(&self, node: NodeId, to: HostId) -> &[PortId] {
        let end = &self.access[to.index()];
        if node == end.switch {
            return slice::from_ref(&end.down);
        }
        match self.access.get(node.index()) {
            Some(_) if node.0 == to.0 => &[],
            Some(host) => slice::from_ref(&host.up),
            None => self.next_to_rack(node, end.rack),
        }
    }

    /// The ports on which a switch may send packets towards a rack other than its own.
    #[inline(never)] // the first and last hop of a path need no table
    fn next_to_rack(&self, node: NodeId, rack: u32) -> &[PortId] {
        let switch = node.index() - self.access.len();
        let begin = if switch == 0 { 0 } else { self.ends[switch - 1] };
        let runs = &self.runs[begin as usize..self.ends[switch] as usize];
        let NextHops { first, count } = runs[runs.partition_point(|run| run.rack <= rack) - 1].hops;
        &self.hops[first as usize..][..count as usize]
    }
}

/// Next hops of a switch.
#[derive(Debug, Clone, Default)]
struct Table {
    runs: Vec<Run>,
    hops: Vec<PortId>,
    known: BTreeMap<Vec<PortId>, NextHops>,
}

impl Table {
    /// Adds `count` racks from `first`. `nearer` has, for each neighbour, the bits of the racks to which it
    /// is closer.
    fn extend(&mut self, (first, count): (u32, usize), neighbours: &[(usize, PortId)], nearer: &[u64]) {
        // Bit r is set if rack r has other next hops than rack r − 1. Bit 0 is always set.
        let differ = nearer.iter().fold(1, |differ, racks| differ | (racks ^ (racks << 1)));
        for rack in (0..count as u32).filter(|rack| differ >> rack & 1 == 1) {
            let leads = |(_, racks): &(_, &u64)| *racks >> rack & 1 == 1;
            let ports = neighbours.iter().zip(nearer).filter(leads).map(|(next, _)| next.1).collect();
            let hops = *self.known.entry(ports).or_insert_with_key(|ports| {
                self.hops.extend(ports);
                NextHops { first: (self.hops.len() - ports.len()) as u32, count: ports.len() as u32 }
            });
            if self.runs.last().is_none_or(|run| run.hops != hops) {
                self.runs.push(Run { rack: first + rack, hops });
            }
        }
    }
}

/// Paths that connections assume before their first packet.
impl Routes {
    /// Next port of connection `flow_id` at `node`; `None` without a route, or if packets choose
    /// individually.
    #[inline(never)] // most connections have stored paths
    pub fn fixed(&self, (node, to, flow_id): (NodeId, HostId, u32), chooser: &Chooser) -> Option<PortId> {
        match *self.next(node, to) {
            [] => None,
            [next] => Some(next),
            ref ports => chooser
                .of_flow(Hop { node, to, flow_id, paths: ports.len(), ..Hop::default() })
                .map(|path| ports[path]),
        }
    }

    /// Next port of a packet at `node`; `None` without a route, or if the choice depends on more than the
    /// packet.
    #[inline(never)] // most connections have stored paths
    pub fn of_packet(&self, node: NodeId, packet: &Packet, chooser: &Chooser) -> Option<PortId> {
        match *self.next(node, packet.to) {
            [] => None,
            [next] => Some(next),
            ref ports => chooser.of_packet(packet.hop_at(node, ports.len())).map(|path| ports[path]),
        }
    }

    /// Ports of a connection's path, if all its packets take the same path. `end` gives the node at the far
    /// end of a port.
    pub fn fixed_path(
        &self,
        (source, to, flow_id): (HostId, HostId, u32),
        chooser: &Chooser,
        end: impl Fn(PortId) -> NodeId,
    ) -> Option<Vec<PortId>> {
        let (mut node, mut path) = (NodeId(source.0), Vec::new());
        while node.0 != to.0 {
            let next = self.fixed((node, to, flow_id), chooser)?;
            path.push(next);
            node = end(next);
        }
        Some(path)
    }

    /// Next port at `node` of a stream of packets without gaps; `None` at the stream's host, without a route,
    /// or if packets choose individually.
    fn of_stream(&self, (node, to, flow_id): (NodeId, HostId, u32), chooser: &Chooser) -> Option<PortId> {
        match *self.next(node, to) {
            _ if node == NodeId(to.0) => None,
            [] => None,
            [next] => Some(next),
            ref ports => chooser
                .of_stream(Hop { node, to, flow_id, paths: ports.len(), ..Hop::default() })
                .map(|path| ports[path]),
        }
    }

    /// Stages of the path of connection `flow_id` from `source` to `to`. `link` gives the rate and delay of a
    /// port, and `end` the node at its far end.
    pub fn stages(
        &self,
        (source, to, flow_id): (HostId, HostId, u32),
        chooser: &Chooser,
        link: impl Fn(PortId) -> (Rate, Span),
        end: impl Fn(PortId) -> NodeId,
    ) -> Vec<Stage> {
        let (mut stages, mut stream) = (Vec::new(), Some(NodeId(source.0)));
        let (mut nodes, mut shares) = (vec![(NodeId(source.0), 1.0)], Vec::new());
        while nodes.iter().all(|(node, _)| *node != NodeId(to.0)) {
            shares.clear();
            for (node, share) in &nodes {
                let fixed = self.fixed((*node, to, flow_id), chooser);
                let ports = fixed.as_ref().map_or(self.next(*node, to), slice::from_ref);
                shares.extend(ports.iter().map(|port| (*port, share / ports.len() as f64)));
            }
            add_up(&mut shares);
            let speed = |(port, _): &&(PortId, f64)| {
                let (rate, delay) = link(*port);
                (Reverse(rate), delay)
            };
            let Some((fastest, _)) = shares.iter().min_by_key(speed) else { return stages };
            let rates = shares.iter().map(|(port, share)| link(*port).0.as_bps() as f64 / share);
            let spread = Rate::new(rates.fold(f64::INFINITY, f64::min) as u64).unwrap_or(link(*fastest).0);
            let taken = stream.and_then(|node| self.of_stream((node, to, flow_id), chooser));
            stages.push(Stage {
                fastest: *fastest,
                first: taken.unwrap_or(shares.first().map_or(*fastest, |(port, _)| *port)),
                rate: taken.map_or(spread, |port| link(port).0),
                choice: match taken {
                    _ if shares.len() == 1 => LinkChoice::Fixed,
                    Some(_) => LinkChoice::PerStream,
                    None => LinkChoice::PerPacket,
                },
            });
            stream = taken.map(&end);
            nodes.clear();
            nodes.extend(shares.iter().map(|(port, share)| (end(*port), *share)));
            add_up(&mut nodes);
        }
        stages
    }
}

/// Sorts shares by key, and adds those of one key. A map would allocate for each link of each flow.
fn add_up<K: Ord>(shares: &mut Vec<(K, f64)>) {
    shares.sort_by(|(one, _), (other, _)| one.cmp(other)); // stable, as sums of fractions depend on their order
    shares.dedup_by(|(next, more), (kept, share)| {
        let is_same = next == kept;
        *share += if is_same { *more } else { 0.0 };
        is_same
    });
}

/// Links at the same distance from the source of a connection. Each packet takes one of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// Port to the fastest link that packets may take; of equally fast links, the one with the smallest
    /// delay.
    pub fastest: PortId,
    /// The port that represents the stage: the port of a stream of packets without gaps, or else the first
    /// port.
    pub first: PortId,
    /// Rate of that port; if packets choose individually, total rate of all links, with each switch's packets
    /// spread evenly.
    pub rate: Rate,
    /// Choice among the links.
    pub choice: LinkChoice,
}

/// Choice of a connection's packets among the links of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkChoice {
    /// All packets of the connection take the same link.
    Fixed,
    /// Packets that follow each other without gaps take the same link.
    PerStream,
    /// Each packet chooses a link.
    PerPacket,
}

fn unreachable(graph: &Graph, from: usize, to: usize) -> RouteError {
    let name = |host: usize| graph.name(NodeId::from(host)).to_owned();
    RouteError::Unreachable { from: name(from), to: name(to) }
}

/// Links of hosts. A host without a link to a switch is unreachable.
fn access(graph: &Graph) -> Result<Vec<Access>, RouteError> {
    let mut found = vec![None; graph.hosts()];
    for (i, link) in graph.links.iter().enumerate() {
        for (host, switch, up) in [(link.a, link.b, 2 * i), (link.b, link.a, 2 * i + 1)] {
            if graph.is_host(host) && !graph.is_host(switch) {
                let rack = graph.rack(HostId(host.0));
                let (up, down) = (PortId::from(up), PortId::from(up ^ 1));
                found[host.index()] = Some(Access { switch, rack, up, down });
            }
        }
    }
    let stranded = found.iter().position(Option::is_none);
    match stranded {
        Some(host) => Err(unreachable(graph, host, usize::from(host == 0))),
        None => Ok(found.into_iter().flatten().collect()),
    }
}

/// For each rack, the index of its switch among switches.
fn rack_switches(access: &[Access], racks: usize) -> impl Iterator<Item = usize> + use<> {
    let mut switches = vec![0; racks];
    access.iter().for_each(|host| switches[host.rack as usize] = host.switch.index() - access.len());
    switches.into_iter()
}

/// For each switch, its neighbour switches over links that are up, as indices among switches, with the ports
/// to them.
fn neighbours(graph: &Graph, is_up: impl Fn(usize) -> bool) -> Vec<Vec<(usize, PortId)>> {
    let hosts = graph.hosts();
    let mut neighbours = vec![Vec::new(); graph.nodes.len() - hosts];
    for (i, link) in graph.links.iter().enumerate() {
        if is_up(i) && !graph.is_host(link.a) && !graph.is_host(link.b) {
            let (a, b) = (link.a.index() - hosts, link.b.index() - hosts);
            neighbours[a].push((b, PortId::from(2 * i)));
            neighbours[b].push((a, PortId::from(2 * i + 1)));
        }
    }
    neighbours
}

/// Number of racks searched at once, with one bit each.
const BATCH: usize = 64;

/// By number of hops and by switch: the `racks` (given by their switches) at this distance. Hosts do not
/// forward packets.
fn rings(neighbours: &[Vec<(usize, PortId)>], racks: &[usize]) -> Vec<Vec<u64>> {
    let mut at_home = vec![0; neighbours.len()];
    racks.iter().enumerate().for_each(|(rack, switch)| at_home[*switch] |= 1 << rack);
    let mut nearer_or_here = at_home.clone();
    let mut rings = vec![at_home];
    while let Some(last) = rings.last() {
        let mut ring = vec![0; neighbours.len()];
        for ((here, known), next) in ring.iter_mut().zip(&mut nearer_or_here).zip(neighbours) {
            *here = next.iter().fold(0, |racks, next| racks | last[next.0]) & !*known;
            *known |= *here;
        }
        if ring.iter().all(|racks| *racks == 0) {
            break;
        }
        rings.push(ring);
    }
    rings
}

/// For each neighbour of switch `from`, the racks to which the neighbour is one hop closer.
fn nearer(neighbours: &[(usize, PortId)], from: usize, rings: &[Vec<u64>]) -> Vec<u64> {
    let to = |next: usize| rings.windows(2).fold(0, |racks, pair| racks | (pair[1][from] & pair[0][next]));
    neighbours.iter().map(|next| to(next.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Seeds;
    use crate::routing::Routing;
    use shortflow_units::Instant;
    use std::collections::VecDeque;

    /// h0 and h1 behind two switches, which `spines` parallel paths of two hops connect.
    fn leaf_spine(spines: usize) -> Graph {
        let (rate, delay) = (Rate::new(1_000_000_000).unwrap(), Span::from_micros(1));
        let mut graph = Graph::new(2, 2 + spines);
        let mut link = |a: usize, b: usize| graph.connect(NodeId::from(a), NodeId::from(b), rate, delay);
        link(0, 2);
        link(1, 3);
        (0..spines).for_each(|i| {
            link(2, 4 + i);
            link(4 + i, 3);
        });
        graph
    }

    /// Ports of the first switch for packets of the first `flows` connections to h1.
    fn chosen(routing: Routing, flows: u32) -> Vec<PortId> {
        let (node, to) = (NodeId(2), HostId(1));
        let (routes, mut chooser) = (Routes::new(&leaf_spine(4)).unwrap(), routing.start(8, Seeds::new(1)));
        let mut choose = |flow_id| {
            let ports = routes.next(node, to);
            let hop = Hop { node, to, flow_id, paths: ports.len(), ..Hop::default() };
            ports[chooser.choose(Instant::ZERO, hop)]
        };
        (0..flows).map(&mut choose).collect()
    }

    #[test]
    fn hashes_and_draws_use_equal_paths_evenly() {
        let sprays = [Routing::Spray(Default::default()), Routing::RandomSpray(Default::default())];
        for routing in sprays.into_iter().chain([Routing::FlowHash(Default::default())]) {
            let mut counts = BTreeMap::new();
            chosen(routing, 4000).into_iter().for_each(|port| *counts.entry(port).or_insert(0u32) += 1);
            assert_eq!(counts.len(), 4);
            let chi_square: f64 = counts.values().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
            assert!(chi_square < 16.27, "chi-square {chi_square} is beyond the 99.9 % point of 3 degrees");
        }
    }

    /// Host 1 modulo four paths selects the second path, which is link 4 and so port 8.
    #[test]
    fn by_destination_every_connection_takes_one_path() {
        assert_eq!(chosen(Routing::Destination(Default::default()), 3), [PortId(8); 3]);
    }

    /// Number of hops from each switch to the switch `to`.
    fn distances(neighbours: &[Vec<(usize, PortId)>], to: usize) -> Vec<Option<u32>> {
        let mut distance = vec![None; neighbours.len()];
        distance[to] = Some(0);
        let mut frontier = VecDeque::from([to]);
        while let Some(switch) = frontier.pop_front() {
            for &(next, _) in &neighbours[switch] {
                if distance[next].is_none() {
                    distance[next] = distance[switch].map(|hops| hops + 1);
                    frontier.push_back(next);
                }
            }
        }
        distance
    }

    /// A ring of 150 switches with chords and a host each: more racks than one batch, and not a tree. With
    /// all links, and with every third link down, which cuts the network into pieces.
    #[test]
    fn next_hops_are_those_of_a_search_from_each_rack() {
        const SWITCHES: usize = 150;
        let (rate, delay) = (Rate::new(1_000_000_000).unwrap(), Span::from_micros(1));
        let mut graph = Graph::new(SWITCHES, SWITCHES);
        let mut link = |a: usize, b: usize| graph.connect(NodeId::from(a), NodeId::from(b), rate, delay);
        (0..SWITCHES).for_each(|host| link(host, SWITCHES + host));
        (0..SWITCHES).for_each(|i| link(SWITCHES + i, SWITCHES + (i + 1) % SWITCHES));
        (0..SWITCHES / 7).for_each(|i| link(SWITCHES + 7 * i, SWITCHES + (40 * i + 3) % SWITCHES));
        let intact = Routes::new(&graph).unwrap();
        for some_down in [false, true] {
            let is_up = |link: usize| !some_down || link < SWITCHES || !link.is_multiple_of(3);
            let routes = if some_down { intact.over(&graph, is_up) } else { intact.clone() };
            let neighbours = neighbours(&graph, is_up);
            for to in 0..SWITCHES {
                let distance = distances(&neighbours, to);
                for from in (0..SWITCHES).filter(|from| *from != to) {
                    let is_nearer = |next: &&(usize, PortId)| {
                        distance[from].is_some_and(|hops| distance[next.0] == Some(hops - 1))
                    };
                    let expected: Vec<PortId> =
                        neighbours[from].iter().filter(is_nearer).map(|next| next.1).collect();
                    let next = routes.next(NodeId::from(SWITCHES + from), HostId::from(to));
                    assert_eq!(next, expected, "from {from} to {to}, some links down: {some_down}");
                }
            }
        }
    }

    #[test]
    fn a_route_ends_at_its_host() {
        let routes = Routes::new(&leaf_spine(4)).unwrap();
        assert!(routes.next(NodeId(1), HostId(1)).is_empty());
        assert_eq!(routes.next(NodeId(3), HostId(1)), [PortId(3)]);
    }

    /// Packets that choose individually assume the fastest path, over the third spine. Each of four links
    /// takes a quarter of sprayed packets, so three links of 1 kbit/s and one of 2 kbit/s pass 4 kbit/s.
    /// Flowlets without gaps stay on one link.
    #[test]
    fn a_connection_over_several_paths_counts_on_the_fastest() {
        use LinkChoice::{Fixed, PerPacket, PerStream};
        let graph = leaf_spine(4);
        let routes = Routes::new(&graph).unwrap();
        let link = |port: PortId| match port {
            PortId(12) => (Rate::new(2_000).unwrap(), Span::from_micros(9)),
            _ => (Rate::new(1_000).unwrap(), Span::from_micros(1)),
        };
        let end = |port: PortId| graph.ends(port).1;
        let stages = |routing: Routing, flow_id| {
            let chooser = routing.start(8, Seeds::new(1));
            routes.stages((HostId(0), HostId(1), flow_id), &chooser, link, end).into_iter()
        };
        let seen: Vec<_> = stages(Routing::Spray(Default::default()), 0)
            .map(|stage| (stage.fastest, stage.rate.as_bps(), stage.choice))
            .collect();
        let (up, down) = ((PortId(12), 4_000, PerPacket), (PortId(6), 4_000, PerPacket));
        assert_eq!(seen, [(PortId(0), 1_000, Fixed), up, down, (PortId(3), 1_000, Fixed)]);
        let (mut slower, flowlets) = (0, Routing::Flowlet(Default::default()));
        for flow_id in 0..20 {
            let seen: Vec<_> = stages(flowlets, flow_id).map(|stage| (stage.fastest, stage.choice)).collect();
            let (up, down) = ((PortId(12), PerStream), (PortId(6), PerStream));
            assert_eq!(seen, [(PortId(0), Fixed), up, down, (PortId(3), Fixed)]);
            slower += stages(flowlets, flow_id).filter(|stage| stage.first == PortId(4)).count();
        }
        assert!((1..20).contains(&slower), "{slower}");
    }

    #[test]
    fn a_split_network_is_an_error_with_names() {
        let error = Routes::new(&leaf_spine(0)).unwrap_err();
        assert_eq!(error.to_string(), "there is no path from h1 to h0");
        let error = Routes::new(&Graph::new(2, 1)).unwrap_err();
        assert_eq!(error.to_string(), "there is no path from h0 to h1");
    }
}
