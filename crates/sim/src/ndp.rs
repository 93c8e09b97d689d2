//! NDP's hosts — Handley, Raiciu, Agache, Voinescu, Moore, Antichi, Wójcik, "Re-architecting datacenter
//! networks and stacks for low latency and high performance", SIGCOMM 2017, §3.2. Switches trim packets: see
//! [`queue::trim`](crate::queue::trim).
//!
//! | paper | here |
//! |---|---|
//! | the first window, at the rate of the link and without handshake | `window` packets: [`Sender`] `credit` |
//! | an immediate ACK for each packet, and NACK for each header | [`PacketType::Ack`], with a SACK block if earlier packets are missing; [`PacketType::Nack`] with `[first byte, 0]` |
//! | PULL, with the number of the connection's pulls so far | [`PacketType::Grant`] with `[pulls so far, 0]` |
//! | one pull queue for all connections of a host, paced at the rate of its link, fair among them | [`Agent`] `turns`, `free_at` |
//! | each PULL releases a packet: a retransmission if one is due, otherwise new data | [`Sender`] `again`, [`Sender::next`] |
//! | the pulls of a complete transfer are removed | [`Agent::forget`]; data with `[length, 0]` |
//! | RTO, for lost headers and lost control packets | `rto`, [`Sender`] `flight` |
//!
//! Each arrival of a packet or of a header earns its connection a pull. The pull queue serves the connections
//! in turn. It sends one pull per transmission time of a full packet on the host's link. After the first
//! windows, the packets of all senders to a host therefore arrive at the rate of its link.
//!
//! Deviations and choices:
//! - D1: `window = auto` is one more than the packets that fill the path, because an ACK is sent before each
//!   pull. The paper has a constant for its own network.
//! - D2: packets take the paths that `routing` selects. The paper's senders spray packets over all paths, and
//!   avoid bad paths.
//! - D3: there is no return to sender. A header that finds no room is dropped, and its packet is sent again
//!   after the RTO.
//! - D4: receivers serve their connections round robin. The paper also allows strict priorities.
//! - D5: a pull that finds nothing to send is kept for a packet in flight, which may have been trimmed.
//! - D6: the RTO of a packet starts at its departure. If `host.queue` reorders packets, the RTO starts when
//!   the host would have sent all its packets. The RTO doubles with each consecutive timeout, up to 64 times
//!   its value. An ACK or a NACK resets the RTO. The default of 1 ms may not be the paper's value: the
//!   authors' simulator starts with 20 ms and stays above 5 ms.
//! - D7: the last pull of a connection may be lost. A sender with no packet in flight therefore sends its
//!   next packet without a pull when it has received nothing for the RTO. This time doubles with each such
//!   packet, up to 64 times its value. The time is not reset, because a sender among many waits long for its
//!   turn.
//! - D8: each message has its own connection, because each transfer has a first window. Pull counter and
//!   message length do not enlarge packets.
//! - D9: the queue of a host's port is first in, first out, so control packets wait behind the host's data.

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
/// Maximum number of doublings of a timeout.
const DOUBLINGS: u32 = 6;

/// Both ends of a connection.
pub(crate) fn open(
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

/// A number for the other end.
fn header(word: u64) -> Option<Box<Extension>> {
    Some(Box::new(Extension { header: [word, 0], ..Extension::default() }))
}

fn word(packet: &Packet) -> u64 {
    packet.extension.as_ref().map_or(0, |extension| extension.header[0])
}

/// The sending end of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    stream: SendStream,
    line: Rate,
    rto: Span,
    /// Number of packets that the sender may send now.
    credit: u64,
    /// Highest pull counter received.
    pulled: u64,
    /// Packets to send again, by first byte.
    again: BTreeSet<u64>,
    /// Packets in flight: packets without an answer, by first byte, and the ends of their timeouts.
    flight: BTreeMap<u64, Instant>,
    /// Ends of timeouts in order of time. Entries that `flight` no longer has are ignored.
    due: BTreeSet<(Instant, u64)>,
    /// Time of the last packet from the receiver, or of the start of the connection.
    heard: Instant,
    /// Timeouts since the last ACK or NACK, and packets sent without a pull after silence of the receiver.
    timeouts: u32,
    unasked: u32,
    alarm: LazyTimer,
}

