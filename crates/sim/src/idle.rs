//! Keys that the user set but that have no effect, by the conditions in their declarations.

use crate::config::{Setting, Source};
use crate::engine::Seeds;
use crate::host::priority::By;
use crate::net::Routes;
use crate::queue::{QueueConfig, QueueKind};
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use crate::specs::SwitchSpec;
use crate::traffic::Workload;
use shortflow_cc::{CongestionControl, Ecn, Host, Opening, Recovery, Role, TransportConfig, Window};
use shortflow_spec::{Condition, Idle};
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, Rate, Span};
use std::collections::BTreeSet;

/// Keys without effect in a scenario under a scheme. The values in the file of a `shipped` scenario are not
/// the user's.
pub(crate) fn under_packets(scenario: &Scenario, scheme: &Scheme, shipped: bool) -> Vec<Idle> {
    let run = Run { scenario, scheme, shipped, transports: transports(scenario, scheme) };
    let settings = scenario.resolved().iter().chain(run.of_scheme());
    let keys = settings.filter(|setting| run.is_set(setting)).filter_map(|setting| {
        let acts_if = run.unmet(setting)?;
        Some(Idle { key: setting.key.clone(), acts_if })
    });
    run.idle_parts().into_iter().chain(keys).collect()
}

/// Keys of TCP that determine the default drain.
const OF_DRAIN: [&str; 3] = ["tcp.rto_min", "tcp.initial_rto", "tcp.clock_granularity"];

/// Keys that the user set but that an ideal scheduler ignores. A fluid has neither queues nor hosts.
pub(crate) fn under_ideal(scenario: &Scenario) -> Vec<Idle> {
    let resolved = || scenario.resolved().iter();
    let default_drain = resolved().any(|setting| setting.key == "drain" && setting.source.is_default());
    let reads = |key: &str| {
        let of_packets = ["switch.", "host.", "tcp.", "faults."].iter().any(|table| key.starts_with(table));
        let sets_drain = OF_DRAIN.contains(&key) || key.starts_with("faults.") && !key.contains("mark");
        !of_packets || ["tcp.mss", "tcp.header", "tcp.wire"].contains(&key) || default_drain && sets_drain
    };
    let set = resolved().filter(|setting| matches!(setting.source, Source::Set | Source::Name));
    let acts_if = || Condition("packets").to_string();
    set.filter(|setting| !reads(&setting.key))
        .map(|setting| Idle { key: setting.key.clone(), acts_if: acts_if() })
        .collect()
}

/// Transports that flows run: transports of classes, and the scheme's transport unless each entry replaces
/// it.
fn transports<'s>(scenario: &'s Scenario, scheme: &'s Scheme) -> Vec<&'s TransportConfig> {
    let value = |key: String| scenario.resolved().iter().find(|setting| setting.key == key);
    let replaces = |entry: usize| {
        let share = value(format!("traffic.{entry}.transport_share"));
        value(format!("traffic.{entry}.transport")).is_some()
            && share.is_none_or(|share| share.value.parse() == Ok(1.0))
    };
    let is_used = !(1..=scenario.traffic.len()).all(replaces);
    is_used.then_some(&scheme.transport).into_iter().chain(scenario.transports.values()).collect()
}

/// A scenario under a scheme, with the transports that its flows run.
struct Run<'s> {
    scenario: &'s Scenario,
    scheme: &'s Scheme,
    shipped: bool,
    transports: Vec<&'s TransportConfig>,
}

