//! [`ConfigError`]: an error in the input, with a message that a user can act on.

use std::fmt;

/// An error in the input. Each message is complete: key, value, expected values, nearest known name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A key, parameter or path that does not exist.
    #[error("{key}: unknown {what}; {hint}")]
    Unknown {
        /// Path of the key.
        key: String,
        /// Kind of name: `key`, `parameter`, …
        what: &'static str,
        /// The nearest known name, or all of them.
        hint: String,
    },
    /// A required key that is missing.
    #[error("{key}: missing; expected {expected}")]
    Missing {
        /// Path of the key.
        key: String,
        /// Accepted values.
        expected: String,
    },
    /// A value of the wrong type, without a unit, out of range, or not in a list.
    #[error("{key}: {value} is not {expected}")]
    Value {
        /// Path of the key.
        key: String,
        /// The value as it was written.
        value: String,
        /// Accepted values.
        expected: String,
    },
    /// A valid value that contradicts other values.
    #[error("{key}: {reason}")]
    Impossible {
        /// Path of the key.
        key: String,
        /// The contradiction.
        reason: String,
    },
    /// A file that cannot be read, or that is not valid TOML or CSV.
    #[error("{}", RowError::join(.0))]
    File(Vec<RowError>),
}

impl ConfigError {
    /// Path of the key with the error.
    pub fn key(&self) -> Option<&str> {
        match self {
            ConfigError::Unknown { key, .. }
            | ConfigError::Missing { key, .. }
            | ConfigError::Value { key, .. }
            | ConfigError::Impossible { key, .. } => Some(key),
            ConfigError::File(_) => None,
        }
    }

    /// Lines of the file with errors.
    pub fn rows(&self) -> &[RowError] {
        if let ConfigError::File(rows) = self { rows } else { &[] }
    }
}

/// A line of a file, with its error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowError {
    /// Name of the file; empty without a file.
    pub file: String,
    /// Line, from 1; 0 for the file as a whole.
    pub line: u64,
    /// Cause.
    pub reason: String,
}

impl RowError {
    /// Largest number of shown lines; further lines are only counted.
    const SHOWN: usize = 20;

    /// Largest number of rows whose reasons differ only in numbers and that are shown one by one.
    const ALIKE: usize = 3;

    fn join(rows: &[RowError]) -> String {
        let mut groups: Vec<(String, Vec<&RowError>)> = Vec::new();
        for row in rows {
            let reason =
                format!("{} {}", row.file, row.reason.replace(|letter: char| letter.is_ascii_digit(), ""));
            match groups.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, alike)) => alike.push(row),
                None => groups.push((reason, vec![row])),
            }
        }
        let shown = groups.iter().flat_map(|(_, alike)| match alike.as_slice() {
            [first, .., last] if alike.len() > Self::ALIKE => {
                let more = alike.len() - 1;
                vec![format!("{first} (and {more} more rows like this one, up to line {})", last.line)]
            }
            few => few.iter().map(ToString::to_string).collect(),
        });
        let mut lines: Vec<String> = shown.collect();
        if let Some(more) = lines.len().checked_sub(Self::SHOWN).filter(|more| *more > 0) {
            lines.truncate(Self::SHOWN);
            lines.push(format!("and {more} more wrong rows"));
        }
        lines.join("\n")
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.as_str(), self.line) {
            ("", _) => f.write_str(&self.reason),
            (file, 0) => write!(f, "{file}: {}", self.reason),
            (file, line) => write!(f, "{file}:{line}: {}", self.reason),
        }
    }
}
