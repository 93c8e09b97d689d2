//! `unload`: removes congestion controls and their traces.

use super::offers;
use crate::programs::{self, Pins};
use crate::{Failure, laws};

#[derive(clap::Args)]
pub struct Args {
    /// Congestion controls (default: all).
    #[arg(value_name = "NAME", value_parser = offers::CONTROLS)]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<(), Failure> {
    let mut asked = Vec::new();
    for name in &args.names {
        asked.push(format!("sf_{}", laws::transport_named(name)?));
    }
    let pins = Pins::open()?;
    let loaded = pins.as_ref().map(Pins::loaded).transpose()?.unwrap_or_default();
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
    let restored = programs::restore_defaults(&pins, |name| leaving.iter().any(|other| other == name))?;
    for warning in restored.warnings {
        eprintln!("warning: {warning}");
    }
    for default in restored.defaults {
        println!("{default}");
    }
    // The kernel may refuse the program that looks; loaded programs can go all the same.
    let connections = programs::connections().ok().flatten().unwrap_or_default();
    for name in &leaving {
        if programs::has_segments(&programs::loaded_text(&pins, name)?) {
            for warning in programs::remove_segments(&pins)? {
                eprintln!("warning: {warning}");
            }
        }
        pins.unregister(name)?;
        let kept = match connections.iter().filter(|connection| connection.name == *name).count() {
            0 => String::new(),
            1 => "; 1 connection keeps it until it ends".to_owned(),
            count => format!("; {count} connections keep it until they end"),
        };
        println!("{name}: unloaded{kept}");
    }
    if pins.loaded()?.is_empty() {
        for (port, _) in programs::ports(&pins)? {
            println!("port {port}: no class");
        }
        if pins.names().iter().any(|name| name.starts_with("setsockopt_")) {
            println!("setsockopt: disabled");
        }
        for marking in programs::end_dscp_marking_everywhere()? {
            println!("{marking}: no longer marks DSCP");
        }
    }
    pins.sweep()
}
