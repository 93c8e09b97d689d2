//! Scenarios and schemes as Python objects.

use crate::errors::config_error;
use crate::files::read_text;
use crate::user_defined::{Failure, PythonLaw};
use crate::values;
use pyo3::prelude::*;
use shortflow_cc::{Host, UserDefined};
use shortflow_sim::all_wrong;
use shortflow_sim::ideal::policies_for;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::service::ServiceModel;
use shortflow_sim::tables::{self, port_names};
use shortflow_sim::traffic::Expected;
use shortflow_spec::Setting;
use shortflow_spec::{Given, Idle, Source, Table, located, of_user};
use shortflow_units::{Bytes, NodeId};
use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

type Pairs = Vec<(String, String)>;
/// Contents of files, by name.
type Texts = HashMap<String, String>;
type Resolved = Vec<(String, String, String)>;

fn rows(settings: &[Setting]) -> Resolved {
    settings
        .iter()
        .map(|setting| (setting.key.clone(), setting.value.clone(), setting.source.to_string()))
        .collect()
}

/// Settings with their sources, which Python gives by name.
fn given(settings: &Resolved) -> Vec<Given<'_>> {
    let sources = [Source::Scheme, Source::Name];
    let named = |name: &str| sources.iter().find(|source| source.to_string() == name).cloned();
    settings
        .iter()
        .map(|(key, value, source)| (&**key, &**value, named(source).unwrap_or(Source::Set)))
        .collect()
}

/// The files that a scenario names: in a directory, or as texts that Python has converted.
#[derive(Clone)]
struct Files {
    base_dir: String,
    texts: Texts,
}

impl Files {
    fn read(&self, py: Python<'_>, file: &str) -> PyResult<Result<String, String>> {
        match self.texts.get(file) {
            Some(text) => Ok(Ok(text.clone())),
            None => read_text(py, &Path::new(&self.base_dir).join(file)),
        }
    }
}

/// A validated scenario.
#[pyclass(frozen, name = "Scenario", module = "shortflow._core")]
pub struct PyScenario {
    pub(crate) inner: Arc<Scenario>,
    values: Table,
    /// Text of the scenario's file; `None` without a file.
    text: Option<String>,
    files: Files,
    settings: Pairs,
}

impl PyScenario {
    /// Reads `values`; `text` is the text of their file, if there is one.
    fn read(
        py: Python<'_>,
        (values, text): (Table, Option<String>),
        name: &str,
        files: Files,
        settings: Pairs,
    ) -> PyResult<Self> {
        let file = (&values, text.as_deref(), name, &files);
        let inner = Arc::new(validated(py, file, of_user(&settings), &settings, None)?);
        Ok(PyScenario { inner, values, text, files, settings })
    }

    /// The scenario with the scheme's values for keys of the scenario.
    pub(crate) fn under(&self, py: Python<'_>, scheme: &PyScheme) -> PyResult<Arc<Scenario>> {
        let ServiceModel::Packets(scheme) = &scheme.inner else { return Ok(Arc::clone(&self.inner)) };
        if scheme.network.is_empty() {
            return Ok(Arc::clone(&self.inner));
        }
        let file = (&self.values, self.text.as_deref(), self.inner.name.as_str(), &self.files);
        // The default drain follows from tcp.rto_min. It must not depend on the scheme, so the scenario's value is
        // passed on.
        let drain = self.inner.resolved().iter().filter(|setting| setting.key == "drain");
        let drain = drain.map(|setting| (&*setting.key, &*setting.value, setting.source.clone()));
        let settings = || scheme.around(&self.settings, self.inner.resolved()).chain(drain.clone());
        let all: Pairs = settings().map(|(key, value, _)| (key.to_owned(), value.to_owned())).collect();
        validated(py, file, settings(), &all, Some(scheme)).map(Arc::new)
    }
}

