//! Parameters of transports, queue disciplines and priority rules: named, ranged, with the paper's defaults, read from text once.

use shortflow_units::Bytes;

/// A parameter as a user meets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamInfo {
    /// Name, without a prefix such as `transport.`.
    pub name: &'static str,
    /// Default value as text.
    pub default: String,
    /// Accepted values, in words.
    pub expected: String,
    /// One line on what it does.
    pub summary: String,
}

/// A value that does not fit, or a name that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// The value was not accepted.
    #[error("{value:?} is not {expected}")]
    Value {
        /// The text given.
        value: String,
        /// What would have been accepted.
        expected: String,
    },
    /// A parameter above another that it must not exceed.
    #[error("{low} = {value} is above {high} = {limit}")]
    Crossed {
        /// The one that is too large.
        low: &'static str,
        /// Its value.
        value: String,
        /// The one that should be at least as large.
        high: &'static str,
        /// Its value.
        limit: String,
    },
    /// No such parameter.
    #[error("there is no such parameter; {hint}")]
    Unknown {
        /// The nearest known name, or all of them.
        hint: String,
    },
}

/// A type that a parameter can have. `R` is the type of its range.
pub trait Setting: Sized + Copy {
    /// Limits of the value; `()` where the type itself is the limit.
    type Range: 'static;
    /// Reads `text`, if it is in `range`.
    fn read(text: &str, range: &Self::Range) -> Option<Self>;
    /// The value as text that [`Setting::read`] accepts.
    fn show(self) -> String;
    /// The accepted values, in words.
    fn expected(range: &Self::Range) -> String;
}

/// Inclusive limits.
pub type Range<T> = std::ops::RangeInclusive<T>;

impl Setting for f64 {
    type Range = Range<f64>;
    fn read(text: &str, range: &Range<f64>) -> Option<f64> {
        text.trim().parse().ok().filter(|value| range.contains(value))
    }
    fn show(self) -> String {
        self.to_string()
    }
    fn expected(range: &Range<f64>) -> String {
        format!("a number from {} to {}", range.start(), range.end())
    }
}

impl Setting for u32 {
    type Range = Range<u32>;
    fn read(text: &str, range: &Range<u32>) -> Option<u32> {
        text.trim().parse().ok().filter(|value| range.contains(value))
    }
    fn show(self) -> String {
        self.to_string()
    }
    fn expected(range: &Range<u32>) -> String {
        format!("a whole number from {} to {}", range.start(), range.end())
    }
}

impl Setting for Bytes {
    type Range = Range<Bytes>;
    fn read(text: &str, range: &Range<Bytes>) -> Option<Bytes> {
        text.parse().ok().filter(|value| range.contains(value))
    }
    fn show(self) -> String {
        self.to_string()
    }
    fn expected(range: &Range<Bytes>) -> String {
        match *range.end() {
            Bytes::MAX => format!("a size from \"{}\" on", range.start()),
            end => format!("a size from \"{}\" to \"{end}\"", range.start()),
        }
    }
}

/// Declares an enum whose variants have names that users type.
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[doc = $vdoc:literal])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[doc = $vdoc])* $variant,)+ }

        impl $crate::settings::Setting for $name {
            type Range = ();
            fn read(text: &str, (): &()) -> Option<Self> {
                match text.trim() { $($text => Some($name::$variant),)+ _ => None }
            }
            fn show(self) -> String {
                match self { $($name::$variant => $text,)+ }.to_owned()
            }
            fn expected((): &()) -> String {
                format!("one of {}", [$($text),+].join(", "))
            }
        }
    };
}
pub use choice;

