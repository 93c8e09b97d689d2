//! Tables over the Arrow C stream interface, which polars, pandas, pyarrow and DuckDB all read.

use crate::SimulationError;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt32Array,
    UInt64Array,
};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use shortflow_sim::outcome::{FlowRow, Outcome, PortRow};
use shortflow_sim::probe::Subject;
use shortflow_sim::scenario::Scenario;
use shortflow_units::{Bytes, NodeId};
use std::sync::Arc;

/// A table that hands itself over by the Arrow PyCapsule protocol.
#[pyclass(frozen, module = "shortflow._core")]
pub struct Table(RecordBatch);

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema); // the protocol allows any answer; there is one form of each table
        let reader = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

fn table(columns: Vec<(&str, ArrayRef, bool)>) -> PyResult<Table> {
    RecordBatch::try_from_iter_with_nullable(columns)
        .map(Table)
        .map_err(|error| SimulationError::new_err(error.to_string()))
}

/// "s0->h22".
pub(crate) fn port_name(scenario: &Scenario, from: NodeId, to: NodeId) -> String {
    format!("{}->{}", scenario.graph.name(from), scenario.graph.name(to))
}

fn text<T>(rows: &[T], of: impl Fn(&T) -> String) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
}
fn real<T>(rows: &[T], of: impl Fn(&T) -> Option<f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(rows.iter().map(of)))
}
fn count<T>(rows: &[T], of: impl Fn(&T) -> Option<u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter(rows.iter().map(of)))
}
fn small<T>(rows: &[T], of: impl Fn(&T) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(of)))
}

/// A row a flow; times in seconds, sizes in bytes.
pub(crate) fn flows(outcome: &Outcome, scenario: &Scenario) -> PyResult<Table> {
    let rows = &outcome.flows[..];
    let host = |host: u32| scenario.graph.name(NodeId(host)).to_owned();
    let missed = rows.iter().map(|row| row.missed(outcome.end));
    table(vec![
        ("id", Arc::new(UInt64Array::from_iter_values(0..rows.len() as u64)), false),
        ("source", text(rows, |row| host(row.source.0)), false),
        ("destination", text(rows, |row| host(row.destination.0)), false),
        ("class", text(rows, |row| scenario.classes[row.class.index()].clone()), false),
        ("size_bytes", count(rows, |row| (row.size != Bytes::MAX).then_some(row.size.get())), true),
        ("start_s", real(rows, |row| Some(row.start.as_secs_f64())), false),
        ("finish_s", real(rows, |row| row.finish.map(|finish| finish.as_secs_f64())), true),
        ("fct_s", real(rows, |row| row.fct().map(|fct| fct.as_secs_f64())), true),
        ("ideal_fct_s", real(rows, |row| row.ideal.map(|ideal| ideal.as_secs_f64())), true),
        ("slowdown", real(rows, FlowRow::slowdown), true),
        ("deadline_s", real(rows, |row| row.deadline.map(|deadline| deadline.as_secs_f64())), true),
        ("missed", Arc::new(BooleanArray::from_iter(missed)), true),
        ("retransmits", small(rows, |row| row.retransmits), false),
        ("timeouts", small(rows, |row| row.timeouts), false),
        ("marks", small(rows, |row| row.marks), false),
        ("acked_bytes", count(rows, |row| Some(row.acked.get())), false),
        ("window_bytes", count(rows, |row| Some(row.acked_in_window.get())), false),
        ("queueing_s", real(rows, FlowRow::queueing), true),
        ("switch_queueing_s", real(rows, FlowRow::switch_queueing), true),
        ("task", count(rows, |row| row.task.map(|task| task.index() as u64)), true),
    ])
}

/// Queries, jobs and requests.
pub(crate) fn tasks(outcome: &Outcome, scenario: &Scenario) -> PyResult<Table> {
    let rows = &outcome.tasks[..];
    let missed = rows.iter().map(|row| row.missed(outcome.end));
    table(vec![
        ("id", Arc::new(UInt64Array::from_iter_values(0..rows.len() as u64)), false),
        ("kind", text(rows, |row| row.kind.name().to_owned()), false),
        ("class", text(rows, |row| scenario.classes[row.class.index()].clone()), false),
        ("start_s", real(rows, |row| Some(row.start.as_secs_f64())), false),
        ("finish_s", real(rows, |row| row.finish.map(|finish| finish.as_secs_f64())), true),
        ("time_s", real(rows, |row| row.time().map(|time| time.as_secs_f64())), true),
        ("flows", small(rows, |row| row.flows), false),
        ("deadline_s", real(rows, |row| row.deadline.map(|deadline| deadline.as_secs_f64())), true),
        ("missed", Arc::new(BooleanArray::from_iter(missed)), true),
        ("part_of", count(rows, |row| row.part_of.map(|whole| whole.index() as u64)), true),
    ])
}

pub(crate) fn samples(outcome: &Outcome, scenario: &Scenario) -> PyResult<Table> {
    let rows = &outcome.samples[..];
    let port = |port: usize| {
        let row: &PortRow = &outcome.ports[port];
        port_name(scenario, row.from, row.to)
    };
    let describe = |subject: Subject| match subject {
        Subject::QueuePackets(id) => ("queue_pkt", port(id.index())),
        Subject::QueueBytes(id) => ("queue_bytes", port(id.index())),
        Subject::Cwnd(flow) => ("cwnd_seg", flow.0.to_string()),
        Subject::Alpha(flow) => ("alpha", flow.0.to_string()),
        Subject::FlowThroughput(flow) => ("flow_throughput_bps", flow.0.to_string()),
        Subject::Throughput(class) => ("throughput_bps", scenario.classes[class.index()].clone()),
    };
    table(vec![
        ("time_s", real(rows, |row| Some(row.at.as_secs_f64())), false),
        ("kind", text(rows, |row| describe(row.subject).0.to_owned()), false),
        ("subject", text(rows, |row| describe(row.subject).1), false),
        ("value", real(rows, |row| Some(row.value)), false),
    ])
}

pub(crate) fn ports(outcome: &Outcome, scenario: &Scenario) -> PyResult<Table> {
    let rows = &outcome.ports[..];
    let packets = |at: usize| count(rows, move |row| row.percentiles.map(|found| found.packets[at]));
    let bytes = |at: usize| count(rows, move |row| row.percentiles.map(|found| found.bytes[at]));
    table(vec![
        ("port", text(rows, |row| port_name(scenario, row.from, row.to)), false),
        ("rate_bps", count(rows, |row| Some(row.rate.as_bps())), false),
        ("tx_bytes", count(rows, |row| Some(row.tx_bytes.get())), false),
        ("tx_packets", count(rows, |row| Some(row.tx_packets)), false),
        ("drops", count(rows, |row| Some(row.drops)), false),
        ("marks", count(rows, |row| Some(row.marks)), false),
        ("queue_mean_pkt", real(rows, |row| Some(row.mean_packets)), false),
        ("queue_max_pkt", count(rows, |row| Some(u64::from(row.max_packets))), false),
        ("queue_p50_pkt", packets(0), true),
        ("queue_p95_pkt", packets(1), true),
        ("queue_p99_pkt", packets(2), true),
        ("queue_mean_bytes", real(rows, |row| Some(row.mean_bytes)), false),
        ("queue_max_bytes", count(rows, |row| Some(row.max_bytes.get())), false),
        ("queue_p50_bytes", bytes(0), true),
        ("queue_p95_bytes", bytes(1), true),
        ("queue_p99_bytes", bytes(2), true),
        ("utilisation", real(rows, |row| Some(row.utilisation)), false),
    ])
}
