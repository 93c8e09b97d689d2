//! [`Accounts`]: the causes of each flow's completion time, to the picosecond.
//!
//! An account is the critical path of the packet that completes the flow, from the start of the flow. Each
//! packet has a course, which is its critical path so far. Each instant of a course has one cause:
//!
//! - **At a port**, a packet that waits behind a packet of its own flow and direction takes the course of
//!   that packet up to its departure, because the link was busy with the flow. The rest of the wait is
//!   queueing behind other packets, or a pause of the port. Transmission, propagation, and delays of the host
//!   or of faults follow.
//! - **A packet from the receiver** has the course of the last data that arrived before it.
//! - **New data** has the course of the event that permitted it: the start of the flow, the acknowledgement
//!   that opened the window, or the grant. The round trip of an acknowledgement or grant becomes an earlier
//!   round. If a pacer, a small queue or an agent held the data, the data has the course of the packet before
//!   it.
//! - **Retransmitted data** has the course of the lost packet up to its hand-over. The time since then is
//!   loss recovery, or timeout.
//! - **Data after an acknowledgement of another message** has waited for that message since the start of its
//!   own flow.
//!
//! A packet that waits at the receiver for a missing packet is never on the critical path, but the missing
//! packet is.

mod course;
mod line;
mod sender;

pub use course::{Cause, FlowAccount, InFront, PARTS, PLACES, Passage, Round, Step, parts};

use crate::packet::{Packet, PacketType};
use crate::queue::DropReason;
pub use line::LinkEnd;
use line::{Line, Waiting, lines, stream};
use sender::{Connection, Message, Prompt};
use shortflow_units::{Bytes, FlowId, Instant, PortId};
use std::collections::BTreeMap;

/// Choice of accounts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Explained {
    /// Row in the flow table of the flow whose steps are recorded.
    pub traced: Option<FlowId>,
}

/// State of a sender after an event.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standing {
    /// First unacknowledged byte.
    pub una: u64,
    /// One past the last granted byte, if there are grants.
    pub permitted: Option<u64>,
}

/// A packet in flight: at a port, or at no port during an event or on a link.
#[derive(Debug, Clone)]
struct Flight {
    port: Option<PortId>,
    waiting: Waiting,
    /// Cause of an arrival that is later than the propagation delay.
    late: Cause,
}

/// Number of the connection, type and sequence number of a packet, and a number that distinguishes copies.
type FlightKey = (u32, u8, u64, u64);

/// A packet that its host has just sent.
#[derive(Debug, Clone)]
struct Fresh {
    at: Instant,
    port: PortId,
    packet: Packet,
    dropped: bool,
}

/// Accounts of all flows of a run.
#[derive(Debug, Clone)]
pub struct Accounts {
    explained: Explained,
    lines: Vec<Line>,
    connections: BTreeMap<u32, Connection>,
    flights: BTreeMap<FlightKey, Flight>,
    copies: u64,
    /// Packets sent during the present event, and the prompt of this event.
    fresh: Vec<Fresh>,
    prompt: Prompt,
    finished: Vec<FlowAccount>,
}

impl Accounts {
    /// Empty accounts, for a network with these ports. Frames are `gap` bytes apart.
    pub fn new(explained: Explained, ports: &[LinkEnd], hosts: usize, gap: Bytes) -> Accounts {
        Accounts {
            explained,
            lines: lines(ports, hosts, gap),
            connections: BTreeMap::new(),
            flights: BTreeMap::new(),
            copies: 0,
            fresh: Vec::new(),
            prompt: Prompt::Unknown,
            finished: Vec::new(),
        }
    }

    /// Takes the accounts of flows that have finished since the last call.
    pub fn take(&mut self) -> Vec<FlowAccount> {
        std::mem::take(&mut self.finished)
    }

    /// Starts a flow with bytes `first..end` of its connection. `flow` is the row of the flow; `None` for a
    /// backlogged flow, or without a row.
    pub fn begin(
        &mut self,
        now: Instant,
        connection: u32,
        (first, end): (u64, u64),
        flow: Option<FlowId>,
        permitted: Option<u64>,
    ) {
        self.settle();
        self.prompt = Prompt::Start;
        let of = self.connections.entry(connection).or_insert_with(|| Connection::new(first));
        of.permitted = of.permitted.max(permitted);
        let traced = flow.is_some() && flow == self.explained.traced;
        of.messages.push_back(Message { first, end, flow, start: now, traced, heard: None });
    }

    /// Records that a packet reaches its host. The answer of the host follows.
    pub fn arrive(&mut self, now: Instant, packet: &Packet) {
        self.settle();
        let flight = self.find(packet, None).and_then(|key| self.flights.remove(&key));
        let course = flight.map(|flight| flight.waiting.course.to(flight.late, now));
        self.prompt = Prompt::Arrival(packet.kind, course.clone().map(Box::new));
        let Some(of) = self.connections.get_mut(&packet.flow_id) else { return };
        if !packet.kind.is_answer() {
            if let Some(message) = of.message_mut(packet.seq) {
                message.heard.clone_from(&course);
            }
            of.heard = course;
        }
    }

    /// Records that the packet has been answered. `standing` is the state of the connection's sender.
    pub fn answered(&mut self, now: Instant, connection: u32, standing: Standing) {
        let Some(of) = self.connections.get_mut(&connection) else { return };
        let arrived = match &self.prompt {
            Prompt::Arrival(_, course) => course.as_deref().cloned(),
            _ => None,
        };
        of.permit(standing.permitted, arrived.as_ref());
        self.finished.extend(of.finish(now, standing.una, arrived));
        if of.messages.is_empty() {
            let port = of.port;
            self.settle();
            self.connections.remove(&connection);
            port.into_iter().for_each(|port| self.lines[port.index()].close((connection, false)));
        }
    }

