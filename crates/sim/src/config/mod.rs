//! Typed reading of scenario files: every value comes with its key, its unit and its source, and
//! every error names key, value, expectation and the nearest known name.

pub(crate) mod csv;
mod document;
mod error;
mod format;
mod keys;
mod kind;
mod reader;
mod setting;
#[cfg(test)]
pub(crate) mod tests;

pub use error::{ConfigError, RowError};
pub use kind::Entry;
pub use setting::{Setting, Source};
pub use shortflow_cc::settings::ParamInfo;

pub(crate) use document::{Document, Files};
pub(crate) use format::{
    ANY_SIZE, ANY_TIME, Choice, Flag, Format, ListOf, Name, OCCUPANCY, POSITIVE_TIME, Positive, RATE, Text,
    Unless,
};
pub(crate) use keys::{default_text, describe, keys, read_key};
pub(crate) use kind::Kind;
pub(crate) use reader::Reader;
