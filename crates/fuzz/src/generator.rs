//! [`ScenarioGenerator`]: draws a scenario from the registry and repairs it, key by key, until it is accepted.

use crate::choices::Choices;
use crate::registry::Registry;
use crate::values::{Style, Surroundings, Values};
use shortflow_sim::scenario::{Scenario, tables};
use shortflow_spec::{ConfigError, Entry, ParamInfo, Shape};
use shortflow_units::NodeId;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Number of repairs after which a scenario is given up.
const MOST_REPAIRS: usize = 24;
/// Number of repairs after which the table around the wrong value is drawn anew.
const PATIENCE: usize = 5;

/// Draws a scenario and repairs it.
pub(crate) struct ScenarioGenerator<'c, 'i> {
    registry: &'static Registry,
    values: Values<'c, 'i>,
    root: Table,
    /// Possible keys by path; entries of lists count from 1.
    keys: BTreeMap<String, &'static ParamInfo>,
    /// `--set` pairs.
    settings: Vec<(String, String)>,
}

impl<'c, 'i> ScenarioGenerator<'c, 'i> {
    /// An accepted scenario with its text, or the error that is left after all repairs.
    pub(crate) fn settle(
        choices: &'c mut Choices<'i>,
        style: Style,
    ) -> Result<(Scenario, String), ConfigError> {
        let (generator, scenario) = Self::settled(choices, style)?;
        Ok((scenario, generator.text()))
    }

    /// An accepted scenario with its generator, or the error that is left after all repairs.
    pub(crate) fn settled(
        choices: &'c mut Choices<'i>,
        style: Style,
    ) -> Result<(Self, Scenario), ConfigError> {
        let values = Values { choices, style, surroundings: Surroundings::default(), files: BTreeMap::new() };
        let (root, keys) = (Table::new(), BTreeMap::new());
        let mut generator = Self { registry: Registry::get(), values, root, keys, settings: Vec::new() };
        generator.network();
        generator.values.surroundings = surroundings(&generator.repaired()?);
        generator.rest();
        generator.respell();
        let scenario = generator.repaired()?;
        Ok((generator, scenario))
    }

    /// Paths and declarations of possible keys, except tables and names of files.
    pub(crate) fn keys(&self) -> Vec<(String, &'static ParamInfo)> {
        let is_plain = |key: &ParamInfo| {
            !matches!(key.shape, Shape::Table(_) | Shape::Kinds(_) | Shape::Parts(_))
                && !key.name.ends_with("file")
        };
        self.keys.iter().filter(|(_, key)| is_plain(key)).map(|(path, key)| (path.clone(), *key)).collect()
    }

    /// A value for a key, in the notation of `--set`.
    pub(crate) fn value(&mut self, path: &str, key: &'static ParamInfo) -> String {
        let value = self.draw(path, key);
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// The remaining choices.
    pub(crate) fn choices(&mut self) -> &mut Choices<'i> {
        self.values.choices
    }

    /// The scenario with more settings.
    pub(crate) fn with(&self, more: &[(String, String)]) -> Result<Scenario, ConfigError> {
        self.parse_with(&[&self.settings, more].concat())
    }

    /// Text of the scenario, with its settings and files as comments.
    pub(crate) fn text(&self) -> String {
        let settings = self.settings.iter().map(|(key, value)| format!("# --set {key}={value}\n"));
        let files = self.values.files.iter().map(|(name, text)| format!("# {name}:\n{text}\n"));
        self.root.to_string() + &settings.chain(files).collect::<String>()
    }

    /// Draws the topology and the other required parts of a scenario.
    fn network(&mut self) {
        self.topology();
        let top = self.table("", self.registry.table("").iter().filter(|key| key.is_required()));
        self.root.extend(top);
        let switch = Table::from_iter([("buffer", "9pkt"), ("mark_above", "3pkt")].map(pair));
        self.root.insert("switch".to_owned(), switch.into());
        let traffic = Table::from_iter([pair(("kind", "long-lived"))]);
        self.root.insert("traffic".to_owned(), Value::Array(vec![traffic.into()]));
    }

