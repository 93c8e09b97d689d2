//! Tables of a run in columns, with times in seconds and sizes in bytes. Exports as Arrow or JSON convert
//! these columns, so that a table has the same columns everywhere.

use crate::outcome::{DropRow, FlowRow, Outcome, Place};
use crate::packet::{EcnField, Packet};
use crate::probe::watch::{PacketEvent, PacketEventKind};
use crate::probe::{Samples, Subject};
use crate::scenario::Scenario;
use shortflow_units::{Bytes, Instant, NodeId, PortId};
use std::ops::Range;

/// Values of a column, one per row.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Names.
    Text(Vec<String>),
    /// Real numbers.
    Real(Vec<Option<f64>>),
    /// Counts that may be large.
    Count(Vec<Option<u64>>),
    /// Counts that are small.
    Small(Vec<Option<u32>>),
    /// Booleans.
    Flag(Vec<Option<bool>>),
}

/// Declaration of a column: name with its unit, type of its values, true if a value may be absent, and
/// meaning.
pub type Declared = (&'static str, &'static str, bool, &'static str);

/// Columns of the tables of a run.
pub const COLUMNS: [(&str, &[Declared]); 5] =
    [("flows", &FLOWS), ("tasks", &TASKS), ("samples", &SAMPLES), ("ports", &PORTS), ("drain_flows", &FLOWS)];

const FLOWS: [Declared; 25] = [
    ("id", "count", false, "number of the row"),
    ("source", "text", false, "sending host"),
    ("destination", "text", false, "receiving host"),
    ("class", "text", false, "class of the traffic"),
    ("size_bytes", "count", true, "payload to send; empty for a backlogged flow"),
    ("start_s", "real", false, "time at which the transport got the flow"),
    ("finish_s", "real", true, "time at which the last byte was acknowledged"),
    ("fct_s", "real", true, "completion time: finish_s − start_s"),
    (
        "received_s",
        "real",
        true,
        "time at which the receiver had all bytes; empty for testbeds and ideal schedulers",
    ),
    ("ideal_fct_s", "real", true, "completion time in an empty network with an unlimited window"),
    ("slowdown", "real", true, "fct_s / ideal_fct_s"),
    ("deadline_s", "real", true, "time allowed from start to finish"),
    ("missed", "flag", true, "true if the deadline was missed; empty while the flow is open"),
    ("retransmits", "small", false, "segments retransmitted, needed or not"),
    ("measured_retransmits", "small", false, "segments retransmitted in the measured time"),
    ("timeouts", "small", false, "retransmission timeouts"),
    ("measured_timeouts", "small", false, "retransmission timeouts in the measured time"),
    (
        "marks",
        "small",
        true,
        "data packets that arrived with a CE mark; empty if a connection of a testbed carries several flows",
    ),
    ("acked_bytes", "count", false, "payload acknowledged"),
    (
        "delivered_bytes",
        "count",
        false,
        "payload that arrived in the measured time, each byte once; for testbeds: payload acknowledged",
    ),
    ("queueing_s", "real", true, "mean wait of a data packet in queues"),
    ("switch_queueing_s", "real", true, "mean wait of a data packet in switches"),
    (
        "measured_switch_queueing_s",
        "real",
        true,
        "mean wait in switches of a data packet of the measured time",
    ),
    (
        "held_s",
        "real",
        false,
        "time in which the sender had data to send, but the small queue of its host was full",
    ),
    ("task", "count", true, "row of the task in the table of tasks"),
];
const TASKS: [Declared; 10] = [
    ("id", "count", false, "number of the row"),
    ("kind", "text", false, "`query`, `job`, `shuffle` or `request`"),
    ("class", "text", false, "class of the task's flows"),
    ("start_s", "real", false, "time at which the transport got the first message"),
    ("finish_s", "real", true, "time at which the last byte of the task arrived"),
    ("time_s", "real", true, "completion time: finish_s − start_s"),
    ("flows", "small", false, "number of flows"),
    ("deadline_s", "real", true, "time allowed from start to finish"),
    ("missed", "flag", true, "true if the deadline was missed; empty while the flow is open"),
    ("part_of", "count", true, "row of the task to which this part belongs"),
];
const SAMPLES: [Declared; 4] = [
    ("time_s", "real", false, "time of the sample"),
    (
        "kind",
        "text",
        false,
        "`queue_pkt`, `queue_bytes` of a measured port; `throughput_bps` of a class since the previous sample. \
         Backlogged flows have `flow_throughput_bps` since the previous sample, and `cwnd_seg`, `rate_bps` and \
         the law's `alpha`, if any",
    ),
    ("subject", "text", false, "port, class or flow"),
    ("value", "real", false, "value of the sample"),
];
const PORTS: [Declared; 21] = [
    ("port", "text", false, "sending and receiving node"),
    ("rate_bps", "count", false, "rate of the link"),
    ("tx_bytes", "count", false, "bytes of the packets whose last bit departed"),
    ("tx_packets", "count", false, "number of these packets"),
    ("drops", "count", false, "packets of any kind dropped here"),
    ("marks", "count", false, "packets of any kind marked here"),
    ("trims", "count", false, "data packets that lost their payload here"),
    (
        "returns",
        "count",
        false,
        "headers of such packets that went back from here to the senders of their data",
    ),
    ("queue_mean_pkt", "real", false, "time average of the backlog, in packets"),
    ("queue_max_pkt", "count", false, "largest backlog, in packets"),
    (
        "queue_p50_pkt",
        "count",
        true,
        "backlog that is not exceeded for 50 % of the time, in packets; of measured ports, if samples are on",
    ),
    (
        "queue_p95_pkt",
        "count",
        true,
        "backlog that is not exceeded for 95 % of the time, in packets; of measured ports, if samples are on",
    ),
    (
        "queue_p99_pkt",
        "count",
        true,
        "backlog that is not exceeded for 99 % of the time, in packets; of measured ports, if samples are on",
    ),
    ("queue_mean_bytes", "real", false, "time average of the backlog, in bytes"),
    ("queue_max_bytes", "count", false, "largest backlog, in bytes"),
    (
        "queue_p50_bytes",
        "count",
        true,
        "backlog that is not exceeded for 50 % of the time, in bytes, rounded up to a multiple of 128; of measured \
         ports, if samples are on",
    ),
    (
        "queue_p95_bytes",
        "count",
        true,
        "backlog that is not exceeded for 95 % of the time, in bytes, rounded up to a multiple of 128; of measured \
         ports, if samples are on",
    ),
    (
        "queue_p99_bytes",
        "count",
        true,
        "backlog that is not exceeded for 99 % of the time, in bytes, rounded up to a multiple of 128; of measured \
         ports, if samples are on",
    ),
    ("utilisation", "real", false, "share of the time in which the link was busy"),
    (
        "pauses",
        "count",
        true,
        "number of times that the other end of the link or a fault paused data; of ports that can be paused",
    ),
    ("paused_s", "real", true, "time for which data was paused at the port"),
];

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name, with the unit at its end.
    pub name: &'static str,
    /// Values of the column.
    pub values: Values,
    /// True if a value may be absent.
    pub nullable: bool,
}

