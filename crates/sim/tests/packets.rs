//! Observers see all events of packets in order of time, and change nothing.

use crate::common::{TRACE, run, scenario, scheme, star};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::packet::{EcnField, PacketType};
use shortflow_sim::probe::pcap::Capture;
use shortflow_sim::probe::watch::{FlowChoice, PacketEvent, PacketEventKind, TraceFilter};
use shortflow_sim::queue::DropReason;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::{Scheme, schemes};
use shortflow_sim::simulation::{self, Observer, RunProgress};
use shortflow_units::{ClassId, Instant, PortId};

struct Notes {
    what: TraceFilter,
    events: Vec<PacketEvent>,
}

impl Observer for Notes {
    fn tick(&mut self, _: RunProgress) -> bool {
        true
    }
    fn watches(&self) -> Option<TraceFilter> {
        Some(self.what.clone())
    }
    fn packets(&mut self, events: Vec<PacketEvent>) {
        self.events.extend(events);
    }
}

/// Outcome of the run, and all events of packets of these flows and at these ports.
fn watched(
    scenario: &Scenario,
    scheme: &Scheme,
    flows: FlowChoice,
    ports: Vec<PortId>,
) -> (Outcome, Vec<PacketEvent>) {
    let what = TraceFilter { flows, ports, frames: false, during: Instant::ZERO..Instant::MAX };
    let mut notes = Notes { what, events: Vec::new() };
    let outcome = simulation::run(scenario, scheme, 1, &mut notes).unwrap_or_else(|error| panic!("{error}"));
    (outcome, notes.events)
}

fn all(scenario: &Scenario) -> FlowChoice {
    FlowChoice { rows: Vec::new(), classes: (0..scenario.classes.len()).map(ClassId::from).collect() }
}

fn row(row: u32) -> FlowChoice {
    FlowChoice { rows: std::iter::once(row..row + 1).collect(), classes: Vec::new() }
}

const MIX: &str = r#"
[tcp]
handshake = true
[[traffic]]
kind = "incast"
flows = 30
sizes = { kind = "uniform", min = "2KB", max = "90KB" }
to = 6
jitter = "10us"
repeat = 3
every = "20ms"
[[traffic]]
kind = "long-lived"
flows = 1
from = 0
to = 6
[faults]
loss = 0.002
"#;

#[test]
fn watching_changes_nothing_and_misses_nothing() {
    let text = star(7, MIX).replace("duration = \"1s\"", "duration = \"80ms\"");
    let scenario = scenario(&text.replace("250pkt", "40pkt"), &[]);
    for info in schemes() {
        let scheme = scheme(&info.name, &[]);
        let (outcome, events) = watched(&scenario, &scheme, all(&scenario), Vec::new());
        let name = &info.name;
        assert_eq!(outcome.digest(), run(&scenario, &scheme).digest(), "{name}");
        assert!(events.is_sorted_by_key(|event| event.at), "{name}");
        let count = |of: fn(&PacketEvent) -> bool| events.iter().filter(|event| of(event)).count() as u64;
        let dropped = count(|event| matches!(event.kind, PacketEventKind::Dropped(_)));
        assert_eq!(dropped, outcome.counters.packets_dropped, "{name}");
        let trims: u64 = outcome.ports.iter().map(|port| port.trims_in_run).sum();
        assert_eq!(count(|event| event.kind == PacketEventKind::Trimmed), trims, "{name}");
        let taken = count(|event| matches!(event.kind, PacketEventKind::Delivered | PacketEventKind::Acked));
        let sent = count(|event| event.kind == PacketEventKind::Sent);
        assert_eq!(
            (sent, taken),
            (outcome.counters.packets_sent, outcome.counters.packets_delivered),
            "{name}"
        );
        assert_eq!(
            count(|event| event.kind == PacketEventKind::Departed),
            outcome.counters.packet_hops,
            "{name}"
        );
        let timeouts: u32 = outcome.flows.iter().map(|flow| flow.timeouts).sum();
        assert_eq!(count(|event| event.kind == PacketEventKind::TimedOut), u64::from(timeouts), "{name}");
        let ce = |event: &PacketEvent| event.packet.as_ref().is_some_and(|packet| packet.ecn == EcnField::Ce);
        let marked = events.iter().filter(|event| event.kind == PacketEventKind::Marked).count();
        let (arrived, lost) = (PacketEventKind::Delivered, |event: &PacketEvent| {
            matches!(event.kind, PacketEventKind::Dropped(_)) && ce(event)
        });
        let found = events.iter().filter(|event| event.kind == arrived && ce(event)).count();
        let lost = events.iter().filter(|event| lost(event)).count();
        // A star marks packets at one port. Packets in flight at the end have not arrived.
        assert!(marked <= found + lost + 300 && found + lost <= marked, "{name}: {marked}, {found} + {lost}");
    }
}

