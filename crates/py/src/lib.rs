//! `shortflow._core`: the simulator as a Python extension. Glue only: what is decided here is how
//! errors, tables and threads cross the border.

mod foreign;
mod registry;
mod run;
mod scenario;
mod tables;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(_core, ConfigError, PyValueError, "The input is wrong; the message says where and how.");
create_exception!(_core, SimulationError, PyRuntimeError, "The simulator broke one of its own rules.");
create_exception!(_core, Cancelled, PyException, "The run was cancelled.");

/// Version of the simulator.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ConfigError", py.get_type::<ConfigError>())?;
    module.add("SimulationError", py.get_type::<SimulationError>())?;
    module.add("Cancelled", py.get_type::<Cancelled>())?;
    module.add_class::<scenario::PyScenario>()?;
    module.add_class::<scenario::PyScheme>()?;
    module.add_class::<foreign::PyWindow>()?;
    module.add_class::<foreign::PyFlow>()?;
    module.add_class::<foreign::PyAck>()?;
    module.add_class::<run::Control>()?;
    module.add_class::<run::PyOutcome>()?;
    module.add_class::<tables::Table>()?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(registry::registry, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    Ok(())
}
