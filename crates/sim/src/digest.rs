//! [`Outcome::digest`]: SHA-256 over the results of a run, in this encoding. Each field of an outcome is
//! encoded, except the fields after a semicolon in `rows!`.
//!
//! | value | bytes |
//! |---|---|
//! | the beginning | the text `shortflow outcome 3` and a line feed; the number changes with the encoding |
//! | identifier, `u32` | 4, little endian |
//! | `u64`, time in ps, size in bytes, rate in bit/s | 8, little endian |
//! | `f64` | 8: its IEEE 754 bits, little endian |
//! | variant of an enum | 1: its position, from 0; then its fields |
//! | `Option` | 1: 0, or 1 and then the value |
//! | list | 8: its length; then its elements |
//! | row | its fields, in the order of `rows!` |

use crate::host::DeliveryCounters;
use crate::net::Percentiles;
use crate::outcome::{Counters, DropRow, FlowRow, Outcome, Place, PortRow};
use crate::probe::{Sample, Samples, Subject};
use crate::queue::DropReason;
use crate::traffic::{TaskId, TaskKind, TaskRow};
use sha2::Sha256;
use sha2::digest::Update;
use shortflow_units::{Bytes, ClassId, FlowId, HostId, Instant, NodeId, PortId, Rate, Span};

const FORMAT: &[u8] = b"shortflow outcome 3\n";

impl Outcome {
    /// SHA-256 over the results, field by field. Runs with equal scenario, scheme and seed have equal digests
    /// on every machine.
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

/// A value with an encoding in digests.
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

/// The patterns name every field, so the compiler rejects a forgotten field. Fields after the semicolon are
/// not encoded.
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
    Outcome { flows, drain_flows, tasks, samples, ports, drops, counters, end; long_paths }
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
        percentiles, utilisation; marks_in_run, trims, trims_in_run, returns, pauses, pauses_by_priority
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

impl Encode for Samples {
    fn encode(&self, out: &mut impl Update) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|sample| sample.encode(out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn sample(subject: Subject) -> Sample {
        Sample { at: Instant::from_ps(5), subject, value: 1.5 }
    }

    /// An outcome with a task, a sample and a drop. Golden runs have the other rows.
    fn outcome() -> Outcome {
        let task = TaskRow {
            kind: TaskKind::Job,
            class: ClassId(7),
            start: Instant::from_ps(8),
            finish: None,
            flows: 9,
            deadline: Some(Span::from_ps(10)),
            part_of: None,
        };
        let place = Place::Port(NodeId(258), NodeId(3));
        Outcome {
            tasks: vec![task],
            samples: Samples::from_iter([sample(Subject::Cwnd(FlowId(9)))]),
            drops: vec![DropRow { place, reason: DropReason::Loss, in_run: 4, measured: 3 }],
            counters: Counters { packet_hops: 6, ..Counters::default() },
            end: Instant::from_ps(1 << 40),
            ..Outcome::default()
        }
    }

    /// Number of different digests among outcomes with one of `changes` each.
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
        assert_eq!(
            different(&subjects, |all, subject| all.samples = [sample(subject)].into_iter().collect()),
            7
        );
        let places = [(0, 1), (1, 0), (0, 0)].map(|(from, to)| Place::Port(NodeId(from), NodeId(to)));
        let places = [places.as_slice(), &[Place::Node(NodeId(0)), Place::Node(NodeId(1))]].concat();
        assert_eq!(different(&places, |all, place| all.drops[0].place = place), 5);
        assert_eq!(different(&DropReason::ALL, |all, reason| all.drops[0].reason = reason), 6);
        assert_eq!(different(TaskKind::WORDS.0, |all, (_, kind)| all.tasks[0].kind = kind), 5);
    }

    #[derive(Default)]
    struct Written(Vec<u8>);

    impl Update for Written {
        fn update(&mut self, data: &[u8]) {
            self.0.extend(data);
        }
    }

    /// The expected bytes are worked out by hand from the table above.
    #[test]
    fn the_encoding_is_as_written_down() {
        let mut written = Written::default();
        outcome().write(&mut written);
        let [no_rows, one] = [0, 1].map(u64::to_le_bytes);
        let task =
            [&[1, 7, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1][..], &10u64.to_le_bytes(), &[0]];
        let subject_and_value = [2, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f];
        let place_and_reason = [0, 2, 1, 0, 0, 3, 0, 0, 0, 2];
        let [at, in_run, measured, hops, end] = [5, 4, 3, 6, 1 << 40].map(u64::to_le_bytes);
        let expected: [&[u8]; 16] = [
            b"shortflow outcome 3\n",
            &no_rows,
            &no_rows,
            &one,
            &task.concat(),
            &one,
            &at,
            &subject_and_value,
            &no_rows,
            &one,
            &place_and_reason,
            &in_run,
            &measured,
            &hops,
            &[0; 8 * 8],
            &end,
        ];
        assert_eq!(written.0, expected.concat());
    }
}
