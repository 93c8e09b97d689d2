//! A [`PrioritySet`] has priorities of IEEE 802.1Q, by which a link pauses data (IEEE 802.1Qbb). Single
//! priorities have [`Weights`] and [`Thresholds`].

use crate::config::{ANY_SIZE, Format, KeywordOr, ListOf, Positive, Shape};
use shortflow_spec::{Text, Value};
use shortflow_units::Bytes;
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

/// Thresholds of flow control for data of one priority.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// XOFF, or the upper limit of a dynamic XOFF.
    pub xoff: Bytes,
    /// XON; `None` means two full packets below XOFF.
    pub xon: Option<Bytes>,
    /// Headroom; `None` means the bytes that the link requires.
    pub headroom: Option<Bytes>,
    /// Dynamic XOFF as a multiple of the free memory.
    pub alpha: Option<f64>,
}

/// Format of thresholds by priority.
pub(crate) struct ThresholdsFormat;

/// Thresholds, each as `PRIORITY XOFF [XON [HEADROOM [ALPHA]]]`.
pub(crate) const PRIORITY_THRESHOLDS: ThresholdsFormat = ThresholdsFormat;

impl Format for ThresholdsFormat {
    type Value = [Option<Thresholds>; PRIORITIES];
    fn read(&self, value: &Value) -> Option<[Option<Thresholds>; PRIORITIES]> {
        let given: Vec<_> = value.as_str()?.split(';').map(thresholds).collect::<Option<_>>()?;
        let mut all = [None; PRIORITIES];
        given.iter().for_each(|(priority, of)| all[*priority] = Some(*of));
        given.is_sorted_by(|a, b| a.0 < b.0).then_some(all)
    }
    fn shape(&self) -> Shape {
        Shape::Text(Text::PriorityThresholds)
    }
}

/// Reads the thresholds of one priority, such as `4 80KB auto 60KB 0.25`.
fn thresholds(text: &str) -> Option<(usize, Thresholds)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (priority, [xoff, more @ ..]) = words.split_first()? else { return None };
    let priority = priority.parse().ok().filter(|priority| *priority < PRIORITIES)?;
    let xoff = ANY_SIZE.read(&Value::from(*xoff))?;
    let word = |place: usize, default| Value::from(*more.get(place).unwrap_or(&default));
    let size = |place| KeywordOr("auto", ANY_SIZE).read(&word(place, "auto"));
    let alpha = match more.get(2).filter(|alpha| **alpha != "none") {
        Some(alpha) => Some(Positive(1000.0).read(&alpha.parse::<f64>().ok()?.into())?),
        None => None,
    };
    let found = Thresholds { xoff, xon: size(0)?, headroom: size(1)?, alpha };
    (more.len() <= 3 && found.xon.is_none_or(|xon| xon <= xoff)).then_some((priority, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<[Option<Thresholds>; PRIORITIES]> {
        PRIORITY_THRESHOLDS.read(&Value::from(text))
    }

    #[test]
    fn thresholds_of_priorities_are_read() {
        let bytes = |kb: u64| Some(Bytes::new(1000 * kb));
        let given = read("3 40KB; 4 80KB auto 60KB 0.25").unwrap();
        let three = Thresholds { xoff: Bytes::new(40_000), xon: None, headroom: None, alpha: None };
        let four = Thresholds { xoff: Bytes::new(80_000), xon: None, headroom: bytes(60), alpha: Some(0.25) };
        assert_eq!(given, [None, None, None, Some(three), Some(four), None, None, None]);
        assert_eq!(read("0 40KB 30KB").unwrap()[0], Some(Thresholds { xon: bytes(30), ..three }));
    }

    #[test]
    fn priorities_rise_and_xon_is_at_most_xoff() {
        for wrong in [
            "",
            "3",
            "8 40KB",
            "x 40KB",
            "3 40",
            "3 40KB 41KB",
            "3 40KB auto auto 0",
            "3 40KB auto auto none 1",
            "4 40KB; 3 40KB",
            "3 40KB; 3 40KB",
            "3 40KB;",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
