//! [`Scenario`]: topology, traffic, duration and what to measure. It names no scheme, so every
//! scheme can run in it. It is read and validated once; a value of this type can be run.

mod checks;
mod faults;
#[cfg(test)]
mod tests;
mod tiers;
mod warnings;

use crate::config::{
    ANY_TIME, ConfigError, Document, Entry, Files, Flag, Format, ListOf, OCCUPANCY, POSITIVE_TIME, ParamInfo,
    Positive, Reader, Setting, Shape, Text, Unit, Unless, keys,
};
pub(crate) use checks::find_port;
pub use faults::Fault;
use faults::FaultKeys;
pub use tiers::Tiers;

use crate::topology::{self, Graph};
use crate::traffic::{self, Context, Expected, Measured, Traffic};
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, Span};

/// A validated scenario.
#[derive(Debug)]
pub struct Scenario {
    /// Name that users type.
    pub name: String,
    /// One line on what it is.
    pub title: String,
    /// Arrivals stop and time-based metrics end here.
    pub duration: Span,
    /// The time before, and flows started before, do not count.
    pub warmup: Span,
    /// After `duration` the run goes on until every finite flow is done, but no longer than this.
    pub drain: Span,
    /// The network.
    pub graph: Graph,
    /// Switch ports, where their tier says nothing else.
    pub switch: SwitchSpec,
    /// Switch ports tier by tier.
    pub tiers: Tiers,
    /// Host ports.
    pub host: HostSpec,
    /// TCP of every host.
    pub tcp: TcpSpec,
    /// Names of traffic classes, indexed by [`ClassId`](shortflow_units::ClassId).
    pub classes: Vec<String>,
    /// Traffic entries in the order of the file.
    pub traffic: Vec<Box<dyn Traffic>>,
    /// Whether some flow has a deadline.
    pub deadlines: bool,
    /// What is recorded.
    pub measure: Measure,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// Every value with its source.
    pub resolved: Vec<Setting>,
    /// What is derived from other keys, what the topology comes to, and one line per traffic entry on the
    /// load that it offers.
    pub notes: Vec<String>,
    /// How many flows of each traffic entry count.
    pub expected: Vec<Expected>,
    /// What is accepted, but hardly meant.
    pub warnings: Vec<String>,
}

keys! {
    /// The keys outside any table.
    struct RunKeys {
        /// one line on what the scenario is
        title: String = required, Text::Line("what the scenario is");
        /// arrivals stop and time-based metrics end here
        duration: Span = required, POSITIVE_TIME;
        /// the time before, and flows started before, do not count
        warmup: Span = "0s", ANY_TIME;
        /// after duration the run goes on until every finite flow is done, but no longer than this; unless
        /// given, the longer of duration and 16 tcp.rto_min, in which four timeouts in a row fit
        drain: Option<Span> = optional, ANY_TIME;
    }
}

keys! {
    /// Switch ports.
    #[derive(Copy)]
    pub struct SwitchSpec {
        /// what a port holds
        pub buffer: Occupancy = required, OCCUPANCY;
        /// K: queues that mark do so when an arriving packet finds more than this
        pub mark_above: Occupancy = required, OCCUPANCY;
        /// memory that the ports of a switch share, each holding at most memory_alpha times what is free;
        /// static: each port has its buffer to itself
        pub memory: Option<Occupancy> = "static", Unless("static", OCCUPANCY);
        /// alpha of the dynamic threshold, where memory is shared
        pub memory_alpha: f64 = "1", Positive(1000.0);
    }
}

keys! {
    /// Host ports.
    #[derive(Copy)]
    pub struct HostSpec {
        /// what a port holds
        pub buffer: Occupancy = "unlimited", OCCUPANCY;
        /// random time, up to this, by which a packet of a host reaches its switch late; order is kept
        pub jitter: Span = "0s", ANY_TIME;
        /// pauses of each host per second, on average: its packets wait for the end, and go on in order
        pub stalls: f64 = "0", 0.0..=10_000.0;
        /// shortest pause
        pub stall_min: Span = "500us", ANY_TIME;
        /// longest pause
        pub stall_max: Span = "1500us", ANY_TIME;
    } in order {
        stall_min <= stall_max;
    }
}

