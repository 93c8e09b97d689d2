//! Homa's hosts — Montazeri, Li, Alizadeh, Ousterhout, "Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network
//! Priorities", SIGCOMM 2018, §3; constants of Linux's module (github.com/PlatformLab/HomaModule) where the paper gives none.
//!
//! | paper | here |
//! |---|---|
//! | RTTbytes; unscheduled bytes (§3.2) | what the path holds; `unscheduled` |
//! | GRANT (§3.3): the message, up to where it may send, and at which priority | [`PacketType::Grant`] with `[granted, level]` |
//! | overcommitment (§3.5) | `overcommit`, `Agent::grants` |
//! | receivers choose priorities (§3.4) | `Agent::level` for granted packets, `cutoffs` for unscheduled ones |
//! | sender's SRPT, two packets at most in the card's queue (§4) | [`Agent`] `ready`, `idle_at` and `packet` |
//! | RESEND, a lost first packet (§3.7) | [`PacketType::Resend`]; the sender's own timer |
//! | DATA with the message's length | data with `[length, 0]` |
//!
//! A message begins with `unscheduled` bytes. Its receiver then grants: of all messages on their way to the host that are not granted
//! whole, it keeps the `overcommit` with the fewest bytes left, each of another sender, granted a window ahead of what has arrived.
//! Eight strict priorities: control packets have the best, with the smallest unscheduled messages; each cutoff begins one lower; the
//! rest are for granted packets. The message with the fewest bytes left has the best of those in use, the lowest ones, so that
//! a shorter message that comes next finds a better one free.
//!
//! Deviations and choices:
//! - D1: a message is a connection, as Homa keeps no state between messages. Its receiver acknowledges the whole message, and each grant
//!   carries how far the message is there, so that the sender's accounts follow. Homa acknowledges by the reply.
//! - D2: `unscheduled=auto` is rounded up to segments. Linux has 40,000 bytes at 25 Gbit/s.
//! - D3: the paper's receivers compute cutoffs from the traffic they have seen, so that every unscheduled priority carries as many bytes.
//!   Here they are given, by default those of Linux.
//! - D4: Linux grants a twentieth of a link to the oldest message, against starvation; the paper does not, nor do we.
//! - D5: a message is asked for again after `resend` without a packet of it (Linux: five ticks of 1 ms), and never given up (Linux: after
//!   100 ticks). A sender that hears nothing sends its first missing packet again after as long.
//! - D6: packets do not carry what grants and lengths take beyond `tcp.header`.
//! - D7: a host's own queue is in order of arrival, and control packets wait there behind two packets at most, but for no turn. Where the
//!   host's queue reorders, the agent counts data at the rate of the link. Linux lets the card have 5 µs of packets.

use crate::host::{
    ConnectionSetup, Endpoint, EndpointContext, EndpointId, HostAgent, LazyTimer, Outbox, ReceiveEndpoint,
    SendEndpoint, SendStream, SenderSnapshot, Turn,
};
use crate::packet::{Extension, Packet, PacketType};
use crate::reassembly::Reassembly;
use crate::specs::TcpSpec;
use shortflow_cc::hosts::homa::{GrantWindow, Params};
use shortflow_cc::{TransportConfig, Window};
use shortflow_units::{Bytes, HostId, Instant, Rate, Span};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Number of the timer of each end.
const SILENCE: u8 = 0;
/// Strict priorities of a switch.
const LEVELS: u64 = 8;

/// Both ends of a message.
pub fn open(
    [sender, receiver]: [EndpointId; 2],
    transport: &TransportConfig,
    params: &Params,
    setup: &ConnectionSetup<'_>,
) -> (Sender, Receiver) {
    let mss = setup.at.mss.get();
    let path = (setup.at.bdp().ceil() as u64).max(1) * mss; // D2
    let unscheduled = params.unscheduled.map_or(path, Bytes::get).next_multiple_of(mss);
    let window = Window { cwnd: f64::INFINITY, ssthresh: f64::INFINITY };
    let sender = Sender {
        stream: SendStream::new(sender, transport.start(), window, setup.priority),
        params: *params,
        line: setup.at.line,
        unscheduled,
        granted: 0,
        level: LEVELS - 1,
        again: VecDeque::new(),
        asked: false,
        silence: LazyTimer::IDLE,
    };
    let receiver = Receiver {
        identity: receiver,
        policy: Policy::new(params, unscheduled, path + mss, mss),
        resend: params.resend,
        length: 0,
        bytes: Reassembly::default(),
        silence: LazyTimer::IDLE,
    };
    (sender, receiver)
}

