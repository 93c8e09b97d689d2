//! Shortflow on real Linux: a software switch between network namespaces.

pub mod switch;
pub mod sys;
