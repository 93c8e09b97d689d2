//! The sender as the event loop sees it: dispatch of packets and timers.

use super::Sender;
use crate::host::{Endpoint, EndpointContext, Outbox, SendEndpoint, SendStream, SenderSnapshot};
use crate::packet::{Packet, PacketType};
use crate::specs::TcpSpec;
use crate::tcp::path::{CARD, PACE};
use crate::tcp::recovery::Phase;
use shortflow_cc::{CongestionControl, Recovery};
use shortflow_units::Instant;

/// Number of the sender's retransmission timer.
const RETRANSMIT: u8 = 0;

impl Endpoint for Sender {
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        Sender::start(self, cx, out);
        self.settle(cx, out);
    }

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.expects(packet) {
            return self.on_expected(packet, cx, out);
        }
        if packet.kind == PacketType::Ack {
            self.on_ack(packet, cx, out);
            if let Some(path) = &mut self.path {
                path.meter.reuse(packet.extension.take());
            }
        } else {
            self.on_syn_ack(cx, out);
        }
        self.settle(cx, out);
    }

    fn on_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if timer == CARD && self.is_predictable {
            return self.on_room(cx, out);
        }
        if timer != RETRANSMIT {
            self.on_path_timer(timer, cx, out);
        } else if self.alarm.expired(cx.now) {
            self.on_timeout(cx, out);
        }
        self.settle(cx, out);
    }
}

impl Sender {
    /// Arms the timers and updates `is_predictable`. Runs after all events except expected packets, which
    /// leave a steady sender steady.
    #[inline]
    fn settle(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.arm(out);
        if self.path.is_some() {
            self.arm_path(cx.tcp, out);
        }
        self.is_predictable = self.may_predict && self.is_steady(cx.tcp);
    }

    /// Arms the retransmission timer and the card's timer.
    #[inline(always)]
    pub(super) fn arm(&mut self, out: &mut impl Outbox) {
        if let Some(at) = self.alarm.arm() {
            out.set_timer(RETRANSMIT, at);
        }
        if self.card.holds()
            && let Some(at) = self.card.alarm.arm()
        {
            out.set_timer(CARD, at);
        }
    }

    /// Arms the timers of pacer and law, and records whether the application limits the sender.
    #[inline(never)] // keeps the path of other senders short
    fn arm_path(&mut self, tcp: &TcpSpec, out: &mut impl Outbox) {
        let app_limited = self.app_limited(tcp);
        if let Some(path) = &mut self.path {
            path.arm(&self.stream, app_limited, out);
        }
    }

    /// Bytes in flight, if the application limits the sender: data has run out, the window has room, and no
    /// lost segment waits for retransmission (draft-ietf-ccwg-bbr, CheckIfApplicationLimited).
    fn app_limited(&self, tcp: &TcpSpec) -> Option<u64> {
        let (in_flight, all_resent) = match (&self.rack, self.loss.by, self.loss.phase) {
            (Some(state), ..) => (state.rack.pipe(), state.rack.is_all_resent()),
            (None, Recovery::Sack, Phase::Recovery) => {
                let (una, max, mss) = (self.stream.snd_una, self.stream.snd_max, tcp.mss.get());
                let next = self.loss.scoreboard.next_segment(una, max, mss, false);
                (self.loss.scoreboard.pipe(una, max, mss), next.is_none())
            }
            _ => (self.loss.outstanding(&self.stream), self.stream.snd_nxt == self.stream.snd_max),
        };
        let is_limited = all_resent
            && in_flight < self.stream.window_bytes(tcp)
            && self.stream.messages.of(self.stream.snd_max).is_none();
        is_limited.then_some(in_flight)
    }

    /// The timer of the card, of the pacer or of the law fires.
    pub(in crate::tcp) fn on_path_timer(
        &mut self,
        timer: u8,
        cx: EndpointContext<'_>,
        out: &mut impl Outbox,
    ) {
        if timer == CARD {
            if self.card.alarm.expired(cx.now) {
                self.send(cx, out);
            }
            return;
        }
        let Some(path) = &mut self.path else { return };
        if timer == PACE {
            if path.pace.expired(cx.now) {
                path.pace.deadline = None;
                self.send(cx, out);
            }
        } else if path.law.expired(cx.now) {
            let flow = self.flow_view(cx);
            self.stream.law.on_timer(&mut self.stream.window, &flow);
            self.send(cx, out);
        }
    }
}

impl SendEndpoint for Sender {
    #[inline]
    fn stream(&self) -> &SendStream {
        &self.stream
    }

    #[inline]
    fn stream_mut(&mut self) -> &mut SendStream {
        &mut self.stream
    }

    fn on_left(&mut self, departs: Instant, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.card.on_left(departs.max(cx.now));
        self.settle(cx, out);
    }

    fn snapshot(&self, now: Instant) -> SenderSnapshot {
        SenderSnapshot {
            window: Some(self.stream.window),
            rate: self.stream.law.pacing_rate(),
            alpha: self.stream.law.alpha(now),
        }
    }
}
