//! [`Document`]: a scenario file after `--set` and `$name` have been applied, with the source of
//! every value.

use crate::error::{ConfigError, RowError};
use crate::expression::{evaluate, is_expression, is_name, names};
use crate::hint::hint;
use crate::setting::{Setting, Source};
use std::cell::RefCell;
use toml::de::DeTable;
use toml::{Table, Value};

/// Reads a file that the scenario names; returns the text, or the reason why the file cannot be read.
pub type Files<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// A scenario file, ready to be read key by key.
pub struct Document<'a> {
    pub(crate) root: Value,
    /// Paths whose values were replaced, with their source; later entries win.
    replaced: Vec<(String, Source)>,
    pub(crate) resolved: RefCell<Vec<Setting>>,
    pub(crate) facts: RefCell<Vec<(&'static str, bool)>>,
    pub(crate) files: &'a Files<'a>,
}

impl<'a> Document<'a> {
    /// Parses `text`, the file called `name`, and applies `settings`. `plain_keys` are the keys
    /// outside any table, which `--set` may name without a dot.
    pub fn parse(
        text: &str,
        name: &str,
        settings: &[(String, String)],
        plain_keys: &[&str],
        files: &'a Files<'a>,
    ) -> Result<Document<'a>, ConfigError> {
        Document::new(parse(text, name)?, of_user(settings), plain_keys, files)
    }

    /// A document of parsed values. Later settings win.
    pub fn new<'s>(
        mut root: Table,
        settings: impl IntoIterator<Item = (&'s str, &'s str, Source)>,
        plain_keys: &[&str],
        files: &'a Files<'a>,
    ) -> Result<Document<'a>, ConfigError> {
        let mut parameters = take_parameters(&mut root, plain_keys)?;
        let root = Value::Table(root);
        check_use(&parameters, &root)?;
        let mut document = Document {
            root,
            replaced: Vec::new(),
            resolved: RefCell::default(),
            facts: RefCell::default(),
            files,
        };
        for (key, value, source) in settings {
            document.set(key, value_of(value), source, &mut parameters, plain_keys)?;
        }
        document.substitute(&parameters)?;
        Ok(document)
    }

    /// A document of values by path, each with its source; later values win.
    pub fn of_values<'v>(
        values: impl IntoIterator<Item = (&'v str, &'v str, Source)>,
    ) -> Result<Document<'static>, ConfigError> {
        let root = Value::Table(Table::new());
        let mut document = Document {
            root,
            replaced: Vec::new(),
            resolved: RefCell::default(),
            facts: RefCell::default(),
            files: &no_files,
        };
        for (path, value, source) in values {
            document.put(path, value_of(value), source)?;
        }
        Ok(document)
    }

    /// Source of the value at `path`.
    pub(crate) fn source(&self, path: &str) -> Source {
        let replaced = self.replaced.iter().rev().find(|(at, _)| covers(at, path));
        replaced.map_or(Source::Scenario, |(_, source)| source.clone())
    }

    /// Rest, after `path`, of a key below `path` that the user has set.
    pub(crate) fn set_below(&self, path: &str) -> Option<&str> {
        let of_set = self.replaced.iter().filter(|(_, source)| matches!(source, Source::Set | Source::Name));
        of_set.filter_map(|(at, _)| at.strip_prefix(path)).find(|rest| rest.starts_with('.'))
    }

    /// All values, with `--set` and parameters applied.
    pub fn values(&self) -> &Value {
        &self.root
    }

    /// All values read, in the order of reading.
    pub fn resolved(&self) -> Vec<Setting> {
        self.resolved.borrow().clone()
    }

    /// Facts that readers have recorded, for the conditions of keys.
    pub fn facts(&self) -> Vec<(&'static str, bool)> {
        self.facts.borrow().clone()
    }

    fn set(
        &mut self,
        key: &str,
        value: Value,
        source: Source,
        parameters: &mut Table,
        plain_keys: &[&str],
    ) -> Result<(), ConfigError> {
        let bare = key.strip_prefix("parameters.").unwrap_or(key);
        if let Some(parameter) = parameters.get_mut(bare) {
            *parameter = value;
            self.replaced.push((format!("parameters.{bare}"), source));
            return Ok(());
        }
        if bare != key || !(key.contains('.') || plain_keys.contains(&key)) {
            return Err(self.unknown_name(bare, parameters, plain_keys));
        }
        self.put(key, value, source)
    }

    fn put(&mut self, path: &str, value: Value, source: Source) -> Result<(), ConfigError> {
        let steps: Vec<&str> = path.split('.').collect();
        put(&mut self.root, &steps, value, "")?;
        self.replaced.push((path.to_owned(), source));
        Ok(())
    }

    /// Error for a `--set` name without a dot that is neither a parameter nor a key. If a table has a key or a table
    /// of this name, the hint is its path.
    fn unknown_name(&self, name: &str, parameters: &Table, plain_keys: &[&str]) -> ConfigError {
        let mut known: Vec<&str> = parameters.keys().map(String::as_str).collect();
        known.extend(plain_keys);
        let (within, end) = (format!(".{name}."), format!(".{name}"));
        let nested = leaf_paths("", &self.root).into_iter().find_map(|path| match path.find(&within) {
            Some(at) => Some(path[..at + end.len()].to_owned()),
            None => path.ends_with(&end).then_some(path),
        });
        let hint = nested.map_or_else(|| hint(name, &known), |path| format!("did you mean {path:?}?"));
        ConfigError::Unknown { key: name.to_owned(), what: "parameter", hint }
    }

    /// Replaces every expression by its value.
    fn substitute(&mut self, parameters: &Table) -> Result<(), ConfigError> {
        Substitution { parameters, replaced: &mut self.replaced }.visit("", &mut self.root)?;
        for (name, value) in parameters {
            let key = format!("parameters.{name}");
            let source = self.source(&key);
            self.resolved.get_mut().push(Setting { key, value: shown(value), source, acts: None });
        }
        Ok(())
    }
}

