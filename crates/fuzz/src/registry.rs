//! [`Registry`]: all registered names, collected once for all draws.

use shortflow_sim::declared;
use shortflow_sim::scheme::{self, schemes};
use shortflow_spec::{Entry, ParamInfo, Shape};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A scheme, with its parameters by full key.
pub(crate) type SchemeKeys = (&'static str, Vec<(String, ParamInfo)>);

/// All registered names.
#[derive(Debug)]
pub(crate) struct Registry {
    /// Kinds of each table; a table without kinds is its own only kind.
    tables: BTreeMap<&'static str, Vec<Entry>>,
    pub schemes: Vec<SchemeKeys>,
}

impl Registry {
    /// The registry of this process.
    pub(crate) fn get() -> &'static Registry {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        REGISTRY.get_or_init(|| {
            let mut tables: BTreeMap<_, Vec<Entry>> = BTreeMap::new();
            declared().into_iter().for_each(|(table, entry)| tables.entry(table).or_default().push(entry));
            let keys = |name| scheme::parameters(name).unwrap_or_default();
            let schemes = schemes().iter().map(|info| (info.name.as_str(), keys(&info.name))).collect();
            Registry { tables, schemes }
        })
    }

    /// Kinds of a table.
    pub(crate) fn kinds(&self, table: &str) -> &[Entry] {
        self.tables.get(table).unwrap_or_else(|| panic!("{table} is no table"))
    }

    /// Keys of a table without kinds.
    pub(crate) fn table(&self, name: &str) -> &[ParamInfo] {
        &self.kinds(name)[0].parameters
    }

    /// Keys except tables, by their declaration, as `table.kind.key`.
    pub(crate) fn names(&self) -> impl Iterator<Item = (*const ParamInfo, String)> {
        let is_plain =
            |key: &&ParamInfo| !matches!(key.shape, Shape::Table(_) | Shape::Kinds(_) | Shape::Parts(_));
        let entries =
            self.tables.iter().flat_map(|(table, kinds)| kinds.iter().map(move |kind| (table, kind)));
        entries.flat_map(move |(table, kind)| {
            let of = if *table == kind.name { String::new() } else { format!("{}.", kind.name) };
            let keys = kind.parameters.iter().filter(is_plain);
            keys.map(move |key| (std::ptr::from_ref(key), format!("{table}.{of}{}", key.name)))
        })
    }

    /// The key called `name` of some kind of traffic.
    pub(crate) fn traffic_key(&self, name: &str) -> &ParamInfo {
        let mut keys = self.kinds("traffic").iter().flat_map(|kind| &kind.parameters);
        keys.find(|key| key.name == name).unwrap_or_else(|| panic!("no traffic has a key {name}"))
    }
}
