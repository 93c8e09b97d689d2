//! Use of the window: a window grows only while it is used (tcp_cwnd_validate() and tcp_is_cwnd_limited() of
//! Linux; RFC 2861). Deviation: unused windows do not decay.

use super::card::Card;
use crate::host::{EndpointContext, SendStream};
use crate::specs::{Growth, TcpSpec};

/// Reason why a sender stops for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The window is full.
    Window,
    /// The data has ended, or the receiver has no room.
    Data,
    /// The pacer holds the next segment.
    Pacer,
    /// The host's card holds the segment that begins at this byte.
    Card(u64),
}

/// Use of the window by the last flight.
#[derive(Debug)]
pub(super) struct Usage {
    /// True if the law or the card reads this state.
    is_kept: bool,
    is_limited: bool,
    /// Largest number of bytes in flight, if the window did not limit the sender.
    most: u64,
    /// First byte after the flight.
    until: u64,
    /// `snd_max` when the sender last stopped.
    sent: u64,
}

impl Usage {
    /// State of a new connection. `is_held` is true if its host has a small queue.
    pub(super) fn new(is_held: bool, tcp: &TcpSpec) -> Usage {
        let is_limited = matches!(tcp.growth, None | Some(Growth::Always));
        Usage { is_kept: is_held || !is_limited, is_limited, most: 0, until: 0, sent: 0 }
    }

    /// Records a stop, as tcp_cwnd_validate() does.
    fn note(&mut self, is_limited: bool, (una, max): (u64, u64)) {
        let out = max - una;
        // Within a flight, keep the verdict unless the window limits the sender or an unlimited flight grows.
        if is_limited || una >= self.until || (!self.is_limited && out > self.most) {
            (self.is_limited, self.most, self.until) = (is_limited, out, max);
        }
    }

    /// Records why a sender stops for now.
    #[inline]
    pub(super) fn note_end(
        &mut self,
        end: End,
        card: &mut Card,
        stream: &mut SendStream,
        cx: EndpointContext<'_>,
    ) {
        if self.is_kept {
            self.keep(end, card, stream, cx);
        }
    }

    #[inline(never)] // keeps the path of other senders short
    fn keep(&mut self, end: End, card: &mut Card, stream: &mut SendStream, cx: EndpointContext<'_>) {
        let held = if let End::Card(start) = end { Some(start) } else { None };
        if (held.is_some() || card.holds())
            && let Some((start, time)) = card.hold(held, cx.now)
            && let Some(message) = stream.messages.of_mut(start)
        {
            message.tally.held += time;
        }
        let sent = std::mem::replace(&mut self.sent, stream.snd_max) != stream.snd_max;
        let is_limited = match cx.tcp.growth {
            None | Some(Growth::Always) => return,
            Some(Growth::UnlessHeld) => held.is_none(),
            Some(Growth::CwndLimited) => end == End::Window,
        };
        if is_limited || sent {
            self.note(is_limited, (stream.snd_una, stream.snd_max));
        }
    }

    /// True if the window limits the sender, so that it may grow (tcp_is_cwnd_limited()).
    #[inline]
    pub(super) fn is_limited(&self, stream: &SendStream, tcp: &TcpSpec) -> bool {
        self.is_limited || self.is_within_twice(stream, tcp)
    }

    #[inline(never)] // rare
    fn is_within_twice(&self, stream: &SendStream, tcp: &TcpSpec) -> bool {
        stream.window.cwnd < stream.window.ssthresh && stream.window_bytes(tcp) < 2 * self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{HostAgent, Outbox, PacketSink};
    use crate::packet::{Handover, Packet};
    use crate::tcp::Sender;
    use crate::tcp::path::CARD;
    use crate::tcp::testing::{FLOW, IDENTITY, tcp};
    use shortflow_cc::TransportConfig;
    use shortflow_units::{Bytes, Instant, Span};

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