/// The third of eight segments of a flow is lost at the switch. ACKs of the other segments reveal the loss.
#[test]
fn a_lost_segment_can_be_followed() {
    let faults = format!("{TRACE}[faults]\ndrop_data = [3]\n[tcp]\ninitial_window = 8\n");
    let scenario = scenario(&star(3, &faults), &["0s,h0,h2,11680", "0s,h1,h2,1460"]);
    let (_, events) = watched(&scenario, &scheme("tcp", &[]), row(0), Vec::new());
    assert!(events.iter().all(|event| event.flow.is_some_and(|flow| flow.0 == 0)));
    let lost: Vec<_> = events
        .iter()
        .filter(|event| matches!(event.kind, PacketEventKind::Dropped(DropReason::Loss)))
        .collect();
    let [lost] = lost[..] else { panic!("{lost:?}") };
    let seq = lost.packet.as_ref().map(|packet| packet.seq).unwrap();
    let of_it: Vec<_> = events
        .iter()
        .filter(|event| event.packet.as_ref().is_some_and(|p| p.kind == PacketType::Data && p.seq == seq))
        .map(|event| event.kind)
        .collect();
    let (sent, left) = (PacketEventKind::Sent, PacketEventKind::Departed);
    let again = [sent, left, PacketEventKind::Enqueued, left, PacketEventKind::Delivered];
    assert_eq!(of_it, [&[sent, left, lost.kind][..], &again].concat());
    let windows: Vec<f64> = events.iter().filter_map(|event| event.cwnd).collect();
    assert!(windows.iter().any(|cwnd| *cwnd < 8.0), "the window shrank: {windows:?}");
}

/// A single packet has left its port when its damage is found at the other end.
#[test]
fn a_damaged_packet_is_told_with_what_the_port_holds_then() {
    let faults = format!("{TRACE}[faults]\nlinks = ['s0->h2']\ncorrupt = 0.9\n[tcp]\ninitial_window = 1\n");
    let scenario = scenario(&star(3, &faults), &["0s,h0,h2,1460"]);
    let (_, events) = watched(&scenario, &scheme("tcp", &[]), row(0), Vec::new());
    let held = |what: PacketEventKind| {
        let of_kind = events.iter().filter(move |event| event.kind == what && event.port.is_some());
        of_kind.map(|event| event.backlog.unwrap().packets).collect::<Vec<_>>()
    };
    let damaged = held(PacketEventKind::Dropped(DropReason::Corrupted));
    assert!(!damaged.is_empty() && damaged.iter().all(|packets| *packets == 0), "{damaged:?}");
    assert!(held(PacketEventKind::Enqueued).iter().all(|packets| *packets == 1));
}

/// Blocks of a pcapng file, with type and body.
fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut found = Vec::new();
    while !file.is_empty() {
        let length = word(file, 4) as usize;
        assert_eq!((length % 4, word(file, length - 4) as usize), (0, length));
        found.push((word(file, 0), &file[8..length - 4]));
        file = &file[length..];
    }
    found
}

#[test]
fn a_capture_has_what_left_the_port_and_tells_what_did_not() {
    let text = star(7, MIX).replace("duration = \"1s\"", "duration = \"80ms\"");
    let scenario = scenario(&text.replace("250pkt", "40pkt"), &[]);
    let ports: Vec<(usize, PortId)> =
        (0..scenario.graph.links.len()).map(|link| (2 * link + 1, PortId::from(2 * link + 1))).collect();
    for name in ["dctcp", "pfabric", "dcqcn", "swift", "ndp"] {
        let scheme = scheme(name, &[]);
        let watching = ports.iter().map(|(_, port)| *port).collect();
        let (outcome, events) = watched(&scenario, &scheme, FlowChoice::default(), watching);
        assert!(events.iter().all(|event| !event.chosen));
        let mut every = 0;
        for &(index, port) in &ports {
            let mut capture = Capture::new(port, "a->b");
            events.iter().for_each(|event| capture.note(event));
            capture.finish();
            let file = capture.take();
            let blocks = blocks(&file);
            let packets = blocks.iter().filter(|(kind, _)| *kind == 6).count();
            let left = |event: &&PacketEvent| {
                event.port == Some(port) && matches!(event.kind, PacketEventKind::Departed)
            };
            assert_eq!(packets, events.iter().filter(left).count());
            let &(kind, statistics) = blocks.last().unwrap();
            let drops = u64::from_le_bytes(statistics[28..36].try_into().unwrap());
            let dropped = |event: &&PacketEvent| {
                event.port == Some(port) && matches!(event.kind, PacketEventKind::Dropped(_))
            };
            assert_eq!((kind, drops), (5, events.iter().filter(dropped).count() as u64), "{name}");
            assert!(drops >= outcome.ports[index].drops, "{name}: those of the measured time");
            every += drops;
        }
        assert!(every > 0, "{name}");
    }
}
