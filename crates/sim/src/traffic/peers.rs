//! [`Peers`]: the hosts between which flows run.

use shortflow_units::HostId;
use std::collections::{BTreeMap, BTreeSet};

/// Senders and receivers in groups. Each flow of a group runs from one of its senders to one of its
/// receivers.
#[derive(Debug, Clone, Default)]
pub struct Peers(Vec<(Vec<HostId>, Vec<HostId>)>);

impl Peers {
    /// Adds flows from any of `senders` to any of `receivers`.
    pub(crate) fn add(&mut self, senders: &[HostId], receivers: &[HostId]) {
        self.0.push((senders.to_vec(), receivers.to_vec()));
    }

    /// Adds flows from the first to the second host of each pair.
    pub(crate) fn add_pairs(&mut self, pairs: impl IntoIterator<Item = (HostId, HostId)>) {
        let mut senders: BTreeMap<HostId, BTreeSet<HostId>> = BTreeMap::new();
        for (from, to) in pairs {
            senders.entry(to).or_default().insert(from);
        }
        self.0.extend(senders.into_iter().map(|(to, from)| (from.into_iter().collect(), vec![to])));
    }

    /// Senders and receivers of each group.
    pub fn groups(&self) -> impl Iterator<Item = (&[HostId], &[HostId])> {
        self.0.iter().map(|(senders, receivers)| (&**senders, &**receivers))
    }

    /// Hosts that receive flows.
    pub fn receivers(&self) -> BTreeSet<HostId> {
        self.0.iter().flat_map(|(_, receivers)| receivers).copied().collect()
    }
}
