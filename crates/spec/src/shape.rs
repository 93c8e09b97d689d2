//! [`Shape`]: accepted values, for machines. The words of errors, the JSON Schema and the fuzzer's draws
//! follow from it.

use crate::acts::Condition;
use crate::hint::nearest;
use crate::text::Text;
use shortflow_units::{Bytes, Occupancy, Rate, Span, UnitError};
use std::fmt;
use std::str::FromStr;
use toml::Value;

/// Values that a key accepts.
#[derive(Debug, Clone)]
pub enum Shape {
    /// A whole number within limits: a multiple of `step`.
    Whole {
        /// The smallest.
        low: u64,
        /// The largest.
        high: u64,
        /// Divisor of all valid values; 1 for any.
        step: u64,
    },
    /// A real number within limits.
    Real {
        /// The smallest; does not fit itself if `above`.
        low: f64,
        /// The largest.
        high: f64,
        /// `low` itself is excluded.
        above: bool,
    },
    /// A number with a unit.
    Quantity {
        /// Its kind of unit.
        unit: Unit,
        /// The smallest, if there are limits.
        low: Option<String>,
        /// The largest, if there is one.
        high: Option<String>,
    },
    /// One of some words.
    Words(Vec<&'static str>),
    /// `true` or `false`.
    Flag,
    /// Text.
    Text(Text),
    /// Hosts: all, a number, a name, a range, or a list.
    Hosts,
    /// A list, and its description.
    List(Box<Shape>, &'static str),
    /// A keyword, or another shape.
    KeywordOr(&'static str, Box<Shape>),
    /// A table of these keys.
    Table(fn() -> Vec<ParamInfo>),
    /// A table whose keys depend on its `kind`.
    Kinds(Kinds),
    /// A list of such tables.
    Parts(Kinds),
}

/// Accepted `kind`s of a table.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    /// Name in the JSON Schema.
    pub name: &'static str,
    /// Each with its keys.
    pub entries: fn() -> Vec<Entry>,
    /// Keys that all kinds share.
    pub others: fn() -> Vec<ParamInfo>,
    /// One such table.
    pub example: &'static str,
}

/// A key as a user meets it.
#[derive(Debug, Clone)]
pub struct ParamInfo {
    /// Name, without the path to its table.
    pub name: &'static str,
    /// Default value as text: `required` if there must be one, empty if there is none.
    pub default: String,
    /// Accepted values.
    pub shape: Shape,
    /// One-line summary.
    pub summary: String,
    /// Checks the format of a value; unused for tables.
    pub fits: fn(&Value) -> bool,
}

impl ParamInfo {
    /// The default of a key that has none and must be there.
    pub const REQUIRED: &'static str = "required";

    /// A key.
    pub fn new(name: &'static str, default: &str, shape: Shape, summary: &str) -> ParamInfo {
        let (default, summary) = (default.to_owned(), summary.trim().to_owned());
        ParamInfo { name, default, shape, summary, fits: |_| true }
    }

    /// A key whose values `fits` checks.
    pub fn with_check(self, fits: fn(&Value) -> bool) -> ParamInfo {
        ParamInfo { fits, ..self }
    }

    /// A key that acts only under this condition, which its summary then names.
    pub fn that_acts(self, condition: Condition) -> ParamInfo {
        ParamInfo { summary: format!("{}; acts where {condition}", self.summary), ..self }
    }

    /// True if the key has no default and must be set.
    pub fn is_required(&self) -> bool {
        self.default == ParamInfo::REQUIRED
    }
}

/// A row of a registry as users see it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Name that users type.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Paper or RFC; may be empty.
    pub source: &'static str,
    /// Its keys.
    pub parameters: Vec<ParamInfo>,
}

/// Unit of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Time.
    Time,
    /// Bytes.
    Size,
    /// Bits per second, above zero.
    Rate,
    /// Packets or bytes of a queue.
    Queue,
    /// A queue size above zero.
    Threshold,
    /// Segments of a window.
    Window,
}

impl Unit {
    /// Expected quantity, in words.
    fn expected(self) -> &'static str {
        fn of<T: FromStr<Err = UnitError>>() -> &'static str {
            "".parse::<T>().err().map_or("", |error| error.expected)
        }
        match self {
            Unit::Time => of::<Span>(),
            Unit::Size => of::<Bytes>(),
            Unit::Rate => of::<Rate>(),
            Unit::Queue => of::<Occupancy>(),
            Unit::Threshold => "a queue size above zero such as \"5pkt\" or \"30KB\"",
            Unit::Window => "a window in segments such as \"1256pkt\", or \"unlimited\"",
        }
    }
}

impl Shape {
    /// Expected values, with the nearest word to `value`.
    pub fn expected_instead_of(&self, value: &Value) -> String {
        let nearest = match (self, value.as_str()) {
            (Shape::Words(words), Some(text)) => nearest(text, words),
            _ => None,
        };
        nearest.map_or_else(|| self.to_string(), |word| format!("{self}; did you mean {word:?}?"))
    }
}

/// Expected values, to follow "is not" or "expected".
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Whole { low, high, step: 1 } => write!(f, "a whole number from {low} to {high}"),
            Shape::Whole { low, high, step: 2 } => write!(f, "an even number from {low} to {high}"),
            Shape::Whole { low, high, step } => write!(f, "a multiple of {step} from {low} to {high}"),
            Shape::Real { low, high, above: true } => write!(f, "a number above {low} and at most {high}"),
            Shape::Real { low, high, above: false } => write!(f, "a number from {low} to {high}"),
            Shape::Quantity { unit, low, high } => {
                f.write_str(unit.expected())?;
                match (low, high) {
                    (Some(low), Some(high)) => write!(f, ", from {low} to {high}"),
                    (Some(low), None) => write!(f, ", from {low} on"),
                    (None, _) => Ok(()),
                }
            }
            Shape::Words(words) => write!(f, "one of {}", words.join(", ")),
            Shape::Flag => f.write_str("true or false"),
            Shape::Text(text) => text.fmt(f),
            Shape::Hosts => f.write_str(
                "hosts: \"all\", a number such as 3, a name such as \"h3\", a range such as \"0-19\" or \"h0-h19\", or a list \
                 such as [0, 2, 5]",
            ),
            Shape::List(_, name) => f.write_str(name),
            Shape::KeywordOr(word, other) => write!(f, "{word:?} or {other}"),
            Shape::Table(keys) => {
                let names: Vec<&str> = keys().iter().map(|key| key.name).collect();
                write!(f, "a table with {}", names.join(", "))
            }
            Shape::Kinds(kinds) => {
                let names: Vec<&str> = (kinds.entries)().iter().map(|entry| entry.name).collect();
                write!(f, "a table such as {}; kinds are {}", kinds.example, names.join(", "))
            }
            Shape::Parts(kinds) => write!(f, "a list of tables such as {}", kinds.example),
        }
    }
}
