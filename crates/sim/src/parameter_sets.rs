//! Named parameter sets: `dctcp@linux` is the scheme `dctcp` with the constants of Linux. Each constant has
//! its source.

use crate::config::{ConfigError, Document, Reader, Text, keys};
use std::sync::LazyLock;

/// Constants of one implementation.
#[derive(Debug, Clone)]
pub struct ParameterSet {
    /// Name behind `@` in a scheme's name.
    pub name: String,
    /// One-line summary.
    pub summary: String,
    /// The only transport that the set is for; `None` for all transports on TCP's hosts.
    pub of: Option<String>,
    /// Constants of the set.
    pub constants: Vec<Constant>,
}

/// One constant of a set.
#[derive(Debug, Clone)]
pub struct Constant {
    /// Key with its table, such as `transport.cwnd_floor`.
    pub key: String,
    /// Value as text.
    pub value: String,
    /// Place in the code or document that states the value.
    pub source: String,
}

keys! {
    struct SetKeys {
        /// name of the set
        name: String = required, Text::Line("the name");
        /// summary in one line
        summary: String = required, Text::Line("the set");
        /// transport of the set
        of: Option<String> = optional, Text::Line("a transport");
    }
}

keys! {
    struct SourceKeys {
        /// source of the value
        source: String = required, Text::Line("the source");
    }
}

static SETS: LazyLock<Vec<ParameterSet>> = LazyLock::new(|| {
    // A test checks that the file can be read.
    read(include_str!("parameter_sets.toml")).unwrap_or_default()
});

/// All named parameter sets.
pub fn parameter_sets() -> &'static [ParameterSet] {
    &SETS
}

fn read(text: &str) -> Result<Vec<ParameterSet>, ConfigError> {
    let file = "parameter_sets.toml";
    let no_files = |name: &str| Err(format!("{file} cannot name {name}"));
    let document = Document::new(shortflow_spec::parse(text, file)?, [], &[], &no_files)?;
    let set = |reader: &Reader| {
        let SetKeys { name, summary, of } = SetKeys::read(reader)?;
        let constants = reader.table("constants")?;
        let constant = |key: &str| {
            let entry = constants.table(key)?;
            let value = entry.texts().into_iter().find(|(name, _)| name == "value").unwrap_or_default().1;
            Ok(Constant { key: key.to_owned(), value, source: SourceKeys::read(&entry)?.source })
        };
        let constants =
            constants.tables_inside().into_iter().map(constant).collect::<Result<_, ConfigError>>()?;
        Ok(ParameterSet { name, summary, of, constants })
    };
    Reader::new(&document).tables("set")?.iter().map(set).collect()
}
