//! Runs, their progress and their cancellation.

use crate::capture::{Capture, Recorder};
use crate::errors::{Cancelled, SimulationError, config_error};
use crate::scenario::{PyScenario, PyScheme};
use crate::tables::Table;
use crate::user_defined::Failure;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use shortflow_sim::fairness::fairness_windows;
use shortflow_sim::floor::Floor;
use shortflow_sim::outcome::{DropRow, Outcome, PortRow};
use shortflow_sim::probe::Samples;
use shortflow_sim::probe::account::{Explained, FlowAccount};
use shortflow_sim::probe::watch::{PacketEvent, TraceFilter};
use shortflow_sim::remarks::remarks;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::service::ServiceModel;
use shortflow_sim::simulation::{BYTES_PER_CONNECTION, Cores, Observer, RunError, RunProgress};
use shortflow_sim::tables;
use shortflow_units::{Instant, Span};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Cancels a run and reports its progress, from any thread.
#[pyclass(frozen, module = "shortflow._core")]
#[derive(Default)]
pub struct Control {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    now_ps: AtomicU64,
    duration_ps: AtomicU64,
    limit_ps: AtomicU64,
    /// Bits of an `f64`: the share of the work that is done.
    fraction: AtomicU64,
    open: AtomicU64,
    flows: AtomicU64,
}

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Control::default()
    }

    /// Requests the run to stop.
    fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Share of the work that is done. The share never falls. Its growth depends on the estimated end of the
    /// run.
    fn fraction(&self) -> f64 {
        f64::from_bits(self.shared.fraction.load(Ordering::Relaxed))
    }

    /// During the drain, while flows are open: number of open flows, number of finite flows, and maximum time
    /// left in seconds.
    fn drain(&self) -> Option<(u64, u64, f64)> {
        let [now, duration, limit, open, flows] = {
            let Shared { now_ps, duration_ps, limit_ps, open, flows, .. } = &*self.shared;
            [now_ps, duration_ps, limit_ps, open, flows].map(|value| value.load(Ordering::Relaxed))
        };
        let left = Span::from_ps(limit.saturating_sub(now)).as_secs_f64();
        (duration > 0 && now >= duration && open > 0).then_some((open, flows, left))
    }
}

struct Watch {
    shared: Arc<Shared>,
    failure: Failure,
    recorder: Option<Recorder>,
    fraction: f64,
}

impl Observer for Watch {
    fn tick(&mut self, standing: RunProgress) -> bool {
        self.shared.open.store(standing.open, Ordering::Relaxed);
        self.shared.flows.store(standing.flows, Ordering::Relaxed);
        let [before, measured, limit] = {
            let Shared { now_ps, duration_ps, limit_ps, .. } = &*self.shared;
            [now_ps, duration_ps, limit_ps].map(|ps| Instant::from_ps(ps.load(Ordering::Relaxed)))
        };
        let step = standing.now.since(before).as_secs_f64();
        let left = standing.expected_end(measured, limit).since(standing.now).as_secs_f64();
        self.fraction += (1.0 - self.fraction) * step / (step + left).max(f64::MIN_POSITIVE);
        self.shared.fraction.store(self.fraction.to_bits(), Ordering::Relaxed);
        self.shared.now_ps.store(standing.now.as_ps(), Ordering::Relaxed);
        let over = self.recorder.as_ref().is_some_and(|recorder| recorder.is_over(standing.now));
        !over && !self.shared.cancelled.load(Ordering::Relaxed) && !self.failure.is_raised()
    }

    fn watches(&self) -> Option<TraceFilter> {
        self.recorder.as_ref().map(Recorder::what)
    }

    fn packets(&mut self, events: Vec<PacketEvent>) {
        self.recorder.iter_mut().for_each(|recorder| recorder.take(&events));
    }

    fn explains(&self) -> Option<Explained> {
        self.recorder.as_ref().and_then(Recorder::explained)
    }

    fn accounts(&mut self, accounts: Vec<FlowAccount>) {
        if let Some(recorder) = &self.recorder {
            recorder.take_accounts(accounts);
        }
    }
}

/// Version of the simulator.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Recommended number of cores for a run, at most `most`, and the reason if it is smaller. `capture` is true
/// if packets are captured.
#[pyfunction]
pub(crate) fn cores(
    py: Python<'_>,
    scenario: &PyScenario,
    scheme: &PyScheme,
    most: usize,
    capture: bool,
) -> PyResult<(usize, Option<String>)> {
    let Cores { used, why } = scheme.inner.cores(&*scenario.under(py, scheme)?, most, capture);
    Ok((used, why))
}

