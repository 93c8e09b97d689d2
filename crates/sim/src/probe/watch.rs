//! A [`PacketTracer`] records the events of chosen packets.

use super::account::{Accounts, Cause, FlowAccount, Standing};
use crate::packet::{EcnField, Packet, PacketType};
use crate::queue::{Backlog, DropReason};
use shortflow_cc::Host;
use shortflow_units::{ClassId, FlowId, HostId, Instant, PortId, Span};
use std::collections::BTreeSet;
use std::ops::Range;

/// Kind of packet or sender event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketEventKind {
    /// The sender handed the packet to the port of its host.
    Sent,
    /// A port of a switch accepted the packet.
    Enqueued,
    /// A port set CE. For a port with a scheduler, the event has the time of the packet's departure.
    Marked,
    /// The packet was dropped.
    Dropped(DropReason),
    /// A port trimmed the packet's payload.
    Trimmed,
    /// A switch sends the packet's header back to the sender of its data.
    Returned,
    /// The last bit of the packet has left a port.
    Departed,
    /// The packet has reached the other end of its connection.
    Delivered,
    /// An ACK or NACK has reached the sender, which has answered it.
    Acked,
    /// The sender's retransmission timer has expired.
    TimedOut,
    /// A port has sent a frame of priority flow control that pauses this priority at the other end.
    Pause(u8),
    /// A port has sent a frame that resumes this priority at the other end.
    Resume(u8),
}

impl PacketEventKind {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            PacketEventKind::Sent => "sent",
            PacketEventKind::Enqueued => "enqueued",
            PacketEventKind::Marked => "marked",
            PacketEventKind::Dropped(_) => "dropped",
            PacketEventKind::Trimmed => "trimmed",
            PacketEventKind::Returned => "returned",
            PacketEventKind::Departed => "departed",
            PacketEventKind::Delivered => "delivered",
            PacketEventKind::Acked => "ack",
            PacketEventKind::TimedOut => "timeout",
            PacketEventKind::Pause(_) => "pause",
            PacketEventKind::Resume(_) => "resume",
        }
    }
}

/// Flows whose packets are recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowChoice {
    /// Flows in these rows of the flow table.
    pub rows: Vec<Range<u32>>,
    /// Flows of these classes.
    pub classes: Vec<ClassId>,
}

impl FlowChoice {
    fn has(&self, flow: FlowId, class: ClassId) -> bool {
        self.classes.contains(&class) || self.rows.iter().any(|rows| rows.contains(&flow.0))
    }
}

/// Filter of packet events. The default matches no event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceFilter {
    /// All events of packets of these flows.
    pub flows: FlowChoice,
    /// All events at these ports.
    pub ports: Vec<PortId>,
    /// All frames of flow control.
    pub frames: bool,
    /// Time window.
    pub during: Range<Instant>,
}

/// An event of a packet, of a sender, or of flow control.
#[derive(Debug, Clone)]
pub struct PacketEvent {
    /// Time.
    pub at: Instant,
    /// Kind.
    pub kind: PacketEventKind,
    /// Port of the event; `None` at the ends of the connection, and at a node without a route.
    pub port: Option<PortId>,
    /// Backlog of the port after the event, if known.
    pub backlog: Option<Backlog>,
    /// Copy of the packet at the time of the event; `None` for a timeout, and for frames of flow control.
    pub packet: Option<Packet>,
    /// Host that sent the packet, or whose timer expired.
    pub source: HostId,
    /// Number of the connection; `None` for frames of flow control.
    pub connection: Option<u32>,
    /// Kind of hosts of the connection.
    pub host: Host,
    /// The flow, if it has a row in the flow table.
    pub flow: Option<FlowId>,
    /// True if the filter chooses the flow.
    pub chosen: bool,
    /// Congestion window in segments after the event, for an acknowledgement or a timeout.
    pub cwnd: Option<f64>,
}

/// A connection and its messages.
#[derive(Debug, Clone)]
struct Connection {
    ends: (HostId, HostId),
    host: Host,
    /// End of each message in the stream, its flow, and `true` if chosen.
    messages: Vec<(u64, Option<FlowId>, bool)>,
    chosen: bool,
}

