//! [`HostSet`]: hosts as a scenario names them.

use super::context::Context;
use crate::config::{ConfigError, Format, Reader, Shape, keys};
use shortflow_units::HostId;
use std::collections::BTreeSet;
use toml::Value;

/// Hosts before it is known how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostSet {
    /// All of them.
    All,
    /// These.
    Listed(Vec<u32>),
}

/// `"all"`, `3`, `"0-19"` or `[0, 2, 5]`.
pub(crate) struct Hosts;

impl Format for Hosts {
    type Value = HostSet;
    fn read(&self, value: &Value) -> Option<HostSet> {
        let number = |value: &Value| u32::try_from(value.as_integer()?).ok();
        match value {
            Value::String(text) if text == "all" => Some(HostSet::All),
            Value::String(text) => range(text),
            Value::Integer(_) => Some(HostSet::Listed(vec![number(value)?])),
            Value::Array(items) if !items.is_empty() => {
                items.iter().map(number).collect::<Option<_>>().map(HostSet::Listed)
            }
            _ => None,
        }
    }
    fn shape(&self) -> Shape {
        Shape::Hosts
    }
}

fn range(text: &str) -> Option<HostSet> {
    const MORE_THAN_ANY_TOPOLOGY: u32 = 1_000_000;
    let (first, last) = text.split_once('-')?;
    let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last && last < MORE_THAN_ANY_TOPOLOGY).then(|| HostSet::Listed((first..=last).collect()))
}

impl HostSet {
    /// The hosts, given that there are `count`; `key` is where they are named.
    pub(crate) fn resolve(
        self,
        count: usize,
        reader: &Reader,
        key: &str,
    ) -> Result<Vec<HostId>, ConfigError> {
        let numbers = match self {
            HostSet::All => (0..count as u32).collect(),
            HostSet::Listed(numbers) => numbers,
        };
        match numbers.iter().find(|number| **number as usize >= count) {
            None => Ok(numbers.into_iter().map(HostId).collect()),
            Some(number) => {
                let reason = format!("there is no host {number}; the topology has hosts 0 to {}", count - 1);
                Err(reader.impossible(key, reason))
            }
        }
    }
}

keys! {
    /// Senders and receivers.
    pub(super) struct HostPair {
        /// senders
        pub from: HostSet = "all", Hosts;
        /// receivers: one host for incast, periodic and many-to-one (the last unless given); several also for
        /// queries and long-lived flows (the last unless given) and for all-to-all (all unless given)
        pub to: Option<HostSet> = optional, Hosts;
    }
}

impl HostPair {
    /// Several senders (all other hosts unless given) and one receiver (the last host unless given).
    pub(super) fn many_to_one(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<(Vec<HostId>, HostId), ConfigError> {
        let count = context.graph.hosts();
        let receivers = match self.to {
            Some(set) => set.resolve(count, reader, "to")?,
            None => {
                reader.defaulted("to", context.last_host().0.to_string());
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
        let mut from = self.from.resolve(count, reader, "from")?;
        if everyone {
            from.retain(|host| *host != to);
        }
        if from.contains(&to) {
            return Err(reader.impossible("from", format!("host {} would send to itself", to.0)));
        }
        Ok((from, to))
    }

    /// One receiver or several, each with the senders that are not itself.
    pub(super) fn many_to_each(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<Vec<(Vec<HostId>, HostId)>, ConfigError> {
        let count = context.graph.hosts();
        let to = self.to.as_ref().map(|to| to.clone().resolve(count, reader, "to")).transpose()?;
        let Some(to) = to.filter(|to| to.len() > 1) else {
            return Ok(vec![self.many_to_one(reader, context)?]);
        };
        let from = self.from.resolve(count, reader, "from")?;
        let others = |to: HostId| (from.iter().copied().filter(|host| *host != to).collect::<Vec<_>>(), to);
        match to.iter().find(|host| from.iter().all(|other| other == *host)) {
            None => Ok(to.iter().map(|host| others(*host)).collect()),
            Some(host) => Err(reader.impossible("from", format!("host {} could only ask itself", host.0))),
        }
    }

    /// Senders with the receiver of each: one for all of them, or as many as senders.
    pub(super) fn one_to_one(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<Vec<(HostId, HostId)>, ConfigError> {
        let count = context.graph.hosts();
        let to = match &self.to {
            Some(HostSet::Listed(several)) if several.len() > 1 => {
                HostSet::Listed(several.clone()).resolve(count, reader, "to")?
            }
            _ => {
                let (from, to) = self.many_to_one(reader, context)?;
                return Ok(from.into_iter().map(|host| (host, to)).collect());
            }
        };
        let from = self.from.resolve(count, reader, "from")?;
        if from.len() != to.len() {
            let reason =
                format!("{} hosts given; expected one, or one for each of {} senders", to.len(), from.len());
            return Err(reader.impossible("to", reason));
        }
        let pairs: Vec<(HostId, HostId)> = from.into_iter().zip(to).collect();
        match pairs.iter().find(|(from, to)| from == to) {
            None => Ok(pairs),
            Some((host, _)) => Err(reader.impossible("to", format!("host {} would send to itself", host.0))),
        }
    }

    /// The senders, each with the one after it as its receiver.
    pub(super) fn ring(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<Vec<(HostId, HostId)>, ConfigError> {
        if self.to.is_some() {
            return Err(reader.impossible("to", "the receivers of a permutation are its senders"));
        }
        let from = self.from.resolve(context.graph.hosts(), reader, "from")?;
        let several: BTreeSet<&HostId> = from.iter().collect();
        if several.len() < from.len().max(2) {
            let reason = "a permutation has each host once, and needs two";
            return Err(reader.impossible("from", reason));
        }
        let to = from.iter().cycle().skip(1);
        Ok(from.iter().copied().zip(to.copied()).collect())
    }

    /// Several senders and several receivers, all hosts unless given.
    pub(super) fn many_to_many(
        self,
        reader: &Reader,
        context: &Context,
    ) -> Result<(Vec<HostId>, Vec<HostId>), ConfigError> {
        let count = context.graph.hosts();
        let from = self.from.resolve(count, reader, "from")?;
        if self.to.is_none() {
            reader.defaulted("to", "all".to_owned());
        }
        let to = self.to.unwrap_or(HostSet::All).resolve(count, reader, "to")?;
        match from.iter().find(|host| to.iter().all(|other| other == *host)) {
            None => Ok((from, to)),
            Some(host) => Err(reader.impossible("to", format!("host {} could only send to itself", host.0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(toml: &str) -> Option<Vec<u32>> {
        match Hosts.read(&toml.parse().unwrap())? {
            HostSet::Listed(numbers) => Some(numbers),
            HostSet::All => None,
        }
    }

    #[test]
    fn four_ways_to_name_hosts() {
        assert_eq!(Hosts.read(&Value::String("all".to_owned())), Some(HostSet::All));
        assert_eq!(listed("3"), Some(vec![3]));
        assert_eq!(listed("\"2-4\""), Some(vec![2, 3, 4]));
        assert_eq!(listed("[0, 2, 5]"), Some(vec![0, 2, 5]));
        for wrong in
            ["-1", "\"4-2\"", "\"0-99999999999\"", "[]", "[\"h1\"]", "\"some\"", "1.5", "\"0-9000000\""]
        {
            assert_eq!(listed(wrong), None, "{wrong}");
        }
    }
}
