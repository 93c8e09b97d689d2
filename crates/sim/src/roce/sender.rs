//! The sender, paced at the rate of the congestion control, and within the control's window if it sets one.

use crate::host::{
    ConnectionSetup, Endpoint, EndpointContext, EndpointId, LazyTimer, Outbox, RateSampler, SendEndpoint,
    SendStream, SenderSnapshot,
};
use crate::packet::{EcnField, Packet, PacketType};
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, TransportConfig, Window};
use shortflow_units::{Bytes, Instant, Rate, Span};

/// Numbers of the sender's timers.
const TIMEOUT: u8 = 0;
const PACE: u8 = 1;
const LAW: u8 = 2;

/// The sending end of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    /// The stream; its window is infinite unless the law sets one.
    stream: SendStream,
    timeout: Span,
    line: Rate,
    /// Time at which the last packet began to leave, and the bytes that the packet takes on the link.
    last: Option<(Instant, Bytes)>,
    /// Bytes on the link of the packet in the host's port, while its departure is not known.
    waiting: Option<Bytes>,
    /// Meter for laws that read the path.
    meter: Option<RateSampler>,
    timers: [LazyTimer; 3],
}

impl Sender {
    /// A sender without data.
    pub(crate) fn new(
        identity: EndpointId,
        transport: &TransportConfig,
        setup: &ConnectionSetup<'_>,
    ) -> Sender {
        let mut law = transport.start();
        let mut window = Window { cwnd: f64::INFINITY, ssthresh: f64::INFINITY };
        law.on_start(&mut window, &setup.at);
        Sender {
            meter: law.reads_path().then(RateSampler::default),
            stream: SendStream::new(identity, law, window, setup.priority),
            timeout: setup.initial_rto,
            line: setup.at.line,
            last: None,
            waiting: None,
            timers: [LazyTimer::IDLE; 3],
        }
    }

    fn rate(&self) -> Rate {
        self.stream.law.pacing_rate().map_or(self.line, |rate| rate.min(self.line))
    }

    /// Departure time of the next packet at the current rate.
    fn due(&self) -> Instant {
        self.last.map_or(Instant::ZERO, |(left, takes)| left + self.rate().tx_time(takes))
    }

    /// Sends the segments that are due, and arms the timers.
    fn transmit(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.timers[usize::from(PACE)].deadline = None;
        while let Some(end) = self.segment_end(cx).filter(|_| self.waiting.is_none() && self.has_room(cx)) {
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
            meter.note_app_limited(self.stream.snd_nxt - self.stream.snd_una);
        }
        self.timers[usize::from(LAW)].deadline = self.stream.law.timer();
        for (number, timer) in (0..).zip(&mut self.timers) {
            if let Some(at) = timer.arm() {
                out.set_timer(number, at);
            }
        }
    }

    /// True if fewer bytes than a window are in flight. A segment may then begin, as in the HPCC authors' code.
    fn has_room(&self, cx: EndpointContext<'_>) -> bool {
        let SendStream { snd_una, snd_nxt, window, law, .. } = &self.stream;
        *snd_nxt - *snd_una < law.window_bytes(window, cx.tcp.mss).get()
    }

    /// End of the next segment, if there is data.
    fn segment_end(&self, cx: EndpointContext<'_>) -> Option<u64> {
        let message = self.stream.messages.of(self.stream.snd_nxt)?;
        Some(message.end.min(self.stream.snd_nxt + cx.tcp.mss.get()))
    }