/// Words that a packet carries for the other end.
fn header(words: [u64; 2]) -> Option<Box<Extension>> {
    Some(Box::new(Extension { header: words, ..Extension::default() }))
}

/// The sending end of a message.
#[derive(Debug)]
pub struct Sender {
    stream: SendStream,
    params: Params,
    line: Rate,
    unscheduled: u64,
    /// One past the last byte that is granted.
    granted: u64,
    /// Priority of granted packets.
    level: u64,
    /// Bytes that are to be sent again.
    again: VecDeque<(u64, u64)>,
    /// The agent has been asked for a turn.
    asked: bool,
    silence: LazyTimer,
}

impl Sender {
    /// The next packet's bytes, if it may be sent.
    fn next(&self, mss: u64) -> Option<(u64, u64)> {
        if let Some(&(start, end)) = self.again.front() {
            return Some((start, end.min(start + mss)));
        }
        let start = self.stream.snd_nxt;
        let message = self.stream.messages.of(start)?;
        let limit = message.end.min(self.unscheduled.max(self.granted));
        let end = limit.min(start + mss);
        let is_whole = end == message.end || end == start + mss;
        (start < end && is_whole).then_some((start, end))
    }

    /// Asks the agent for a turn, if there is something to send.
    fn ask(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if !self.asked && self.next(cx.tcp.mss.get()).is_some() {
            self.asked = true;
            let left = self.stream.messages.first().map_or(0, |message| message.end - self.stream.snd_nxt);
            let id = self.stream.identity;
            out.agent::<Agent>().ready.insert((left, id.flow_id), id.turn());
        }
        let is_done = self.stream.messages.has_finished(self.stream.snd_una);
        let waits = self.stream.snd_una < self.stream.snd_max && !is_done;
        self.silence.deadline = waits.then(|| cx.now + self.params.resend);
        self.silence.set(SILENCE, out);
    }

    /// Priority of the packet with byte `start`.
    fn priority(&self, start: u64) -> u64 {
        match self.stream.messages.first() {
            Some(message) if start < self.unscheduled => {
                self.params.cutoffs.level(Bytes::new((message.end - message.start).saturating_sub(1)))
            }
            _ => self.level,
        }
    }

    /// Bytes `start..end` are sent again, in whole packets.
    fn resend(&mut self, start: u64, end: u64) {
        let start = start.max(self.stream.snd_una);
        let end = end.min(self.stream.snd_max);
        if start < end && !self.again.iter().any(|range| range.0 <= start && end <= range.1) {
            self.again.push_back((start, end));
        }
    }
}

impl Endpoint for Sender {
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.ask(cx, out);
    }

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if packet.seq > self.stream.snd_una && packet.seq <= self.stream.snd_max {
            self.stream.snd_una = packet.seq;
            self.again.retain(|range| range.1 > packet.seq);
        }
        let [to, level] = packet.extension.as_ref().map_or([0; 2], |extension| extension.header);
        if packet.kind != PacketType::Ack {
            (self.granted, self.level) = (self.granted.max(to), level);
        }
        if packet.kind == PacketType::Resend {
            self.resend(packet.seq, to);
        }
        self.ask(cx, out);
    }

    fn on_timer(&mut self, _: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.silence.expired(cx.now) {
            self.stream.count_timeout();
            let first = self.stream.snd_una;
            self.resend(first, first + cx.tcp.mss.get());
            self.ask(cx, out);
        }
        self.silence.set(SILENCE, out);
    }
}

