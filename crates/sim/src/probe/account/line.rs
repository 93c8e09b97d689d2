//! [`Line`]: a port as accounts see it. The past departures of a port explain why a packet waited.

use super::course::{Cause, Course, InFront, PLACES, Passage};
use crate::packet::Packet;
use shortflow_units::{Bytes, FlowId, Instant, NodeId, PortId, Rate, Span};
use std::collections::BTreeMap;

/// A port of the network and its link.
#[derive(Debug, Clone, Copy)]
pub struct LinkEnd {
    /// Node of the port.
    pub from: NodeId,
    /// Node at the other end of the link.
    pub to: NodeId,
    /// Rate of the link.
    pub rate: Rate,
    /// Propagation delay of the link.
    pub delay: Span,
}

/// The packets of one connection in one direction: flow id, and true for acknowledgements and other answers.
pub(super) type Stream = (u32, bool);

/// Stream of a packet.
pub(super) fn stream(packet: &Packet) -> Stream {
    (packet.flow_id, packet.kind.is_answer())
}

/// A waiting packet.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    /// Critical path up to the arrival of the packet at the port.
    pub course: Course,
    /// Cause that held the packet at the sender after the previous packet had left the host.
    pub held: Option<Cause>,
}

/// Number of waiting packets of a stream, and the course of the last packet that has left.
#[derive(Debug, Clone, Default)]
struct Own {
    waiting: u32,
    last: Option<Course>,
}

/// A past transmission: its end, its duration, and the stream and flow of its packet.
#[derive(Debug, Clone, Copy)]
struct Sent {
    end: Instant,
    takes: Span,
    stream: Stream,
    flow: Option<FlowId>,
}

/// A port and its link, with its waiting packets and past transmissions.
#[derive(Debug, Clone)]
pub(super) struct Line {
    rate: Rate,
    gap: Bytes,
    /// Propagation delay of the link.
    pub delay: Span,
    /// Place of the port's queue; see `PLACES`.
    place: u8,
    free_at: Instant,
    waiting: u32,
    /// Times without a transmission while packets waited.
    pauses: Vec<(Instant, Instant)>,
    own: BTreeMap<Stream, Own>,
    /// Waiting packets of the traced flow, and the transmissions since the first of these packets arrived.
    traced: u32,
    recent: Vec<Sent>,
}

/// All ports of a network with `hosts` hosts. Frames are `gap` bytes apart.
pub(super) fn lines(ports: &[LinkEnd], hosts: usize, gap: Bytes) -> Vec<Line> {
    let nodes = ports.iter().map(|port| port.from.index() + 1).max().unwrap_or(0);
    let mut tiers: Vec<u8> = (0..nodes).map(|node| if node < hosts { 0 } else { u8::MAX }).collect();
    for tier in 0..u8::MAX - 1 {
        let reached = |port: &&LinkEnd| tiers[port.from.index()] == tier && tiers[port.to.index()] == u8::MAX;
        let next: Vec<NodeId> = ports.iter().filter(reached).map(|port| port.to).collect();
        next.iter().for_each(|node| tiers[node.index()] = tier + 1);
        if next.is_empty() {
            break;
        }
    }
    let line = |port: &LinkEnd| {
        let (tier, next) = (tiers[port.from.index()], tiers[port.to.index()]);
        let place = if tier == 0 { 0 } else { 2 * tier.min(3) - u8::from(next >= tier) };
        Line {
            rate: port.rate,
            gap,
            delay: port.delay,
            place: place.min(PLACES as u8 - 1),
            free_at: Instant::ZERO,
            waiting: 0,
            pauses: Vec::new(),
            own: BTreeMap::new(),
            traced: 0,
            recent: Vec::new(),
        }
    };
    ports.iter().map(line).collect()
}

impl Line {
    /// True for a port of a host.
    pub(super) fn is_of_host(&self) -> bool {
        self.place == 0
    }

    /// Counts an arriving packet that has an account; `traced` if its steps are recorded.
    pub(super) fn arrive(&mut self, stream: Stream, traced: bool) {
        self.waiting += 1;
        self.own.entry(stream).or_default().waiting += 1;
        self.traced += u32::from(traced);
    }

