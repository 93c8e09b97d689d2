//! Arithmetic over parameters: `"$total / $servers"` may stand wherever `"$servers"` may.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = operand { ("*" | "/") operand }
//! operand = "$" name | number [unit] | "(" sum ")" | "-" operand
//! ```
//!
//! Numbers are exact fractions in base units (ps, bits, packets), so the order of operations does not change the
//! result. Units are checked: times add to times and sizes to sizes, and a size divided by a time is a rate.

use crate::hint::hint;
use shortflow_units::{Bytes, Occupancy, Rate, Span};
use std::ops::Range;
use toml::{Table, Value};

/// True if `text` begins like an expression and contains the name of a parameter. A title such as "$5 switches" is
/// not an expression.
pub(crate) fn is_expression(text: &str) -> bool {
    text.trim_start().starts_with(|c: char| "$(-".contains(c) || c.is_ascii_digit())
        && names(text).next().is_some()
}

/// Name of the parameter, if `text` is only `$` and a name.
pub(crate) fn referred(text: &str) -> Option<&str> {
    text.strip_prefix('$').filter(|name| is_name(name))
}

/// True if `text` is a valid name of a parameter.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}

/// Names of the parameters in `text`.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).map(|after| &after[..name_length(after)]).filter(|name| !name.is_empty())
}

/// Length of the parameter's name at the beginning of `text`: letters, digits and `_`, with a letter first.
fn name_length(text: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => text.find(|c: char| !is_part(c)).unwrap_or(text.len()),
        false => 0,
    }
}

/// Evaluates an expression. Also returns the unit to which the value was rounded, if it was.
pub(crate) fn evaluate(text: &str, parameters: &Table) -> Result<(Value, Option<&'static str>), String> {
    if let Some(name) = referred(text) {
        return Ok((lookup(name, parameters)?.clone(), None));
    }
    let mut parser = Parser { text, at: 0, depth: 0, parameters };
    let amount = parser.sum()?;
    match parser.peek() {
        None => amount.value(),
        Some(_) => Err(parser.expected("an operator: +, -, * or /")),
    }
}

fn lookup<'t>(name: &str, parameters: &'t Table) -> Result<&'t Value, String> {
    let known = || parameters.keys().map(String::as_str).collect::<Vec<_>>();
    parameters.get(name).ok_or_else(|| format!("there is no parameter {name:?}; {}", hint(name, &known())))
}

/// Largest nesting depth of parentheses and signs.
const DEPTH: u32 = 64;

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
    parameters: &'t Table,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    /// Consumes the next character if it is one of `operators`.
    fn operator(&mut self, operators: [char; 2]) -> Option<char> {
        let found = self.peek().filter(|next| operators.contains(next))?;
        self.at += found.len_utf8();
        Some(found)
    }

    /// Consumes the next `length` bytes.
    fn take(&mut self, length: usize) -> Range<usize> {
        self.at += length;
        self.at - length..self.at
    }

    fn expected(&self, what: &str) -> String {
        let rest = &self.text[self.at..];
        format!(
            "expected {what} {}",
            if rest.is_empty() { "at the end of the expression".into() } else { format!("at {rest:?}") }
        )
    }

    fn sum(&mut self) -> Result<Amount, String> {
        let mut sum = self.product()?;
        while let Some(sign) = self.operator(['+', '-']) {
            let other = self.product()?;
            sum = if sign == '+' { sum.plus(other)? } else { sum.plus(other.negated())? };
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<Amount, String> {
        let mut product = self.operand()?;
        while let Some(sign) = self.operator(['*', '/']) {
            let other = self.operand()?;
            product = if sign == '*' { product.times(other)? } else { product.times(other.inverse()?)? };
        }
        Ok(product)
    }

    fn operand(&mut self) -> Result<Amount, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("parentheses and signs nest deeper than {DEPTH}"));
        }
        let operand = match self.peek() {
            Some('(') => {
                self.at += 1;
                let sum = self.sum()?;
                self.operator([')', ')']).ok_or_else(|| self.expected("\")\""))?;
                sum
            }
            Some('-') => {
                self.at += 1;
                self.operand()?.negated()
            }
            Some('$') => {
                let length = name_length(&self.text[self.at + 1..]);
                let name = self.take(length + 1);
                let name = &self.text[name.start + 1..name.end];
                Amount::of(lookup(name, self.parameters)?).map_err(|error| format!("${name} = {error}"))?
            }
            Some(first) if first.is_ascii_digit() => {
                let rest = &self.text[self.at..];
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
                let literal = self.take(rest.find(|c: char| !is_part(c)).unwrap_or(rest.len()));
                Amount::parse(&self.text[literal])?
            }
            _ => return Err(self.expected("a number, a parameter or \"(\"")),
        };
        self.depth -= 1;
        Ok(operand)
    }
}

/// A fraction `over / under` of ps^time bits^data packets^packets.
#[derive(Debug, Clone, Copy)]
struct Amount {
    over: i128,
    under: i128,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    time: i8,
    data: i8,
    packets: i8,
}

