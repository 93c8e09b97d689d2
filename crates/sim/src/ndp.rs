//! NDP's hosts — Handley, Raiciu, Agache, Voinescu, Moore, Antichi, Wójcik, "Re-architecting datacenter networks and stacks for low
//! latency and high performance", SIGCOMM 2017, §3.2. Switches trim packets: [`queue::trim`](crate::queue::trim).
//!
//! | paper | here |
//! |---|---|
//! | the first window, at the rate of the link and without handshake | `window` packets: [`Sender`] `credit` |
//! | ACK of a packet, NACK of a header, at once | [`PacketType::Ack`] with the packet as a SACK block; [`PacketType::Nack`] with `[first byte, 0]` |
//! | PULL, with a counter of the connection's pulls | [`PacketType::Grant`] with `[pulls so far, 0]` |
//! | one pull queue for all connections of a host, paced at the rate of its link, fair among them | [`Agent`] `turns`, `free_at` |
//! | each PULL releases a packet: one to send again, otherwise a new one | [`Sender`] `again`, [`Sender::next`] |
//! | pulls of a connection are removed when all is there | [`Agent::forget`]; data with `[length, 0]` |
//! | RTO, for lost headers and lost control packets | `rto`, [`Sender`] `flight` |
//!
//! A connection has as many packets on its way as its sender has sent and not heard of. Every arrival, of a packet or of a header, earns a
//! pull. The pull queue gives the connections their pulls in turn, one in the time of a full packet on the host's link, so that what
//! all senders of a host send after their first windows arrives at the rate of the link.
//!
//! Deviations and choices:
//! - D1: `window=auto` is what fills the path, and one packet, because an acknowledgement goes before each pull. The paper has a constant
//!   that suits its network.
//! - D2: packets take the paths that `routing` gives them. The paper's senders spray them, and leave out bad paths.
//! - D3: return to sender is left out: a header that finds no room is dropped, and sent again after the RTO.
//! - D4: receivers serve their connections round robin. The paper may give some of them strict priority.
//! - D5: a pull that finds nothing to send is kept as long as a packet without an answer may still turn out to be trimmed.
//! - D6: each packet has the RTO from its departure on, if its host's queue reorders from the time at which the host would have sent
//!   all it has. The RTO doubles with each timeout in a row, up to 64 times, and ends with an answer. Its default of 1 ms is not certain
//!   to be the paper's: the authors' simulator starts with 20 ms and stays above 5 ms.
//! - D7: a pull may be lost with none after it. A sender with nothing under way sends its first packet unasked when it has heard
//!   nothing for the RTO. That time doubles with each such packet and stays, because a sender among many waits long for its turn.
//! - D8: a message is a connection, as the first window is of each transfer. Pull counter and length take no room in packets.
//! - D9: a host's own queue is in order of arrival: control packets wait behind its data.

use crate::host::{
    ConnectionSetup, Endpoint, EndpointContext, EndpointId, HostAgent, LazyTimer, Outbox, ReceiveEndpoint,
    SendEndpoint, SendStream, SenderSnapshot, Turn,
};
use crate::packet::{Extension, Packet, PacketType, SackBlocks};
use crate::reassembly::Reassembly;
use shortflow_cc::hosts::ndp::Params;
use shortflow_cc::{TransportConfig, Window};
use shortflow_units::{Bytes, Instant, Rate, Span};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Number of the sender's timer.
const TIMEOUT: u8 = 0;
/// Most doublings of a timeout.
const DOUBLINGS: u32 = 6;

