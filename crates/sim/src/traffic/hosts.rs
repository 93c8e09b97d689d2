//! [`HostSet`]: hosts as a scenario names them.

use super::context::Context;
use crate::config::{ConfigError, Format, ParamInfo, Reader, Shape, keys};
use crate::topology::HostNames;
use shortflow_units::HostId;
use std::collections::BTreeSet;
use toml::Value;

/// Hosts before the network is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostSet {
    /// All hosts.
    All,
    /// The listed hosts.
    Listed(Vec<Named>),
}

/// One item of a list, for one or several hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// A host by its position.
    At(u32),
    /// Hosts by name, or by a range of names or positions.
    By(String),
}

/// `"all"`, `3`, `"h3"`, `"0-19"`, `"h0-h19"`, or a list of numbers, names and ranges.
pub(crate) struct Hosts;

impl Format for Hosts {
    type Value = HostSet;
    fn read(&self, value: &Value) -> Option<HostSet> {
        let named = |value: &Value| match value {
            Value::String(text) if !text.trim().is_empty() => Some(Named::By(text.trim().to_owned())),
            number => u32::try_from(number.as_integer()?).ok().map(Named::At),
        };
        match value {
            Value::String(text) if text == "all" => Some(HostSet::All),
            Value::Array(items) if !items.is_empty() => {
                items.iter().map(named).collect::<Option<_>>().map(HostSet::Listed)
            }
            one => named(one).map(|one| HostSet::Listed(vec![one])),
        }
    }
    fn shape(&self) -> Shape {
        Shape::Hosts
    }
}