    fn topology(&mut self) {
        let topology = self.kind("topology", self.registry.kinds("topology"));
        self.root.insert("topology".to_owned(), topology.into());
    }

    fn traffic(&mut self) {
        let count = 1 + self.values.choices.below(3);
        self.list("traffic", count, |generator, path| {
            generator.kind(path, generator.registry.kinds("traffic"))
        });
    }

    /// Draws all other parts.
    fn rest(&mut self) {
        for Entry { name, .. } in tables() {
            let keys = self.registry.table(name);
            match name {
                "" => {
                    let top = self.table("", keys);
                    self.root.extend(top);
                }
                "faults" => {
                    let count = self.values.choices.below(4).saturating_sub(1);
                    self.list("faults", count, |generator, path| generator.table(path, keys));
                }
                name => {
                    let drawn = self.table(name, keys);
                    self.root.insert(name.to_owned(), drawn.into());
                }
            }
        }
        if self.values.choices.once_in(2) {
            let routing = self.kind("routing", self.registry.kinds("routing"));
            self.root.insert("routing".to_owned(), routing.into());
        }
        self.tiers();
        self.traffic();
        let lossless = self.values.style.lossless;
        if lossless > 0 && self.values.choices.once_in(lossless) {
            self.lossless();
        }
    }

    /// Sets thresholds of flow control in a buffer with room for headroom, and gives half of the traffic another priority.
    fn lossless(&mut self) {
        let choices = &mut *self.values.choices;
        let mut size = |low, high, unit| format!("{}{unit}", choices.within(low, high));
        let (buffer, mark_above) = (size(2, 20, "00KB"), size(3, 60, "KB"));
        let mut settings = vec![("xoff", size(3, 20, "KB")), ("mark_above", mark_above)];
        if choices.once_in(3) {
            settings.push(("memory", buffer.clone()));
        }
        settings.push(("buffer", buffer));
        let priorities: Vec<bool> = (0..3).map(|_| choices.once_in(2)).collect();
        if let Some(Value::Table(switch)) = self.root.get_mut("switch") {
            // Limits in packets do not go with limits in bytes.
            switch.retain(|key, value| !["mark_all_above", "memory"].contains(&key) && !value.is_table());
            switch.extend(settings.into_iter().map(|(key, value)| (key.to_owned(), value.into())));
        }
        if let Some(Value::Array(traffic)) = self.root.get_mut("traffic") {
            let entries = traffic.iter_mut().zip(priorities).filter(|(_, is_other)| *is_other);
            for table in entries.filter_map(|(entry, _)| entry.as_table_mut()) {
                table.insert("pfc_priority".to_owned(), 4.into());
            }
        }
    }

    /// Draws the entries of a list of tables.
    fn list(&mut self, name: &str, count: u64, draw: impl Fn(&mut Self, &str) -> Table) {
        let entries = (1..=count).map(|i| draw(self, &format!("{name}.{i}")).into()).collect();
        self.root.insert(name.to_owned(), Value::Array(entries));
    }

    /// Draws keys for the ports of one tier, and for its ports upwards.
    fn tiers(&mut self) {
        if self.values.surroundings.tiers.is_empty() || !self.values.choices.once_in(3) {
            return;
        }
        let tier = self.values.choices.pick(&self.values.surroundings.tiers).clone();
        let path = format!("switch.{tier}");
        let mut table = self.table(&path, self.registry.table("switch"));
        // The highest tier has no ports upwards.
        if self.values.choices.once_in(2) && self.values.surroundings.tiers.last() != Some(&tier) {
            let up = self.table(&format!("{path}.up"), self.registry.table("switch"));
            table.insert("up".to_owned(), up.into());
        }
        if let Some(Value::Table(switch)) = self.root.get_mut("switch") {
            switch.insert(tier, table.into());
        }
    }

    /// Draws a table of one of `kinds`.
    fn kind(&mut self, path: &str, kinds: &'static [Entry]) -> Table {
        let kind = self.values.choices.pick(kinds);
        let mut table = self.table(path, &kind.parameters);
        table.insert("kind".to_owned(), kind.name.into());
        table
    }