    /// Records that a timer of a connection runs, which ends a wait for `cause`.
    pub fn wake(&mut self, cause: Cause) {
        self.settle();
        self.prompt = Prompt::Timer(cause);
    }

    /// Records that this timer was the retransmission timer.
    pub fn timed_out(&mut self, now: Instant, connection: u32) {
        if let Some(of) = self.connections.get_mut(&connection) {
            of.timed_out = Some(now);
        }
    }

    /// Records that a host's agent names a connection.
    pub fn turn(&mut self) {
        self.settle();
        self.prompt = Prompt::Turn;
    }

    /// Records that a packet reaches a port at `at`. `dropped` has the packets that were dropped for it, or
    /// the packet itself.
    pub fn enqueue(
        &mut self,
        (at, port, of_host): (Instant, PortId, bool),
        packet: &Packet,
        dropped: &[(DropReason, Packet)],
    ) {
        let is_it = |other: &Packet| {
            (other.flow_id, other.kind, other.seq, other.priority)
                == (packet.flow_id, packet.kind, packet.seq, packet.priority)
        };
        let lost = dropped.iter().any(|(_, other)| is_it(other));
        if of_host {
            self.fresh.push(Fresh { at, port, packet: packet.clone(), dropped: lost });
        } else {
            self.settle();
            let key = self.find(packet, None);
            if lost {
                key.and_then(|key| self.flights.remove(&key));
            } else if let Some(flight) = key.and_then(|key| self.flights.get_mut(&key)) {
                flight.port = Some(port);
                let course = flight.waiting.course.clone();
                flight.waiting.course = course.to(flight.late, at);
                let traced = flight.waiting.course.is_traced();
                self.lines[port.index()].arrive(stream(packet), traced);
            }
        }
        dropped.iter().filter(|(_, other)| !is_it(other)).for_each(|(_, other)| self.lose(Some(port), other));
    }

    /// Records that a packet is lost at a port, or after it has left the port.
    pub fn lose(&mut self, port: Option<PortId>, packet: &Packet) {
        self.settle();
        if let Some(key) = port.and_then(|port| self.find(packet, Some(port))) {
            let flight = self.flights.remove(&key);
            let traced = flight.is_some_and(|flight| flight.waiting.course.is_traced());
            port.into_iter().for_each(|port| self.lines[port.index()].leave(stream(packet), traced));
        } else if let Some(key) = self.find(packet, None) {
            self.flights.remove(&key);
        }
    }

    /// Records that a waiting packet is trimmed at a port.
    pub fn trim(&mut self, port: PortId, packet: &Packet) {
        self.settle();
        let key = self.find(packet, Some(port));
        if let Some((key, flight)) = key.and_then(|key| self.flights.remove_entry(&key)) {
            self.flights.insert((key.0, PacketType::Trimmed as u8, key.2, key.3), flight);
        }
    }

    /// Records that the header of trimmed data leaves its queue at a port, to return to its sender.
    pub fn turn_round(&mut self, port: PortId, header: &Packet) {
        let trimmed = Packet { kind: PacketType::Trimmed, ..header.bare() };
        if let Some((key, mut flight)) =
            self.find(&trimmed, Some(port)).and_then(|key| self.flights.remove_entry(&key))
        {
            self.lines[port.index()].leave(stream(&trimmed), flight.waiting.course.is_traced());
            flight.port = None;
            self.flights.insert((key.0, PacketType::Returned as u8, key.2, key.3), flight);
        }
    }

    /// Records that the last bit of a packet left a port at `at`.
    pub fn depart(&mut self, at: Instant, port: PortId, packet: &Packet) {
        self.settle();
        let key = self.find(packet, Some(port));
        let waiting = key.and_then(|key| self.flights.get(&key)).map(|flight| flight.waiting.clone());
        let flow = self.connections.get(&packet.flow_id).and_then(|of| of.flow_of(packet));
        let line = &mut self.lines[port.index()];
        let course = line.depart((at, port), packet, flow, waiting);
        let passage = Passage { port: Some(port), packet: Some((packet.kind, packet.seq)) };
        let arrives = at + line.delay;
        let late = if line.is_of_host() { Cause::HostDelay } else { Cause::WireDelay };
        if let Some((flight, course)) = key.and_then(|key| self.flights.get_mut(&key)).zip(course) {
            let course = course.through(Cause::Propagation, arrives, passage, Vec::new());
            *flight = Flight { port: None, waiting: Waiting { course, held: None }, late };
        }
    }

    /// First copy of a packet at `port`, or at no port.
    fn find(&self, packet: &Packet, port: Option<PortId>) -> Option<FlightKey> {
        let (number, kind, seq) = (packet.flow_id, packet.kind as u8, packet.seq);
        let copies = self.flights.range((number, kind, seq, 0)..=(number, kind, seq, u64::MAX));
        copies.filter(|(_, flight)| flight.port == port).map(|(key, _)| *key).next()
    }

    /// Sets the courses of the packets that were sent during the last event.
    fn settle(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        for Fresh { at, port, packet, dropped } in std::mem::take(&mut self.fresh) {
            let Some(of) = self.connections.get_mut(&packet.flow_id) else { continue };
            if !packet.kind.is_answer() {
                of.port = Some(port);
            }
            let Some(waiting) = of.send(at, &packet, &self.prompt) else { continue };
            if dropped {
                continue;
            }
            self.lines[port.index()].arrive(stream(&packet), waiting.course.is_traced());
            self.copies += 1;
            let key = (packet.flow_id, packet.kind as u8, packet.seq, self.copies);
            self.flights.insert(key, Flight { port: Some(port), waiting, late: Cause::HostDelay });
        }
    }
}
