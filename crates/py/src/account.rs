//! Accounts of completion times, stored for Python.

use crate::errors::SimulationError;
use crate::scenario::PyScenario;
use crate::tables::Table;
use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use pyo3::prelude::*;
use shortflow_sim::probe::account::{Cause, Explained, FlowAccount, PARTS, Round, Step, parts};
use shortflow_sim::tables;
use shortflow_units::FlowId;
use std::sync::{Arc, Mutex, PoisonError};

/// Accounts as columns, and the steps of the traced flow.
#[derive(Default)]
pub(crate) struct Kept {
    flow: Vec<u32>,
    start: Vec<u64>,
    finish: Vec<u64>,
    /// Picoseconds of each part of a completion time; a column is empty until some flow has this part.
    parts: Vec<Vec<u64>>,
    steps: Vec<Step>,
}

/// A step: begin and end in picoseconds; round; cause; port; type and sequence number of the packet; and the packets
/// that went first, each as flow, connection, number and picoseconds.
type StepRow = (
    u64,
    u64,
    &'static str,
    &'static str,
    Option<String>,
    Option<(&'static str, u64)>,
    Vec<(Option<u32>, u32, u32, u64)>,
);

/// Stores the accounts of one run.
#[pyclass(frozen, module = "shortflow._core")]
pub struct Accounts {
    traced: Option<u32>,
    kept: Arc<Mutex<Kept>>,
    ports: Vec<String>,
}

#[pymethods]
impl Accounts {
    /// `traced` is the row, in the flow table, of a flow whose steps are stored.
    #[new]
    #[pyo3(signature = (scenario, traced=None))]
    fn new(scenario: &PyScenario, traced: Option<u32>) -> Self {
        Accounts { traced, kept: Arc::default(), ports: tables::port_names(&scenario.inner) }
    }

    /// Round and cause of each part of a completion time, in the order of the columns.
    #[staticmethod]
    fn parts() -> Vec<(&'static str, &'static str)> {
        parts().map(|(round, cause)| (Round::name(round), Cause::name(cause))).collect()
    }

    /// One row per finished flow: `flow`, `start_ps`, `finish_ps`, and the picoseconds of each part that some flow
    /// has. The column of a part is named by the number of the part.
    fn table(&self) -> PyResult<Table> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = |values: &[u64]| Arc::new(UInt64Array::from(values.to_vec())) as ArrayRef;
        let mut columns: Vec<(String, ArrayRef)> = vec![
            ("flow".to_owned(), Arc::new(UInt32Array::from(kept.flow.clone()))),
            ("start_ps".to_owned(), whole(&kept.start)),
            ("finish_ps".to_owned(), whole(&kept.finish)),
        ];
        let parts = kept.parts.iter().enumerate().filter(|(_, values)| !values.is_empty());
        columns.extend(parts.map(|(part, values)| (part.to_string(), whole(values))));
        let batch = RecordBatch::try_from_iter(columns);
        batch.map(Table::of_batch).map_err(|error| SimulationError::new_err(error.to_string()))
    }

    /// Steps of the traced flow, in order of time; empty if the flow has not finished.
    fn steps(&self) -> Vec<StepRow> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.steps.iter().map(|step| self.row(step)).collect()
    }
}

impl Accounts {
    /// Consumer of the accounts of a run.
    pub fn consumer(&self) -> AccountConsumer {
        AccountConsumer { traced: self.traced, kept: Arc::clone(&self.kept) }
    }

    fn row(&self, step: &Step) -> StepRow {
        let port = step.passage.port.and_then(|port| self.ports.get(port.index())).cloned();
        let packet = step.passage.packet.map(|(kind, seq)| (kind.word(), seq));
        let in_front = step.in_front.iter().map(|front| {
            (front.flow.map(|flow| flow.0), front.connection, front.packets, front.takes.as_ps())
        });
        let [from, until] = [step.from.as_ps(), step.until.as_ps()];
        (from, until, step.round.name(), step.cause.name(), port, packet, in_front.collect())
    }
}

/// Consumer of the accounts of a run in progress.
#[derive(Clone)]
pub struct AccountConsumer {
    traced: Option<u32>,
    kept: Arc<Mutex<Kept>>,
}

impl AccountConsumer {
    /// Flows to account for.
    pub fn explained(&self) -> Explained {
        Explained { traced: self.traced.map(FlowId) }
    }

    /// Stores the accounts of flows that have finished.
    pub fn take(&self, accounts: Vec<FlowAccount>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.parts.resize_with(PARTS, Vec::new);
        for account in accounts {
            let row = kept.flow.len();
            for (values, time) in kept.parts.iter_mut().zip(account.parts) {
                if !time.is_zero() {
                    values.resize(row, 0);
                    values.push(time.as_ps());
                } else if !values.is_empty() {
                    values.resize(row + 1, 0);
                }
            }
            kept.flow.push(account.flow.0);
            kept.start.push(account.start.as_ps());
            kept.finish.push(account.finish.as_ps());
            if !account.steps.is_empty() {
                kept.steps = account.steps;
            }
        }
    }
}
