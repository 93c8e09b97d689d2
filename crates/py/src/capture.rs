//! Packet events, passed to Python in portions during a run.

use crate::account::{AccountConsumer, Accounts};
use crate::errors::config_error;
use crate::scenario::PyScenario;
use crate::tables::Table;
use crate::user_defined::Failure;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use shortflow_sim::probe::account::{Explained, FlowAccount};
use shortflow_sim::probe::pcap;
use shortflow_sim::probe::watch::{FlowChoice, PacketEvent, TraceFilter};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::tables;
use shortflow_units::{ClassId, Instant, PortId, Span};
use std::sync::Arc;

/// Bytes of a capture file after which a portion is passed on.
const PORTION: usize = 1 << 20;

/// Packet events that a run records, and their consumers.
#[pyclass(frozen, module = "shortflow._core")]
pub struct Capture {
    what: TraceFilter,
    /// Consumer of tables with the packet events of the chosen flows.
    table: Option<Py<PyAny>>,
    /// Rows of one such table.
    rows: usize,
    /// Names of the events in the table; empty for all events.
    only: Vec<String>,
    /// Ports with their names and the consumers of their capture files.
    files: Vec<(PortId, String, Py<PyAny>)>,
    /// Consumer of the accounts of completion times.
    accounts: Option<AccountConsumer>,
}

#[pymethods]
impl Capture {
    /// `flows` chooses flows by first and last row in the flow table, `classes` by class. `table` gets `rows` rows at
    /// a time. `files` pairs ports with the consumers of their capture files. `during` is in seconds; the run is
    /// cancelled after its end. `accounts` stores the accounts of completion times.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "in Python they have names")]
    #[pyo3(signature = (scenario, *, flows=vec![], classes=vec![], table=None, rows=100_000, only=vec![], files=vec![], during=None, accounts=None))]
    fn new(
        scenario: &PyScenario,
        flows: Vec<(u32, u32)>,
        classes: Vec<String>,
        table: Option<Py<PyAny>>,
        rows: usize,
        only: Vec<String>,
        files: Vec<(String, Py<PyAny>)>,
        during: Option<(f64, f64)>,
        accounts: Option<&Accounts>,
    ) -> PyResult<Self> {
        let (setting, ports) = (&scenario.inner, tables::port_names(&scenario.inner));
        let find = |names: &[String], name: &str| names.iter().position(|each| each == name);
        let unknown = |what: &str, name: &str| config_error(format!("\"{name}\": unknown {what}"));
        let class = |name: &String| {
            find(&setting.classes, name).map(ClassId::from).ok_or_else(|| unknown("class", name))
        };
        let file = |(name, consumer): (String, Py<PyAny>)| match find(&ports, &name) {
            Some(port) => Ok((PortId::from(port), name, consumer)),
            None => Err(unknown("port", &name)),
        };
        let files: Vec<_> = files.into_iter().map(file).collect::<PyResult<_>>()?;
        let at = |seconds: f64| Instant::ZERO + Span::from_secs_f64(seconds);
        let what = TraceFilter {
            flows: FlowChoice {
                rows: flows.into_iter().map(|(first, last)| first..last.saturating_add(1)).collect(),
                classes: classes.iter().map(class).collect::<PyResult<_>>()?,
            },
            ports: files.iter().map(|(port, ..)| *port).collect(),
            frames: setting.classes.iter().all(|class| classes.contains(class)),
            during: during.map_or(Instant::ZERO..Instant::MAX, |(from, to)| at(from)..at(to)),
        };
        Ok(Capture { what, table, rows, only, files, accounts: accounts.map(Accounts::consumer) })
    }
}

impl Capture {
    /// Recorder for one run.
    pub fn recorder(&self, py: Python<'_>, scenario: &Arc<Scenario>, failure: Failure) -> Recorder {
        let file = |(port, name, consumer): &(PortId, String, Py<PyAny>)| {
            (pcap::Capture::new(*port, name), consumer.clone_ref(py))
        };
        Recorder {
            scenario: Arc::clone(scenario),
            what: self.what.clone(),
            table: self.table.as_ref().map(|consumer| consumer.clone_ref(py)),
            rows: self.rows.max(1),
            only: self.only.clone(),
            waiting: Vec::new(),
            files: self.files.iter().map(file).collect(),
            accounts: self.accounts.clone(),
            failure,
        }
    }
}

/// Collects packet events, and passes them to their consumers.
pub struct Recorder {
    scenario: Arc<Scenario>,
    what: TraceFilter,
    table: Option<Py<PyAny>>,
    rows: usize,
    only: Vec<String>,
    waiting: Vec<PacketEvent>,
    files: Vec<(pcap::Capture, Py<PyAny>)>,
    accounts: Option<AccountConsumer>,
    /// Keeps the first error of a consumer.
    failure: Failure,
}

impl Recorder {
    /// Filter of the recorded events.
    pub fn what(&self) -> TraceFilter {
        self.what.clone()
    }

    /// Flows whose completion times are explained, if any.
    pub fn explained(&self) -> Option<Explained> {
        self.accounts.as_ref().map(AccountConsumer::explained)
    }

    /// Passes on accounts of completion times.
    pub fn take_accounts(&self, accounts: Vec<FlowAccount>) {
        if let Some(consumer) = &self.accounts {
            consumer.take(accounts);
        }
    }

    /// True if no more events can come: the end of `during` has passed, and all packets that were then on a wire have
    /// arrived.
    pub fn is_over(&self, now: Instant) -> bool {
        let delay = self.scenario.graph.links.iter().map(|link| link.delay).max().unwrap_or_default();
        self.what.during.end < Instant::MAX && self.what.during.end + delay < now
    }

    /// Takes events, and passes on portions that are full.
    pub fn take(&mut self, events: &[PacketEvent]) {
        for (file, consumer) in &mut self.files {
            events.iter().for_each(|event| file.note(event));
            if file.pending() >= PORTION {
                hand_over(file, consumer, &self.failure);
            }
        }
        if self.table.is_some() {
            let only = &self.only;
            let wanted = |event: &&PacketEvent| {
                event.chosen && (only.is_empty() || only.iter().any(|name| name == event.kind.name()))
            };
            self.waiting.extend(events.iter().filter(wanted).cloned());
        }
        if self.waiting.len() >= self.rows {
            self.hand_over_rows();
        }
    }

    /// Passes on the remaining events.
    pub fn finish(&mut self) {
        for (file, consumer) in &mut self.files {
            file.finish();
            hand_over(file, consumer, &self.failure);
        }
        self.hand_over_rows();
    }

    fn hand_over_rows(&mut self) {
        let Some(consumer) = &self.table else { return };
        let columns = tables::packets(&std::mem::take(&mut self.waiting), &self.scenario);
        let called = Python::attach(|py| consumer.call1(py, (Table::of(columns)?,)));
        called.err().into_iter().for_each(|error| self.failure.raise(error));
    }
}

fn hand_over(file: &mut pcap::Capture, consumer: &Py<PyAny>, failure: &Failure) {
    let called = Python::attach(|py| consumer.call1(py, (PyBytes::new(py, &file.take()),)));
    called.err().into_iter().for_each(|error| failure.raise(error));
}
