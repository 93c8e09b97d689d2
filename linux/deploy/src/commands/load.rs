//! `load`: registers congestion controls with the kernel.

use super::offers;
use super::status::{listeners_text, other_listeners};
use crate::Failure;
use crate::check::{self, Finding};
use crate::laws;
use crate::programs::{self, NewRoute, Pins, Prefix, Prepared, Segments, Users};
use crate::warning::warn;
use clap::ValueHint;
use clap::builder::TypedValueParser;
use shortflow_cc::TransportConfig;
use shortflow_units::Span;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// Congestion controls, with or without the prefix sf_.
    #[arg(required = true, value_name = "NAME", value_parser = offers::CONTROLS)]
    names: Vec<String>,
    /// Set a parameter of all named controls (`shortflow list transports` has the names).
    #[arg(long = "param", value_name = "KEY=VALUE", hide_possible_values = true)]
    #[arg(value_parser = offers::PARAMETERS.try_map(|text| key_value(&text)))]
    params: Vec<(String, String)>,
    /// Make the last named control the default of this network namespace.
    #[arg(long)]
    default: bool,
    /// Use the last named control for new connections with this address or prefix, including connections that listeners
    /// accept. Copies the host's route. The other end needs the control too. May be repeated.
    #[arg(long = "route", value_name = "PREFIX")]
    routes: Vec<Prefix>,
    /// Smallest retransmission timeout of connections of `--route` (default: the kernel's, 200ms).
    #[arg(long, value_name = "TIME", requires = "routes", value_parser = rto_min)]
    rto_min: Option<Span>,
    /// Refuse the control to users without CAP_NET_ADMIN. Routes still apply the control to every user's connections.
    #[arg(long, conflicts_with = "default")]
    restrict: bool,
    /// Let applications of this cgroup set deadlines, sizes and classes with setsockopt(2). Does not restrict the use of a control.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath)]
    cgroup: Option<PathBuf>,
    /// Let sf_fast send smaller segments on this device. Adds rules and routes for each size.
    #[arg(long, value_name = "DEVICE")]
    segments: Option<String>,
}

/// Splits `KEY=VALUE`.
/// An error names the expected form.
pub fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, for example g=0.0625")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// Reads a smallest timeout, which the kernel counts in milliseconds.
fn rto_min(text: &str) -> Result<Span, String> {
    let least: Span = text.parse().map_err(|error: shortflow_units::UnitError| error.to_string())?;
    let is_whole = least >= MILLISECOND && least.as_ps().is_multiple_of(MILLISECOND.as_ps());
    if is_whole { Ok(least) } else { Err("expected whole milliseconds, for example 5ms".to_owned()) }
}

const MILLISECOND: Span = Span::from_millis(1);

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let mut names = Vec::new();
    for name in &args.names {
        let name = laws::transport_named(name)?;
        names.retain(|other| *other != name);
        names.push(name);
    }
    let configs: Result<Vec<_>, _> =
        names.into_iter().map(|name| programs::configure(name, &args.params)).collect();
    let configs = configs?;
    if let Some(cgroup) = &args.cgroup {
        programs::check_cgroup(cgroup)?;
    }
    let fast = configs.iter().find(|config| config.info().name == "fast").or(configs.first());
    let segments = args.segments.as_deref().zip(fast);
    let segments = segments.map(|(device, config)| Segments::of(device, config)).transpose()?;
    let routes: Result<Vec<_>, _> = args.routes.iter().map(|to| NewRoute::of(*to, args.rto_min)).collect();
    let routes = routes?;
    if args.restrict {
        refuse_default(&configs)?;
    }
    let missing: Vec<String> =
        check::findings().iter().filter(|finding| !finding.is_enough()).map(Finding::to_string).collect();
    if !missing.is_empty() {
        return Err(Failure::Host(missing.join("\n")));
    }
    let pins = Pins::create()?;
    let mut fresh = Vec::new();
    let loaded = load(&args, &configs, segments.as_ref(), &routes, &pins, &mut fresh);
    if loaded.is_err() {
        let is_fresh = |name: Option<&str>| name.is_some_and(|name| fresh.iter().any(|other| other == name));
        let mut undone = vec![programs::remove_routes(is_fresh).map(drop)];
        undone.extend(fresh.iter().map(|name| pins.unregister(name)));
        undone.push(pins.sweep());
        undone.into_iter().filter_map(Result::err).for_each(|failure| warn(&failure));
    }
    loaded
}

