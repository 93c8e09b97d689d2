//! [`Event`]: everything that happens in a run.

use crate::engine::Pack;
use crate::net::NetworkEvent;
use shortflow_units::ConnId;

/// Everything that happens in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Something happens in the network.
    Network(NetworkEvent),
    /// The retransmission timer of a connection may have expired.
    Retransmit(ConnId),
    /// The delayed-ACK timer of a connection may have expired.
    DelayedAck(ConnId),
    /// The next flow of this traffic source starts.
    FlowStart(u32),
    /// Probes take a sample.
    Sample,
    /// The warm-up ends.
    WarmUpEnd,
    /// The measured time ends.
    MeasureEnd,
}

impl From<NetworkEvent> for Event {
    #[inline]
    fn from(event: NetworkEvent) -> Event {
        Event::Network(event)
    }
}

/// The three bits above a 29-bit number say which event it is. Those of the network have the first of them clear,
/// and those that happen once or at intervals have the same three.
impl Pack for Event {
    #[inline]
    fn pack(self) -> u32 {
        let (tag, number) = match self {
            Event::Network(event) => return event.pack(),
            Event::Retransmit(conn) => (4, conn.0),
            Event::DelayedAck(conn) => (5, conn.0),
            Event::FlowStart(source) => (6, source),
            Event::Sample => (7, 0),
            Event::WarmUpEnd => (7, 1),
            Event::MeasureEnd => (7, 2),
        };
        tag << 29 | number
    }

    #[inline]
    fn unpack(bits: u32) -> Event {
        if bits >> 31 == 0 {
            return Event::Network(NetworkEvent::unpack(bits));
        }
        let number = bits & ((1 << 29) - 1);
        match (bits >> 29, number) {
            (4, conn) => Event::Retransmit(ConnId(conn)),
            (5, conn) => Event::DelayedAck(ConnId(conn)),
            (6, source) => Event::FlowStart(source),
            (_, 0) => Event::Sample,
            (_, 1) => Event::WarmUpEnd,
            _ => Event::MeasureEnd,
        }
    }
}
