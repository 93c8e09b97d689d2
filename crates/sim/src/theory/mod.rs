//! Closed-form predictions that simulations are compared with.

pub mod fct;
pub mod l2dct;
