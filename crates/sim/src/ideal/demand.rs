//! The flows of a scenario as work for its access links.

use super::Job;
use super::bottleneck::{Crossing, Links};
use crate::engine::Seeds;
use crate::net::{RouteError, Routes};
use crate::routing::Chooser;
use crate::scenario::Scenario;
use crate::simulation::RunError;
use crate::theory::fct::{Path, ideal_fct, serialisation};
use crate::traffic::{Arrivals, FlowArrival, Workload};
use shortflow_units::{Bytes, HostId, Instant, NodeId, PortId, Rate, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow at the link that serves it.
pub(super) struct Demand {
    /// Row in the table of flows.
    pub row: usize,
    /// Work for the link.
    pub job: Job,
    /// The flow never ends.
    pub backlogged: bool,
    /// It is stopped then.
    pub stop: Option<Instant>,
    /// From the end of service to the completion of the flow.
    pub latency: Span,
    /// Rate of the link.
    pub rate: Rate,
}

/// The network that flows cross.
pub(super) struct Paths<'a> {
    pub(super) scenario: &'a Scenario,
    routes: Routes,
    chooser: Chooser,
}

impl<'a> Paths<'a> {
    /// The network of a scenario, with the routes of a run with these seeds.
    pub(super) fn new(scenario: &'a Scenario, seeds: Seeds) -> Result<Paths<'a>, RouteError> {
        let graph = &scenario.graph;
        let chooser = scenario.routing.start(graph.nodes.len(), seeds);
        Ok(Paths { scenario, routes: Routes::new(graph)?, chooser })
    }

    /// The links that all packets of the flow of row `row` cross, in order.
    pub(super) fn crossings(&self, arrival: &FlowArrival, row: usize) -> Vec<Crossing> {
        let (ports, path) = self.path(arrival.source, arrival.destination, row as u32);
        let tcp = &self.scenario.tcp;
        let size = if arrival.size == Bytes::MAX { tcp.mss } else { arrival.size };
        let last = ports.len().saturating_sub(1);
        let crossing = |(place, port): (usize, PortId)| {
            let (link, (rate, _)) = (&self.scenario.graph.links[port.index() / 2], path.links[place]);
            let is_inner = ![link.a, link.b].into_iter().any(|node| self.scenario.graph.is_host(node));
            let work = serialisation(size, tcp, rate);
            (place < path.before_choice || place == last).then_some(Crossing { port, rate, work, is_inner })
        };
        ports.into_iter().enumerate().filter_map(crossing).collect()
    }

    /// The demand of the flow of row `row`, the link that it goes to, and its ideal completion time.
    /// `None` for a flow from a host to itself, which crosses no link.
    pub(super) fn demand(
        &self,
        arrival: &FlowArrival,
        row: usize,
        links: &Links,
    ) -> Option<(PortId, Demand, Span)> {
        let tcp = &self.scenario.tcp;
        let (_, path) = self.path(arrival.source, arrival.destination, row as u32);
        let (_, back) = self.path(arrival.destination, arrival.source, row as u32);
        let crossings = self.crossings(arrival, row);
        let Crossing { port, rate, .. } = crossings[links.limiting(&crossings)?];
        let ideal = ideal_fct(arrival.size, tcp, &path, &back);
        let work = serialisation(arrival.size, tcp, rate);
        let deadline = arrival.deadline.map_or(Instant::MAX, |allowed| arrival.at + allowed);
        let demand = Demand {
            row,
            job: Job { arrives: arrival.at, work, deadline },
            backlogged: arrival.size == Bytes::MAX,
            stop: arrival.stop,
            latency: ideal.saturating_sub(work),
            rate,
        };
        Some((port, demand, ideal))
    }

    /// The ports on the way of a flow, and their links. Each flow chooses
    /// among equal paths as if it had a connection of its own.
    fn path(&self, source: HostId, to: HostId, flow_id: u32) -> (Vec<PortId>, Path) {
        let links = &self.scenario.graph.links;
        let rate_and_delay = |port: PortId| (links[port.index() / 2].rate, links[port.index() / 2].delay);
        let mut node = NodeId(source.0);
        let mut ports = Vec::new();
        let path = Path::of(std::iter::from_fn(|| {
            let (port, shared) = self.routes.of_flow((node, to, flow_id), &self.chooser, rate_and_delay)?;
            let link = &links[port.index() / 2];
            node = if port.index() % 2 == 0 { link.b } else { link.a };
            ports.push(port);
            Some((rate_and_delay(port), shared))
        }));
        (ports, path)
    }
}

/// All flows of a run up to the end of its drain, in the order in which a simulation of packets starts them: by time, then by
/// source.
pub(super) fn arrivals(
    scenario: &Scenario,
    seeds: Seeds,
) -> Result<impl Iterator<Item = FlowArrival>, RunError> {
    let end = Instant::ZERO + scenario.duration + scenario.drain;
    let known = |index: usize| match scenario.traffic[index].start(seeds, index) {
        Workload::Open(arrivals) => Ok(arrivals),
        Workload::Closed(_) => Err(RunError::ClosedLoop(index + 1)),
    };
    let mut sources: Vec<Box<dyn Arrivals>> =
        (0..scenario.traffic.len()).map(known).collect::<Result<_, _>>()?;
    let mut next: Vec<Option<FlowArrival>> = sources.iter_mut().map(|source| source.next()).collect();
    let mut turns: BinaryHeap<Reverse<(Instant, usize)>> =
        next.iter().enumerate().filter_map(|(i, a)| Some(Reverse((a.as_ref()?.at, i)))).collect();
    Ok(std::iter::from_fn(move || {
        let Reverse((at, source)) = turns.pop()?;
        (at < end).then_some(())?;
        let following = sources[source].next();
        if let Some(arrival) = &following {
            turns.push(Reverse((arrival.at, source)));
        }
        std::mem::replace(&mut next[source], following)
    }))
}
