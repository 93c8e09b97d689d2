//! The traffic of a run: open-loop flows, and closed-loop applications that respond to arrivals.

use crate::engine::Seeds;
use crate::scenario::Scenario;
use crate::traffic::{
    AppActions, Application, Arrivals, FlowArrival, FlowRequest, TaskId, TaskRow, Workload,
};
use shortflow_units::Instant;
use std::collections::{BTreeMap, VecDeque};

/// Start time of a flow, and the index of its traffic entry.
pub(super) type FlowStart = (Instant, usize);

/// A flow to start, and the application that waits for its arrival.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub arrival: FlowArrival,
    pub reply: Option<Reply>,
}

/// Application and task that learn of a flow's arrival.
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

/// Traffic sources of all entries.
pub(super) struct Sources {
    entries: Vec<Source>,
    actions: AppActions,
    /// By connection: ends of applications' flows in its stream, each with the application that waits.
    awaited_ends: BTreeMap<u32, VecDeque<(u64, Reply)>>,
    /// By connection: byte up to which an arrival was already announced.
    announced: BTreeMap<u32, u64>,
    /// Bytes that receivers have, by the time at which the application learns of them, and by flow id.
    answers: BTreeMap<(Instant, u32), u64>,
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
            actions: AppActions::default(),
            awaited_ends: BTreeMap::new(),
            announced: BTreeMap::new(),
            answers: BTreeMap::new(),
            planned: 0,
            end: Instant::ZERO + scenario.duration + scenario.drain,
        }
    }

    /// Starts all entries. Returns the first flow of each open-loop entry, and the flows that applications
    /// plan.
    pub(super) fn begin(&mut self) -> (Vec<FlowStart>, Vec<FlowStart>) {
        let (mut known, mut planned) = (Vec::new(), Vec::new());
        for index in 0..self.entries.len() {
            match &mut self.entries[index] {
                Source::Open { .. } => known.extend(self.advance(index).map(|at| (at, index))),
                Source::Closed { application, .. } => {
                    application.begin(&mut self.actions);
                    planned.extend(self.plan(index));
                }
            }
        }
        (known, planned)
    }

    /// Takes the flow of entry `index` that is due.
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

    /// Start time of the next flow of entry `index`, if the entry is open-loop. Flows also start during the
    /// drain. Without this load, the measured flows would finish in an emptying network.
    #[inline]
    pub(super) fn advance(&mut self, index: usize) -> Option<Instant> {
        let Source::Open { arrivals, next } = &mut self.entries[index] else { return None };
        *next = arrivals.next().filter(|arrival| arrival.at < self.end);
        next.as_ref().map(|arrival| arrival.at)
    }

    /// Notes that a flow of an application ends at byte `end` of a connection's stream.
    pub(super) fn expect(&mut self, flow_id: u32, end: u64, reply: Reply) {
        self.awaited_ends.entry(flow_id).or_default().push_back((end, reply));
    }

    /// True if a flow of an application ends at or below `received` and was not announced by an earlier call.
    pub(super) fn announces(&mut self, flow_id: u32, received: u64) -> bool {
        let announced = self.announced.get(&flow_id).copied().unwrap_or(0);
        let mut ends = self.awaited_ends.get(&flow_id).into_iter().flatten().map(|(end, _)| *end); // ascending
        let is_new = ends.find(|end| *end > announced).is_some_and(|end| end <= received);
        if is_new {
            self.announced.insert(flow_id, received);
        }
        is_new
    }

    /// Notes that the application learns at `at` of the bytes that a receiver has.
    pub(super) fn expect_answer(&mut self, at: Instant, flow_id: u32, received: u64) {
        self.answers.insert((at, flow_id), received);
    }

    /// Lets the application that has waited longest learn of an arrival. Returns the starts of its next flows.
    pub(super) fn answer(&mut self, now: Instant) -> Vec<FlowStart> {
        let due = self.answers.first_entry().filter(|first| first.key().0 <= now);
        let due = due.map(|first| first.remove_entry());
        due.map(|((_, flow_id), received)| self.delivered(now, flow_id, received)).unwrap_or_default()
    }

    /// Tells applications that a connection's stream has arrived up to byte `received`. Returns the starts of
    /// the flows that they send in response.
    pub(super) fn delivered(&mut self, now: Instant, flow_id: u32, received: u64) -> Vec<FlowStart> {
        let mut starts = Vec::new();
        while let Some(reply) = self.next_delivered(flow_id, received) {
            if let Source::Closed { application, .. } = &mut self.entries[reply.source] {
                application.delivered(now, reply.tag, &mut self.actions);
                starts.extend(self.plan(reply.source));
            }
        }
        starts
    }

    fn next_delivered(&mut self, flow_id: u32, received: u64) -> Option<Reply> {
        let ends = self.awaited_ends.get_mut(&flow_id)?;
        let &(_, reply) = ends.front().filter(|(end, _)| *end <= received)?;
        ends.pop_front();
        if ends.is_empty() {
            self.awaited_ends.remove(&flow_id);
            self.announced.remove(&flow_id);
        }
        Some(reply)
    }

    /// Plans the flows that an application has just requested. Returns their starts.
    fn plan(&mut self, index: usize) -> Vec<FlowStart> {
        let Source::Closed { planned, .. } = &mut self.entries[index] else { return Vec::new() };
        let plan = |request: FlowRequest| {
            self.planned += 1;
            planned.insert((request.arrival.at, self.planned), request);
            (request.arrival.at, index)
        };
        self.actions.take_requests().into_iter().map(plan).collect()
    }

    /// True if there is memory for another task.
    pub(super) fn has_room(&mut self) -> bool {
        self.actions.has_room()
    }

    pub(super) fn into_tasks(self) -> Vec<TaskRow> {
        self.actions.into_tasks()
    }
}
