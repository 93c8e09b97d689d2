//! Decimal numbers with a unit, read and written without floats.

use std::fmt;

/// Error for text that is not the expected quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{input:?} is not {expected}")]
pub struct UnitError {
    /// Text as given.
    pub input: String,
    /// Accepted form.
    pub expected: &'static str,
}

impl UnitError {
    pub(crate) fn new(input: &str, expected: &'static str) -> Self {
        UnitError { input: input.to_owned(), expected }
    }
}

/// Reads `digits[.digits]unit`. Other text, values beyond `u64`, and values finer than the base unit are errors.
pub(crate) fn parse(input: &str, units: &[(&str, u64)], expected: &'static str) -> Result<u64, UnitError> {
    let wrong = || UnitError::new(input, expected);
    let text = input.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).ok_or_else(wrong)?;
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let scale = units.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1;
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || fraction.len() > 18 {
        return Err(wrong());
    }
    let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| wrong())?;
    let scaled = digits.checked_mul(u128::from(scale)).ok_or_else(wrong)?;
    let divisor = 10u128.pow(fraction.len() as u32);
    if scaled % divisor != 0 {
        return Err(wrong());
    }
    u64::try_from(scaled / divisor).map_err(|_| wrong())
}

/// Writes `value` exactly, in the largest unit that is not above the value.
pub(crate) fn format(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (name, scale) = units.iter().rev().find(|(_, scale)| *scale <= value.max(1)).unwrap_or(&units[0]);
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return write!(f, "{whole}{name}");
    }
    let decimals = scale.ilog10() as usize;
    let fraction = format!("{rest:0decimals$}");
    write!(f, "{whole}.{}{name}", fraction.trim_end_matches('0'))
}
