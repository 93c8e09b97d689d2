//! [`Connection`]: the event that permitted each packet of a connection.

use super::course::{Cause, Course, FlowAccount, Round};
use super::line::Waiting;
use crate::packet::{Packet, PacketType};
use shortflow_units::{FlowId, Instant, PortId};
use std::collections::{BTreeMap, VecDeque};

/// Event that prompts hosts to send.
#[derive(Debug, Clone)]
pub(super) enum Prompt {
    /// Unknown event.
    Unknown,
    /// A flow starts.
    Start,
    /// A packet of this type arrives, with its course.
    Arrival(PacketType, Option<Box<Course>>),
    /// A timer runs, which ends a wait for this cause.
    Timer(Cause),
    /// The host's agent has named the connection.
    Turn,
}

/// A message of a connection.
#[derive(Debug, Clone)]
pub(super) struct Message {
    /// First byte, and one past the last byte.
    pub first: u64,
    pub end: u64,
    /// Row of the flow, if it has an account.
    pub flow: Option<FlowId>,
    pub start: Instant,
    /// True if the steps of the flow are recorded.
    pub traced: bool,
    /// Course of the last data of the message that reached the receiver.
    pub heard: Option<Course>,
}

impl Message {
    fn course(&self, flow: FlowId) -> Course {
        Course::new(flow, self.start, self.traced)
    }
}

/// Both ends of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Connection {
    /// Messages that are not completely acknowledged.
    pub messages: VecDeque<Message>,
    /// One past the highest byte sent.
    sent_max: u64,
    /// Unacknowledged segments by first byte: one past the last byte, and course up to the last hand-over.
    sent: BTreeMap<u64, (u64, Course)>,
    /// Courses up to the hand-over of the last data packet, and of the last connection request.
    last: Option<Course>,
    request: Option<Course>,
    /// Course of the last data, or connection request, that reached the receiver.
    pub heard: Option<Course>,
    /// Time of the last timeout.
    pub timed_out: Option<Instant>,
    /// One past the last granted byte, and the grants. Each grant has the limit that it raised.
    pub permitted: Option<u64>,
    grants: VecDeque<(u64, Course)>,
    /// The port of the sender's host.
    pub port: Option<PortId>,
}

impl Connection {
    /// A connection whose next byte is `first`.
    pub(super) fn new(first: u64) -> Connection {
        Connection { sent_max: first, ..Connection::default() }
    }

    fn message(&self, seq: u64) -> Option<&Message> {
        self.messages.iter().find(|message| seq < message.end).filter(|message| message.first <= seq)
    }

    /// The message of byte `seq`, if it is not completely acknowledged.
    pub(super) fn message_mut(&mut self, seq: u64) -> Option<&mut Message> {
        self.messages.iter_mut().find(|message| seq < message.end).filter(|message| message.first <= seq)
    }

    /// Flow of a packet, if it has an account.
    pub(super) fn flow_of(&self, packet: &Packet) -> Option<FlowId> {
        let seq = if packet.kind.is_answer() && packet.kind != PacketType::Returned {
            packet.seq.saturating_sub(1)
        } else {
            packet.seq
        };
        self.message(seq)?.flow
    }

    /// Raises the limit of the sender to `permitted`, after the arrival of a packet with course `arrived`.
    pub(super) fn permit(&mut self, permitted: Option<u64>, arrived: Option<&Course>) {
        if permitted > self.permitted {
            let before = std::mem::replace(&mut self.permitted, permitted).unwrap_or(0);
            self.grants.extend(arrived.map(|course| (before, course.clone().turn(Round::Credit))));
        }
    }

    /// Records that a host sends a packet at `now`. Returns the packet's course, if its flow has an account.
    pub(super) fn send(&mut self, now: Instant, packet: &Packet, prompt: &Prompt) -> Option<Waiting> {
        let waiting = |course: Course| Waiting { course, held: None };
        match packet.kind {
            PacketType::Data => self.send_data(now, packet, prompt),
            PacketType::Syn => {
                let message = self.message(0)?;
                let first = || message.flow.map(|flow| message.course(flow).to(Cause::HostOrder, now));
                let course =
                    self.request.clone().map(|course| course.to(Cause::Timeout, now)).or_else(first)?;
                self.request = Some(course.clone());
                Some(waiting(course))
            }
            PacketType::Grant => self.heard.clone().map(|course| waiting(course.to(Cause::Grant, now))),
            PacketType::Resend => self.heard.clone().map(|course| waiting(course.to(Cause::Timeout, now))),
            PacketType::Ack | PacketType::SynAck | PacketType::Cnp | PacketType::Nack => {
                self.heard.clone().map(|course| waiting(course.to(Cause::LateAck, now)))
            }
            PacketType::Trimmed | PacketType::Returned => None, // only switches send these types
        }
    }

