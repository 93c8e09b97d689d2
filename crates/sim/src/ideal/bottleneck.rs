//! The link that limits a flow, and other links that limit the same flow.
//!
//! Each link is judged as if it were the only slow link: it serves its flows in order of arrival, at its
//! rate. The mean wait, and the backlogged flows that share the link, show how much the link delays its
//! flows.

use crate::scenario::Scenario;
use crate::traffic::FlowArrival;
use shortflow_units::{Bytes, PortId, Rate, Span};

/// Ratio of two stays or waits above which they are similar. The last link limits a flow unless the flow's
/// stay there is below this share of its longest stay at any link.
const CLEARLY: f64 = 0.5;
/// A mean wait below this share of the service time at the limiting link is ignored.
const NEGLIGIBLE: f64 = 0.1;
/// Share of bytes, in flows with several limiting links, up to which a model with one link per flow is fair.
const FEW: f64 = 0.1;

/// A flow at a link that all its packets cross.
pub(super) struct Crossing {
    /// The port.
    pub port: PortId,
    /// Rate of the link.
    pub rate: Rate,
    /// Service time of the flow alone; for a backlogged flow, of a full segment.
    pub work: Span,
    /// True if the link connects two switches.
    pub is_inner: bool,
}

/// A link as the only slow link. Times are in picoseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    idle_from: f64,
    waited: f64,
    served: f64,
    flows: f64,
    backlogged: f64,
}

impl Link {
    /// Mean service time.
    fn service(&self) -> f64 {
        self.served / self.flows.max(1.0)
    }

    /// Mean wait behind finite flows and beside backlogged flows.
    fn wait(&self) -> f64 {
        self.waited / self.flows.max(1.0) + self.backlogged * self.service()
    }

    /// Mean time from arrival to the end of service.
    fn stay(&self) -> f64 {
        self.wait() + self.service()
    }
}

/// Each port of a network as the only slow link.
#[derive(Debug)]
pub(super) struct Links(Vec<Link>);

impl Links {
    /// Links without flows.
    pub(super) fn new(scenario: &Scenario) -> Links {
        Links(vec![Link::default(); 2 * scenario.graph.links.len()])
    }

    /// Adds the next flow.
    pub(super) fn add(&mut self, arrival: &FlowArrival, crossings: &[Crossing]) {
        let at = arrival.at.as_ps() as f64;
        for crossing in crossings {
            let link = &mut self.0[crossing.port.index()];
            let work = crossing.work.as_ps() as f64;
            link.flows += 1.0;
            link.served += work;
            if arrival.size == Bytes::MAX {
                link.backlogged += 1.0;
                continue;
            }
            let begins = link.idle_from.max(at);
            link.waited += begins - at;
            link.idle_from = begins + work;
        }
    }

    /// Index of the link that limits a flow: the last link, unless the flow stays clearly longer at another.
    pub(super) fn limiting(&self, crossings: &[Crossing]) -> Option<usize> {
        let stay = |place: &usize| self.0[crossings[*place].port.index()].stay();
        let last = crossings.len().checked_sub(1)?;
        let longest = (0..=last).max_by(|a, b| stay(a).total_cmp(&stay(b)))?;
        Some(if stay(&last) < CLEARLY * stay(&longest) { longest } else { last })
    }

    /// True if `other`, a link between switches, makes flows wait about as long as the link that serves them.
    fn competes(&self, serving: PortId, other: PortId) -> bool {
        let (serving, other) = (&self.0[serving.index()], &self.0[other.index()]);
        other.wait() > CLEARLY * serving.wait() && other.wait() > NEGLIGIBLE * serving.service()
    }
}

/// Finds a second limiting link: a link between switches at which many bytes of these flows wait in addition
/// to the link that serves them. Returns the serving link and this link, or `None` if one link limits each
/// flow. Backlogged flows count with the bytes that they get of their link until arrivals end. A link whose
/// flows all continue to the same link, no faster than itself, does not count, because it adds no wait.
pub(super) fn second(
    scenario: &Scenario,
    arrivals: &[FlowArrival],
    flows: &[Vec<Crossing>],
) -> Option<(PortId, PortId)> {
    let mut links = Links::new(scenario);
    flows.iter().zip(arrivals).for_each(|(crossings, arrival)| links.add(arrival, crossings));
    let mut served_by: Vec<Option<PortId>> = vec![None; links.0.len()];
    let mut is_tandem = vec![true; links.0.len()];
    let mut delayed = vec![(0.0, None); links.0.len()];
    let mut all = 0.0;
    for (crossings, arrival) in flows.iter().zip(arrivals) {
        let Some(serving) = links.limiting(crossings).map(|place| &crossings[place]) else { continue };
        let sharers = links.0[serving.port.index()].backlogged.max(1.0);
        let carried = serving.rate.as_bps() as f64 / 8.0 * scenario.duration.as_secs_f64() / sharers;
        let bytes = if arrival.size == Bytes::MAX { carried } else { arrival.size.as_f64() };
        all += bytes;
        for other in crossings {
            let place = other.port.index();
            let first = *served_by[place].get_or_insert(serving.port);
            is_tandem[place] &= first == serving.port && serving.rate <= other.rate;
            if other.port != serving.port && other.is_inner && links.competes(serving.port, other.port) {
                delayed[place] = (delayed[place].0 + bytes, Some((serving.port, other.port)));
            }
        }
    }
    let found = delayed.iter().zip(&is_tandem).filter(|(_, is_tandem)| !**is_tandem);
    let (bytes, pair) = found.map(|(delayed, _)| *delayed).max_by(|one, other| one.0.total_cmp(&other.0))?;
    pair.filter(|_| bytes > FEW * all)
}
