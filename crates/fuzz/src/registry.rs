//! [`Registry`]: everything that can be named, in the form in which it is drawn.

use crate::form::Form;
use shortflow_cc::settings::ParamInfo;
use shortflow_sim::config::Entry;
use shortflow_sim::scenario;
use shortflow_sim::scheme::{self, schemes};
use shortflow_sim::topology::topologies;
use shortflow_sim::traffic::{deadlines::deadlines, gaps::gaps, sizes::sizes, traffic_kinds};
use std::sync::OnceLock;

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// Its last step.
    pub name: &'static str,
    /// Whether the table needs it.
    pub required: bool,
    /// What its values look like.
    pub form: Form,
}

/// A table, or a kind of one.
#[derive(Debug)]
pub struct Kind {
    /// What `kind = "…"` says, or the name of the table.
    pub name: &'static str,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// A scheme and its parameters by full key.
pub type SchemeKeys = (&'static str, Vec<(String, Form)>);

/// Everything that can be named.
#[derive(Debug)]
pub struct Registry {
    pub topologies: Vec<Kind>,
    pub traffic: Vec<Kind>,
    pub sizes: Vec<Kind>,
    pub deadlines: Vec<Kind>,
    pub gaps: Vec<Kind>,
    /// The tables of a scenario whose keys do not depend on a kind.
    pub tables: Vec<Kind>,
    pub schemes: Vec<SchemeKeys>,
}

impl Registry {
    /// The one registry. Panics if a parameter is described in words that [`Form`] does not know.
    pub fn get() -> &'static Registry {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        REGISTRY.get_or_init(|| Registry {
            topologies: kinds(&topologies()),
            traffic: kinds(&traffic_kinds()),
            sizes: kinds(&sizes()),
            deadlines: kinds(&deadlines()),
            gaps: kinds(&gaps()),
            tables: kinds(&scenario::tables()),
            schemes: schemes().iter().map(|info| (info.name.as_str(), scheme_keys(&info.name))).collect(),
        })
    }

    /// The kinds of tables that the value of `key` may be.
    pub fn kinds(&self, key: &str) -> &[Kind] {
        match key {
            "sizes" => &self.sizes,
            "deadline" => &self.deadlines,
            "gaps" => &self.gaps,
            _ => panic!("{key} holds a table of an unknown registry"),
        }
    }

    /// The table called `name`.
    pub fn table(&self, name: &str) -> &[Key] {
        self.tables.iter().find(|table| table.name == name).map_or(&[], |table| &table.keys)
    }

    /// The key called `name` of any kind of traffic.
    pub fn traffic_key(&self, name: &str) -> &Key {
        let mut keys = self.traffic.iter().flat_map(|kind| &kind.keys);
        keys.find(|key| key.name == name).unwrap_or_else(|| panic!("no traffic has a key {name}"))
    }
}

fn form(name: &str, expected: &str) -> Form {
    Form::of(expected).unwrap_or_else(|| panic!("{name}: Form does not know {expected:?}"))
}

fn kinds(entries: &[Entry]) -> Vec<Kind> {
    let key = |info: &ParamInfo| Key {
        name: info.name,
        required: info.default == "required",
        form: form(info.name, &info.expected),
    };
    entries
        .iter()
        .map(|entry| Kind { name: entry.name, keys: entry.parameters.iter().map(key).collect() })
        .collect()
}

fn scheme_keys(name: &str) -> Vec<(String, Form)> {
    let parameters = scheme::parameters(name).unwrap_or_default();
    parameters.into_iter().map(|(key, info)| (key, form(info.name, &info.expected))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registered_parameter_can_be_drawn() {
        let registry = Registry::get();
        let counts = [
            registry.topologies.len(),
            registry.traffic.len(),
            registry.schemes.len(),
            registry.tables.len(),
        ];
        assert!(counts.iter().all(|count| *count >= 6), "{counts:?}");
        assert_eq!(registry.traffic_key("workers").form, Form::Whole { low: 1, high: 1_000_000, step: 1 });
        assert!(registry.table("tcp").iter().any(|key| key.name == "mss" && !key.required));
    }
}
