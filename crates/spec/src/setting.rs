//! [`Setting`]: a value that a run uses, with its source.

use crate::acts::Condition;
use crate::expression::referred;
use std::fmt;

/// Source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The default.
    Default,
    /// The default, which follows from the value of another key: this key and its source.
    DefaultOf(&'static str, Box<Source>),
    /// The scenario file.
    Scenario,
    /// The definition of the scheme.
    Scheme,
    /// A `--set KEY=VALUE` of this run.
    Set,
    /// The name of the scheme, such as `dctcp+KEY=VALUE`.
    Name,
    /// An expression over the scenario's parameters, and the unit to which the result was rounded, if it was.
    Expression(String, Option<&'static str>),
}

impl Source {
    /// True if neither user, scenario nor scheme states the value.
    pub fn is_default(&self) -> bool {
        matches!(self, Source::Default | Source::DefaultOf(..))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::DefaultOf(key, source) => write!(f, "default: {key} ({source})"),
            Source::Scenario => f.write_str("scenario"),
            Source::Scheme => f.write_str("scheme"),
            Source::Set => f.write_str("--set"),
            Source::Name => f.write_str("scheme+key="),
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

/// A key, its value, and the source of the value.
pub type Given<'a> = (&'a str, &'a str, Source);

/// One resolved value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Path of the key, for example `traffic.1.load`.
    pub key: String,
    /// The value as text, with its unit.
    pub value: String,
    /// Source of the value.
    pub source: Source,
    /// Condition under which the key acts; `None` if it always acts.
    pub acts: Option<Condition>,
}
