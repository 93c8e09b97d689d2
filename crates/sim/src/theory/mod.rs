//! Closed-form predictions that simulations are compared with.

pub mod atcp;
pub mod fast;
pub mod fct;
pub mod l2dct;
pub mod mg1;
pub mod pecn;
pub mod xdctcp;
