//! Formats: what a value may look like in a scenario file.

use shortflow_cc::settings::nearest;
use shortflow_units::{Bytes, Occupancy, Rate, Span, UnitError};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::str::FromStr;
use toml::Value;

/// How the value of a key is written. Inclusive ranges are formats too: of whole numbers, of real
/// numbers, of times and of sizes.
pub trait Format {
    /// What it is read into.
    type Value;
    /// The value, if `value` has this format.
    fn read(&self, value: &Value) -> Option<Self::Value>;
    /// The format in words, to follow "is not" or "expected".
    fn expected(&self) -> String;
    /// The same, knowing the value that does not have it.
    fn expected_instead_of(&self, _value: &Value) -> String {
        self.expected()
    }
}

/// Any time that a run may contain, zero included.
pub const ANY_TIME: RangeInclusive<Span> = Span::ZERO..=LONGEST;
/// A time that passes.
pub const POSITIVE_TIME: RangeInclusive<Span> = Span::from_ps(1)..=LONGEST;
/// Between a byte and a petabyte.
pub const ANY_SIZE: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1_000_000_000_000_000);
/// Duration and drain together stay within the 20 hours of the event queue's clock.
const LONGEST: Span = Span::from_millis(30_000_000);

macro_rules! whole_number {
    ($($type:ty),+) => {$(
        impl Format for RangeInclusive<$type> {
            type Value = $type;
            fn read(&self, value: &Value) -> Option<$type> {
                let number = value.as_integer()?;
                <$type>::try_from(number).ok().filter(|number| self.contains(number))
            }
            fn expected(&self) -> String {
                format!("a whole number from {} to {}", self.start(), self.end())
            }
        }
    )+};
}
whole_number!(u32, u64);

impl Format for RangeInclusive<f64> {
    type Value = f64;
    fn read(&self, value: &Value) -> Option<f64> {
        real(value).filter(|number| self.contains(number))
    }
    fn expected(&self) -> String {
        format!("a number from {} to {}", self.start(), self.end())
    }
}

macro_rules! bounded_quantity {
    ($($type:ty),+) => {$(
        impl Format for RangeInclusive<$type> {
            type Value = $type;
            fn read(&self, value: &Value) -> Option<$type> {
                Quantity::<$type>::NEW.read(value).filter(|quantity| self.contains(quantity))
            }
            fn expected(&self) -> String {
                format!("{}, from {} to {}", Quantity::<$type>::NEW.expected(), self.start(), self.end())
            }
        }
    )+};
}
bounded_quantity!(Span, Bytes);

/// Anything that the units crate reads from text.
pub struct Quantity<T>(PhantomData<T>);

impl<T> Quantity<T> {
    /// The format.
    pub const NEW: Self = Quantity(PhantomData);
}

impl<T: FromStr<Err = UnitError>> Format for Quantity<T> {
    type Value = T;
    fn read(&self, value: &Value) -> Option<T> {
        value.as_str()?.parse().ok()
    }
    fn expected(&self) -> String {
        "".parse::<T>().err().map_or_else(String::new, |error| error.expected.to_owned())
    }
}

/// A number above zero and not above this one.
pub struct Positive(pub f64);

impl Format for Positive {
    type Value = f64;
    fn read(&self, value: &Value) -> Option<f64> {
        real(value).filter(|number| *number > 0.0 && *number <= self.0)
    }
    fn expected(&self) -> String {
        format!("a number above 0 and at most {}", self.0)
    }
}

/// `true` or `false`.
pub struct Flag;

impl Format for Flag {
    type Value = bool;
    fn read(&self, value: &Value) -> Option<bool> {
        value.as_bool()
    }
    fn expected(&self) -> String {
        "true or false".to_owned()
    }
}

/// Text that is not empty.
pub struct Text(pub &'static str);

impl Format for Text {
    type Value = String;
    fn read(&self, value: &Value) -> Option<String> {
        value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    }
    fn expected(&self) -> String {
        self.0.to_owned()
    }
}

/// How fast.
pub const RATE: Quantity<Rate> = Quantity::NEW;
/// How full a queue may be.
pub const OCCUPANCY: Quantity<Occupancy> = Quantity::NEW;

/// A name that may become part of a metric's name.
pub struct Name;

impl Name {
    /// Whether `text` is such a name.
    pub fn fits(text: &str) -> bool {
        let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(part)
    }
}

impl Format for Name {
    type Value = String;
    fn read(&self, value: &Value) -> Option<String> {
        value.as_str().filter(|text| Name::fits(text)).map(str::to_owned)
    }
    fn expected(&self) -> String {
        "a name of lower-case letters, digits, \"-\" and \"_\", such as \"short\"".to_owned()
    }
}

/// One of several words, each with its meaning.
pub struct Choice<'a, T>(pub &'a [(&'a str, T)]);

impl<T: Copy> Choice<'_, T> {
    fn words(&self) -> Vec<&str> {
        self.0.iter().map(|(word, _)| *word).collect()
    }
}

impl<T: Copy> Format for Choice<'_, T> {
    type Value = T;
    fn read(&self, value: &Value) -> Option<T> {
        let text = value.as_str()?;
        self.0.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning)
    }
    fn expected(&self) -> String {
        format!("one of {}", self.words().join(", "))
    }
    fn expected_instead_of(&self, value: &Value) -> String {
        match value.as_str().and_then(|text| nearest(text, &self.words())) {
            Some(word) => format!("{}; did you mean {word:?}?", self.expected()),
            None => self.expected(),
        }
    }
}

