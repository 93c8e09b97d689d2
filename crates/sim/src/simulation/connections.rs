//! The connection table: slots that are used again, and timers that are re-armed lazily.

use crate::specs::TcpSpec;
use crate::tcp::priority::PriorityRule;
use crate::tcp::{Identity, Receiver, Sender};
use shortflow_cc::{Recovery, TransportConfig};
use shortflow_units::{ConnId, HostId, Instant, Span};

/// A timer with at most one live event. Moving its deadline back costs nothing: the event finds out
/// when it fires.
#[derive(Debug, Clone, Copy)]
pub struct LazyTimer(Instant);

/// What a timer event means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fired {
    /// The deadline has come.
    Due,
    /// Not yet, or an earlier event took its place.
    Early,
}

impl LazyTimer {
    const IDLE: LazyTimer = LazyTimer(Instant::MAX);

    /// When an event must be scheduled so that none comes after `deadline`.
    #[inline]
    pub fn arm(&mut self, deadline: Option<Instant>) -> Option<Instant> {
        let deadline = deadline.filter(|deadline| *deadline < self.0)?;
        self.0 = deadline;
        Some(deadline)
    }

    /// An event of this timer happens.
    pub fn fire(&mut self, now: Instant, deadline: Option<Instant>) -> Fired {
        if self.0 == now {
            self.0 = Instant::MAX;
        }
        match deadline {
            Some(deadline) if deadline <= now => Fired::Due,
            _ => Fired::Early,
        }
    }
}

/// Both ends of a connection.
#[derive(Debug)]
pub struct Connection {
    /// Its number; connections are numbered in order of their first flow.
    pub flow_id: u32,
    /// Host of the sender.
    pub source: HostId,
    /// Host of the receiver.
    pub destination: HostId,
    /// Stays open when idle.
    pub persistent: bool,
    /// Carries flows of applications, which want to know when they arrive.
    pub awaited: bool,
    /// Sending end.
    pub sender: Sender,
    /// Receiving end.
    pub receiver: Receiver,
    /// Retransmission timer.
    pub retransmit: LazyTimer,
    /// Delayed-ACK timer.
    pub delayed_ack: LazyTimer,
}

/// All connections.
#[derive(Debug, Default)]
pub struct Connections {
    slots: Vec<Connection>,
    free: Vec<ConnId>,
    opened: u32,
    open: u64,
    peak: u64,
}

impl Connections {
    /// The number of the next connection.
    pub fn next_flow_id(&self) -> u32 {
        self.opened
    }

    /// Opens a connection from `source` to `destination`.
    pub fn open(
        &mut self,
        (source, destination): (HostId, HostId),
        persistent: bool,
        (transport, priority): (&TransportConfig, PriorityRule),
        tcp: &TcpSpec,
        initial_rto: Span,
    ) -> ConnId {
        let flow_id = self.opened;
        self.opened = self.opened.wrapping_add(1);
        self.open += 1;
        self.peak = self.peak.max(self.open);
        let conn = self.free.pop().unwrap_or_else(|| ConnId::from(self.slots.len()));
        let identity = |peer| Identity { conn, flow_id, peer };
        let connection = Connection {
            flow_id,
            source,
            destination,
            persistent,
            awaited: false,
            sender: Sender::new(identity(destination), transport, tcp, initial_rto).with_priority(priority),
            receiver: Receiver::new(
                identity(source),
                transport.ecn(),
                transport.recovery() == Recovery::Sack,
            ),
            retransmit: LazyTimer::IDLE,
            delayed_ack: LazyTimer::IDLE,
        };
        match self.slots.get_mut(conn.index()) {
            Some(slot) => *slot = connection,
            None => self.slots.push(connection),
        }
        conn
    }

    /// Closes a connection: packets of it that still arrive are late.
    pub fn close(&mut self, conn: ConnId) {
        self.slots[conn.index()].flow_id = u32::MAX;
        self.free.push(conn);
        self.open -= 1;
    }

    /// The connection in a slot.
    #[inline]
    pub fn slot(&mut self, conn: ConnId) -> &mut Connection {
        &mut self.slots[conn.index()]
    }

    /// The connection numbered `flow_id`, if it is still open.
    #[inline]
    pub fn get(&mut self, conn: ConnId, flow_id: u32) -> Option<&mut Connection> {
        self.slots.get_mut(conn.index()).filter(|connection| connection.flow_id == flow_id)
    }

    /// Every open connection.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.slots.iter_mut().filter(|connection| connection.flow_id != u32::MAX)
    }

    /// Most connections that were open at once.
    pub fn peak(&self) -> u64 {
        self.peak
    }
}
