//! [`Drops`]: packets dropped at a port or node, by reason.

use crate::queue::DropReason;

/// Numbers of dropped packets by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    /// Adds `packets` drops for `reason`.
    #[inline]
    pub fn count(&mut self, reason: DropReason, packets: u64) {
        self.0[reason as usize] += packets;
    }

    /// Packets dropped for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Drops since `before`.
    pub fn since(self, before: Drops) -> Drops {
        Drops(std::array::from_fn(|reason| self.0[reason] - before.0[reason]))
    }

    /// Packets dropped for `reason`.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Reasons with drops, and their counts.
    pub fn by_reason(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.into_iter().zip(self.0).filter(|(_, packets)| *packets > 0)
    }
}
