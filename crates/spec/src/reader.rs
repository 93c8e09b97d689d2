//! [`Reader`]: one table of a scenario file, read key by key.

use crate::acts::Condition;
use crate::document::{Document, join, not_a_table, quoted, shown, value_of};
use crate::error::ConfigError;
use crate::format::Format;
use crate::hint::{renamed, unknown_key};
use crate::setting::{Setting, Source};
use crate::shape::{ParamInfo, Shape};
use toml::{Table, Value};

/// Reader of one table of a document. Remembers every value that it reads, with the source.
#[derive(Clone)]
pub struct Reader<'d> {
    document: &'d Document<'d>,
    table: Option<&'d Table>,
    /// Tables whose values stand in for missing keys; later tables come first.
    under: Vec<&'d Table>,
    path: String,
}

impl<'d> Reader<'d> {
    /// Reader of the keys outside any table.
    pub fn new(document: &'d Document<'d>) -> Reader<'d> {
        Reader { document, table: document.root.as_table(), under: Vec::new(), path: String::new() }
    }

    /// Fails on the first key that is neither one of `keys` nor one of `others`.
    pub fn only(&self, keys: &[ParamInfo], others: &[&str]) -> Result<(), ConfigError> {
        let known: Vec<&str> = keys.iter().map(|key| key.name).chain(others.iter().copied()).collect();
        match self.keys().find(|key| !known.contains(key)) {
            None => Ok(()),
            Some(key) => Err(self.unknown(key, &known)),
        }
    }

    /// Value of a required key.
    pub fn required<F: Format>(&self, key: &str, format: &F) -> Result<F::Value, ConfigError> {
        self.optional(key, format)?.ok_or_else(|| self.missing(key, &format.shape()))
    }

    /// Value of a key, or `default` in the notation of `--set`.
    pub fn or<F: Format>(&self, key: &str, default: &str, format: &F) -> Result<F::Value, ConfigError> {
        match self.get(key) {
            Some(value) => self.read(key, value, self.document.source(&self.path(key)), format),
            None => self.read(key, &value_of(default), Source::Default, format),
        }
    }

    /// Value of an optional key.
    pub fn optional<F: Format>(&self, key: &str, format: &F) -> Result<Option<F::Value>, ConfigError> {
        let source = || self.document.source(&self.path(key));
        self.get(key).map(|value| self.read(key, value, source(), format)).transpose()
    }

    /// Records the default of an absent key, if the default depends on other keys.
    pub fn defaulted(&self, key: &str, value: String) {
        let setting = Setting { key: self.path(key), value, source: Source::Default, acts: None };
        let mut resolved = self.document.resolved.borrow_mut();
        let end = resolved.len();
        let outside_tables = |setting: &Setting| !setting.key.contains('.');
        let place = match outside_tables(&setting) {
            true => resolved.iter().rposition(outside_tables).map_or(end, |last| last + 1),
            false => end,
        };
        resolved.insert(place, setting);
    }

    /// Replaces the value `auto` of a key by the value that follows from the key at the path `by`.
    pub fn settled(&self, key: &str, value: &str, by: &'static str) {
        let (path, mut resolved) = (self.path(key), self.document.resolved.borrow_mut());
        let of = resolved.iter().rev().find(|setting| setting.key == by);
        let source = Source::DefaultOf(by, Box::new(of.map_or(Source::Default, |of| of.source.clone())));
        let is_auto = |setting: &&mut Setting| setting.key == path && setting.value == "auto";
        if let Some(setting) = resolved.iter_mut().rev().find(is_auto) {
            *setting = Setting { value: value.to_owned(), source, ..setting.clone() };
        }
    }

    /// Records a fact for conditions of keys.
    pub fn fact(&self, name: &'static str, holds: bool) {
        self.document.facts.borrow_mut().push((name, holds));
    }

    /// Records the condition under which a key acts; the key must have been read here.
    pub fn acts(&self, key: &str, condition: Condition) {
        let (path, mut resolved) = (self.path(key), self.document.resolved.borrow_mut());
        if let Some(setting) = resolved.iter_mut().rev().find(|setting| setting.key == path) {
            setting.acts = Some(condition);
        }
    }

    /// Value, as text, of a key that has been read.
    pub fn resolved(&self, key: &str) -> Option<String> {
        let (path, resolved) = (self.path(key), self.document.resolved.borrow());
        resolved.iter().rev().find(|setting| setting.key == path).map(|setting| setting.value.clone())
    }

    /// Reader of the table under `key`; an absent table reads as empty.
    pub fn table(&self, key: &str) -> Result<Reader<'d>, ConfigError> {
        self.below(key, self.get(key))
    }

    /// Reader of the table under `key`, with the values of this table as defaults.
    pub fn refined(&self, key: &str) -> Result<Reader<'d>, ConfigError> {
        self.refined_from(key, self)
    }

    /// Reader of the table under `key`, with the values of `around` as defaults.
    pub fn refined_from(&self, key: &str, around: &Reader<'d>) -> Result<Reader<'d>, ConfigError> {
        let mut finer = self.table(key)?;
        finer.under = around.under.iter().copied().chain(around.table).collect();
        Ok(finer)
    }

    /// Every key of the table with its value as text.
    pub fn texts(&self) -> Vec<(String, String)> {
        self.table.into_iter().flatten().map(|(key, value)| (key.clone(), shown(value))).collect()
    }

    /// Keys whose values are tables.
    pub fn tables_inside(&self) -> Vec<&'d str> {
        let table = self.table.into_iter().flatten();
        table.filter(|(_, value)| value.is_table()).map(|(key, _)| key.as_str()).collect()
    }

    /// Reader of the table under `key`, if there is one.
    pub fn optional_table(&self, key: &str) -> Result<Option<Reader<'d>>, ConfigError> {
        self.get(key).map(|value| self.below(key, Some(value))).transpose()
    }

    /// Reader of the table under `key`, which is required.
    pub fn required_table(&self, key: &str, shape: &Shape) -> Result<Reader<'d>, ConfigError> {
        self.optional_table(key)?.ok_or_else(|| self.missing(key, shape))
    }

    /// Readers of the entries of an array of tables, `[[key]]`; an absent array has no entries.
    pub fn tables(&self, key: &str) -> Result<Vec<Reader<'d>>, ConfigError> {
        let items = match self.get(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(self.bad(key, &format!("a list of tables, each begun with [[{key}]]"))),
        };
        items.iter().zip(1..).map(|(item, i)| self.below(&format!("{key}.{i}"), Some(item))).collect()
    }

    /// Text of the file called `name`, which the value of `key` names.
    pub fn file(&self, key: &str, name: &str) -> Result<String, ConfigError> {
        (self.document.files)(name)
            .map_err(|reason| self.impossible(key, format!("cannot read {name:?}: {reason}")))
    }

    /// Error for an invalid value of `key`.
    pub fn bad(&self, key: &str, expected: &str) -> ConfigError {
        let value = self.get(key).map_or_else(|| "the default".to_owned(), quoted);
        ConfigError::Value { key: self.path(key), value, expected: expected.to_owned() }
    }

    /// Error for a missing key.
    pub fn missing(&self, key: &str, shape: &Shape) -> ConfigError {
        if let Some(earlier) = self.keys().find(|earlier| renamed(earlier) == Some(key)) {
            return self.unknown(earlier, &[key]);
        }
        ConfigError::Missing { key: self.path(key), expected: shape.to_string() }
    }

    /// Error for a value of `low` above the value of `high`.
    pub fn crossed(&self, low: &str, high: &str) -> ConfigError {
        let value = |key| self.resolved(key).unwrap_or_default();
        let reason = format!("{} is above {} = {}", value(low), self.path(high), value(high));
        self.impossible(low, reason)
    }

    /// These keys, with the values that have been read as their defaults.
    pub fn described(&self, keys: Vec<ParamInfo>) -> Vec<ParamInfo> {
        let value = |key: &ParamInfo| self.resolved(key.name).unwrap_or_default();
        keys.into_iter().map(|key| ParamInfo { default: value(&key), ..key }).collect()
    }

    /// Error for a value of `key` that contradicts other values.
    pub fn impossible(&self, key: &str, reason: impl Into<String>) -> ConfigError {
        ConfigError::Impossible { key: self.path(key), reason: reason.into() }
    }

    /// Path of `key` from the top of the document.
    pub fn path(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// Path of this table.
    pub fn place(&self) -> &str {
        &self.path
    }

    fn keys(&self) -> impl Iterator<Item = &'d str> {
        self.table.into_iter().flat_map(|table| table.keys()).map(String::as_str)
    }

    fn get(&self, key: &str) -> Option<&'d Value> {
        let inherited = || self.under.iter().rev().find_map(|table| table.get(key));
        self.table.and_then(|table| table.get(key)).or_else(inherited)
    }

    /// Error for a key that is not `known`. A key of `--set` is named by the whole path that the user typed.
    fn unknown(&self, key: &str, known: &[&str]) -> ConfigError {
        let rest = self.document.set_below(&self.path(key)).unwrap_or_default();
        unknown_key(key, known, |key| self.path(key) + rest)
    }

    /// True if the value of `key` may come from a table that this one refines.
    fn inherits(&self, key: &str) -> bool {
        !self.under.is_empty() && !self.table.is_some_and(|table| table.contains_key(key))
    }

    fn below(&self, key: &str, value: Option<&'d Value>) -> Result<Reader<'d>, ConfigError> {
        let path = self.path(key);
        let table = match value {
            None => None,
            Some(Value::Table(table)) => Some(table),
            Some(other) => return Err(not_a_table(&path, other)),
        };
        Ok(Reader { document: self.document, table, under: Vec::new(), path })
    }

    fn read<F: Format>(
        &self,
        key: &str,
        value: &Value,
        source: Source,
        format: &F,
    ) -> Result<F::Value, ConfigError> {
        let inherited = self.inherits(key);
        let key = self.path(key);
        match format.read(value) {
            Some(read) if inherited => Ok(read),
            Some(read) => {
                self.document.resolved.borrow_mut().push(Setting {
                    key,
                    value: shown(value),
                    source,
                    acts: None,
                });
                Ok(read)
            }
            None => {
                let expected = format.shape().expected_instead_of(value);
                Err(ConfigError::Value { key, value: quoted(value), expected })
            }
        }
    }
}
