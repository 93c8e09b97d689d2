//! pFabric's own hosts — Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013,
//! §4.3. Switches schedule, and hosts stay simple.
//!
//! | paper | here |
//! |---|---|
//! | flows start at the rate of the link | the first window: the segments that fill the path ([`Opening::bdp`](shortflow_cc::Opening::bdp)) |
//! | selective acknowledgements for every packet | [`Receiver`]: an ACK covers its packet by its number or by a SACK block |
//! | no fast retransmit: only fixed, small timeouts detect drops | [`Sender`] `rto` |
//! | consecutive timeouts start probe mode, and an answer ends it | `timeouts`, `probe_after` |
//! | window and slow start | the law, in `minimal.rs` of `shortflow_cc` |
//! | the priority of a packet is the remaining size of its flow (§4.1) | `priority.by = remaining` |
//!
//! Choices:
//! - The timer restarts at each ACK that advances, as TCP's timer does. After a timeout, all outstanding data
//!   without SACK is retransmitted within the window.
//! - SACKed data does not count against the window, so a hole does not stop a flow before its timeout.
//! - A probe is a header without payload (the paper: one byte). The sender sends one probe per timeout.
//! - Of the keys of `[tcp]`, these hosts read only packet sizes.

use crate::host::{
    ConnectionSetup, Endpoint, EndpointContext, EndpointId, LazyTimer, Outbox, ReceiveEndpoint, SendEndpoint,
    SendStream, SenderSnapshot,
};
use crate::packet::{Extension, Packet, SackBlocks};
use crate::reassembly::Reassembly;
use crate::tcp::scoreboard::Scoreboard;
use shortflow_cc::hosts::minimal::Params;
use shortflow_cc::{Cause, CongestionControl, TransportConfig, Window};
use shortflow_units::{Instant, Span};

/// Number of the sender's timer.
const TIMEOUT: u8 = 0;

/// Both ends of a connection.
pub(crate) fn open(
    [sender, receiver]: [EndpointId; 2],
    transport: &TransportConfig,
    params: &Params,
    setup: &ConnectionSetup<'_>,
) -> (Sender, Receiver) {
    (Sender::new(sender, transport, params, setup), Receiver::new(receiver))
}

/// The sending end of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    stream: SendStream,
    scoreboard: Scoreboard,
    rto: Span,
    round_trip: Span,
    alarm: LazyTimer,
    /// Number of timeouts since the last ACK.
    timeouts: u32,
    probe_after: u32,
}

impl Sender {
    /// A sender without data.
    pub(crate) fn new(
        identity: EndpointId,
        transport: &TransportConfig,
        &Params { rto, probe_after }: &Params,
        &ConnectionSetup { at, priority, .. }: &ConnectionSetup<'_>,
    ) -> Sender {
        let mut law = transport.start();
        let mut window = Window { cwnd: at.bdp().round().max(1.0), ssthresh: f64::INFINITY };
        law.on_start(&mut window, &at);
        window.ssthresh = window.cwnd;
        Sender {
            stream: SendStream::new(identity, law, window, priority),
            scoreboard: Scoreboard::new(0),
            rto: rto.unwrap_or(at.base_rtt.times(3)),
            round_trip: at.base_rtt,
            alarm: LazyTimer::IDLE,
            timeouts: 0,
            probe_after,
        }
    }

    fn is_probing(&self) -> bool {
        self.timeouts >= self.probe_after
    }

    /// Bytes known to have arrived.
    fn delivered(&self) -> u64 {
        self.stream.snd_max - self.scoreboard.unsacked_bytes(self.stream.snd_una, self.stream.snd_max)
    }

    /// The next segment to send, if there is data.
    fn next_segment(&self, cx: EndpointContext<'_>) -> Option<(u64, u64)> {
        let (start, hole) = match self.stream.snd_nxt < self.stream.snd_max {
            true => self.scoreboard.hole_from(self.stream.snd_nxt, self.stream.snd_max),
            false => (self.stream.snd_nxt, u64::MAX),
        };
        let hole = if start < self.stream.snd_max { hole } else { u64::MAX };
        let message = self.stream.messages.of(start)?;
        Some((start, hole.min(message.end).min(start + cx.tcp.mss.get())))
    }

