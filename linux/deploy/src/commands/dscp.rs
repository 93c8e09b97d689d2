//! `dscp`: priorities of packets, for switches that queue by them.

use super::offers;
use crate::Failure;
use crate::programs::{self, By, DscpProgram, Pins};
use clap::builder::TypedValueParser;
use shortflow_spec::Format;

#[derive(clap::Args)]
pub struct Args {
    /// Ethernet device of the outgoing packets.
    device: String,
    /// Source of the priority, or none to stop.
    #[arg(long, value_name = "RULE", value_parser = offers::RULES.try_map(|text| rule(&text)))]
    by: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule(Option<By>);

fn rule(text: &str) -> Result<Rule, String> {
    if text == "none" {
        return Ok(Rule(None));
    }
    By::WORDS
        .read(&text.into())
        .map(|by| Rule(Some(by)))
        .ok_or_else(|| format!("{text:?} is not {}, none", By::WORDS.shape()))
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let Args { device, by: Rule(by) } = args;
    let pins = Pins::open()?;
    match (by, pins) {
        (None, _) => {
            let verb = if programs::end_dscp_marking(&device)? {
                "no longer marks DSCP"
            } else {
                "did not mark DSCP"
            };
            println!("{device}: {verb}");
        }
        (Some(by), Some(pins)) => {
            DscpProgram::load(&pins, programs::Rule::By(by))?.attach(&device)?;
            println!("{device}: marks DSCP by {}", by.word());
        }
        (Some(_), None) => {
            let why = "nothing is loaded; run `load sf_dctcp` first";
            return Err(Failure::Input(why.to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        assert_eq!(rule("deadline"), Ok(Rule(Some(By::Deadline))));
        assert_eq!(rule("none"), Ok(Rule(None)));
        assert!(rule("urgency").unwrap_err().contains("remaining"));
    }
}