    fn send_data(&mut self, now: Instant, packet: &Packet, prompt: &Prompt) -> Option<Waiting> {
        let (seq, end) = (packet.seq, packet.seq + u64::from(packet.payload));
        let again = seq < self.sent_max || seq == end;
        self.sent_max = self.sent_max.max(end);
        let message = self.message(seq)?;
        let (flow, start) = (message.flow?, message.start);
        let before = self.sent.range(..=seq).next_back().map(|(_, (_, course))| course);
        let (course, held) = match before.filter(|_| again) {
            Some(before) => (self.repeat(now, before, prompt), None),
            None => self.prompted(now, seq, prompt),
        };
        let course = match course.filter(|course| course.flow == flow) {
            Some(course) => course,
            None if start == now => message.course(flow),
            None if self.sent_max == end && seq == message.first && matches!(prompt, Prompt::Turn) => {
                message.course(flow).to(Cause::HostOrder, now)
            }
            None => message.course(flow).to(Cause::EarlierMessage, now),
        };
        if seq < end {
            self.sent.insert(seq, (end, course.clone()));
            self.last = Some(course.clone());
        }
        Some(Waiting { course, held })
    }

    /// Course of data that was sent before.
    fn repeat(&self, now: Instant, before: &Course, prompt: &Prompt) -> Option<Course> {
        if let Prompt::Arrival(PacketType::Grant, Some(course)) = prompt
            && course.flow == before.flow
        {
            return Some(Course::clone(course).turn(Round::Credit));
        }
        match self.timed_out.filter(|at| *at > before.at) {
            Some(at) if at == now => Some(before.clone().to(Cause::Timeout, now)),
            Some(at) => match prompt {
                Prompt::Arrival(_, Some(course)) if course.flow == before.flow => {
                    Some(Course::clone(course).turn(Round::Window))
                }
                _ => Some(before.clone().to(Cause::Timeout, at).to(Cause::Recovery, now)),
            },
            None => Some(before.clone().to(Cause::Recovery, now)),
        }
    }

    /// Course of new data from byte `seq` on, and the cause that has held the data since the packet before
    /// it.
    fn prompted(&self, now: Instant, seq: u64, prompt: &Prompt) -> (Option<Course>, Option<Cause>) {
        let after_last = |cause| (self.last.clone().map(|course| course.to(cause, now)), Some(cause));
        match prompt {
            Prompt::Start | Prompt::Unknown => (None, None),
            Prompt::Arrival(PacketType::SynAck, course) => {
                (course.as_deref().cloned().map(Course::connected), None)
            }
            Prompt::Arrival(kind, course) => {
                let round = if *kind == PacketType::Grant { Round::Credit } else { Round::Window };
                (course.as_deref().cloned().map(|course| course.turn(round)), None)
            }
            Prompt::Timer(_) if self.timed_out == Some(now) => after_last(Cause::Timeout),
            Prompt::Timer(cause) => after_last(*cause),
            Prompt::Turn => {
                let granted = self.grants.iter().rev().find(|(before, _)| *before <= seq);
                let granted = granted.map(|(_, course)| course);
                let last = self.last.as_ref();
                match granted.filter(|granted| last.is_none_or(|last| last.at < granted.at)) {
                    Some(granted) => (Some(granted.clone().to(Cause::HostOrder, now)), None),
                    None => after_last(Cause::HostOrder),
                }
            }
        }
    }

    /// Records that all bytes below `una` are acknowledged at `now`, by an arrival with course `arrived`.
    /// Returns the accounts of the flows that are complete.
    pub(super) fn finish(&mut self, now: Instant, una: u64, arrived: Option<Course>) -> Vec<FlowAccount> {
        let mut finished = Vec::new();
        while self.messages.front().is_some_and(|message| message.end <= una) {
            let Some(message) = self.messages.pop_front() else { break };
            let Some(flow) = message.flow else { continue };
            let is_of_flow = |course: &Course| course.flow == flow;
            let arrived = arrived.clone().filter(is_of_flow);
            let course = arrived.or_else(|| message.heard.clone().filter(is_of_flow));
            let course = course.unwrap_or_else(|| message.course(flow)).to(Cause::LateAck, now);
            finished.push(FlowAccount {
                flow,
                start: course.start,
                finish: now,
                parts: course.parts(),
                steps: course.steps(),
            });
        }
        while self.sent.first_key_value().is_some_and(|(_, (end, _))| *end <= una) {
            self.sent.pop_first();
        }
        while self.grants.get(1).is_some_and(|(before, _)| *before <= una) {
            self.grants.pop_front();
        }
        finished
    }
}
