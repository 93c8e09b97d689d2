//! Formats of values.

use crate::shape::{Shape, Unit};
use crate::text::Text;
use shortflow_units::{Bytes, Occupancy, Rate, Span, UnitError};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::str::FromStr;
use toml::Value;

/// The form of a key's value. Inclusive ranges of whole numbers, real numbers, times and sizes are formats too.
pub trait Format {
    /// Type of the value.
    type Value;
    /// Reads `value`; `None` if it does not have this format.
    fn read(&self, value: &Value) -> Option<Self::Value>;
    /// Shape of accepted values.
    fn shape(&self) -> Shape;
}

/// Any duration within a run, zero included.
pub const ANY_TIME: RangeInclusive<Span> = Span::ZERO..=LONGEST;
/// A duration above zero.
pub const POSITIVE_TIME: RangeInclusive<Span> = Span::from_ps(1)..=LONGEST;
/// A size from one byte to one petabyte.
pub const ANY_SIZE: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1_000_000_000_000_000);
/// A rate above zero.
pub const RATE: Quantity<Rate> = Quantity(PhantomData);
/// A queue size in packets or bytes, or unlimited.
pub const OCCUPANCY: Quantity<Occupancy> = Quantity(PhantomData);
/// Longest accepted time: `duration` and `drain` together stay within the 20 hours of the event queue's clock.
const LONGEST: Span = Span::from_millis(30_000_000);

macro_rules! whole_number {
    ($($type:ty),+) => {$(
        impl Format for RangeInclusive<$type> {
            type Value = $type;
            fn read(&self, value: &Value) -> Option<$type> {
                let number = value.as_integer()?;
                <$type>::try_from(number).ok().filter(|number| self.contains(number))
            }
            fn shape(&self) -> Shape {
                Shape::Whole { low: (*self.start()).into(), high: (*self.end()).into(), step: 1 }
            }
        }
    )+};
}
whole_number!(u32, u64);

/// An even number within limits.
pub struct Even(pub RangeInclusive<u32>);

impl Format for Even {
    type Value = u32;
    fn read(&self, value: &Value) -> Option<u32> {
        self.0.read(value).filter(|number| number % 2 == 0)
    }
    fn shape(&self) -> Shape {
        Shape::Whole { low: (*self.0.start()).into(), high: (*self.0.end()).into(), step: 2 }
    }
}

impl Format for RangeInclusive<f64> {
    type Value = f64;
    fn read(&self, value: &Value) -> Option<f64> {
        real(value).filter(|number| self.contains(number))
    }
    fn shape(&self) -> Shape {
        Shape::Real { low: *self.start(), high: *self.end(), above: false }
    }
}

/// A number above zero, up to and including this limit.
pub struct Positive(pub f64);

impl Format for Positive {
    type Value = f64;
    fn read(&self, value: &Value) -> Option<f64> {
        real(value).filter(|number| *number > 0.0 && *number <= self.0)
    }
    fn shape(&self) -> Shape {
        Shape::Real { low: 0.0, high: self.0, above: true }
    }
}

/// A type of the units crate that has a text form.
pub trait Measured: FromStr<Err = UnitError> {
    /// Unit of the quantity.
    const UNIT: Unit;
}

impl Measured for Span {
    const UNIT: Unit = Unit::Time;
}
impl Measured for Bytes {
    const UNIT: Unit = Unit::Size;
}
impl Measured for Rate {
    const UNIT: Unit = Unit::Rate;
}
impl Measured for Occupancy {
    const UNIT: Unit = Unit::Queue;
}

/// A number with a unit, without limits.
pub struct Quantity<T>(PhantomData<T>);

impl<T: Measured> Format for Quantity<T> {
    type Value = T;
    fn read(&self, value: &Value) -> Option<T> {
        value.as_str()?.parse().ok()
    }
    fn shape(&self) -> Shape {
        Shape::Quantity { unit: T::UNIT, low: None, high: None }
    }
}

macro_rules! bounded_quantity {
    ($($type:ty),+) => {$(
        impl Format for RangeInclusive<$type> {
            type Value = $type;
            fn read(&self, value: &Value) -> Option<$type> {
                value.as_str()?.parse().ok().filter(|quantity| self.contains(quantity))
            }
            fn shape(&self) -> Shape {
                let high = (*self.end() < <$type>::MAX).then(|| self.end().to_string());
                Shape::Quantity { unit: <$type>::UNIT, low: Some(self.start().to_string()), high }
            }
        }
    )+};
}
bounded_quantity!(Span, Bytes);

/// `true` or `false`.
pub struct Flag;

impl Format for Flag {
    type Value = bool;
    fn read(&self, value: &Value) -> Option<bool> {
        value.as_bool()
    }
    fn shape(&self) -> Shape {
        Shape::Flag
    }
}

impl Format for Text {
    type Value = String;
    fn read(&self, value: &Value) -> Option<String> {
        value.as_str().filter(|text| self.fits(text)).map(str::to_owned)
    }
    fn shape(&self) -> Shape {
        Shape::Text(*self)
    }
}

/// One of several words, each with its meaning.
pub struct OneOf<'a, T>(pub &'a [(&'static str, T)]);

impl<T: Copy> Format for OneOf<'_, T> {
    type Value = T;
    fn read(&self, value: &Value) -> Option<T> {
        let text = value.as_str()?;
        self.0.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning)
    }
    fn shape(&self) -> Shape {
        Shape::Words(self.0.iter().map(|(word, _)| *word).collect())
    }
}

