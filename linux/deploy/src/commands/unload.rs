//! `unload`: removes congestion controls and their settings.

use super::{offers, status};
use crate::programs::{self, Moved, Pins};
use crate::warning::warn;
use crate::{Failure, laws};

#[derive(clap::Args)]
pub struct Args {
    /// Congestion controls (default: all).
    #[arg(value_name = "NAME", value_parser = offers::CONTROLS)]
    names: Vec<String>,
    /// Also give open connections and listeners of these controls the default of their network namespace.
    #[arg(long)]
    live: bool,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
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
        return leave_sockets(&args, &asked);
    };
    let leaving: Vec<String> =
        loaded.into_iter().filter(|name| asked.is_empty() || asked.contains(name)).collect();
    let restored = programs::restore_defaults(&pins, |name| leaving.iter().any(|other| other == name))?;
    restored.warnings.iter().for_each(warn);
    for default in restored.defaults {
        println!("{default}");
    }
    // The kernel may refuse the program that reads connections. Loaded programs can be removed all the same.
    let connections = programs::connections().ok().flatten().unwrap_or_default();
    let is_leaving = |name: Option<&str>| name.is_some_and(|name| leaving.iter().any(|other| other == name));
    // Routes are removed first: without its control, a route does not show whose it was.
    let (routes, warnings) = programs::remove_routes(is_leaving)?;
    warnings.iter().for_each(warn);
    for route in routes {
        println!("{route}: removed");
    }
    for name in &leaving {
        if programs::has_segments(&programs::loaded_text(&pins, name)?) {
            programs::remove_segments(&pins)?.iter().for_each(warn);
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
    pins.sweep()?;
    leave_sockets(&args, &asked)
}

/// Moves the sockets of unloaded controls, or warns about listeners that keep one.
fn leave_sockets(args: &Args, asked: &[String]) -> Result<(), Failure> {
    if !args.live {
        let kept = programs::listeners_of_ours()?.unwrap_or_default();
        let registered = programs::registered()?;
        for listener in kept.iter().filter(|(listener, _)| !registered.contains(&listener.name)) {
            let words = status::in_words(listener);
            warn(&format_args!("a listener keeps {words}; restart it, or use `unload --live`"));
        }
        return Ok(());
    }
    let names: Vec<Option<&str>> =
        if asked.is_empty() { vec![None] } else { asked.iter().map(|name| Some(&**name)).collect() };
    for name in names {
        let (Moved { connections, listeners, refused }, warnings) = programs::move_sockets(name)?;
        warnings.iter().for_each(warn);
        let name = name.unwrap_or("sf_*");
        println!(
            "{name}: moved to the default of their network namespace: connections {connections}, listeners {listeners}"
        );
        if refused > 0 {
            warn(&format_args!("{name}: the kernel refused to move sockets: {refused}"));
        }
    }
    Ok(())
}