/// Both ends of a connection.
pub fn open(
    [sender, receiver]: [EndpointId; 2],
    transport: &TransportConfig,
    params: &Params,
    setup: &ConnectionSetup<'_>,
) -> (Sender, Receiver) {
    let fills = (setup.at.bdp().ceil() as u32).saturating_add(1); // D1
    let window = Window { cwnd: f64::INFINITY, ssthresh: f64::INFINITY };
    let sender = Sender {
        stream: SendStream::new(sender, transport.start(), window, setup.priority),
        line: setup.at.line,
        rto: params.rto,
        credit: params.window.unwrap_or(fills).into(),
        pulled: 0,
        again: BTreeSet::new(),
        flight: BTreeMap::new(),
        due: BTreeSet::new(),
        heard: setup.at.now,
        timeouts: 0,
        unasked: 0,
        alarm: LazyTimer::IDLE,
    };
    let gap = setup.receiver_line.tx_time(setup.tcp.link_bytes(setup.tcp.mss));
    (sender, Receiver { identity: receiver, gap, length: u64::MAX, bytes: Reassembly::default(), pulls: 0 })
}

/// A word that a packet carries for the other end.
fn header(word: u64) -> Option<Box<Extension>> {
    Some(Box::new(Extension { header: [word, 0], ..Extension::default() }))
}

fn word(packet: &Packet) -> u64 {
    packet.extension.as_ref().map_or(0, |extension| extension.header[0])
}

/// The sending end of a connection.
#[derive(Debug)]
pub struct Sender {
    stream: SendStream,
    line: Rate,
    rto: Span,
    /// Packets that it may send.
    credit: u64,
    /// Highest number of a pull.
    pulled: u64,
    /// First bytes of packets to send again.
    again: BTreeSet<u64>,
    /// First bytes of packets without an answer, and the ends of their timeouts.
    flight: BTreeMap<u64, Instant>,
    /// These times in order, and some that no longer hold.
    due: BTreeSet<(Instant, u64)>,
    /// When something of the receiver came, or the connection began.
    heard: Instant,
    /// Timeouts since the last answer, and packets sent unasked.
    timeouts: u32,
    unasked: u32,
    alarm: LazyTimer,
}

impl Sender {
    /// First byte of the next packet, if there is something to send.
    fn next(&self) -> Option<u64> {
        let new = || self.stream.messages.of(self.stream.snd_max).map(|_| self.stream.snd_max);
        self.again.first().copied().or_else(new)
    }

    /// Sends within the credit, and waits.
    fn transmit(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        while self.credit > 0
            && let Some(start) = self.next()
        {
            self.credit -= 1;
            self.send(start, cx, out);
        }
        self.credit = self.credit.min(self.flight.len() as u64); // D5
        self.wait();
        self.alarm.set(TIMEOUT, out);
    }

    fn send(&mut self, start: u64, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let length = self.stream.messages.of(start).map_or(start, |message| message.end);
        let end = length.min(start + cx.tcp.mss.get());
        let again = self.again.remove(&start);
        self.stream.snd_max = self.stream.snd_max.max(end);
        self.stream.snd_nxt = self.stream.snd_max;
        let priority = self.stream.priority_at(start);
        let packet = Packet { priority, extension: header(length), ..self.stream.packet(start, end, cx.tcp) };
        let takes = self.line.tx_time(cx.tcp.link_bytes(Bytes::new(end - start)));
        let handover = out.send(packet);
        self.stream.count_sent(start, again, handover.waits);
        let left = match handover.departs {
            Instant::MAX => out.agent::<Agent>().count(cx.now, takes),
            departs => departs.max(cx.now), // zero if dropped
        };
        let due = left + doubled(self.rto, self.timeouts);
        self.flight.insert(start, due);
        self.due.insert((due, start));
    }

    /// Sets the time of the next timeout: of the packet sent first, or of the receiver's silence.
    fn wait(&mut self) {
        while self.due.first().is_some_and(|(due, start)| self.flight.get(start) != Some(due)) {
            self.due.pop_first();
        }
        let silence = || self.next().map(|_| self.heard + doubled(self.rto, self.unasked)); // D7
        self.alarm.deadline = self.due.first().map(|(due, _)| *due).or_else(silence);
    }