/// A keyword that stands for no value, or another format.
pub struct KeywordOr<F>(pub &'static str, pub F);

impl<F: Format> Format for KeywordOr<F> {
    type Value = Option<F::Value>;
    fn read(&self, value: &Value) -> Option<Option<F::Value>> {
        if value.as_str() == Some(self.0) {
            return Some(None);
        }
        self.1.read(value).map(Some)
    }
    fn shape(&self) -> Shape {
        Shape::KeywordOr(self.0, Box::new(self.1.shape()))
    }
}

/// A list of values of one format, and its description.
pub struct ListOf<F>(pub F, pub &'static str);

impl<F: Format> Format for ListOf<F> {
    type Value = Vec<F::Value>;
    fn read(&self, value: &Value) -> Option<Vec<F::Value>> {
        value.as_array()?.iter().map(|item| self.0.read(item)).collect()
    }
    fn shape(&self) -> Shape {
        Shape::List(Box::new(self.0.shape()), self.1)
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
    use crate::error::ConfigError;

    fn text(text: &str) -> Value {
        Value::String(text.to_owned())
    }

    fn expected(format: &impl Format) -> String {
        format.shape().to_string()
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
        assert_eq!(
            [3, 4, 74].map(|number| Even(2..=72).read(&Value::Integer(number))),
            [None, Some(4), None]
        );
    }

    #[test]
    fn quantities_need_their_unit() {
        assert_eq!(POSITIVE_TIME.read(&text("300us")), Some(Span::from_micros(300)));
        assert_eq!(POSITIVE_TIME.read(&text("0s")), None);
        assert_eq!(ANY_TIME.read(&text("0s")), Some(Span::ZERO));
        assert_eq!(RATE.read(&Value::Integer(5)), None);
        assert_eq!(OCCUPANCY.read(&text("9pkt")), Some(Occupancy::Packets(9)));
    }

    #[test]
    fn errors_name_the_limits() {
        assert_eq!(expected(&(0.5..=2.0)), "a number from 0.5 to 2");
        assert_eq!(expected(&(1..=8u32)), "a whole number from 1 to 8");
        assert_eq!(expected(&Even(2..=72)), "an even number from 2 to 72");
        assert!(expected(&RATE).contains("1Gbps"));
        assert!(
            expected(&ANY_SIZE).contains("98KB") && expected(&ANY_SIZE).ends_with(", from 1B to 1000000GB")
        );
        assert!(expected(&(Bytes::ZERO..=Bytes::MAX)).ends_with(", from 0B on"));
    }

    #[test]
    fn words_and_lists() {
        let format = KeywordOr("auto", POSITIVE_TIME);
        assert_eq!(format.read(&text("auto")), Some(None));
        assert_eq!(format.read(&text("1s")), Some(Some(Span::from_millis(1000))));
        assert_eq!(format.read(&text("soon")), None);
        assert!(expected(&format).starts_with("\"auto\" or a time"));
        let list = ListOf(1..=9u64, "a list of numbers");
        assert_eq!(list.read(&Value::Array(vec![Value::Integer(3)])), Some(vec![3]));
        assert_eq!(list.read(&Value::Array(vec![Value::Integer(0)])), None);
    }

    #[test]
    fn one_of_several_words_suggests_the_nearest() {
        let format = OneOf(&[("star", 1), ("dumbbell", 2)]);
        assert_eq!(format.read(&text("dumbbell")), Some(2));
        let instead_of = |value| format.shape().expected_instead_of(&value);
        assert_eq!(instead_of(text("dumbell")), "one of star, dumbbell; did you mean \"dumbbell\"?");
        assert_eq!(instead_of(Value::Integer(1)), "one of star, dumbbell");
    }

    #[test]
    fn a_unit_in_other_letters_or_cut_suggests_the_nearest() {
        let meant = |format: Shape, value: &str| {
            let expected = format.expected_instead_of(&text(value));
            expected.split_once("; did you mean ").map(|(_, meant)| meant.to_owned())
        };
        assert_eq!(meant(RATE.shape(), "1G").as_deref(), Some("\"1Gbps\"?"));
        assert_eq!(meant(RATE.shape(), "1 Gb/s").as_deref(), Some("\"1Gbps\"?"));
        assert_eq!(meant(KeywordOr("auto", OCCUPANCY).shape(), "30kb").as_deref(), Some("\"30KB\"?"));
        assert_eq!(meant(OCCUPANCY.shape(), "5p").as_deref(), Some("\"5pkt\"?"));
        assert_eq!(meant(ANY_TIME.shape(), "300µs").as_deref(), Some("\"300us\"?"));
        for unclear in ["5m", "5", "s", "1.5"] {
            assert_eq!(meant(ANY_TIME.shape(), unclear), None, "{unclear}");
        }
    }

    #[test]
    fn an_error_on_a_number_with_a_unit_explains_the_number() {
        let told = |shape: Shape, value: &str| {
            let error = ConfigError::Value {
                key: "max".to_owned(),
                value: value.to_owned(),
                expected: shape.to_string(),
            };
            shape.explain(error, " in multiples of the minimum; acts only if min > 0").to_string()
        };
        let meaning = "max: \"90KB\" is not a number from 1 to 9: in multiples of the minimum";
        assert_eq!(told((1.0..=9.0).shape(), "\"90KB\""), meaning);
        assert_eq!(told((1.0..=9.0).shape(), "90"), "max: 90 is not a number from 1 to 9");
    }
}
