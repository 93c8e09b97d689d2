//! TCP's ends for the event loop: dispatch of packets and timers.

use super::path::CARD;
use super::{Receiver, Sender};
use crate::host::{Endpoint, Messages, Outbox, Scene, Sink, Source, View};
use crate::packet::{Kind, Packet};
use crate::specs::TcpSpec;
use shortflow_cc::CongestionControl;
use shortflow_units::Instant;

/// The sender's retransmission timer.
const RETRANSMIT: u8 = 0;
/// The receiver's delayed-ACK timer.
const DELAYED_ACK: u8 = 0;

impl Endpoint for Sender {
    fn start(&mut self, scene: Scene<'_>, out: &mut impl Outbox) {
        Sender::start(self, scene.now, scene.tcp, out);
        self.settle(scene, out);
    }

    fn on_packet(&mut self, packet: &mut Packet, scene: Scene<'_>, out: &mut impl Outbox) {
        if self.expects(packet) {
            return self.on_expected(packet, scene, out);
        }
        if packet.kind == Kind::Ack {
            self.on_ack(scene.now, packet, scene.tcp, out);
        } else {
            self.on_syn_ack(scene.now, scene.tcp, out);
        }
        self.settle(scene, out);
    }

    fn on_timer(&mut self, timer: u8, scene: Scene<'_>, out: &mut impl Outbox) {
        if timer != RETRANSMIT {
            self.on_path_timer(timer, scene.now, scene.tcp, out);
        } else if self.alarm.rings(scene.now) {
            self.on_timeout(scene.now, scene.tcp, out);
        }
        self.settle(scene, out);
    }
}

impl Sender {
    /// Arms its timers, and finds out if it is steady; after all but expected packets.
    #[inline]
    fn settle(&mut self, scene: Scene<'_>, out: &mut impl Outbox) {
        self.arm(scene, out);
        self.is_predictable = self.may_predict && self.is_steady(scene.tcp);
    }

    /// Arms its timers.
    #[inline(always)]
    pub(super) fn arm(&mut self, scene: Scene<'_>, out: &mut impl Outbox) {
        if let Some(at) = self.alarm.arm() {
            out.wake(RETRANSMIT, at);
        }
        if self.card.holds()
            && let Some(at) = self.card.alarm.arm()
        {
            out.wake(CARD, at);
        }
        if self.path.is_some() {
            self.arm_path(scene.tcp, out);
        }
    }
}

impl Source for Sender {
    #[inline]
    fn messages(&self) -> &Messages {
        &self.messages
    }

    #[inline]
    fn messages_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }

    #[inline]
    fn acked(&self) -> u64 {
        self.snd_una()
    }

    fn sent(&self) -> u64 {
        self.snd_max
    }

    fn on_left(&mut self, departs: Instant, scene: Scene<'_>, out: &mut impl Outbox) {
        self.card.on_left(departs.max(scene.now));
        self.settle(scene, out);
    }

    fn view(&self, now: Instant) -> View {
        View { window: Some(self.window), rate: self.law.pacing_rate(), alpha: self.law.alpha(now) }
    }
}

impl Endpoint for Receiver {
    fn start(&mut self, _: Scene<'_>, _: &mut impl Outbox) {}

    fn on_packet(&mut self, packet: &mut Packet, scene: Scene<'_>, out: &mut impl Outbox) {
        if self.expects(packet) {
            self.on_expected(packet, scene.tcp, out);
        } else if packet.kind == Kind::Data {
            self.on_data(scene.now, packet, scene.tcp, out);
            self.settle(scene.tcp, out);
        } else {
            self.on_syn(scene.tcp, out);
        }
    }

    fn on_timer(&mut self, _timer: u8, scene: Scene<'_>, out: &mut impl Outbox) {
        if self.alarm.rings(scene.now) {
            self.acknowledge(scene.now, scene.tcp, out);
        }
        self.settle(scene.tcp, out);
    }
}

impl Receiver {
    /// Arms its timer, and finds out if it is steady; after all but expected packets.
    #[inline]
    fn settle(&mut self, tcp: &TcpSpec, out: &mut impl Outbox) {
        if let Some(at) = self.alarm.arm() {
            out.wake(DELAYED_ACK, at);
        }
        self.is_predictable = self.may_predict && self.is_steady(tcp);
    }
}

impl Sink for Receiver {
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

    fn answer(&mut self, end: u64, scene: Scene<'_>, out: &mut impl Outbox) {
        if self.has_unanswered(end) {
            self.acknowledge(scene.now, scene.tcp, out);
        }
    }
}
