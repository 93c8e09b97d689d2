//! [`ExecutionPlan`]: the number of cores, the order of events and the shortcuts of a run. The plan follows
//! from the needs of the run's parts. No plan changes an outcome.

use crate::engine::{EventCode, EventQueue, NodeScope, SHORTEST_SLOT, Seeds};
use crate::needs::Needs;
use crate::net::{Network, Port, RouteError};
use crate::scenario::{Fault, Scenario};
use crate::scheme::Scheme;
use crate::topology::{Graph, Link};
use shortflow_cc::{CongestionControl, Host, Recovery};
use shortflow_units::{HostId, Span};
use std::sync::Arc;

/// Cores of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cores {
    /// Number of cores, one for each part of the network.
    pub used: usize,
    /// The reason, if the number is smaller than requested.
    pub why: Option<String>,
}

/// Choices of a plan. [`ExecutionPlan::derive`] makes the choices by the size of the network.
/// [`ExecutionPlan::set`] accepts any choices that the needs of the run allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    /// Number of parts of the network. Each part has a core.
    pub cores: usize,
    /// True to process events in windows: nodes process windows of at most the shortest link delay one after
    /// another, and packets need no events. False to process events in order of time.
    pub windows: bool,
    /// True if the path of a connection is computed once.
    pub fixed_paths: bool,
    /// True if data of the next events is prefetched.
    pub prefetch: bool,
    /// True if packets that a TCP end expects take a short path.
    pub predicts: bool,
    /// True if hosts take expected packets as soon as the last switch has sent them, and run the timers of
    /// their cards early.
    pub early_hosts: bool,
    /// True if, in windows, switches with independent outputs forward the packets of a window output by
    /// output.
    pub by_output: bool,
}

impl Modes {
    /// Events in order of time on one core, without shortcuts.
    pub const PLAIN: Modes = Modes {
        cores: 1,
        windows: false,
        fixed_paths: false,
        prefetch: false,
        predicts: false,
        early_hosts: false,
        by_output: false,
    };
}

/// Execution of a run.
#[derive(Debug, Clone)]
pub struct ExecutionPlan {
    /// The choices.
    pub modes: Modes,
    /// The reason, if the number is smaller than requested.
    pub fewer_cores: Option<String>,
    /// True if packets are watched.
    pub(super) watched: bool,
    /// True if some law reads reports of ports.
    pub(super) telemetry: bool,
    /// True if some host has at most one packet of a flow in its port.
    pub(super) cards_hold_one: bool,
    /// Needs of the parts of the run.
    pub(super) needs: Needs,
    /// Number of the part of each node.
    pub(super) owner: Arc<[u32]>,
    /// Shortest delay of a link between two parts.
    pub(super) lookahead: Span,
    /// Shortest delay of a link, if nodes may be simulated one after another.
    node_lookahead: Option<Span>,
}

/// Number of packets that a part must carry in a window at full rate. With fewer packets, parts wait longer
/// for one another than they work.
const MIN_PACKETS_PER_WINDOW: f64 = 100.0;
/// Number of ports from which on the data of the next events exceeds the near caches.
const LARGE: usize = 1024;
/// Windows need this number of ports, or this number of packets that a link carries in one window, and this
/// number of nodes per global event in a window.
const PORTS: usize = 128;
const PACKETS: f64 = 4.0;
const NODES: f64 = 32.0;
/// Events per slot in order of time. Few events sort fastest, and several events can be prefetched together.
const FEW: f64 = 1.2;
const SEVERAL: f64 = 4.5;

/// Recommended number of cores, at most `most`. [`run_on`](super::run_on) accepts any number.
pub fn cores(scenario: &Scenario, scheme: &Scheme, most: usize, watched: bool) -> Cores {
    let needs = needs(scenario, scheme, watched);
    let plan = |cores| ExecutionPlan::of(scenario, needs.clone(), cores);
    let mut why = plan(most).fewer_cores;
    for parts in (2..=most.min(scenario.graph.racks())).rev() {
        let plan = plan(parts);
        let (used, carried) = (plan.modes.cores, plan.packets_per_window(scenario));
        if used > 1 && carried >= MIN_PACKETS_PER_WINDOW * used as f64 {
            return Cores { used, why };
        }
        why = why.or_else(|| {
            let window = format!("{parts} parts would synchronise every {}", plan.lookahead);
            Some(format!(
                "{window}, in which links carry at most {carried:.0} packets; each part needs {MIN_PACKETS_PER_WINDOW}"
            ))
        });
    }
    Cores { used: 1, why }
}

