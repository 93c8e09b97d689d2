//! [`Endpoints`]: both ends of a connection, of any protocol. One `match` dispatches each event.

use crate::host::{
    ConnectionSetup, Endpoint, EndpointContext, EndpointId, Flow, Message, Messages, Outbox, ReceiveEndpoint,
    SendEndpoint, SenderSnapshot,
};
use crate::packet::Packet;
use crate::{homa, minimal, ndp, roce, tcp};
use shortflow_cc::{HostParams, TransportConfig};
use shortflow_units::{Bytes, ClassId, Instant};

/// The two ends of a connection.
#[derive(Debug)]
pub(super) struct EndpointPair<S, R> {
    sender: S,
    receiver: R,
}

/// Effect of an ACK.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckOutcome {
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// Class of the message being sent.
    pub class: Option<ClassId>,
    /// True if a message is fully acknowledged.
    pub finished: bool,
}

/// List of the kinds of hosts, as in [`shortflow_cc::hosts`]. Each kind has the ends of a connection in a
/// module of this crate. TCP is apart: there may be a million connections, so its ends are stored without a
/// pointer.
macro_rules! hosts {
    ($($kind:ident => $module:ident,)+) => {
        /// The two ends, by protocol.
        #[derive(Debug)]
        #[expect(clippy::large_enum_variant, reason = "TCP's, of which there may be a million, need no pointer to follow")]
        pub(super) enum Endpoints {
            Tcp(EndpointPair<tcp::Sender, tcp::Receiver>),
            $($kind(Box<EndpointPair<$module::Sender, $module::Receiver>>),)+
        }

        /// Evaluates an expression for the pair of each protocol.
        macro_rules! each {
            ($ends:expr, $pair:ident => $what:expr) => {
                match $ends {
                    Endpoints::Tcp($pair) => $what,
                    $(Endpoints::$kind($pair) => $what,)+
                }
            };
        }

        impl Endpoints {
            /// Endpoints of `transport`, for the sender and the receiver.
            pub(super) fn new(ids: [EndpointId; 2], transport: &TransportConfig, setup: &ConnectionSetup<'_>) -> Endpoints {
                match transport.host() {
                    HostParams::Tcp(_) => {
                        let (sender, receiver) = tcp::open(ids, transport, setup);
                        Endpoints::Tcp(EndpointPair { sender, receiver })
                    }
                    $(HostParams::$kind(params) => {
                        let (sender, receiver) = $module::open(ids, transport, params, setup);
                        Endpoints::$kind(Box::new(EndpointPair { sender, receiver }))
                    })+
                }
            }

            /// Takes the receiver of the connection from another part, with its counts of arrivals.
            pub(super) fn take_receiver(&mut self, other: &mut Endpoints) {
                match (&mut *self, &mut *other) {
                    (Endpoints::Tcp(mine), Endpoints::Tcp(theirs)) => {
                        std::mem::swap(&mut mine.receiver, &mut theirs.receiver);
                    }
                    $((Endpoints::$kind(mine), Endpoints::$kind(theirs)) => {
                        std::mem::swap(&mut mine.receiver, &mut theirs.receiver);
                    })+
                    _ => unreachable!("the ends of a connection are of one protocol"),
                }
                let messages = self.messages_mut().iter_mut().zip(other.messages_mut().iter_mut());
                messages.for_each(|(mine, theirs)| mine.take_arrived(theirs));
            }
        }
    };
}

hosts! {
    Roce => roce,
    Minimal => minimal,
    Homa => homa,
    Ndp => ndp,
}

impl Endpoints {
    /// Hands a message of `size` bytes to the sender; [`Bytes::MAX`] is a backlogged flow. Returns the end of
    /// the message in the stream.
    pub(super) fn push(&mut self, flow: Flow, size: Bytes) -> u64 {
        self.messages_mut().push(flow, size)
    }

    /// Stops new data of a backlogged message. Returns `true` if all sent data is acknowledged.
    pub(super) fn stop(&mut self) -> bool {
        each!(self, pair => {
            let sent = pair.sender.stream().snd_max;
            pair.sender.stream_mut().messages.stop(sent);
        });
        self.messages().has_finished(self.acked())
    }

