//! Identity of an endpoint, and its access to time and TCP settings.

use super::Turn;
use crate::packet::{EcnField, Packet, PacketType};
use crate::specs::TcpSpec;
use shortflow_units::{Bytes, ConnId, HostId, Instant, Span};

/// Identity of one end of a connection, and of its peer.
#[derive(Debug, Clone, Copy)]
pub struct EndpointId {
    /// Slot of the connection.
    pub conn: ConnId,
    /// Flow id of the connection.
    pub flow_id: u32,
    /// Host of the peer.
    pub peer: HostId,
    /// Index in the connection's path at which this endpoint's direction starts: 0, or
    /// [`REVERSE`](crate::net::REVERSE).
    pub way: u8,
}

impl EndpointId {
    /// The turn by which an agent names this connection.
    pub fn turn(&self) -> Turn {
        Turn { conn: self.conn, flow_id: self.flow_id }
    }

    /// An ACK without payload, which is not ECN-capable (RFC 3168 §6.1.4).
    #[inline]
    pub fn control(&self, seq: u64, tcp: &TcpSpec) -> Packet {
        Packet {
            seq,
            waited: Span::ZERO,
            in_switches: 0.0,
            priority: 0,
            conn: self.conn,
            flow_id: self.flow_id,
            to: self.peer,
            payload: 0,
            wire: tcp.frame(Bytes::ZERO).get() as u16,
            extension: None,
            kind: PacketType::Ack,
            ecn: EcnField::NotEct,
            ecn_flag: false,
            hop: self.way,
        }
    }
}

/// Present time and TCP settings.
#[derive(Debug, Clone, Copy)]
pub struct EndpointContext<'a> {
    /// The present time.
    pub now: Instant,
    /// Packet sizes, timeouts and rules for ACKs.
    pub tcp: &'a TcpSpec,
}