keys! {
    /// TCP of every host.
    #[derive(Copy)]
    pub struct TcpSpec {
        /// payload of a full segment
        pub mss: Bytes = "1460B", Bytes::new(1)..=Bytes::new(65_000);
        /// headers of every packet
        pub header: Bytes = "40B", Bytes::new(1)..=Bytes::new(500);
        /// initial window, in segments
        pub initial_window: f64 = "2", 1.0..=1000.0;
        /// smallest retransmission timeout
        pub rto_min: Span = "10ms", POSITIVE_TIME;
        /// largest retransmission timeout
        pub rto_max: Span = "60s", POSITIVE_TIME;
        /// timeout before the first round-trip sample; auto: three base round trips, at least rto_min
        pub initial_rto: Option<Span> = "auto", Unless("auto", POSITIVE_TIME);
        /// tick of the retransmission clock; 0ps for a continuous one
        pub clock_granularity: Span = "0ps", ANY_TIME;
        /// segments per ACK; 1 turns delayed ACKs off
        pub ack_every: u32 = "1", 1..=64u32;
        /// longest time an ACK is delayed
        pub ack_delay: Span = "500us", POSITIVE_TIME;
        /// whether the end of a message is acknowledged at once, as by the answer of an application
        pub ack_message_end: bool = "false", Flag;
        /// first segments of a connection that are acknowledged one by one in spite of ack_every
        pub quick_acks: u32 = "0", 0..=1_000_000u32;
        /// whether a segment that changes the ECN echo, or tells of a cut, is acknowledged at once
        pub ack_ecn_changes: bool = "false", Flag;
        /// receive window, in segments
        pub receive_window: f64 = "unlimited", SegmentWindow;
        /// whether new connections exchange SYN and SYN-ACK first
        pub handshake: bool = "false", Flag;
        /// whether ACKs with ECN-Echo may open the window
        pub grow_on_marked_acks: bool = "false", Flag;
        /// whether an ACK of several segments opens the window as an ACK of each would
        pub grow_by_segments: bool = "false", Flag;
    } in order {
        rto_min <= rto_max;
    }
}

keys! {
    /// What to record, before ports are looked up.
    struct MeasureKeys {
        /// ports whose queue is followed; unless given, the port to the host that all traffic goes
        /// to, or all switch ports
        ports: Option<Vec<String>> = optional, PORTS;
        /// sampling interval
        sample_every: Option<Span> = "off", Unless("off", POSITIVE_TIME);
    }
}

const PORTS: ListOf<Text> = ListOf(Text::Port, "a list of ports such as [\"s0->h22\"]");

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// Ports whose queue is followed, as (sending node, receiving node).
    pub ports: Vec<(NodeId, NodeId)>,
    /// Sampling interval; `None` = no samples.
    pub sample_every: Option<Span>,
}

/// A number of segments such as `"1256pkt"`, or `"unlimited"`, which reads as infinity.
struct SegmentWindow;

impl Format for SegmentWindow {
    type Value = f64;
    fn read(&self, value: &toml::Value) -> Option<f64> {
        match OCCUPANCY.read(value)? {
            Occupancy::Packets(segments) if segments > 0 => Some(f64::from(segments)),
            Occupancy::Unlimited => Some(f64::INFINITY),
            Occupancy::Packets(_) | Occupancy::Bytes(_) => None,
        }
    }
    fn shape(&self) -> Shape {
        Shape::Quantity { unit: Unit::Window, low: None, high: None }
    }
}

/// The tables of a scenario whose keys do not depend on a kind.
const TABLES: &[Table] = &[
    Table { name: "switch", summary: "ports of every switch", parameters: SwitchSpec::parameters },
    Table { name: "host", summary: "ports of every host", parameters: HostSpec::parameters },
    Table { name: "tcp", summary: "TCP of every host", parameters: TcpSpec::parameters },
    Table { name: "measure", summary: "what is recorded", parameters: MeasureKeys::parameters },
];

/// One table or several: there may be any number of faults.
const FAULTS: Table = Table {
    name: "faults",
    summary: "what goes wrong; one table, or several as [[faults]]",
    parameters: FaultKeys::parameters,
};

struct Table {
    name: &'static str,
    summary: &'static str,
    parameters: fn() -> Vec<ParamInfo>,
}

/// The keys of a scenario that do not depend on a kind: those outside any table, then table by
/// table.
pub fn tables() -> Vec<Entry> {
    let entry = |table: &Table| Entry {
        name: table.name,
        summary: table.summary,
        source: "",
        parameters: (table.parameters)(),
    };
    let top = Table { name: "", summary: "keys outside any table", parameters: RunKeys::parameters };
    std::iter::once(&top).chain(TABLES).chain([&FAULTS]).map(entry).collect()
}

impl Scenario {
    /// Reads and validates a scenario. `settings` are `--set` pairs, `files` reads a file that the
    /// scenario names.
    pub fn parse(
        text: &str,
        name: &str,
        settings: &[(String, String)],
        files: &Files,
    ) -> Result<Scenario, ConfigError> {
        Scenario::of_values(shortflow_spec::parse(text, name)?, name, settings, files)
    }

