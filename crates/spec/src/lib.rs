//! One declaration per key: [`keys!`] generates the struct, its reader, its defaults and its description. So accepted
//! input, errors, lists and the JSON Schema cannot differ.
//!
//! A [`Document`] is a scenario file with `--set` and parameters applied. A [`Reader`] reads one of its tables. A
//! [`Format`] reads one value and has a [`Shape`], from which the words of errors and the schema follow.

mod acts;
mod check;
mod curves;
mod document;
mod error;
mod expression;
mod format;
mod hint;
mod keys;
mod kind;
mod lines;
mod reader;
mod rising;
pub mod schema;
mod setting;
mod shape;
#[cfg(test)]
mod tests;
mod text;

pub use acts::{Condition, FACTS, Idle};
pub use check::{check, check_value};
pub use curves::{Curve, RATE_CURVES, RateCurves};
pub use document::{Document, Files, of_user, parse};
pub use error::{ConfigError, RowError};
pub use format::{
    ANY_SIZE, ANY_TIME, Even, Flag, Format, KeywordOr, ListOf, OCCUPANCY, OneOf, POSITIVE_TIME, Positive,
    RATE,
};
pub use hint::{counted, hint, meant, nearest};
pub use keys::{defaults, read_toml};
pub use kind::Kind;
pub use lines::located;
pub use reader::Reader;
pub use rising::{RISING_SIZES, RisingSizes};
pub use setting::{Given, Setting, Source};
pub use shape::{Entry, Kinds, ParamInfo, Shape, Unit};
pub use text::Text;
pub use toml::{Table, Value};