impl HostSet {
    /// Looks up the hosts in a network. `key` is the key that names them.
    pub(crate) fn resolve(
        &self,
        names: &HostNames,
        reader: &Reader,
        key: &str,
    ) -> Result<Vec<HostId>, ConfigError> {
        let HostSet::Listed(listed) = self else {
            return Ok((0..names.count()).map(HostId::from).collect());
        };
        let hosts = listed.iter().map(|item| match item {
            Named::At(position) => names.at(*position, reader, key).map(|host| vec![host]),
            Named::By(text) => names.listed(text, reader, key),
        });
        Ok(hosts.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

keys! {
    /// Keys for senders and receivers.
    pub(super) struct HostPair {
        /// senders
        pub from: HostSet = "all", Hosts;
        /// receivers: one host for many-to-one; one or several hosts for queries, long-lived flows and all-to-all;
        /// unless given, all hosts for all-to-all, otherwise the last host
        pub to: Option<HostSet> = optional, Hosts;
    }
}

impl HostPair {
    /// Keys of a traffic kind with one receiver.
    pub(super) fn to_one_host() -> Vec<ParamInfo> {
        let mut keys = HostPair::parameters();
        for key in keys.iter_mut().filter(|key| key.name == "to") {
            key.summary = "receiver; the last host unless given".to_owned();
            key.shape = Shape::Host;
        }
        keys
    }

    /// Senders (default: all other hosts) and one receiver (default: the last host).
    pub(super) fn many_to_one(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<(Vec<HostId>, HostId), ConfigError> {
        let names = &context.names;
        let receivers = match self.to {
            Some(set) => set.resolve(names, reader, "to")?,
            None => {
                reader.defaulted("to", names.shown(context.last_host()));
                vec![context.last_host()]
            }
        };
        let &[to] = receivers.as_slice() else {
            return Err(reader.impossible(
                "to",
                format!(
                    "{} hosts given; expected one, such as {}, as this traffic has one receiver",
                    receivers.len(),
                    context.last_host().0
                ),
            ));
        };
        let everyone = self.from == HostSet::All;
        let mut from = self.from.resolve(names, reader, "from")?;
        if everyone {
            from.retain(|host| *host != to);
        }
        if from.contains(&to) {
            return Err(reader.impossible("from", format!("host {} would send to itself", names.name(to))));
        }
        Ok((from, to))
    }

    /// One or several receivers, each with all senders except itself.
    pub(super) fn many_to_each(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<Vec<(Vec<HostId>, HostId)>, ConfigError> {
        let names = &context.names;
        let to = self.to.as_ref().map(|to| to.resolve(names, reader, "to")).transpose()?;
        let Some(to) = to.filter(|to| to.len() > 1) else {
            return Ok(vec![self.many_to_one(reader, context)?]);
        };
        let from = self.from.resolve(names, reader, "from")?;
        let others = |to: HostId| (from.iter().copied().filter(|host| *host != to).collect::<Vec<_>>(), to);
        match to.iter().find(|host| from.iter().all(|other| other == *host)) {
            None => Ok(to.iter().map(|host| others(*host)).collect()),
            Some(host) => {
                Err(reader.impossible("from", format!("host {} could only ask itself", names.name(*host))))
            }
        }
    }

    /// Pairs of sender and receiver, with one receiver for all senders or one for each.
    pub(super) fn one_to_one(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<Vec<(HostId, HostId)>, ConfigError> {
        let names = &context.names;
        let to = match &self.to {
            Some(set @ HostSet::Listed(_)) => set.resolve(names, reader, "to")?,
            _ => Vec::new(),
        };
        if to.len() < 2 {
            let (from, to) = self.many_to_one(reader, context)?;
            return Ok(from.into_iter().map(|host| (host, to)).collect());
        }
        let from = self.from.resolve(names, reader, "from")?;
        if from.len() != to.len() {
            let reason =
                format!("{} hosts given; expected one, or one for each of {} senders", to.len(), from.len());
            return Err(reader.impossible("to", reason));
        }
        let pairs: Vec<(HostId, HostId)> = from.into_iter().zip(to).collect();
        match pairs.iter().find(|(from, to)| from == to) {
            None => Ok(pairs),
            Some((host, _)) => {
                Err(reader.impossible("to", format!("host {} would send to itself", names.name(*host))))
            }
        }
    }

    /// Pairs of each sender with the next sender of the list as its receiver.
    pub(super) fn ring(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<Vec<(HostId, HostId)>, ConfigError> {
        if self.to.is_some() {
            return Err(
                reader.impossible("to", "the receivers of a permutation are its senders; remove this key")
            );
        }
        let from = self.from.resolve(&context.names, reader, "from")?;
        let several: BTreeSet<&HostId> = from.iter().collect();
        if several.len() < from.len().max(2) {
            let reason = "a permutation has each host once, and needs at least two hosts";
            return Err(reader.impossible("from", reason));
        }
        let to = from.iter().cycle().skip(1);
        Ok(from.iter().copied().zip(to.copied()).collect())
    }

    /// Senders and receivers (default: all hosts).
    pub(super) fn many_to_many(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<(Vec<HostId>, Vec<HostId>), ConfigError> {
        let names = &context.names;
        let from = self.from.resolve(names, reader, "from")?;
        if self.to.is_none() {
            reader.defaulted("to", "all".to_owned());
        }
        let to = self.to.unwrap_or(HostSet::All).resolve(names, reader, "to")?;
        match from.iter().find(|host| to.iter().all(|other| other == *host)) {
            None => Ok((from, to)),
            Some(host) => {
                Err(reader.impossible("to", format!("host {} could only send to itself", names.name(*host))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Named::{At, By};

    #[test]
    fn hosts_are_numbers_and_texts() {
        let read = |toml: &str| Hosts.read(&toml.parse().unwrap());
        let listed = |hosts: &[Named]| Some(HostSet::Listed(hosts.to_vec()));
        let by = |text: &str| By(text.to_owned());
        assert_eq!(read("\"all\""), Some(HostSet::All));
        assert_eq!(read("3"), listed(&[At(3)]));
        assert_eq!(read("\" 2-4\""), listed(&[by("2-4")]));
        assert_eq!(read("[0, \"h2\", \"h4-h5\"]"), listed(&[At(0), by("h2"), by("h4-h5")]));
        for wrong in ["-1", "[]", "[[1]]", "\" \"", "1.5", "5000000000", "[0, -1]"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
