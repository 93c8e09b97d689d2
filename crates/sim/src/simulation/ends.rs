//! [`Ends`]: both ends of a connection, of whatever protocol, dispatched by one match for each event.

use crate::host::{Endpoint, Flow, Identity, Message, Messages, Outbox, Scene, Sink, Source, View};
use crate::packet::Packet;
use crate::tcp::priority::PriorityRule;
use crate::{minimal, roce, tcp};
use shortflow_cc::{Host, TransportConfig};
use shortflow_units::{Bytes, ClassId, Instant, Rate, Span};

/// The two ends of a connection.
#[derive(Debug)]
pub(super) struct Pair<S, R> {
    sender: S,
    receiver: R,
}

/// The two ends, by protocol.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "TCP's, of which there may be a million, need no pointer to follow"
)]
pub(super) enum Ends {
    Tcp(Pair<tcp::Sender, tcp::Receiver>),
    Roce(Box<Pair<roce::Sender, roce::Receiver>>),
    Minimal(Box<Pair<minimal::Sender, minimal::Receiver>>),
}

/// Start of a connection: time and place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening<'a> {
    pub scene: Scene<'a>,
    /// Round trip of a segment and its ACK in an empty network.
    pub round_trip: Span,
    /// Rate of the link of the sender's host.
    pub line: Rate,
    /// Segments of the connection that the card of that host takes.
    pub small_queue: usize,
    /// Expected packets may take the short path.
    pub predicts: bool,
}

/// Effect of a packet to the sender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// Class of the message that is being sent.
    pub class: Option<ClassId>,
    /// True if a message is fully acknowledged.
    pub finished: bool,
}

/// Both ends, as what is known of them at the time of the match.
macro_rules! each {
    ($ends:expr, $pair:ident => $what:expr) => {
        match $ends {
            Ends::Tcp($pair) => $what,
            Ends::Roce($pair) => $what,
            Ends::Minimal($pair) => $what,
        }
    };
}

impl Ends {
    /// Ends of `transport`; packets of the sender get their priority by `priority`.
    pub fn new(
        (sender, receiver): (Identity, Identity),
        (transport, priority): (&TransportConfig, PriorityRule),
        start: Opening<'_>,
    ) -> Ends {
        let Opening { scene, round_trip, line, small_queue, predicts } = start;
        let Scene { now, tcp } = scene;
        let initial_rto = tcp.initial_rto.unwrap_or_else(|| tcp.rto_min.max(round_trip.times(3)));
        match transport.info().host {
            Host::Tcp => {
                let tcp_sender = tcp::Sender::new(sender, transport, tcp, initial_rto)
                    .with_small_queue(small_queue, tcp)
                    .with_prediction(predicts);
                let tcp_receiver = tcp::Receiver::new(receiver, transport.ecn(), transport.recovery());
                Ends::Tcp(Pair {
                    sender: tcp_sender.with_priority(priority).with_round_trip(round_trip).begun(now, line),
                    receiver: tcp_receiver.with_prediction(predicts),
                })
            }
            Host::Roce => Ends::Roce(Box::new(Pair {
                sender: roce::Sender::new(sender, (transport, priority), now, (initial_rto, line)),
                receiver: roce::Receiver::new(receiver, transport.cnp_every()),
            })),
            Host::Minimal => Ends::Minimal(Box::new(Pair {
                sender: minimal::Sender::new(sender, (transport, priority), scene, (round_trip, line)),
                receiver: minimal::Receiver::new(receiver),
            })),
        }
    }

    /// Hands a message of `size` bytes to the sender, [`Bytes::MAX`] for one that never ends; where it ends in
    /// the stream.
    pub fn push(&mut self, flow: Flow, size: Bytes) -> u64 {
        self.messages_mut().push(flow, size)
    }

    /// A backlogged message sends no more new data; true if what it has sent is acknowledged.
    pub fn stop(&mut self) -> bool {
        each!(self, pair => {
            let sent = pair.sender.sent();
            pair.sender.messages_mut().stop(sent);
        });
        self.messages().has_finished(self.acked())
    }

