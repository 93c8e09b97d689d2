//! Closed-form predictions for comparison with runs.

pub mod fct;
