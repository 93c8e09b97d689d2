//! Reads and validates a [`Scenario`].

use super::checks::PortDemands;
use super::faults::{self, FaultKeys};
use super::keys::{MeasureKeys, RunKeys};
use super::{Scenario, Spec, Tiers, checks, drain, lossless, warnings};
use crate::config::{ConfigError, Document, Entry, Files, ParamInfo, Reader, Source, of_user};
use crate::specs::{Conduct, HostSpec, SwitchSpec, TcpSpec};
use crate::topology::{Graph, Topology};
use crate::traffic::{self, Context, Expected, MeasurementWindow, Traffic};
use crate::{routing, topology};
use shortflow_units::{Instant, Span};

/// A table whose keys do not depend on a kind. An empty name stands for the keys outside any table.
struct Table {
    name: &'static str,
    summary: &'static str,
    parameters: fn() -> Vec<ParamInfo>,
}

/// Tables whose keys do not depend on a kind. There may be several tables of faults.
const TABLES: [Table; 6] = [
    Table { name: "", summary: "keys outside any table", parameters: RunKeys::parameters },
    Table { name: "switch", summary: "ports of every switch", parameters: SwitchSpec::parameters },
    Table { name: "host", summary: "ports of every host", parameters: HostSpec::parameters },
    Table { name: "tcp", summary: "TCP of every host", parameters: TcpSpec::parameters },
    Table { name: "measure", summary: "recorded data", parameters: MeasureKeys::parameters },
    Table {
        name: "faults",
        summary: "faults of links; one table, or several as [[faults]]",
        parameters: FaultKeys::parameters,
    },
];

/// Tables of a scenario whose keys do not depend on a kind, beginning with the keys outside any table.
pub fn tables() -> Vec<Entry> {
    let entry =
        |Table { name, summary, parameters }| Entry { name, summary, source: "", parameters: parameters() };
    TABLES.map(entry).into()
}

/// Extends the error about an unknown key by the tables that have a key of this name.
fn of_another_table(error: ConfigError) -> ConfigError {
    let ConfigError::Unknown { key, what: what @ ("key" | "parameter"), hint } = error else { return error };
    let (own, name) = key.rsplit_once('.').unwrap_or(("", &key));
    let named = |parameters: &[ParamInfo]| parameters.iter().any(|parameter| parameter.name == name);
    // Topologies have short keys such as `k`. A similar known key is a better guess than one of these.
    let of_kinds =
        hint.starts_with("known are") && topology::topologies().iter().any(|kind| named(&kind.parameters));
    let tables = TABLES.iter().filter(|table| named(&(table.parameters)())).map(|table| table.name);
    let tables = tables.chain(of_kinds.then_some("topology"));
    let others = tables.filter(|table| !table.is_empty() && *table != own);
    let paths: Vec<String> = others.map(|table| format!("\"{table}.{name}\"")).collect();
    let is_named = hint.contains(&format!(".{name}\"")); // the hint already names the path of the key
    let hint =
        if paths.is_empty() || is_named { hint } else { format!("did you mean {}?", paths.join(" or ")) };
    ConfigError::Unknown { key, what, hint }
}

impl Scenario {
    /// Reads and validates a scenario. `settings` are `--set` pairs, and `files` reads files that the
    /// scenario names.
    pub fn parse(
        text: &str,
        name: &str,
        settings: &[(String, String)],
        files: &Files,
    ) -> Result<Scenario, ConfigError> {
        Scenario::of_values(shortflow_spec::parse(text, name)?, name, settings, files)
    }

    /// Reads and validates a scenario from parsed values, with settings of the user only.
    pub fn of_values(
        values: toml::Table,
        name: &str,
        settings: &[(String, String)],
        files: &Files,
    ) -> Result<Scenario, ConfigError> {
        Scenario::with_settings(values, name, of_user(settings), files, (true, true))
    }

    /// Reads and validates a scenario from parsed values. Later settings override earlier ones. `reads_k` is
    /// as in [`Scheme`](crate::scheme::Scheme::reads_k).
    pub fn with_settings<'s>(
        values: toml::Table,
        name: &str,
        settings: impl IntoIterator<Item = (&'s str, &'s str, Source)>,
        files: &Files,
        reads_k: (bool, bool),
    ) -> Result<Scenario, ConfigError> {
        let plain_keys: Vec<&str> = RunKeys::parameters().iter().map(|key| key.name).collect();
        let document = Document::new(values, settings, &plain_keys, files).map_err(of_another_table)?;
        let mut scenario =
            Scenario::read(&Reader::new(&document), name, reads_k).map_err(of_another_table)?;
        scenario.resolved = document.resolved();
        scenario.facts = document.facts();
        Ok(scenario)
    }

    fn read(top: &Reader, name: &str, reads_k: (bool, bool)) -> Result<Scenario, ConfigError> {
        check_keys(top)?;
        let run = RunKeys::read(top)?;
        let topology = topology::read(&top.table("topology")?)?;
        let graph = topology.build();
        checks::routes(top, &graph)?;
        let routing = routing::read(&top.table("routing")?)?;
        let Nodes { switch, tiers, host, tcp, conduct } =
            Nodes::read(top, &run, (&graph, &topology.warnings()), reads_k)?;
        let round_trip = warnings::round_trip(&graph);
        let Load { mut context, traffic, priorities, expected } =
            Load::read(top, &run, (&*topology, &graph), (&tcp, round_trip.0))?;
        let measure = checks::measure(&top.table("measure")?, &context)?;
        let faults = faults::read(top, (&graph, &context.names), (run.duration, &priorities))?;
        checks::faults(top, &faults, &measure, &graph)?;
        let drain = run.drain.unwrap_or_else(|| drain::by_default(top, round_trip.0, &faults, &mut context));
        checks::packets(top, context.packets.min(context.carried(run.duration + drain)))?;
        let Context {
            classes, transports, mut notes, names, mut warnings, omitted, peers, deadlines, ..
        } = context;
        warnings.extend(names.warnings());
        warnings.extend(omitted.iter().cloned());
        let transports = transports.into_iter().map(|(class, (_, transport))| (class, transport)).collect();
        let RunKeys { title, duration, warmup, .. } = run;
        let spec = Spec {
            name: name.to_owned(),
            title,
            duration,
            warmup,
            drain,
            graph,
            routing,
            switch,
            tiers,
            host,
            tcp,
            conduct,
            classes,
            transports,
            traffic,
            priorities,
            peers,
            deadlines,
            measure,
            faults,
        };
        let rto_min_is_given = top.table("tcp")?.texts().iter().any(|(key, _)| key == "rto_min");
        warnings.extend(warnings::of(&spec, round_trip, rto_min_is_given, &expected));
        show_conduct(top, conduct)?;
        notes.extend(spec.jitter_note());
        let lossless = lossless::fits(top, &spec)?;
        notes.extend(lossless.note);
        warnings.extend(lossless.warnings);
        Ok(Scenario { spec, resolved: Vec::new(), facts: Vec::new(), notes, expected, warnings, omitted })
    }
}

