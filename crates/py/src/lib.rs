//! `shortflow._core`: the simulator as a Python extension. Glue only: converts errors and tables, and releases
//! Python's lock during runs.

mod account;
mod capture;
mod declared;
mod errors;
mod files;
mod registry;
mod run;
mod scenario;
mod tables;
mod user_defined;
mod values;

use errors::{Cancelled, ConfigError, SimulationError};
use pyo3::prelude::*;

/// The JSON Schema of a scenario file, as text.
#[pyfunction]
fn schema() -> String {
    format!("{:#}", shortflow_sim::schema())
}

/// Known names that `name` may mean, the likeliest first.
#[pyfunction]
fn meant(name: &str, known: Vec<String>) -> Vec<String> {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    shortflow_spec::meant(name, &known).into_iter().map(str::to_owned).collect()
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ConfigError", py.get_type::<ConfigError>())?;
    module.add("SimulationError", py.get_type::<SimulationError>())?;
    module.add("Cancelled", py.get_type::<Cancelled>())?;
    module.add_class::<scenario::PyScenario>()?;
    module.add_class::<scenario::PyScheme>()?;
    module.add_class::<user_defined::PyWindow>()?;
    module.add_class::<user_defined::PyOpening>()?;
    module.add_class::<user_defined::PyFlow>()?;
    module.add_class::<user_defined::PyAck>()?;
    module.add_class::<run::Control>()?;
    module.add_class::<account::Accounts>()?;
    module.add_class::<capture::Capture>()?;
    module.add_class::<run::PyOutcome>()?;
    module.add_class::<run::PyFloor>()?;
    module.add_class::<tables::Table>()?;
    module.add_function(wrap_pyfunction!(run::version, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(tables::columns, module)?)?;
    module.add_function(wrap_pyfunction!(meant, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_file, module)?)?;
    module.add_function(wrap_pyfunction!(declared::declared, module)?)?;
    module.add_function(wrap_pyfunction!(declared::check_table, module)?)?;
    module.add_function(wrap_pyfunction!(registry::registry, module)?)?;
    module.add_function(wrap_pyfunction!(registry::read_schemes, module)?)?;
    module.add_function(wrap_pyfunction!(run::cores, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    Ok(())
}