    /// Draws a table with the required keys and some of the optional ones.
    fn table(&mut self, path: &str, keys: impl IntoIterator<Item = &'static ParamInfo>) -> Table {
        let mut table = Table::new();
        for key in keys {
            let place = join(path, key.name);
            self.keys.insert(place.clone(), key);
            // Each of these keys is optional, but a scenario needs one of a group.
            let usual = matches!(key.name, "load" | "uplink_rate");
            if key.is_required() || usual || self.values.choices.once_in(self.values.style.optional) {
                table.insert(key.name.to_owned(), self.draw(&place, key));
            }
        }
        table
    }

    fn draw(&mut self, path: &str, key: &'static ParamInfo) -> Value {
        match &key.shape {
            Shape::Kinds(_) => self.kind(path, self.registry.kinds(key.name)).into(),
            Shape::Parts(_) => self.mixture(path).into(),
            Shape::Table(keys) => {
                let names = keys().into_iter().map(|key| key.name);
                self.table(path, names.map(|name| self.registry.traffic_key(name))).into()
            }
            shape => self.values.draw(key.name, shape).unwrap_or_else(|| panic!("{path}: no value")),
        }
    }

    /// Draws one, two or four distributions with equal shares, without nested mixtures.
    fn mixture(&mut self, path: &str) -> Vec<Value> {
        let count = *self.values.choices.pick(&[1, 2, 4]);
        let part = |i: u32| {
            let mut table = Table::new();
            while table.is_empty() || table.contains_key("parts") {
                table = self.kind(&format!("{path}.{i}"), self.registry.kinds("sizes"));
            }
            table.insert("share".to_owned(), (1.0 / f64::from(count)).into());
            table.into()
        };
        (1..=count).map(part).collect()
    }

    /// Replaces a value by a parameter, and another one by `--set`, each in a quarter of the draws.
    fn respell(&mut self) {
        if self.values.choices.once_in(4) {
            let Some((path, _)) = self.some_value() else { return };
            let Some(place) = find(&mut self.root, &path) else { return };
            let value = std::mem::replace(place, "$drawn".into());
            self.root.insert("parameters".to_owned(), Table::from_iter([("drawn".to_owned(), value)]).into());
        }
        if self.values.choices.once_in(4) {
            let Some((path, key)) = self.some_value() else { return };
            let value = self.draw(&path, key);
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.settings.push((path, text));
        }
    }

    /// Path and declaration of a value that is no table and no list.
    fn some_value(&mut self) -> Option<(String, &'static ParamInfo)> {
        let root = &mut self.root;
        let plain = |value: &Value| !value.is_table() && !value.is_array();
        let there: Vec<(&String, &&ParamInfo)> =
            self.keys.iter().filter(|(path, _)| find(root, path).is_some_and(|value| plain(value))).collect();
        let number = self.values.choices.below(there.len().max(1) as u64) as usize;
        there.get(number).map(|(path, key)| ((*path).clone(), **key))
    }

    fn parse(&self) -> Result<Scenario, ConfigError> {
        self.parse_with(&self.settings)
    }

    fn parse_with(&self, settings: &[(String, String)]) -> Result<Scenario, ConfigError> {
        let files =
            |name: &str| self.values.files.get(name).cloned().ok_or_else(|| "no such file".to_owned());
        Scenario::parse(&self.root.to_string(), "drawn", settings, &files)
    }

    /// Repairs the scenario until it is accepted.
    fn repaired(&mut self) -> Result<Scenario, ConfigError> {
        let mut repairs = 0;
        loop {
            let error = match self.parse() {
                Ok(scenario) => return Ok(scenario),
                Err(error) => error,
            };
            repairs += 1;
            let repaired = match repairs {
                MOST_REPAIRS.. => None,
                ..PATIENCE => self.repair(&error).or_else(|| self.redraw(&error)),
                _ => self.redraw(&error).or_else(|| self.repair(&error)),
            };
            repaired.ok_or(error)?;
        }
    }

