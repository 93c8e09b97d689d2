//! Values that shell completions offer.

use crate::laws;
use crate::programs::{self, By};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use std::ffi::OsStr;

/// A parser that offers these values and accepts any text. Unknown values are refused later, with a hint at similar
/// ones.
#[derive(Clone)]
pub(super) struct Offers(fn() -> Vec<String>);

impl TypedValueParser for Offers {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// Names of congestion controls.
pub(super) const CONTROLS: Offers = Offers(|| laws::kernel_names().to_vec());
/// Parameters of congestion controls, each with an equals sign.
pub(super) const PARAMETERS: Offers = Offers(programs::parameter_names);
/// Rules of `dscp`.
pub(super) const RULES: Offers = Offers(|| {
    let words = By::WORDS.0.iter().map(|(word, _)| *word);
    words.chain(["none"]).map(str::to_owned).collect()
});
