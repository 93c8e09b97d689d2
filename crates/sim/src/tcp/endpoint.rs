//! TCP's endpoints as the event loop sees them: dispatch of packets and timers.

use super::path::CARD;
use super::{Receiver, Sender};
use crate::host::{
    Endpoint, EndpointContext, Outbox, ReceiveEndpoint, SendEndpoint, SendStream, SenderSnapshot,
};
use crate::packet::{Packet, PacketType};
use crate::specs::TcpSpec;
use shortflow_cc::CongestionControl;
use shortflow_units::Instant;

/// Number of the sender's retransmission timer.
const RETRANSMIT: u8 = 0;
/// Number of the receiver's delayed-ACK timer.
const DELAYED_ACK: u8 = 0;

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

impl Endpoint for Receiver {
    fn start(&mut self, _: EndpointContext<'_>, _: &mut impl Outbox) {}

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.expects(packet) {
            self.on_expected(packet, cx.tcp, out);
        } else if packet.kind == PacketType::Data {
            self.on_data(packet, cx, out);
            self.settle(cx.tcp, out);
        } else {
            self.on_syn(cx.tcp, out);
        }
    }

    fn on_timer(&mut self, _timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.alarm.expired(cx.now) {
            self.acknowledge(cx, out);
        }
        self.settle(cx.tcp, out);
    }
}

impl Receiver {
    /// Arms the timer and updates `is_predictable`. Runs after all events except expected packets.
    #[inline]
    fn settle(&mut self, tcp: &TcpSpec, out: &mut impl Outbox) {
        if let Some(at) = self.alarm.arm() {
            out.set_timer(DELAYED_ACK, at);
        }
        self.is_predictable = self.may_predict && self.is_steady(tcp);
    }
}

impl ReceiveEndpoint for Receiver {
    #[inline]
    fn received(&self) -> u64 {
        self.rcv_nxt
    }

    fn arrived(&self, start: u64, end: u64) -> u64 {
        let ranges = self.out_of_order.iter().copied().chain([(0, self.rcv_nxt)]);
        ranges.map(|(low, high)| high.min(end).saturating_sub(low.max(start))).sum()
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn on_message_end(&mut self, end: u64, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.has_unanswered(end) {
            self.acknowledge(cx, out);
        }
    }
}
