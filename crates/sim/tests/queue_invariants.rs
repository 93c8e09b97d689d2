//! Invariants of every registered queue discipline in a port, for all arrivals.

use proptest::prelude::*;
use shortflow_sim::net::{MeasurementWindow, Port, PortEvent};
use shortflow_sim::packet::{EcnField, Packet, PacketType, Packets};
use shortflow_sim::queue::{QueueConfig, QueueKind};
use shortflow_units::{Bytes, ConnId, Instant, NodeId, Occupancy, Rate, Span};
use std::collections::BTreeMap;

/// A packet, and the time since the packet before it in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    gap: u64,
    flow: u32,
    priority: u64,
    wire: u16,
    ect: bool,
}

fn arrivals(
    wire: impl Strategy<Value = u16>,
    ect: impl Strategy<Value = bool>,
) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![Just(0), 0u64..12_000, 0u64..60_000];
    let arrival = (gap, 0u32..6, 0u64..10, wire, ect).prop_map(|(gap, flow, priority, wire, ect)| Arrival {
        gap,
        flow,
        priority,
        wire,
        ect,
    });
    prop::collection::vec(arrival, 1..200)
}

fn buffer() -> impl Strategy<Value = Occupancy> {
    prop_oneof![
        (1u32..40).prop_map(Occupancy::Packets),
        (1500u64..60_000).prop_map(|bytes| Occupancy::Bytes(Bytes::new(bytes))),
        Just(Occupancy::Unlimited),
    ]
}

/// All disciplines with their defaults, and some with other values of their parameters.
fn disciplines() -> Vec<QueueConfig> {
    let mut all: Vec<QueueConfig> =
        QueueKind::ALL.iter().map(|kind| crate::common::discipline(*kind, "")).collect();
    let others = [
        (QueueKind::PriorityEcn, "mark = 'lowest'"),
        (QueueKind::Pias, "ecn = 'queue'"),
        (QueueKind::Red, "ecn = false"),
        (QueueKind::Red, "weight = 1"),
        (QueueKind::CoDel, "target = '10us'\ninterval = '50us'"),
        (QueueKind::CoDel, "target = '10us'\ninterval = '50us'\necn = false"),
        (QueueKind::Pie, "target = '10us'\nupdate = '10us'\nburst = '0s'\nalpha = 5000\nbeta = 50000"),
        (QueueKind::Fair, "quantum = '100B'\necn = 'sojourn'"),
        (QueueKind::Pias, "ecn = 'sojourn'"),
        (QueueKind::Trim, "data = 2\nheaders = 3\nweight = 2"),
    ];
    all.extend(others.map(|(kind, parameters)| crate::common::discipline(kind, parameters)));
    all
}

/// A port of 1 Gbit/s whose wire has no delay, and all packets that have left it.
struct Bench {
    port: Port,
    places: Packets,
    buffer: Occupancy,
    arrival: Option<Instant>,
    done: Option<Instant>,
    offered: u64,
    returned: u64,
    left: Vec<(Instant, Packet)>,
}

impl Bench {
    fn new(config: &QueueConfig, buffer: Occupancy) -> Bench {
        let setup = crate::common::port_setup(Occupancy::Packets(5));
        let rate = setup.rate;
        let queue = config.build(setup);
        let window = MeasurementWindow { from: Instant::ZERO, to: Instant::from_ps(1 << 50) };
        let port = Port::new((NodeId(0), NodeId(1)), (rate, Span::ZERO), (queue, buffer), None, window);
        Bench {
            port,
            places: Packets::default(),
            buffer,
            arrival: None,
            done: None,
            offered: 0,
            returned: 0,
            left: Vec::new(),
        }
    }