/// Reads a scenario from the values, text, name and files of a file, with `settings`. Keys in `given` have no line in
/// errors. Errors name `scheme`, if there is one.
fn validated<'s>(
    py: Python<'_>,
    (values, text, name, files): (&Table, Option<&str>, &str, &Files),
    settings: impl IntoIterator<Item = (&'s str, &'s str, Source)>,
    given: &Pairs,
    scheme: Option<&Scheme>,
) -> PyResult<Scenario> {
    let interrupt = Cell::new(None);
    let files = |file: &str| {
        files.read(py, file).unwrap_or_else(|error| {
            interrupt.set(Some(error));
            Err(String::new())
        })
    };
    let reads_k = scheme.map_or((true, true), Scheme::reads_k);
    Scenario::with_settings(values.clone(), name, settings, &files, reads_k).map_err(|error| {
        let file = text.map_or_else(String::new, |_| file_of(name));
        let errors =
            located(&all_wrong(error, values, given), &file, text.unwrap_or_default(), given).to_string();
        let whose = scheme.map_or_else(String::new, |scheme| format!("{}: ", scheme.name));
        let lines: Vec<String> = errors.lines().map(|line| format!("{whose}{line}")).collect();
        interrupt.take().unwrap_or_else(|| config_error(lines.join("\n")))
    })
}

/// Name of a scenario's file, for errors.
fn file_of(name: &str) -> String {
    format!("{name}.toml")
}

#[pymethods]
impl PyScenario {
    /// Reads TOML text. Files that it names are looked up in `texts`, then in `base_dir`.
    #[staticmethod]
    #[pyo3(signature = (text, name, base_dir, settings, texts=Texts::new()))]
    fn parse(
        py: Python<'_>,
        text: String,
        name: &str,
        base_dir: String,
        settings: Pairs,
        texts: Texts,
    ) -> PyResult<Self> {
        let values = shortflow_spec::parse(&text, &file_of(name)).map_err(config_error)?;
        PyScenario::read(py, (values, Some(text)), name, Files { base_dir, texts }, settings)
    }

    /// Reads a scenario from a dictionary.
    #[staticmethod]
    #[pyo3(signature = (values, name, base_dir, settings, texts=Texts::new()))]
    fn from_values(
        values: &Bound<'_, PyAny>,
        name: &str,
        base_dir: String,
        settings: Pairs,
        texts: Texts,
    ) -> PyResult<Self> {
        let py = values.py();
        PyScenario::read(py, (values::table(values, "")?, None), name, Files { base_dir, texts }, settings)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.inner.title
    }

    /// Names of the ideal schedulers that apply to the scenario, and the reason if none does.
    fn ideal_schedulers(&self) -> (Vec<&'static str>, String) {
        match policies_for(&self.inner) {
            Ok(policies) => (policies.iter().map(|policy| policy.name).collect(), String::new()),
            Err(reason) => (Vec::new(), reason),
        }
    }

    /// Names of the scenario's ports.
    fn ports(&self) -> Vec<String> {
        port_names(&self.inner)
    }

    /// Classes of the scenario's flows.
    fn classes(&self) -> Vec<String> {
        self.inner.classes.clone()
    }

    /// All values as (key, value, source), under `scheme` if given.
    #[pyo3(signature = (scheme=None))]
    fn resolved(&self, py: Python<'_>, scheme: Option<&PyScheme>) -> PyResult<Resolved> {
        let scenario = scheme.map_or_else(|| Ok(Arc::clone(&self.inner)), |scheme| self.under(py, scheme))?;
        Ok(rows(scenario.resolved()))
    }

    /// Headroom in bytes that each link to a switch requires, after the other end of the link and the switch.
    fn headrooms(&self) -> Vec<(String, String, u64)> {
        let name = |node| self.inner.graph.name(node).to_owned();
        let row = |(from, switch, bytes): (NodeId, NodeId, Bytes)| (name(from), name(switch), bytes.get());
        self.inner.headrooms().into_iter().map(row).collect()
    }

    /// One line per traffic entry about its offered load.
    fn traffic_notes(&self) -> Vec<String> {
        self.inner.notes().to_vec()
    }

    /// Number of measured flows of each traffic entry, as (number, accuracy, backlogged flows, text).
    fn expected_flows(&self) -> Vec<(f64, &'static str, u64, String)> {
        let row = |expected: &Expected| {
            let (number, known) = expected.number();
            (number, known, expected.backlogged, expected.to_string())
        };
        self.inner.expected().iter().map(row).collect()
    }

    /// Bytes of memory that the tables of a run take, at least.
    fn table_bytes(&self) -> f64 {
        tables::expected_bytes(&self.inner)
    }

