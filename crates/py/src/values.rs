//! Python values as values of a scenario file.

use crate::ConfigError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use shortflow_spec::{Table, Value};

/// Converts a mapping to the table at `path`.
pub(crate) fn table(value: &Bound<'_, PyAny>, path: &str) -> PyResult<Table> {
    let wrong = || ConfigError::new_err(format!("{path}: {value} is not a table of keys"));
    let mapping = value.cast::<PyMapping>().map_err(|_| wrong())?;
    let mut table = Table::new();
    for item in mapping.items()?.iter() {
        let (key, value): (String, Bound<'_, PyAny>) = item.extract()?;
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        table.insert(key, self::value(&value, &path)?);
    }
    Ok(table)
}

fn value(value: &Bound<'_, PyAny>, path: &str) -> PyResult<Value> {
    let wrong = || {
        let kinds = "text, a number, true or false, a list or a table";
        ConfigError::new_err(format!("{path}: {value:?} is not {kinds}"))
    };
    let items = |items: Vec<Bound<'_, PyAny>>| {
        let each = items.iter().zip(1..).map(|(item, i)| self::value(item, &format!("{path}.{i}")));
        each.collect::<PyResult<_>>().map(Value::Array)
    };
    if value.is_instance_of::<PyBool>() {
        value.extract().map(Value::Boolean)
    } else if value.is_instance_of::<PyInt>() {
        value.extract().map(Value::Integer).map_err(|_| wrong())
    } else if value.is_instance_of::<PyFloat>() {
        value.extract().map(Value::Float)
    } else if value.is_instance_of::<PyString>() {
        value.extract().map(Value::String)
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        items(value.extract()?)
    } else if value.is_instance_of::<PyMapping>() {
        table(value, path).map(Value::Table)
    } else {
        Err(wrong())
    }
}
