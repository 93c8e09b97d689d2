//! A receiver with credit and its sender, written and driven by hand. The receiver permits four packets beyond the bytes that
//! it has; the sender sends what is permitted, and goes back after a timeout. The wire loses the third packet:
//! `cargo run --package shortflow-sim --example own_host`

use shortflow_sim::host::{
    Endpoint, EndpointContext, EndpointId, HostAgent, LazyTimer, Outbox, PacketSink, ReceiveEndpoint,
};
use shortflow_sim::packet::{Extension, Handover, Packet, PacketType};
use shortflow_sim::prelude::*;
use std::collections::BTreeMap;
use std::error::Error;

/// Packets that may be on their way.
const CREDIT: u64 = 4;

/// An extension that carries this word.
fn header(word: u64) -> Option<Box<Extension>> {
    Some(Box::new(Extension { header: [word, 0], ..Extension::default() }))
}

/// The word of a packet.
fn word(packet: &Packet) -> u64 {
    packet.extension.as_ref().map_or(0, |extension| extension.header[0])
}

/// Sends up to the byte that the receiver permits.
struct Sender {
    identity: EndpointId,
    size: u64,
    next: u64,
    acked: u64,
    permitted: u64,
    timeout: Span,
    timer: LazyTimer,
}

impl Sender {
    /// Sends all permitted bytes. Each packet carries the size of the message.
    fn send(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        while self.next < self.permitted.min(self.size) {
            let payload = cx.tcp.mss.min(Bytes::new(self.size - self.next));
            let control = self.identity.control(self.next, cx.tcp);
            let (wire, payload) = (cx.tcp.frame(payload).get() as u16, payload.get() as u16);
            let extension = header(self.size);
            out.send(Packet { kind: PacketType::Data, payload, wire, extension, ..control });
            self.next += u64::from(payload);
        }
        self.timer.deadline = (self.acked < self.size).then(|| cx.now + self.timeout);
        self.timer.set(0, out);
    }
}

impl Endpoint for Sender {
    /// The first packet needs no permission.
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.permitted = cx.tcp.mss.get();
        self.send(cx, out);
    }

    /// A grant acknowledges the bytes below its sequence number, and carries the byte up to which the sender may send.
    fn on_packet(&mut self, grant: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if grant.seq > self.acked {
            (self.acked, self.permitted) = (grant.seq, word(grant));
            self.next = self.next.max(self.acked);
            self.send(cx, out);
        }
    }

    fn on_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.timer.expired(cx.now) {
            self.next = self.acked;
            self.send(cx, out);
        }
        self.timer.set(timer, out); // the deadline was moved back
    }
}

/// Answers each packet with credit, and keeps none out of order.
struct Receiver {
    identity: EndpointId,
    received: u64,
    /// One past the highest byte that has arrived.
    highest: u64,
    skipped: u64,
}

impl Endpoint for Receiver {
    fn start(&mut self, _: EndpointContext<'_>, _: &mut impl Outbox) {}

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let end = packet.seq + u64::from(packet.payload);
        self.skipped += packet.seq.saturating_sub(self.highest);
        self.highest = self.highest.max(end);
        if packet.seq == self.received {
            self.received = end;
        }
        let permitted = self.received + CREDIT * cx.tcp.mss.get();
        let (kind, extension) = (PacketType::Grant, header(permitted.min(word(packet))));
        out.send(Packet { kind, extension, ..self.identity.control(self.received, cx.tcp) });
    }

    fn on_timer(&mut self, _: u8, _: EndpointContext<'_>, _: &mut impl Outbox) {}
}

impl ReceiveEndpoint for Receiver {
    fn received(&self) -> u64 {
        self.received
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// The arrival of a packet, or a timer.
enum Event {
    Data(Packet),
    Grant(Packet),
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
            self.schedule(arrives, Event::Grant(packet));
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
    let timer = LazyTimer::IDLE;
    let mut sender = Sender { identity: end(1), size, next: 0, acked: 0, permitted: 0, timeout, timer };
    let mut receiver = Receiver { identity: end(0), received: 0, highest: 0, skipped: 0 };
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
            Event::Grant(mut packet) => {
                sender.on_packet(&mut packet, cx, &mut wire);
                finished = now;
            }
        }
    }
    println!("{} bytes in {} packets, acknowledged after {finished}", receiver.received(), wire.data);
    // Six packets leave before the timeout. The lost one and the three behind it leave again, and then the last four.
    assert_eq!((receiver.received(), sender.acked, wire.data), (size, size, 14));
    assert_eq!(receiver.skipped(), scenario.tcp.mss.get(), "only the lost packet was missing");
    Ok(())
}