const NUMBER: Unit = Unit { time: 0, data: 0, packets: 0 };
const TIME: Unit = Unit { time: 1, ..NUMBER };
const SIZE: Unit = Unit { data: 1, ..NUMBER };
const RATE: Unit = Unit { time: -1, data: 1, packets: 0 };
const PACKETS: Unit = Unit { packets: 1, ..NUMBER };

const BITS: i128 = 8;
const SECOND: i128 = 1_000_000_000_000;

fn too_large() -> String {
    "the numbers of the expression are too large".to_owned()
}

impl Unit {
    /// Name of the kind of quantity, for messages.
    fn name(self) -> &'static str {
        match self {
            NUMBER => "a number",
            TIME => "a time",
            SIZE => "a size",
            RATE => "a rate",
            PACKETS => "a number of packets",
            _ => "a quantity of another kind",
        }
    }
}

impl Amount {
    fn new(over: i128, under: i128, unit: Unit) -> Amount {
        let (mut a, mut b) = (over.unsigned_abs(), under.unsigned_abs());
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i128::try_from(a.max(1)).unwrap_or(1);
        Amount { over: over / divisor, under: under / divisor, unit }
    }

    /// Amount of a parameter's value.
    fn of(value: &Value) -> Result<Amount, String> {
        match value {
            Value::Integer(number) => Ok(Amount::new((*number).into(), 1, NUMBER)),
            Value::Float(number) => match number.is_sign_negative() {
                true => Ok(Amount::parse(&format!("{}", -number))?.negated()),
                false => Amount::parse(&format!("{number}")),
            },
            Value::String(text) => Amount::parse(text.trim()),
            other => Err(format!("{other} is not a number or quantity")),
        }
    }

    /// Reads a number with or without a unit.
    fn parse(text: &str) -> Result<Amount, String> {
        if let Ok(time) = text.parse::<Span>() {
            return Ok(Amount::new(time.as_ps().into(), 1, TIME));
        }
        if let Ok(rate) = text.parse::<Rate>() {
            return Ok(Amount::new(rate.as_bps().into(), SECOND, RATE));
        }
        match text.parse() {
            Ok(Occupancy::Packets(packets)) => return Ok(Amount::new(packets.into(), 1, PACKETS)),
            Ok(Occupancy::Bytes(bytes)) => return Ok(Amount::new(i128::from(bytes.get()) * BITS, 1, SIZE)),
            _ => {}
        }
        let digits = text.replace('_', "");
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        let scale = 10i128.checked_pow(fraction.len() as u32);
        let number = format!("{whole}{fraction}").parse::<u64>().ok().filter(|_| !whole.is_empty());
        match (number, scale) {
            (Some(number), Some(scale)) => Ok(Amount::new(number.into(), scale, NUMBER)),
            _ => Err(format!(
                "{text:?} is not a number or quantity such as 3, 0.5, \"98KB\", \"10us\" or \"5pkt\""
            )),
        }
    }

    fn negated(self) -> Amount {
        Amount { over: -self.over, ..self }
    }

    fn plus(self, other: Amount) -> Result<Amount, String> {
        if self.unit != other.unit {
            return Err(format!("cannot add {} and {}", self.unit.name(), other.unit.name()));
        }
        let over = |a: Amount, b: Amount| a.over.checked_mul(b.under);
        let sum = over(self, other).zip(over(other, self)).and_then(|(a, b)| a.checked_add(b));
        let sum = sum.filter(|sum| *sum != i128::MIN);
        let (sum, under) = sum.zip(self.under.checked_mul(other.under)).ok_or_else(too_large)?;
        Ok(Amount::new(sum, under, self.unit))
    }

    fn times(self, other: Amount) -> Result<Amount, String> {
        let over = self.over.checked_mul(other.over).filter(|over| *over != i128::MIN);
        let (over, under) = over.zip(self.under.checked_mul(other.under)).ok_or_else(too_large)?;
        let sum = |a: i8, b: i8| a.checked_add(b).ok_or_else(too_large);
        let (a, b) = (self.unit, other.unit);
        let (time, data, packets) = (sum(a.time, b.time)?, sum(a.data, b.data)?, sum(a.packets, b.packets)?);
        Ok(Amount::new(over, under, Unit { time, data, packets }))
    }

    fn inverse(self) -> Result<Amount, String> {
        if self.over == 0 {
            return Err("the expression divides by zero".to_owned());
        }
        let negated = |power: i8| power.checked_neg().ok_or_else(too_large);
        let Unit { time, data, packets } = self.unit;
        let unit = Unit { time: negated(time)?, data: negated(data)?, packets: negated(packets)? };
        Ok(Amount { over: self.under * self.over.signum(), under: self.over.abs(), unit })
    }

