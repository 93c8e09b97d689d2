//! Header prediction (V. Jacobson, 4BSD-Reno): a short path for the packet that an endpoint expects next.
//!
//! An endpoint is steady if no data is missing and only window and card limit the sender. It checks this
//! after each other event. An expected packet, or room in the card, leaves a steady endpoint steady. For a
//! steady endpoint, the short path has the same effect as [`Sender::on_ack`], [`Sender::send`] and
//! [`Receiver::on_data`](crate::tcp::receiver::Receiver::on_data).

use super::Sender;
use crate::host::{EndpointContext, Outbox};
use crate::packet::{Packet, PacketType};
use crate::specs::TcpSpec;
use crate::tcp::usage::End;

impl Sender {
    /// True if one message is being sent, no loss is known, and an ACK can only move the window.
    pub(super) fn is_steady(&self, tcp: &TcpSpec) -> bool {
        self.loss.is_idle()
            && self.stream.snd_nxt == self.stream.snd_max
            && self.rack.is_none()
            && self.path.is_none()
            && !tcp.grow_by_segments
            && self.stream.messages.is_single()
    }

    /// True for an ACK of new data that does not complete the message.
    #[inline(always)]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        self.is_predictable
            && packet.kind == PacketType::Ack
            && self.stream.snd_una < packet.seq
            && packet.seq <= self.stream.snd_max
            && packet.seq < self.stream.messages.end()
            && packet.extension.is_none()
    }

    /// Handles an expected ACK.
    #[inline(always)]
    pub(crate) fn on_expected(&mut self, ack: &Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let acked = ack.seq - self.stream.snd_una;
        self.stream.snd_una = ack.seq;
        self.rto.on_ack(self.stream.snd_una, cx.now, cx.tcp);
        self.loss.duplicates = 0;
        self.adapt(ack, (acked, false), cx);
        self.alarm.deadline = (self.stream.snd_una < self.stream.snd_max).then(|| cx.now + self.rto.rto());
        self.send_steadily(cx, out);
        self.arm(out);
    }

    /// The card has room again for a steady sender.
    pub(super) fn on_room(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.card.alarm.expired(cx.now) {
            self.send_steadily(cx, out);
        }
        self.arm(out);
    }

    /// Sends as much as window and card allow, for a steady sender.
    #[inline(always)]
    fn send_steadily(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let (allowed, whole) = (self.stream.window_bytes(cx.tcp), self.stream.messages.end());
        let end = loop {
            let (start, room) =
                (self.stream.snd_max, allowed.saturating_sub(self.stream.snd_max - self.stream.snd_una));
            let end = whole.min(start.saturating_add(self.stream.segment_size(room, cx.tcp)));
            if start >= whole || end > self.receive_limit() {
                break if room < self.stream.segment_size(u64::MAX, cx.tcp) {
                    End::Window
                } else {
                    End::Data
                };
            }
            if end - start > room {
                break End::Window;
            }
            if self.is_held_by_card(cx.now) {
                break End::Card(start);
            }
            self.send_bytes((start, end), false, cx, out);
            self.stream.snd_nxt = end;
        };
        self.usage.note_end(end, &mut self.card, &mut self.stream, cx);
    }
}

#[cfg(test)]
mod tests {
    use crate::host::{Endpoint, EndpointContext, HostAgent, Outbox, PacketSink};
    use crate::packet::{EcnField, Handover, Packet, PacketType};
    use crate::specs::{Growth, TcpSpec};
    use crate::tcp::testing::{FLOW, IDENTITY, tcp};
    use crate::tcp::{Receiver, Sender};
    use proptest::prelude::*;
    use shortflow_cc::{TransportConfig, transports};
    use shortflow_units::{Bytes, Instant, Span};
    use std::collections::VecDeque;

    /// A card that sends a segment in 12 µs, and stores pending events.
    #[derive(Debug, Default)]
    struct Card {
        now: Instant,
        idle_at: Instant,
        sent: VecDeque<Packet>,
        timers: Vec<(Instant, bool, u8)>,
        of_receiver: bool,
    }