impl Sender {
    /// First byte of the next packet, if there is data to send.
    fn next(&self) -> Option<u64> {
        let new = || self.stream.messages.of(self.stream.snd_max).map(|_| self.stream.snd_max);
        self.again.first().copied().or_else(new)
    }

    /// Sends packets within the credit, and sets the timer.
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

    /// Sets the next timeout: the earliest of a packet in flight or, without packets in flight, after silence
    /// of the receiver.
    fn wait(&mut self) {
        while self.due.first().is_some_and(|(due, start)| self.flight.get(start) != Some(due)) {
            self.due.pop_first();
        }
        let silence = || self.next().map(|_| self.heard + doubled(self.rto, self.unasked)); // D7
        self.alarm.deadline = self.due.first().map(|(due, _)| *due).or_else(silence);
    }

    /// All bytes below `received` and the packets in `blocks` have arrived.
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

    /// Queues the packet at byte `start` to send it again, if the packet is in flight.
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
        self.credit = 0; // the rest of the first window does not count as pulls
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

/// State that the connections of a host share: the pull queue with its pacer, and the card.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    /// Connections that wait for pulls, by flow id, in the order of their turns.
    turns: VecDeque<u32>,
    /// By flow id: turn, number of pulls, and transmission time of a full packet on the host's link.
    waiting: BTreeMap<u32, (Turn, u64, Span)>,
    /// Earliest time of the next pull.
    free_at: Instant,
    /// Time at which the card has sent all its packets, for queues of hosts that reorder packets.
    idle_at: Instant,
}

impl Agent {
    /// Adds a pull for a connection. `gap` is the transmission time of a full packet on the host's link.
    fn earn(&mut self, turn: Turn, gap: Span) {
        let (_, pulls, _) = self.waiting.entry(turn.flow_id).or_insert((turn, 0, gap));
        *pulls += 1;
        if *pulls == 1 {
            self.turns.push_back(turn.flow_id);
        }
    }

    /// Removes the pulls of a connection.
    fn forget(&mut self, connection: u32) {
        if self.waiting.remove(&connection).is_some() {
            self.turns.retain(|waiting| *waiting != connection);
        }
    }

    /// Counts a packet that the card takes, with transmission time `takes`. Returns the time at which the
    /// card has sent all its packets.
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
pub(crate) struct Receiver {
    identity: EndpointId,
    /// Transmission time of a full packet on the host's link.
    gap: Span,
    /// Length of the message; [`u64::MAX`] before the first packet.
    length: u64,
    bytes: Reassembly,
    /// Number of pulls sent so far.
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

    /// Times in nanoseconds and connections of the pulls, for connections that have earned their pulls by
    /// time zero.
    fn pulls(agent: &mut Agent) -> Vec<(u64, u32)> {
        let mut given = Vec::new();
        while let Some(at) = agent.wakes_at() {
            let turn = agent.next_turn(at);
            given.extend(turn.map(|turn| (at.as_ps() / 1_000, turn.flow_id)));
            assert!(agent.next_turn(at).is_none(), "two at a time");
        }
        given
    }

    /// §3.2: one connection has four pulls, and another has one. They take turns, at one pull per packet
    /// time. After a pause, the next pull goes at once.
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

    /// §3.2: a complete transfer takes no more turns.
    #[test]
    fn pulls_of_a_complete_transfer_are_removed() {
        let mut agent = Agent::default();
        for number in [3, 8, 3, 3] {
            agent.earn(of(number), GAP);
        }
        agent.forget(3);
        assert_eq!(pulls(&mut agent), [(0, 8)]);
    }

    /// D6, D7: timeouts of 1, 2, 4, … ms, and at most 64 ms.
    #[test]
    fn timeouts_double_six_times() {
        let waits = [0, 1, 2, 6, 7, 40].map(|times| doubled(Span::from_millis(1), times));
        assert_eq!(waits, [1, 2, 4, 64, 64, 64].map(Span::from_millis));
    }
}