    /// Offers all packets, and runs the port until it is empty.
    fn run(config: &QueueConfig, buffer: Occupancy, arrivals: &[Arrival]) -> Bench {
        let mut bench = Bench::new(config, buffer);
        let mut now = Instant::ZERO;
        for (seq, arrival) in (0..).zip(arrivals) {
            now += Span::from_nanos(arrival.gap);
            bench.advance(now);
            bench.offer(now, seq, arrival);
        }
        bench.advance(Instant::MAX);
        assert_eq!(bench.port.in_flight(), 0, "{config:?}: a packet is stuck");
        bench
    }

    fn offer(&mut self, now: Instant, seq: u64, arrival: &Arrival) {
        self.offered += 1;
        let mut due = Vec::new();
        let id = self.places.put(packet(seq, arrival));
        self.port.enqueue(now, &mut self.places, id, |each| due.push(each));
        self.plan(due);
        let backlog = self.port.backlog(now);
        match self.buffer {
            Occupancy::Packets(packets) => assert!(backlog.packets <= packets),
            Occupancy::Bytes(bytes) => assert!(backlog.bytes <= bytes),
            Occupancy::Unlimited => {}
        }
        let accounted = (self.left.len() + self.port.in_flight()) as u64 + self.returned;
        assert_eq!(self.offered, accounted + self.port.counters().drops.total());
        assert_eq!(self.returned, self.port.counters().returned);
        let counted = u64::from(backlog.packets) + self.left.len() as u64;
        assert_eq!(self.port.counters().accepted, counted);
    }

    /// Records pending events. Two events of one kind are never pending at once.
    fn plan(&mut self, due: Vec<PortEvent>) {
        for due in due {
            let (pending, at) = match due {
                PortEvent::Arrival(at, _) => (&mut self.arrival, at),
                PortEvent::Done(at, _) => (&mut self.done, at),
                PortEvent::Left(left) => panic!("{left:?}"),
                PortEvent::Returned(header) => {
                    assert_eq!(self.places.take(header).kind, PacketType::Trimmed);
                    self.returned += 1;
                    continue;
                }
            };
            assert_eq!(pending.replace(at), None);
        }
    }

    fn advance(&mut self, to: Instant) {
        loop {
            let next = self.arrival.into_iter().chain(self.done).min();
            let Some(next) = next.filter(|next| *next <= to) else { return };
            if self.arrival == Some(next) {
                let mut packet = Packet::EMPTY;
                self.arrival = self.port.arrive(&mut self.places, &mut packet).unwrap();
                self.left.push((next, packet));
            } else {
                self.done = None;
                let mut due = Vec::new();
                self.port.transmit_done(next, &mut self.places, |each| due.push(each));
                self.plan(due);
            }
        }
    }
}

fn packet(seq: u64, arrival: &Arrival) -> Packet {
    let Arrival { priority, flow, wire, .. } = *arrival;
    let ecn = if arrival.ect { EcnField::Ect } else { EcnField::NotEct };
    let payload = wire - 40;
    Packet { seq, priority, conn: ConnId(flow), flow_id: flow, payload, wire, ecn, ..Packet::EMPTY }
}

