//! Homa's hosts — Montazeri, Li, Alizadeh, Ousterhout, "Homa: A Receiver-Driven Low-Latency Transport
//! Protocol Using Network Priorities", SIGCOMM 2018, §3. Constants that the paper does not give are from
//! Linux's module (github.com/PlatformLab/HomaModule).
//!
//! | paper | here |
//! |---|---|
//! | RTTbytes; unscheduled bytes (§3.2) | the bytes that fill the path; `unscheduled` |
//! | GRANT (§3.3): message, limit of the bytes to send, and priority | [`PacketType::Grant`] with `[granted, level]` |
//! | overcommitment (§3.5) | `overcommit`, `Agent::grants` |
//! | receivers choose priorities (§3.4) | `Agent::level` for granted packets, `cutoffs` for unscheduled ones |
//! | SRPT at senders, with at most two packets in the card's queue (§4) | [`Agent`] `ready`, `idle_at` and `packet` |
//! | RESEND, a lost first packet (§3.7) | [`PacketType::Resend`]; the sender's own timer |
//! | DATA with the message's length | data with `[length, 0]` |
//!
//! A message starts with `unscheduled` bytes. Its receiver then sends grants. A host grants to at most
//! `overcommit` messages at a time, each from another sender. Among the messages that are not completely
//! granted, these are the messages with the fewest bytes left. Each is granted a window beyond the bytes that
//! have arrived.
//!
//! Packets have eight strict priorities. Control packets and the smallest unscheduled messages have the best
//! priority. Unscheduled packets of messages above each cutoff have the next lower priority. Granted packets
//! have the remaining priorities, of which the lowest are used first. Among the granted messages, the message
//! with the fewest bytes left has the best priority. A shorter message that arrives later then finds a better
//! priority free.
//!
//! Deviations and choices:
//! - D1: each message has its own connection, because Homa keeps no state between messages. The receiver
//!   acknowledges the whole message. Each grant also reports the bytes that have arrived, which the sender's
//!   accounts need. In Homa, the reply is the acknowledgement.
//! - D2: `unscheduled` is rounded up to whole segments. Linux has 40,000 bytes at 25 Gbit/s.
//! - D3: in the paper, receivers compute the cutoffs from past traffic, so that each unscheduled priority
//!   carries equally many bytes. Here, `cutoffs` sets them. The defaults are Linux's.
//! - D4: Linux grants one twentieth of the link to the oldest message, to prevent starvation. The paper and
//!   these hosts do not.
//! - D5: a receiver requests missing bytes after `resend` without a packet of the message (Linux: five ticks
//!   of 1 ms). Messages are never given up (Linux: after 100 ticks). A sender that receives nothing for
//!   `resend` sends its first unacknowledged packet again.
//! - D6: the fields of grants and of the message length do not enlarge packets beyond `tcp.header`.
//! - D7: the queue of a host's port is first in, first out. Control packets need no turn, but wait there
//!   behind up to two data packets. If `host.queue` reorders packets, the agent estimates departures from the
//!   rate of the link. Linux lets the card hold 5 µs of packets.

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

/// Number of the timer of either end.
const SILENCE: u8 = 0;
/// Number of strict priorities of a switch.
const LEVELS: u64 = 8;

