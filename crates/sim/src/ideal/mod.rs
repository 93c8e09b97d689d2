//! Ideal schedulers: the link that limits each flow is a fluid server that follows a policy at once and
//! without error. There are no losses, packet queues, probes or late ACKs, so the completion times are a
//! yardstick for real transports.
//!
//! **Model.** One link serves a flow, the link that limits it (`bottleneck.rs`): the last link of its path if
//! many hosts send to one. All other links are infinitely fast. The demand of a flow is its bytes on that
//! link, including the header of each segment. The flow completes a fixed latency after the service of its
//! last byte. The latency is the completion time of [`ideal_fct`](crate::theory::fct::ideal_fct) minus the
//! serialisation time of the demand at that link. A flow that is alone therefore has exactly its ideal
//! completion time.
//!
//! Under PS, backlogged flows share the link equally with all other flows. Under the other policies they
//! share the time that finite flows leave idle. The bytes of a finite flow count as acknowledged when it
//! finishes. Backlogged flows are followed until the end of the measured time. Flows of the drain compete
//! with measured flows, as in a packet simulation.

mod bottleneck;
mod demand;
mod discipline;
mod levels;
mod ranked;
mod server;
mod sharing;
#[cfg(test)]
mod tests;

pub use discipline::Job;

use crate::engine::Seeds;
use crate::outcome::{Counters, FlowRow, Outcome};
use crate::scenario::Scenario;
use crate::simulation::{Observer, RunError, RunProgress};
use crate::specs::TcpSpec;
use crate::tables::port_names;
use bottleneck::Links;
use demand::{Demand, Paths, arrivals};
use discipline::Discipline;
use ranked::PriorityDiscipline;
use server::Server;
use shortflow_units::{Bytes, Instant, Rate, Span};
use std::collections::BTreeMap;

/// Number of flows between two calls of the observer.
const TICK: usize = 8192;
/// Largest number of flows that are examined for several limiting links.
const JUDGED: usize = 200_000;
/// Flows of the drain between two checks for open measured flows.
const LOOK: usize = 256;

/// A service policy.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Name in scenarios and on the command line.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    by_deadline: bool,
    discipline: fn() -> Box<dyn Discipline>,
}

/// Registry of policies, in the order of the documentation.
const POLICIES: &[Policy] = &[
    Policy {
        name: "ideal-srpt",
        summary: "shortest remaining work first: no policy has a lower mean completion time",
        by_deadline: false,
        discipline: || Box::new(PriorityDiscipline::new(|_, remaining| remaining.as_ps())),
    },
    Policy {
        name: "ideal-sjf",
        summary: "smallest flow first, by original size; a smaller flow preempts",
        by_deadline: false,
        discipline: || Box::new(PriorityDiscipline::new(|job, _| job.work.as_ps())),
    },
    Policy {
        name: "ideal-las",
        summary: "least attained service first, ties share equally; knows no sizes",
        by_deadline: false,
        discipline: || Box::new(levels::LasDiscipline::default()),
    },
    Policy {
        name: "ideal-ps",
        summary: "processor sharing: an equal share for every flow",
        by_deadline: false,
        discipline: || Box::new(sharing::Sharing::default()),
    },
    Policy {
        name: "ideal-fifo",
        summary: "one flow after the other, in the order of arrival",
        by_deadline: false,
        discipline: || Box::new(PriorityDiscipline::new(|_, _| 0)),
    },
    Policy {
        name: "ideal-edf",
        summary: "earliest deadline first, flows without a deadline last",
        by_deadline: true,
        discipline: || Box::new(PriorityDiscipline::new(|job, _| job.deadline.as_ps())),
    },
];

/// All policies.
pub fn policies() -> &'static [Policy] {
    POLICIES
}

/// Policies that are meaningful for `scenario`. Policies by deadline require deadlines. An error says why no
/// policy is meaningful: flows wait for other flows, or several links limit the same flows.
pub fn policies_for(scenario: &Scenario) -> Result<Vec<Policy>, String> {
    let seeds = Seeds::new(0);
    let arrivals = arrivals(scenario, seeds).map_err(|error| error.to_string())?;
    let end = Instant::ZERO + scenario.duration;
    let first: Vec<_> = arrivals.take_while(|arrival| arrival.at < end).take(JUDGED).collect();
    let paths = Paths::new(scenario, seeds).map_err(|error| error.to_string())?;
    let crossed: Vec<_> = (0..).zip(&first).map(|(row, arrival)| paths.crossings(arrival, row)).collect();
    if let Some(pair) = bottleneck::second(scenario, &first, &crossed) {
        let names = port_names(scenario);
        return Err(format!(
            "much of the traffic waits at several links, such as {} and {}, and an ideal scheduler serves each flow at one link",
            names[pair.1.index()],
            names[pair.0.index()]
        ));
    }
    let suits = |policy: &Policy| scenario.deadlines || !policy.by_deadline;
    Ok(POLICIES.iter().copied().filter(suits).collect())
}