/// Runs `scheme` in `scenario` on at most `cores` cores. Other Python threads run meanwhile. `capture`
/// receives the packets that it selects.
#[pyfunction]
#[pyo3(signature = (scenario, scheme, seed, control, capture=None, cores=1))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &PyScenario,
    scheme: &PyScheme,
    seed: u64,
    control: &Control,
    capture: Option<&Capture>,
    cores: usize,
) -> PyResult<PyOutcome> {
    let (setting, service) = (scenario.under(py, scheme)?, scheme.inner.clone());
    if let (ServiceModel::Ideal(policy), Some(_)) = (&service, capture) {
        return Err(config_error(format!(
            "{}: an ideal scheduler has no packets to record; choose another scheme",
            policy.name
        )));
    }
    let shared = Arc::clone(&control.shared);
    shared.duration_ps.store(setting.duration.as_ps(), Ordering::Relaxed);
    shared.limit_ps.store((setting.duration + setting.drain).as_ps(), Ordering::Relaxed);
    let failure = scheme.failure.clone();
    let recorder = capture.map(|capture| capture.recorder(py, &setting, failure.clone()));
    let mut watch = Watch { shared, failure, recorder, fraction: 0.0 };
    let outcome = py.detach(|| {
        let outcome = service.run_on(cores, &setting, seed, &mut watch);
        watch.recorder.iter_mut().for_each(Recorder::finish);
        outcome.map(|(outcome, _)| (outcome.digest(), outcome))
    });
    watch.shared.open.store(0, Ordering::Relaxed); // the run waits for no flow any more
    if let Some(error) = scheme.failure.take() {
        return Err(error);
    }
    match outcome {
        Ok((_, outcome)) if !tables::fit(&outcome) => {
            Err(PyMemoryError::new_err(RunError::NoMemory.to_string()))
        }
        Ok((digest, mut outcome)) => {
            let remarks = match &scheme.inner {
                ServiceModel::Packets(scheme) => remarks(&outcome, &setting, scheme),
                ServiceModel::Ideal(_) => Vec::new(),
            };
            let samples = Arc::new(std::mem::take(&mut outcome.samples));
            let trims = match &scheme.inner {
                ServiceModel::Packets(scheme) => scheme.queue.kind().info().trims,
                ServiceModel::Ideal(_) => false,
            };
            let scheme = scheme.name().to_owned();
            Ok(PyOutcome { outcome, digest, samples, remarks, scenario: setting, scheme, trims, seed })
        }
        Err(error @ RunError::NoMemory) => Err(PyMemoryError::new_err(error.to_string())),
        Err(RunError::Cancelled) => Err(Cancelled::new_err("the run was cancelled")),
        Err(
            error @ (RunError::Route(_)
            | RunError::ClosedLoop(_)
            | RunError::RedWithoutThreshold { .. }
            | RunError::RateWithoutCurve { .. }
            | RunError::TrimsRefused { .. }
            | RunError::NoThread(..)),
        ) => Err(config_error(error)),
        Err(error @ (RunError::Conservation(_) | RunError::Broken(_) | RunError::Deadlock(_))) => {
            Err(SimulationError::new_err(error.to_string()))
        }
    }
}

/// The minimal loop over the topology of a scenario, for `shortflow bench`.
#[pyclass(name = "Floor", module = "shortflow._core")]
pub struct PyFloor(Floor);

#[pymethods]
impl PyFloor {
    #[new]
    fn new(scenario: &PyScenario) -> PyResult<Self> {
        Floor::new(&scenario.inner.graph).map(PyFloor).map_err(config_error)
    }

    /// Moves packets over `hops` links. Returns the number of links crossed.
    fn run(&mut self, py: Python<'_>, hops: u64) -> u64 {
        py.detach(|| self.0.run(hops))
    }
}

