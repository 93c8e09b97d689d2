//! NDP's hosts — Handley, Raiciu, Agache, Voinescu, Moore, Antichi, Wójcik, "Re-architecting datacenter
//! networks and stacks for low latency and high performance", SIGCOMM 2017, §3.2. Switches trim packets: see
//! [`queue::trim`](crate::queue::trim).
//!
//! | paper | here |
//! |---|---|
//! | the first window, at the rate of the link and without handshake | `window` packets: [`Sender`] `credit` |
//! | an immediate ACK for each packet, and NACK for each header | [`PacketType::Ack`], with a SACK block if earlier packets are missing; [`PacketType::Nack`] with the first byte |
//! | PULL, with the number of the connection's pulls so far | [`PacketType::Grant`] with the pulls so far |
//! | one pull queue for all connections of a host, paced at the rate of its link, fair among them | [`Agent`] `turns`, `free_at` |
//! | each PULL releases a packet: a retransmission if one is due, otherwise new data | [`Sender`] `again`, [`Sender::next`] |
//! | the pulls of a complete transfer are removed | [`Agent::forget`]; data with `[length, 0]` |
//! | RTO, for lost headers and lost control packets | `rto`, [`Sender`] `flight` |
//!
//! The first arrival of a packet earns its connection a pull, and so does each header of a packet that is
//! still missing. Copies earn no pull, so a timeout that proves wrong adds no packet to the network for good.
//! The pull queue serves the connections in turn. It sends one pull per transmission time of a full packet on
//! the host's link. After the first windows, the packets of all senders to a host therefore arrive at the
//! rate of its link.
//!
//! Deviations and choices:
//! - D1: `window = auto` is one more than the packets that fill the path, because an ACK is sent before each
//!   pull. The paper has a constant for its own network.
//! - D2: packets take the paths that `routing` selects. The scheme `ndp` sets `spray`, a hash of each packet.
//!   The paper's senders spray packets over all paths too, and avoid bad paths.
//! - D3: a header that finds no room returns to its sender ([`PacketType::Returned`]). The sender sends the packet
//!   again with a later pull. If no answer and no pull is due to come, it sends a packet at once. A returned header
//!   that is dropped, and headers with `queue.returns = false`, leave the packet to the RTO.
//! - D4: receivers serve their connections round robin. The paper also allows strict priorities.
//! - D5: a pull that finds nothing to send is kept for a packet in flight, which may have been trimmed.
//! - D6: the RTO of a packet starts at its departure. If `host.queue` reorders packets, the RTO starts when
//!   the host would have sent all its packets. The RTO doubles with each consecutive timeout, up to 64 times
//!   its value. An ACK or a NACK resets the RTO. Packets that time out within one RTO of each other count as
//!   one timeout. `rto = auto` follows the round-trip time as TCP's RTO does (RFC 6298), from packets that
//!   were sent once. Its minimum is the round-trip time through one full queue in each direction, and at
//!   least 1 ms. A full queue of 1,125 headers needs 1.8 ms at 1 Gbps. The authors' simulator starts with 20
//!   ms and stays above 5 ms.
//! - D7: the last pull of a connection may be lost. A sender with no packet in flight therefore sends its
//!   next packet without a pull, one RTO after the latest time at which the pull queue serves it. Each answer
//!   carries the time until then. The RTO doubles with each such packet, up to 64 times its value, and is not
//!   reset.
//! - D8: each message has its own connection, because each transfer has a first window. Pull counter, message
//!   length and the time of D7 do not enlarge packets.
//! - D9: the queue of a host's port is first in, first out, so control packets wait behind the host's data.
//!   The paper gives control packets priority.

use crate::host::{
    ConnectionSetup, Endpoint, EndpointContext, EndpointId, HostAgent, LazyTimer, Outbox, ReceiveEndpoint,
    SendEndpoint, SendStream, SenderSnapshot, Turn,
};
use crate::packet::{Extension, Packet, PacketType, SackBlocks};
use crate::reassembly::Reassembly;
use crate::tcp::rto::SmoothedRtt;
use shortflow_cc::hosts::ndp::Params;
use shortflow_cc::{TransportConfig, Window};
use shortflow_units::{Bytes, Instant, Rate, Span};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Number of the sender's timer.
const TIMEOUT: u8 = 0;
/// Smallest RTO of `rto = auto`.
const LEAST_RTO: Span = Span::from_millis(1);
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
        least_rto: LEAST_RTO.max(setup.at.base_rtt + setup.full_queue.times(2)), // D6
        rtt: SmoothedRtt::default(),
        credit: params.window.unwrap_or(fills).into(),
        pulled: 0,
        again: BTreeSet::new(),
        flight: BTreeMap::new(),
        due: BTreeSet::new(),
        pull_by: setup.at.now,
        timeouts: 0,
        counted_until: setup.at.now,
        unasked: 0,
        alarm: LazyTimer::IDLE,
    };
    let gap = setup.receiver_line.tx_time(setup.tcp.link_bytes(setup.tcp.mss));
    (sender, Receiver { identity: receiver, gap, length: u64::MAX, bytes: Reassembly::default(), pulls: 0 })
}