impl Policy {
    /// The policy with this name.
    pub fn named(name: &str) -> Option<Policy> {
        POLICIES.iter().find(|policy| policy.name == name).copied()
    }
}

/// Finish times of `jobs`, which are in order of arrival, on a link of their own under `policy`.
pub fn finishes(policy: Policy, jobs: &[Job]) -> Vec<Instant> {
    let (mut discipline, mut finished) = ((policy.discipline)(), Vec::new());
    for (index, job) in (0..).zip(jobs) {
        discipline.advance(job.arrives, 0, &mut finished);
        discipline.add(index, job);
    }
    discipline.advance(Instant::MAX, 0, &mut finished);
    let mut finishes = vec![Instant::MAX; jobs.len()];
    finished.into_iter().for_each(|(index, at)| finishes[index as usize] = at);
    finishes
}

/// Serves the flows of `scenario` and `seed`, which are the same for all schemes, under `policy`. Flows also
/// arrive during the drain, until the measured flows are finished. The outcome has no ports and no samples.
pub fn run(
    scenario: &Scenario,
    policy: Policy,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    let seeds = Seeds::new(seed);
    let paths = Paths::new(scenario, seeds)?;
    let ledger = Ledger::of(scenario);
    let links = bottlenecks(scenario, seeds, &paths, observer)?;
    let mut flows = Vec::new();
    let mut demands: BTreeMap<_, Vec<Demand>> = BTreeMap::new();
    let mut arrivals = arrivals(scenario, seeds)?.peekable();
    while let Some(arrival) = arrivals.next_if(|arrival| arrival.at < ledger.measure_end) {
        if flows.len() % TICK == TICK - 1 && !observer.tick(standing(arrival.at, flows.len())) {
            return Err(RunError::Cancelled);
        }
        let Some((port, demand, ideal)) = paths.demand(&arrival, flows.len(), &links) else { continue };
        flows.push(FlowRow::new(&arrival, (!demand.backlogged).then_some(ideal)));
        demands.entry(port).or_default().push(demand);
    }
    let counted = flows.len();
    let mut servers = BTreeMap::new();
    for (port, demands) in demands {
        if !observer.tick(standing(ledger.measure_end, 0)) {
            return Err(RunError::Cancelled);
        }
        servers.insert(port, ledger.serve((policy.discipline)(), demands, &mut flows));
    }
    let mut end = None;
    for (number, arrival) in arrivals.enumerate() {
        if number % LOOK == 0 {
            if !observer.tick(standing(arrival.at, flows.len())) {
                return Err(RunError::Cancelled);
            }
            if end.is_none() && !servers.values_mut().any(|server| server.is_open_at(arrival.at)) {
                servers.values_mut().for_each(|server| ledger.finish(server, &mut flows));
                end = Some(ledger.end(&flows[..counted]));
            }
        }
        if end.is_some_and(|end| arrival.at >= end) {
            break;
        }
        let Some((port, demand, ideal)) = paths.demand(&arrival, flows.len(), &links) else { continue };
        flows.push(FlowRow::new(&arrival, (!demand.backlogged).then_some(ideal)));
        if let Some(server) = servers.get_mut(&port)
            && server.is_open_at(arrival.at)
        {
            server.take(demand);
        }
    }
    if end.is_none() {
        servers.values_mut().for_each(|server| ledger.finish(server, &mut flows));
    }
    let drain = flows.split_off(counted);
    Ok(ledger.outcome(flows, drain, scenario.measure.drain_flows))
}

/// Load of the measured flows on every link.
fn bottlenecks(
    scenario: &Scenario,
    seeds: Seeds,
    paths: &Paths,
    observer: &mut dyn Observer,
) -> Result<Links, RunError> {
    let (mut links, end) = (Links::new(scenario), Instant::ZERO + scenario.duration);
    let measured = arrivals(scenario, seeds)?.take_while(|arrival| arrival.at < end);
    for (row, arrival) in measured.enumerate() {
        if row % TICK == TICK - 1 && !observer.tick(standing(Instant::ZERO, 0)) {
            return Err(RunError::Cancelled);
        }
        links.add(&arrival, &paths.crossings(&arrival, row));
    }
    Ok(links)
}

