//! [`check`]: checks each value of a table against its key, without reading a scenario.

use crate::document::{join, not_a_table, quoted};
use crate::error::ConfigError;
use crate::expression::is_expression;
use crate::format::{Format, OneOf};
use crate::hint::unknown_key;
use crate::shape::{Kinds, ParamInfo, Shape};
use toml::{Table, Value};

/// Errors of the table at `path` against these keys, and of all tables in its values. The table may also have the
/// keys `others`, which are not checked. A `"$name"`, or arithmetic over such names, may stand for any value.
pub fn check(path: &str, keys: &[ParamInfo], others: &[&str], table: &Table) -> Vec<ConfigError> {
    let known: Vec<&str> = keys.iter().map(|key| key.name).chain(others.iter().copied()).collect();
    let unknown = table.keys().filter(|key| !known.contains(&key.as_str()));
    let mut errors: Vec<_> = unknown.map(|key| unknown_key(key, &known, |key| join(path, key))).collect();
    // With an unknown key, missing keys are not reported: the unknown key is probably a misspelling of one of them.
    let is_misspelt = !errors.is_empty();
    for key in keys {
        let at = join(path, key.name);
        match table.get(key.name) {
            Some(value) => errors.extend(check_value(&at, key, value)),
            None if key.is_required() && !is_misspelt => {
                errors.push(ConfigError::Missing { key: at, expected: key.shape.to_string() });
            }
            None => {}
        }
    }
    errors
}

/// Errors of the value at the path `at` against its key.
pub fn check_value(at: &str, key: &ParamInfo, value: &Value) -> Vec<ConfigError> {
    let is_parameter = value.as_str().is_some_and(is_expression);
    match &key.shape {
        _ if is_parameter => Vec::new(),
        Shape::Table(keys) => match value.as_table() {
            Some(table) => check(at, &keys(), &[], table),
            None => vec![not_a_table(at, value)],
        },
        Shape::Kinds(kinds) => check_kind(at, kinds, value),
        Shape::Parts(kinds) => match value.as_array() {
            Some(parts) => {
                let parts = parts.iter().zip(1..);
                parts.flat_map(|(part, i)| check_kind(&join(at, &i.to_string()), kinds, part)).collect()
            }
            None => vec![wrong(at, value, &key.shape)],
        },
        _ if (key.fits)(value) => Vec::new(),
        shape => vec![shape.explain(wrong(at, value, shape), &key.summary)],
    }
}

fn check_kind(at: &str, kinds: &Kinds, value: &Value) -> Vec<ConfigError> {
    let Some(table) = value.as_table() else { return vec![not_a_table(at, value)] };
    let entries = (kinds.entries)();
    let rows: Vec<(&'static str, usize)> = entries.iter().map(|entry| entry.name).zip(0..).collect();
    let (at_kind, words) = (join(at, "kind"), OneOf(&rows));
    let Some(kind) = table.get("kind") else {
        return vec![ConfigError::Missing { key: at_kind, expected: words.shape().to_string() }];
    };
    let Some(row) = words.read(kind) else { return vec![wrong(&at_kind, kind, &words.shape())] };
    check(at, &[entries[row].parameters.clone(), (kinds.others)()].concat(), &["kind"], table)
}

fn wrong(at: &str, value: &Value, shape: &Shape) -> ConfigError {
    let expected = shape.expected_instead_of(value);
    ConfigError::Value { key: at.to_owned(), value: quoted(value), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<crate::shape::Entry> {
        let value = ParamInfo::new("value", ParamInfo::REQUIRED, Shape::Flag, "a value");
        vec![crate::shape::Entry { name: "fixed", summary: "", source: "", parameters: vec![value] }]
    }

    fn share() -> Vec<ParamInfo> {
        vec![ParamInfo::new("share", ParamInfo::REQUIRED, Shape::Flag, "a share")]
    }

    #[test]
    fn the_known_keys_of_a_kind_include_kind() {
        let parts = Shape::Parts(Kinds { name: "part", entries, others: share, example: "" });
        let key = ParamInfo::new("parts", ParamInfo::REQUIRED, parts, "");
        let table: Table = toml::from_str("parts = [{ kind = 'fixed', xyz = 1 }]").unwrap();
        let errors = check_value("parts", &key, &table["parts"]);
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["parts.1.xyz: unknown key; known are value, share, kind"]);
    }
}