/// Declares a parameter struct: fields with doc line, type, default and range. The struct gets
/// `Default` (the paper's values), `set` by name, and a list for help texts. Pairs that must be in order
/// follow as `in order { low <= high; }`.
#[macro_export]
macro_rules! params {
    ($(#[$doc:meta])* pub struct $name:ident {
        $(#[doc = $pdoc:literal] $field:ident : $type:ty = $default:expr, $range:expr;)*
    } $(in order { $($low:ident <= $high:ident;)+ })?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name { $(#[doc = $pdoc] pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::settings::Params for $name {
            fn infos(&self) -> Vec<$crate::settings::ParamInfo> {
                vec![$($crate::settings::ParamInfo {
                    name: stringify!($field),
                    default: $crate::settings::Setting::show(self.$field),
                    expected: <$type as $crate::settings::Setting>::expected(&$range),
                    summary: $pdoc.trim().to_owned(),
                },)*]
            }
            #[allow(unused_variables)] // `text`, where there is no parameter
            fn set(&mut self, name: &str, text: &str) -> Result<(), $crate::settings::ParamError> {
                match name {
                    $(stringify!($field) => {
                        self.$field = $crate::settings::read::<$type>(text, &$range)?;
                        Ok(())
                    })*
                    _ => Err($crate::settings::unknown(name, &[$(stringify!($field)),*])),
                }
            }
            fn check(&self) -> Result<(), $crate::settings::ParamError> {
                $($(if self.$low > self.$high {
                    return Err($crate::settings::ParamError::Crossed {
                        low: stringify!($low),
                        value: $crate::settings::Setting::show(self.$low),
                        high: stringify!($high),
                        limit: $crate::settings::Setting::show(self.$high),
                    });
                })+)?
                Ok(())
            }
        }
    };
}
pub use params;

/// A set of named parameters.
pub trait Params {
    /// The parameters with their present values as defaults.
    fn infos(&self) -> Vec<ParamInfo>;
    /// Sets one of them from text.
    fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError>;
    /// Whether all of them together make sense, to be asked when all have been set.
    fn check(&self) -> Result<(), ParamError>;
}

/// Reads a parameter, or says what would have been accepted.
pub fn read<T: Setting>(text: &str, range: &T::Range) -> Result<T, ParamError> {
    T::read(text, range)
        .ok_or_else(|| ParamError::Value { value: text.to_owned(), expected: T::expected(range) })
}

/// The error for a parameter that is not there.
pub fn unknown(name: &str, known: &[&str]) -> ParamError {
    ParamError::Unknown { hint: hint(name, known) }
}

/// What to say about an unknown `name`: the nearest of the `known` ones, or all of them.
pub fn hint(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(candidate) => format!("did you mean {candidate:?}?"),
        None if known.is_empty() => "there are none here".to_owned(),
        None => format!("known are {}", known.join(", ")),
    }
}

/// The one of `known` that looks most like `name`, if any looks like it.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = &name.to_lowercase();
    known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told_in_words() {
        assert_eq!(f64::expected(&(0.5..=2.0)), "a number from 0.5 to 2");
        assert_eq!(u32::expected(&(1..=8)), "a whole number from 1 to 8");
        let from = Bytes::new(1_000);
        assert_eq!(Bytes::expected(&(from..=Bytes::new(5_000))), "a size from \"1KB\" to \"5KB\"");
        assert_eq!(Bytes::expected(&(from..=Bytes::MAX)), "a size from \"1KB\" on");
    }

    #[test]
    fn limits_belong_to_the_range() {
        assert_eq!(
            ["0.5", " 2 ", "0.4", "2.1", "x"]
                .map(|text| f64::read(text, &(0.5..=2.0)))
                .map(|read| read.is_some()),
            [true, true, false, false, false]
        );
        assert_eq!(
            ["1", "8", "0", "9", "1.5"].map(|text| u32::read(text, &(1..=8))),
            [Some(1), Some(8), None, None, None]
        );
        let range = Bytes::new(1_000)..=Bytes::new(5_000);
        let sizes = ["1KB", "5KB", "999B", "5001B", "x"].map(|text| Bytes::read(text, &range));
        assert_eq!(sizes, [Some(Bytes::new(1_000)), Some(Bytes::new(5_000)), None, None, None]);
    }

    #[test]
    fn a_hint_names_the_nearest_or_all() {
        let known = ["cwnd_floor", "initial_alpha"];
        assert_eq!(hint("cwnd_flor", &known), "did you mean \"cwnd_floor\"?");
        assert_eq!(hint("CWND_FLOOR", &known), "did you mean \"cwnd_floor\"?");
        assert_eq!(hint("xyz", &known), "known are cwnd_floor, initial_alpha");
        assert_eq!(hint("xyz", &[]), "there are none here");
    }
}
