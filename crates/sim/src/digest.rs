//! [`Outcome::digest`]: SHA-256 over every field of an outcome except the run's cost, in this encoding.
//!
//! | value | bytes |
//! |---|---|
//! | the beginning | the text `shortflow outcome 3` and a line feed; another encoding gets another number |
//! | identifier, `u32` | 4, little endian |
//! | `u64`, time in ps, size in bytes, rate in bit/s | 8, little endian |
//! | `f64` | 8: its IEEE 754 bits, little endian |
//! | variant of an enum | 1: its position, from 0; then its fields |
//! | `Option` | 1: 0, or 1 and then the value |
//! | list | 8: its length; then its elements |
//! | row | its fields, in the order in which they stand in `rows!` |

use crate::host::DeliveryCounters;
use crate::net::Percentiles;
use crate::outcome::{Counters, DropRow, FlowRow, Outcome, Place, PortRow};
use crate::probe::{Sample, Subject};
use crate::queue::DropReason;
use crate::traffic::{TaskId, TaskKind, TaskRow};
use sha2::Sha256;
use sha2::digest::Update;
use shortflow_units::{Bytes, ClassId, FlowId, HostId, Instant, NodeId, PortId, Rate, Span};

const FORMAT: &[u8] = b"shortflow outcome 3\n";

impl Outcome {
    /// SHA-256 over all results here, field by field: equal for equal scenario, scheme and seed on any
    /// machine.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::default();
        self.write(&mut hash);
        sha2::Digest::finalize(hash).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn write(&self, out: &mut impl Update) {
        out.update(FORMAT);
        self.encode(out);
    }
}

/// Input of a digest.
trait Encode {
    fn encode(&self, out: &mut impl Update);
}

macro_rules! numbers {
    ($($type:ty: $value:pat => $number:expr,)+) => {$(
        impl Encode for $type {
            fn encode(&self, out: &mut impl Update) {
                let $value = *self;
                out.update(&$number.to_le_bytes());
            }
        }
    )+};
}

numbers! {
    u32: value => value,
    u64: value => value,
    f64: value => value.to_bits(),
    Instant: at => at.as_ps(),
    Span: span => span.as_ps(),
    Bytes: bytes => bytes.get(),
    Rate: rate => rate.as_bps(),
    ClassId: id => id.0,
    FlowId: id => id.0,
    HostId: id => id.0,
    NodeId: id => id.0,
    PortId: id => id.0,
    TaskId: id => id.index() as u32,
    TaskKind: kind => kind as u8,
    DropReason: reason => reason as u8,
}

/// The patterns name every field, costs behind a semicolon, so a new field cannot be forgotten.
macro_rules! rows {
    ($($row:ident { $($field:ident),+ $(,)? $(; $($cost:ident),+)? })+) => {$(
        impl Encode for $row {
            fn encode(&self, out: &mut impl Update) {
                let $row { $($field,)+ $($($cost: _),+)? } = self;
                $($field.encode(out);)+
            }
        }
    )+};
}

rows! {
    Outcome { flows, drain_flows, tasks, samples, ports, drops, counters, end }
    FlowRow {
        source, destination, class, size, start, finish, ideal, deadline, retransmits, retransmits_in_window,
        timeouts, timeouts_in_window, marks, packets, waited, left, waited_at_host, held, acked, delivered_in_window,
        measured, task; width, received, waited_in_switches
    }
    DeliveryCounters { left, waited_at_host, held, arrived, marks, waited; waited_in_switches }
    TaskRow { kind, class, start, finish, flows, deadline, part_of }
    Sample { at, subject, value }
    PortRow {
        from, to, rate, tx_bytes, tx_packets, drops, marks, mean_packets, max_packets, mean_bytes, max_bytes,
        percentiles, utilisation,
    }
    Percentiles { packets, bytes }
    DropRow { place, reason, in_run, measured }
    Counters {
        packet_hops, packets_sent, packets_delivered, packets_dropped, packets_in_flight, unfinished,
        connections_peak, drain_flows, drain_bytes; events
    }
}

impl Encode for Place {
    fn encode(&self, out: &mut impl Update) {
        match self {
            Place::Port(from, to) => {
                out.update(&[0]);
                from.encode(out);
                to.encode(out);
            }
            Place::Node(node) => {
                out.update(&[1]);
                node.encode(out);
            }
        }
    }
}

