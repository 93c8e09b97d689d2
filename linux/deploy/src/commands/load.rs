//! `load`: registers congestion controls with the kernel.

use super::offers;
use super::status::{HIDDEN_LISTENERS, listeners_text, other_listeners};
use crate::Failure;
use crate::check::{self, Finding};
use crate::laws;
use crate::programs::{self, Installed, NewRoute, Pins, Prefix, Prepared, Segments, Users};
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
    /// Smallest retransmission timeout of connections of `--route`, from 1ms to 120s (default: the kernel's, 200ms).
    #[arg(long, value_name = "TIME", requires = "routes", value_parser = rto_min)]
    rto_min: Option<Span>,
    /// Refuse the control to users without CAP_NET_ADMIN. Routes still apply the control to every user's connections.
    /// Not possible for the default of a network namespace.
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

/// Reads a smallest timeout, which the kernel counts in milliseconds. The kernel's largest timeout is 120 s.
fn rto_min(text: &str) -> Result<Span, String> {
    const RANGE: std::ops::RangeInclusive<Span> = MILLISECOND..=Span::from_millis(120_000);
    let expected = "expected whole milliseconds from 1ms to 120s, for example 5ms";
    let least: Span =
        text.parse().map_err(|error: shortflow_units::UnitError| format!("{expected}: {error}"))?;
    let is_whole = least.as_ps().is_multiple_of(MILLISECOND.as_ps());
    if is_whole && RANGE.contains(&least) { Ok(least) } else { Err(expected.to_owned()) }
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
    let mut done = Done::default();
    let loaded = load(&args, &configs, segments.as_ref(), &routes, &pins, &mut done);
    if loaded.is_err() {
        done.undo(&pins);
    }
    loaded
}

/// Changes of a `load`, which a failure undoes.
#[derive(Default)]
struct Done {
    /// Names of new registrations.
    fresh: Vec<String>,
    /// Names of controls with a new program.
    replaced: Vec<String>,
    routes: Vec<Installed>,
}

impl Done {
    /// Removes routes and new registrations, and restores earlier routes. Prints a warning for each change that stays.
    fn undo(self, pins: &Pins) {
        self.routes.iter().rev().for_each(|route| route.undo(pins));
        let mut undone: Vec<Result<(), Failure>> =
            self.fresh.iter().map(|name| pins.unregister(name)).collect();
        undone.push(pins.sweep().map(|traces| traces.remaining.iter().for_each(warn)));
        undone.into_iter().filter_map(Result::err).for_each(|failure| warn(&failure));
        for name in self.replaced {
            warn(&format_args!(
                "{name}: keeps the parameters of this load, which failed later; load it again"
            ));
        }
    }
}

/// Loads, installs and registers everything. Registers nothing before the verifier has accepted all programs. Notes
/// its changes in `done`.
fn load(
    args: &Args,
    configs: &[TransportConfig],
    segments: Option<&Segments>,
    routes: &[NewRoute],
    pins: &Pins,
    done: &mut Done,
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
        register(program, pins, already.contains(&last), done)?;
        if args.restrict && programs::is_open_to_all(&last) {
            warn(&format_args!(
                "{last}: --restrict has no effect, because the kernel permits the default of a namespace to every user"
            ));
        }
    }
    if let Some(segments) = segments {
        segments.install(pins)?;
        for route in segments.shared() {
            warn(&format_args!("--segments: whole segments on a route over several devices: {route}"));
        }
    }
    for route in routes {
        let installed = route.install(&last, pins)?;
        let before =
            installed.earlier().map_or(String::new(), |earlier| format!(" (before: {})", earlier.settings()));
        println!(
            "{last}: new connections to {} use this control{before}; the other end needs the control too",
            route.prefix()
        );
        done.routes.push(installed);
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
    let listeners = other_listeners();
    programs::make_default(pins, name)?;
    println!("{name}: default of this network namespace");
    match listeners {
        Some(listeners) if listeners.is_empty() => {}
        Some(listeners) => warn(&listeners_text(&listeners, name)),
        None => warn(&HIDDEN_LISTENERS),
    }
    Ok(())
}

/// Fails if one of the controls is the default of a network namespace: the kernel permits the default of its first
/// namespace to every user, and other namespaces may only have defaults that every user may choose.
fn refuse_default(configs: &[TransportConfig]) -> Result<(), Failure> {
    let names: Vec<String> = configs.iter().map(programs::kernel_name).collect();
    let Some((default, inode)) = programs::defaults_among(&names)?.pop_first() else { return Ok(()) };
    Err(Failure::Input(format!(
        "--restrict: {default} is the default of network namespace {inode}, which the kernel permits to every user; \
         unload it first"
    )))
}

/// Registers a program, or replaces a loaded one of the same name and other parameters.
fn register(program: Prepared, pins: &Pins, is_loaded: bool, done: &mut Done) -> Result<(), Failure> {
    let (name, text) = (program.name().to_owned(), program.text().to_owned());
    if !is_loaded {
        program.register(pins)?;
        println!("{name}: loaded: {text}");
        done.fresh.push(name);
        return Ok(());
    }
    let before = programs::loaded_text(pins, &name)?;
    if before == text {
        println!("{name}: already loaded: {text}");
    } else {
        if programs::has_segments(&before) {
            programs::remove_segments(pins)?.iter().for_each(warn);
        }
        program.replace(pins)?;
        let changes = programs::changes(&before, &text).join(", ");
        println!("{name}: replaced for new connections: {text} (changed: {changes})");
        done.replaced.push(name.clone());
    }
    // Also needed if nothing changes: a killed command may have replaced the program without renewing default and
    // routes.
    programs::renew_default(&name)?.iter().for_each(warn);
    programs::renew_routes(pins, &name)?.iter().for_each(warn);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_timeouts_have_a_range() {
        for text in ["1ms", "200ms", "1.5s", "120s"] {
            assert!(rto_min(text).is_ok(), "{text}");
        }
        for text in ["0ms", "1500us", "120001ms", "5000000s", "5"] {
            assert!(rto_min(text).unwrap_err().contains("from 1ms to 120s"), "{text}");
        }
    }
}
