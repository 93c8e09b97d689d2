//! [`Paths`]: the ports that packets of a connection cross, computed once when it begins, one cache line each. Connections whose
//! packets may take several paths, or whose path has more than [`LONGEST`] links, have none and are routed hop by hop.

use crate::engine::prefetch;
use crate::packet::Packet;
use shortflow_units::{ConnId, PortId};

/// Start of the way back.
pub const REVERSE: u8 = 8;
/// Links of the longest path that fits, one way.
const LONGEST: usize = 7;
/// Marks a slot without a connection.
const NO_CONNECTION: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Path {
    flow_id: u32,
    /// From sender to receiver; the way back begins at [`REVERSE`].
    ports: [PortId; 15],
}

/// Bytes of a connection's path.
pub const BYTES_PER_PATH: usize = size_of::<Path>();

/// Paths by slot of the connection. A closed one keeps its path for late packets until its slot is reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Paths(Vec<Path>);

impl Paths {
    /// Sets the path of the connection in a slot, or clears that of the one before.
    pub fn keep(&mut self, (conn, flow_id): (ConnId, u32), ways: Option<[Vec<PortId>; 2]>) {
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

    /// Next port of a packet, if its connection has a path.
    #[inline(always)]
    pub fn next(&self, packet: &Packet) -> Option<PortId> {
        let path = self.0.get(packet.conn.index())?;
        if path.flow_id == packet.flow_id { path.ports.get(usize::from(packet.hop)).copied() } else { None }
    }

    /// Prefetches the path of a packet.
    #[inline]
    pub fn prefetch(&self, packet: &Packet) {
        self.0.get(packet.conn.index()).into_iter().for_each(|path| prefetch(path, 1));
    }
}
