//! [`NetworkEvent`]: what happens in a network of itself.

use crate::engine::Pack;
use shortflow_units::PortId;

/// What happens in a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkEvent {
    /// The packet at the head of this port's wire reaches the other end.
    Arrive(PortId),
    /// The transmitter of this port is free while packets wait.
    TransmitDone(PortId),
    /// A packet that a fault has delayed on this port's wire reaches the other end.
    Release(PortId),
    /// Links fail or are back: this step of the scenario's outages.
    LinkChange(u32),
}

/// Two bits above a 29-bit number say which event it is. The highest bit is clear: the others are for the
/// events of whoever runs the network.
impl Pack for NetworkEvent {
    #[inline]
    fn pack(self) -> u32 {
        let (tag, number) = match self {
            NetworkEvent::Arrive(port) => (0, port.0),
            NetworkEvent::TransmitDone(port) => (1, port.0),
            NetworkEvent::Release(port) => (2, port.0),
            NetworkEvent::LinkChange(step) => (3, step),
        };
        tag << 29 | number
    }

    #[inline]
    fn unpack(bits: u32) -> NetworkEvent {
        let number = bits & ((1 << 29) - 1);
        match bits >> 29 {
            0 => NetworkEvent::Arrive(PortId(number)),
            1 => NetworkEvent::TransmitDone(PortId(number)),
            2 => NetworkEvent::Release(PortId(number)),
            _ => NetworkEvent::LinkChange(number),
        }
    }
}

/// The events of whoever runs a network, those of the network among them.
pub trait WithNetwork: Pack + From<NetworkEvent> {}

impl<E: Pack + From<NetworkEvent>> WithNetwork for E {}
