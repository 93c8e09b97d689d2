//! [`Backlog`]: contents of a port, and [`Room`] for more.

use shortflow_units::{Bytes, Occupancy};
use std::ops::{Add, Sub};

/// Contents of a port: the waiting packets and the packet in transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Number of packets.
    pub packets: u32,
    /// Bytes of the packets on the wire.
    pub bytes: Bytes,
}

impl Backlog {
    /// The largest backlog that `limit` allows.
    pub fn up_to(limit: Occupancy) -> Backlog {
        let (packets, bytes) = match limit {
            Occupancy::Packets(packets) => (packets, Bytes::MAX),
            Occupancy::Bytes(bytes) => (u32::MAX, bytes),
            Occupancy::Unlimited => (u32::MAX, Bytes::MAX),
        };
        Backlog { packets, bytes }
    }

    /// Adds a packet of `wire` bytes.
    #[inline]
    pub fn add(&mut self, wire: u16) {
        self.packets += 1;
        self.bytes += Bytes::new(wire.into());
    }

    /// Removes a packet of `wire` bytes.
    #[inline]
    pub fn remove(&mut self, wire: u16) {
        self.packets -= 1;
        self.bytes = self.bytes - Bytes::new(wire.into());
    }

    /// Raises each field to that of `other`, if the latter is larger.
    #[inline]
    pub fn rise(&mut self, other: Backlog) {
        self.packets = self.packets.max(other.packets);
        self.bytes = self.bytes.max(other.bytes);
    }

    /// The backlog with one more packet of `size`.
    #[inline]
    pub fn with(self, size: Bytes) -> Backlog {
        Backlog { packets: self.packets + 1, bytes: self.bytes.plus(size) }
    }

    /// True if neither packets nor bytes exceed `limits`.
    #[inline]
    pub fn is_within(&self, limits: Backlog) -> bool {
        self.packets <= limits.packets && self.bytes <= limits.bytes
    }

    /// The smaller of the two values in each field.
    pub fn least(self, other: Backlog) -> Backlog {
        Backlog { packets: self.packets.min(other.packets), bytes: self.bytes.min(other.bytes) }
    }

    /// True if the backlog is above `threshold`.
    #[inline]
    pub fn is_above(&self, threshold: Occupancy) -> bool {
        match threshold {
            Occupancy::Packets(packets) => self.packets > packets,
            Occupancy::Bytes(bytes) => self.bytes > bytes,
            Occupancy::Unlimited => false,
        }
    }
}

/// Room for an arriving packet.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Backlog that the packet finds in the port.
    pub found: Backlog,
    /// Limit of the port's backlog: its buffer, or its share of the switch's memory.
    pub limit: Occupancy,
}

impl Room {
    /// True if a packet of `size` fits.
    #[inline]
    pub fn fits(&self, size: Bytes) -> bool {
        match self.limit {
            Occupancy::Packets(packets) => self.found.packets < packets,
            Occupancy::Bytes(bytes) => self.found.bytes + size <= bytes,
            Occupancy::Unlimited => true,
        }
    }
}

impl Room {
    /// The room of one queue of the port, whose other queues hold `others`.
    pub fn without(self, others: Backlog) -> Room {
        let limit = match self.limit {
            Occupancy::Packets(packets) => Occupancy::Packets(packets.saturating_sub(others.packets)),
            Occupancy::Bytes(bytes) => Occupancy::Bytes(bytes.saturating_sub(others.bytes)),
            Occupancy::Unlimited => Occupancy::Unlimited,
        };
        Room { found: self.found - others, limit }
    }
}

impl Add for Backlog {
    type Output = Backlog;
    fn add(self, other: Backlog) -> Backlog {
        Backlog { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl Sub for Backlog {
    type Output = Backlog;
    fn sub(self, other: Backlog) -> Backlog {
        Backlog { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }
}
