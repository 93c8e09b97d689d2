//! `check`: what this host supports.

use super::Failure;
use shortflow_linux::check::{self, Finding};

pub fn run() -> Result<(), Failure> {
    let findings = check::findings();
    for finding in &findings {
        println!("{finding}");
    }
    if findings.iter().all(Finding::is_enough) {
        Ok(())
    } else {
        Err(Failure::Host("something is missing; nothing can be loaded here".to_owned()))
    }
}