    /// Starts sending new data.
    pub(super) fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        each!(self, pair => Endpoint::start(&mut pair.sender, cx, out));
    }

    /// True if TCP's sender, or its receiver, expects this packet next.
    #[inline(always)]
    pub(super) fn expects(&self, packet: &Packet, at_sender: bool) -> bool {
        match self {
            Endpoints::Tcp(pair) if at_sender => pair.sender.expects(packet),
            Endpoints::Tcp(pair) => pair.receiver.expects(packet),
            _ => false,
        }
    }

    /// Delivers an expected ACK. Returns the newly acknowledged bytes and the class of their message.
    #[inline(always)]
    pub(super) fn deliver_expected_ack(
        &mut self,
        ack: &Packet,
        cx: EndpointContext<'_>,
        out: &mut impl Outbox,
    ) -> Option<(u64, ClassId)> {
        let Endpoints::Tcp(pair) = self else { return None };
        let before = pair.sender.stream().snd_una;
        pair.sender.on_expected(ack, cx, out);
        Some((ack.seq - before, pair.sender.stream().messages.first()?.class))
    }

    /// Delivers expected data to the receiver.
    #[inline(always)]
    pub(super) fn deliver_expected_data(
        &mut self,
        data: &Packet,
        cx: EndpointContext<'_>,
        out: &mut impl Outbox,
    ) {
        let Endpoints::Tcp(pair) = self else { return };
        if let Some(message) = pair.sender.stream_mut().messages.of_mut(data.seq) {
            message.tally.count_arrived(data);
            let end = data.seq + u64::from(data.payload);
            if end == message.end {
                pair.sender.stream_mut().messages.receive(end, cx.now);
            }
        }
        pair.receiver.on_expected(data, cx.tcp, out);
    }

    /// Delivers a packet to the receiver.
    #[inline]
    pub(super) fn deliver_to_receiver(
        &mut self,
        packet: &mut Packet,
        cx: EndpointContext<'_>,
        out: &mut impl Outbox,
    ) {
        each!(self, pair => pair.deliver_to_receiver(packet, cx, out));
    }

    /// Delivers a packet to the sender.
    #[inline]
    pub(super) fn deliver_to_sender(
        &mut self,
        packet: &mut Packet,
        cx: EndpointContext<'_>,
        out: &mut impl Outbox,
    ) -> AckOutcome {
        each!(self, pair => pair.deliver_to_sender(packet, cx, out))
    }

    /// Runs a timer of the sender.
    pub(super) fn sender_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        each!(self, pair => pair.sender.on_timer(timer, cx, out));
    }

    /// Runs a timer of the receiver.
    pub(super) fn receiver_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        each!(self, pair => pair.receiver.on_timer(timer, cx, out));
    }

    /// Gives the sender or the receiver its turn, after its host's agent has named the connection.
    pub(super) fn on_turn(&mut self, at_sender: bool, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        each!(self, pair => match at_sender {
            true => pair.sender.on_turn(cx, out),
            false => pair.receiver.on_turn(cx, out),
        });
    }

    /// Reports to the sender that a segment has left the scheduler of its host's port.
    pub(super) fn on_left(&mut self, departs: Instant, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        each!(self, pair => pair.sender.on_left(departs, cx, out));
    }

    /// Messages that are not fully acknowledged.
    pub(super) fn messages(&self) -> &Messages {
        &each!(self, pair => pair.sender.stream()).messages
    }

    /// [`Endpoints::messages`], mutable.
    pub(super) fn messages_mut(&mut self) -> &mut Messages {
        &mut each!(self, pair => pair.sender.stream_mut()).messages
    }

    /// First unacknowledged byte of the stream.
    pub(super) fn acked(&self) -> u64 {
        each!(self, pair => pair.sender.stream().snd_una)
    }

    /// One past the last byte that grants permit to send; `None` if the receiver sends no grants.
    pub(super) fn permitted(&self) -> Option<u64> {
        each!(self, pair => pair.sender.permitted())
    }

    /// All bytes of the stream below this have arrived.
    pub(super) fn received(&self) -> u64 {
        each!(self, pair => pair.receiver.received())
    }

    /// Bytes of `start..end` of the stream that have arrived.
    pub(super) fn arrived(&self, start: u64, end: u64) -> u64 {
        each!(self, pair => pair.receiver.arrived(start, end))
    }

    /// Calls `tell` for every message, with the bytes of the message that have arrived.
    pub(super) fn tell_messages(&mut self, tell: fn(&mut Message, u64)) {
        each!(self, pair => {
            let arrived = |message: &Message| pair.receiver.arrived(message.start, message.end);
            let messages = pair.sender.stream_mut().messages.iter_mut();
            messages.for_each(|message| tell(message, arrived(message)));
        });
    }

    /// Bytes that were missing when later ones arrived.
    pub(super) fn skipped(&self) -> u64 {
        each!(self, pair => pair.receiver.skipped())
    }

    /// Congestion window in segments, if the sender has one.
    pub(super) fn cwnd(&self, now: Instant) -> Option<f64> {
        self.view(now).window.map(|window| window.cwnd)
    }

    /// Retransmission timeouts of the message being sent.
    pub(super) fn timeouts(&self) -> u32 {
        self.messages().first().map_or(0, |message| message.timeouts)
    }

    /// Retransmission deadline of a TCP sender that waits for nothing else, as far as is known.
    pub(super) fn stalled_until(&self, now: Instant) -> Option<Instant> {
        let Endpoints::Tcp(pair) = self else { return None };
        pair.sender.stalled_until(now)
    }

    /// Sender state for probes at `now`.
    pub(super) fn view(&self, now: Instant) -> SenderSnapshot {
        each!(self, pair => pair.sender.snapshot(now))
    }
}

