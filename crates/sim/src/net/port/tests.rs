//! The short path agrees with the long one.

use super::Port;
use crate::net::{MeasurementWindow, PortEvent};
use crate::packet::{EcnField, Packet, Packets};
use crate::queue::{PortSetup, QueueKind, testing};
use proptest::prelude::*;
use shortflow_units::{ConnId, Instant, NodeId, Occupancy, Rate, Span};

/// A port of 1 Gbit/s with the defaults of a discipline, in its measured time.
fn port(kind: QueueKind, limit: Occupancy) -> Port {
    let rate = Rate::new(1_000_000_000).unwrap();
    let setup = PortSetup { mark_above: Occupancy::Packets(0), ..testing::port("1pkt") };
    let config = shortflow_spec::read_toml("", |reader| kind.read(&reader)).unwrap();
    let window = MeasurementWindow { from: Instant::ZERO, to: Instant::from_ps(1 << 50) };
    let ends = (NodeId(0), NodeId(1));
    let mut port = Port::new(ends, (rate, Span::ZERO), (config.build(setup), limit), None, window);
    port.open_window(Instant::ZERO);
    port
}

/// Lets transmissions end and packets arrive up to `until`. `left` receives the packets that arrive.
fn advance((port, packets): (&mut Port, &mut Packets), until: Instant, left: &mut Vec<String>) {
    loop {
        let done = port.egress.transmitter.next_done().filter(|done| *done <= until);
        let arrival = port.egress.transmitter.arrival(packets, 0).map(|(at, _)| at).filter(|at| *at <= until);
        if let Some(done) = done {
            port.transmit_done(done, packets, |_| ());
        } else if let Some(at) = arrival {
            let mut packet = Packet::EMPTY;
            port.arrive(packets, &mut packet);
            left.push(format!("{at:?} {packet:?}"));
        } else {
            return;
        }
    }
}

/// Sends packets through a port, on the short path if `shortly`. Returns the number of packets on the
/// short path, and all packets that left.
fn pass(port: &mut Port, packets: &[(u64, Packet)], shortly: bool) -> (usize, Vec<String>) {
    let (mut places, mut now, mut short, mut left) = (Packets::default(), Instant::ZERO, 0, Vec::new());
    for (gap, packet) in packets {
        now += Span::from_nanos(*gap);
        advance((port, &mut places), now, &mut left);
        let mut packet = packet.clone();
        if let Some(departure) = shortly.then(|| port.egress.offer(now, packet.frame())).flatten() {
            short += 1;
            packet.go(departure.waits, departure.is_marked, false);
            let (wire, id) = (packet.wire, places.put(packet));
            port.egress.transmitter.start(departure.departs, id, wire);
        } else {
            packet.hop += 1;
            let id = places.put(packet);
            port.enqueue(now, &mut places, id, |due| assert!(!matches!(due, PortEvent::Left(_))));
        }
    }
    advance((port, &mut places), Instant::MAX, &mut left);
    (short, left)
}

proptest! {
    /// Under every discipline, packets on the short path leave as on the long path, and leave the same
    /// state behind. The last packet finds the port idle.
    #[test]
    fn the_short_path_agrees_with_the_long_one(
        drawn in prop::collection::vec((0u64..30_000, 0u32..4, 0u64..10, 41u16..=1500), 1..100),
        limit in prop_oneof![Just("unlimited"), Just("3pkt"), Just("2KB")],
    ) {
        let (ecn, payload) = (EcnField::Ect, 1);
        let mut packets: Vec<(u64, Packet)> = drawn.into_iter().map(|(gap, flow_id, priority, wire)| {
            (gap, Packet { priority, conn: ConnId(flow_id), flow_id, payload, wire, ecn, ..Packet::EMPTY })
        }).collect();
        packets.push((10_000_000, packets[0].1.clone()));
        for kind in QueueKind::ALL {
            let (mut short, mut long) = (port(*kind, limit.parse().unwrap()), port(*kind, limit.parse().unwrap()));
            let (passed, left) = pass(&mut short, &packets, true);
            prop_assert_eq!(left, pass(&mut long, &packets, false).1, "{:?}", kind);
            prop_assert_eq!(passed > 0, short.egress.has_short_path(), "{:?}", kind);
            let state = |port: &Port| format!("{:?} {:?} {:?}", port.queue, port.counters(), port.egress.busy_until());
            prop_assert_eq!(state(&short), state(&long), "{:?}", kind);
        }
    }
}
