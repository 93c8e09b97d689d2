//! [`NetworkEvent`]: events of a network.

use crate::engine::{EventCode, tie_break_rank};
use shortflow_units::{Instant, PortId};

/// An event of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkEvent {
    /// Links fail or recover, at this step of the scenario's outages.
    LinkChange(u32),
    /// The packet at the head of this port's wire reaches the other end.
    Arrive(PortId),
    /// The transmitter of this port becomes free while packets wait.
    TransmitDone(PortId),
    /// A packet that a fault has delayed on this port's wire reaches the other end.
    Release(PortId),
    /// A frame that pauses or resumes data reaches this port from the other end of its link.
    Pause(PortId),
}

impl NetworkEvent {
    /// The port from which a packet arrives.
    #[inline]
    pub fn source(self) -> Option<PortId> {
        match self {
            NetworkEvent::Arrive(port) | NetworkEvent::Release(port) => Some(port),
            NetworkEvent::LinkChange(_) | NetworkEvent::TransmitDone(_) | NetworkEvent::Pause(_) => None,
        }
    }

    /// The event of a channel.
    #[inline(always)]
    pub fn on_channel(channel: u32) -> NetworkEvent {
        let port = PortId(channel >> 1);
        if channel & 1 == 0 { NetworkEvent::Arrive(port) } else { NetworkEvent::TransmitDone(port) }
    }
}

/// Flag that distinguishes a pause frame from a delayed packet. Ports with these events have numbers below
/// 2²⁸.
const PAUSE: u32 = 1 << 28;
/// Bits of an event's number.
const NUMBER: u32 = (1 << 29) - 1;

/// Two bits above a 29-bit number give the kind of event. The highest bit is 0; for changes of links, the
/// highest bit of the number is 0 too. The other values are free for the caller's events.
impl EventCode for NetworkEvent {
    #[inline(always)]
    fn pack(self) -> u32 {
        let (tag, number) = match self {
            NetworkEvent::LinkChange(step) => (0, step),
            NetworkEvent::Arrive(port) => (1, port.0),
            NetworkEvent::TransmitDone(port) => (2, port.0),
            NetworkEvent::Release(port) => (3, port.0),
            NetworkEvent::Pause(port) => (3, PAUSE | port.0),
        };
        debug_assert!(number <= NUMBER, "{self:?}");
        tag << 29 | number & NUMBER // the mask changes no number, but tells the compiler the tag's bits
    }

    #[inline]
    fn unpack(bits: u32) -> NetworkEvent {
        let number = bits & NUMBER;
        match bits >> 29 {
            0 => NetworkEvent::LinkChange(number),
            1 => NetworkEvent::Arrive(PortId(number)),
            2 => NetworkEvent::TransmitDone(PortId(number)),
            _ if number & PAUSE > 0 => NetworkEvent::Pause(PortId(number & !PAUSE)),
            _ => NetworkEvent::Release(PortId(number)),
        }
    }

    /// Simultaneous events of ports are ordered by a hash.
    fn rank(bits: u32, at: Instant) -> u32 {
        if bits >> 29 == 0 { bits } else { tie_break_rank(bits, at) }
    }

    /// Changes of links precede packets.
    fn precedes_nodes(bits: u32) -> bool {
        bits >> 29 == 0
    }

    fn is_barrier(_: u32) -> bool {
        true
    }

    fn is_local(_: u32) -> bool {
        false
    }

    /// A port has two channels: its next arrival, and the end of its transmission.
    #[inline(always)]
    fn channel(bits: u32) -> Option<u32> {
        let (tag, port) = (bits >> 29, bits & NUMBER);
        (tag == 1 || tag == 2).then(|| (port << 1) | (tag - 1))
    }

    #[inline(always)]
    fn of_channel(channel: u32) -> u32 {
        NetworkEvent::on_channel(channel).pack()
    }
}

/// Events of a caller, which include the events of the network.
pub trait WithNetwork: EventCode + From<NetworkEvent> {}

impl<E: EventCode + From<NetworkEvent>> WithNetwork for E {}
