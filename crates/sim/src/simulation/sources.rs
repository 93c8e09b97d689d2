//! The traffic of a run: flows known in advance, and applications that answer arrivals.

use crate::engine::Seeds;
use crate::scenario::Scenario;
use crate::traffic::{
    AppActions, Application, Arrivals, FlowArrival, FlowRequest, TaskId, TaskRow, Workload,
};
use shortflow_units::Instant;
use std::collections::{BTreeMap, VecDeque};

/// Start of a flow, and its traffic entry.
pub(super) type FlowStart = (Instant, usize);

/// A flow that starts, and the application to tell of its arrival.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub arrival: FlowArrival,
    pub reply: Option<Reply>,
}

/// Receiver of the report of an arrival.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reply {
    pub task: TaskId,
    source: usize,
    tag: u64,
}

enum Source {
    Open { arrivals: Box<dyn Arrivals>, next: Option<FlowArrival> },
    Closed { application: Box<dyn Application>, planned: BTreeMap<(Instant, u64), FlowRequest> },
}

/// Every traffic entry.
pub(super) struct Sources {
    entries: Vec<Source>,
    steps: AppActions,
    /// Ends of applications' flows in the stream of each connection.
    awaited: BTreeMap<u32, VecDeque<(u64, Reply)>>,
    /// Bytes up to which answers are due, by connection.
    told: BTreeMap<u32, u64>,
    planned: u64,
    end: Instant,
}

impl Sources {
    pub(super) fn new(scenario: &Scenario, seeds: Seeds) -> Sources {
        let source = |workload| match workload {
            Workload::Open(arrivals) => Source::Open { arrivals, next: None },
            Workload::Closed(application) => Source::Closed { application, planned: BTreeMap::new() },
        };
        let entries =
            scenario.traffic.iter().enumerate().map(|(index, traffic)| source(traffic.start(seeds, index)));
        Sources {
            entries: entries.collect(),
            steps: AppActions::default(),
            awaited: BTreeMap::new(),
            told: BTreeMap::new(),
            planned: 0,
            end: Instant::ZERO + scenario.duration + scenario.drain,
        }
    }

    /// Begins all entries: the first flow of each known in advance, and flows planned by applications.
    pub(super) fn begin(&mut self) -> (Vec<FlowStart>, Vec<FlowStart>) {
        let (mut known, mut planned) = (Vec::new(), Vec::new());
        for index in 0..self.entries.len() {
            match &mut self.entries[index] {
                Source::Open { .. } => known.extend(self.advance(index).map(|at| (at, index))),
                Source::Closed { application, .. } => {
                    application.begin(&mut self.steps);
                    planned.extend(self.plan(index));
                }
            }
        }
        (known, planned)
    }

    /// The due flow of entry `index`.
    #[inline]
    pub(super) fn take(&mut self, index: usize) -> Option<Start> {
        match &mut self.entries[index] {
            Source::Open { next, .. } => next.take().map(|arrival| Start { arrival, reply: None }),
            Source::Closed { planned, .. } => {
                let (_, FlowRequest { arrival, task, tag }) = planned.pop_first()?;
                Some(Start { arrival, reply: Some(Reply { task, source: index, tag }) })
            }
        }
    }

    /// Time of the next flow of entry `index`, if known in advance. Flows arrive during the drain too, so that measured flows do
    /// not finish in an emptying network.
    #[inline]
    pub(super) fn advance(&mut self, index: usize) -> Option<Instant> {
        let Source::Open { arrivals, next } = &mut self.entries[index] else { return None };
        *next = arrivals.next().filter(|arrival| arrival.at < self.end);
        next.as_ref().map(|arrival| arrival.at)
    }

    /// A flow of an application ends at byte `end` of a connection's stream.
    pub(super) fn expect(&mut self, flow_id: u32, end: u64, reply: Reply) {
        self.awaited.entry(flow_id).or_default().push_back((end, reply));
    }

    /// True if a flow of an application has arrived with its connection's stream up to `received`, at the first call that finds it.
    pub(super) fn is_news(&mut self, flow_id: u32, received: u64) -> bool {
        let told = self.told.get(&flow_id).copied().unwrap_or(0);
        let mut ends = self.awaited.get(&flow_id).into_iter().flatten().map(|(end, _)| *end); // ascending
        let is_news = ends.find(|end| *end > told).is_some_and(|end| end <= received);
        if is_news {
            self.told.insert(flow_id, received);
        }
        is_news
    }

    /// Reports that a connection has received its stream up to `received`. Returns the start times of flows that follow.
    pub(super) fn delivered(&mut self, now: Instant, flow_id: u32, received: u64) -> Vec<FlowStart> {
        let mut starts = Vec::new();
        while let Some(reply) = self.next_delivered(flow_id, received) {
            if let Source::Closed { application, .. } = &mut self.entries[reply.source] {
                application.delivered(now, reply.tag, &mut self.steps);
                starts.extend(self.plan(reply.source));
            }
        }
        starts
    }

    fn next_delivered(&mut self, flow_id: u32, received: u64) -> Option<Reply> {
        let awaited = self.awaited.get_mut(&flow_id)?;
        let &(_, reply) = awaited.front().filter(|(end, _)| *end <= received)?;
        awaited.pop_front();
        if awaited.is_empty() {
            self.awaited.remove(&flow_id);
            self.told.remove(&flow_id);
        }
        Some(reply)
    }

    /// Takes over an application's latest requests.
    fn plan(&mut self, index: usize) -> Vec<FlowStart> {
        let Source::Closed { planned, .. } = &mut self.entries[index] else { return Vec::new() };
        let plan = |sending: FlowRequest| {
            self.planned += 1;
            planned.insert((sending.arrival.at, self.planned), sending);
            (sending.arrival.at, index)
        };
        self.steps.take_sendings().into_iter().map(plan).collect()
    }

    /// True if there is memory for another task.
    pub(super) fn has_room(&mut self) -> bool {
        self.steps.has_room()
    }

    pub(super) fn into_tasks(self) -> Vec<TaskRow> {
        self.steps.into_tasks()
    }
}