/// Result of a run.
#[pyclass(frozen, name = "Result", module = "shortflow._core")]
pub struct PyOutcome {
    /// Outcome without its samples.
    outcome: Outcome,
    digest: String,
    samples: Arc<Samples>,
    remarks: Vec<(&'static str, String)>,
    scenario: Arc<Scenario>,
    scheme: String,
    /// True if the queues of switches trim packets.
    trims: bool,
    seed: u64,
}

#[pymethods]
impl PyOutcome {
    /// The tables by name.
    fn tables(&self) -> PyResult<BTreeMap<&str, Table>> {
        let samples = Table::of_samples(&self.samples, &self.scenario);
        let tables = tables::tables(&self.outcome, &self.scenario);
        let tables = tables.into_iter().map(|(name, columns)| Ok((name, Table::of(columns)?)));
        tables.chain([Ok(("samples", samples))]).collect()
    }

    /// Provenance and totals.
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scenario = &self.scenario;
        let totals = self.outcome.counters;
        let counters = PyDict::new(py);
        counters.set_item("events", totals.events)?;
        counters.set_item("packet_hops", totals.packet_hops)?;
        counters.set_item("packets_sent", totals.packets_sent)?;
        counters.set_item("packets_delivered", totals.packets_delivered)?;
        counters.set_item("packets_dropped", totals.packets_dropped)?;
        counters.set_item("packets_in_flight", totals.packets_in_flight)?;
        counters.set_item("drain_flows", totals.drain_flows)?;
        counters.set_item("drain_bytes", totals.drain_bytes)?;
        let meta = PyDict::new(py);
        meta.set_item("scenario", &scenario.name)?;
        meta.set_item("scheme", &self.scheme)?;
        meta.set_item("seed", self.seed)?;
        meta.set_item("digest", &self.digest)?;
        meta.set_item("version", version())?;
        meta.set_item("warmup_s", scenario.warmup.as_secs_f64())?;
        meta.set_item("duration_s", scenario.duration.as_secs_f64())?;
        meta.set_item("end_s", self.outcome.end.as_secs_f64())?;
        meta.set_item("classes", &scenario.classes)?;
        meta.set_item("omitted", scenario.omitted())?;
        let ports = scenario.measure.ports.iter().map(|&(from, to)| tables::port_name(scenario, from, to));
        meta.set_item("measured_ports", ports.collect::<Vec<_>>())?;
        if !self.outcome.ports.is_empty() {
            let of_ports = |count: fn(&PortRow) -> u64| self.outcome.ports.iter().map(count).sum::<u64>();
            counters.set_item("marks", of_ports(|port| port.marks_in_run))?;
            if self.trims {
                counters.set_item("trims", of_ports(|port| port.trims_in_run))?;
            }
        }
        meta.set_item("counters", counters)?;
        let windows = fairness_windows(&self.outcome, scenario).into_iter();
        let windows = windows.map(|(class, window)| (&scenario.classes[class.index()], window.as_secs_f64()));
        meta.set_item("fairness_windows_s", windows.collect::<BTreeMap<_, _>>())?;
        meta.set_item("drops", self.drops(py)?)?;
        let pauses = self.pauses_by_priority(py)?;
        if !pauses.is_empty() {
            meta.set_item("pauses", pauses)?;
        }
        meta.set_item("unfinished", totals.unfinished)?;
        meta.set_item("remarks", self.remarks.iter().cloned().collect::<BTreeMap<_, _>>())?;
        meta.set_item("connections_peak", totals.connections_peak)?;
        meta.set_item("bytes_per_connection", BYTES_PER_CONNECTION)?;
        Ok(meta)
    }
}

impl PyOutcome {
    /// Dropped packets by place and reason.
    fn drops<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let row = |row: &DropRow| {
            let drop = PyDict::new(py);
            drop.set_item("place", tables::place_name(&self.scenario, row))?;
            drop.set_item("reason", row.reason.name())?;
            drop.set_item("in_run", row.in_run)?;
            drop.set_item("measured", row.measured)?;
            Ok(drop)
        };
        self.outcome.drops.iter().map(row).collect()
    }

    /// Pauses by port and priority, if data has several priorities.
    fn pauses_by_priority<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut rows = Vec::new();
        for port in &self.outcome.ports {
            for (priority, counts) in &port.pauses_by_priority {
                let row = PyDict::new(py);
                row.set_item("port", tables::port_name(&self.scenario, port.from, port.to))?;
                row.set_item("priority", priority)?;
                row.set_item("pauses", counts.pauses)?;
                row.set_item("paused_s", counts.paused.as_secs_f64())?;
                rows.push(row);
            }
        }
        Ok(rows)
    }
}
