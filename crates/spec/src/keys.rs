//! [`keys!`](crate::keys!) and [`words!`](crate::words!): one declaration per table of keys, and one per list of words.

use crate::document::{Document, no_files};
use crate::error::ConfigError;
use crate::reader::Reader;

/// Declares a struct that is read from a table. Each field has a doc line, which users see; then `= required`, `=
/// optional` (the field is an `Option`) or `= "default"` in the notation of `--set`; then its format; then, for a key
/// that does not always act, the condition under which it acts: `acts: ack_every > 1` (see
/// [`Condition`](crate::Condition)). Pairs of keys whose values must be in order follow as `in order { low <= high;
/// }`. If every key has a default, the struct has one too.
#[macro_export]
macro_rules! keys {
    (@struct $(#[$attribute:meta])* $vis:vis struct $name:ident {
        $($(#[doc = $doc:literal])+ $fvis:vis $field:ident : $type:ty = $default:tt, $format:expr $(, acts: $acts:expr)?;)*
    } $(in order { $($low:ident <= $high:ident;)+ })?) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name { $($(#[doc = $doc])+ $fvis $field: $type,)* }

        impl $name {
            /// Reads the keys; the caller checks for unknown keys.
            #[allow(unused_variables)] // `reader`, in a table without keys
            pub(crate) fn read(reader: &$crate::Reader) -> Result<Self, $crate::ConfigError> {
                let read = $name { $($field: $crate::__read!(reader, $default, $field, $format)
                    .map_err(|error| $crate::Format::shape(&$format).explain(error, concat!($($doc),+)))?,)* };
                $($(reader.acts(stringify!($field), $crate::Condition(stringify!($acts)));)?)*
                $($(if read.$low > read.$high {
                    return Err(reader.crossed(stringify!($low), stringify!($high)));
                })+)?
                Ok(read)
            }

            /// The keys as users see them.
            pub(crate) fn parameters() -> Vec<$crate::ParamInfo> {
                vec![$($crate::ParamInfo::new(
                    stringify!($field),
                    $crate::__default!($default),
                    $crate::Format::shape(&$format),
                    concat!($($doc),+),
                ).with_check(|value| $crate::Format::read(&$format, value).is_some())
                    $(.that_acts($crate::Condition(stringify!($acts))))?,)*]
            }
        }
    };
    ($(#[$attribute:meta])* $vis:vis struct $name:ident {
        $($(#[doc = $doc:literal])+ $fvis:vis $field:ident : $type:ty = $default:literal, $format:expr $(, acts: $acts:expr)?;)*
    } $($order:tt)*) => {
        $crate::keys! { @struct
            $(#[$attribute])*
            $vis struct $name {
                $($(#[doc = $doc])+ $fvis $field : $type = $default, $format $(, acts: $acts)?;)*
            } $($order)*
        }

        impl Default for $name {
            fn default() -> Self {
                $crate::defaults($name::read)
            }
        }
    };
    ($($any:tt)*) => {
        $crate::keys! { @struct $($any)* }
    };
}

/// Reads one key; for [`keys!`].
#[doc(hidden)]
#[macro_export]
macro_rules! __read {
    ($reader:ident, required, $field:ident, $format:expr) => {
        $reader.required(stringify!($field), &$format)
    };
    ($reader:ident, optional, $field:ident, $format:expr) => {
        $reader.optional(stringify!($field), &$format)
    };
    ($reader:ident, $default:literal, $field:ident, $format:expr) => {
        $reader.or(stringify!($field), $default, &$format)
    };
}

/// The default as lists show it; for [`keys!`].
#[doc(hidden)]
#[macro_export]
macro_rules! __default {
    (required) => {
        $crate::ParamInfo::REQUIRED
    };
    (optional) => {
        ""
    };
    ($default:literal) => {
        $default
    };
}

/// Reads the TOML `text` with `read`, without settings and files.
pub fn read_toml<T>(
    text: &str,
    read: impl FnOnce(Reader) -> Result<T, ConfigError>,
) -> Result<T, ConfigError> {
    let document = Document::parse(text, "text", &[], &[], &no_files)?;
    read(Reader::new(&document))
}

/// The defaults: the values of an empty table. Panics if a default is invalid.
pub fn defaults<T>(read: fn(&Reader) -> Result<T, ConfigError>) -> T {
    read_toml("", |reader| read(&reader)).unwrap_or_else(|error| panic!("{error}"))
}

/// Declares an enum of words that users type.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[doc = $vdoc:literal])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[doc = $vdoc])* $variant,)+ }

        impl $name {
            /// The format of these words.
            pub const WORDS: $crate::OneOf<'static, $name> =
                $crate::OneOf(&[$(($word, $name::$variant)),+]);

            /// The word of this variant.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }
    };
}
