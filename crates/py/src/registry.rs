//! The registries as Python lists of dictionaries.

use crate::errors::config_error;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use shortflow_cc::{TransportConfig, transports};
use shortflow_sim::ideal;
use shortflow_sim::parameter_sets::{ParameterSet, parameter_sets};
use shortflow_sim::queue::QueueKind;
use shortflow_sim::scheme::{self, SchemeInfo, schemes};
use shortflow_sim::{routing, topology, traffic};
use shortflow_spec::{Entry, ParamInfo};

/// All registered names: schemes, ideal schedulers, parameter sets, transports, queues, topologies, routing, traffic,
/// sizes.
#[pyfunction]
pub(crate) fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("schemes", list(py, schemes(), scheme_row)?)?;
    all.set_item(
        "ideal",
        list(py, ideal::policies(), |py, policy| row(py, (policy.name, policy.summary, ""), &[]))?,
    )?;
    all.set_item("parameter-sets", list(py, parameter_sets(), set_row)?)?;
    all.set_item(
        "transports",
        list(py, transports(), |py, info| {
            row(py, (info.name, info.summary, info.source), &transport_parameters(info.name))
        })?,
    )?;
    all.set_item(
        "queues",
        list(py, QueueKind::ALL, |py, queue| {
            let info = queue.info();
            row(py, (info.name, info.summary, info.source), &queue.parameters())
        })?,
    )?;
    let entry = |py, entry: &Entry| row(py, (entry.name, entry.summary, entry.source), &entry.parameters);
    all.set_item("topologies", list(py, &topology::topologies(), entry)?)?;
    all.set_item("routing", list(py, &routing::routings(), entry)?)?;
    all.set_item("traffic", list(py, &traffic::traffic_kinds(), entry)?)?;
    all.set_item("sizes", list(py, &traffic::sizes::sizes(), entry)?)?;
    Ok(all)
}

fn list<'py, T>(
    py: Python<'py>,
    items: &[T],
    row: impl Fn(Python<'py>, &T) -> PyResult<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, items.iter().map(|item| row(py, item)).collect::<PyResult<Vec<_>>>()?)
}

fn row<'py>(
    py: Python<'py>,
    about: (&str, &str, &str),
    parameters: &[ParamInfo],
) -> PyResult<Bound<'py, PyDict>> {
    keyed_row(py, about, parameters.iter().map(|parameter| (parameter.name, parameter)))
}

/// A row whose parameters have other names than in their declaration.
fn keyed_row<'py, 'a>(
    py: Python<'py>,
    (name, summary, source): (&str, &str, &str),
    parameters: impl Iterator<Item = (&'a str, &'a ParamInfo)>,
) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", name)?;
    row.set_item("summary", summary)?;
    row.set_item("source", source)?;
    let parameters = list(py, &parameters.collect::<Vec<_>>(), |py, (name, parameter)| {
        let row = PyDict::new(py);
        row.set_item("name", name)?;
        row.set_item("default", &parameter.default)?;
        row.set_item("expected", parameter.shape.to_string())?;
        row.set_item("summary", &parameter.summary)?;
        Ok(row)
    })?;
    row.set_item("parameters", parameters)?;
    Ok(row)
}

/// A scheme of a file: name, text for `Scheme.parse`, and settings.
type FileScheme = (String, String, Vec<(String, String)>);

/// Reads the schemes in `text`, the content of the file called `file`.
#[pyfunction]
pub(crate) fn read_schemes(text: &str, file: &str) -> PyResult<Vec<FileScheme>> {
    let row = |info: SchemeInfo| {
        let composed = format!("{} over {}", info.transport, info.queue.info().name);
        let settings = info.settings();
        (info.name, composed, settings)
    };
    let schemes = scheme::read_schemes(text, file).map_err(config_error)?;
    Ok(schemes.into_iter().map(row).collect())
}

fn scheme_row<'py>(py: Python<'py>, info: &SchemeInfo) -> PyResult<Bound<'py, PyDict>> {
    let parameters = scheme::parameters(&info.name).unwrap_or_default();
    let keyed = parameters.iter().map(|(key, parameter)| (key.as_str(), parameter));
    let entry = keyed_row(py, (&info.name, &info.summary, &info.source), keyed)?;
    entry.set_item("transport", &info.transport)?;
    entry.set_item("queue", info.queue.info().name)?;
    entry.set_item("host_queue", info.host_queue.info().name)?;
    Ok(entry)
}

/// The row of a parameter set; the summary of each constant is its source.
fn set_row<'py>(py: Python<'py>, set: &ParameterSet) -> PyResult<Bound<'py, PyDict>> {
    let of = set.of.as_ref().map_or_else(String::new, |of| format!("of the transport {of}"));
    let entry = row(py, (&set.name, &set.summary, &of), &[])?;
    entry.set_item("transport", set.of.as_deref().unwrap_or_default())?;
    let constants = list(py, &set.constants, |py, constant| {
        let row = PyDict::new(py);
        row.set_item("name", &constant.key)?;
        row.set_item("default", &constant.value)?;
        row.set_item("expected", "")?;
        row.set_item("summary", &constant.source)?;
        Ok(row)
    })?;
    entry.set_item("parameters", constants)?;
    Ok(entry)
}

fn transport_parameters(name: &str) -> Vec<ParamInfo> {
    TransportConfig::named(name).map(|config| config.params().to_vec()).unwrap_or_default()
}