    /// Draws the part with the error anew.
    fn redraw(&mut self, error: &ConfigError) -> Option<()> {
        let path = path_of(error).unwrap_or_default();
        let mut steps = path.split('.');
        match (steps.next()?, steps.next()) {
            _ if self.values.surroundings.hosts == 0 => self.topology(),
            ("", _) | ("duration", _) => self.traffic(),
            ("traffic", Some(number)) => {
                let place = format!("traffic.{number}");
                let entry = self.kind(&place, self.registry.kinds("traffic"));
                *find(&mut self.root, &place)? = entry.into();
            }
            ("faults" | "measure", _) => {
                self.root.remove("faults").or(self.root.remove("measure")).map(drop)?
            }
            ("switch", _) => {
                let switch = self.table("switch", self.registry.table("switch"));
                self.root.insert("switch".to_owned(), switch.into());
            }
            _ => return None,
        }
        Some(())
    }

    /// Removes the wrong value, or draws another one; `None` if neither is possible.
    fn repair(&mut self, error: &ConfigError) -> Option<()> {
        let path = path_of(error)?;
        let of_set = self.settings.len();
        self.settings.retain(|(key, _)| *key != path);
        if self.settings.len() < of_set || path.starts_with("parameters.") {
            self.root.remove("parameters").filter(|_| path.starts_with("parameters."));
            return Some(());
        }
        let key = self.keys.get(&path).copied();
        let there = find(&mut self.root, &path).is_some();
        if let (ConfigError::Impossible { .. }, false) = (error, there) {
            // An error about `hot` may be about `hot_hosts`.
            let beside =
                self.keys.keys().find(|other| other.len() > path.len() && other.starts_with(&path)).cloned();
            if let Some(beside) = beside.filter(|beside| find(&mut self.root, beside).is_some()) {
                return self.remove(&beside);
            }
        }
        let value = match key {
            Some(key) if key.is_required() || !there || self.values.choices.once_in(4) => {
                Some(self.draw(&path, key))
            }
            Some(_) => None,
            None if there => None,
            None => return None,
        };
        match value {
            Some(value) => self.put(&path, value),
            None => self.remove(&path),
        }
    }

    fn put(&mut self, path: &str, value: Value) -> Option<()> {
        let (table, name) = split(&mut self.root, path)?;
        table.insert(name.to_owned(), value);
        Some(())
    }

    fn remove(&mut self, path: &str) -> Option<()> {
        let (table, name) = split(&mut self.root, path)?;
        table.remove(name).map(drop)
    }
}

/// Path of the key that an error names, with a number for the only fault.
fn path_of(error: &ConfigError) -> Option<String> {
    error.key().map(numbered)
}

/// Path of a key in which the only fault has a number too.
pub(crate) fn numbered(key: &str) -> String {
    match key.strip_prefix("faults.") {
        Some(rest) if !rest.starts_with(|c: char| c.is_ascii_digit()) => format!("faults.1.{rest}"),
        _ => key.to_owned(),
    }
}

fn pair((key, value): (&str, &str)) -> (String, Value) {
    (key.to_owned(), value.into())
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The value at `path`.
fn find<'t>(root: &'t mut Table, path: &str) -> Option<&'t mut Value> {
    let mut steps = path.split('.');
    let first = root.get_mut(steps.next()?)?;
    steps.try_fold(first, |value, step| match value {
        Value::Table(table) => table.get_mut(step),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?.checked_sub(1)?),
        _ => None,
    })
}

/// The table with the last step of `path`, and this step.
fn split<'t, 'p>(root: &'t mut Table, path: &'p str) -> Option<(&'t mut Table, &'p str)> {
    match path.rsplit_once('.') {
        None => Some((root, path)),
        Some((table, name)) => Some((find(root, table)?.as_table_mut()?, name)),
    }
}

fn surroundings(scenario: &Scenario) -> Surroundings {
    let graph = &scenario.graph;
    let name = |node: NodeId| graph.name(node).to_owned();
    Surroundings {
        hosts: graph.hosts() as u64,
        links: graph.links.iter().map(|link| (name(link.a), name(link.b))).collect(),
        tiers: graph.tiers.clone(),
    }
}
