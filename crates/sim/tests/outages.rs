//! A port whose link fails, packet by packet. The rate is 1 Gbit/s, the delay of the wire 100 µs, and a
//! packet takes 12 µs.

use shortflow_sim::engine::Seeds;
use shortflow_sim::net::{FaultInjector, MeasurementWindow, Port, PortEvent};
use shortflow_sim::packet::{EcnField, Packet, Packets};
use shortflow_sim::queue::{DropReason, PortSetup, QueueKind};
use shortflow_units::{Bytes, HostId, Instant, NodeId, Occupancy, Span};

/// A port with a queue in arrival order, or with a scheduler.
fn port(kind: QueueKind) -> Port {
    let outage = "[faults]\nlinks = [\"s0-h2\"]\ndown_at = \"1us\"\n";
    let traffic = "[[traffic]]\nkind = \"long-lived\"\nflows = 1\n";
    let scenario = crate::common::scenario(&crate::common::star(3, &format!("{outage}{traffic}")), &[]);
    let ends = (NodeId(3), NodeId(2));
    let faults = FaultInjector::new(&scenario, 5, ends, Seeds::new(1));
    assert!(faults.is_some(), "port 5 is s0->h2");
    let limit = Occupancy::Unlimited;
    let setup = PortSetup { index: 5, ..crate::common::port_setup(limit) };
    let rate = setup.rate;
    let queue = crate::common::discipline(kind, "").build(setup);
    let window = MeasurementWindow { from: Instant::ZERO, to: at(1000) };
    Port::new(ends, (rate, Span::from_micros(100)), (queue, limit), faults, window)
}

fn at(micros: u64) -> Instant {
    Instant::ZERO + Span::from_micros(micros)
}

/// Offers `packets` full packets. Returns the events that follow.
fn offer((port, places): (&mut Port, &mut Packets), now: Instant, packets: u64) -> Vec<PortEvent> {
    let mut due = Vec::new();
    for seq in 0..packets {
        let (payload, wire, ecn) = (1460, 1500, EcnField::Ect);
        let packet = Packet { seq, to: HostId(2), payload, wire, ecn, ..Packet::EMPTY };
        let id = places.put(packet);
        port.enqueue(now, places, id, |at| due.push(at));
    }
    due
}

/// Runs the ends of transmissions of a port with a scheduler up to `until`, as long as packets wait.
fn transmit_until((port, places): (&mut Port, &mut Packets), mut due: Vec<PortEvent>, until: Instant) {
    while let Some(PortEvent::Done(now, _)) =
        due.iter().copied().find(|due| matches!(due, PortEvent::Done(..)))
    {
        if now > until {
            return;
        }
        due.clear();
        port.transmit_done(now, places, |at| due.push(at));
    }
}

/// Five packets at 0 would leave at 12, 24, 36, 48 and 60 µs. The link fails at 30 µs. Two packets are on the
/// wire, one is half sent, and two wait. Their times in the port are 12 + 24 + 3 · 30 µs in total, and the
/// port was busy for 30 µs.
#[test]
fn everything_is_lost_and_what_was_booked_for_later_is_taken_back() {
    for kind in [QueueKind::DropTail, QueueKind::PriorityEcn] {
        let (mut port, mut places) = (port(kind), Packets::default());
        let due = offer((&mut port, &mut places), at(0), 5);
        transmit_until((&mut port, &mut places), due, at(30));
        port.fail(at(30), &mut places, |due| panic!("{due:?}"));
        assert!(port.is_down());
        let counters = *port.counters();
        assert_eq!(Vec::from_iter(counters.drops.by_reason()), [(DropReason::LinkDown, 5)], "{kind:?}");
        assert_eq!((counters.accepted, counters.accepted_bytes), (2, Bytes::new(3000)), "{kind:?}");
        assert_eq!(counters.busy, Span::from_micros(30), "{kind:?}");
        assert_eq!(counters.packet_time, Span::from_micros(126), "{kind:?}");
        assert_eq!(counters.byte_time, 1500 * 126_000_000, "{kind:?}");
        assert_eq!((port.in_flight(), port.backlog(at(30)).packets), (0, 0));
        offer((&mut port, &mut places), at(31), 2);
        assert_eq!(port.counters().drops.total(), 7, "{kind:?}");
    }
}

/// The link recovers at once, and two packets at 33 µs leave at 45 and 57 µs. The events from before the
/// failure, a transmission at 36 µs and the first arrival at 112 µs, have no effect any more.
#[test]
fn what_was_due_before_the_failure_does_not_happen_after_it() {
    for kind in [QueueKind::DropTail, QueueKind::PriorityEcn] {
        let (mut port, mut places) = (port(kind), Packets::default());
        let due = offer((&mut port, &mut places), at(0), 5);
        transmit_until((&mut port, &mut places), due, at(30));
        port.fail(at(30), &mut places, |due| panic!("{due:?}"));
        port.restore();
        let due = offer((&mut port, &mut places), at(33), 2);
        assert!(due.contains(&PortEvent::Arrival(at(145), port.to())), "{kind:?}: {due:?}");
        port.transmit_done(at(36), &mut places, |due| panic!("{kind:?}: {due:?}"));
        transmit_until((&mut port, &mut places), due, at(60));
        let is_due = |port: &mut Port, places: &mut Packets, now| port.is_due(places, at(now));
        assert!(!is_due(&mut port, &mut places, 112) && is_due(&mut port, &mut places, 145), "{kind:?}");
        let mut place = Packet::EMPTY;
        assert_eq!(port.arrive(&mut places, &mut place), Some(Some(at(157))), "{kind:?}");
    }
}