/// Both ends of a message.
pub(crate) fn open(
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

/// Two numbers for the other end.
fn header(words: [u64; 2]) -> Option<Box<Extension>> {
    Some(Box::new(Extension { header: words, ..Extension::default() }))
}

/// The sending end of a message.
#[derive(Debug)]
pub(crate) struct Sender {
    stream: SendStream,
    params: Params,
    line: Rate,
    unscheduled: u64,
    /// One past the last granted byte.
    granted: u64,
    /// Priority of granted packets.
    level: u64,
    /// Bytes to send again.
    again: VecDeque<(u64, u64)>,
    /// True if the sender waits for a turn from the agent.
    asked: bool,
    silence: LazyTimer,
}

impl Sender {
    /// Bytes of the next packet, if the sender may send one.
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

    /// Requests a turn from the agent if there is data to send, and restarts the timer.
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

    /// Priority of the packet that starts at byte `start`.
    fn priority(&self, start: u64) -> u64 {
        match self.stream.messages.first() {
            Some(message) if start < self.unscheduled => {
                self.params.cutoffs.level(Bytes::new((message.end - message.start).saturating_sub(1)))
            }
            _ => self.level,
        }
    }

    /// Queues the bytes of `start..end` that were sent and not acknowledged, to send them again.
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
    /// Maximum number of bytes that are granted and have not arrived: `window` for this message, and
    /// `incoming` for all messages of the host, if they share a limit.
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

/// A message to a host that is not completely granted.
#[derive(Debug, Clone, Copy)]
struct Incoming {
    to: EndpointId,
    /// Bytes that have arrived, and bytes that have arrived in order.
    arrived: u64,
    received: u64,
    length: u64,
    granted: u64,
    /// Maximum number of bytes that are granted and have not arrived, if messages do not share a limit.
    window: u64,
}

/// State that the messages of a host share: the card and the grants.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    /// Messages with data to send, by bytes left and flow id.
    ready: BTreeMap<(u64, u32), Turn>,
    /// Time at which the card has sent all its packets, and transmission time of a full packet.
    idle_at: Instant,
    packet: Span,
    /// Messages to grant by flow id, and their flow ids in order of bytes left.
    incoming: BTreeMap<u32, Incoming>,
    order: BTreeSet<(u64, u32)>,
}

impl Agent {
    /// Counts a packet that the card takes, with transmission time `takes`. If the host's queue reorders
    /// packets, the departure is unknown ([`Instant::MAX`]).
    fn count(&mut self, now: Instant, departs: Instant, takes: Span) {
        self.packet = self.packet.max(takes);
        self.idle_at = match departs {
            Instant::MAX => self.idle_at.max(now) + takes,
            departs => self.idle_at.max(departs), // zero if dropped
        };
    }

    /// Updates a message. A message that is completely granted, or has arrived, is removed.
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

    /// Grants that are due: to the messages with the fewest bytes left, each from another sender.
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

    /// Priority of the message with rank `rank` among `active` granted messages (§3.4). The lowest priorities
    /// are used first.
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
pub(crate) struct Receiver {
    identity: EndpointId,
    policy: Policy,
    resend: Span,
    /// Length of the message; zero before the first packet.
    length: u64,
    bytes: Reassembly,
    silence: LazyTimer,
}

impl Receiver {
    /// This message as its host's agent knows it, with `granted` bytes granted.
    fn as_incoming(&self, granted: u64) -> Incoming {
        let (received, length) = (self.bytes.received(), self.length);
        let arrived = self.bytes.arrived(0, u64::MAX); // in any order
        Incoming { to: self.identity, arrived, received, length, granted, window: self.policy.window }
    }

    /// Sends a control packet, which needs no turn.
    fn answer(&self, packet: Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let departs = out.send(packet).departs;
        out.agent::<Agent>().count(cx.now, departs, Span::ZERO);
    }

    /// Restarts the timer, unless the message is complete.
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
        // Old data means that the sender does not know what has arrived. Other data needs no answer but a grant.
        if is_old || received >= self.length {
            self.answer(self.identity.control(received, cx.tcp), cx, out);
        }
        let agent = out.agent::<Agent>();
        let known = agent.incoming.get(&self.identity.flow_id).map(|message| message.granted);
        // A new message starts with its unscheduled bytes granted. The agent does not know messages that are
        // completely granted.
        if let Some(granted) = known.or(is_first.then_some(self.policy.unscheduled.min(self.length))) {
            agent.note(self.as_incoming(granted));
        }
        for grant in agent.grants(&self.policy, cx.tcp) {
            self.answer(grant, cx, out);
        }
        self.wait(cx, out);
    }

    fn on_timer(&mut self, _: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        let received = self.bytes.received();
        if self.silence.expired(cx.now) && received < self.length {
            // The agent removes messages that are completely granted.
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

    /// Segments have 1,460 bytes. The default cutoffs leave four priorities for granted packets.
    fn policy(window: GrantWindow) -> Policy {
        Policy::new(&Params { window, ..Params::default() }, 14_600, 16_060, 1_460)
    }

    /// A message of `segments` segments from host `peer`, of which ten have arrived.
    fn message(number: u32, peer: u32, segments: u64) -> Incoming {
        let to = EndpointId { conn: ConnId(number), flow_id: number, peer: HostId(peer), way: 0 };
        let (arrived, granted, window) = (14_600, 14_600, 16_060);
        Incoming { to, arrived, received: arrived, length: segments * 1_460, granted, window }
    }

    /// Grants in order: flow id of the message, granted segments, and priority.
    fn granted(messages: &[Incoming], policy: &Policy) -> Vec<(u32, u64, u64)> {
        let mut agent = Agent::default();
        messages.iter().for_each(|message| agent.note(*message));
        let grants = agent.grants(policy, &tcp());
        let words =
            |grant: &Packet| grant.extension.as_ref().map(|extension| extension.header).unwrap_or_default();
        grants.iter().map(|grant| (grant.flow_id, words(grant)[0] / 1_460, words(grant)[1])).collect()
    }

    /// §3.4: if there are fewer messages than priorities, the messages have the lowest priorities. If there
    /// are more, the last messages share a priority.
    #[test]
    fn granted_messages_have_the_lowest_priorities() {
        let policy = policy(GrantWindow::Path);
        let levels = |active| (0..active).map(|rank| Agent::level(&policy, rank, active)).collect::<Vec<_>>();
        assert_eq!([levels(1), levels(2), levels(4)], [vec![7], vec![6, 7], vec![4, 5, 6, 7]]);
        assert_eq!(levels(5), [4, 5, 6, 7, 7]);
    }

    /// §3.3, §3.5: the four messages with the fewest bytes left, one from each sender, are granted eleven
    /// segments beyond the bytes that have arrived.
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

    /// Linux: each message has incoming / (active + 1). With two messages, this is a third of 146,000 bytes,
    /// which are 100 segments.
    #[test]
    fn messages_share_what_may_be_on_its_way() {
        let messages = [message(0, 1, 200), message(1, 2, 300)];
        let expected = [(0, 43, 6), (1, 43, 7)];
        assert_eq!(granted(&messages, &policy(GrantWindow::Dynamic)), expected);
    }
}
