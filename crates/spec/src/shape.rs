//! [`Shape`]: accepted values of a key, as data. The words of errors, the JSON Schema and the fuzzer's draws follow
//! from the shape.

use crate::acts::Condition;
use crate::error::ConfigError;
use crate::hint::nearest;
use crate::text::Text;
use shortflow_units::{Bytes, Occupancy, Rate, Span, UnitError};
use std::fmt;
use std::str::FromStr;
use toml::Value;

/// Values that a key accepts.
#[derive(Debug, Clone)]
pub enum Shape {
    /// A whole number within limits, and a multiple of `step`.
    Whole {
        /// The smallest.
        low: u64,
        /// Largest value.
        high: u64,
        /// Divisor of all valid values; 1 for any.
        step: u64,
    },
    /// A real number within limits.
    Real {
        /// Lower limit; excluded if `above` is set.
        low: f64,
        /// Upper limit, included.
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
    /// A host: a number or a name.
    Host,
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
        ParamInfo { summary: format!("{}; acts only if {condition}", self.summary), ..self }
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

    /// The quantity that `text` means if its unit is in other letters, such as `30kb`, or cut, such as `1G`.
    fn nearest(self, text: &str) -> Option<String> {
        let (units, packets): (&[(&str, u64)], Option<&str>) = match self {
            Unit::Time => (Span::UNITS, None),
            Unit::Size => (Bytes::UNITS, None),
            Unit::Rate => (Rate::UNITS, None),
            Unit::Queue | Unit::Threshold => (Bytes::UNITS, Some("pkt")),
            Unit::Window => (&[], Some("pkt")),
        };
        let (number, unit) = number_and_unit(text)?;
        let unit = unit.to_lowercase().replace('µ', "u").replace("b/s", "bps");
        let may_be_cut = self != Unit::Time && !unit.is_empty(); // a time of 5m may be in minutes
        let names = || units.iter().map(|(name, _)| *name).chain(packets);
        let same = names().find(|name| name.to_lowercase() == unit);
        let cut = || names().find(|name| may_be_cut && name.to_lowercase().starts_with(&unit));
        same.or_else(cut).map(|name| format!("{number}{name}")).filter(|quantity| quantity != text)
    }
}

impl Shape {
    /// Expected values, with the nearest word or quantity to `value`.
    pub fn expected_instead_of(&self, value: &Value) -> String {
        let nearest = value.as_str().and_then(|text| self.nearest(text));
        nearest.map_or_else(|| self.to_string(), |word| format!("{self}; did you mean {word:?}?"))
    }

    /// The word or the quantity that `text` means.
    fn nearest(&self, text: &str) -> Option<String> {
        match self {
            Shape::Words(words) => nearest(text, words).map(str::to_owned),
            Shape::Quantity { unit, .. } => unit.nearest(text),
            Shape::KeywordOr(_, other) => other.nearest(text),
            _ => None,
        }
    }

    /// The error with the key's summary, if the key is a plain number and the value has a unit.
    #[must_use]
    pub fn explain(&self, mut error: ConfigError, summary: &str) -> ConfigError {
        if let ConfigError::Value { value, expected, .. } = &mut error
            && self.is_number()
            && number_and_unit(value.trim_matches('"')).is_some()
        {
            let summary = summary.split("; acts only if").next().unwrap_or_default().trim();
            *expected = format!("{expected}: {summary}");
        }
        error
    }

    /// True for numbers without a unit.
    fn is_number(&self) -> bool {
        match self {
            Shape::Whole { .. } | Shape::Real { .. } => true,
            Shape::KeywordOr(_, other) => other.is_number(),
            _ => false,
        }
    }
}

/// The number and the unit of a text such as `30kb`; none without both.
fn number_and_unit(text: &str) -> Option<(&str, &str)> {
    let at = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))?;
    let (number, unit) = (&text[..at], text[at..].trim());
    number.parse::<f64>().ok().map(|_| (number, unit))
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
            Shape::Host => f.write_str("a host: a number such as 3 or a name such as \"h3\""),
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
