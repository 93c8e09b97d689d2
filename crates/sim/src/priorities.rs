//! [`PrioritySet`]: priorities of IEEE 802.1Q, by which a link pauses data (IEEE 802.1Qbb).

use crate::config::{Format, ListOf, Shape};
use std::fmt;
use std::ops::{BitAnd, BitOr, RangeInclusive, Sub};

/// Number of priorities.
pub const PRIORITIES: usize = 8;

/// Priority of data unless a traffic entry sets one; switches of RoCE networks use this priority by default.
pub const DEFAULT_PRIORITY: u8 = 3;

/// A set of priorities, a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrioritySet(u8);

impl PrioritySet {
    /// No priority.
    pub const NONE: PrioritySet = PrioritySet(0);
    /// All priorities.
    pub const ALL: PrioritySet = PrioritySet(u8::MAX);

    /// The set of one priority.
    pub const fn of(priority: u8) -> PrioritySet {
        PrioritySet(1 << priority)
    }

    /// True if the set contains `priority`.
    pub const fn has(self, priority: u8) -> bool {
        self.0 >> priority & 1 > 0
    }

    /// Number of priorities in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// True if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of priorities in the set that are below `priority`.
    pub fn rank(self, priority: u8) -> usize {
        self.iter().take_while(|lower| *lower < priority).count()
    }

    /// The priorities in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..PRIORITIES as u8).filter(move |priority| self.has(*priority))
    }
}

/// The priorities, such as `3, 4`.
impl fmt::Display for PrioritySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.iter().map(|priority| priority.to_string()).collect();
        f.write_str(&texts.join(", "))
    }
}

impl FromIterator<u8> for PrioritySet {
    fn from_iter<I: IntoIterator<Item = u8>>(priorities: I) -> PrioritySet {
        priorities.into_iter().fold(PrioritySet::NONE, |set, priority| set | PrioritySet::of(priority))
    }
}

impl BitOr for PrioritySet {
    type Output = PrioritySet;
    fn bitor(self, other: PrioritySet) -> PrioritySet {
        PrioritySet(self.0 | other.0)
    }
}

impl BitAnd for PrioritySet {
    type Output = PrioritySet;
    fn bitand(self, other: PrioritySet) -> PrioritySet {
        PrioritySet(self.0 & other.0)
    }
}

impl Sub for PrioritySet {
    type Output = PrioritySet;
    fn sub(self, other: PrioritySet) -> PrioritySet {
        PrioritySet(self.0 & !other.0)
    }
}

/// A priority.
pub(crate) const ANY_PRIORITY: RangeInclusive<u32> = 0..=PRIORITIES as u32 - 1;

/// Format of a set of priorities.
pub(crate) struct SetFormat;

/// A list of priorities.
pub(crate) const PRIORITY_SET: SetFormat = SetFormat;

const LIST: ListOf<RangeInclusive<u32>> =
    ListOf(ANY_PRIORITY, "a list of priorities from 0 to 7 such as [3, 4]");

impl Format for SetFormat {
    type Value = PrioritySet;
    fn read(&self, value: &toml::Value) -> Option<PrioritySet> {
        LIST.read(value).map(|list| list.into_iter().map(|priority| priority as u8).collect())
    }
    fn shape(&self) -> Shape {
        LIST.shape()
    }
}

/// Weights of the priorities at a port.
pub type Weights = [u32; PRIORITIES];

/// Format of weights.
pub(crate) struct WeightsFormat;

/// Weights of the priorities from 0 on. Each priority without a weight in the list has the weight 1.
pub(crate) const WEIGHTS: WeightsFormat = WeightsFormat;

const WEIGHT_LIST: ListOf<RangeInclusive<u32>> =
    ListOf(1..=100, "a list of at most eight weights from 1 to 100, for the priorities 0 to 7");

impl Format for WeightsFormat {
    type Value = Weights;
    fn read(&self, value: &toml::Value) -> Option<Weights> {
        let mut weights = [1; PRIORITIES];
        let given = WEIGHT_LIST.read(value)?;
        weights.get_mut(..given.len())?.copy_from_slice(&given);
        Some(weights)
    }
    fn shape(&self) -> Shape {
        WEIGHT_LIST.shape()
    }
}