    /// Sends within the window.
    fn transmit(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let allowed = self.stream.window_bytes(cx.tcp);
        while !self.is_probing()
            && let Some((start, end)) = self.next_segment(cx)
            && self.scoreboard.unsacked_bytes(self.stream.snd_una, self.stream.snd_nxt) + (end - start)
                <= allowed
        {
            self.send(start, end, cx, out);
        }
        if let Some(at) = self.alarm.arm() {
            out.set_timer(TIMEOUT, at);
        }
    }

    /// Sends the bytes `start..end`, and sets the timer unless it is set.
    fn send(&mut self, start: u64, end: u64, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let again = start < self.stream.snd_max;
        self.stream.snd_nxt = end;
        self.stream.snd_max = self.stream.snd_max.max(end);
        self.alarm.deadline.get_or_insert(cx.now + self.rto);
        let handover = out.send(self.packet(start, end, cx));
        self.stream.count_sent(start, again, handover.waits);
    }

    fn packet(&self, start: u64, end: u64, cx: EndpointContext<'_>) -> Packet {
        let priority = self.stream.priority_at(start);
        Packet { priority, ..self.stream.packet(start, end, cx.tcp) }
    }

    fn on_ack(&mut self, ack: &Packet, cx: EndpointContext<'_>) {
        let before = self.delivered();
        self.scoreboard.add(
            ack.sack().ranges(ack.seq),
            ack.seq.max(self.stream.snd_una),
            self.stream.snd_max,
        );
        if ack.seq > self.stream.snd_una {
            self.stream.snd_una = ack.seq;
            self.scoreboard.advance(ack.seq);
            self.alarm.deadline = (ack.seq < self.stream.snd_max).then(|| cx.now + self.rto);
        }
        self.stream.snd_nxt = self.stream.snd_nxt.max(self.stream.snd_una);
        if self.is_probing() {
            self.alarm.deadline = None; // the deadline of the probe; data that is sent next sets a new deadline
        }
        self.timeouts = 0;
        let acked = self.delivered() - before;
        if acked > 0 {
            let sample = self.stream.sample(self.stream.view(self.round_trip, cx), acked);
            self.stream.law.on_ack(&mut self.stream.window, &sample);
        }
    }

    /// Treats all outstanding data as lost. From the `probe_after`-th consecutive timeout on, a header probes
    /// the path.
    fn on_timeout(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.alarm.deadline = Some(cx.now + self.rto);
        self.stream.snd_nxt = self.stream.snd_una;
        if !self.is_probing() {
            self.timeouts += 1;
            self.stream.count_timeout();
            let flow = self.stream.view(self.round_trip, cx);
            self.stream.decrease(Cause::Timeout, &flow);
        }
        if self.is_probing() {
            out.send(self.packet(self.stream.snd_una, self.stream.snd_una, cx));
        }
    }
}

impl Endpoint for Sender {
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.transmit(cx, out);
    }

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.on_ack(packet, cx);
        self.transmit(cx, out);
    }

    fn on_timer(&mut self, _: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.alarm.expired(cx.now) {
            self.on_timeout(cx, out);
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

    fn snapshot(&self, now: Instant) -> SenderSnapshot {
        SenderSnapshot { window: Some(self.stream.window), rate: None, alpha: self.stream.law.alpha(now) }
    }
}

/// The receiving end of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    identity: EndpointId,
    bytes: Reassembly,
}

impl Receiver {
    /// A receiver that acknowledges packets to the peer of `identity`.
    pub(crate) fn new(identity: EndpointId) -> Receiver {
        Receiver { identity, bytes: Reassembly::default() }
    }
}

impl Endpoint for Receiver {
    fn start(&mut self, _: EndpointContext<'_>, _: &mut impl Outbox) {}

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let (start, end) = (packet.seq, packet.seq + u64::from(packet.payload));
        if start < end {
            self.bytes.accept(start, end);
        }
        let received = self.bytes.received();
        let block = (received < end && start < end).then_some((start, end));
        let extension = Extension::of_sack(SackBlocks::new(received, block.as_slice()));
        out.send(Packet { extension, ..self.identity.control(received, cx.tcp) });
    }

    fn on_timer(&mut self, _: u8, _: EndpointContext<'_>, _: &mut impl Outbox) {}
}

impl ReceiveEndpoint for Receiver {
    fn received(&self) -> u64 {
        self.bytes.received()
    }

    fn arrived(&self, start: u64, end: u64) -> u64 {
        self.bytes.arrived(start, end)
    }

    fn skipped(&self) -> u64 {
        self.bytes.skipped()
    }
}