    /// Takes the receiver of the same connection in another part, and what has arrived there.
    pub fn take_receiver(&mut self, other: &mut Ends) {
        macro_rules! take {
            ($mine:expr, $protocol:ident) => {{
                let Ends::$protocol(theirs) = &mut *other else {
                    unreachable!("the ends of a connection are of one protocol")
                };
                std::mem::swap(&mut $mine.receiver, &mut theirs.receiver)
            }};
        }
        match self {
            Ends::Tcp(mine) => take!(mine, Tcp),
            Ends::Roce(mine) => take!(mine, Roce),
            Ends::Minimal(mine) => take!(mine, Minimal),
        }
        let messages = self.messages_mut().iter_mut().zip(other.messages_mut().iter_mut());
        messages.for_each(|(mine, theirs)| mine.take_arrived(theirs));
    }

    /// There is something new to send.
    pub fn start(&mut self, scene: Scene<'_>, out: &mut impl Outbox) {
        each!(self, pair => Endpoint::start(&mut pair.sender, scene, out));
    }

    /// True if TCP's sender, or its receiver, expects this packet next.
    #[inline(always)]
    pub fn expects(&self, packet: &Packet, at_sender: bool) -> bool {
        match self {
            Ends::Tcp(pair) if at_sender => pair.sender.expects(packet),
            Ends::Tcp(pair) => pair.receiver.expects(packet),
            Ends::Roce(_) | Ends::Minimal(_) => false,
        }
    }

    /// An expected ACK reaches the sender. Returns the bytes newly acknowledged, and the class of their message.
    #[inline(always)]
    pub fn deliver_expected_ack(
        &mut self,
        ack: &Packet,
        scene: Scene<'_>,
        out: &mut impl Outbox,
    ) -> Option<(u64, ClassId)> {
        let Ends::Tcp(pair) = self else { return None };
        let before = pair.sender.acked();
        pair.sender.on_expected(ack, scene, out);
        Some((ack.seq - before, pair.sender.messages().first()?.class))
    }

    /// Expected data reaches the receiver.
    #[inline(always)]
    pub fn deliver_expected_data(&mut self, data: &Packet, scene: Scene<'_>, out: &mut impl Outbox) {
        let Ends::Tcp(pair) = self else { return };
        if let Some(message) = pair.sender.messages_mut().of_mut(data.seq) {
            message.tally.count_arrived(data);
        }
        pair.receiver.on_expected(data, scene.tcp, out);
    }

    /// A packet reaches the receiver.
    #[inline]
    pub fn deliver_to_receiver(&mut self, packet: &mut Packet, scene: Scene<'_>, out: &mut impl Outbox) {
        each!(self, pair => pair.deliver_to_receiver(packet, scene, out));
    }

    /// A packet reaches the sender.
    #[inline]
    pub fn deliver_to_sender(
        &mut self,
        packet: &mut Packet,
        scene: Scene<'_>,
        out: &mut impl Outbox,
    ) -> Progress {
        each!(self, pair => pair.deliver_to_sender(packet, scene, out))
    }

    /// A timer of the sender has come.
    pub fn sender_timer(&mut self, timer: u8, scene: Scene<'_>, out: &mut impl Outbox) {
        each!(self, pair => pair.sender.on_timer(timer, scene, out));
    }

    /// A timer of the receiver has come.
    pub fn receiver_timer(&mut self, timer: u8, scene: Scene<'_>, out: &mut impl Outbox) {
        each!(self, pair => pair.receiver.on_timer(timer, scene, out));
    }

    /// A segment of the sender waits no longer with the scheduler of its host's port.
    pub fn on_left(&mut self, departs: Instant, scene: Scene<'_>, out: &mut impl Outbox) {
        each!(self, pair => pair.sender.on_left(departs, scene, out));
    }

    /// The messages that are not yet acknowledged whole.
    pub fn messages(&self) -> &Messages {
        each!(self, pair => pair.sender.messages())
    }

    /// As above, mutable.
    pub fn messages_mut(&mut self) -> &mut Messages {
        each!(self, pair => pair.sender.messages_mut())
    }