/// `arrivals` with priorities that never improve within a flow, as senders of PIAS set them.
fn demoted(arrivals: &[Arrival]) -> Vec<Arrival> {
    let mut worst = BTreeMap::new();
    let demote = |arrival: &Arrival| {
        let worst = worst.entry(arrival.flow).or_insert(0);
        *worst = arrival.priority.max(*worst);
        Arrival { priority: *worst, ..*arrival }
    };
    arrivals.iter().map(demote).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No discipline holds more than the buffer, loses count of a packet (checked at every arrival), drops a
    /// packet that was sent, or marks a packet that is not ECN-capable.
    #[test]
    fn the_buffer_is_respected_and_packets_are_conserved(
        buffer in buffer(),
        arrivals in arrivals(41u16..=1500, any::<bool>()),
    ) {
        for config in disciplines() {
            let bench = Bench::run(&config, buffer, &arrivals);
            let counters = bench.port.counters();
            prop_assert_eq!(counters.accepted, bench.left.len() as u64, "{:?}", config);
            let bytes: u64 = bench.left.iter().map(|(_, packet)| u64::from(packet.wire)).sum();
            prop_assert_eq!(counters.accepted_bytes.get(), bytes);
            let trimmed = bench.left.iter().filter(|(_, packet)| packet.kind == PacketType::Trimmed);
            prop_assert_eq!(counters.trimmed, trimmed.count() as u64 + bench.returned, "{:?}", config);
            let marks = bench.left.iter().filter(|(_, packet)| packet.ecn == EcnField::Ce).count() as u64;
            prop_assert!(marks <= counters.marked && counters.marked <= bench.offered);
            for (_, packet) in &bench.left {
                let ect = arrivals[packet.seq as usize].ect;
                prop_assert_eq!(packet.ecn == EcnField::NotEct, !ect, "{:?}", config);
            }
        }
    }

    /// Packets of equal size leave at the same instants under every discipline. The link is never idle while
    /// a packet waits, and no packet is dropped while there is room.
    #[test]
    fn work_is_conserved(buffer in buffer(), arrivals in arrivals(Just(1500u16), Just(true))) {
        let times = |bench: &Bench| bench.left.iter().map(|left| left.0).collect::<Vec<_>>();
        let reference = Bench::run(&crate::common::discipline(QueueKind::DropTail, ""), buffer, &arrivals);
        let marking = |config: &QueueConfig| match config {
            QueueConfig::Red(params) => params.ecn,
            QueueConfig::CoDel(params) => params.ecn,
            // Without an allowance for bursts, PIE drops packets above a probability.
            QueueConfig::Pie(params) => !params.burst.is_zero(),
            _ => true,
        };
        let keeps_sizes = |config: &QueueConfig| !config.kind().info().trims;
        for config in disciplines().iter().filter(|config| marking(config) && keeps_sizes(config)) {
            let bench = Bench::run(config, buffer, &arrivals);
            prop_assert_eq!(times(&bench), times(&reference), "{:?}", config);
            let (got, expected) = (bench.port.counters(), reference.port.counters());
            prop_assert_eq!(got.busy, expected.busy);
            prop_assert_eq!(got.peak, expected.peak);
            // Disciplines keep different packets, but equally many.
            prop_assert_eq!(got.packet_time, expected.packet_time, "{:?}", config);
            prop_assert_eq!(got.byte_time, expected.byte_time);
        }
    }

    /// Packets of a flow leave in order of arrival, apart from trimmed packets.
    #[test]
    fn flows_keep_their_order(buffer in buffer(), arrivals in arrivals(41u16..=1500, any::<bool>())) {
        for config in disciplines() {
            let arrivals = match config.kind() {
                QueueKind::Pias => demoted(&arrivals),
                _ => arrivals.clone(),
            };
            let bench = Bench::run(&config, buffer, &arrivals);
            let mut last = BTreeMap::new();
            for (_, packet) in bench.left.iter().filter(|(_, packet)| packet.kind == PacketType::Data) {
                prop_assert!(last.insert(packet.flow_id, packet.seq) < Some(packet.seq), "{:?}", config);
            }
        }
    }

    /// Recorded waits and transmission times add up to the times in the port.
    #[test]
    fn waiting_times_add_up(arrivals in arrivals(41u16..=1500, any::<bool>())) {
        for config in disciplines() {
            let bench = Bench::run(&config, Occupancy::Packets(20), &arrivals);
            let mut at = Instant::ZERO;
            let came: Vec<Instant> = arrivals.iter().map(|arrival| {
                at += Span::from_nanos(arrival.gap);
                at
            }).collect();
            for (left, packet) in &bench.left {
                let sending = Rate::new(1_000_000_000).unwrap().tx_time(packet.wire_size());
                prop_assert_eq!(packet.waited + sending, left.since(came[packet.seq as usize]));
            }
        }
    }
}
