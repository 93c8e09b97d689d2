//! The packet: a small `Copy` value, so that queues and wires hold packets and nothing points to them.

use shortflow_units::{Bytes, ConnId, HostId, Span};

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnField {
    /// Not ECN-capable: never marked.
    NotEct,
    /// ECN-capable transport.
    Ect,
    /// Congestion experienced.
    Ce,
}

/// What a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Payload, from sender to receiver.
    Data,
    /// Acknowledgement, from receiver to sender.
    Ack,
    /// Connection request.
    Syn,
    /// Answer to it.
    SynAck,
}

/// Up to three SACK blocks (RFC 2018 with timestamps leaves room for three), as offsets from the
/// cumulative acknowledgement; the most recent first, unused ones empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks([(u32, u32); 3]);

impl SackBlocks {
    /// The first three of `ranges` above `ack`. Blocks that begin 4 GB or more above it are left out.
    pub fn new(ack: u64, ranges: &[(u64, u64)]) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let offset = |seq: u64| u32::try_from(seq - ack).ok();
        let fitting = ranges.iter().filter_map(|&(start, end)| Some((offset(start)?, offset(end)?)));
        for (slot, block) in blocks.0.iter_mut().zip(fitting) {
            *slot = block;
        }
        blocks
    }

    /// True when there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0] == (0, 0)
    }

    /// The blocks as sequence ranges `start..end`.
    pub fn ranges(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let used = self.0.iter().take_while(|block| **block != (0, 0));
        used.map(move |&(start, end)| (ack + u64::from(start), ack + u64::from(end)))
    }
}

/// A packet on its way.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// Data: first payload byte. ACK: next byte expected.
    pub seq: u64,
    /// Time spent waiting in queues so far.
    pub waited: Span,
    /// Rank among waiting packets, for queues that reorder: lower leaves sooner.
    pub priority: u64,
    /// Slot of its connection.
    pub conn: ConnId,
    /// Number of its connection, never reused: tells a late packet from one of the slot's next user, and
    /// chooses among equal paths.
    pub flow_id: u32,
    /// Where it goes.
    pub to: HostId,
    /// Payload bytes.
    pub payload: u32,
    /// Bytes on the wire.
    pub wire: u32,
    /// Selective acknowledgements, of an ACK.
    pub sack: SackBlocks,
    /// What it is.
    pub kind: Kind,
    /// ECN field.
    pub ecn: EcnField,
    /// ECN-Echo flag of the TCP header.
    pub ece: bool,
    /// CWR flag of the TCP header.
    pub cwr: bool,
}

impl Packet {
    /// Bytes on the wire.
    #[inline]
    pub fn wire_size(&self) -> Bytes {
        Bytes::new(u64::from(self.wire))
    }

    /// What identifies its flow to a switch: packets of one connection in one direction.
    #[inline]
    pub fn flow(&self) -> u32 {
        self.flow_id
    }

    /// Sets CE if the transport is ECN-capable; tells whether the packet is marked now.
    #[inline]
    pub fn mark(&mut self) -> bool {
        if self.ecn == EcnField::NotEct {
            return false;
        }
        self.ecn = EcnField::Ce;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small() {
        assert!(size_of::<Packet>() <= 72, "{}", size_of::<Packet>());
    }

    #[test]
    fn blocks_survive_the_trip() {
        let ranges = [(3000, 4460), (8840, 10300), (11760, 13220), (20000, 21460)];
        let blocks = SackBlocks::new(1460, &ranges);
        assert_eq!(blocks.ranges(1460).collect::<Vec<_>>(), ranges[..3]);
        assert!(SackBlocks::new(0, &[]).is_empty());
        assert!(SackBlocks::new(0, &[(1 << 33, (1 << 33) + 1)]).is_empty());
    }
}