impl<'s> Run<'s> {
    /// The scheme's own values. Values for the network are in the scenario.
    fn of_scheme(&self) -> impl Iterator<Item = &'s Setting> {
        let own = self.scheme.resolved.iter();
        own.filter(|setting| !self.scheme.network.iter().any(|network| network.key == setting.key))
    }

    fn setting(&self, key: &str) -> Option<&'s Setting> {
        self.scenario.resolved().iter().chain(self.of_scheme()).find(|setting| setting.key == key)
    }

    /// True if the user set the value. K and the drain in a file do not count: a file states K for any
    /// scheme, and the drain also for real hosts.
    fn is_set(&self, setting: &Setting) -> bool {
        let is_of_file = self.shipped || setting.key.ends_with(".mark_above") || setting.key == "drain";
        match &setting.source {
            Source::Default | Source::DefaultOf(..) | Source::Scheme => false,
            Source::Set | Source::Name => true,
            Source::Scenario => !is_of_file,
            Source::Expression(text, _) => {
                !is_of_file
                    || self.scenario.resolved().iter().any(|parameter| {
                        let name = parameter.key.strip_prefix("parameters.");
                        parameter.source == Source::Set
                            && name.is_some_and(|name| text.contains(&format!("${name}")))
                    })
            }
        }
    }

    /// The unmet part of a key's condition.
    fn unmet(&self, setting: &Setting) -> Option<String> {
        let (table, name) = setting.key.rsplit_once('.').unwrap_or(("", &setting.key));
        if table == "transport"
            && !self.transports.iter().any(|used| std::ptr::eq(*used, &self.scheme.transport))
        {
            return Some("flows run the scheme's own transport".to_owned());
        }
        if covers(table, "switch") {
            return self.unmet_at_ports(table, name, setting.acts);
        }
        let value = |name: &str| self.value(table, name);
        setting.acts?.unmet(&value, &|name| path(table, name))
    }

    /// The unmet part of the condition of a key for switches, if no port that takes the key from this table
    /// meets the condition.
    fn unmet_at_ports(&self, table: &str, name: &str, acts: Option<Condition>) -> Option<String> {
        let has = |table: &str, name: &str| self.setting(&format!("{table}.{name}")).is_some();
        let nearest =
            |tables: &[String], name: &str| tables.iter().rev().find(|table| has(table, name)).cloned();
        let mut unmet = None;
        let (graph, tiers) = (&self.scenario.graph, &self.scenario.tiers);
        let ports: BTreeSet<_> =
            self.switch_ports().map(|(from, to)| tiers.tables(graph, from, to)).collect();
        for tables in ports.iter().filter(|tables| nearest(tables, name).as_deref() == Some(table)) {
            let of = |other: &str| nearest(tables, other).unwrap_or_else(|| "switch".to_owned());
            let (value, path) =
                (|other: &str| self.value(&of(other), other), |other: &str| path(&of(other), other));
            unmet = Some(acts?.unmet(&value, &path)?);
        }
        unmet.or_else(|| Some(format!("a port takes {name} from [{table}]")))
    }

    /// The value of a key in `table`, or in another table if the name has a path. Facts are `true` or
    /// `false`.
    fn value(&self, table: &str, name: &str) -> Option<String> {
        let fact = self.fact(table, name).map(|holds| holds.to_string());
        fact.or_else(|| self.setting(&path(table, name)).map(|setting| setting.value.clone()))
    }

    fn fact(&self, table: &str, name: &str) -> Option<bool> {
        let runs_on = |hosts: &[Host]| self.transports.iter().any(|used| hosts.contains(&used.info().host));
        let tcp = || self.transports.iter().filter(|used| used.info().host == Host::Tcp);
        let (queue, is_limited) = match table {
            "host" | "host_queue" => (&self.scheme.host_queue, is_limited(self.scenario.host.mark_above)),
            _ => (&self.scheme.queue, self.switches_have_threshold()),
        };
        Some(match name {
            "tcp_hosts" => runs_on(&[Host::Tcp]),
            "timed_hosts" => runs_on(&[Host::Tcp, Host::Roce]),
            "takes_initial_window" => tcp().any(|used| {
                let (mss, header) = (self.scenario.tcp.mss, Bytes::ZERO);
                let at = Opening { now: Instant::ZERO, line: Rate::MAX, base_rtt: Span::ZERO, mss, header };
                let first = |suggested| {
                    let mut window = Window { cwnd: suggested, ssthresh: f64::INFINITY };
                    used.start().on_start(&mut window, &at);
                    window.cwnd
                };
                first(1.0) != first(2.0)
            }),
            "rack" => tcp().any(|used| used.recovery() == Recovery::Rack),
            "ecn" => runs_on(&[Host::Roce]) || tcp().any(|used| used.ecn() != Ecn::Off),
            "marking" => self.is_marking(),
            "marks" => self.fact(table, "ecn")? && self.is_marking(),
            "alpha_counts" => self.fact(table, "marks")? || self.scenario.measure.sample_every.is_some(),
            "has_threshold" => is_limited,
            "reads_threshold" => reads_threshold(queue, self.fact(table, "ecn")?),
            "reads_curve" => matches!(queue, QueueConfig::Red(red) if red.reads_k()) && is_limited,
            "leaves_max" => is_limited && self.a_curve(table, |port| port.mark_all_above.is_none()),
            "leaves_max_p" => is_limited && self.a_curve(table, |port| port.mark_probability.is_none()),
            "deadlines" => self.scenario.deadlines,
            "unknown_role" => {
                self.scenario.classes.iter().any(|class| Role::of_class(class) == Role::Unknown)
            }
            "applications" => {
                self.scenario.traffic.iter().enumerate().any(|(index, traffic)| {
                    matches!(traffic.start(Seeds::new(0), index), Workload::Closed(_))
                })
            }
            "flow_control" => self.has_flow_control(),
            "several_priorities" => self.has_flow_control() && self.scenario.used_priorities().len() > 1,
            "lossy_data" => self.scenario.lossless() != self.scenario.used_priorities(),
            "several_paths" => Routes::new(&self.scenario.graph).is_ok_and(|routes| routes.has_choice()),
            "finite_flows" => (1..=self.scenario.traffic.len()).any(|entry| {
                self.setting(&format!("traffic.{entry}.kind")).is_none_or(|kind| kind.value != "long-lived")
            }),
            "default_drain" => {
                let is_default = self.setting("drain").is_some_and(|drain| drain.source.is_default());
                is_default && self.fact(table, "finite_flows")?
            }
            "model_decides" => self.model_decides(),
            _ => {
                return self
                    .scenario
                    .facts()
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, holds)| *holds);
            }
        })
    }

    /// True if the far end of some link may pause data.
    fn has_flow_control(&self) -> bool {
        let faults = self.scenario.faults.iter().any(|fault| fault.pause.is_some());
        faults || self.switch_ports().any(|(from, to)| self.scenario.switch_port(from, to).xoff.is_some())
    }

    /// Without a limit, the small queue never stops a window from growing, so growth is the same in both
    /// models.
    fn model_decides(&self) -> bool {
        let by_model = |key| self.setting(key).is_some_and(|setting| setting.source.is_default());
        by_model("host.small_queue") || by_model("tcp.growth") && self.scenario.conduct.small_queue > 0
    }

    /// True if packets of ECN-capable flows may be marked.
    fn is_marking(&self) -> bool {
        let faults = self.scenario.faults.iter().any(|fault| fault.mark > 0.0 || !fault.mark_data.is_empty());
        faults
            || marks(&self.scheme.queue, self.switches_have_threshold())
            || marks(&self.scheme.host_queue, is_limited(self.scenario.host.mark_above))
    }

    /// True if a port with a threshold leaves a part of RED's curve to the scheme. Hosts' ports leave all of
    /// it to the scheme.
    fn a_curve(&self, table: &str, leaves: impl Fn(&SwitchSpec) -> bool) -> bool {
        let mut ports = self.switch_ports().map(|(from, to)| self.scenario.switch_port(from, to));
        table == "host_queue" || ports.any(|port| is_limited(port.mark_above) && leaves(port))
    }

    fn switches_have_threshold(&self) -> bool {
        self.switch_ports().any(|(from, to)| is_limited(self.scenario.switch_port(from, to).mark_above))
    }

    fn switch_ports(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        let graph = &self.scenario.graph;
        graph.directions().map(|(from, to, _)| (from, to)).filter(|(from, _)| !graph.is_host(*from))
    }

    /// Parts of the scheme without effect in this scenario, as statements.
    fn idle_parts(&self) -> Vec<Idle> {
        let queues = [
            self.idle_queue(&self.scheme.queue, "queue", ""),
            self.idle_queue(&self.scheme.host_queue, "host_queue", " of hosts"),
            self.idle_priority(&self.scheme.queue, ""),
            self.idle_priority(&self.scheme.host_queue, " of hosts"),
        ];
        queues.into_iter().flatten().chain(self.idle_deadlines()).collect()
    }

    /// A queue discipline that works like drop-tail, because there is no threshold or no packet to mark.
    fn idle_queue(&self, queue: &QueueConfig, table: &str, of: &str) -> Option<Idle> {
        let (acts, effect) = match queue.kind() {
            QueueKind::Red => {
                (Condition("curves != none || min != auto || has_threshold"), "neither marks nor drops early")
            }
            QueueKind::StepEcn => (Condition("ecn && has_threshold"), "never marks"),
            QueueKind::Tcn => (Condition("ecn && threshold != auto || ecn && has_threshold"), "never marks"),
            // Hosts' ports may use these disciplines for the order of packets.
            kind if kind.info().reads_k && table == "queue" && self.fact(table, "ecn")? => {
                (Condition("has_threshold"), "never marks")
            }
            _ => return None,
        };
        let acts_if = acts.unmet(&|name| self.value(table, name), &|name| path(table, name))?;
        Some(Idle { key: format!("the {} queue{of} {effect}", queue.kind().info().name), acts_if })
    }

    /// A queue discipline by priority, although packets have no priority.
    fn idle_priority(&self, queue: &QueueConfig, of: &str) -> Option<Idle> {
        let info = queue.kind().info();
        let sets = |used: &TransportConfig| used.info().host.info().sets_priority;
        let is_alike = self.scheme.priority.by == By::None && !self.transports.iter().any(|used| sets(used));
        (info.by_priority && is_alike).then(|| Idle {
            key: format!("the {} queue{of} never puts a packet before others", info.name),
            acts_if: "priority.by is not none".to_owned(),
        })
    }

    /// A law or a priority by deadlines, although flows have no deadlines.
    fn idle_deadlines(&self) -> Option<Idle> {
        let weighs = |setting: &&Setting| {
            setting.acts.is_some_and(|acts| acts.names().contains(&"deadlines"))
                && setting.key.starts_with("transport.")
        };
        let key = match self.scheme.priority.by {
            By::Deadline => "the priority never orders by deadline",
            _ if self.scheme.resolved.iter().any(|setting| weighs(&setting)) => {
                "the law never weighs a deadline"
            }
            _ => return None,
        };
        let acts_if = Condition("deadlines").unmet(&|name| self.value("", name), &str::to_owned)?;
        Some(Idle { key: key.to_owned(), acts_if })
    }
}