/// Settings of the user, each with its source.
pub fn of_user(settings: &[(String, String)]) -> impl Iterator<Item = (&str, &str, Source)> {
    settings.iter().map(|(key, value)| (key.as_str(), value.as_str(), Source::Set))
}

/// Parses the values in `text`, the content of the file called `name`.
pub fn parse(text: &str, name: &str) -> Result<Table, ConfigError> {
    text.parse().map_err(|_| {
        let (_, errors) = DeTable::parse_recoverable(text);
        let mut rows: Vec<RowError> = errors.iter().map(|error| syntax_error(text, name, error)).collect();
        rows.sort_by_key(|row| row.line);
        rows.dedup_by_key(|row| row.line);
        ConfigError::File(rows)
    })
}

/// Reader of files for documents that name none.
pub(crate) fn no_files(_: &str) -> Result<String, String> {
    Err("no such file".to_owned())
}

fn take_parameters(root: &mut Table, plain_keys: &[&str]) -> Result<Table, ConfigError> {
    let parameters = match root.remove("parameters") {
        None => return Ok(Table::new()),
        Some(Value::Table(parameters)) => parameters,
        Some(other) => return Err(not_a_table("parameters", &other)),
    };
    // A name must not be both a key and a parameter, because `--set` addresses both by name.
    match parameters.keys().find(|name| !is_name(name) || plain_keys.contains(&name.as_str())) {
        None => Ok(parameters),
        Some(name) => Err(ConfigError::Value {
            key: "parameters".to_owned(),
            value: format!("{name:?}"),
            expected:
                "a parameter name such as \"load\" (letters, digits and \"_\", and no key of the scenario)"
                    .to_owned(),
        }),
    }
}

/// Fails if the file declares a parameter that it never uses. This is checked before `--set`, which may replace the
/// only use.
fn check_use(parameters: &Table, root: &Value) -> Result<(), ConfigError> {
    match parameters.keys().find(|name| !mentions(root, name)) {
        None => Ok(()),
        Some(name) => {
            // A value with an unknown parameter is probably the misspelt use, so its error comes first.
            Substitution { parameters, replaced: &mut Vec::new() }.visit("", &mut root.clone())?;
            let reason = format!("no value of the scenario uses \"${name}\"; use or remove the parameter");
            Err(ConfigError::Impossible { key: format!("parameters.{name}"), reason })
        }
    }
}

fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => is_expression(text) && names(text).any(|found| found == name),
        Value::Table(table) => table.values().any(|value| mentions(value, name)),
        Value::Array(items) => items.iter().any(|value| mentions(value, name)),
        _ => false,
    }
}

