//! Traces with dependent flows: a flow starts when the last byte of each flow that it waits for has arrived.

use super::flow_rows::FlowRow;
use super::{AppActions, Application, FlowArrival, TaskId, TaskKind, Traffic, Workload};
use crate::engine::Seeds;
use shortflow_units::Instant;
use std::sync::Arc;

/// The rows of a file, which form one job.
#[derive(Debug, Clone)]
pub(super) struct Workflow {
    rows: Arc<[Row]>,
}

#[derive(Debug)]
struct Row {
    flow: FlowArrival,
    /// Number of rows that this row waits for.
    waits_for: u32,
    /// Rows that wait for this row.
    next: Vec<u32>,
}

impl Workflow {
    /// A workflow of `rows`, each of which waits only for rows above it.
    pub(super) fn new(rows: &[FlowRow]) -> Workflow {
        let row = |row: &FlowRow| Row { flow: row.flow, waits_for: row.after.len() as u32, next: Vec::new() };
        let mut found: Vec<Row> = rows.iter().map(row).collect();
        for (place, row) in (0u32..).zip(rows) {
            row.after.iter().for_each(|above| found[*above as usize].next.push(place));
        }
        Workflow { rows: found.into() }
    }
}

impl Traffic for Workflow {
    fn start(&self, _: Seeds, _: usize) -> Workload {
        let waiting = self.rows.iter().map(|row| row.waits_for).collect();
        Workload::Closed(Box::new(Run {
            rows: Arc::clone(&self.rows),
            waiting,
            left: self.rows.len(),
            job: None,
        }))
    }
}

/// The rows in one run.
struct Run {
    rows: Arc<[Row]>,
    /// For each row, the number of rows that it still waits for.
    waiting: Vec<u32>,
    /// Number of flows that have not arrived.
    left: usize,
    job: Option<TaskId>,
}

impl Application for Run {
    fn begin(&mut self, actions: &mut AppActions) {
        let first = self.rows.iter().filter(|row| row.waits_for == 0).min_by_key(|row| row.flow.at);
        let Some(first) = first.map(|row| row.flow) else { return };
        let job = actions.open(TaskKind::Job, first.class, first.at, None);
        self.job = Some(job);
        for (row, tag) in self.rows.iter().zip(0..) {
            if row.waits_for == 0 {
                actions.send(job, tag, row.flow);
            }
        }
    }

    fn delivered(&mut self, now: Instant, tag: u64, actions: &mut AppActions) {
        let Some(job) = self.job else { return };
        for next in &self.rows[tag as usize].next {
            let waiting = &mut self.waiting[*next as usize];
            *waiting -= 1;
            if *waiting == 0 {
                let flow = self.rows[*next as usize].flow;
                let at = now + flow.at.since(Instant::ZERO);
                actions.send(job, u64::from(*next), FlowArrival { at, ..flow });
            }
        }
        self.left -= 1;
        if self.left == 0 {
            actions.close(job, now);
        }
    }
}
