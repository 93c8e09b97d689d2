//! [`Division`]: how a network is cut into parts, or why it is not.

use crate::engine::{SHORTEST_SLOT, Seeds};
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use crate::topology::{Graph, Link};
use crate::traffic::Workload;
use shortflow_cc::TransportConfig;
use shortflow_units::{HostId, Span};
use std::sync::Arc;

/// How many cores a run takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cores {
    /// As many as there are parts.
    pub used: usize,
    /// Why they are fewer than was asked for.
    pub why: Option<String>,
}

/// A way of running that is asked for, where [`run_on`](super::run_on) chooses one. All ways have the same outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Parts of the network.
    pub cores: usize,
    /// Node by node; otherwise in order of time.
    pub by_node: bool,
    /// Paths are worked out once for each connection, where they may be.
    pub paths: bool,
    /// The next events' data is fetched ahead.
    pub fetch: bool,
}

impl Way {
    /// Whether the scenario can be run so.
    pub fn is_possible(self, scenario: &Scenario, scheme: &Scheme) -> bool {
        Division::of(self, scenario, scheme, false).is_some()
    }
}

/// Packets for each part that links must carry between two meetings, at full rate: with fewer, parts wait for one another for
/// longer than they work.
const WORTHWHILE: f64 = 100.0;

/// How many cores, and `most` at most, a run had better take; [`run_on`](super::run_on) takes what it is told.
pub fn cores(scenario: &Scenario, scheme: &Scheme, most: usize, watched: bool) -> Cores {
    let asked = Division::new(scenario, scheme, most, watched).cores;
    let mut why = asked.why;
    for parts in (2..=most.min(scenario.graph.racks())).rev() {
        let division = Division::new(scenario, scheme, parts, watched);
        let (used, carried) = (division.cores.used, division.carried(scenario));
        if used > 1 && carried >= WORTHWHILE * used as f64 {
            return Cores { used, why };
        }
        why = why.or_else(|| {
            let meeting = format!("{parts} parts would meet every {}", division.lookahead);
            Some(format!(
                "{meeting}, in which the links carry {carried:.0} packets at most; each needs {WORTHWHILE}"
            ))
        });
    }
    Cores { used: 1, why }
}

/// A network in parts.
#[derive(Debug, Clone)]
pub(super) struct Division {
    /// The part of each node.
    pub owner: Arc<[u32]>,
    /// The shortest delay of a link between two parts.
    pub lookahead: Span,
    /// For how long what happens at a node has no bearing on others, if the network is to be simulated node by node.
    pub apart: Option<Span>,
    pub cores: Cores,
    /// Where the run's shortcuts are not for the size of the network to choose.
    pub way: Option<Way>,
}

impl Division {
    /// One in which nothing is divided.
    fn none(graph: &Graph, apart: Option<Span>, why: Option<String>) -> Division {
        let owner = vec![0; graph.nodes.len()].into();
        Division { owner, lookahead: Span::MAX, apart, cores: Cores { used: 1, why }, way: None }
    }

    /// Packets that all links together carry in a window, at full rate.
    fn carried(&self, scenario: &Scenario) -> f64 {
        let size = scenario.tcp.mss + scenario.tcp.header;
        let packets =
            |link: &Link| 2.0 * self.lookahead.as_secs_f64() / link.rate.tx_time(size).as_secs_f64();
        scenario.graph.links.iter().map(packets).sum::<f64>().round()
    }

    /// That of a run on so many cores at most; packets may be `watched`.
    pub fn new(scenario: &Scenario, scheme: &Scheme, cores: usize, watched: bool) -> Division {
        let graph = &scenario.graph;
        let racks = graph.racks();
        let parts = cores.min(racks);
        let (needs_one, apart) = (needs_one(scenario, scheme, watched), apart(scenario));
        if needs_one.is_some() || cores <= 1 {
            let apart = apart.filter(|_| needs_one.is_none());
            return Division::none(graph, apart, needs_one.filter(|_| cores > 1));
        }
        let owner = owners(graph, parts);
        let crossing = graph.links.iter().filter(|link| owner[link.a.index()] != owner[link.b.index()]);
        match crossing.map(|link| link.delay).min() {
            None => Division::none(graph, apart, Some("all hosts are at one switch".to_owned())),
            Some(Span::ZERO) => {
                Division::none(graph, apart, Some("a link between two parts has no delay".to_owned()))
            }
            Some(lookahead) => {
                let why = (parts < cores).then(|| format!("the network has {racks} racks"));
                let cores = Cores { used: parts, why };
                Division { owner: owner.into(), lookahead, apart, cores, way: None }
            }
        }
    }