/// Outcome of an arrival at a port.
#[derive(Debug)]
pub struct EnqueueRecord {
    /// Time.
    pub at: Instant,
    /// The port.
    pub port: PortId,
    /// True if the port is a host's.
    pub of_host: bool,
    /// True if the port has a scheduler.
    pub scheduled: bool,
    /// Copy of the packet before the arrival, if the filter matches it.
    pub packet: Option<Packet>,
    /// True if a port without a scheduler marked the packet.
    pub marked: bool,
    /// Packets that were dropped at the arrival.
    pub dropped: Vec<(DropReason, Packet)>,
    /// Packets that were trimmed at the arrival, with their payload.
    pub trimmed: Vec<Packet>,
    /// Backlog of the port after the arrival.
    pub backlog: Backlog,
}

/// Records events of packets until they are taken.
#[derive(Debug, Clone)]
pub struct PacketTracer {
    what: TraceFilter,
    /// Connections by number.
    connections: Vec<Connection>,
    /// Packets that arrived unmarked at a port with a scheduler.
    clean: BTreeSet<(PortId, u32, u64)>,
    noted: Vec<PacketEvent>,
    /// Longest time from a departure to its record.
    lag: Span,
    /// Accounts of completion times, if requested.
    accounts: Option<Box<Accounts>>,
}

impl PacketTracer {
    /// A tracer without records. `lag` is the longest delay of a link.
    pub fn new(what: TraceFilter, lag: Span) -> PacketTracer {
        PacketTracer {
            what,
            connections: Vec::new(),
            clean: BTreeSet::new(),
            noted: Vec::new(),
            lag,
            accounts: None,
        }
    }

    /// Also accounts for completion times.
    pub fn explain(&mut self, accounts: Accounts) {
        self.accounts = Some(Box::new(accounts));
    }

    /// The accounts, if requested.
    pub fn accounts(&mut self) -> Option<&mut Accounts> {
        self.accounts.as_deref_mut()
    }

    /// Accounts of flows that have finished since the last call.
    pub fn take_accounts(&mut self) -> Vec<FlowAccount> {
        self.accounts().map(Accounts::take).unwrap_or_default()
    }

    /// Adds the next connection, from the first host to the second.
    pub fn open(&mut self, ends: (HostId, HostId), host: Host) {
        self.connections.push(Connection { ends, host, messages: Vec::new(), chosen: false });
    }

    /// Adds a flow that ends at byte `end` of a connection's stream.
    pub fn begin(&mut self, connection: u32, end: u64, (flow, class): (Option<FlowId>, ClassId)) {
        let chosen = flow.is_some_and(|flow| self.what.flows.has(flow, class));
        let Some(of) = self.connections.get_mut(connection as usize) else { return };
        of.messages.push((end, flow, chosen));
        of.chosen |= chosen;
    }

    /// True if the filter matches a packet at a port, or if accounts need it. Without a port, only the flow
    /// is matched.
    pub fn wants(&self, port: Option<PortId>, packet: &Packet) -> bool {
        self.accounts.is_some()
            || port.is_some_and(|port| self.what.ports.contains(&port))
            || self.connections.get(packet.flow_id as usize).is_some_and(|of| of.chosen)
    }

    /// Reports to the accounts that a packet reaches its host. Returns the position of the packet's record,
    /// which is written after its consequences.
    pub fn arrives(&mut self, now: Instant, packet: &Packet) -> usize {
        self.accounts().into_iter().for_each(|accounts| accounts.arrive(now, packet));
        self.noted.len()
    }

    /// Reports to the accounts that a timer runs, which ends a wait for `cause`. Returns the position of its
    /// record.
    pub fn wakes(&mut self, cause: Cause) -> usize {
        self.accounts().into_iter().for_each(|accounts| accounts.wake(cause));
        self.noted.len()
    }

    /// Reports to the accounts that a flow starts with these bytes of its connection, which may send up to
    /// `permitted`. `row` is the row of the flow, if it has an account.
    pub fn starts(
        &mut self,
        now: Instant,
        connection: u32,
        bytes: (u64, u64),
        row: Option<FlowId>,
        permitted: Option<u64>,
    ) {
        if let Some(accounts) = self.accounts() {
            accounts.begin(now, connection, bytes, row, permitted);
        }
    }

