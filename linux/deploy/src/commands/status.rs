//! `status`: loaded programs and their connections.

use super::class::word;
use crate::Failure;
use crate::programs::{self, By, Connection, DscpMarking, Fallback, Listener, OneSided, Opened, Pins, Route};
use crate::warning::warn;
use serde_json::{Map, Value, json};
use shortflow_cc::Role;
use std::collections::BTreeMap;
use std::fmt;

#[derive(clap::Args)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let Opened { pins, is_loaded, traces } = Pins::opened()?;
    let report = Report::read(&pins, is_loaded)?;
    // The report has the lines about routes.
    traces.remaining.iter().filter(|line| !report.route_problems.contains(line)).for_each(warn);
    match report {
        report if args.json => println!("{}", report.json()),
        report if report.controls.is_empty() => print!("nothing is loaded\n{report}"),
        report => print!("{report}"),
    }
    Ok(())
}

#[derive(Default)]
struct Report {
    default: String,
    controls: Vec<Control>,
    /// Controls that are not loaded but still drive connections.
    survivors: Vec<Control>,
    /// True if the kernel permits the program that reads connections.
    sees_connections: bool,
    /// True if the kernel permits the program that reads listeners.
    sees_listeners: bool,
    /// Number of cgroups that may call setsockopt(2).
    cgroups: usize,
    ports: Vec<(u16, Role)>,
    dscp: Vec<DscpMarking>,
    routes: Vec<Route>,
    /// Lines about recorded routes that are gone or cannot be read.
    route_problems: Vec<String>,
    one_sided: Vec<OneSided>,
    /// Listeners of this network namespace that do not have the loaded default.
    others: Vec<Listener>,
    /// Listeners in all network namespaces that have one of our controls, loaded or not, with their process.
    listeners: Vec<(Listener, String)>,
}

struct Control {
    name: String,
    is_registered: bool,
    parameters: String,
    connections: Option<Vec<Connection>>,
    fallbacks: Vec<Fallback>,
    /// True if the control was loaded with `--restrict`, but the kernel permits it to every user.
    is_restricted_in_vain: bool,
}

/// The loaded controls. Takes their connections out of `connections`; the rest is that of the survivors.
fn controls(pins: &Pins, connections: &mut Option<Vec<Connection>>) -> Result<Vec<Control>, Failure> {
    let mut fallbacks = programs::fallbacks(pins)?;
    let mut controls = Vec::new();
    for name in pins.loaded()? {
        let is_mine = |connection: &mut Connection| connection.name == name;
        let parameters = programs::loaded_text(pins, &name)?;
        controls.push(Control {
            is_registered: true,
            connections: connections.as_mut().map(|all| all.extract_if(.., is_mine).collect()),
            fallbacks: fallbacks.extract_if(.., |fallback| fallback.from == name).collect(),
            is_restricted_in_vain: programs::is_restricted(&parameters) && programs::is_open_to_all(&name),
            parameters,
            name,
        });
    }
    Ok(controls)
}

/// Groups connections by their congestion control.
fn survivors(connections: Vec<Connection>) -> Result<Vec<Control>, Failure> {
    let registered = programs::registered()?;
    let mut controls: BTreeMap<String, Vec<Connection>> = BTreeMap::new();
    for connection in connections {
        controls.entry(connection.name.clone()).or_default().push(connection);
    }
    let control = |(name, connections)| Control {
        is_registered: registered.contains(&name),
        name,
        parameters: String::new(),
        connections: Some(connections),
        fallbacks: Vec::new(),
        is_restricted_in_vain: false,
    };
    Ok(controls.into_iter().map(control).collect())
}

