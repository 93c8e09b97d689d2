//! Tables of scenarios for Python: their keys with types, and checks of their values.

use crate::errors::config_error;
use crate::values;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use shortflow_spec::located;
use shortflow_spec::{ParamInfo, Shape};

/// All tables as dictionaries: the name of the table, the name of the kind (or again of the table), a summary, and
/// the keys.
#[pyfunction]
pub(crate) fn declared(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |(table, entry): (&str, shortflow_spec::Entry)| {
        let row = PyDict::new(py);
        row.set_item("table", table)?;
        row.set_item("name", entry.name)?;
        row.set_item("summary", entry.summary)?;
        let keys = entry.parameters.iter().map(|key| key_row(py, key)).collect::<PyResult<Vec<_>>>()?;
        row.set_item("keys", PyList::new(py, keys)?)?;
        Ok(row)
    };
    shortflow_sim::declared().into_iter().map(row).collect()
}

fn key_row<'py>(py: Python<'py>, key: &ParamInfo) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", key.name)?;
    row.set_item("type", annotation(&key.shape))?;
    row.set_item("required", key.is_required())?;
    row.set_item("default", &key.default)?;
    row.set_item("expected", key.shape.to_string())?;
    row.set_item("summary", &key.summary)?;
    Ok(row)
}

/// Python type of values of this shape. The tables of kinds have classes named after them.
fn annotation(shape: &Shape) -> String {
    match shape {
        Shape::Whole { .. } => "int".to_owned(),
        Shape::Real { .. } => "float".to_owned(),
        Shape::Quantity { .. } | Shape::Text(_) => "str".to_owned(),
        Shape::Words(words) => format!("Literal[{}]", quoted(words)),
        Shape::Flag => "bool".to_owned(),
        Shape::Hosts | Shape::Host => "str | int | Sequence[str | int]".to_owned(),
        Shape::List(item, _) => format!("Sequence[{}]", annotation(item)),
        Shape::KeywordOr(word, other) => match annotation(other).as_str() {
            "str" => "str".to_owned(),
            other => format!("Literal[{}] | {other}", quoted(&[word])),
        },
        Shape::Table(_) => "Mapping[str, object]".to_owned(),
        Shape::Kinds(kinds) => class(kinds.name),
        Shape::Parts(kinds) => format!("Sequence[{}]", class(kinds.name)),
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

fn class(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// Checks each value of a table, or of the kind called `name` of this table; errors call the table `path`.
#[pyfunction]
pub(crate) fn check_table(table: &str, name: &str, path: &str, values: &Bound<'_, PyAny>) -> PyResult<()> {
    let errors = shortflow_sim::check(table, name, path, &values::table(values, path)?);
    if errors.is_empty() { Ok(()) } else { Err(config_error(located(&errors, "", "", &[]))) }
}
