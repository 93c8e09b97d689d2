//! `load`: registers congestion controls with the kernel.

use super::status::of_before;
use super::{Failure, offers};
use clap::ValueHint;
use clap::builder::TypedValueParser;
use shortflow_cc::TransportConfig;
use shortflow_linux::check::{self, Finding};
use shortflow_linux::programs::{self, Pins, Prepared, Segments};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// Which; also without sf_.
    #[arg(required = true, value_name = "NAME", value_parser = offers::CONTROLS)]
    names: Vec<String>,
    /// Set a parameter of all of them; `shortflow list transports` has the names.
    #[arg(long = "param", value_name = "KEY=VALUE", hide_possible_values = true)]
    #[arg(value_parser = offers::PARAMETERS.try_map(|text| key_value(&text)))]
    params: Vec<(String, String)>,
    /// Make the last one the default of this network namespace.
    #[arg(long)]
    default: bool,
    /// Let the applications of this cgroup state deadlines, sizes and classes by setsockopt(2).
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath)]
    cgroup: Option<PathBuf>,
    /// Let sf_fast send smaller segments by this device, with rules and routes for each size.
    #[arg(long, value_name = "DEVICE")]
    segments: Option<String>,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, for example g=0.0625")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

pub fn run(args: Args) -> Result<(), Failure> {
    let mut configs = Vec::new();
    for name in &args.names {
        configs.push(programs::configure(programs::transport_named(name)?, &args.params)?);
    }
    if let Some(cgroup) = &args.cgroup {
        programs::check_cgroup(cgroup)?;
    }
    let fast = configs.iter().find(|config| config.info().name == "fast").or(configs.first());
    let segments = args.segments.as_deref().zip(fast);
    let segments = segments.map(|(device, config)| Segments::of(device, config)).transpose()?;
    let missing: Vec<String> =
        check::findings().iter().filter(|finding| !finding.is_enough()).map(Finding::to_string).collect();
    if !missing.is_empty() {
        return Err(Failure::Host(missing.join("\n")));
    }
    let pins = Pins::create()?;
    let mut fresh = Vec::new();
    let loaded = load(&args, &configs, segments.as_ref(), &pins, &mut fresh);
    if loaded.is_err() {
        if segments.is_some() {
            programs::remove_segments()?;
        }
        for name in &fresh {
            pins.unregister(name)?;
        }
        pins.sweep()?;
    }
    loaded
}

/// Nothing is registered before the verifier has accepted everything. `fresh` gets the names of what was.
fn load(
    args: &Args,
    configs: &[TransportConfig],
    segments: Option<&Segments>,
    pins: &Pins,
    fresh: &mut Vec<String>,
) -> Result<(), Failure> {
    let segments_of = |config: &TransportConfig| segments.filter(|_| config.info().name == "fast");
    let prepared: Vec<Prepared> = configs
        .iter()
        .map(|config| Prepared::new(config, segments_of(config), pins))
        .collect::<Result<_, _>>()?;
    let already = pins.loaded();
    let mut last = String::new();
    for program in prepared {
        let (name, text) = (program.name().to_owned(), program.text().to_owned());
        let verb = match already.contains(&name).then(|| programs::loaded_text(pins, &name)).transpose()? {
            Some(before) if before == text => "already loaded",
            Some(before) => {
                if programs::has_segments(&before) {
                    programs::remove_segments()?;
                }
                pins.unregister(&name)?;
                program.register(pins)?;
                "replaced, for new connections"
            }
            None => {
                program.register(pins)?;
                fresh.push(name.clone());
                "loaded"
            }
        };
        if verb != "already loaded" {
            programs::renew_default(&name)?;
        }
        println!("{name}: {verb}: {text}");
        last = name;
    }
    if let Some(segments) = segments {
        segments.install()?;
    }
    if let Some(cgroup) = &args.cgroup {
        let verb =
            if programs::attach_setsockopt(pins, cgroup)? { "listens to" } else { "already listens to" };
        println!("setsockopt: {verb} the applications of {}", cgroup.display());
    }
    if args.default {
        programs::make_default(pins, &last)?;
        println!("{last}: default of this network namespace");
        let listeners = programs::other_listeners()?;
        if !listeners.is_empty() {
            eprintln!("warning: {}", of_before(&listeners));
        }
    }
    Ok(())
}
