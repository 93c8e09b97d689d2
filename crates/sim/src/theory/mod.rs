//! Closed-form predictions that runs are compared with.

pub mod fct;
