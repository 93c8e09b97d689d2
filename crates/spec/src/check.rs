//! [`check`]: whether the values of a table fit their keys, one by one, before there is a scenario around them.

use crate::document::{join, not_a_table, quoted};
use crate::error::ConfigError;
use crate::expression::is_expression;
use crate::format::{Format, OneOf};
use crate::hint::unknown_key;
use crate::shape::{Kinds, ParamInfo, Shape};
use toml::{Table, Value};

/// Checks the table at `path`, which may have these keys, and all tables that are values of these. It may have `others`
/// too, which are not looked at. A `"$name"`, and arithmetic over such names, may stand for any value.
pub fn check(path: &str, keys: &[ParamInfo], others: &[&str], table: &Table) -> Result<(), ConfigError> {
    let known: Vec<&str> = keys.iter().map(|key| key.name).chain(others.iter().copied()).collect();
    if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(unknown_key(key, &known, |key| join(path, key)));
    }
    for key in keys {
        let at = join(path, key.name);
        match table.get(key.name) {
            Some(value) => check_value(&at, key, value)?,
            None if key.is_required() => {
                return Err(ConfigError::Missing { key: at, expected: key.shape.to_string() });
            }
            None => {}
        }
    }
    Ok(())
}

fn check_value(at: &str, key: &ParamInfo, value: &Value) -> Result<(), ConfigError> {
    let is_parameter = value.as_str().is_some_and(is_expression);
    match &key.shape {
        _ if is_parameter => Ok(()),
        Shape::Table(keys) => check(at, &keys(), &[], table_of(at, value)?),
        Shape::Kinds(kinds) => check_kind(at, kinds, value),
        Shape::Parts(kinds) => {
            let parts = value.as_array().ok_or_else(|| wrong(at, value, &key.shape))?;
            let mut parts = parts.iter().zip(1..);
            parts.try_for_each(|(part, number)| check_kind(&join(at, &number.to_string()), kinds, part))
        }
        _ if (key.fits)(value) => Ok(()),
        shape => Err(wrong(at, value, shape)),
    }
}

fn check_kind(at: &str, kinds: &Kinds, value: &Value) -> Result<(), ConfigError> {
    let mut table = table_of(at, value)?.clone();
    let entries = (kinds.entries)();
    let rows: Vec<(&'static str, usize)> = entries.iter().map(|entry| entry.name).zip(0..).collect();
    let (at_kind, words) = (join(at, "kind"), OneOf(&rows));
    let Some(kind) = table.remove("kind") else {
        return Err(ConfigError::Missing { key: at_kind, expected: words.shape().to_string() });
    };
    let row = words.read(&kind).ok_or_else(|| wrong(&at_kind, &kind, &words.shape()))?;
    check(at, &[entries[row].parameters.clone(), (kinds.others)()].concat(), &[], &table)
}

fn table_of<'v>(at: &str, value: &'v Value) -> Result<&'v Table, ConfigError> {
    value.as_table().ok_or_else(|| not_a_table(at, value))
}

fn wrong(at: &str, value: &Value, shape: &Shape) -> ConfigError {
    let expected = shape.expected_instead_of(value);
    ConfigError::Value { key: at.to_owned(), value: quoted(value), expected }
}