    /// That of a run in `way`; `None` if the network cannot be simulated so.
    pub fn of(way: Way, scenario: &Scenario, scheme: &Scheme, watched: bool) -> Option<Division> {
        let division = Division::new(scenario, scheme, way.cores, watched);
        let apart = shortest(&scenario.graph).filter(|_| needs_one(scenario, scheme, watched).is_none());
        let is_possible = division.cores.used == way.cores && (apart.is_some() || !way.by_node);
        is_possible.then(|| Division { apart: apart.filter(|_| way.by_node), way: Some(way), ..division })
    }
}

/// The shortest delay of a link, if a slot may be as short.
fn shortest(graph: &Graph) -> Option<Span> {
    graph.links.iter().map(|link| link.delay).min().filter(|apart| *apart >= SHORTEST_SLOT)
}

/// Ports that a network must have to be simulated node by node, and nodes for each event in a slot that concerns all of them.
const PORTS: usize = 128;
const NODES: f64 = 32.0;

/// The shortest delay of a link, if it is worth its while to simulate the network node by node, in slots of that length: if it is
/// not small, a node gets a packet or more in a slot, at full rate, and flows and samples seldom interrupt it.
fn apart(scenario: &Scenario) -> Option<Span> {
    let (graph, size) = (&scenario.graph, scenario.tcp.mss + scenario.tcp.header);
    let apart = shortest(graph)?;
    let slots = |time: Span| time.as_secs_f64() / apart.as_secs_f64();
    let arrivals = |link: &Link| 2.0 / slots(link.rate.tx_time(size) + link.delay);
    let flows: f64 = scenario.expected().iter().map(|expected| expected.flows.known()).sum();
    let measured = Span::from_ps(scenario.duration.as_ps() - scenario.warmup.as_ps());
    let samples = scenario.measure.sample_every.map_or(0.0, |every| 1.0 / slots(every));
    let (nodes, interruptions) = (graph.nodes.len() as f64, 2.0 * flows / slots(measured) + samples);
    let is_worthwhile = 2 * graph.links.len() >= PORTS
        && graph.links.iter().map(arrivals).sum::<f64>() >= nodes
        && NODES * interruptions <= nodes;
    is_worthwhile.then_some(apart)
}

/// What depends on the order of all events of the network, and faults, which may fail links at both ends.
fn needs_one(scenario: &Scenario, scheme: &Scheme, watched: bool) -> Option<String> {
    let mut transports = std::iter::once(&scheme.transport).chain(scenario.transports.values());
    if watched {
        return Some("packets are followed one by one".to_owned());
    }
    if transports.any(TransportConfig::is_user_defined) {
        return Some("the transport is not one of the simulator's own".to_owned());
    }
    if !scenario.faults.is_empty() {
        return Some("links have faults".to_owned());
    }
    if scenario.routing.info().reorders {
        return Some(format!(
            "routing.kind = {} draws the path of each packet",
            scenario.routing.info().name
        ));
    }
    let waits =
        |index: &usize| matches!(scenario.traffic[*index].start(Seeds::new(0), *index), Workload::Closed(_));
    (0..scenario.traffic.len()).find(waits).map(|index| format!("traffic.{} waits for answers", index + 1))
}

/// The part of each node: racks in their order, and every other switch with the least loaded of its neighbours' parts.
fn owners(graph: &Graph, parts: usize) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut owner = vec![NONE; graph.nodes.len()];
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for link in &graph.links {
        neighbours[link.a.index()].push(link.b.index());
        neighbours[link.b.index()].push(link.a.index());
    }
    for (host, place) in owner.iter_mut().take(graph.hosts()).enumerate() {
        *place = (graph.rack(HostId::from(host)) as usize * parts / graph.racks().max(1)) as u32;
    }
    // Links of the switches of each part.
    let mut load = vec![0; parts];
    let mut front: Vec<usize> = (0..graph.hosts()).collect();
    while !front.is_empty() {
        let free = |node: &usize| owner[*node] == NONE;
        let mut next: Vec<usize> =
            front.iter().flat_map(|node| neighbours[*node].iter().copied()).filter(free).collect();
        next.sort_unstable();
        next.dedup();
        let before = owner.clone();
        for &node in &next {
            let near = neighbours[node].iter().map(|next| before[*next]).filter(|part| *part != NONE);
            owner[node] = near.min_by_key(|part| (load[*part as usize], *part)).unwrap_or(0);
            load[owner[node] as usize] += neighbours[node].len();
        }
        front = next;
    }
    // Switches that no host reaches.
    owner.iter_mut().filter(|part| **part == NONE).for_each(|part| *part = 0);
    owner
}