    fn send(&mut self, end: u64, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let start = std::mem::replace(&mut self.stream.snd_nxt, end);
        let again = start < self.stream.snd_max;
        self.stream.snd_max = self.stream.snd_max.max(end);
        let packet = self.stream.packet(start, end, cx.tcp);
        let is_alone = self.stream.snd_una == start && !again;
        self.stream.law.on_sent(packet.wire_size(), cx.now);
        self.timers[usize::from(TIMEOUT)].deadline.get_or_insert(cx.now + self.timeout);
        let handover = out.send(Packet {
            priority: self.stream.priority_at(start),
            ecn: EcnField::Ect,
            extension: self.meter.as_mut().map(|meter| meter.on_sent(cx.now, is_alone)),
            ..packet
        });
        let takes = cx.tcp.link_bytes(Bytes::new(end - start));
        self.waiting = (handover.departs == Instant::MAX).then_some(takes);
        self.last = Some((cx.now + handover.waits, takes));
        self.stream.count_sent(start, again, handover.waits);
    }

    /// Handles an acknowledgement of all bytes below the packet's `seq`.
    fn advance(&mut self, packet: &Packet, cx: EndpointContext<'_>) {
        let acked = packet.seq.saturating_sub(self.stream.snd_una);
        if packet.seq > self.stream.snd_max || acked == 0 {
            return;
        }
        self.stream.snd_una = packet.seq;
        self.stream.snd_nxt = self.stream.snd_nxt.max(self.stream.snd_una);
        let idle = self.stream.snd_una == self.stream.snd_max;
        self.timers[usize::from(TIMEOUT)].deadline = (!idle).then(|| cx.now + self.timeout);
        if let Some(extension) = packet.extension.as_ref().filter(|extension| !extension.hops.is_empty()) {
            self.stream.law.on_hops(&extension.hops);
        }
        let delivered = self.stream.snd_una;
        let telemetry = packet.telemetry();
        let path = self
            .meter
            .as_mut()
            .zip(telemetry)
            .map(|(meter, telemetry)| meter.sample(cx.now, telemetry, delivered));
        let sample = AckSample { path, ..self.stream.sample(self.flow_view(cx), acked) };
        self.stream.law.on_ack(&mut self.stream.window, &sample);
    }

    fn tell(&mut self, cause: Cause, cx: EndpointContext<'_>) {
        let flow = self.flow_view(cx);
        self.stream.decrease(cause, &flow);
    }

    fn flow_view(&self, cx: EndpointContext<'_>) -> FlowView {
        self.stream.view(self.meter.as_ref().map_or(Span::ZERO, RateSampler::last_rtt), cx)
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
                if packet.seq == self.stream.snd_una && packet.seq < self.stream.snd_nxt {
                    self.stream.snd_nxt = packet.seq;
                    self.tell(Cause::FastRetransmit, cx);
                }
            }
            _ => self.advance(packet, cx),
        }
        if let Some(meter) = &mut self.meter {
            meter.reuse(packet.extension.take());
        }
        self.transmit(cx, out);
    }

    fn on_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let alarm = &mut self.timers[usize::from(timer)];
        if alarm.expired(cx.now) {
            match timer {
                TIMEOUT => {
                    alarm.deadline = None;
                    self.stream.snd_nxt = self.stream.snd_una;
                    self.stream.count_timeout();
                    self.tell(Cause::Timeout, cx);
                }
                LAW => {
                    let flow = self.flow_view(cx);
                    self.stream.law.on_timer(&mut self.stream.window, &flow);
                }
                _ => {}
            }
        }
        self.transmit(cx, out);
    }
}

impl SendEndpoint for Sender {
    fn stream(&self) -> &SendStream {
        &self.stream
    }

    fn stream_mut(&mut self) -> &mut SendStream {
        &mut self.stream
    }

    /// The packet in the host's port has begun to leave or was dropped: the rate counts from now on.
    fn on_left(&mut self, _: Instant, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if let Some(takes) = self.waiting.take() {
            self.last = Some((cx.now, takes));
            self.transmit(cx, out);
        }
    }

    fn snapshot(&self, now: Instant) -> SenderSnapshot {
        let window = Some(self.stream.window).filter(|window| window.cwnd.is_finite());
        SenderSnapshot { window, rate: Some(self.rate()), alpha: self.stream.law.alpha(now) }
    }
}