    impl PacketSink for Card {
        fn send(&mut self, packet: Packet) -> Handover {
            let starts = self.now.max(self.idle_at);
            self.idle_at = starts + Span::from_micros(12);
            self.sent.push_back(packet);
            Handover { waits: starts.since(self.now), departs: self.idle_at }
        }
    }

    impl Outbox for Card {
        fn set_timer(&mut self, timer: u8, at: Instant) {
            self.timers.push((at, self.of_receiver, timer));
        }

        fn agent<A: HostAgent + Default>(&mut self) -> &mut A {
            unreachable!("TCP's connections share nothing")
        }
    }

    #[derive(Debug)]
    struct Connection {
        sender: Sender,
        receiver: Receiver,
        card: Card,
        data: VecDeque<Packet>,
        acks: VecDeque<Packet>,
        /// Number of packets that took the short path.
        expected: usize,
    }

    impl Connection {
        fn new(transport: &TransportConfig, tcp: &TcpSpec, small_queue: usize, predicts: bool) -> Connection {
            let sender = Sender::new(IDENTITY, transport, tcp, Span::from_millis(3));
            let receiver = Receiver::new(IDENTITY, transport.ecn(), transport.recovery());
            Connection {
                sender: sender.with_small_queue(small_queue, tcp).with_prediction(predicts),
                receiver: receiver.with_prediction(predicts),
                card: Card::default(),
                data: VecDeque::new(),
                acks: VecDeque::new(),
                expected: 0,
            }
        }

        fn step(&mut self, (step, by): (u8, u64), tcp: &TcpSpec) {
            let cx = EndpointContext { now: self.card.now, tcp };
            match step {
                10 if self.sender.stream.messages.end() == u64::MAX => {
                    self.sender.stream.messages.stop(self.sender.stream.snd_max)
                }
                0 if self.sender.stream.messages.end() < u64::MAX => {
                    let endless = by < 2 && self.sender.stream.messages.is_empty();
                    self.sender.push(FLOW, if endless { Bytes::MAX } else { Bytes::new(1 + by * by * 100) });
                    Endpoint::start(&mut self.sender, cx, &mut self.card);
                }
                1 => drop(self.data.pop_front()),
                2 => drop(self.acks.pop_front()),
                3 if self.data.len() > 1 => self.data.swap(0, 1),
                4 => self.sleep(Span::from_micros(10 * by * by), tcp),
                5 if self.sender.stream.messages.end() < u64::MAX => {
                    self.sender.stream.messages.finish(self.sender.stream.snd_una, cx.now);
                    while self.sender.stream.messages.take_finished(cx.now).is_some() {}
                }
                6 | 7 => self.deliver_data(step == 7, cx),
                8 => self.deliver_ack(cx),
                _ => (0..by).for_each(|_| {
                    self.sleep(Span::from_micros(7), tcp);
                    let cx = EndpointContext { now: self.card.now, tcp };
                    self.deliver_data(false, cx);
                    self.deliver_ack(cx);
                }),
            }
            self.sort();
        }

        fn deliver_data(&mut self, is_marked: bool, cx: EndpointContext<'_>) {
            let Some(mut packet) = self.data.pop_front() else { return };
            if is_marked {
                packet.mark();
            }
            self.card.of_receiver = true;
            self.expected += usize::from(self.receiver.expects(&packet));
            self.receiver.on_packet(&mut packet, cx, &mut self.card);
            self.card.of_receiver = false;
            self.sort();
        }

        fn deliver_ack(&mut self, cx: EndpointContext<'_>) {
            let Some(mut packet) = self.acks.pop_front() else { return };
            self.expected += usize::from(self.sender.expects(&packet));
            self.sender.on_packet(&mut packet, cx, &mut self.card);
            self.sort();
        }

        fn sort(&mut self) {
            let of_sender = |packet: &Packet| matches!(packet.kind, PacketType::Data | PacketType::Syn);
            for packet in self.card.sent.drain(..) {
                if of_sender(&packet) { self.data.push_back(packet) } else { self.acks.push_back(packet) }
            }
        }

