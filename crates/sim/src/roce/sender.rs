//! The sender: paced at the control's rate, without a window.

use crate::host::{
    Endpoint, EndpointContext, EndpointId, LazyTimer, Messages, Outbox, RateSampler, SendEndpoint,
    SenderSnapshot,
};
use crate::packet::{EcnField, Packet, PacketType};
use crate::tcp::priority::PriorityRule;
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, Transport, TransportConfig, Window};
use shortflow_units::{Bytes, Instant, Rate, Span};

/// Numbers of its timers.
const TIMEOUT: u8 = 0;
const PACE: u8 = 1;
const LAW: u8 = 2;

/// The sending end of a connection.
#[derive(Debug)]
pub struct Sender {
    identity: EndpointId,
    law: Transport,
    /// Required by laws, and otherwise unused.
    window: Window,
    messages: Messages,
    priority: PriorityRule,
    snd_una: u64,
    snd_nxt: u64,
    /// One past the highest byte ever sent.
    snd_max: u64,
    timeout: Span,
    line: Rate,
    /// Time of the last packet's hand-over to the card, and its size on the wire.
    last: Option<(Instant, Bytes)>,
    /// Meter for laws that read the path.
    meter: Option<RateSampler>,
    timers: [LazyTimer; 3],
}

impl Sender {
    /// A sender without data of a connection that begins at `now`, on a host whose link has the rate `line`.
    pub fn new(
        identity: EndpointId,
        (transport, priority): (&TransportConfig, PriorityRule),
        now: Instant,
        (timeout, line): (Span, Rate),
    ) -> Sender {
        let mut law = transport.start();
        law.on_start(now, line);
        Sender {
            identity,
            meter: law.reads_path().then(RateSampler::default),
            law,
            window: Window { cwnd: 1.0, ssthresh: 1.0 },
            messages: Messages::default(),
            priority,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            timeout,
            line,
            last: None,
            timers: [LazyTimer::IDLE; 3],
        }
    }

    fn rate(&self) -> Rate {
        self.law.pacing_rate().map_or(self.line, |rate| rate.min(self.line))
    }

    /// Departure of the next packet at the present rate.
    fn due(&self) -> Instant {
        self.last.map_or(Instant::ZERO, |(left, wire)| left + self.rate().tx_time(wire))
    }

    /// Sends within the rate, and arms the timer for the rest.
    fn transmit(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.timers[usize::from(PACE)].deadline = None;
        while let Some(end) = self.segment_end(cx) {
            let due = self.due();
            if due > cx.now {
                self.timers[usize::from(PACE)].deadline = Some(due);
                break;
            }
            self.send(end, cx, out);
        }
        if self.segment_end(cx).is_none()
            && let Some(meter) = &mut self.meter
        {
            meter.note_app_limited(self.snd_nxt - self.snd_una);
        }
        self.timers[usize::from(LAW)].deadline = self.law.timer();
        for (number, timer) in (0..).zip(&mut self.timers) {
            if let Some(at) = timer.arm() {
                out.set_timer(number, at);
            }
        }
    }

    /// End of the next segment, if there is data.
    fn segment_end(&self, cx: EndpointContext<'_>) -> Option<u64> {
        let message = self.messages.of(self.snd_nxt)?;
        Some(message.end.min(self.snd_nxt + cx.tcp.mss.get()))
    }

