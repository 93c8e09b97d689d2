//! Scenario and scheme as Python objects.

use crate::errors::config_error;
use crate::user_defined::{Failure, PythonLaw};
use crate::values;
use pyo3::prelude::*;
use shortflow_cc::{Host, UserDefined};
use shortflow_sim::config::Setting;
use shortflow_sim::contender::Contender;
use shortflow_sim::ideal::policies_for;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::tables::port_names;
use shortflow_sim::traffic::Expected;
use shortflow_spec::Table;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

type Pairs = Vec<(String, String)>;
type Resolved = Vec<(String, String, String)>;

fn rows(settings: &[Setting]) -> Resolved {
    settings
        .iter()
        .map(|setting| (setting.key.clone(), setting.value.clone(), setting.source.to_string()))
        .collect()
}

/// A validated scenario.
#[pyclass(frozen, name = "Scenario", module = "shortflow._core")]
pub struct PyScenario {
    pub(crate) inner: Arc<Scenario>,
    values: Table,
    base_dir: String,
    settings: Pairs,
}

impl PyScenario {
    fn read(values: Table, name: &str, base_dir: String, settings: Pairs) -> PyResult<Self> {
        let files = |file: &str| read_text(&Path::new(&base_dir).join(file));
        let inner = Scenario::of_values(values.clone(), name, &settings, &files).map_err(config_error)?;
        Ok(PyScenario { inner: Arc::new(inner), values, base_dir, settings })
    }

    /// The scenario with the values that a scheme has for its keys.
    pub(crate) fn under(&self, scheme: &PyScheme) -> PyResult<Arc<Scenario>> {
        let Contender::Packets(scheme) = &scheme.inner else { return Ok(Arc::clone(&self.inner)) };
        if scheme.network.is_empty() {
            return Ok(Arc::clone(&self.inner));
        }
        let files = |file: &str| read_text(&Path::new(&self.base_dir).join(file));
        let (values, settings) = (self.values.clone(), scheme.around(&self.settings));
        let inner = Scenario::with_settings(values, &self.inner.name, settings, &files);
        inner.map(Arc::new).map_err(|error| config_error(format!("{}: {error}", scheme.name)))
    }
}

/// The text of a file, or why there is none.
fn read_text(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| match (error.kind(), path.parent()) {
        (ErrorKind::NotFound, Some(folder)) if !folder.is_dir() => {
            format!("there is no directory {}", folder.display())
        }
        (ErrorKind::NotFound, Some(folder)) => format!("there is no such file in {}", folder.display()),
        _ => error.to_string(),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not text in UTF-8")
    })
}

#[pymethods]
impl PyScenario {
    /// Reads TOML text; file names in it are looked up in `base_dir`.
    #[staticmethod]
    fn parse(text: &str, name: &str, base_dir: String, settings: Pairs) -> PyResult<Self> {
        let values = shortflow_spec::parse(text, &format!("{name}.toml")).map_err(config_error)?;
        PyScenario::read(values, name, base_dir, settings)
    }

    /// Takes a dictionary of what such text would say.
    #[staticmethod]
    fn from_values(
        values: &Bound<'_, PyAny>,
        name: &str,
        base_dir: String,
        settings: Pairs,
    ) -> PyResult<Self> {
        PyScenario::read(values::table(values, "")?, name, base_dir, settings)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.inner.title
    }