impl Report {
    fn read(pins: &Pins, is_loaded: bool) -> Result<Report, Failure> {
        let mut connections = programs::connections()?;
        let listeners = programs::listeners_of_ours()?;
        let (routes, route_problems) = programs::routes(pins)?;
        let mut report = Report {
            default: programs::default_here(),
            sees_connections: connections.is_some(),
            sees_listeners: listeners.is_some(),
            listeners: listeners.unwrap_or_default(),
            dscp: programs::dscp_markings()?,
            routes,
            route_problems,
            ..Report::default()
        };
        if is_loaded {
            report.controls = controls(pins, &mut connections)?;
            report.cgroups = pins.names().iter().filter(|name| name.starts_with("setsockopt_")).count();
            report.ports = programs::ports(pins)?;
            report.one_sided = programs::one_sided(pins);
        }
        // A connection keeps its congestion control after `unload`, so it may have one of ours without any loaded.
        report.survivors = survivors(connections.unwrap_or_default())?;
        // While the default is not ours, listeners with other controls are the rule, and the report leaves them out.
        if report.is_loaded(&report.default) {
            report.others = other_listeners().unwrap_or_default();
        }
        Ok(report)
    }

    fn is_loaded(&self, name: &str) -> bool {
        self.controls.iter().any(|control| control.name == name)
    }

    /// The last host of this route whose last connection had no ECN.
    fn one_sided(&self, route: &Route) -> Option<&OneSided> {
        let is_of_route = |one: &&OneSided| {
            route.control.as_ref() == Some(&one.control)
                && one.namespace == route.inode
                && route.prefix.contains(one.peer)
        };
        self.one_sided.iter().find(is_of_route)
    }