    fn send(&mut self, end: u64, EndpointContext { now, tcp }: EndpointContext<'_>, out: &mut impl Outbox) {
        let start = std::mem::replace(&mut self.snd_nxt, end);
        let again = start < self.snd_max;
        self.snd_max = self.snd_max.max(end);
        let payload = (end - start) as u16;
        let wire = payload + tcp.header.get() as u16;
        let is_alone = self.snd_una == start && !again;
        let size = Bytes::new(wire.into());
        self.law.on_sent(size, now);
        let timeout = &mut self.timers[usize::from(TIMEOUT)].deadline;
        timeout.get_or_insert(now + self.timeout);
        let priority = self
            .messages
            .of(start)
            .map_or(0, |message| self.priority.of(message, self.snd_una, self.snd_max));
        let waits = out
            .send(Packet {
                kind: PacketType::Data,
                payload,
                wire,
                priority,
                ecn: EcnField::Ect,
                extension: self.meter.as_mut().map(|meter| meter.on_sent(now, is_alone)),
                ..self.identity.control(start, tcp)
            })
            .waits;
        self.last = Some((now + waits, size));
        if let Some(message) = self.messages.of_mut(start) {
            message.retransmits += u32::from(again);
            message.tally.count_left(waits);
        }
    }

    /// Everything below `seq` has arrived.
    fn advance(&mut self, packet: &Packet, cx: EndpointContext<'_>) {
        let acked = packet.seq.saturating_sub(self.snd_una);
        if packet.seq > self.snd_max || acked == 0 {
            return;
        }
        self.snd_una = packet.seq;
        self.snd_nxt = self.snd_nxt.max(self.snd_una);
        let idle = self.snd_una == self.snd_max;
        self.timers[usize::from(TIMEOUT)].deadline = (!idle).then(|| cx.now + self.timeout);
        let delivered = self.snd_una;
        let telemetry = packet.telemetry();
        let path = self
            .meter
            .as_mut()
            .zip(telemetry)
            .map(|(meter, telemetry)| meter.sample(cx.now, telemetry, delivered));
        let (snd_una, snd_nxt) = (self.snd_una, self.snd_nxt);
        let plain = AckSample::of(self.flow_view(cx), Bytes::new(acked));
        let sample = AckSample { snd_una, snd_nxt, path, ..plain };
        self.law.on_ack(&mut self.window, &sample);
    }

    fn tell(&mut self, cause: Cause, cx: EndpointContext<'_>) {
        let flow = self.flow_view(cx);
        self.law.on_congestion(&mut self.window, cause, &flow);
    }

    fn flow_view(&self, EndpointContext { now, tcp }: EndpointContext<'_>) -> FlowView {
        let srtt = self.meter.as_ref().map_or(Span::ZERO, RateSampler::last_rtt);
        self.messages.view((now, srtt, tcp.mss), (self.snd_una, self.snd_nxt, self.snd_max))
    }
}

impl Endpoint for Sender {
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.transmit(cx, out);
    }

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        match packet.kind {
            PacketType::Cnp => self.tell(Cause::EcnEcho, cx),
            PacketType::Nack => {
                self.advance(packet, cx);
                if packet.seq == self.snd_una && packet.seq < self.snd_nxt {
                    self.snd_nxt = packet.seq;
                    self.tell(Cause::FastRetransmit, cx);
                }
            }
            _ => self.advance(packet, cx),
        }
        self.transmit(cx, out);
    }

    fn on_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let alarm = &mut self.timers[usize::from(timer)];
        if alarm.expired(cx.now) {
            match timer {
                TIMEOUT => {
                    alarm.deadline = None;
                    self.snd_nxt = self.snd_una;
                    if let Some(message) = self.messages.first_mut() {
                        message.timeouts += 1;
                    }
                    self.tell(Cause::Timeout, cx);
                }
                LAW => {
                    let flow = self.flow_view(cx);
                    self.law.on_timer(&mut self.window, &flow);
                }
                _ => {}
            }
        }
        self.transmit(cx, out);
    }
}

impl SendEndpoint for Sender {
    fn messages(&self) -> &Messages {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }

    fn acked(&self) -> u64 {
        self.snd_una
    }

    fn sent(&self) -> u64 {
        self.snd_max
    }

    fn snapshot(&self, now: Instant) -> SenderSnapshot {
        SenderSnapshot { window: None, rate: Some(self.rate()), alpha: self.law.alpha(now) }
    }
}
