//! [`located`]: adds file and line to errors about keys.

use crate::document::covers;
use crate::error::{ConfigError, RowError};
use crate::expression::referred;
use toml::de::{DeTable, DeValue};

/// Adds file and line to errors about keys of the TOML `text`, and sorts them by line. Errors about parameters come
/// last, because another error may be their cause. Errors about keys from `settings` get no file and no line, and if
/// `file` is empty no error gets a file.
pub fn located(errors: &[ConfigError], file: &str, text: &str, settings: &[(String, String)]) -> ConfigError {
    let root = DeTable::parse(text).map(|root| root.into_inner()).unwrap_or_default();
    let is_set = |key: &str| {
        let parameter = key.strip_prefix("parameters.");
        settings.iter().any(|(set, _)| covers(set, key) || covers(key, set) || parameter == Some(set))
    };
    let row = |key: &str, reason: String| {
        let (at, parameter) = find(&root, key);
        let declared = parameter.map(|name| format!("parameters.{name}"));
        let at = declared.as_ref().map_or(at, |path| find(&root, path).0);
        let is_set = is_set(key) || declared.as_deref().is_some_and(is_set);
        let line = at.filter(|_| !is_set).map_or(0, |at| text[..at].matches('\n').count() as u64 + 1);
        RowError { file: if is_set { String::new() } else { file.to_owned() }, line, reason }
    };
    let of_key = |error: &ConfigError| {
        let key = error.key()?;
        Some((key.starts_with("parameters."), row(key, error.to_string())))
    };
    let mut rows: Vec<(bool, RowError)> = errors.iter().filter_map(of_key).collect();
    rows.sort_by_key(|(of_parameter, row)| (*of_parameter, row.line));
    let mut rows: Vec<RowError> = rows.into_iter().map(|(_, row)| row).collect();
    rows.extend(errors.iter().flat_map(ConfigError::rows).cloned());
    ConfigError::File(rows)
}

/// Position of the key at `path`, or of the innermost table around it, and the parameter that the key's value refers
/// to.
fn find<'t>(root: &'t DeTable, path: &str) -> (Option<usize>, Option<&'t str>) {
    let (mut at, mut value) = (None, None);
    for step in path.split('.') {
        let table = value.map_or(Some(root), DeValue::as_table);
        let item = || value?.as_array()?.get(step.parse::<usize>().ok()?.checked_sub(1)?);
        let (span, next) = match table.and_then(|table| table.get_key_value(step)) {
            Some((key, next)) => (key.span(), next),
            None => match item() {
                Some(next) => (next.span(), next),
                None => return (at, None),
            },
        };
        (at, value) = (Some(span.start), Some(next.get_ref()));
    }
    (at, value.and_then(DeValue::as_str).and_then(referred))
}
