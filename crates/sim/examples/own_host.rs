//! The two ends of a connection, written and driven by hand. The sender has one packet on its way and sends it again after a
//! timeout; the wire loses the third packet: `cargo run --package shortflow-sim --example own_host`

use shortflow_sim::host::{
    Endpoint, EndpointContext, EndpointId, HostAgent, LazyTimer, Outbox, PacketSink, ReceiveEndpoint,
};
use shortflow_sim::packet::{Handover, Packet, PacketType};
use shortflow_sim::prelude::*;
use std::collections::BTreeMap;
use std::error::Error;

/// Stop and wait.
struct Sender {
    identity: EndpointId,
    size: u64,
    acked: u64,
    timeout: Span,
    timer: LazyTimer,
}

impl Sender {
    /// Sends the first bytes that are not acknowledged.
    fn send(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let payload = cx.tcp.mss.min(Bytes::new(self.size - self.acked));
        if payload == Bytes::ZERO {
            self.timer.deadline = None;
            return;
        }
        let (wire, payload) = (cx.tcp.frame(payload).get() as u16, payload.get() as u16);
        let header = self.identity.control(self.acked, cx.tcp);
        out.send(Packet { kind: PacketType::Data, payload, wire, ..header });
        self.timer.deadline = Some(cx.now + self.timeout);
        self.timer.set(0, out);
    }
}

impl Endpoint for Sender {
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.send(cx, out);
    }

    fn on_packet(&mut self, ack: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if ack.seq > self.acked {
            self.acked = ack.seq;
            self.send(cx, out);
        }
    }

    fn on_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.timer.expired(cx.now) {
            self.send(cx, out);
        }
        self.timer.set(timer, out); // the deadline was moved back
    }
}

/// Acknowledges each packet, and keeps none out of order.
struct Receiver {
    identity: EndpointId,
    received: u64,
}

impl Endpoint for Receiver {
    fn start(&mut self, _: EndpointContext<'_>, _: &mut impl Outbox) {}

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if packet.seq == self.received {
            self.received += u64::from(packet.payload);
        }
        out.send(self.identity.control(self.received, cx.tcp));
    }

    fn on_timer(&mut self, _: u8, _: EndpointContext<'_>, _: &mut impl Outbox) {}
}

impl ReceiveEndpoint for Receiver {
    fn received(&self) -> u64 {
        self.received
    }

    fn skipped(&self) -> u64 {
        0
    }
}

/// The arrival of a packet, or a timer.
enum Event {
    Data(Packet),
    Ack(Packet),
    Timer(u8),
}

/// A wire of 1 Gbps with a delay of 50 us, and the outlet of both ends.
struct Wire {
    now: Instant,
    rate: Rate,
    /// Data packets sent, and all events so far, which tells those of one time apart.
    data: usize,
    scheduled: usize,
    events: BTreeMap<(Instant, usize), Event>,
}

impl Wire {
    fn schedule(&mut self, at: Instant, event: Event) {
        self.scheduled += 1;
        self.events.insert((at, self.scheduled), event);
    }
}

impl PacketSink for Wire {
    fn send(&mut self, packet: Packet) -> Handover {
        let departs = self.now + self.rate.tx_time(packet.wire_size());
        let arrives = departs + Span::from_micros(50);
        if packet.kind == PacketType::Data {
            self.data += 1;
            if self.data != 3 {
                self.schedule(arrives, Event::Data(packet));
            }
        } else {
            self.schedule(arrives, Event::Ack(packet));
        }
        Handover { waits: Span::ZERO, departs }
    }
}

impl Outbox for Wire {
    fn set_timer(&mut self, timer: u8, at: Instant) {
        self.schedule(at, Event::Timer(timer));
    }

    fn agent<A: HostAgent + Default>(&mut self) -> &mut A {
        panic!("connections of these hosts share nothing")
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = "title = 'sizes'\nduration = '1s'\ntopology = { kind = 'star', hosts = 2, rate = '1Gbps', rtt = '200us' }\n\
        switch = { buffer = '90pkt', mark_above = '9pkt' }\ntraffic = [{ kind = 'long-lived' }]";
    let scenario = Scenario::parse(text, "sizes", &[], &|file| Err(format!("there is no file {file}")))?;
    let end = |peer| EndpointId { conn: ConnId(0), flow_id: 0, peer: HostId(peer), way: 0 };
    let (size, timeout) = (14_600, Span::from_millis(1));
    let mut sender = Sender { identity: end(1), size, acked: 0, timeout, timer: LazyTimer::IDLE };
    let mut receiver = Receiver { identity: end(0), received: 0 };
    let rate = Rate::new(1_000_000_000).ok_or("a rate above zero")?;
    let mut wire = Wire { now: Instant::ZERO, rate, data: 0, scheduled: 0, events: BTreeMap::new() };
    sender.start(EndpointContext { now: wire.now, tcp: &scenario.tcp }, &mut wire);
    let mut finished = Instant::ZERO;
    while let Some(((now, _), event)) = wire.events.pop_first() {
        wire.now = now;
        let cx = EndpointContext { now, tcp: &scenario.tcp };
        match event {
            Event::Data(mut packet) => receiver.on_packet(&mut packet, cx, &mut wire),
            Event::Timer(timer) => sender.on_timer(timer, cx, &mut wire),
            Event::Ack(mut packet) => {
                sender.on_packet(&mut packet, cx, &mut wire);
                finished = now;
            }
        }
    }
    println!("{} bytes in {} packets, acknowledged after {finished}", receiver.received(), wire.data);
    assert_eq!(
        (receiver.received(), sender.acked, wire.data),
        (size, size, 11),
        "ten packets, and one again"
    );
    Ok(())
}