    /// Reports to the accounts that a host's agent names a connection.
    pub fn turns(&mut self) {
        self.accounts().into_iter().for_each(Accounts::turn);
    }

    /// Reports to the accounts that the arriving packet was answered. `standing` is the state of the
    /// connection's sender.
    pub fn answered(&mut self, now: Instant, connection: u32, standing: Standing) {
        self.accounts().into_iter().for_each(|accounts| accounts.answered(now, connection, standing));
    }

    /// Records the arrival of a packet at a port.
    pub fn arrival(&mut self, arrival: EnqueueRecord) {
        let EnqueueRecord { at, port, of_host, scheduled, packet, marked, dropped, trimmed, backlog } =
            arrival;
        let is = |one: &Packet, other: &Packet| {
            (one.flow_id, one.seq, one.kind) == (other.flow_id, other.seq, other.kind)
        };
        if let Some((accounts, packet)) = self.accounts.as_deref_mut().zip(packet.as_ref()) {
            accounts.enqueue((at, port, of_host), packet, &dropped);
        }
        if let Some(mut packet) = packet {
            let gone = dropped.iter().any(|(_, each)| is(each, &packet));
            if of_host {
                self.note((at, PacketEventKind::Sent), Some(port), &packet, Some(backlog));
            } else if !gone {
                self.note((at, PacketEventKind::Enqueued), Some(port), &packet, Some(backlog));
            }
            if marked {
                packet.ecn = EcnField::Ce;
                self.note((at, PacketEventKind::Marked), Some(port), &packet, Some(backlog));
            } else if scheduled && packet.ecn == EcnField::Ect {
                self.clean.insert((port, packet.flow_id, packet.seq));
            }
        }
        for packet in trimmed {
            self.accounts().into_iter().for_each(|accounts| accounts.trim(port, &packet));
            self.clean.remove(&(port, packet.flow_id, packet.seq));
            self.note((at, PacketEventKind::Trimmed), Some(port), &packet, Some(backlog));
        }
        self.dropped(at, Some(port), dropped, Some(backlog));
    }

    /// Records drops.
    fn dropped(
        &mut self,
        at: Instant,
        port: Option<PortId>,
        dropped: impl IntoIterator<Item = (DropReason, Packet)>,
        backlog: Option<Backlog>,
    ) {
        for (reason, packet) in dropped {
            if let Some(port) = port {
                self.clean.remove(&(port, packet.flow_id, packet.seq));
            }
            self.note((at, PacketEventKind::Dropped(reason)), port, &packet, backlog);
        }
    }

    /// Records drops at a port or at a node that no arrival caused.
    pub fn lost(
        &mut self,
        at: Instant,
        port: Option<PortId>,
        dropped: Vec<(DropReason, Packet)>,
        backlog: Option<Backlog>,
    ) {
        if let Some(accounts) = self.accounts() {
            dropped.iter().for_each(|(_, packet)| accounts.lose(port, packet));
        }
        self.dropped(at, port, dropped, backlog);
    }

    /// Records that a switch sends a header back, for which `port` had no room.
    pub fn returned(&mut self, at: Instant, port: PortId, header: &Packet) {
        self.accounts().into_iter().for_each(|accounts| accounts.turn_round(port, header));
        self.note((at, PacketEventKind::Returned), Some(port), header, None);
    }

    /// Records that the last bit of a packet left a port at `at`.
    pub fn departed(&mut self, at: Instant, port: PortId, packet: &Packet) {
        self.accounts().into_iter().for_each(|accounts| accounts.depart(at, port, packet));
        let was_clean =
            packet.kind == PacketType::Data && self.clean.remove(&(port, packet.flow_id, packet.seq));
        if was_clean && packet.ecn == EcnField::Ce {
            self.note((at, PacketEventKind::Marked), Some(port), packet, None);
        }
        self.note((at, PacketEventKind::Departed), Some(port), packet, None);
    }

