//! [`keys!`]: one declaration per table of a scenario file. It gives the struct, the reader and the
//! documentation, so none of them can miss a key.

use super::format::Format;
use shortflow_cc::settings::ParamInfo;

/// Declares a struct that is read from a table. Each field has a doc line, which users see, then
/// `= required`, `= optional` (the field is an `Option`) or `= "default"` in the notation of
/// `--set`, then its format.
macro_rules! keys {
    ($(#[$attribute:meta])* $vis:vis struct $name:ident {
        $($(#[doc = $doc:literal])+ $fvis:vis $field:ident : $type:ty = $default:tt, $format:expr;)*
    }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name { $($(#[doc = $doc])+ $fvis $field: $type,)* }

        impl $name {
            /// Reads the keys; whether there are others is the caller's concern.
            pub(crate) fn read(
                reader: &$crate::config::Reader,
            ) -> Result<Self, $crate::config::ConfigError> {
                Ok($name { $($field: $crate::config::read_key!(reader, $default, $field, $format),)* })
            }

            /// The keys as users meet them.
            pub(crate) fn parameters() -> Vec<$crate::config::ParamInfo> {
                vec![$($crate::config::describe(
                    stringify!($field),
                    $crate::config::default_text!($default),
                    &$format,
                    concat!($($doc),+),
                ),)*]
            }
        }
    };
}

macro_rules! read_key {
    ($reader:ident, required, $field:ident, $format:expr) => {
        $reader.required(stringify!($field), &$format)?
    };
    ($reader:ident, optional, $field:ident, $format:expr) => {
        $reader.optional(stringify!($field), &$format)?
    };
    ($reader:ident, $default:literal, $field:ident, $format:expr) => {
        $reader.or(stringify!($field), $default, &$format)?
    };
}

macro_rules! default_text {
    (required) => {
        "required"
    };
    (optional) => {
        ""
    };
    ($default:literal) => {
        $default
    };
}

pub(crate) use {default_text, keys, read_key};

/// A key as users meet it.
pub(crate) fn describe<F: Format>(name: &'static str, default: &str, format: &F, summary: &str) -> ParamInfo {
    ParamInfo {
        name,
        default: default.to_owned(),
        expected: format.expected(),
        summary: summary.trim().to_owned(),
    }
}