        /// Advances the time and fires the timers that are due.
        fn sleep(&mut self, time: Span, tcp: &TcpSpec) {
            let until = self.card.now + time;
            while let Some(next) = self.card.timers.iter().copied().min().filter(|next| next.0 <= until) {
                self.card.timers.retain(|timer| *timer != next);
                let (at, of_receiver, timer) = next;
                self.card.now = self.card.now.max(at);
                let cx = EndpointContext { now: self.card.now, tcp };
                self.card.of_receiver = of_receiver;
                match of_receiver {
                    true => self.receiver.on_timer(timer, cx, &mut self.card),
                    false => self.sender.on_timer(timer, cx, &mut self.card),
                }
                self.card.of_receiver = false;
            }
            self.card.now = until;
        }

        /// Complete state except the expected packet, as text.
        fn state(&self) -> String {
            let Connection { sender, receiver, card, data, acks, expected: _ } = self;
            let state = format!("{sender:?}\n{receiver:?}\n{card:?}\n{data:?}\n{acks:?}");
            let flags = ["is_predictable: true", "may_predict: true"];
            flags.iter().fold(state, |state, flag| state.replace(flag, &flag.replace("true", "false")))
        }
    }

    proptest! {
        /// Random losses, marks, reordering, timeouts and messages.
        #[test]
        fn the_short_path_and_the_long_path_have_equal_effects(
            steps in prop::collection::vec((0u8..15, 0u64..20), 1..300),
            transport in prop::sample::select(transports().to_vec()),
            recovery in prop::sample::select(vec!["newreno", "sack", "rack"]),
            (small_queue, growth) in (0usize..3, prop::option::of(prop::sample::select(vec![Growth::Always, Growth::UnlessHeld, Growth::CwndLimited]))),
            (receive_window, ack_every, handshake) in (prop::sample::select(vec![7.5, 40.0]), 1u32..3, any::<bool>()),
        ) {
            prop_assume!(transport.host == shortflow_cc::Host::Tcp);
            let transport = TransportConfig::with(transport.name, [("recovery", recovery)]).unwrap();
            let tcp = TcpSpec { growth, receive_window, ack_every, handshake, rto_min: Span::from_micros(500), ..tcp() };
            let [mut short, mut long] =
                [true, false].map(|predicts| Connection::new(&transport, &tcp, small_queue, predicts));
            for step in steps {
                short.step(step, &tcp);
                long.step(step, &tcp);
                prop_assert_eq!(short.state(), long.state());
            }
            prop_assert_eq!(long.expected, 0);
        }
    }

    /// 100 segments and 100 ACKs take the short path, except two packets: the first segment, because the
    /// receiver is not yet known to be steady, and the last ACK, because it ends the message.
    #[test]
    fn a_transfer_in_order_takes_the_short_path() {
        for name in ["dctcp", "newreno", "cubic"] {
            let (transport, tcp) = (TransportConfig::named(name).unwrap(), tcp());
            let mut connection = Connection::new(&transport, &tcp, 0, true);
            connection.sender.push(FLOW, Bytes::new(146_000));
            let cx = EndpointContext { now: Instant::ZERO, tcp: &tcp };
            Endpoint::start(&mut connection.sender, cx, &mut connection.card);
            connection.sort();
            (0..10).for_each(|_| connection.step((9, 10), &tcp));
            assert_eq!((connection.sender.stream.snd_una, connection.expected), (146_000, 198), "{name}");
        }
    }

    /// ACKs of a marked and of an unmarked segment carry the matching echo.
    #[test]
    fn the_short_path_echoes_marks() {
        let (transport, tcp) = (TransportConfig::named("dctcp").unwrap(), tcp());
        let mut connection = Connection::new(&transport, &tcp, 0, true);
        [(0, 19), (6, 0), (7, 0)].into_iter().for_each(|step| connection.step(step, &tcp));
        assert_eq!(connection.expected, 1);
        assert!(connection.acks.iter().map(|ack| ack.ecn_flag).eq([false, true]));
        assert!(connection.data.iter().all(|data| data.ecn == EcnField::Ect));
    }
}