impl SendEndpoint for Sender {
    fn stream(&self) -> &SendStream {
        &self.stream
    }

    fn stream_mut(&mut self) -> &mut SendStream {
        &mut self.stream
    }

    fn on_turn(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.asked = false;
        if let Some((start, end)) = self.next(cx.tcp.mss.get()) {
            let again = start < self.stream.snd_max;
            match self.again.front_mut() {
                Some(range) if end < range.1 => range.0 = end,
                Some(_) => drop(self.again.pop_front()),
                None => self.stream.snd_nxt = end,
            }
            self.stream.snd_max = self.stream.snd_max.max(end);
            let length = self.stream.messages.first().map_or(end, |message| message.end);
            let packet = Packet {
                priority: self.priority(start),
                extension: header([length, 0]),
                ..self.stream.packet(start, end, cx.tcp)
            };
            let takes = self.line.tx_time(cx.tcp.link_bytes(Bytes::new(end - start)));
            let handover = out.send(packet);
            out.agent::<Agent>().count(cx.now, handover.departs, takes);
            self.stream.count_sent(start, again, handover.waits);
        }
        self.ask(cx, out);
    }

    fn permitted(&self) -> Option<u64> {
        Some(self.unscheduled.max(self.granted))
    }

    fn snapshot(&self, _: Instant) -> SenderSnapshot {
        SenderSnapshot::default()
    }
}

/// Limits and priorities of a receiver's grants.
#[derive(Debug, Clone, Copy)]
struct Policy {
    unscheduled: u64,
    overcommit: usize,
    /// Bytes that are granted and not there, at most: of this connection's message, and of all messages if they share.
    window: u64,
    incoming: Option<u64>,
    /// Best priority of granted packets.
    best: u64,
    mss: u64,
}

impl Policy {
    fn new(params: &Params, unscheduled: u64, window: u64, mss: u64) -> Policy {
        let best = (params.cutoffs.used().count() as u64 + 1).min(LEVELS - 1);
        let incoming = || params.incoming.map_or(10 * unscheduled, Bytes::get);
        Policy {
            unscheduled,
            overcommit: params.overcommit.map_or((LEVELS - best) as usize, |most| most as usize),
            window,
            incoming: (params.window == GrantWindow::Dynamic).then(incoming),
            best,
            mss,
        }
    }
}

/// A message on its way to a host that is not granted whole.
#[derive(Debug, Clone, Copy)]
struct Incoming {
    to: EndpointId,
    /// Bytes that are there, and those below which none is missing.
    arrived: u64,
    received: u64,
    length: u64,
    granted: u64,
    /// Bytes that are granted and not there, at most, if messages do not share.
    window: u64,
}

/// What the messages of a host share: the card and the grants.
#[derive(Debug, Default)]
pub struct Agent {
    /// Messages with something to send, by bytes left.
    ready: BTreeMap<(u64, u32), Turn>,
    /// When the card will have sent what it has, and the time of a full packet.
    idle_at: Instant,
    packet: Span,
    /// Messages to grant, by number, and in the order of their bytes left.
    incoming: BTreeMap<u32, Incoming>,
    order: BTreeSet<(u64, u32)>,
}

impl Agent {
    /// The card has got a packet that takes so long. Where the host's queue reorders, it does not say when the packet departs.
    fn count(&mut self, now: Instant, departs: Instant, takes: Span) {
        self.packet = self.packet.max(takes);
        self.idle_at = match departs {
            Instant::MAX => self.idle_at.max(now) + takes,
            departs => self.idle_at.max(departs), // zero if dropped
        };
    }

    /// Takes news of a message, which may be granted whole or be there by now.
    fn note(&mut self, news: Incoming) {
        let number = news.to.flow_id;
        if let Some(known) = self.incoming.remove(&number) {
            self.order.remove(&(known.length - known.arrived, number));
        }
        if news.granted < news.length && news.arrived < news.length {
            self.order.insert((news.length - news.arrived, number));
            self.incoming.insert(number, news);
        }
    }