/// Tables of a run by name, except [`samples`], which may have many rows.
pub fn tables(outcome: &Outcome, scenario: &Scenario) -> [(&'static str, Vec<Column>); 4] {
    [
        ("flows", flows(&outcome.flows, outcome.end, scenario)),
        ("drain_flows", flows(&outcome.drain_flows, outcome.end, scenario)),
        ("tasks", tasks(outcome, scenario)),
        ("ports", ports(outcome, scenario)),
    ]
}

/// Name of a port, such as `s0->h22`.
pub fn port_name(scenario: &Scenario, from: NodeId, to: NodeId) -> String {
    format!("{}->{}", scenario.graph.name(from), scenario.graph.name(to))
}

fn name_of_port(scenario: &Scenario, port: PortId) -> String {
    let (from, to) = scenario.graph.ends(port);
    port_name(scenario, from, to)
}

/// Names of all ports in order, two per link.
pub fn port_names(scenario: &Scenario) -> Vec<String> {
    let names = scenario.graph.links.iter();
    names
        .flat_map(|link| [port_name(scenario, link.a, link.b), port_name(scenario, link.b, link.a)])
        .collect()
}

/// Name of the place where packets were dropped.
pub fn place_name(scenario: &Scenario, row: &DropRow) -> String {
    match row.place {
        Place::Port(from, to) => port_name(scenario, from, to),
        Place::Node(node) => scenario.graph.name(node).to_owned(),
    }
}

/// Bytes of memory of a row of the flow table, in the outcome and in the columns made of it.
const BYTES_PER_FLOW: usize = size_of::<FlowRow>() + 400;
/// Bytes of memory of a sample. Its columns are made block by block.
const BYTES_PER_SAMPLE: usize = size_of::<f64>();

/// Minimum memory of the two tables with most rows, in bytes, estimated before the run.
pub fn expected_bytes(scenario: &Scenario) -> f64 {
    let duration = scenario.duration.as_secs_f64();
    let in_all = duration / (duration - scenario.warmup.as_secs_f64());
    let flows: f64 = scenario.expected().iter().map(|expected| expected.flows.known() * in_all).sum();
    let backlogged: u64 = scenario.expected().iter().map(|expected| expected.backlogged).sum();
    let times = scenario.measure.sample_every.map_or(0.0, |every| duration / every.as_secs_f64());
    let subjects = 2 * scenario.measure.ports.len() + scenario.classes.len() + 2 * backlogged as usize;
    (flows + backlogged as f64) * BYTES_PER_FLOW as f64 + times * (subjects * BYTES_PER_SAMPLE) as f64
}

/// True if there is memory for the columns of `outcome`.
pub fn fit(outcome: &Outcome) -> bool {
    Vec::<u8>::new().try_reserve_exact(outcome.flows.len() * BYTES_PER_FLOW).is_ok()
}

fn column((name, values, nullable): (&'static str, Values, bool)) -> Column {
    Column { name, values, nullable }
}
fn columns<const N: usize>(declared: &[Declared; N], values: [Values; N]) -> Vec<Column> {
    let pairs = declared.iter().zip(values);
    pairs.map(|(&(name, _, nullable, _), values)| Column { name, values, nullable }).collect()
}
fn text<T>(rows: &[T], of: impl Fn(&T) -> String) -> Values {
    Values::Text(rows.iter().map(of).collect())
}
fn real<T>(rows: &[T], of: impl Fn(&T) -> Option<f64>) -> Values {
    Values::Real(rows.iter().map(of).collect())
}
fn count<T>(rows: &[T], of: impl Fn(&T) -> Option<u64>) -> Values {
    Values::Count(rows.iter().map(of).collect())
}
fn small<T>(rows: &[T], of: impl Fn(&T) -> Option<u32>) -> Values {
    Values::Small(rows.iter().map(of).collect())
}
fn flag<T>(rows: &[T], of: impl Fn(&T) -> Option<bool>) -> Values {
    Values::Flag(rows.iter().map(of).collect())
}
fn numbers(rows: usize) -> Values {
    Values::Count((0..rows as u64).map(Some).collect())
}

/// One row per flow, for a run that ended at `end`.
fn flows(rows: &[FlowRow], end: Instant, scenario: &Scenario) -> Vec<Column> {
    let host = |host: u32| scenario.graph.name(NodeId(host)).to_owned();
    let values = [
        numbers(rows.len()),
        text(rows, |row| host(row.source.0)),
        text(rows, |row| host(row.destination.0)),
        text(rows, |row| scenario.classes[row.class.index()].clone()),
        count(rows, |row| (row.size != Bytes::MAX).then_some(row.size.get())),
        real(rows, |row| Some(row.start.as_secs_f64())),
        real(rows, |row| row.finish.map(|finish| finish.as_secs_f64())),
        real(rows, |row| row.fct().map(|fct| fct.as_secs_f64())),
        real(rows, |row| row.received.map(|received| received.as_secs_f64())),
        real(rows, |row| row.ideal.map(|ideal| ideal.as_secs_f64())),
        real(rows, FlowRow::slowdown),
        real(rows, |row| row.deadline.map(|deadline| deadline.as_secs_f64())),
        flag(rows, |row| row.missed(end)),
        small(rows, |row| Some(row.retransmits)),
        small(rows, |row| Some(row.retransmits_in_window)),
        small(rows, |row| Some(row.timeouts)),
        small(rows, |row| Some(row.timeouts_in_window)),
        small(rows, FlowRow::marks),
        count(rows, |row| Some(row.acked.get())),
        count(rows, |row| Some(row.delivered_in_window.get())),
        real(rows, FlowRow::queueing),
        real(rows, FlowRow::switch_queueing),
        real(rows, FlowRow::measured_switch_queueing),
        real(rows, |row| Some(row.held.as_secs_f64())),
        count(rows, |row| row.task.map(|task| task.index() as u64)),
    ];
    columns(&FLOWS, values)
}

/// One row per task.
pub fn tasks(outcome: &Outcome, scenario: &Scenario) -> Vec<Column> {
    let rows = &outcome.tasks[..];
    let values = [
        numbers(rows.len()),
        text(rows, |row| row.kind.word().to_owned()),
        text(rows, |row| scenario.classes[row.class.index()].clone()),
        real(rows, |row| Some(row.start.as_secs_f64())),
        real(rows, |row| row.finish.map(|finish| finish.as_secs_f64())),
        real(rows, |row| row.time().map(|time| time.as_secs_f64())),
        small(rows, |row| Some(row.flows)),
        real(rows, |row| row.deadline.map(|deadline| deadline.as_secs_f64())),
        flag(rows, |row| row.missed(outcome.end)),
        count(rows, |row| row.part_of.map(|whole| whole.index() as u64)),
    ];
    columns(&TASKS, values)
}

/// One row for each sample of `rows`.
pub fn samples(samples: &Samples, rows: Range<usize>, scenario: &Scenario) -> Vec<Column> {
    let rows = &samples.rows(rows).collect::<Vec<_>>()[..];
    let describe = |subject: Subject| match subject {
        Subject::QueuePackets(port) => ("queue_pkt", name_of_port(scenario, port)),
        Subject::QueueBytes(port) => ("queue_bytes", name_of_port(scenario, port)),
        Subject::Cwnd(flow) => ("cwnd_seg", flow.0.to_string()),
        Subject::Alpha(flow) => ("alpha", flow.0.to_string()),
        Subject::FlowThroughput(flow) => ("flow_throughput_bps", flow.0.to_string()),
        Subject::Rate(flow) => ("rate_bps", flow.0.to_string()),
        Subject::Throughput(class) => ("throughput_bps", scenario.classes[class.index()].clone()),
    };
    let values = [
        real(rows, |row| Some(row.at.as_secs_f64())),
        text(rows, |row| describe(row.subject).0.to_owned()),
        text(rows, |row| describe(row.subject).1),
        real(rows, |row| Some(row.value)),
    ];
    columns(&SAMPLES, values)
}

/// One row per port.
pub fn ports(outcome: &Outcome, scenario: &Scenario) -> Vec<Column> {
    let rows = &outcome.ports[..];
    let packets = |at: usize| count(rows, move |row| row.percentiles.map(|found| found.packets[at]));
    let bytes = |at: usize| count(rows, move |row| row.percentiles.map(|found| found.bytes[at]));
    let values = [
        text(rows, |row| port_name(scenario, row.from, row.to)),
        count(rows, |row| Some(row.rate.as_bps())),
        count(rows, |row| Some(row.tx_bytes.get())),
        count(rows, |row| Some(row.tx_packets)),
        count(rows, |row| Some(row.drops)),
        count(rows, |row| Some(row.marks)),
        count(rows, |row| Some(row.trims)),
        count(rows, |row| Some(row.returns)),
        real(rows, |row| Some(row.mean_packets)),
        count(rows, |row| Some(u64::from(row.max_packets))),
        packets(0),
        packets(1),
        packets(2),
        real(rows, |row| Some(row.mean_bytes)),
        count(rows, |row| Some(row.max_bytes.get())),
        bytes(0),
        bytes(1),
        bytes(2),
        real(rows, |row| Some(row.utilisation)),
        count(rows, |row| row.pauses.map(|counts| counts.pauses)),
        real(rows, |row| row.pauses.map(|counts| counts.paused.as_secs_f64())),
    ];
    columns(&PORTS, values)
}

/// One row per event of a packet, of its sender, or of flow control.
pub fn packets(rows: &[PacketEvent], scenario: &Scenario) -> Vec<Column> {
    let port = |row: &PacketEvent| row.port.map_or_else(String::new, |port| name_of_port(scenario, port));
    let reason = |row: &PacketEvent| match row.kind {
        PacketEventKind::Dropped(reason) => reason.name(),
        _ => "",
    };
    let frame_priority = |row: &PacketEvent| match row.kind {
        PacketEventKind::Pause(priority) | PacketEventKind::Resume(priority) => Some(priority.into()),
        _ => None,
    };
    let of = |row: &PacketEvent, what: fn(&Packet) -> u64| row.packet.as_ref().map(what);
    let is = |row: &PacketEvent, what: fn(&Packet) -> bool| row.packet.as_ref().map(what);
    let columns = [
        ("time_s", real(rows, |row| Some(row.at.as_secs_f64())), false),
        ("flow", count(rows, |row| row.flow.map(|flow| u64::from(flow.0))), true),
        ("connection", small(rows, |row| row.connection), true),
        ("event", text(rows, |row| row.kind.name().to_owned()), false),
        ("reason", text(rows, |row| reason(row).to_owned()), false),
        ("port", text(rows, port), false),
        (
            "kind",
            text(rows, |row| row.packet.as_ref().map_or("", |packet| packet.kind.word()).to_owned()),
            false,
        ),
        ("seq", count(rows, |row| of(row, |packet| packet.seq)), true),
        ("length", count(rows, |row| of(row, |packet| packet.payload.into())), true),
        ("queue_pkt", count(rows, |row| row.backlog.map(|backlog| backlog.packets.into())), true),
        ("queue_bytes", count(rows, |row| row.backlog.map(|backlog| backlog.bytes.get())), true),
        ("ce", flag(rows, |row| is(row, |packet| packet.ecn == EcnField::Ce)), true),
        ("ece", flag(rows, |row| is(row, Packet::ece)), true),
        ("cwnd_seg", real(rows, |row| row.cwnd), true),
        ("pfc_priority", small(rows, frame_priority), true),
    ];
    columns.into_iter().map(column).collect()
}