/// A word that stands for no value, or another format.
pub struct Unless<F>(pub &'static str, pub F);

impl<F: Format> Format for Unless<F> {
    type Value = Option<F::Value>;
    fn read(&self, value: &Value) -> Option<Option<F::Value>> {
        if value.as_str() == Some(self.0) {
            return Some(None);
        }
        self.1.read(value).map(Some)
    }
    fn expected(&self) -> String {
        format!("{:?} or {}", self.0, self.1.expected())
    }
}

/// A list of values of one format.
pub struct ListOf<F>(pub F, pub &'static str);

impl<F: Format> Format for ListOf<F> {
    type Value = Vec<F::Value>;
    fn read(&self, value: &Value) -> Option<Vec<F::Value>> {
        value.as_array()?.iter().map(|item| self.0.read(item)).collect()
    }
    fn expected(&self) -> String {
        self.1.to_owned()
    }
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::String(text.to_owned())
    }

    #[test]
    fn numbers_keep_to_their_range() {
        assert_eq!((1..=20u32).read(&Value::Integer(20)), Some(20));
        for wrong in [Value::Integer(21), Value::Integer(-1), Value::Float(2.0), text("3")] {
            assert_eq!((1..=20u32).read(&wrong), None, "{wrong}");
        }
        assert_eq!((0.0..=1.0).read(&Value::Integer(1)), Some(1.0));
        assert_eq!((0.0..=1.0).read(&Value::Float(f64::NAN)), None);
        assert_eq!(Positive(10.0).read(&Value::Float(0.0)), None);
        assert_eq!(Positive(10.0).read(&Value::Float(f64::INFINITY)), None);
    }

    #[test]
    fn quantities_need_their_unit() {
        assert_eq!(POSITIVE_TIME.read(&text("300us")), Some(Span::from_micros(300)));
        assert_eq!(POSITIVE_TIME.read(&text("0s")), None);
        assert_eq!(ANY_TIME.read(&text("0s")), Some(Span::ZERO));
        assert_eq!(RATE.read(&Value::Integer(5)), None);
        assert!(RATE.expected().contains("1Gbps"));
        assert!(ANY_SIZE.expected().contains("98KB") && ANY_SIZE.expected().contains("from 1B"));
        assert_eq!(OCCUPANCY.read(&text("9pkt")), Some(Occupancy::Packets(9)));
    }

    #[test]
    fn words_and_lists() {
        let format = Unless("auto", POSITIVE_TIME);
        assert_eq!(format.read(&text("auto")), Some(None));
        assert_eq!(format.read(&text("1s")), Some(Some(Span::from_millis(1000))));
        assert_eq!(format.read(&text("soon")), None);
        assert!(format.expected().starts_with("\"auto\" or a time"));
        let list = ListOf(1..=9u64, "a list of numbers");
        assert_eq!(list.read(&Value::Array(vec![Value::Integer(3)])), Some(vec![3]));
        assert_eq!(list.read(&Value::Array(vec![Value::Integer(0)])), None);
    }

    #[test]
    fn one_of_several_words_suggests_the_nearest() {
        let format = Choice(&[("star", 1), ("dumbbell", 2)]);
        assert_eq!(format.read(&text("dumbbell")), Some(2));
        assert_eq!(
            format.expected_instead_of(&text("dumbell")),
            "one of star, dumbbell; did you mean \"dumbbell\"?"
        );
        assert_eq!(format.expected_instead_of(&Value::Integer(1)), "one of star, dumbbell");
    }

    #[test]
    fn names_are_fit_for_metrics() {
        assert!(Name::fits("short") && Name::fits("web_search-2"));
        for wrong in ["", "Short", "2nd", "a b", "a,b"] {
            assert!(!Name::fits(wrong), "{wrong:?}");
        }
    }
}
