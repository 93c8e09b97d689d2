//! `unload`: removes congestion controls, and what came with them.

use super::{Failure, offers};
use shortflow_linux::programs::{self, Pins};

#[derive(clap::Args)]
pub struct Args {
    /// Which; all of them if none is named.
    #[arg(value_name = "NAME", value_parser = offers::CONTROLS)]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<(), Failure> {
    let mut asked = Vec::new();
    for name in &args.names {
        asked.push(format!("sf_{}", programs::transport_named(name)?));
    }
    let pins = Pins::open()?;
    let loaded = pins.as_ref().map(Pins::loaded).unwrap_or_default();
    for name in asked.iter().filter(|name| !loaded.contains(name)) {
        println!("{name}: not loaded");
    }
    let Some(pins) = pins else {
        if asked.is_empty() {
            println!("nothing is loaded");
        }
        return Ok(());
    };
    let leaving: Vec<String> =
        loaded.into_iter().filter(|name| asked.is_empty() || asked.contains(name)).collect();
    for warning in programs::restore_defaults(&pins, |name| leaving.iter().any(|other| other == name))? {
        eprintln!("warning: {warning}");
    }
    for name in &leaving {
        if programs::has_segments(&programs::loaded_text(&pins, name)?) {
            for warning in programs::remove_segments(&pins)? {
                eprintln!("warning: {warning}");
            }
        }
        pins.unregister(name)?;
        println!("{name}: unloaded");
    }
    if pins.loaded().is_empty() {
        for stamp in programs::unstamp_all()? {
            println!("{stamp}: no longer stamps");
        }
    }
    pins.sweep()
}