    /// The grants that are due: of the messages with the fewest bytes left, each of another sender.
    fn grants(&mut self, policy: &Policy, tcp: &TcpSpec) -> Vec<Packet> {
        let (mut chosen, mut senders): (Vec<u32>, Vec<HostId>) = (Vec::new(), Vec::new());
        for (_, number) in &self.order {
            if chosen.len() == policy.overcommit {
                break;
            }
            let sender = self.incoming[number].to.peer;
            if !senders.contains(&sender) {
                senders.push(sender);
                chosen.push(*number);
            }
        }
        let active = chosen.len() as u64;
        let ahead = |message: &Incoming| message.granted.saturating_sub(message.arrived);
        let mut free = policy.incoming.map(|most| {
            let granted: u64 = self.incoming.values().map(ahead).sum();
            most.saturating_sub(granted)
        });
        let shared = policy.incoming.map(|most| most / (active + 1));
        let mut grants = Vec::new();
        for (rank, number) in (0..).zip(chosen) {
            let message = self.incoming[&number];
            let most = message.granted + free.unwrap_or(u64::MAX).min(u64::MAX - message.granted);
            let window = shared.unwrap_or(message.window).max(policy.mss);
            let to = message.arrived.saturating_add(window).min(most).min(message.length);
            let to = if to == message.length { to } else { to / policy.mss * policy.mss };
            if to <= message.granted {
                continue;
            }
            free = free.map(|free| free - (to - message.granted));
            self.note(Incoming { granted: to, ..message });
            grants.push(Packet {
                kind: PacketType::Grant,
                extension: header([to, Agent::level(policy, rank, active)]),
                ..message.to.control(message.received, tcp)
            });
        }
        grants
    }

    /// Priority of the message with this rank of so many that are granted (§3.4): the lowest ones are in use.
    fn level(policy: &Policy, rank: u64, active: u64) -> u64 {
        let used = active.min(LEVELS - policy.best);
        (LEVELS - used + rank).min(LEVELS - 1)
    }
}

impl HostAgent for Agent {
    fn next_turn(&mut self, now: Instant) -> Option<Turn> {
        if self.idle_at > now + self.packet {
            return None;
        }
        self.ready.pop_first().map(|(_, turn)| turn)
    }

    fn wakes_at(&self) -> Option<Instant> {
        let room = Instant::ZERO + self.idle_at.since(Instant::ZERO + self.packet);
        (!self.ready.is_empty()).then_some(room)
    }
}

/// The receiving end of a message.
#[derive(Debug)]
pub struct Receiver {
    identity: EndpointId,
    policy: Policy,
    resend: Span,
    /// Length of the message; zero before the first packet.
    length: u64,
    bytes: Reassembly,
    silence: LazyTimer,
}

impl Receiver {
    fn note(&self, granted: u64) -> Incoming {
        let (received, length) = (self.bytes.received(), self.length);
        let arrived = self.bytes.arrived(0, u64::MAX);
        Incoming { to: self.identity, arrived, received, length, granted, window: self.policy.window }
    }

    /// Sends a control packet, which waits for no turn.
    fn answer(&self, packet: Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let departs = out.send(packet).departs;
        out.agent::<Agent>().count(cx.now, departs, Span::ZERO);
    }

    /// Waits for the next packet.
    fn wait(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.silence.deadline = (self.bytes.received() < self.length).then(|| cx.now + self.resend);
        self.silence.set(SILENCE, out);
    }
}

impl Endpoint for Receiver {
    fn start(&mut self, _: EndpointContext<'_>, _: &mut impl Outbox) {}

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let (start, end) = (packet.seq, packet.seq + u64::from(packet.payload));
        let is_first = self.length == 0;
        let is_old = end <= self.bytes.received();
        self.length = packet.extension.as_ref().map_or(self.length, |extension| extension.header[0]);
        self.bytes.accept(start, end);
        let received = self.bytes.received();
        if is_old || received >= self.length {
            self.answer(self.identity.control(received, cx.tcp), cx, out);
        }
        let agent = out.agent::<Agent>();
        let known = agent.incoming.get(&self.identity.flow_id).map(|message| message.granted);
        if let Some(granted) = known.or(is_first.then_some(self.policy.unscheduled.min(self.length))) {
            agent.note(self.note(granted));
        }
        for grant in agent.grants(&self.policy, cx.tcp) {
            self.answer(grant, cx, out);
        }
        self.wait(cx, out);
    }

