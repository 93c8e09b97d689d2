//! `status`: loaded programs and their connections.

use super::class::word;
use crate::Failure;
use crate::programs::{self, By, Connection, DscpMarking, Fallback, Listener, Pins, Route};
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
    let mut report = match Pins::open()? {
        Some(pins) => Report::read(&pins)?,
        None => {
            // A connection keeps its congestion control after `unload`, so it may have one of ours without any loaded.
            let connections = programs::connections()?;
            Report {
                hides_connections: connections.is_none(),
                survivors: survivors(connections.unwrap_or_default())?,
                ..Report::default()
            }
        }
    };
    let listeners = programs::listeners_of_ours()?;
    report.hides_connections |= listeners.is_none();
    report.listeners = listeners.unwrap_or_default();
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
    /// True if the kernel does not permit the program that reads connections.
    hides_connections: bool,
    /// Number of cgroups that may call setsockopt(2).
    cgroups: usize,
    ports: Vec<(u16, Role)>,
    dscp: Vec<DscpMarking>,
    routes: Vec<Route>,
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
    };
    Ok(controls.into_iter().map(control).collect())
}

impl Report {
    /// A report without `listeners`, which need no pins.
    fn read(pins: &Pins) -> Result<Report, Failure> {
        let mut connections = programs::connections()?;
        let mut fallbacks = programs::fallbacks(pins)?;
        let mut controls = Vec::new();
        for name in pins.loaded()? {
            let is_mine = |connection: &mut Connection| connection.name == name;
            // The connections that no loaded control takes out are those of the survivors.
            let mine = connections.as_mut().map(|all| all.extract_if(.., is_mine).collect());
            controls.push(Control {
                is_registered: true,
                parameters: programs::loaded_text(pins, &name)?,
                connections: mine,
                fallbacks: fallbacks.extract_if(.., |fallback| fallback.from == name).collect(),
                name,
            });
        }
        let default = programs::default_here();
        // While the default is not ours, listeners with other controls are the rule, and the report leaves them out.
        let is_ours = controls.iter().any(|control| control.name == default);
        Ok(Report {
            cgroups: pins.names().iter().filter(|name| name.starts_with("setsockopt_")).count(),
            ports: programs::ports(pins)?,
            dscp: programs::dscp_markings()?,
            routes: programs::routes()?,
            others: if is_ours { other_listeners()? } else { Vec::new() },
            listeners: Vec::new(),
            default,
            controls,
            hides_connections: connections.is_none(),
            survivors: survivors(connections.unwrap_or_default())?,
        })
    }

    /// True if no known connection has the control of this route, and the last connection without ECN was to an
    /// address of the route.
    fn is_one_sided(&self, route: &Route) -> bool {
        let is_lacking = |control: &Control| {
            let mut peers = control.fallbacks.iter().map(|fallback| fallback.peer);
            control.count(|_| true).unwrap_or(0) == 0 && peers.any(|peer| route.prefix.contains(peer))
        };
        let of_route = self.controls.iter().find(|control| route.control.as_ref() == Some(&control.name));
        of_route.is_some_and(is_lacking)
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
                "congestion_control": each.control, "rto_min": each.rto_min, "is_one_sided": self.is_one_sided(each),
            })
        };
        let other = |(name, ports)| json!({ "congestion_control": name, "ports": ports });
        let listener = |(listener, process): &(Listener, String)| {
            json!({
                "congestion_control": listener.name, "port": listener.port, "process": process,
                "is_loaded": self.controls.iter().any(|control| control.name == listener.name),
            })
        };
        let port = |(port, role): &(u16, Role)| json!({ "port": port, "class": word(*role) });
        json!({
            "loaded": self.controls.iter().map(control).collect::<Vec<_>>(),
            "unloaded": self.survivors.iter().map(control).collect::<Vec<_>>(),
            "setsockopt_cgroups": self.cgroups,
            "ports": self.ports.iter().map(port).collect::<Vec<_>>(),
            "dscp": self.dscp.iter().map(marking).collect::<Vec<_>>(),
            "routes": self.routes.iter().map(route).collect::<Vec<_>>(),
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
        if !self.others.is_empty() {
            writeln!(f, "{}", listeners_text(&self.others))?;
        }
        for listener in &self.listeners {
            let is_loaded = self.controls.iter().any(|control| control.name == listener.0.name);
            let note = if is_loaded { "" } else { "; not loaded: restart it, or move it by `unload --live`" };
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
            let control = route.control.as_deref().unwrap_or("no congestion control of Shortflow");
            let rto_min = route.rto_min.as_ref().map_or(String::new(), |least| format!(", rto_min {least}"));
            let lacks = if self.is_one_sided(route) {
                "; the other end seems to lack this control: see `without ECN`"
            } else {
                ""
            };
            writeln!(f, "{route}: new connections use {control}{rto_min}{lacks}")?;
        }
        if self.hides_connections {
            writeln!(
                f,
                "connections: this kernel does not allow programs to read connections; use `ss -ti`"
            )?;
        }
        Ok(())
    }
}

/// Listeners of this network namespace with a congestion control that is not ours.
/// Fails if the kernel refuses the program that reads listeners.
pub(super) fn other_listeners() -> Result<Vec<Listener>, Failure> {
    Ok(programs::listeners_here()?.into_iter().filter(|listener| !listener.is_ours()).collect())
}

fn by_name(listeners: &[Listener]) -> BTreeMap<&str, Vec<u16>> {
    let mut ports: BTreeMap<&str, Vec<u16>> = BTreeMap::new();
    for listener in listeners {
        ports.entry(&listener.name).or_default().push(listener.port);
    }
    ports
}

/// A line about listeners that do not have the default.
pub(super) fn listeners_text(listeners: &[Listener]) -> String {
    let of_one = |(name, ports): (&str, Vec<u16>)| {
        let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
        format!("{name} on port {}", ports.join(", "))
    };
    let all: Vec<String> = by_name(listeners).into_iter().map(of_one).collect();
    format!("listeners that keep another congestion control until restarted: {}", all.join("; "))
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
                "refused" => "the kernel refused every other congestion control",
                _ => "the other end did not agree to ECN, or the SYN did not request ECN",
            };
            write!(f, "\n  without ECN  {connections} since load run {to}: {why}; the last with {peer}")?;
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
