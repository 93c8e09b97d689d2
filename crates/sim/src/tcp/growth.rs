//! Bookkeeping when a sender stops: the window, the card, the pacer or missing data may be the reason.

use super::sender::Sender;
use super::usage::End;
use crate::host::EndpointContext;
use crate::specs::{Growth, TcpSpec};
use shortflow_units::Instant;

impl Sender {
    /// Records why the sender stops for now.
    #[inline]
    pub(super) fn note_end(&mut self, end: End, cx: EndpointContext<'_>) {
        if self.usage.is_kept {
            self.keep_usage(end, cx);
        }
    }

    #[inline(never)] // keeps the path of other senders short
    fn keep_usage(&mut self, end: End, cx: EndpointContext<'_>) {
        let held = if let End::Card(start) = end { Some(start) } else { None };
        if held.is_some() || self.card.holds() {
            self.note_hold(held, cx.now);
        }
        let sent = std::mem::replace(&mut self.usage.sent, self.stream.snd_max) != self.stream.snd_max;
        let is_limited = match cx.tcp.growth {
            None | Some(Growth::Always) => return,
            Some(Growth::UnlessHeld) => held.is_none(),
            Some(Growth::CwndLimited) => end == End::Window,
        };
        if is_limited || sent {
            self.usage.note(is_limited, (self.stream.snd_una, self.stream.snd_max));
        }
    }

    #[inline(never)] // rare
    fn note_hold(&mut self, held: Option<u64>, now: Instant) {
        let before = self.card.hold(held, now);
        if let Some((start, time)) = before
            && let Some(message) = self.stream.messages.of_mut(start)
        {
            message.tally.held += time;
        }
    }

    /// True if the window limits the sender, so that it may grow (tcp_is_cwnd_limited()).
    #[inline]
    pub(super) fn is_limited(&self, tcp: &TcpSpec) -> bool {
        self.usage.is_limited || self.is_within_twice(tcp)
    }

    #[inline(never)] // rare
    fn is_within_twice(&self, tcp: &TcpSpec) -> bool {
        self.stream.window.cwnd < self.stream.window.ssthresh && self.window_bytes(tcp) < 2 * self.usage.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{EndpointContext, HostAgent, Outbox, PacketSink};
    use crate::packet::{Handover, Packet};
    use crate::tcp::path::CARD;
    use crate::tcp::testing::{FLOW, IDENTITY, tcp};
    use shortflow_cc::TransportConfig;
    use shortflow_units::{Bytes, Span};

    /// A card that has room at this time.
    struct Until(Instant);

    impl PacketSink for Until {
        fn send(&mut self, _: Packet) -> Handover {
            Handover { waits: Span::ZERO, departs: self.0 }
        }
    }

    impl Outbox for Until {
        fn set_timer(&mut self, _: u8, _: Instant) {}

        fn agent<A: HostAgent + Default>(&mut self) -> &mut A {
            unreachable!("TCP's connections share nothing")
        }
    }

    /// After a timeout, a card of one segment holds the third segment. The wait counts for the first of two
    /// messages, although all bytes of both messages had been sent.
    #[test]
    fn the_wait_of_a_retransmission_is_of_its_own_message() {
        let at = |us: u64| Instant::ZERO + Span::from_micros(us);
        let spec = TcpSpec { initial_window: 6.0, ..tcp() };
        for recovery in ["newreno", "sack", "rack"] {
            let transport = TransportConfig::with("newreno", [("recovery", recovery)]).unwrap();
            let sender = Sender::new(IDENTITY, &transport, &spec, Span::from_millis(10));
            let mut sender = sender.with_small_queue(1, &spec);
            let cx = |micros| EndpointContext { now: at(micros), tcp: &spec };
            for _ in 0..2 {
                sender.push(FLOW, Bytes::new(4380));
            }
            sender.start(cx(0), &mut Until(at(0)));
            assert_eq!(sender.stream.snd_max, 8760, "{recovery}");
            sender.on_timeout(cx(10_000), &mut Until(at(10_100)));
            let ack = sender.stream.identity.control(1460, &spec);
            sender.on_ack(&ack, cx(10_050), &mut Until(at(10_150)));
            sender.on_path_timer(CARD, cx(10_150), &mut Until(at(10_250)));
            let held: Vec<Span> =
                sender.stream.messages.iter_mut().map(|message| message.tally.held).collect();
            assert_eq!(held, [Span::from_micros(100), Span::ZERO], "{recovery}");
        }
    }
}