    /// First byte of the stream that is not acknowledged.
    pub fn acked(&self) -> u64 {
        each!(self, pair => pair.sender.acked())
    }

    /// All bytes of the stream below this have arrived.
    pub fn received(&self) -> u64 {
        each!(self, pair => pair.receiver.received())
    }

    /// Bytes of `start..end` of the stream that have arrived.
    pub fn arrived(&self, start: u64, end: u64) -> u64 {
        each!(self, pair => pair.receiver.arrived(start, end))
    }

    /// Tells every message how much of it has arrived.
    pub fn tell_messages(&mut self, tell: fn(&mut Message, u64)) {
        each!(self, pair => {
            let arrived = |message: &Message| pair.receiver.arrived(message.start, message.end);
            let messages = pair.sender.messages_mut().iter_mut();
            messages.for_each(|message| tell(message, arrived(message)));
        });
    }

    /// Bytes that were missing below new ones when those arrived.
    pub fn skipped(&self) -> u64 {
        each!(self, pair => pair.receiver.skipped())
    }

    /// Congestion window in segments, where there is one.
    pub fn cwnd(&self, now: Instant) -> Option<f64> {
        self.view(now).window.map(|window| window.cwnd)
    }

    /// Retransmission timeouts of the message that is being sent.
    pub fn timeouts(&self) -> u32 {
        self.messages().first().map_or(0, |message| message.timeouts)
    }

    /// Deadline of the timeout that a TCP sender waits for, if it appears to wait for nothing else.
    pub fn stalled_until(&self, now: Instant) -> Option<Instant> {
        let Ends::Tcp(pair) = self else { return None };
        pair.sender.stalled_until(now)
    }

    /// The sender's values for probes at this time.
    pub fn view(&self, now: Instant) -> View {
        each!(self, pair => pair.sender.view(now))
    }
}

impl<S: Source, R: Sink> Pair<S, R> {
    #[inline]
    fn deliver_to_receiver(&mut self, packet: &mut Packet, scene: Scene<'_>, out: &mut impl Outbox) {
        let mut message_end = u64::MAX;
        if packet.payload > 0
            && let Some(message) = self.sender.messages_mut().of_mut(packet.seq)
        {
            message.tally.count_arrived(packet);
            message_end = if message.is_backlogged() { u64::MAX } else { message.end };
        }
        self.receiver.on_packet(packet, scene, out);
        if scene.tcp.ack_message_end {
            self.receiver.answer(message_end, scene, out);
        }
    }

    #[inline]
    fn deliver_to_sender(
        &mut self,
        packet: &mut Packet,
        scene: Scene<'_>,
        out: &mut impl Outbox,
    ) -> Progress {
        let before = self.sender.acked();
        self.sender.on_packet(packet, scene, out);
        let (acked, messages) = (self.sender.acked(), self.sender.messages());
        Progress {
            acked: acked - before,
            class: messages.first().map(|message| message.class),
            finished: messages.has_finished(acked),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::testing::tcp;
    use shortflow_units::{ConnId, HostId};

    fn ends(transport: &str) -> Ends {
        let identity = Identity { conn: ConnId(0), flow_id: 0, peer: HostId(1), way: 0 };
        let scene = Scene { now: Instant::ZERO, tcp: &tcp() };
        let start = Opening {
            scene,
            round_trip: Span::from_micros(300),
            line: Rate::MAX,
            small_queue: 0,
            predicts: true,
        };
        let transport = TransportConfig::named(transport).unwrap();
        Ends::new((identity, identity), (&transport, PriorityRule::default()), start)
    }

    /// In every order, and of one protocol it is.
    #[test]
    fn no_receiver_of_another_protocol_is_lost_in_silence() {
        let transports = ["dctcp", "dcqcn", "minimal"];
        for (mine, theirs) in transports.iter().flat_map(|mine| transports.map(|theirs| (*mine, theirs))) {
            let taken = std::panic::catch_unwind(|| ends(mine).take_receiver(&mut ends(theirs)));
            assert_eq!(taken.is_ok(), mine == theirs, "{mine} takes the receiver of {theirs}");
        }
    }
}