/// Settings of switches, hosts and TCP.
struct Nodes {
    switch: SwitchSpec,
    tiers: Tiers,
    host: HostSpec,
    tcp: TcpSpec,
    conduct: Conduct,
}

impl Nodes {
    /// Reads and checks the settings. `warnings` are those of the topology.
    fn read(
        top: &Reader,
        run: &RunKeys,
        (graph, warnings): (&Graph, &[String]),
        (of_switches, of_hosts): (bool, bool),
    ) -> Result<Nodes, ConfigError> {
        let switch = SwitchSpec::read(&top.table("switch")?)?;
        let host = HostSpec::read(&top.table("host")?)?;
        let tcp = TcpSpec::read(&top.table("tcp")?)?;
        let conduct = Conduct::of(&host, &tcp);
        let tcp = TcpSpec { growth: Some(conduct.growth), ..tcp };
        checks::times(top, run, &tcp)?;
        let demands = |reads_k| PortDemands { packet: tcp.full_frame(), reads_k };
        checks::switch_port(&top.table("switch")?, &switch, demands(of_switches))?;
        checks::host_port(&top.table("host")?, &host, demands(of_hosts))?;
        let tiers = Tiers::read(&top.table("switch")?, (graph, warnings), demands(of_switches))?;
        Ok(Nodes { switch, tiers, host, tcp, conduct })
    }
}

/// Traffic entries, with the facts and the expected flows that follow from them.
struct Load<'a> {
    context: Context<'a>,
    traffic: Vec<Box<dyn Traffic>>,
    /// Priority of each entry.
    priorities: Vec<u8>,
    expected: Vec<Expected>,
}

impl<'a> Load<'a> {
    /// Reads the traffic entries. `round_trip` is the longest base round trip.
    fn read(
        top: &Reader,
        run: &RunKeys,
        (topology, graph): (&dyn Topology, &'a Graph),
        (tcp, round_trip): (&TcpSpec, Span),
    ) -> Result<Load<'a>, ConfigError> {
        let mut context = Context::new(graph, run.duration, *tcp);
        context.warmup = run.warmup;
        context.window_rate = tcp.receive_window * tcp.mss.as_f64() / round_trip.as_secs_f64();
        context.warnings.extend(topology.warnings());
        context.notes.extend(topology.note().map(|note| format!("topology: {note}")));
        let entries = checks::traffic_entries(top)?;
        let traffic = traffic::read_all(&entries, &mut context)?;
        let priorities: Vec<u8> = entries.iter().map(traffic::priority).collect::<Result<_, _>>()?;
        let measured =
            MeasurementWindow { from: Instant::ZERO + run.warmup, to: Instant::ZERO + run.duration };
        let mut expected = Vec::new();
        for (entry, it) in entries.iter().zip(&traffic) {
            expected.push(traffic::expected(entry, &**it, measured, &mut context.warnings)?);
        }
        Ok(Load { context, traffic, priorities, expected })
    }
}

/// Shows the values that `host.model` sets.
fn show_conduct(top: &Reader, conduct: Conduct) -> Result<(), ConfigError> {
    let model = "host.model";
    top.table("host")?.settled("small_queue", &conduct.small_queue.to_string(), model);
    top.table("tcp")?.settled("growth", conduct.growth.word(), model);
    Ok(())
}

/// Checks for unknown keys before anything else: an error about a misspelt key helps more than an error about
/// the key that is missing because of it.
fn check_keys(top: &Reader) -> Result<(), ConfigError> {
    let [_, plain @ .., faults] = &TABLES;
    let tables = ["topology", "routing", "traffic", faults.name];
    let tables: Vec<&str> = tables.into_iter().chain(plain.iter().map(|table| table.name)).collect();
    top.only(&RunKeys::parameters(), &tables)?;
    plain.iter().try_for_each(|Table { name, parameters, .. }| {
        let reader = top.table(name)?;
        // Tiers are known only after the topology is read.
        let tiers = if *name == "switch" { reader.tables_inside() } else { Vec::new() };
        if *name == "host" && reader.texts().iter().any(|(key, _)| key == "queue") {
            let reason = "the key belongs to schemes, and a scenario names no scheme; use --set host.queue=fair for all \
                          schemes, or dctcp+host.queue=fair for one";
            return Err(reader.impossible("queue", reason));
        }
        reader.only(&parameters(), &tiers)
    })
}
