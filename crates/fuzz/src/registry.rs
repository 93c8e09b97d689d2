//! [`Registry`]: everything that can be named, put together once for all draws.

use shortflow_sim::config::{Entry, ParamInfo};
use shortflow_sim::routing::routings;
use shortflow_sim::scenario;
use shortflow_sim::scheme::{self, schemes};
use shortflow_sim::topology::topologies;
use shortflow_sim::traffic::{deadlines::deadlines, interarrival::interarrival, sizes::sizes, traffic_kinds};
use std::sync::OnceLock;

/// A scheme and its parameters by full key.
pub type SchemeKeys = (&'static str, Vec<(String, ParamInfo)>);

/// All registered names.
#[derive(Debug)]
pub struct Registry {
    pub topologies: Vec<Entry>,
    pub routing: Vec<Entry>,
    pub traffic: Vec<Entry>,
    pub sizes: Vec<Entry>,
    pub deadlines: Vec<Entry>,
    pub interarrival: Vec<Entry>,
    /// The tables of a scenario whose keys do not depend on a kind.
    pub tables: Vec<Entry>,
    pub schemes: Vec<SchemeKeys>,
}

impl Registry {
    /// The one registry.
    pub fn get() -> &'static Registry {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        let keys = |name| scheme::parameters(name).unwrap_or_default();
        REGISTRY.get_or_init(|| Registry {
            topologies: topologies(),
            routing: routings(),
            traffic: traffic_kinds(),
            sizes: sizes(),
            deadlines: deadlines(),
            interarrival: interarrival(),
            tables: scenario::tables(),
            schemes: schemes().iter().map(|info| (info.name.as_str(), keys(&info.name))).collect(),
        })
    }

    /// The kinds of tables that the value of `key` may be.
    pub fn kinds(&self, key: &str) -> &[Entry] {
        match key {
            "sizes" => &self.sizes,
            "deadline" => &self.deadlines,
            "interarrival" => &self.interarrival,
            _ => panic!("{key} holds a table of an unknown registry"),
        }
    }

    /// The table called `name`.
    pub fn table(&self, name: &str) -> &[ParamInfo] {
        self.tables.iter().find(|table| table.name == name).map_or(&[], |table| &table.parameters)
    }

    /// The key called `name` of any kind of traffic.
    pub fn traffic_key(&self, name: &str) -> &ParamInfo {
        let mut keys = self.traffic.iter().flat_map(|kind| &kind.parameters);
        keys.find(|key| key.name == name).unwrap_or_else(|| panic!("no traffic has a key {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_there() {
        let registry = Registry::get();
        let counts = [
            registry.topologies.len(),
            registry.traffic.len(),
            registry.schemes.len(),
            registry.tables.len(),
        ];
        assert!(counts.iter().all(|count| *count >= 6), "{counts:?}");
        assert!(registry.traffic_key("workers").is_required());
        assert!(registry.table("tcp").iter().any(|key| key.name == "mss" && !key.is_required()));
    }
}
