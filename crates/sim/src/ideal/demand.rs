//! Flows of a scenario as work for the links that limit them.

use super::Job;
use super::bottleneck::{Crossing, Links};
use crate::engine::Seeds;
use crate::net::{RouteError, Routes, Stage};
use crate::routing::Chooser;
use crate::scenario::Scenario;
use crate::simulation::RunError;
use crate::theory::fct::{Path, ideal_fct, serialisation};
use crate::traffic::{Arrivals, FlowArrival, Workload};
use shortflow_units::{Bytes, HostId, Instant, PortId, Rate, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow at the link that serves it.
pub(super) struct Demand {
    /// Row in the flow table.
    pub row: usize,
    /// Work for the link.
    pub job: Job,
    /// True for a backlogged flow.
    pub backlogged: bool,
    /// Time at which a backlogged flow stops.
    pub stop: Option<Instant>,
    /// Time from the end of service to the completion of the flow.
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

    /// The links that all packets of the flow in row `row` cross, in order. Parallel links among which
    /// packets choose count as one link.
    pub(super) fn crossings(&self, arrival: &FlowArrival, row: usize) -> Vec<Crossing> {
        let tcp = &self.scenario.tcp;
        let size = if arrival.size == Bytes::MAX { tcp.mss } else { arrival.size };
        let crossing = |stage: Stage| {
            let (from, to) = self.scenario.graph.ends(stage.first);
            let is_inner = ![from, to].into_iter().any(|node| self.scenario.graph.is_host(node));
            let work = serialisation(size, tcp, stage.rate);
            Crossing { port: stage.first, rate: stage.rate, work, is_inner }
        };
        self.stages(arrival.source, arrival.destination, row).into_iter().map(crossing).collect()
    }

    /// Limiting link, demand and ideal completion time of the flow in row `row`. `None` for a flow from a
    /// host to itself, which crosses no link.
    pub(super) fn demand(
        &self,
        arrival: &FlowArrival,
        row: usize,
        links: &Links,
    ) -> Option<(PortId, Demand, Span)> {
        let tcp = &self.scenario.tcp;
        let path = self.path(arrival.source, arrival.destination, row);
        let back = self.path(arrival.destination, arrival.source, row);
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

    fn path(&self, source: HostId, to: HostId, row: usize) -> Path {
        let links = &self.scenario.graph.links;
        Path::of(&self.stages(source, to, row), |port| {
            (links[port.index() / 2].rate, links[port.index() / 2].delay)
        })
    }

    /// Stages of a flow's path. The flow chooses among equal paths as if it had its own connection.
    fn stages(&self, source: HostId, to: HostId, row: usize) -> Vec<Stage> {
        let links = &self.scenario.graph.links;
        let link = |port: PortId| (links[port.index() / 2].rate, links[port.index() / 2].delay);
        let end = |port: PortId| self.scenario.graph.ends(port).1;
        self.routes.stages((source, to, row as u32), &self.chooser, link, end)
    }
}

/// All flows up to the end of the drain, in the order in which a packet simulation starts them: by time, then
/// by traffic entry.
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