    /// The same of values that need no parsing.
    pub fn of_values(
        values: toml::Table,
        name: &str,
        settings: &[(String, String)],
        files: &Files,
    ) -> Result<Scenario, ConfigError> {
        let plain_keys: Vec<&str> = RunKeys::parameters().iter().map(|key| key.name).collect();
        let document = Document::new(values, settings, &plain_keys, files)?;
        let mut scenario = Scenario::read(&Reader::new(&document), name)?;
        scenario.resolved = document.resolved();
        Ok(scenario)
    }

    fn read(top: &Reader, name: &str) -> Result<Scenario, ConfigError> {
        check_keys(top)?;
        let run = RunKeys::read(top)?;
        let topology = topology::read(&top.table("topology")?)?;
        let graph = topology.build();
        checks::routes(top, &graph)?;
        let switch = SwitchSpec::read(&top.table("switch")?)?;
        let host = HostSpec::read(&top.table("host")?)?;
        let tcp = TcpSpec::read(&top.table("tcp")?)?;
        checks::times(top, &run, &tcp)?;
        let packet = tcp.mss + tcp.header;
        checks::switch_port(&top.table("switch")?, &switch, packet)?;
        checks::holds_a_packet(&top.table("host")?, host.buffer, packet)?;
        let tiers = Tiers::read(&top.table("switch")?, &graph, packet)?;

        let mut context = Context::new(&graph, run.duration, tcp.mss);
        let drain = drain(top, &run, &tcp, &mut context.notes);
        context.notes.extend(topology.note().map(|note| format!("topology: {note}")));
        let entries = checks::traffic_entries(top)?;
        let traffic =
            entries.iter().map(|entry| traffic::read(entry, &mut context)).collect::<Result<Vec<_>, _>>()?;
        let measured = Measured { from: Instant::ZERO + run.warmup, to: Instant::ZERO + run.duration };
        let expected =
            entries.iter().zip(&traffic).map(|(entry, it)| traffic::expected(entry, &**it, measured));
        let expected = expected.collect::<Result<Vec<_>, _>>()?;
        checks::packets(top, context.packets)?;
        let measure = checks::measure(&top.table("measure")?, &context)?;
        let faults = faults::read(top, &graph, run.duration)?;
        checks::faults(top, &faults, &measure, &graph)?;
        let Context { classes, notes, deadlines, .. } = context;
        let warnings = warnings::of(&graph, (&switch, &tiers, &host), &tcp, &expected);
        let RunKeys { title, duration, warmup, .. } = run;
        let (name, resolved) = (name.to_owned(), Vec::new());
        Ok(Scenario {
            name,
            title,
            duration,
            warmup,
            drain,
            graph,
            switch,
            tiers,
            host,
            tcp,
            classes,
            traffic,
            deadlines,
            measure,
            faults,
            resolved,
            notes,
            expected,
            warnings,
        })
    }
}

/// Four timeouts in a row, each twice as long as the one before, take 15 times the smallest.
const DRAIN_TIMEOUTS: u64 = 16;

/// The drain that is given. Otherwise it goes with the scenario's scale: it never costs more than the
/// measured time did, unless that is too short for a flow to recover from timeouts.
fn drain(top: &Reader, run: &RunKeys, tcp: &TcpSpec, notes: &mut Vec<String>) -> Span {
    if let Some(drain) = run.drain {
        return drain;
    }
    let timeouts = tcp.rto_min.times(DRAIN_TIMEOUTS);
    let (drain, why) = match timeouts > run.duration {
        true => (timeouts, format!("{DRAIN_TIMEOUTS} tcp.rto_min")),
        false => (run.duration, "as long as duration".to_owned()),
    };
    top.defaulted("drain", drain.to_string());
    notes.push(format!("drain: {drain}, {why}, unless a value is given"));
    drain
}

/// Unknown keys come first: a misspelt key is a better complaint than the missing right one.
fn check_keys(top: &Reader) -> Result<(), ConfigError> {
    let tables: Vec<&str> = ["topology", "traffic", FAULTS.name]
        .into_iter()
        .chain(TABLES.iter().map(|table| table.name))
        .collect();
    top.only(&RunKeys::parameters(), &tables)?;
    TABLES.iter().try_for_each(|table| {
        let reader = top.table(table.name)?;
        // Which tiers there are is known once the topology has been read.
        let tiers = if table.name == "switch" { reader.tables_inside() } else { Vec::new() };
        reader.only(&(table.parameters)(), &tiers)
    })
}

impl Scenario {
    /// What the port of a switch towards another node has to be like.
    pub fn switch_port(&self, from: NodeId, to: NodeId) -> &SwitchSpec {
        self.tiers.port(&self.graph, from, to).unwrap_or(&self.switch)
    }
}