    /// Warnings about accepted settings.
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().to_vec()
    }

    /// This scenario with more settings. Returns the same scenario if they are the last settings applied.
    fn with_settings(&self, py: Python<'_>, settings: Pairs) -> PyResult<Self> {
        let (values, text, files) = (self.values.clone(), self.text.clone(), self.files.clone());
        if self.settings.ends_with(&settings) {
            let (inner, settings) = (Arc::clone(&self.inner), self.settings.clone());
            return Ok(PyScenario { inner, values, text, files, settings });
        }
        let all = self.settings.iter().cloned().chain(settings).collect();
        PyScenario::read(py, (values, text), &self.inner.name, files, all)
    }
}

/// A scheme with all its parameters, or an ideal scheduler, which has none.
#[pyclass(frozen, name = "Scheme", module = "shortflow._core")]
pub struct PyScheme {
    pub(crate) inner: ServiceModel,
    /// First error of a hook of a law written in Python.
    pub(crate) failure: Failure,
    of_law: Resolved,
}

#[pymethods]
impl PyScheme {
    /// The scheme called `name`, with settings such as ("transport.g", "0.09", "--set"), shown as `label`. Later
    /// settings win.
    #[staticmethod]
    #[pyo3(signature = (name, settings, label=None))]
    fn parse(name: &str, settings: Resolved, label: Option<String>) -> PyResult<Self> {
        let mut inner = ServiceModel::given(name, &given(&settings)).map_err(config_error)?;
        if let (ServiceModel::Packets(scheme), Some(label)) = (&mut inner, label) {
            scheme.name = label;
        }
        Ok(PyScheme { inner, failure: Failure::default(), of_law: Vec::new() })
    }

    /// True if the scheme `name` has the parameter `key`.
    #[staticmethod]
    #[pyo3(signature = (name, key, host_queue=None))]
    fn accepts(name: &str, key: &str, host_queue: Option<&str>) -> bool {
        Scheme::accepts(name, key, host_queue)
    }

    /// True if the scheme `base` keeps the parameter `key` under a law written in Python.
    #[staticmethod]
    #[pyo3(signature = (base, key, host_queue=None))]
    fn keeps(base: &str, key: &str, host_queue: Option<&str>) -> bool {
        Scheme::keeps(base, key, host_queue)
    }

    /// The scheme called `base` with `settings` of the parameters that it keeps, and with a window law written in
    /// Python: `factory` makes an object for each connection. `resolved` describes the law's parameters.
    #[staticmethod]
    fn user_defined(
        base: &str,
        name: String,
        summary: String,
        settings: Resolved,
        factory: Py<PyAny>,
        resolved: Resolved,
    ) -> PyResult<Self> {
        let failure = Failure::default();
        let raised = failure.clone();
        let settings = given(&settings);
        let is_roce = |base: Scheme| base.transport.info().host == Host::Roce;
        let has_no_window = Scheme::given(base, &settings).is_ok_and(is_roce);
        let start = Arc::new(move || {
            Box::new(PythonLaw::new(&factory, raised.clone(), has_no_window)) as Box<dyn UserDefined>
        });
        let scheme = Scheme::user_defined(base, name, summary, &settings, start).map_err(config_error)?;
        Ok(PyScheme { inner: ServiceModel::Packets(Box::new(scheme)), failure, of_law: resolved })
    }

    #[getter]
    pub(crate) fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn summary(&self) -> &str {
        self.inner.summary()
    }

    /// Keys that were set but have no effect in the scenario under the scheme, each with the words that follow "acts
    /// only if". Raises an error if the scheme's own values do not fit the scenario.
    fn idle(&self, py: Python<'_>, scenario: &PyScenario, shipped: bool) -> PyResult<Pairs> {
        let idle = self.inner.idle(&*scenario.under(py, self)?, shipped);
        Ok(idle.into_iter().map(|Idle { key, acts_if }| (key, acts_if)).collect())
    }

    /// Values of the scenario's file that the scheme replaces, as (key, value of the file, value of the scheme).
    fn replaced(&self, scenario: &PyScenario) -> Resolved {
        let ServiceModel::Packets(scheme) = &self.inner else { return Resolved::new() };
        let found = scheme.replaced(scenario.inner.resolved());
        found.map(|(key, file, own)| (key.to_owned(), file.to_owned(), own.to_owned())).collect()
    }

    /// All parameters as (key, value, source).
    fn resolved(&self) -> Resolved {
        match &self.inner {
            ServiceModel::Packets(scheme) => {
                self.of_law.iter().cloned().chain(rows(&scheme.resolved)).collect()
            }
            ServiceModel::Ideal(_) => Vec::new(),
        }
    }
}