    fn on_timer(&mut self, _: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let received = self.bytes.received();
        if self.silence.expired(cx.now) && received < self.length {
            // The agent forgets messages that are granted whole.
            let known = out.agent::<Agent>().incoming.get(&self.identity.flow_id);
            let granted = known.map_or(self.length, |message| message.granted);
            let (start, end) = self.bytes.missing(granted);
            let level = Agent::level(&self.policy, 0, 1);
            if start < end.min(granted) {
                let (kind, extension) = (PacketType::Resend, header([end.min(granted), level]));
                let resend = Packet { kind, extension, ..self.identity.control(received, cx.tcp) };
                self.answer(resend, cx, out);
            }
            self.wait(cx, out);
        }
        self.silence.set(SILENCE, out);
    }
}

impl ReceiveEndpoint for Receiver {
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
    use crate::tcp::testing::tcp;
    use shortflow_units::ConnId;

    /// Segments of 1,460 bytes; the default cutoffs, so that granted packets have four priorities.
    fn policy(window: GrantWindow) -> Policy {
        Policy::new(&Params { window, ..Params::default() }, 14_600, 16_060, 1_460)
    }

    /// A message of so many segments from host `peer`, of which ten are there.
    fn message(number: u32, peer: u32, segments: u64) -> Incoming {
        let to = EndpointId { conn: ConnId(number), flow_id: number, peer: HostId(peer), way: 0 };
        let (arrived, granted, window) = (14_600, 14_600, 16_060);
        Incoming { to, arrived, received: arrived, length: segments * 1_460, granted, window }
    }

    /// The messages that get a grant, in order, up to which segment, and at which priority.
    fn granted(messages: &[Incoming], policy: &Policy) -> Vec<(u32, u64, u64)> {
        let mut agent = Agent::default();
        messages.iter().for_each(|message| agent.note(*message));
        let grants = agent.grants(policy, &tcp());
        let words =
            |grant: &Packet| grant.extension.as_ref().map(|extension| extension.header).unwrap_or_default();
        grants.iter().map(|grant| (grant.flow_id, words(grant)[0] / 1_460, words(grant)[1])).collect()
    }

    /// §3.4: with fewer messages than priorities the lowest ones are in use; with more, the last ones share one.
    #[test]
    fn granted_messages_have_the_lowest_priorities() {
        let policy = policy(GrantWindow::Path);
        let levels = |active| (0..active).map(|rank| Agent::level(&policy, rank, active)).collect::<Vec<_>>();
        assert_eq!([levels(1), levels(2), levels(4)], [vec![7], vec![6, 7], vec![4, 5, 6, 7]]);
        assert_eq!(levels(5), [4, 5, 6, 7, 7]);
    }

    /// §3.3, §3.5: the four with the fewest bytes left, one of each sender, eleven segments ahead of what is there.
    #[test]
    fn the_shortest_message_of_each_of_four_senders_is_granted() {
        let messages = [
            message(0, 1, 90),
            message(1, 1, 50),
            message(2, 2, 40),
            message(3, 3, 15),
            message(4, 4, 70),
            message(5, 5, 80),
        ];
        let expected = [(3, 15, 4), (2, 21, 5), (1, 21, 6), (4, 21, 7)];
        assert_eq!(granted(&messages, &policy(GrantWindow::Path)), expected);
    }

    /// Linux: a message has incoming / (active + 1): of 146,000 bytes, which are 100 segments, a third with two messages.
    #[test]
    fn messages_share_what_may_be_on_its_way() {
        let messages = [message(0, 1, 200), message(1, 2, 300)];
        let expected = [(0, 43, 6), (1, 43, 7)];
        assert_eq!(granted(&messages, &policy(GrantWindow::Dynamic)), expected);
    }
}
