//! Errors as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(_core, ConfigError, PyValueError, "The input is wrong; the message says where and how.");
create_exception!(
    _core,
    SimulationError,
    PyRuntimeError,
    "A defect of the simulator: a run broke an invariant."
);
create_exception!(_core, Cancelled, PyException, "The run was cancelled.");

pub(crate) fn config_error(error: impl std::fmt::Display) -> PyErr {
    ConfigError::new_err(error.to_string())
}
