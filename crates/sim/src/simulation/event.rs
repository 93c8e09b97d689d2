//! [`Event`]: everything that happens in a run.

use crate::engine::Pack;
use crate::net::NetworkEvent;
use shortflow_units::ConnId;

/// Everything that happens in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Something happens in the network.
    Network(NetworkEvent),
    /// A timer of a connection may have expired.
    Timer {
        /// The connection.
        connection: ConnId,
        /// Which of its timers, below [`Event::TIMERS`].
        timer: u8,
    },
    /// The next flow of this traffic source starts.
    FlowStart(u32),
    /// Probes take a sample.
    Sample,
    /// The warm-up ends.
    WarmUpEnd,
    /// The measured time ends.
    MeasureEnd,
}

impl Event {
    /// Timers of a connection, both ends together.
    pub const TIMERS: u8 = 8;
    /// Connections that can be told apart.
    pub const CONNECTIONS: u32 = 1 << 27;
}

impl From<NetworkEvent> for Event {
    #[inline]
    fn from(event: NetworkEvent) -> Event {
        Event::Network(event)
    }
}

/// | highest bits | event | the others |
/// |---|---|---|
/// | 0 | of the network | its own |
/// | 10 | timer | 3 for the timer, 27 for the connection |
/// | 110 | start of a flow | the source |
/// | 111 | what happens once or at intervals | which |
impl Pack for Event {
    #[inline]
    fn pack(self) -> u32 {
        let (tag, number) = match self {
            Event::Network(event) => return event.pack(),
            Event::Timer { connection, timer } => (4, u32::from(timer) << 27 | connection.0),
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
            (4 | 5, _) => Event::Timer {
                connection: ConnId(bits % Event::CONNECTIONS),
                timer: (bits >> 27) as u8 % Event::TIMERS,
            },
            (6, source) => Event::FlowStart(source),
            (_, 0) => Event::Sample,
            (_, 1) => Event::WarmUpEnd,
            _ => Event::MeasureEnd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shortflow_units::PortId;

    #[test]
    fn events_survive_packing() {
        let last = Event::Timer { connection: ConnId(Event::CONNECTIONS - 1), timer: Event::TIMERS - 1 };
        let first = Event::Timer { connection: ConnId(0), timer: 0 };
        let network = Event::Network(NetworkEvent::Release(PortId(7)));
        for event in
            [first, last, network, Event::FlowStart(9), Event::Sample, Event::WarmUpEnd, Event::MeasureEnd]
        {
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }
}