    /// Records that a packet has reached its host, whose window is then `cwnd`. The record is put at `place`,
    /// before its consequences.
    pub fn delivered(&mut self, at: Instant, packet: &Packet, cwnd: Option<f64>, place: usize) {
        let to_sender =
            self.connections.get(packet.flow_id as usize).is_some_and(|of| of.ends.0 == packet.to);
        let kind = match packet.kind {
            PacketType::Ack | PacketType::Nack if to_sender => PacketEventKind::Acked,
            _ => PacketEventKind::Delivered,
        };
        if self.note((at, kind), None, packet, None) {
            self.end(cwnd, place);
        }
    }

    /// Records that a sender's retransmission timer expired. The window is then `cwnd`, and `una` is the
    /// first unacknowledged byte. The record is put at `place`.
    pub fn timed_out(&mut self, at: Instant, connection: u32, una: u64, cwnd: Option<f64>, place: usize) {
        self.accounts().into_iter().for_each(|accounts| accounts.timed_out(at, connection));
        let Some(of) = self.connections.get(connection as usize) else { return };
        let (flow, chosen) = of.flow(una);
        if !chosen || !self.what.during.contains(&at) {
            return;
        }
        self.noted.push(PacketEvent {
            at,
            kind: PacketEventKind::TimedOut,
            port: None,
            backlog: None,
            packet: None,
            source: of.ends.0,
            connection: Some(connection),
            host: of.host,
            flow,
            chosen,
            cwnd: None,
        });
        self.end(cwnd, place);
    }

    /// Records that a frame of flow control, which pauses or resumes a priority, left a port at `at`.
    pub fn frame(&mut self, at: Instant, port: PortId, (priority, pauses): (u8, bool)) {
        let chosen = self.what.frames;
        if !(chosen || self.what.ports.contains(&port)) || !self.what.during.contains(&at) {
            return;
        }
        self.noted.push(PacketEvent {
            at,
            kind: if pauses { PacketEventKind::Pause(priority) } else { PacketEventKind::Resume(priority) },
            port: Some(port),
            backlog: None,
            packet: None,
            source: HostId::default(),
            connection: None,
            host: Host::Tcp,
            flow: None,
            chosen,
            cwnd: None,
        });
    }

    /// Sets the window of the last record, and moves the record to `place`.
    fn end(&mut self, cwnd: Option<f64>, place: usize) {
        self.noted.iter_mut().last().into_iter().for_each(|last| last.cwnd = cwnd);
        self.noted[place..].rotate_right(1);
    }

    /// Records an event if the filter matches it. Returns `true` if recorded.
    fn note(
        &mut self,
        (at, kind): (Instant, PacketEventKind),
        port: Option<PortId>,
        packet: &Packet,
        backlog: Option<Backlog>,
    ) -> bool {
        let Some(of) = self.connections.get(packet.flow_id as usize) else { return false };
        let from_sender = packet.to == of.ends.1;
        let (flow, chosen) = of.flow(if from_sender { packet.seq } else { packet.seq.saturating_sub(1) });
        let wanted = chosen || port.is_some_and(|port| self.what.ports.contains(&port));
        if !wanted || !self.what.during.contains(&at) {
            return false;
        }
        self.noted.push(PacketEvent {
            at,
            kind,
            port,
            backlog,
            packet: Some(packet.clone()),
            source: if from_sender { of.ends.0 } else { of.ends.1 },
            connection: Some(packet.flow_id),
            host: of.host,
            flow,
            chosen,
            cwnd: None,
        });
        true
    }

    /// Takes the records that no later record can precede, in order of time, if the time is `now`.
    pub fn take(&mut self, now: Instant) -> Vec<PacketEvent> {
        self.noted.sort_by_key(|event| event.at);
        let settled = self.noted.partition_point(|event| event.at + self.lag < now);
        let late = self.noted.split_off(settled);
        std::mem::replace(&mut self.noted, late)
    }
}

impl Connection {
    /// Flow of byte `seq` of the stream, and `true` if chosen.
    fn flow(&self, seq: u64) -> (Option<FlowId>, bool) {
        let message = self.messages.get(self.messages.partition_point(|message| message.0 <= seq));
        message.map_or((None, false), |&(_, flow, chosen)| (flow, chosen))
    }
}