/// Numbers for the other end.
fn header(words: [u64; 2]) -> Option<Box<Extension>> {
    Some(Box::new(Extension { header: words, ..Extension::default() }))
}

fn words(packet: &Packet) -> [u64; 2] {
    packet.extension.as_ref().map_or([0; 2], |extension| extension.header)
}

/// A packet without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InFlight {
    /// Time at which the packet left the host.
    left: Instant,
    /// End of the timeout.
    due: Instant,
    /// True if the packet was sent once, so that its answer gives the round-trip time (Karn's rule).
    once: bool,
}

/// The sending end of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    stream: SendStream,
    line: Rate,
    /// RTO, if it is fixed.
    rto: Option<Span>,
    least_rto: Span,
    rtt: SmoothedRtt,
    /// Number of packets that the sender may send now.
    credit: u64,
    /// Highest pull counter received.
    pulled: u64,
    /// Packets to send again, by first byte.
    again: BTreeSet<u64>,
    /// Packets in flight, by first byte.
    flight: BTreeMap<u64, InFlight>,
    /// Ends of timeouts in order of time. Entries that `flight` no longer has are ignored.
    due: BTreeSet<(Instant, u64)>,
    /// Latest time of the next pull that the receiver has announced (D7).
    pull_by: Instant,
    /// Timeouts since the last ACK or NACK, and packets sent without a pull after silence of the receiver.
    timeouts: u32,
    unasked: u32,
    /// Packets that time out before this time belong to a timeout that was counted.
    counted_until: Instant,
    alarm: LazyTimer,
}

impl Sender {
    /// First byte of the next packet, if there is data to send.
    fn next(&self) -> Option<u64> {
        let new = || self.stream.messages.of(self.stream.snd_max).map(|_| self.stream.snd_max);
        self.again.first().copied().or_else(new)
    }

    /// The RTO without doublings (D6).
    fn rto(&self) -> Span {
        self.rto.unwrap_or_else(|| self.least_rto.max(self.rtt.timeout(Span::ZERO)))
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
        let extension = header([length, 0]);
        let packet = Packet { priority, extension, ..self.stream.packet(start, end, cx.tcp) };
        let handover = out.send(packet);
        self.stream.count_sent(start, again, handover.waits);
        let left = match handover.departs {
            Instant::MAX => {
                let takes = self.line.tx_time(cx.tcp.link_bytes(Bytes::new(end - start)));
                out.agent::<Agent>().count(cx.now, takes)
            }
            departs => departs.max(cx.now), // zero if dropped
        };
        let due = left + doubled(self.rto(), self.timeouts);
        self.flight.insert(start, InFlight { left, due, once: !again });
        self.due.insert((due, start));
    }

    /// Sets the next timeout: the earliest of a packet in flight or, without packets in flight, after silence
    /// of the receiver.
    fn wait(&mut self) {
        let is_due = |due: &Instant, start: &u64| self.flight.get(start).is_some_and(|sent| sent.due == *due);
        while self.due.first().is_some_and(|(due, start)| !is_due(due, start)) {
            self.due.pop_first();
        }
        let silence = || self.next().map(|_| self.pull_by + doubled(self.rto(), self.unasked)); // D7
        self.alarm.deadline = self.due.first().map(|(due, _)| *due).or_else(silence);
    }

    /// All bytes below `received` and the packets in `blocks` have arrived. Returns the last of these packets
    /// that was in flight.
    fn acknowledge(&mut self, received: u64, blocks: SackBlocks) -> Option<InFlight> {
        self.stream.snd_una = received.clamp(self.stream.snd_una, self.stream.snd_max);
        let mut answered = None;
        while let Some(first) = self.flight.first_entry().filter(|first| *first.key() < received) {
            answered = Some(first.remove());
        }
        while self.again.first().is_some_and(|start| *start < received) {
            self.again.pop_first();
        }
        for (start, _) in blocks.ranges(received) {
            answered = self.flight.remove(&start).or(answered);
            self.again.remove(&start);
        }
        answered
    }

