//! [`Kind`]: a row of a registry, chosen in a scenario file by `kind = "name"`.

use crate::error::ConfigError;
use crate::format::OneOf;
use crate::reader::Reader;
use crate::shape::{Entry, ParamInfo};

/// A `kind` of a registry, and its reader.
pub struct Kind<F> {
    /// Name that users type.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Paper or RFC; may be empty.
    pub source: &'static str,
    /// Keys of this kind.
    pub parameters: fn() -> Vec<ParamInfo>,
    /// Reads this kind from its table.
    pub read: F,
}

impl<F> Kind<F> {
    /// The row that `kind` names in the table of `reader`.
    pub fn chosen<'k>(kinds: &'k [Kind<F>], reader: &Reader) -> Result<&'k Kind<F>, ConfigError> {
        let rows: Vec<(&'static str, &Kind<F>)> = kinds.iter().map(|kind| (kind.name, kind)).collect();
        reader.required("kind", &OneOf(&rows))
    }

    /// Fails if the table has keys that this kind does not know.
    pub fn check_keys(&self, reader: &Reader) -> Result<(), ConfigError> {
        reader.only(&(self.parameters)(), &["kind"])
    }

    /// The row as users see it.
    pub fn entry(&self) -> Entry {
        Entry { name: self.name, summary: self.summary, source: self.source, parameters: (self.parameters)() }
    }
}