    /// Counts out a packet that was dropped or has left.
    pub(super) fn leave(&mut self, stream: Stream, traced: bool) {
        self.waiting = self.waiting.saturating_sub(1);
        if let Some(own) = self.own.get_mut(&stream) {
            own.waiting = own.waiting.saturating_sub(1);
            if own.waiting == 0 && (self.place > 0 || stream.1) {
                self.own.remove(&stream);
            }
        }
        if self.waiting == 0 {
            self.pauses.clear();
        }
        self.traced = self.traced.saturating_sub(u32::from(traced));
        if self.traced == 0 {
            self.recent.clear();
        }
    }

    /// Records that the last bit of a packet of `flow` left at `end`. Returns the packet's course up to `end`, if it
    /// has an account.
    pub(super) fn depart(
        &mut self,
        (end, port): (Instant, PortId),
        packet: &Packet,
        flow: Option<FlowId>,
        waiting: Option<Waiting>,
    ) -> Option<Course> {
        let (takes, stream) = (self.rate.tx_time(packet.wire_size().plus(self.gap)), stream(packet));
        let start = Instant::ZERO + end.since(Instant::ZERO + takes);
        let idle_from = std::mem::replace(&mut self.free_at, end);
        if self.waiting > 0 && idle_from < start {
            self.pauses.push((idle_from, start));
        }
        if self.traced > 0 {
            self.recent.push(Sent { end, takes, stream, flow });
        }
        let Waiting { course, held } = waiting?;
        let traced = course.is_traced();
        let (passage, arrived) =
            (Passage { port: Some(port), packet: Some((packet.kind, packet.seq)) }, course.at);
        let before = self.own.get_mut(&stream).and_then(|own| own.last.take());
        let before = before.filter(|before| before.flow == course.flow && before.at <= start);
        let behind_own = before.as_ref().is_some_and(|before| before.at >= arrived);
        let (course, queueing) = match (before, held) {
            (Some(before), held) if behind_own => (before, held.filter(|held| *held == Cause::SmallQueue)),
            (Some(before), Some(held)) => (before.through(held, arrived, passage, Vec::new()), None),
            _ => (course, None),
        };
        let queueing = queueing.unwrap_or(Cause::Queueing(self.place));
        let course = self.wait(course, queueing, start, passage);
        let course = course.through(Cause::Serialisation, end, passage, Vec::new());
        self.leave(stream, traced);
        if let Some(own) = self.own.get_mut(&stream) {
            own.last = Some(course.clone());
        }
        Some(course)
    }

    /// Adds the wait up to `start`, behind packets of other streams or while the port was paused.
    fn wait(&self, mut course: Course, queueing: Cause, start: Instant, passage: Passage) -> Course {
        for &(from, until) in self.pauses.iter().filter(|pause| pause.1 <= start) {
            if until > course.at {
                let in_front = self.in_front(course.at, from, &course);
                course = course.through(queueing, from, passage, in_front);
                course = course.through(Cause::Pause, until, passage, Vec::new());
            }
        }
        let in_front = self.in_front(course.at, start, &course);
        course.through(queueing, start, passage, in_front)
    }

    /// Packets sent between two times, by flow, longest transmission time first.
    fn in_front(&self, from: Instant, until: Instant, course: &Course) -> Vec<InFront> {
        let mut found: BTreeMap<(u32, Option<FlowId>), (u32, Span)> = BTreeMap::new();
        for sent in self.recent.iter().filter(|_| course.is_traced()) {
            let begin = (Instant::ZERO + sent.end.since(Instant::ZERO + sent.takes)).max(from);
            let end = sent.end.min(until);
            if begin < end {
                let (packets, takes) = found.entry((sent.stream.0, sent.flow)).or_default();
                (*packets, *takes) = (*packets + 1, *takes + end.since(begin));
            }
        }
        let each = found.into_iter().map(|((connection, flow), (packets, takes))| InFront {
            connection,
            flow,
            packets,
            takes,
        });
        let mut each: Vec<InFront> = each.collect();
        each.sort_by_key(|front| std::cmp::Reverse(front.takes));
        each
    }

    /// Forgets the stream of a closed connection.
    pub(super) fn close(&mut self, stream: Stream) {
        if self.own.get(&stream).is_some_and(|own| own.waiting == 0) {
            self.own.remove(&stream);
        }
    }
}
