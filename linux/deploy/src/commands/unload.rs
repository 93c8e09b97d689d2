//! `unload`: removes congestion controls and their settings.

use super::{offers, status};
use crate::programs::{self, Moved, Opened, Pins, Removed, Restored, Traces};
use crate::warning::warn;
use crate::{Failure, laws};
use serde_json::{Value, json};

#[derive(clap::Args)]
pub struct Args {
    /// Congestion controls (default: all).
    #[arg(value_name = "NAME", value_parser = offers::CONTROLS)]
    names: Vec<String>,
    /// Also give open connections and listeners of these controls, in all network namespaces, the default of their
    /// namespace. Also works after `unload`.
    #[arg(long)]
    live: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Actions of the command, and what remains.
#[derive(Default)]
struct Report {
    is_json: bool,
    unloaded: Vec<Value>,
    lines: Vec<String>,
    warnings: Vec<String>,
    remaining: Vec<String>,
    sees_connections: bool,
    sees_listeners: bool,
    moved: Moved,
}

impl Report {
    fn say(&mut self, line: String) {
        if !self.is_json {
            println!("{line}");
        }
        self.lines.push(line);
    }

    fn warn(&mut self, line: String) {
        if !self.is_json {
            warn(&line);
        }
        self.warnings.push(line);
    }

    /// Adds lines to those that remain, each once.
    fn keep(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            if !self.remaining.contains(&line) {
                self.remaining.push(line);
            }
        }
    }

    /// The value of a step; the command goes on after a failed step.
    fn step<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.keep([failure.to_string()])).ok()
    }

    fn json(&self) -> Value {
        let Moved { connections, listeners, refused } = self.moved;
        json!({
            "unloaded": self.unloaded,
            "lines": self.lines,
            "warnings": self.warnings,
            "remaining": self.remaining,
            "sees_connections": self.sees_connections,
            "sees_listeners": self.sees_listeners,
            "moved": { "connections": connections, "listeners": listeners, "refused": refused },
        })
    }

    /// Fails if something remains.
    fn verdict(self) -> Result<(), Failure> {
        if self.is_json {
            println!("{}", self.json());
        }
        Traces { remaining: self.remaining, ..Traces::default() }.verdict()
    }
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let mut asked = Vec::new();
    for name in &args.names {
        asked.push(format!("sf_{}", laws::transport_named(name)?));
    }
    let mut report =
        Report { is_json: args.json, sees_connections: true, sees_listeners: true, ..Report::default() };
    let Opened { pins, is_loaded, traces } = Pins::opened()?;
    traces.removed.into_iter().for_each(|line| report.say(line));
    report.keep(traces.remaining);
    let loaded = pins.loaded()?;
    for name in asked.iter().filter(|name| !loaded.contains(name)) {
        report.say(format!("{name}: not loaded"));
    }
    if is_loaded {
        let is_leaving = |name: &String| asked.is_empty() || asked.contains(name);
        unload(&pins, &loaded.into_iter().filter(is_leaving).collect::<Vec<_>>(), args.live, &mut report)?;
    } else if asked.is_empty() {
        report.say("nothing is loaded".to_owned());
        // Without a directory of pins, only the kernel knows what an earlier load has left.
        let traces = pins.remove_traces();
        traces.removed.into_iter().for_each(|line| report.say(line));
        report.keep(traces.remaining);
    }
    leave_sockets(&args, &asked, &mut report)?;
    report.verdict()
}

/// Unloads these controls with their settings. Goes on after failures.
fn unload(pins: &Pins, leaving: &[String], is_live: bool, report: &mut Report) -> Result<(), Failure> {
    let is_leaving = |name: &str| leaving.iter().any(|other| other == name);
    let restored = report.step(programs::restore_defaults(pins, is_leaving));
    let Restored { defaults, others, remaining } = restored.unwrap_or_default();
    others.into_iter().for_each(|line| report.warn(line));
    defaults.into_iter().for_each(|line| report.say(line));
    report.keep(remaining);
    // The kernel may refuse the program that reads connections. Loaded programs can be removed all the same.
    let connections = programs::connections().ok().flatten();
    report.sees_connections = connections.is_some();
    // Routes are removed first: without its control, a route does not show whose it was.
    let removed = report.step(programs::remove_routes(pins, |name| name.is_some_and(is_leaving)));
    let Removed { routes, remaining } = removed.unwrap_or_default();
    routes.iter().for_each(|route| report.say(format!("{route}: removed")));
    report.keep(remaining);
    for name in leaving {
        let parameters = report.step(programs::loaded_text(pins, name)).unwrap_or_default();
        if programs::has_segments(&parameters) {
            let remaining = report.step(programs::remove_segments(pins)).unwrap_or_default();
            report.keep(remaining);
        }
        if report.step(pins.unregister(name)).is_none() {
            continue;
        }
        let count = connections.as_ref().map(|all| all.iter().filter(|one| one.name == *name).count());
        let kept = match count {
            _ if is_live => String::new(),
            None => "; connections that keep it are not known".to_owned(),
            Some(0) => String::new(),
            Some(1) => "; 1 connection keeps it until it ends".to_owned(),
            Some(count) => format!("; {count} connections keep it until they end"),
        };
        report.unloaded.push(json!({ "name": name, "connections": count }));
        report.say(format!("{name}: unloaded{kept}"));
    }
    if pins.loaded()?.is_empty() {
        for (port, _) in report.step(programs::ports(pins)).unwrap_or_default() {
            report.say(format!("port {port}: no class"));
        }
        if pins.names().iter().any(|name| name.starts_with("setsockopt_")) {
            report.say("setsockopt: disabled".to_owned());
        }
        for marking in report.step(programs::end_dscp_marking_everywhere()).unwrap_or_default() {
            report.say(format!("{marking}: no longer marks DSCP"));
        }
    }
    if let Some(traces) = report.step(pins.sweep()) {
        report.keep(traces.remaining);
    }
    Ok(())
}

/// Moves the sockets of unloaded controls, or warns about listeners that keep one.
fn leave_sockets(args: &Args, asked: &[String], report: &mut Report) -> Result<(), Failure> {
    if !args.live {
        let kept = programs::listeners_of_ours()?;
        report.sees_listeners = kept.is_some();
        if !report.sees_listeners {
            report.warn(status::HIDDEN_LISTENERS.to_owned());
        }
        let registered = programs::registered()?;
        let kept = kept.unwrap_or_default();
        for listener in kept.iter().filter(|(listener, _)| !registered.contains(&listener.name)) {
            let words = status::in_words(listener);
            let of = if listener.0.is_chosen {
                "and its new connections use it"
            } else {
                "its new connections do not"
            };
            report.warn(format!("a listener keeps {words}, {of}; restart it, or use `unload --live`"));
        }
        return Ok(());
    }
    let names: Vec<Option<&str>> =
        if asked.is_empty() { vec![None] } else { asked.iter().map(|name| Some(&**name)).collect() };
    for name in names {
        let (moved, problems) = programs::move_sockets(name)?;
        let name = name.unwrap_or("sf_*");
        report.keep(problems.into_iter().map(|line| format!("{name}: {line}")));
        let Moved { connections, listeners, refused } = moved;
        report.say(format!(
            "{name}: connections {connections} and listeners {listeners} now use the default of their network namespace"
        ));
        if refused > 0 {
            report.keep([format!(
                "{name}: {refused} sockets, which the kernel refused to move; `ss -ti` shows them"
            )]);
        }
        report.moved.connections += connections;
        report.moved.listeners += listeners;
        report.moved.refused += refused;
    }
    Ok(())
}