    fn json(&self) -> Value {
        let control = |control: &Control| {
            let parameters = control.parameters.split(' ').filter_map(|pair| pair.split_once('='));
            let parameters: Map<String, Value> =
                parameters.map(|(key, value)| (key.to_owned(), value.into())).collect();
            let fallback = |one: &Fallback| json!({ "to": one.to, "reason": one.reason(), "connections": one.connections, "last_peer": one.peer });
            json!({
                "name": control.name,
                "is_default": control.name == self.default,
                "is_restricted_in_vain": control.is_restricted_in_vain,
                "parameters": parameters,
                "connections": control.count(|_| true),
                "with_size": control.count(|one| one.size.is_some()),
                "with_deadline": control.count(|one| one.deadline_ns.is_some()),
                "with_class": control.count(|one| one.role != Role::Unknown),
                "cwnd": control.spread(|one| one.cwnd).map(|spread| spread.json()),
                "alpha": control.spread(|one| one.alpha).map(|spread| spread.json()),
                "fallbacks": control.fallbacks.iter().map(fallback).collect::<Vec<_>>(),
            })
        };
        let marking = |each: &DscpMarking| json!({ "namespace": each.namespace, "device": each.device, "by": each.by.map(By::word) });
        let route = |each: &Route| {
            json!({
                "namespace": each.namespace, "prefix": each.prefix.to_string(), "device": each.device,
                "congestion_control": each.control, "rto_min": each.rto_min, "change": each.change,
                "is_one_sided": self.one_sided(each).is_some(),
                "last_without_ecn": self.one_sided(each).map(|one| json!({ "peer": one.peer, "seconds_ago": one.seconds })),
            })
        };
        let other = |((name, is_chosen), ports)| json!({ "congestion_control": name, "is_chosen": is_chosen, "ports": ports });
        let listener = |(listener, process): &(Listener, String)| {
            json!({
                "congestion_control": listener.name, "port": listener.port, "process": process,
                "is_chosen": listener.is_chosen, "is_loaded": self.is_loaded(&listener.name),
            })
        };
        let port = |(port, role): &(u16, Role)| json!({ "port": port, "class": word(*role) });
        json!({
            "loaded": self.controls.iter().map(control).collect::<Vec<_>>(),
            "default": self.default,
            "sees_connections": self.sees_connections,
            "sees_listeners": self.sees_listeners,
            "unloaded": self.survivors.iter().map(control).collect::<Vec<_>>(),
            "setsockopt_cgroups": self.cgroups,
            "ports": self.ports.iter().map(port).collect::<Vec<_>>(),
            "dscp": self.dscp.iter().map(marking).collect::<Vec<_>>(),
            "routes": self.routes.iter().map(route).collect::<Vec<_>>(),
            "route_problems": self.route_problems,
            "other_listeners": by_name(&self.others).into_iter().map(other).collect::<Vec<_>>(),
            "listeners": self.listeners.iter().map(listener).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for control in &self.controls {
            let note =
                if control.name == self.default { "  (default of this network namespace)" } else { "" };
            writeln!(f, "{}{note}\n{control}", control.name)?;
        }
        for control in &self.survivors {
            let why = match control.is_registered {
                true => "a process, such as a testbed, holds it",
                false => "connections keep it until they end",
            };
            writeln!(f, "{}  (not loaded; {why})\n{control}", control.name)?;
        }
        if self.default.starts_with("sf_") && !self.is_loaded(&self.default) {
            let default = &self.default;
            writeln!(
                f,
                "{default}  (default of this network namespace, but not loaded: `unload` restores another)"
            )?;
        }
        if !self.others.is_empty() {
            writeln!(f, "{}", listeners_text(&self.others, &self.default))?;
        }
        for listener in &self.listeners {
            let note = match (self.is_loaded(&listener.0.name), listener.0.is_chosen) {
                (true, _) => "",
                (false, true) => {
                    "; not loaded, but its new connections use it: restart it, or move it by `unload --live`"
                }
                (false, false) => {
                    "; not loaded; its new connections use the default. A restart or `unload --live` ends the rest"
                }
            };
            writeln!(f, "listener {}{note}", in_words(listener))?;
        }
        if self.cgroups > 0 {
            let plural = if self.cgroups == 1 { "" } else { "s" };
            writeln!(f, "setsockopt: enabled for applications of {} cgroup{plural}", self.cgroups)?;
        }
        for (port, role) in &self.ports {
            writeln!(f, "port {port}: {}", word(*role))?;
        }
        for marking in &self.dscp {
            let rule = marking.by.map_or("an unknown rule", By::word);
            writeln!(f, "{marking}: marks DSCP by {rule}")?;
        }
        for route in &self.routes {
            write!(f, "{route}: new connections use {}", route.settings())?;
            if let Some(OneSided { peer, seconds, .. }) = self.one_sided(route) {
                write!(
                    f,
                    "; the other end seems to lack this control: the last connection with {peer}, {seconds} s ago, had no ECN"
                )?;
            }
            if let Some(change) = &route.change {
                write!(f, "; {change}: run `load` again")?;
            }
            if route.control.is_none() {
                write!(f, "; left by an earlier load: `unload` removes it")?;
            }
            writeln!(f)?;
        }
        self.route_problems.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        if !self.sees_listeners {
            writeln!(f, "{HIDDEN_LISTENERS}")?;
        }
        if !self.sees_connections {
            writeln!(
                f,
                "connections: this kernel does not allow programs to read connections; use `ss -ti`"
            )?;
        }
        Ok(())
    }
}

/// Text about listeners that this kernel does not show.
pub(super) const HIDDEN_LISTENERS: &str =
    "listeners: this kernel does not allow programs to read listeners; use `ss -lti`";

/// Listeners of this network namespace with a congestion control that is not ours; `None` if the kernel refuses the
/// program that reads listeners.
pub(super) fn other_listeners() -> Option<Vec<Listener>> {
    let found = programs::listeners_here().inspect_err(|_| drop(programs::messages::taken())).ok()?;
    Some(found.into_iter().filter(|listener| !listener.is_ours()).collect())
}

/// Ports by congestion control, and by whether the application chose it.
fn by_name(listeners: &[Listener]) -> BTreeMap<(&str, bool), Vec<u16>> {
    let mut ports: BTreeMap<(&str, bool), Vec<u16>> = BTreeMap::new();
    for listener in listeners {
        ports.entry((&listener.name, listener.is_chosen)).or_default().push(listener.port);
    }
    ports
}

/// A text about listeners that do not have the default. The kernel gives the default to the connections of a listener
/// whose application has chosen nothing, but asks the listener's control whether to agree to ECN.
pub(super) fn listeners_text(listeners: &[Listener], default: &str) -> String {
    let of_one = |((name, is_chosen), ports): ((&str, bool), Vec<u16>)| {
        let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
        let ports = ports.join(", ");
        if is_chosen {
            format!("listeners that chose {name} themselves, and so do their new connections: port {ports}")
        } else {
            format!(
                "listeners from before the default: their new connections use {default}, but clients that need ECN, such \
                 as those with sf_*, fall back until the listeners restart: {name} on port {ports}"
            )
        }
    };
    by_name(listeners).into_iter().map(of_one).collect::<Vec<_>>().join("\n")
}

/// A listener with its process in words, such as `sf_dctcp on port 80 of nginx (812)`.
pub(super) fn in_words((listener, process): &(Listener, String)) -> String {
    let of = if process.is_empty() { String::new() } else { format!(" of {process}") };
    format!("{} on port {}{of}", listener.name, listener.port)
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = [
            ("size", self.count(|one| one.size.is_some())),
            ("deadline", self.count(|one| one.deadline_ns.is_some())),
            ("class", self.count(|one| one.role != Role::Unknown)),
        ];
        let known: String = known
            .iter()
            .filter_map(|(what, count)| {
                count.filter(|count| *count > 0).map(|count| format!("; {count} with a {what}"))
            })
            .collect();
        if !self.parameters.is_empty() {
            writeln!(f, "  parameters   {}", self.parameters)?;
        }
        if self.is_restricted_in_vain {
            writeln!(
                f,
                "  restricted   without effect: every user may choose it, because it was made a default; unload and load it again"
            )?;
        }
        let count = self.count(|_| true).map_or("unknown".to_owned(), |count| count.to_string());
        write!(f, "  connections  {count}{known}")?;
        for (what, spread) in
            [("cwnd ", self.spread(|one| one.cwnd)), ("alpha", self.spread(|one| one.alpha))]
        {
            if let Some(spread) = spread {
                write!(f, "\n  {what}        {spread}")?;
            }
        }
        for fallback in &self.fallbacks {
            let Fallback { to, connections, peer, .. } = fallback;
            let why = match fallback.reason() {
                "refused" => "the kernel refused every other congestion control, and data leave as ECT(0)",
                _ => "the other end did not agree to ECN, or the SYN did not request ECN",
            };
            write!(
                f,
                "\n  without ECN  {connections} since the first load run {to}: {why}; the last with {peer}"
            )?;
        }
        Ok(())
    }
}

impl Control {
    fn count(&self, which: impl Fn(&Connection) -> bool) -> Option<usize> {
        self.connections.as_ref().map(|all| all.iter().filter(|one| which(one)).count())
    }

    fn spread(&self, value: impl Fn(&Connection) -> f64) -> Option<Spread> {
        Spread::of(self.connections.iter().flatten().map(value).collect())
    }
}

/// Smallest, median and largest value. With an even number of values, the median is the mean of the middle two.
#[derive(Debug, PartialEq)]
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Spread> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        Some(Spread { min, median: (low + high) / 2.0, max })
    }

    fn json(&self) -> Value {
        json!({ "min": self.min, "median": self.median, "max": self.max })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "min {:.3}  median {:.3}  max {:.3}", self.min, self.median, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]), Some(Spread { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(Spread::of(vec![4.0, 1.0, 2.0, 3.0]), Some(Spread { min: 1.0, median: 2.5, max: 4.0 }));
        assert_eq!(Spread::of(vec![]), None);
    }
}