impl Encode for Subject {
    fn encode(&self, out: &mut impl Update) {
        let (variant, of) = match *self {
            Subject::QueuePackets(port) => (0, port.0),
            Subject::QueueBytes(port) => (1, port.0),
            Subject::Cwnd(flow) => (2, flow.0),
            Subject::Alpha(flow) => (3, flow.0),
            Subject::FlowThroughput(flow) => (4, flow.0),
            Subject::Throughput(class) => (5, class.0),
            Subject::Rate(flow) => (6, flow.0),
        };
        out.update(&[variant]);
        of.encode(out);
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut impl Update) {
        out.update(&[u8::from(self.is_some())]);
        self.iter().for_each(|value| value.encode(out));
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, out: &mut impl Update) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|element| element.encode(out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{AppActions, ConnectionUse, FlowArrival};
    use std::collections::BTreeSet;

    fn arrival() -> FlowArrival {
        let (source, destination, class) = (HostId(0), HostId(1), ClassId(0));
        let (at, size, connection) = (Instant::ZERO, Bytes::new(1000), ConnectionUse::New);
        FlowArrival { at, source, destination, size, class, deadline: None, connection, stop: None }
    }

    fn steps() -> (AppActions, TaskId) {
        let mut steps = AppActions::default();
        let task = steps.open(TaskKind::Query, ClassId(0), Instant::ZERO, None);
        (steps, task)
    }

    /// One row of everything.
    fn outcome() -> Outcome {
        let port = PortRow {
            from: NodeId(0),
            to: NodeId(1),
            rate: Rate::new(1).unwrap(),
            tx_bytes: Bytes::ZERO,
            tx_packets: 0,
            drops: 0,
            marks: 0,
            mean_packets: 0.0,
            max_packets: 0,
            mean_bytes: 0.0,
            max_bytes: Bytes::ZERO,
            percentiles: Some(Percentiles { packets: [0; 3], bytes: [0; 3] }),
            utilisation: 0.0,
        };
        Outcome {
            flows: vec![FlowRow::new(&arrival(), None)],
            drain_flows: vec![FlowRow::new(&arrival(), None)],
            tasks: steps().0.into_tasks(),
            samples: vec![Sample { at: Instant::ZERO, subject: Subject::Cwnd(FlowId(0)), value: 0.0 }],
            ports: vec![port],
            drops: vec![DropRow {
                place: Place::Node(NodeId(0)),
                reason: DropReason::Loss,
                in_run: 0,
                measured: 0,
            }],
            counters: Counters::default(),
            end: Instant::ZERO,
        }
    }

    /// Changes the fields of a row one by one. Each change must give another digest, except changes of costs, which are
    /// behind a semicolon. The first line compiles only with all fields.
    macro_rules! each_field_counts {
        ($at:expr, $row:ident { $($field:ident: $value:expr),+ $(,)? $(; $($cost:ident: $spent:expr),+)? }) => {{
            let _all = $row { $($field: $value,)+ $($($cost: $spent),+)? };
            let at: fn(&mut Outcome) -> &mut $row = $at;
            let mut seen = BTreeSet::from([outcome().digest()]);
            $(
                let mut changed = outcome();
                at(&mut changed).$field = $value;
                assert!(seen.insert(changed.digest()), "{}.{}", stringify!($row), stringify!($field));
            )+
            $($(
                let mut changed = outcome();
                at(&mut changed).$cost = $spent;
                assert_eq!(changed.digest(), outcome().digest(), "{}", stringify!($cost));
            )+)?
        }};
    }

    #[test]
    fn each_field_of_each_row_counts() {
        let (moment, span, bytes) = (Instant::from_ps(1), Span::from_ps(1), Bytes::new(1));
        each_field_counts! { |all| &mut all.flows[0], FlowRow {
            source: HostId(7), destination: HostId(7), class: ClassId(7), size: bytes, start: moment,
            finish: Some(moment), ideal: Some(span), deadline: Some(span), retransmits: 1,
            retransmits_in_window: 1, timeouts: 1, timeouts_in_window: 1, marks: 1, packets: 1, waited: span, left: 1,
            waited_at_host: span, held: span, acked: bytes, delivered_in_window: bytes,
            measured: DeliveryCounters { left: 1, ..DeliveryCounters::default() }, task: Some(steps().1);
            width: 11.0, received: Some(moment), waited_in_switches: 1.0
        } }
        each_field_counts! { |all| &mut all.flows[0].measured, DeliveryCounters {
            left: 1, waited_at_host: span, held: span, arrived: 1, marks: 1, waited: span;
            waited_in_switches: 1.0
        } }
        each_field_counts! { |all| &mut all.tasks[0], TaskRow {
            kind: TaskKind::Job, class: ClassId(7), start: moment, finish: Some(moment), flows: 1,
            deadline: Some(span), part_of: Some(steps().1),
        } }
        each_field_counts! { |all| &mut all.samples[0], Sample {
            at: moment, subject: Subject::Alpha(FlowId(0)), value: 0.5,
        } }
        each_field_counts! { |all| &mut all.ports[0], PortRow {
            from: NodeId(7), to: NodeId(7), rate: Rate::new(2).unwrap(), tx_bytes: bytes, tx_packets: 1, drops: 1,
            marks: 1, mean_packets: 0.5, max_packets: 1, mean_bytes: 0.5, max_bytes: bytes, percentiles: None,
            utilisation: 0.5,
        } }
        each_field_counts! { |all| all.ports[0].percentiles.as_mut().unwrap(), Percentiles {
            packets: [0, 0, 1], bytes: [1, 0, 0],
        } }
        each_field_counts! { |all| &mut all.drops[0], DropRow {
            place: Place::Node(NodeId(7)), reason: DropReason::NoRoute, in_run: 1, measured: 1,
        } }
        each_field_counts! { |all| &mut all.counters, Counters {
            packet_hops: 1, packets_sent: 1, packets_delivered: 1, packets_dropped: 1,
            packets_in_flight: 1, unfinished: 1, connections_peak: 1, drain_flows: 1, drain_bytes: 1; events: 1
        } }
        each_field_counts! { |all| all, Outcome {
            flows: Vec::new(), drain_flows: Vec::new(), tasks: Vec::new(), samples: Vec::new(), ports: Vec::new(),
            drops: Vec::new(),            counters: Counters { unfinished: 1, ..Counters::default() }, end: moment,
        } }
    }

    /// The number of different digests of outcomes with each of `changes`.
    fn different<T: Copy>(changes: &[T], change: impl Fn(&mut Outcome, T)) -> usize {
        let digest = |one: &T| {
            let mut outcome = outcome();
            change(&mut outcome, *one);
            outcome.digest()
        };
        changes.iter().map(digest).collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn each_variant_counts() {
        let (port, flow) = (PortId(3), FlowId(3));
        let [packets, bytes] = [Subject::QueuePackets(port), Subject::QueueBytes(port)];
        let [cwnd, alpha] = [Subject::Cwnd(flow), Subject::Alpha(flow)];
        let [throughput, rate] = [Subject::FlowThroughput(flow), Subject::Rate(flow)];
        let subjects = [packets, bytes, cwnd, alpha, throughput, Subject::Throughput(ClassId(3)), rate];
        assert_eq!(different(&subjects, |all, subject| all.samples[0].subject = subject), 7);
        let places = [(0, 1), (1, 0), (0, 0)].map(|(from, to)| Place::Port(NodeId(from), NodeId(to)));
        let places = [places.as_slice(), &[Place::Node(NodeId(0)), Place::Node(NodeId(1))]].concat();
        assert_eq!(different(&places, |all, place| all.drops[0].place = place), 5);
        assert_eq!(different(&DropReason::ALL, |all, reason| all.drops[0].reason = reason), 6);
        assert_eq!(different(TaskKind::WORDS.0, |all, (_, kind)| all.tasks[0].kind = kind), 4);
    }

    #[derive(Default)]
    struct Written(Vec<u8>);

    impl Update for Written {
        fn update(&mut self, data: &[u8]) {
            self.0.extend(data);
        }
    }

    /// An outcome with a sample and a drop, worked out by hand from the table above.
    #[test]
    fn the_encoding_is_as_written_down() {
        let place = Place::Port(NodeId(258), NodeId(3));
        let outcome = Outcome {
            flows: Vec::new(),
            drain_flows: Vec::new(),
            tasks: Vec::new(),
            samples: vec![Sample { at: Instant::from_ps(5), subject: Subject::Cwnd(FlowId(9)), value: 1.5 }],
            ports: Vec::new(),
            drops: vec![DropRow { place, reason: DropReason::Loss, in_run: 4, measured: 3 }],
            counters: Counters { packet_hops: 6, ..Counters::default() },
            end: Instant::from_ps(1 << 40),
        };
        let mut written = Written::default();
        outcome.write(&mut written);
        let no_rows = [0; 8];
        let sample = [[1, 0, 0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0, 0, 0]].concat();
        let subject_and_value = [2, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f];
        let place_and_reason = [0, 2, 1, 0, 0, 3, 0, 0, 0, 2];
        let numbers = [1, 4, 3].map(u64::to_le_bytes);
        let drop = [&numbers[0], &place_and_reason[..], &numbers[1], &numbers[2]].concat();
        let counters = [6, 0, 0, 0, 0, 0, 0, 0];
        let rest = [0; 8 * 8];
        let end = [0, 0, 0, 0, 0, 1, 0, 0];
        let expected: [&[u8]; 9] = [
            b"shortflow outcome 3\n",
            &[no_rows; 3].concat(),
            &sample,
            &subject_and_value,
            &no_rows,
            &drop,
            &counters,
            &rest,
            &end,
        ];
        assert_eq!(written.0, expected.concat());
    }
}
