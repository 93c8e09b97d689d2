//! [`Setting`]: a value that a run uses, and where it came from.

use crate::expression::referred;
use std::fmt;

/// Source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The default.
    Default,
    /// The scenario file.
    Scenario,
    /// The definition of the scheme.
    Scheme,
    /// A `--set KEY=VALUE` of this run.
    Set,
    /// An expression over the scenario's parameters, and the unit to which its value was rounded, if it was.
    Expression(String, Option<&'static str>),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::Scenario => f.write_str("scenario"),
            Source::Scheme => f.write_str("scheme"),
            Source::Set => f.write_str("--set"),
            Source::Expression(text, rounded) => {
                match referred(text) {
                    Some(name) => write!(f, "parameter {name}")?,
                    None => write!(f, "parameters: {text}")?,
                }
                rounded.map_or(Ok(()), |unit| write!(f, ", rounded to {unit}"))
            }
        }
    }
}

/// One resolved value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Path of the key, for example `traffic.1.load`.
    pub key: String,
    /// The value as text, with its unit.
    pub value: String,
    /// Source.
    pub source: Source,
}
