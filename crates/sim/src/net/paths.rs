//! [`Paths`]: ports on the path of a connection, computed once when the connection begins, in one cache line.
//! Connections without a stored path are routed hop by hop: those whose packets may take several paths, and
//! those with a path of more than [`LONGEST`] links.

use crate::engine::prefetch;
use crate::packet::Packet;
use shortflow_units::{ConnId, PortId};

/// Index at which the reverse path starts.
pub(crate) const REVERSE: u8 = 8;
/// Largest number of links, in one direction, of a stored path.
const LONGEST: usize = 7;
/// Flow id of a slot without a connection.
const NO_CONNECTION: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Path {
    flow_id: u32,
    /// Path from sender to receiver; the reverse path starts at [`REVERSE`].
    ports: [PortId; 15],
}

/// Size in bytes of a connection's path.
pub(crate) const BYTES_PER_PATH: usize = size_of::<Path>();

/// Paths by slot of the connection. A closed connection keeps its path, for late packets, until its slot is
/// reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Paths(Vec<Path>);

impl Paths {
    /// Sets the path of the connection in a slot, or clears the path of the previous connection.
    pub(super) fn keep(&mut self, (conn, flow_id): (ConnId, u32), ways: Option<[Vec<PortId>; 2]>) {
        let mut path = Path { flow_id: NO_CONNECTION, ports: [PortId(0); 15] };
        if let Some(ways) = ways.filter(|ways| ways.iter().all(|way| way.len() <= LONGEST)) {
            path.flow_id = flow_id;
            for (start, way) in [0, usize::from(REVERSE)].into_iter().zip(ways) {
                path.ports[start..][..way.len()].copy_from_slice(&way);
            }
        }
        if self.0.len() <= conn.index() {
            self.0.resize(conn.index() + 1, Path { flow_id: NO_CONNECTION, ..path });
        }
        self.0[conn.index()] = path;
    }

    /// Next port of a packet, if its connection has a stored path.
    #[inline(always)]
    pub(super) fn next(&self, packet: &Packet) -> Option<PortId> {
        let path = self.0.get(packet.conn.index())?;
        if path.flow_id == packet.flow_id { path.ports.get(usize::from(packet.hop)).copied() } else { None }
    }

    /// Prefetches the path of a packet.
    #[inline]
    pub(super) fn prefetch(&self, packet: &Packet) {
        self.0.get(packet.conn.index()).into_iter().for_each(|path| prefetch(path, 1));
    }
}