struct Substitution<'a> {
    parameters: &'a Table,
    replaced: &'a mut Vec<(String, Source)>,
}

impl Substitution<'_> {
    fn visit(&mut self, path: &str, value: &mut Value) -> Result<(), ConfigError> {
        match value {
            Value::String(text) => {
                if !is_expression(text) {
                    return Ok(());
                }
                let (result, rounded) = evaluate(text, self.parameters).map_err(|reason| {
                    ConfigError::Impossible { key: path.to_owned(), reason: format!("{text:?}: {reason}") }
                })?;
                self.replaced.push((path.to_owned(), Source::Expression(text.clone(), rounded)));
                *value = result;
                Ok(())
            }
            Value::Table(table) => {
                table.iter_mut().try_for_each(|(key, value)| self.visit(&join(path, key), value))
            }
            Value::Array(items) => items
                .iter_mut()
                .enumerate()
                .try_for_each(|(i, value)| self.visit(&join(path, &(i + 1).to_string()), value)),
            _ => Ok(()),
        }
    }
}

/// Value of `--set KEY=text`: TOML if the text parses as TOML, otherwise the text itself.
pub(crate) fn value_of(text: &str) -> Value {
    let number = || text.trim().parse::<f64>().ok().map(Value::Float);
    text.trim().parse().ok().or_else(number).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// A value as the list of resolved settings shows it, without quotes.
pub(crate) fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value as errors show it.
pub(crate) fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Table(_) => "a table".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn not_a_table(key: &str, value: &Value) -> ConfigError {
    ConfigError::Value { key: key.to_owned(), value: quoted(value), expected: "a table of keys".to_owned() }
}

/// Stores `value` where `steps` lead from `target`, which is at the path `at`. Numbers count the entries of arrays
/// from 1, as in `traffic.1.load`. Missing tables are created.
fn put(target: &mut Value, steps: &[&str], value: Value, at: &str) -> Result<(), ConfigError> {
    let Some((step, rest)) = steps.split_first() else {
        *target = value;
        return Ok(());
    };
    let next = match target {
        Value::Table(table) => table.entry(*step).or_insert_with(|| Value::Table(Table::new())),
        Value::Array(items) => nth(items, step, at)?,
        other => return Err(not_a_table(at, other)),
    };
    put(next, rest, value, &join(at, step))
}

/// True if `inner` is `outer` or below it.
pub(crate) fn covers(outer: &str, inner: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Path of `key` in the table at `path`; the path of the top level is empty.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn nth<'t>(items: &'t mut [Value], number: &str, path: &str) -> Result<&'t mut Value, ConfigError> {
    let count = items.len();
    let index = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    index.and_then(|index| items.get_mut(index)).ok_or_else(|| ConfigError::Unknown {
        key: format!("{path}.{number}"),
        what: "entry",
        hint: format!("known are {path}.1 to {path}.{count}"),
    })
}

/// Paths of all values that are not tables themselves.
fn leaf_paths(path: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Table(table) => {
            table.iter().flat_map(|(key, value)| leaf_paths(&join(path, key), value)).collect()
        }
        Value::Array(items) if items.iter().all(Value::is_table) => items
            .iter()
            .zip(1..)
            .flat_map(|(value, i)| leaf_paths(&join(path, &i.to_string()), value))
            .collect(),
        _ => vec![path.to_owned()],
    }
}

fn syntax_error(text: &str, file: &str, error: &toml::de::Error) -> RowError {
    let span = error.span().unwrap_or_default();
    let before = text.get(..span.start).unwrap_or_default();
    let line = before.matches('\n').count() as u64 + 1;
    let mut reason = error.message().lines().collect::<Vec<_>>().join(", ");
    // The key whose value is wrong. At the beginning of a line, the mistake may belong to the previous line, so no
    // key is named.
    let so_far = before.lines().next_back().filter(|_| !before.ends_with('\n'));
    let of_value = so_far.and_then(|so_far| so_far.split_once('=')).map(|(key, _)| key.trim());
    if let Some(key) = of_value.or_else(|| text.get(span).filter(|_| reason == "duplicate key")) {
        reason = format!("{key}: {reason}");
    }
    RowError { file: file.to_owned(), line, reason }
}
