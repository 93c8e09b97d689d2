//! [`Registry`]: everything that can be named, put together once for all draws.

use shortflow_sim::config::{Entry, ParamInfo};
use shortflow_sim::declared;
use shortflow_sim::scheme::{self, schemes};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A scheme and its parameters by full key.
pub type SchemeKeys = (&'static str, Vec<(String, ParamInfo)>);

/// All registered names.
#[derive(Debug)]
pub struct Registry {
    /// The kinds of each table; of a table without kinds, itself.
    tables: BTreeMap<&'static str, Vec<Entry>>,
    pub schemes: Vec<SchemeKeys>,
}

impl Registry {
    /// The one registry.
    pub fn get() -> &'static Registry {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        REGISTRY.get_or_init(|| {
            let mut tables: BTreeMap<_, Vec<Entry>> = BTreeMap::new();
            declared().into_iter().for_each(|(table, entry)| tables.entry(table).or_default().push(entry));
            let keys = |name| scheme::parameters(name).unwrap_or_default();
            let schemes = schemes().iter().map(|info| (info.name.as_str(), keys(&info.name))).collect();
            Registry { tables, schemes }
        })
    }

    /// The kinds of a table.
    pub fn kinds(&self, table: &str) -> &[Entry] {
        self.tables.get(table).unwrap_or_else(|| panic!("{table} is no table"))
    }

    /// The keys of a table without kinds.
    pub fn table(&self, name: &str) -> &[ParamInfo] {
        &self.kinds(name)[0].parameters
    }

    /// The key called `name` of any kind of traffic.
    pub fn traffic_key(&self, name: &str) -> &ParamInfo {
        let mut keys = self.kinds("traffic").iter().flat_map(|kind| &kind.parameters);
        keys.find(|key| key.name == name).unwrap_or_else(|| panic!("no traffic has a key {name}"))
    }
}