    /// Queues the packet at byte `start` to send it again. Returns the packet if it was in flight.
    fn repeat(&mut self, start: u64) -> Option<InFlight> {
        let sent = self.flight.remove(&start)?;
        self.again.insert(start);
        Some(sent)
    }

    /// Queues the packets whose timeouts have ended to send them again. Returns the number of these packets.
    fn expire(&mut self, now: Instant) -> u64 {
        let mut expired = 0;
        while let Some((_, start)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            self.due.pop_first();
            if self.flight.get(&start).is_some_and(|sent| sent.due <= now) {
                expired += u64::from(self.repeat(start).is_some());
            }
        }
        expired
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
        if packet.kind == PacketType::Returned {
            let is_missing = self.repeat(packet.seq).is_some();
            let is_silent = self.flight.is_empty() && cx.now >= self.pull_by;
            self.credit += u64::from(is_missing && is_silent); // D3
            return self.transmit(cx, out);
        }
        let [word, until_pull] = words(packet);
        self.pull_by = self.pull_by.max(cx.now + Span::from_ps(until_pull));
        let mut answered = self.acknowledge(packet.seq, packet.sack());
        if packet.kind == PacketType::Grant {
            self.credit += word.saturating_sub(self.pulled);
            self.pulled = self.pulled.max(word);
        } else {
            self.timeouts = 0;
            if packet.kind == PacketType::Nack {
                answered = self.repeat(word);
            }
            if let Some(sent) = answered.filter(|sent| sent.once) {
                self.rtt.sample(cx.now.since(sent.left));
            }
        }
        self.transmit(cx, out);
    }

    fn on_timer(&mut self, _: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.alarm.expired(cx.now) {
            let expired = self.expire(cx.now);
            self.credit += expired.max(1);
            self.unasked += u32::from(expired == 0);
            if cx.now >= self.counted_until {
                self.counted_until = cx.now + self.rto();
                self.timeouts += u32::from(expired > 0);
                self.stream.count_timeout();
            }
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

    /// Longest time until the next pull of a connection leaves; zero if the connection has no pulls. A
    /// connection that earns its first pull later has its turn later.
    fn until_pull(&self, connection: u32, now: Instant) -> Span {
        let waiting = self.waiting.get(&connection);
        let turns = self.turns.len() as u64;
        waiting.map_or(Span::ZERO, |(_, _, gap)| self.free_at.since(now) + gap.times(turns))
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

    fn on_close(&mut self, connection: u32) {
        self.forget(connection);
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
        self.length = self.length.min(words(packet)[0]);
        let (start, end) = (packet.seq, self.length.min(packet.seq + cx.tcp.mss.get()));
        let is_copy = self.bytes.arrived(start, end) > 0;
        let is_missing = packet.kind == PacketType::Trimmed && !is_copy;
        if !is_missing {
            self.bytes.accept(start, end);
        }
        let (received, connection) = (self.bytes.received(), self.identity.flow_id);
        let agent = out.agent::<Agent>();
        if received == self.length {
            agent.forget(connection);
        } else if !is_copy {
            agent.earn(self.identity.turn(), self.gap);
        }
        let until_pull = agent.until_pull(connection, cx.now).as_ps();
        let control = self.identity.control(received, cx.tcp);
        out.send(if is_missing {
            Packet { kind: PacketType::Nack, extension: header([start, until_pull]), ..control }
        } else {
            let block = (received < end).then_some((start, end));
            let sack = SackBlocks::new(received, block.as_slice());
            let extension = Extension { sack, header: [0, until_pull], ..Extension::default() };
            Packet { extension: Some(Box::new(extension)), ..control }
        });
    }

    fn on_timer(&mut self, _: u8, _: EndpointContext<'_>, _: &mut impl Outbox) {}
}

impl ReceiveEndpoint for Receiver {
    fn on_turn(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.pulls += 1;
        let until_pull = out.agent::<Agent>().until_pull(self.identity.flow_id, cx.now).as_ps();
        let (kind, extension) = (PacketType::Grant, header([self.pulls, until_pull]));
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
mod tests;