/// Progress after `flows` flows, without open flows.
fn standing(now: Instant, flows: usize) -> RunProgress {
    RunProgress { now, open: 0, flows: flows as u64, last: Instant::ZERO }
}

/// Writes the service in the measured time into flow rows.
struct Ledger<'a> {
    tcp: &'a TcpSpec,
    warm_up_end: Instant,
    measure_end: Instant,
    limit: Instant,
}

impl Ledger<'_> {
    fn of(scenario: &Scenario) -> Ledger<'_> {
        let measure_end = Instant::ZERO + scenario.duration;
        let warm_up_end = Instant::ZERO + scenario.warmup;
        Ledger { tcp: &scenario.tcp, warm_up_end, measure_end, limit: measure_end + scenario.drain }
    }

    /// Serves the measured flows of a link until the end of the measured time, and writes the bytes of
    /// backlogged flows into their rows.
    fn serve(&self, discipline: Box<dyn Discipline>, demands: Vec<Demand>, flows: &mut [FlowRow]) -> Server {
        let mut server = Server::new(discipline);
        let mut demands = demands.into_iter().peekable();
        while let Some(demand) = demands.next_if(|demand| demand.job.arrives < self.warm_up_end) {
            server.take_counted(demand);
        }
        let warm = server.advance(self.warm_up_end);
        demands.for_each(|demand| server.take_counted(demand));
        let end = server.advance(self.measure_end);
        for (demand, served) in server.backlogged() {
            let (row, end) = (&mut flows[demand.row], end.min(served.end));
            row.acked = self.payload(demand.rate, end - served.start);
            row.delivered_in_window = self.payload(demand.rate, (end - warm.max(served.start)).max(0.0));
        }
        server
    }

    /// Serves all remaining work, and writes finish times into rows.
    fn finish(&self, server: &mut Server, flows: &mut [FlowRow]) {
        server.advance(Instant::MAX);
        for (demand, served) in server.finished() {
            let (row, finish) = (&mut flows[demand.row], served + demand.latency);
            if finish > self.limit {
                continue;
            }
            row.finish = Some(finish);
            row.acked = row.size;
            if finish > self.warm_up_end && finish <= self.measure_end {
                row.delivered_in_window = row.size;
            }
        }
    }

    /// Payload, in full segments, of `ps` picoseconds of service.
    fn payload(&self, rate: Rate, ps: f64) -> Bytes {
        let wire = u128::from(rate.bytes_in(Span::from_ps(ps.round() as u64)).get());
        let mss = self.tcp.mss;
        let (mss, takes) = (u128::from(mss.get()), u128::from(self.tcp.link_bytes(mss).get()));
        Bytes::new((wire * mss / takes) as u64)
    }

    /// End of a run with these rows of measured flows.
    fn end(&self, flows: &[FlowRow]) -> Instant {
        let is_done = |row: &FlowRow| row.finish.is_some() || row.size == Bytes::MAX;
        match flows.iter().all(is_done) {
            true => flows.iter().filter_map(|row| row.finish).fold(self.measure_end, Instant::max),
            false => self.limit,
        }
    }

    fn outcome(&self, flows: Vec<FlowRow>, mut drain: Vec<FlowRow>, keeps: bool) -> Outcome {
        let finished = flows.iter().filter(|row| row.finish.is_some()).count() as u64;
        let finite = flows.iter().filter(|row| row.size != Bytes::MAX).count() as u64;
        let end = self.end(&flows);
        drain.retain(|row| row.start < end);
        for row in drain.iter_mut().filter(|row| row.finish.is_some_and(|finish| finish > end)) {
            (row.finish, row.acked) = (None, Bytes::ZERO);
        }
        let counters = Counters {
            events: (flows.len() + drain.len()) as u64 + finished,
            unfinished: finite - finished,
            drain_flows: drain.len() as u64,
            drain_bytes: drain.iter().filter(|row| row.size != Bytes::MAX).map(|row| row.size.get()).sum(),
            ..Counters::default()
        };
        if !keeps {
            drain.clear();
        }
        Outcome { flows, drain_flows: drain, counters, end, ..Outcome::default() }
    }
}
