//! Tables over the Arrow C stream interface, which polars, pandas, pyarrow and DuckDB all read; and, for what
//! starts quickly without any of them, column by column.

use crate::errors::SimulationError;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::DataType;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use shortflow_sim::tables::{COLUMNS, Column, Declared, Values};
use std::sync::Arc;

/// Declared columns of a run's tables.
#[pyfunction]
pub(crate) fn columns() -> Vec<(&'static str, Vec<Declared>)> {
    COLUMNS.iter().map(|&(table, columns)| (table, columns.to_vec())).collect()
}

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

    /// The values of a column as Python has them.
    fn get_column<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyList>> {
        let Some(array) = self.0.column_by_name(&name) else { return Err(PyKeyError::new_err(name)) };
        match array.data_type() {
            DataType::Utf8 => PyList::new(py, array.as_string::<i32>()),
            DataType::Float64 => PyList::new(py, array.as_primitive::<Float64Type>()),
            DataType::UInt64 => PyList::new(py, array.as_primitive::<UInt64Type>()),
            DataType::UInt32 => PyList::new(py, array.as_primitive::<UInt32Type>()),
            _ => PyList::new(py, array.as_boolean()),
        }
    }
}

impl Table {
    pub(crate) fn of(columns: Vec<Column>) -> PyResult<Table> {
        let columns = columns.into_iter().map(|column| (column.name, array(column.values), column.nullable));
        RecordBatch::try_from_iter_with_nullable(columns)
            .map(Table)
            .map_err(|error| SimulationError::new_err(error.to_string()))
    }
}

fn array(values: Values) -> ArrayRef {
    match values {
        Values::Text(values) => Arc::new(StringArray::from(values)),
        Values::Real(values) => Arc::new(Float64Array::from(values)),
        Values::Count(values) => Arc::new(UInt64Array::from(values)),
        Values::Small(values) => Arc::new(UInt32Array::from(values)),
        Values::Flag(values) => Arc::new(BooleanArray::from(values)),
    }
}