/// Needs of the parts of a run. `watched` is true if packets are watched.
fn needs(scenario: &Scenario, scheme: &Scheme, watched: bool) -> Needs {
    let watch = watched.then(|| Needs::global_order("each packet is recorded"));
    let own = "the transport is user-defined";
    let law = scheme.transport.is_user_defined().then(|| Needs::global_order(own));
    let ports = scenario.graph.directions().filter(|(from, ..)| !scenario.graph.is_host(*from));
    let pauses = ports.map(|(from, to, _)| scenario.switch_port(from, to)).any(|port| port.xoff.is_some());
    let queues = Needs { reordering: scheme.reads_priority(), answers: pauses, ..Needs::default() };
    let traffic = scenario.traffic.iter().enumerate();
    let longest = scenario.graph.links.iter().map(|link| link.delay).max().unwrap_or_default();
    let traffic = traffic.map(|(index, traffic)| {
        traffic.start(Seeds::new(0), index).needs(index, scenario.host.reaction, longest)
    });
    let faults = scenario.faults.iter().map(Fault::needs);
    let others = [queues, scenario.routing.needs()].into_iter();
    watch.into_iter().chain(law).chain(faults).chain(others).chain(traffic).sum()
}

impl ExecutionPlan {
    /// Fastest plan on at most `cores` cores. `watched` is true if packets are watched.
    pub fn derive(scenario: &Scenario, scheme: &Scheme, cores: usize, watched: bool) -> ExecutionPlan {
        let plan = ExecutionPlan::of(scenario, needs(scenario, scheme, watched), cores);
        let transports = std::iter::once(&scheme.transport).chain(scenario.transports.values());
        let telemetry = transports.clone().any(|transport| transport.start().reads_hops());
        let cards_hold_one = transports.clone().any(|transport| transport.info().host == Host::Roce);
        let predicts = transports.clone().any(|transport| {
            let is_tcp = transport.info().host == Host::Tcp && transport.recovery() != Recovery::Rack;
            is_tcp && !transport.start().reads_path()
        });
        let modes = Modes { predicts, early_hosts: predicts && plan.modes.early_hosts, ..plan.modes };
        ExecutionPlan { watched, telemetry, cards_hold_one, modes, ..plan }
    }

    /// Plan of an unwatched run with these choices; `None` if the needs of the run forbid the choices.
    pub fn set(modes: Modes, scenario: &Scenario, scheme: &Scheme) -> Option<ExecutionPlan> {
        let plan = ExecutionPlan::derive(scenario, scheme, modes.cores, false);
        let is_legal = plan.modes.cores == modes.cores
            && (plan.node_lookahead.is_some() || !modes.windows)
            && (plan.needs.lets_hosts_go_ahead() && modes.predicts || !modes.early_hosts)
            && (modes.windows || !modes.by_output)
            && (!plan.needs.packet_routing || !modes.fixed_paths);
        is_legal.then_some(ExecutionPlan { modes, ..plan })
    }

    fn of(scenario: &Scenario, needs: Needs, cores: usize) -> ExecutionPlan {
        let graph = &scenario.graph;
        let parts = cores.min(graph.racks()).max(1);
        let owner = owners(graph, parts);
        let crosses = |link: &Link| owner[link.a.index()] != owner[link.b.index()];
        let cut = graph.links.iter().filter(|link| crosses(link)).map(|link| link.delay).min();
        let refusal = needs.global_order.clone().or_else(|| match cut {
            None => Some("all hosts are at one switch".to_owned()),
            Some(Span::ZERO) => Some("a link between two parts has no delay".to_owned()),
            Some(_) => {
                let halved = needs.whole_ports.iter().find(|port| crosses(&graph.links[port.index() / 2]));
                let name = |link: &Link| format!("{}-{}", graph.name(link.a), graph.name(link.b));
                let name = halved.map(|port| name(&graph.links[port.index() / 2]));
                name.map(|name| format!("{name}, between two parts, damages or delays packets"))
            }
        });
        let shortest = graph.links.iter().map(|link| link.delay).min();
        let node_lookahead = shortest.filter(|delay| *delay >= SHORTEST_SLOT && needs.global_order.is_none());
        let is_cut = refusal.is_none();
        let fewer = || (parts < cores).then(|| format!("the network has {} racks", graph.racks()));
        let windows = node_lookahead.is_some_and(|lookahead| windows_pay(scenario, lookahead));
        ExecutionPlan {
            modes: Modes {
                cores: if is_cut { parts } else { 1 },
                windows,
                fixed_paths: !needs.packet_routing,
                prefetch: 2 * graph.links.len() >= LARGE,
                predicts: false,
                early_hosts: needs.lets_hosts_go_ahead(),
                by_output: windows,
            },
            fewer_cores: if cores > 1 { refusal.or_else(fewer) } else { None },
            watched: false,
            telemetry: false,
            cards_hold_one: false,
            needs,
            owner: if is_cut { owner.into() } else { vec![0; graph.nodes.len()].into() },
            lookahead: cut.filter(|_| is_cut).unwrap_or(Span::MAX),
            node_lookahead,
        }
    }

