//! Inputs in great number, without an engine and at the full speed of plain code: drawn ones for targets
//! that draw, altered ones of a corpus for the others.
//!
//! `random_campaign TARGET ACCEPTED SEED CRASHES` goes on until so many inputs have been accepted.

use shortflow_fuzz::{Alterations, Tally, Target};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Inputs between two lines of counts.
const REPORT_EVERY: u64 = 100_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, accepted, seed, crashes] = arguments.as_slice() else {
        return refuse("usage: random_campaign TARGET ACCEPTED SEED CRASHES");
    };
    let Some(target) = Target::named(target) else {
        return refuse(&format!("{target:?} is not one of {}", Target::names().join(", ")));
    };
    let (Ok(wanted), Ok(seed)) = (accepted.parse(), seed.parse()) else {
        return refuse(&format!("ACCEPTED and SEED are whole numbers, not {accepted:?} and {seed:?}"));
    };
    let read = |paths: Vec<PathBuf>| paths.iter().map(std::fs::read).collect();
    let inputs = match target.corpus().and_then(read) {
        Ok(inputs) => inputs,
        Err(error) => return refuse(&error.to_string()),
    };
    random_campaign(target, wanted, &mut Alterations::new(seed, inputs, target.drawn), Path::new(crashes))
}

fn random_campaign(target: &Target, wanted: u64, inputs: &mut Alterations, crashes: &Path) -> ExitCode {
    let (mut tally, mut failures) = (Tally::default(), 0u64);
    while tally.accepted() < wanted {
        let input = inputs.next();
        match panic::catch_unwind(AssertUnwindSafe(|| (target.judge)(&input))) {
            Ok(verdict) => tally.count(verdict),
            Err(_) => {
                failures += 1;
                let file = crashes.join(format!("{}-{}-{failures}", target.name, tally.inputs()));
                match std::fs::write(&file, &input) {
                    Ok(()) => println!("crash: {}", file.display()),
                    Err(error) => println!("crash, and {}: {error}", file.display()),
                }
            }
        }
        if tally.inputs() % REPORT_EVERY == 0 {
            println!("{}: {tally}; {failures} crashes", target.name);
        }
    }
    println!("{}: {tally}; {failures} crashes", target.name);
    ExitCode::from(u8::from(failures > 0))
}

fn refuse(reason: &str) -> ExitCode {
    eprintln!("{reason}");
    ExitCode::from(2)
}
