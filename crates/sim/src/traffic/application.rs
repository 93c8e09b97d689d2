//! Interface of closed-loop traffic. An [`Application`] learns when its flows arrive, and sends new flows in
//! response. A task groups flows, such as a query and its answers, and has a row in the task table.

use super::FlowArrival;
use shortflow_spec::words;
use shortflow_units::{ClassId, Instant, Span};

/// Traffic that waits for responses.
///
/// Random draws must not depend on the order in which flows arrive; otherwise schemes would meet different
/// sizes. A task therefore makes all its draws when it opens, or uses its own random streams.
pub trait Application: Send {
    /// Starts the application at the beginning of the run.
    fn begin(&mut self, actions: &mut AppActions);
    /// Reports that the last byte of the flow with tag `tag` has reached its receiver.
    fn delivered(&mut self, now: Instant, tag: u64, actions: &mut AppActions);
}

words! {
    /// Kind of a task, with its name in result tables.
    pub enum TaskKind {
        /// Starts with the first request and ends with the last byte of the answers.
        Query = "query",
        /// Starts with the first byte read and ends with the last byte collected. The job of a trace starts
        /// with its first flow and ends with its last byte.
        Job = "job",
        /// Starts with the first block sent and ends with the last block received.
        Shuffle = "shuffle",
        /// Starts with a client's request and ends with the last byte of the page.
        Request = "request",
        /// Starts with the first chunk sent and ends when the last rank has its last chunk.
        Collective = "collective",
    }
}

/// A row of the task table.
#[derive(Debug, Clone)]
pub struct TaskRow {
    /// Kind of the task.
    pub kind: TaskKind,
    /// Class of the task's flows, or of its first flow if they differ.
    pub class: ClassId,
    /// Start time.
    pub start: Instant,
    /// Arrival time of the last byte.
    pub finish: Option<Instant>,
    /// Number of flows sent so far for the task and its parts.
    pub flows: u32,
    /// Time allowed from start to finish.
    pub deadline: Option<Span>,
    /// The task to which this part belongs.
    pub part_of: Option<TaskId>,
}

impl TaskRow {
    /// Time from start to finish.
    pub fn time(&self) -> Option<Span> {
        self.finish.map(|finish| finish.since(self.start))
    }

    /// True if the task missed its deadline: it finished late, or is unfinished after the deadline at the
    /// `end` of the run. `None` without a deadline, or if the run ended before the deadline.
    pub fn missed(&self, end: Instant) -> Option<bool> {
        let deadline = self.start + self.deadline?;
        match self.finish {
            Some(finish) => Some(finish > deadline),
            None => (end > deadline).then_some(true),
        }
    }
}

/// A row number in the task table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(u32);

impl TaskId {
    /// Row number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A flow that an application asks to send.
#[derive(Debug, Clone, Copy)]
pub struct FlowRequest {
    /// The flow, which may start later than now.
    pub arrival: FlowArrival,
    /// The flow's task.
    pub task: TaskId,
    /// The application's identifier of the flow.
    pub tag: u64,
}

/// Actions of applications: tasks of the run, and the flows requested last.
#[derive(Debug, Default)]
pub struct AppActions {
    tasks: Vec<TaskRow>,
    requests: Vec<FlowRequest>,
}

impl AppActions {
    /// Opens a task that starts at `start`, now or later.
    pub fn open(&mut self, kind: TaskKind, class: ClassId, start: Instant, deadline: Option<Span>) -> TaskId {
        let task = TaskId(u32::try_from(self.tasks.len()).unwrap_or(u32::MAX));
        self.tasks.push(TaskRow { kind, class, start, finish: None, flows: 0, deadline, part_of: None });
        task
    }

    /// Opens a part of task `whole` that starts at `start`.
    pub fn open_part(&mut self, whole: TaskId, kind: TaskKind, class: ClassId, start: Instant) -> TaskId {
        let part = self.open(kind, class, start, None);
        self.tasks[part.index()].part_of = Some(whole);
        part
    }

    /// Sets the task's start to `start` if that is earlier.
    pub fn begins(&mut self, task: TaskId, start: Instant) {
        let row = &mut self.tasks[task.index()];
        row.start = row.start.min(start);
    }

    /// Requests a flow for a task. The flow also counts for the tasks that contain this task.
    pub fn send(&mut self, task: TaskId, tag: u64, arrival: FlowArrival) {
        let mut counted = Some(task);
        while let Some(row) = counted.map(|task| &mut self.tasks[task.index()]) {
            row.flows += 1;
            counted = row.part_of;
        }
        self.requests.push(FlowRequest { arrival, task, tag });
    }

    /// Closes a task at time `now`.
    pub fn close(&mut self, task: TaskId, now: Instant) {
        self.tasks[task.index()].finish = Some(now);
    }

    /// Flows requested since the last call of [`AppActions::take_requests`].
    pub fn requests_mut(&mut self) -> &mut [FlowRequest] {
        &mut self.requests
    }

    /// Takes the flows requested since the last call, in order of the requests.
    pub fn take_requests(&mut self) -> Vec<FlowRequest> {
        std::mem::take(&mut self.requests)
    }

    /// True if there is memory for another task.
    pub fn has_room(&mut self) -> bool {
        self.tasks.try_reserve(1).is_ok()
    }

    /// All tasks.
    pub fn into_tasks(self) -> Vec<TaskRow> {
        self.tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_task_misses_its_deadline_only_once_that_has_passed() {
        let mut actions = AppActions::default();
        let at = |ms: u64| Instant::ZERO + Span::from_millis(ms);
        let task = actions.open(TaskKind::Query, ClassId(0), at(10), Some(Span::from_millis(5)));
        let row = |actions: &AppActions| actions.tasks[task.index()].clone();
        assert_eq!(row(&actions).missed(at(15)), None);
        assert_eq!(row(&actions).missed(at(16)), Some(true));
        actions.close(task, at(15));
        assert_eq!(row(&actions).missed(at(99)), Some(false));
        assert_eq!(row(&actions).time(), Some(Span::from_millis(5)));
    }
}