    /// The amount as a value of a scenario, and the unit to which it was rounded, if it was.
    fn value(self) -> Result<(Value, Option<&'static str>), String> {
        let Amount { over, under, unit } = self;
        let whole = |over: Option<i128>, under: Option<i128>, base| {
            let (over, under) = over.zip(under).ok_or_else(too_large)?;
            let number = u64::try_from(over.saturating_add(under / 2).div_euclid(under));
            let number =
                number.map_err(|_| format!("the result, {}, is below zero or too large", unit.name()))?;
            Ok::<_, String>((number, (over % under != 0).then_some(base)))
        };
        let text =
            |(number, rounded), written: &dyn Fn(u64) -> String| (Value::String(written(number)), rounded);
        Ok(match unit {
            NUMBER if under == 1 => match i64::try_from(over) {
                Ok(number) => (Value::Integer(number), None),
                Err(_) => return Err(too_large()),
            },
            NUMBER => (Value::Float(over as f64 / under as f64), None),
            TIME => text(whole(Some(over), Some(under), "whole picoseconds")?, &|ps| {
                Span::from_ps(ps).to_string()
            }),
            SIZE => {
                let bytes = whole(Some(over), under.checked_mul(BITS), "whole bytes")?;
                text(bytes, &|bytes| Bytes::new(bytes).to_string())
            }
            RATE => {
                let rate = whole(over.checked_mul(SECOND), Some(under), "whole bits per second")?;
                text(rate, &|bps| Rate::new(bps).map_or("0bps".to_owned(), |rate| rate.to_string()))
            }
            PACKETS => {
                text(whole(Some(over), Some(under), "whole packets")?, &|packets| format!("{packets}pkt"))
            }
            _ => {
                return Err(
                    "the result is not a number, a time, a size, a rate or a number of packets".to_owned()
                );
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn evaluated(text: &str) -> Result<(Value, Option<&'static str>), String> {
        let parameters =
            "total = '1MB'\nn = 3\nrate = '10Gbps'\nrtt = '80us'\nload = 0.3\nk = '5pkt'\non = true\n";
        evaluate(text, &parameters.parse().unwrap())
    }

    fn value(text: &str) -> String {
        evaluated(text).map_or_else(|error| error, |(value, _)| crate::document::shown(&value))
    }

    #[test]
    fn worked_examples() {
        for (text, expected) in [
            ("$total", "1MB"),
            ("$total / 4", "250KB"),
            ("2 * ($n + 1) - -1", "9"),
            ("8 - $n - 2", "3"),
            ("$n / 2", "1.5"),
            ("0.1 + 0.2 - $load", "0"),
            ("$rate * $rtt", "100KB"), // a BDP: 10 Gbps x 80 us = 800,000 bits
            ("$total / $rate", "800us"),
            ("$total / ($n * 1ms - 1000us)", "4Gbps"),
            ("3 * $k", "15pkt"),
            ("$rate*$rtt/1500B", "66.66666666666667"),
            ("1GiB / 1KiB * $k", "5242880pkt"),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
        assert_eq!(evaluated("$total / $n").unwrap().1, Some("whole bytes"));
        assert_eq!(value("$total / $n"), "333.333KB");
        assert_eq!(evaluated("$total / 2").unwrap().1, None);
    }

    #[test]
    fn errors_name_the_mistake() {
        for (text, expected) in [
            ("$total + $rtt", "cannot add a size and a time"),
            ("$total * $total", "the result is not a number, a time, a size, a rate or a number of packets"),
            ("$total / ($n - 3)", "the expression divides by zero"),
            ("1ms - $rtt * 20", "the result, a time, is below zero or too large"),
            ("$on + 1", "$on = true is not a number or quantity"),
            ("$totl / 2", "there is no parameter \"totl\"; did you mean \"total\"?"),
            ("$n servers", "expected an operator: +, -, * or / at \"servers\""),
            ("2 * ($n", "expected \")\" at the end of the expression"),
            ("$n *", "expected a number, a parameter or \"(\" at the end of the expression"),
            ("$n ^ 2", "expected an operator: +, -, * or / at \"^ 2\""),
            ("$n + é", "expected a number, a parameter or \"(\" at \"é\""),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
        assert!(is_expression("2 * $n") && is_expression(" -$n") && !is_expression("Cost at $load, $5 each"));
        assert!(value("$n * 3zz").contains("\"3zz\" is not a number or quantity"));
        assert!(value(&format!("{}$n", "(".repeat(100_000))).contains("nest deeper"));
        for factors in [" * 9223372036854775807".repeat(9), format!(" * -1{}", " * 2".repeat(130))] {
            assert_eq!(value(&format!("$n{factors}")), "the numbers of the expression are too large");
        }
        assert!(value(&format!("1 / ($n / $n * -1{})", " * 2".repeat(127))).contains("too large"));
    }

    proptest! {
        #[test]
        fn any_text_gives_a_value_or_an_error(text in "[$n0-9.+*/() -]{0,40}|[$a-zé9().]{0,20}") {
            let _ = evaluated(&text);
        }

        #[test]
        fn sums_and_products_are_those_of_whole_numbers(a in -1000i64..1000, b in -1000i64..1000, c in 1i64..1000) {
            let parameters: Table = format!("a = {a}\nb = {b}\nc = {c}").parse().unwrap();
            let value = |text| evaluate(text, &parameters).unwrap().0;
            prop_assert_eq!(value("$a + $b * $c - 7"), Value::Integer(a + b * c - 7));
            prop_assert_eq!(value("($a + $b) * $c / $c"), Value::Integer(a + b));
        }
    }
}