/// Loads, installs and registers everything. Registers nothing before the verifier has accepted all programs. `fresh`
/// gets the names of new registrations.
fn load(
    args: &Args,
    configs: &[TransportConfig],
    segments: Option<&Segments>,
    routes: &[NewRoute],
    pins: &Pins,
    fresh: &mut Vec<String>,
) -> Result<(), Failure> {
    let segments_of = |config: &TransportConfig| segments.filter(|_| config.info().name == "fast");
    let users = if args.restrict { Users::Administrators } else { Users::All };
    let prepared: Vec<Prepared> = configs
        .iter()
        .map(|config| Prepared::new(config, segments_of(config), users, pins))
        .collect::<Result<_, _>>()?;
    programs::remember_host_default(pins)?;
    let already = pins.loaded()?;
    let mut last = String::new();
    for program in prepared {
        last = program.name().to_owned();
        let text = program.text().to_owned();
        let verb = register(program, pins, already.contains(&last))?;
        if verb == LOADED {
            fresh.push(last.clone());
        } else {
            // Also needed if nothing changes: a killed command may have replaced the program without renewing the
            // default.
            programs::renew_default(&last)?.iter().for_each(warn);
        }
        println!("{last}: {verb}: {text}");
    }
    if let Some(segments) = segments {
        segments.install(pins)?;
        for route in segments.shared() {
            warn(&format_args!("--segments: whole segments on a route over several devices: {route}"));
        }
    }
    for route in routes {
        route.install(&last)?;
        println!(
            "{last}: new connections to {} use this control; the other end needs the control too",
            route.prefix()
        );
    }
    if let Some(cgroup) = &args.cgroup {
        let verb =
            if programs::attach_setsockopt(pins, cgroup)? { "enabled for" } else { "already enabled for" };
        println!("setsockopt: {verb} applications of {}", cgroup.display());
    }
    if !args.restrict {
        println!(
            "every user of every network namespace may choose loaded controls; `--restrict` permits administrators alone"
        );
    }
    // The last step that can fail, so a default is never undone.
    if args.default { make_default(pins, &last) } else { Ok(()) }
}

/// Makes a control the default of this network namespace, and warns about listeners that keep another control.
fn make_default(pins: &Pins, name: &str) -> Result<(), Failure> {
    let listeners = other_listeners()?;
    programs::make_default(pins, name)?;
    println!("{name}: default of this network namespace");
    if !listeners.is_empty() {
        warn(&listeners_text(&listeners));
    }
    Ok(())
}

/// Fails if one of the controls is the default here, which the kernel permits to every user.
fn refuse_default(configs: &[TransportConfig]) -> Result<(), Failure> {
    let default = programs::default_here();
    if configs.iter().any(|config| programs::kernel_name(config) == default) {
        let why = "is the default of this network namespace, which the kernel permits to every user; unload it first";
        return Err(Failure::Input(format!("--restrict: {default} {why}")));
    }
    Ok(())
}

const LOADED: &str = "loaded";

/// Registers a program, or replaces a loaded one of the same name and other parameters. Returns the action.
fn register(program: Prepared, pins: &Pins, is_loaded: bool) -> Result<&'static str, Failure> {
    if !is_loaded {
        program.register(pins)?;
        return Ok(LOADED);
    }
    let before = programs::loaded_text(pins, program.name())?;
    if before == program.text() {
        return Ok("already loaded");
    }
    if programs::has_segments(&before) {
        programs::remove_segments(pins)?.iter().for_each(warn);
    }
    program.replace(pins)?;
    Ok("replaced for new connections")
}
