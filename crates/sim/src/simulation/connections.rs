//! The connection table. A new connection reuses the slot of a closed one.

use super::ends::Endpoints;
use crate::engine::prefetch;
use crate::host::{ConnectionSetup, EndpointId};
use crate::net::REVERSE;
use crate::packet::Packet;
use shortflow_cc::TransportConfig;
use shortflow_units::{ConnId, HostId};
use std::collections::BTreeMap;

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// Flow id. Connections are numbered in order of their first flows.
    pub flow_id: u32,
    /// Host of the sender.
    pub source: HostId,
    /// Host of the receiver.
    pub destination: HostId,
    /// True if the connection stays open when idle.
    pub persistent: bool,
    /// True if the connection carries flows of applications, which must be told of arrivals.
    pub has_app_waiter: bool,
    /// Both ends.
    pub ends: Endpoints,
}

/// Common properties of the flows of one persistent connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PersistentKey {
    /// Traffic entry; `None` if all entries share the connection.
    pub entry: Option<usize>,
    pub source: HostId,
    pub destination: HostId,
    /// Number among the connections of the entry between these hosts.
    pub number: u32,
    pub priority: u8,
}

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    slots: Vec<Connection>,
    persistent: BTreeMap<PersistentKey, ConnId>,
    free: Vec<ConnId>,
    opened: u32,
    open: u64,
    peak: u64,
}

impl Connections {
    /// Flow id of the next connection.
    pub(super) fn next_flow_id(&self) -> u32 {
        self.opened
    }

    /// True if there is memory for another connection.
    pub(super) fn has_room(&mut self) -> bool {
        !self.free.is_empty() || self.slots.try_reserve(1).is_ok()
    }

    /// The persistent connection of this key, if it is open.
    pub(super) fn persistent(&self, key: &PersistentKey) -> Option<ConnId> {
        self.persistent.get(key).copied()
    }

    /// Opens a connection from `source` to `destination`, which persists if it has a key.
    pub(super) fn open(
        &mut self,
        (source, destination): (HostId, HostId),
        key: Option<PersistentKey>,
        transport: &TransportConfig,
        setup: &ConnectionSetup<'_>,
    ) -> ConnId {
        let flow_id = self.opened;
        self.opened = self.opened.wrapping_add(1);
        self.open += 1;
        self.peak = self.peak.max(self.open);
        let conn = self.free.pop().unwrap_or_else(|| ConnId::from(self.slots.len()));
        let identity = |peer, way| EndpointId { conn, flow_id, peer, way };
        let connection = Connection {
            flow_id,
            source,
            destination,
            persistent: key.is_some(),
            has_app_waiter: false,
            ends: Endpoints::new([identity(destination, 0), identity(source, REVERSE)], transport, setup),
        };
        match self.slots.get_mut(conn.index()) {
            Some(slot) => *slot = connection,
            None => self.slots.push(connection),
        }
        if let Some(key) = key {
            self.persistent.insert(key, conn);
        }
        conn
    }

    /// Closes a connection. Packets that arrive later are discarded.
    pub(super) fn close(&mut self, conn: ConnId) {
        // No packet has this flow id, so late packets find no connection.
        self.slots[conn.index()].flow_id = u32::MAX;
        self.free.push(conn);
        self.open -= 1;
    }

    /// Prefetches the connection in a slot.
    pub(super) fn prefetch(&self, conn: ConnId) {
        self.slots
            .get(conn.index())
            .into_iter()
            .for_each(|slot| prefetch(slot, size_of::<Connection>().div_ceil(64)));
    }

    /// The connection in a slot.
    #[inline]
    pub(super) fn slot(&mut self, conn: ConnId) -> &mut Connection {
        &mut self.slots[conn.index()]
    }

    /// The connection with flow id `flow_id` in slot `conn`, if it is still open.
    #[inline]
    pub(super) fn get(&mut self, conn: ConnId, flow_id: u32) -> Option<&mut Connection> {
        self.slots.get_mut(conn.index()).filter(|connection| connection.flow_id == flow_id)
    }

    /// Adds a packet's wait at its host to its message. A scheduler's wait is unknown until the packet
    /// leaves.
    pub(super) fn count_wait(&mut self, packet: &Packet) {
        let connection = self.get(packet.conn, packet.flow_id).filter(|_| packet.payload > 0);
        if let Some(message) =
            connection.and_then(|connection| connection.ends.messages_mut().of_mut(packet.seq))
        {
            message.tally.waited_at_host += packet.waited;
        }
    }

    /// Every open connection, with its slot.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (ConnId, &mut Connection)> {
        let slots =
            self.slots.iter_mut().enumerate().map(|(slot, connection)| (ConnId::from(slot), connection));
        slots.filter(|(_, connection)| connection.flow_id != u32::MAX)
    }

    /// Merges the tables of other parts into the table of part 0. Each end comes from the part of its host.
    pub(super) fn join(&mut self, others: &mut [Connections], part_of: impl Fn(HostId) -> usize) {
        for (slot, connection) in self.slots.iter_mut().enumerate() {
            let (from, to) = (part_of(connection.source), part_of(connection.destination));
            // The sender's part has the valid copy of the sender. Part 0 takes that copy.
            if let Some(other) = from.checked_sub(1) {
                std::mem::swap(connection, &mut others[other].slots[slot]);
            }
            if from != to {
                let place = if to == 0 { from } else { to };
                connection.ends.take_receiver(&mut others[place - 1].slots[slot].ends);
            }
        }
    }

    /// Largest number of open connections.
    pub(super) fn peak(&self) -> u64 {
        self.peak
    }
}
