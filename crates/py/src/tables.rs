//! Tables over the Arrow C stream interface, which polars, pandas, pyarrow and DuckDB read. Code that must start
//! quickly, without these packages, reads a table column by column.

use crate::errors::SimulationError;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use shortflow_sim::probe::Samples;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::tables::{self, COLUMNS, Column, Declared, Values};
use std::ops::Range;
use std::sync::Arc;

/// Columns of a run's tables, as declared.
#[pyfunction]
pub(crate) fn columns() -> Vec<(&'static str, Vec<Declared>)> {
    COLUMNS.iter().map(|&(table, columns)| (table, columns.to_vec())).collect()
}

/// A table that exports itself by the Arrow PyCapsule protocol.
#[pyclass(frozen, module = "shortflow._core")]
pub struct Table(Rows);

enum Rows {
    Columns(RecordBatch),
    /// Samples, converted to columns block by block.
    Samples(Arc<Samples>, Arc<Scenario>),
}

/// Rows in a block of samples.
const BLOCK: usize = 1 << 14;

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema); // the protocol allows another schema than the requested one; each table has one schema
        let stream = match &self.0 {
            Rows::Columns(batch) => stream([Ok(batch.clone())], batch.schema()),
            Rows::Samples(samples, scenario) => {
                let (samples, scenario) = (Arc::clone(samples), Arc::clone(scenario));
                let schema = sampled(&samples, 0..0, &scenario).map_err(arrow_failure)?.schema();
                let firsts = (0..samples.len().max(1)).step_by(BLOCK);
                let block =
                    move |first| sampled(&samples, first..samples.len().min(first + BLOCK), &scenario);
                stream(firsts.map(block), schema)
            }
        };
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Number of rows.
    #[getter]
    fn height(&self) -> usize {
        match &self.0 {
            Rows::Columns(batch) => batch.num_rows(),
            Rows::Samples(samples, _) => samples.len(),
        }
    }

    /// At most `length` rows from row `offset` on.
    fn slice(&self, offset: usize, length: usize) -> PyResult<Table> {
        let height = self.height();
        let rows = offset.min(height)..offset.saturating_add(length).min(height);
        let batch = match &self.0 {
            Rows::Columns(batch) => Ok(batch.slice(rows.start, rows.len())),
            Rows::Samples(samples, scenario) => sampled(samples, rows, scenario),
        };
        batch.map(|batch| Table(Rows::Columns(batch))).map_err(arrow_failure)
    }

    /// The values of a column as Python objects.
    fn get_column<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyList>> {
        let batch = match &self.0 {
            Rows::Columns(batch) => batch.clone(),
            Rows::Samples(samples, scenario) => {
                sampled(samples, 0..samples.len(), scenario).map_err(arrow_failure)?
            }
        };
        let Some(array) = batch.column_by_name(&name) else { return Err(PyKeyError::new_err(name)) };
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
        batch(columns).map(|batch| Table(Rows::Columns(batch))).map_err(arrow_failure)
    }

    pub(crate) fn of_batch(batch: RecordBatch) -> Table {
        Table(Rows::Columns(batch))
    }

    pub(crate) fn of_samples(samples: &Arc<Samples>, scenario: &Arc<Scenario>) -> Table {
        Table(Rows::Samples(Arc::clone(samples), Arc::clone(scenario)))
    }
}

fn batch(columns: Vec<Column>) -> Result<RecordBatch, ArrowError> {
    let columns = columns.into_iter().map(|column| (column.name, array(column.values), column.nullable));
    RecordBatch::try_from_iter_with_nullable(columns)
}

fn sampled(samples: &Samples, rows: Range<usize>, scenario: &Scenario) -> Result<RecordBatch, ArrowError> {
    batch(tables::samples(samples, rows, scenario))
}

fn stream<I>(blocks: I, schema: SchemaRef) -> FFI_ArrowArrayStream
where
    I: IntoIterator<Item = Result<RecordBatch, ArrowError>, IntoIter: Send + 'static> + 'static,
{
    FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(blocks, schema)))
}

fn arrow_failure(error: ArrowError) -> PyErr {
    SimulationError::new_err(error.to_string())
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