impl<S: SendEndpoint, R: ReceiveEndpoint> EndpointPair<S, R> {
    #[inline]
    fn deliver_to_receiver(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let (mut message_end, mut end) = (u64::MAX, u64::MAX);
        if packet.payload > 0
            && let Some(message) = self.sender.stream_mut().messages.of_mut(packet.seq)
        {
            message.tally.count_arrived(packet);
            end = message.end;
            message_end = if message.is_backlogged() { u64::MAX } else { end };
        }
        self.receiver.on_packet(packet, cx, out);
        let received = self.receiver.received();
        if end <= received {
            self.sender.stream_mut().messages.receive(received, cx.now);
        }
        if cx.tcp.ack_message_end {
            self.receiver.on_message_end(message_end, cx, out);
        }
    }

    #[inline]
    fn deliver_to_sender(
        &mut self,
        packet: &mut Packet,
        cx: EndpointContext<'_>,
        out: &mut impl Outbox,
    ) -> AckOutcome {
        let before = self.sender.stream().snd_una;
        self.sender.on_packet(packet, cx, out);
        let (acked, messages) = (self.sender.stream().snd_una, &self.sender.stream().messages);
        AckOutcome {
            acked: acked - before,
            class: messages.first().map(|message| message.class),
            finished: messages.has_finished(acked),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::priority::PriorityRule;
    use crate::tcp::testing::tcp;
    use shortflow_cc::Opening;
    use shortflow_units::{ConnId, HostId, Rate, Span};

    fn ends(transport: &str) -> Endpoints {
        let identity = EndpointId { conn: ConnId(0), flow_id: 0, peer: HostId(1), way: 0 };
        let tcp = tcp();
        let (line, base_rtt, header) = (Rate::MAX, Span::from_micros(300), tcp.header);
        let at = Opening { now: Instant::ZERO, line, base_rtt, mss: tcp.mss, header };
        let (priority, initial_rto) = (PriorityRule::default(), Span::from_millis(1));
        let setup = ConnectionSetup {
            tcp: &tcp,
            at,
            receiver_line: line,
            full_queue: Span::ZERO,
            priority,
            initial_rto,
            small_queue: 0,
            predicts: true,
        };
        Endpoints::new([identity; 2], &TransportConfig::named(transport).unwrap(), &setup)
    }

    /// Receivers move only between pairs of one protocol.
    #[test]
    fn no_receiver_of_another_protocol_is_lost_in_silence() {
        let transports = ["dctcp", "dcqcn", "minimal", "homa", "ndp"];
        for (mine, theirs) in transports.iter().flat_map(|mine| transports.map(|theirs| (*mine, theirs))) {
            let taken = std::panic::catch_unwind(|| ends(mine).take_receiver(&mut ends(theirs)));
            assert_eq!(taken.is_ok(), mine == theirs, "{mine} takes the receiver of {theirs}");
        }
    }
}