    /// The names of the ideal schedulers that tell something about it.
    fn ideal_schedulers(&self) -> Vec<&'static str> {
        policies_for(&self.inner).iter().map(|policy| policy.name).collect()
    }

    /// The names of its ports.
    fn ports(&self) -> Vec<String> {
        port_names(&self.inner)
    }

    /// The classes of its flows.
    fn classes(&self) -> Vec<String> {
        self.inner.classes.clone()
    }

    /// Every value as (key, value, source), under `scheme` if one is given.
    #[pyo3(signature = (scheme=None))]
    fn resolved(&self, scheme: Option<&PyScheme>) -> PyResult<Resolved> {
        let scenario = scheme.map_or_else(|| Ok(Arc::clone(&self.inner)), |scheme| self.under(scheme))?;
        Ok(rows(scenario.resolved()))
    }

    /// One line per traffic entry on the load that it offers.
    fn traffic_notes(&self) -> Vec<String> {
        self.inner.notes().to_vec()
    }

    /// How many flows of each traffic entry count, as (number, what is known of it, backlogged flows, text).
    fn expected_flows(&self) -> Vec<(f64, &'static str, u64, String)> {
        let row = |expected: &Expected| {
            let (number, known) = expected.number();
            (number, known, expected.backlogged, expected.to_string())
        };
        self.inner.expected().iter().map(row).collect()
    }

    /// What is accepted, but hardly meant.
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().to_vec()
    }

    /// The same scenario with more settings; those that it was read with last are not applied again.
    fn with_settings(&self, settings: Pairs) -> PyResult<Self> {
        let (values, base_dir) = (self.values.clone(), self.base_dir.clone());
        if self.settings.ends_with(&settings) {
            let (inner, settings) = (Arc::clone(&self.inner), self.settings.clone());
            return Ok(PyScenario { inner, values, base_dir, settings });
        }
        let all = self.settings.iter().cloned().chain(settings).collect();
        PyScenario::read(values, &self.inner.name, base_dir, all)
    }
}

/// A scheme with all its parameters, or an ideal scheduler, which has none.
#[pyclass(frozen, name = "Scheme", module = "shortflow._core")]
pub struct PyScheme {
    pub(crate) inner: Contender,
    /// Where hooks of a law written in Python leave their error.
    pub(crate) failure: Failure,
    of_law: Resolved,
}

#[pymethods]
impl PyScheme {
    /// The scheme called `name`, with settings such as ("transport.g", "0.09"), shown as `label`.
    #[staticmethod]
    #[pyo3(signature = (name, settings, label=None))]
    fn parse(name: &str, settings: Pairs, label: Option<String>) -> PyResult<Self> {
        let mut inner = Contender::named(name, &settings).map_err(config_error)?;
        if let (Contender::Packets(scheme), Some(label)) = (&mut inner, label) {
            scheme.name = label;
        }
        Ok(PyScheme { inner, failure: Failure::default(), of_law: Vec::new() })
    }

    /// Whether the scheme called `name` has the parameter `key`.
    #[staticmethod]
    #[pyo3(signature = (name, key, host_queue=None))]
    fn accepts(name: &str, key: &str, host_queue: Option<&str>) -> bool {
        Scheme::accepts(name, key, host_queue)
    }

    /// Whether the scheme called `base` keeps the parameter `key` under a law written in Python.
    #[staticmethod]
    #[pyo3(signature = (base, key, host_queue=None))]
    fn keeps(base: &str, key: &str, host_queue: Option<&str>) -> bool {
        Scheme::keeps(base, key, host_queue)
    }

    /// The scheme called `base`, with `settings` of what it keeps, and with the window law of Python objects
    /// that `factory` makes, one for each connection. `resolved` describes the law's parameters.
    #[staticmethod]
    fn user_defined(
        base: &str,
        name: String,
        summary: String,
        settings: Pairs,
        factory: Py<PyAny>,
        resolved: Resolved,
    ) -> PyResult<Self> {
        let failure = Failure::default();
        let raised = failure.clone();
        let is_paced =
            Scheme::named(base, &settings).is_ok_and(|base| base.transport.info().host == Host::Roce);
        let start = Arc::new(move || {
            Box::new(PythonLaw::new(&factory, raised.clone(), is_paced)) as Box<dyn UserDefined>
        });
        let scheme = Scheme::user_defined(base, name, summary, &settings, start).map_err(config_error)?;
        Ok(PyScheme { inner: Contender::Packets(Box::new(scheme)), failure, of_law: resolved })
    }

    #[getter]
    pub(crate) fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn summary(&self) -> &str {
        self.inner.summary()
    }

    /// The scenario's keys without effect under the scheme. An error if the scheme's own values do not fit the scenario.
    fn warnings(&self, scenario: &PyScenario) -> PyResult<Vec<String>> {
        Ok(self.inner.warnings(&*scenario.under(self)?))
    }

    /// Every parameter as (key, value, source).
    fn resolved(&self) -> Resolved {
        match &self.inner {
            Contender::Packets(scheme) => self.of_law.iter().cloned().chain(rows(&scheme.resolved)).collect(),
            Contender::Ideal(_) => Vec::new(),
        }
    }
}