    /// Packets that all links carry in a window, at full rate.
    fn packets_per_window(&self, scenario: &Scenario) -> f64 {
        let size = scenario.tcp.link_bytes(scenario.tcp.mss);
        let packets =
            |link: &Link| 2.0 * self.lookahead.as_secs_f64() / link.rate.tx_time(size).as_secs_f64();
        scenario.graph.links.iter().map(packets).sum::<f64>().round()
    }

    /// Network of the run, prepared for this plan.
    pub(super) fn network(
        &self,
        scenario: &Scenario,
        scheme: &Scheme,
        seeds: Seeds,
    ) -> Result<Network, RouteError> {
        let Modes { fixed_paths, early_hosts, windows, by_output, .. } = self.modes;
        let network = Network::new(scenario, (&scheme.queue, &scheme.host_queue), seeds)?;
        let network = if self.telemetry { network.with_telemetry() } else { network };
        let network = network.with_fixed_paths(fixed_paths);
        let network = if early_hosts { network.with_pulls() } else { network };
        let nodes = scenario.graph.nodes.len();
        Ok(if windows { network.with_windows(nodes, by_output) } else { network })
    }

    /// Empty event queue of the run. Most ports have one pending event while a packet crosses their link.
    pub(super) fn events<E: EventCode>(&self, scenario: &Scenario, network: &Network) -> EventQueue<E> {
        let (graph, size) = (&scenario.graph, scenario.tcp.link_bytes(scenario.tcp.mss));
        let queue = if self.modes.early_hosts {
            EventQueue::new().with_safe_times(graph.hosts())
        } else {
            EventQueue::new()
        };
        if let Some(lookahead) = self.node_lookahead.filter(|_| self.modes.windows) {
            let done = |port: &Port| if port.is_scheduled() { port.from.into() } else { NodeScope::GLOBAL };
            let channels = network.ports().iter().flat_map(|port| [port.to().into(), done(port)]);
            return queue.windowed(graph.nodes.len(), channels, lookahead);
        }
        let crossing = |link: &Link| ((link.rate.tx_time(size) + link.delay).as_ps() as f64).max(1.0);
        let per_ps: f64 = graph.links.iter().map(|link| 2.0 / crossing(link)).sum();
        let per_slot = if self.modes.prefetch { SEVERAL } else { FEW };
        let span = |events: f64| Span::from_ps((events / per_ps) as u64);
        queue.slotted(span(per_slot), span(4.0 * graph.links.len() as f64))
    }
}

/// True if windows are faster. The network or the window must be large enough, a node must get at least one
/// packet per window at full rate, and flows and samples must rarely end windows.
fn windows_pay(scenario: &Scenario, slot: Span) -> bool {
    let (graph, size) = (&scenario.graph, scenario.tcp.link_bytes(scenario.tcp.mss));
    let slots = |time: Span| time.as_secs_f64() / slot.as_secs_f64();
    let arrivals = |link: &Link| 2.0 / slots(link.rate.tx_time(size) + link.delay);
    let flows: f64 = scenario.expected().iter().map(|expected| expected.flows.known()).sum();
    let measured = Span::from_ps(scenario.duration.as_ps() - scenario.warmup.as_ps());
    let samples = scenario.measure.sample_every.map_or(0.0, |every| 1.0 / slots(every));
    let (nodes, interruptions) = (graph.nodes.len() as f64, 2.0 * flows / slots(measured) + samples);
    let carried: f64 = graph.links.iter().map(|link| 1.0 / slots(link.rate.tx_time(size))).sum();
    (2 * graph.links.len() >= PORTS || carried >= PACKETS * graph.links.len() as f64)
        && graph.links.iter().map(arrivals).sum::<f64>() >= nodes
        && NODES * interruptions <= nodes
}

/// Part of each node. Racks are divided in order. Other switches get the least loaded part among their
/// neighbours' parts.
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
    // Number of links of the switches of each part.
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
    // Switches that no host reaches get part 0.
    owner.iter_mut().filter(|part| **part == NONE).for_each(|part| *part = 0);
    owner
}