    /// Everything below `received` and the packets in `blocks` are there.
    fn acknowledge(&mut self, received: u64, blocks: SackBlocks) {
        self.stream.snd_una = received.clamp(self.stream.snd_una, self.stream.snd_max);
        while self.flight.first_key_value().is_some_and(|(start, _)| *start < received) {
            self.flight.pop_first();
        }
        while self.again.first().is_some_and(|start| *start < received) {
            self.again.pop_first();
        }
        for (start, _) in blocks.ranges(received) {
            self.flight.remove(&start);
            self.again.remove(&start);
        }
    }

    /// The packet from byte `start` on is to be sent again, if it has no answer yet.
    fn repeat(&mut self, start: u64) {
        if self.flight.remove(&start).is_some() {
            self.again.insert(start);
        }
    }
}

fn doubled(time: Span, times: u32) -> Span {
    time.times(1 << times.min(DOUBLINGS))
}

impl Endpoint for Sender {
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.transmit(cx, out);
        self.credit = 0; // what is left of the first window is no pull
    }

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.heard = cx.now;
        self.acknowledge(packet.seq, packet.sack());
        match packet.kind {
            PacketType::Grant => {
                self.credit += word(packet).saturating_sub(self.pulled);
                self.pulled = self.pulled.max(word(packet));
            }
            PacketType::Nack => {
                self.timeouts = 0;
                self.repeat(word(packet));
            }
            _ => self.timeouts = 0,
        }
        self.transmit(cx, out);
    }

    fn on_timer(&mut self, _: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.alarm.expired(cx.now) {
            let lost: Vec<u64> =
                self.flight.iter().filter(|(_, due)| **due <= cx.now).map(|(start, _)| *start).collect();
            match lost.is_empty() {
                true => self.unasked += 1,
                false => self.timeouts += 1,
            }
            lost.iter().for_each(|start| self.repeat(*start));
            self.credit += lost.len().max(1) as u64;
            self.stream.count_timeout();
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

    fn snapshot(&self, _: Instant) -> SenderSnapshot {
        SenderSnapshot::default()
    }
}

/// What the connections of a host share: the pull queue with its pacer, and the card.
#[derive(Debug, Default)]
pub struct Agent {
    /// Connections that wait for pulls, in the order of their turns.
    turns: VecDeque<u32>,
    /// By number: the connection, its pulls, and the time that a packet takes on the link.
    waiting: BTreeMap<u32, (Turn, u64, Span)>,
    /// From when on the next pull may leave.
    free_at: Instant,
    /// When the card will have sent what it has, where its queue does not tell departures.
    idle_at: Instant,
}

impl Agent {
    /// A packet has arrived that earns its connection a pull.
    fn earn(&mut self, turn: Turn, gap: Span) {
        let (_, pulls, _) = self.waiting.entry(turn.flow_id).or_insert((turn, 0, gap));
        *pulls += 1;
        if *pulls == 1 {
            self.turns.push_back(turn.flow_id);
        }
    }

    /// A connection needs no pull any more.
    fn forget(&mut self, connection: u32) {
        if self.waiting.remove(&connection).is_some() {
            self.turns.retain(|waiting| *waiting != connection);
        }
    }

    /// The card has got a packet that takes so long. Returns when it will have sent all it has.
    fn count(&mut self, now: Instant, takes: Span) -> Instant {
        self.idle_at = self.idle_at.max(now) + takes;
        self.idle_at
    }
}

impl HostAgent for Agent {
    fn next_turn(&mut self, now: Instant) -> Option<Turn> {
        if now < self.free_at {
            return None;
        }
        let number = self.turns.pop_front()?;
        let (turn, pulls, gap) = self.waiting.get_mut(&number)?;
        (*pulls, self.free_at) = (*pulls - 1, now + *gap);
        let turn = *turn;
        if *pulls > 0 {
            self.turns.push_back(number);
        } else {
            self.waiting.remove(&number);
        }
        Some(turn)
    }

    fn wakes_at(&self) -> Option<Instant> {
        (!self.turns.is_empty()).then_some(self.free_at)
    }
}

/// The receiving end of a connection.
#[derive(Debug)]
pub struct Receiver {
    identity: EndpointId,
    /// Time of a full packet on the link.
    gap: Span,
    /// Length of the message; without end before the first packet.
    length: u64,
    bytes: Reassembly,
    /// Pulls so far.
    pulls: u64,
}

impl Endpoint for Receiver {
    fn start(&mut self, _: EndpointContext<'_>, _: &mut impl Outbox) {}

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let (start, end) = (packet.seq, packet.seq + u64::from(packet.payload));
        self.length = word(packet);
        let answer = if packet.kind == PacketType::Trimmed {
            let (kind, extension) = (PacketType::Nack, header(start));
            Packet { kind, extension, ..self.identity.control(self.bytes.received(), cx.tcp) }
        } else {
            self.bytes.accept(start, end);
            let received = self.bytes.received();
            let block = (received < end).then_some((start, end));
            let extension = Extension::of_sack(SackBlocks::new(received, block.as_slice()));
            Packet { extension, ..self.identity.control(received, cx.tcp) }
        };
        out.send(answer);
        let agent = out.agent::<Agent>();
        match self.bytes.received() < self.length {
            true => agent.earn(self.identity.turn(), self.gap),
            false => agent.forget(self.identity.flow_id),
        }
    }

    fn on_timer(&mut self, _: u8, _: EndpointContext<'_>, _: &mut impl Outbox) {}
}

impl ReceiveEndpoint for Receiver {
    fn on_turn(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.pulls += 1;
        let (kind, extension) = (PacketType::Grant, header(self.pulls));
        out.send(Packet { kind, extension, ..self.identity.control(self.bytes.received(), cx.tcp) });
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::testing::IDENTITY;

    /// 1,500 bytes at 10 Gbit/s.
    const GAP: Span = Span::from_nanos(1_200);

    fn of(number: u32) -> Turn {
        Turn { flow_id: number, ..IDENTITY.turn() }
    }

    /// The connections that get pulls, with the time in nanoseconds, when all have earned theirs by time zero.
    fn pulls(agent: &mut Agent) -> Vec<(u64, u32)> {
        let mut given = Vec::new();
        while let Some(at) = agent.wakes_at() {
            let turn = agent.next_turn(at);
            given.extend(turn.map(|turn| (at.as_ps() / 1_000, turn.flow_id)));
            assert!(agent.next_turn(at).is_none(), "two at a time");
        }
        given
    }

    /// §3.2: four pulls of one connection and one of another, in turn, one in the time of a packet. The next one after a pause goes at
    /// once.
    #[test]
    fn pulls_go_in_turn_at_the_rate_of_the_link() {
        let mut agent = Agent::default();
        for number in [3, 3, 3, 8, 3] {
            agent.earn(of(number), GAP);
        }
        assert_eq!(pulls(&mut agent), [(0, 3), (1_200, 8), (2_400, 3), (3_600, 3), (4_800, 3)]);
        let later = Instant::ZERO + Span::from_micros(9);
        agent.earn(of(3), GAP);
        assert_eq!(agent.next_turn(later), Some(of(3)));
    }

    /// §3.2: a transfer that is complete takes no more turns.
    #[test]
    fn pulls_of_a_complete_transfer_are_removed() {
        let mut agent = Agent::default();
        for number in [3, 8, 3, 3] {
            agent.earn(of(number), GAP);
        }
        agent.forget(3);
        assert_eq!(pulls(&mut agent), [(0, 8)]);
    }

    /// D6, D7: 1, 2, 4, … and 64 ms at most.
    #[test]
    fn timeouts_double_six_times() {
        let waits = [0, 1, 2, 6, 7, 40].map(|times| doubled(Span::from_millis(1), times));
        assert_eq!(waits, [1, 2, 4, 64, 64, 64].map(Span::from_millis));
    }
}