/// Path of a key that a condition in `table` names.
fn path(table: &str, name: &str) -> String {
    if table.is_empty() || name.contains('.') { name.to_owned() } else { format!("{table}.{name}") }
}

fn covers(table: &str, outer: &str) -> bool {
    table.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn is_limited(mark_above: Occupancy) -> bool {
    mark_above != Occupancy::Unlimited
}

/// True if the discipline compares the queue with K. A discipline that only marks needs ECN-capable packets.
fn reads_threshold(queue: &QueueConfig, ecn: bool) -> bool {
    match queue {
        QueueConfig::Red(red) => red.reads_k(),
        QueueConfig::Tcn(tcn) => tcn.threshold.is_none() && ecn,
        _ => queue.kind().info().reads_k && ecn,
    }
}

/// True if the discipline may mark ECN-capable packets. `is_limited` is true if some port has a K.
fn marks(queue: &QueueConfig, is_limited: bool) -> bool {
    match queue {
        QueueConfig::Red(red) => red.ecn && (is_limited || !red.reads_k()),
        QueueConfig::Tcn(tcn) => is_limited || tcn.threshold.is_some(),
        QueueConfig::CoDel(codel) => codel.ecn,
        QueueConfig::Pie(pie) => pie.ecn,
        _ => queue.kind().info().reads_k && is_limited,
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Setting;
    use crate::scenario::Scenario;
    use crate::scheme::{Scheme, schemes};
    use shortflow_spec::FACTS;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Conditions name only existing facts and keys. A misspelt fact would count as true, and a misspelt key
    /// as empty: the condition would always hold, or never.
    #[test]
    fn conditions_ask_for_facts_and_keys_that_exist() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/shortflow/scenarios");
        let files =
            |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
        let of_scenario = |path: std::path::PathBuf| {
            let name = path.file_name()?.to_str()?.to_owned();
            let text = path.extension().is_some_and(|end| end == "toml").then(|| files(&name).unwrap())?;
            let scenario =
                Scenario::parse(&text, &name, &[], &files).unwrap_or_else(|error| panic!("{error}"));
            Some(scenario.resolved().to_vec())
        };
        let shipped =
            std::fs::read_dir(&folder).unwrap().filter_map(|entry| of_scenario(entry.unwrap().path()));
        let of_schemes = schemes().iter().map(|info| Scheme::named(&info.name, &[]).unwrap().resolved);
        // An optional key that is not given has no value, and so no setting.
        let declared: BTreeSet<&str> =
            crate::declared().iter().flat_map(|(_, entry)| &entry.parameters).map(|key| key.name).collect();
        let mut conditions = BTreeSet::new();
        for settings in shipped.chain(of_schemes).collect::<Vec<Vec<Setting>>>() {
            for setting in &settings {
                let Some(acts) = setting.acts else { continue };
                conditions.insert(setting.key.clone());
                let beside = |name: &str| match setting.key.rsplit_once('.') {
                    Some((table, _)) => format!("{table}.{name}"),
                    None => name.to_owned(),
                };
                for name in acts.names() {
                    let is_fact = FACTS.iter().any(|(fact, _)| *fact == name);
                    let is_key =
                        settings.iter().any(|other| [name.to_owned(), beside(name)].contains(&other.key));
                    let is_key = is_key || declared.contains(name);
                    assert!(is_fact || is_key, "{}: {name} is neither a fact nor a key", setting.key);
                }
            }
        }
        assert!(conditions.len() > 60, "{} keys with a condition", conditions.len());
    }
}
