//! `laws`: errors of the fixed-point laws against the floating-point laws.

use crate::Failure;
use crate::laws::{self, Comparison};

pub fn run() -> Result<(), Failure> {
    let all = laws::compare().map_err(|error| Failure::Input(error.to_string()))?;
    println!("Fixed point against floating point: largest error per law over the grid.");
    println!(
        "Errors of windows are in segments, and relative to the previous window. Errors of alpha are absolute.\n"
    );
    println!("{}", Comparison::HEADING);
    for comparison in &all {
        println!("{comparison}");
    }
    match all.iter().filter(|comparison| !comparison.holds()).count() {
        0 => Ok(()),
        above => Err(Failure::NotHeld(format!("{above} errors exceed their bounds"))),
    }
}
