//! An end of a connection, and what it knows of its host.

use super::Turn;
use crate::packet::{EcnField, Packet, PacketType};
use crate::specs::TcpSpec;
use shortflow_units::{Bytes, ConnId, HostId, Instant, Span};

/// Identity of a host in a connection, and its peer.
#[derive(Debug, Clone, Copy)]
pub struct EndpointId {
    /// Slot of the connection.
    pub conn: ConnId,
    /// Its number.
    pub flow_id: u32,
    /// The other host.
    pub peer: HostId,
    /// Start of the direction on the connection's path: 0, or [`REVERSE`](crate::net::REVERSE).
    pub way: u8,
}

impl EndpointId {
    /// What an agent needs to name this connection.
    pub fn turn(&self) -> Turn {
        Turn { conn: self.conn, flow_id: self.flow_id }
    }

    /// An ACK without payload, not ECN-capable (RFC 3168 §6.1.4).
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

/// Current time and host configuration.
#[derive(Debug, Clone, Copy)]
pub struct EndpointContext<'a> {
    /// The present time.
    pub now: Instant,
    /// Sizes of packets, timeouts and acknowledgements.
    pub tcp: &'a TcpSpec,
}
