//! The seam for closed loops: an [`Application`] learns when its flows arrive and answers with new
//! ones. What belongs together, such as a query and its answers, is a task with a row of its own.

use super::FlowArrival;
use shortflow_spec::words;
use shortflow_units::{ClassId, Instant, Span};

/// Traffic that waits for answers.
///
/// Draws must not depend on the order in which flows arrive, so that all schemes meet equal
/// sizes: a task draws all it needs when it is opened, or from streams of its own.
pub trait Application: Send {
    /// The run begins.
    fn begin(&mut self, steps: &mut AppActions);
    /// The last byte of the flow sent with `tag` has reached its receiver.
    fn delivered(&mut self, now: Instant, tag: u64, steps: &mut AppActions);
}

words! {
    /// Kind of a task, by its name in tables.
    pub enum TaskKind {
        /// From the first request until the last byte of the answers.
        Query = "query",
        /// From the first byte read until the last byte collected. Of a trace: from its first start until its last byte.
        Job = "job",
        /// From the first block sent until the last one received.
        Shuffle = "shuffle",
        /// From the request of a client until the last byte of the page.
        Request = "request",
        /// From the first chunk sent until the last rank has its last one.
        Collective = "collective",
    }
}

/// A task: one row of the task table.
#[derive(Debug, Clone)]
pub struct TaskRow {
    /// Kind.
    pub kind: TaskKind,
    /// Class of its flows, of the first one if they differ.
    pub class: ClassId,
    /// Start.
    pub start: Instant,
    /// Arrival of the last byte.
    pub finish: Option<Instant>,
    /// Flows sent so far for it and its parts.
    pub flows: u32,
    /// Time allowed from start to finish.
    pub deadline: Option<Span>,
    /// The task that it is a part of.
    pub part_of: Option<TaskId>,
}

impl TaskRow {
    /// From start to finish.
    pub fn time(&self) -> Option<Span> {
        self.finish.map(|finish| finish.since(self.start))
    }

    /// True if the deadline was missed: by its finish or, unfinished, by `end` of the run. `None`
    /// without a deadline, or if the run ended before it.
    pub fn missed(&self, end: Instant) -> Option<bool> {
        let deadline = self.start + self.deadline?;
        match self.finish {
            Some(finish) => Some(finish > deadline),
            None => (end > deadline).then_some(true),
        }
    }
}

/// Row of a task in the task table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(u32);

impl TaskId {
    /// Position in the table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A flow that an application sends.
#[derive(Debug, Clone, Copy)]
pub struct FlowRequest {
    /// The flow; it may start later than now.
    pub arrival: FlowArrival,
    /// Task of the flow.
    pub task: TaskId,
    /// The application's name for the flow.
    pub tag: u64,
}

/// Actions of applications: the tasks of a run, and the flows last requested.
#[derive(Debug, Default)]
pub struct AppActions {
    tasks: Vec<TaskRow>,
    sendings: Vec<FlowRequest>,
}

impl AppActions {
    /// A new task that begins at `start`, now or later.
    pub fn open(&mut self, kind: TaskKind, class: ClassId, start: Instant, deadline: Option<Span>) -> TaskId {
        let task = TaskId(u32::try_from(self.tasks.len()).unwrap_or(u32::MAX));
        self.tasks.push(TaskRow { kind, class, start, finish: None, flows: 0, deadline, part_of: None });
        task
    }

    /// A new part of a task, which begins at `start`.
    pub fn open_part(&mut self, whole: TaskId, kind: TaskKind, class: ClassId, start: Instant) -> TaskId {
        let part = self.open(kind, class, start, None);
        self.tasks[part.index()].part_of = Some(whole);
        part
    }

    /// A task begins at `start` if not before.
    pub fn begins(&mut self, task: TaskId, start: Instant) {
        let row = &mut self.tasks[task.index()];
        row.start = row.start.min(start);
    }

    /// Sends a flow for a task.
    pub fn send(&mut self, task: TaskId, tag: u64, arrival: FlowArrival) {
        let mut counted = Some(task);
        while let Some(row) = counted.map(|task| &mut self.tasks[task.index()]) {
            row.flows += 1;
            counted = row.part_of;
        }
        self.sendings.push(FlowRequest { arrival, task, tag });
    }

    /// A task is done.
    pub fn close(&mut self, task: TaskId, now: Instant) {
        self.tasks[task.index()].finish = Some(now);
    }

    /// The flows asked for since [`AppActions::take_sendings`].
    pub fn sendings_mut(&mut self) -> &mut [FlowRequest] {
        &mut self.sendings
    }

    /// The flows asked for since the last call, in that order.
    pub fn take_sendings(&mut self) -> Vec<FlowRequest> {
        std::mem::take(&mut self.sendings)
    }

    /// True if memory for one more task is available.
    pub fn has_room(&mut self) -> bool {
        self.tasks.try_reserve(1).is_ok()
    }

    /// Every task.
    pub fn into_tasks(self) -> Vec<TaskRow> {
        self.tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_task_misses_its_deadline_only_once_that_has_passed() {
        let mut steps = AppActions::default();
        let at = |ms: u64| Instant::ZERO + Span::from_millis(ms);
        let task = steps.open(TaskKind::Query, ClassId(0), at(10), Some(Span::from_millis(5)));
        let row = |steps: &AppActions| steps.tasks[task.index()].clone();
        assert_eq!(row(&steps).missed(at(15)), None);
        assert_eq!(row(&steps).missed(at(16)), Some(true));
        steps.close(task, at(15));
        assert_eq!(row(&steps).missed(at(99)), Some(false));
        assert_eq!(row(&steps).time(), Some(Span::from_millis(5)));
    }
}
