//! [`Event`]: everything that happens in a run.

use crate::engine::{EventCode, tie_break_rank};
use crate::host;
use crate::net::NetworkEvent;
use crate::tcp::CARD;
use shortflow_units::{ConnId, HostId, Instant, PortId};

/// Everything that happens in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// An event of the network.
    Network(NetworkEvent),
    /// A timer of a connection may have expired.
    Timer {
        /// The connection.
        connection: ConnId,
        /// Which of its timers, below [`Event::TIMERS`].
        timer: u8,
    },
    /// What the connections of this host share has something to do.
    HostTimer(HostId),
    /// Start of the next flow of this traffic source.
    FlowStart(u32),
    /// An application learns what has arrived on this connection.
    Answer(ConnId),
    /// Both ends of this connection know that a message is fully acknowledged.
    Finish(ConnId),
    /// The backlogged flow of this connection sends no more new data.
    Stop(ConnId),
    /// Probes take a sample.
    Sample,
    /// The warm-up ends.
    WarmUpEnd,
    /// The measured time ends.
    MeasureEnd,
}

impl Event {
    /// Timers of a connection, both ends together, and that of a host.
    pub const TIMERS: u8 = 8;
    /// Connections that can be told apart.
    pub const CONNECTIONS: u32 = 1 << 27;
}

/// First timers of sender and receiver.
pub(super) const OF_SENDER: u8 = 0;
pub(super) const OF_RECEIVER: u8 = host::TIMERS;
/// The last timer of a receiver is that of a host.
const OF_HOST: u32 = Event::TIMERS as u32 - 1;

/// Number of the first event that happens once or at intervals.
const ONCE: u32 = 1 << 28;

impl From<NetworkEvent> for Event {
    #[inline]
    fn from(event: NetworkEvent) -> Event {
        Event::Network(event)
    }
}

/// | highest bits | event | the others |
/// |---|---|---|
/// | 0001 | single or periodic event | which |
/// | 0 | of the network | its own |
/// | 10 | timer | 3 for the timer, 27 for the connection; the last timer is a host's |
/// | 110 | start of a flow | the source |
/// | 11100 | end of a message | the connection |
/// | 11101 | an application's answer | the connection |
/// | 1111 | stop of a backlogged flow | the connection |
///
/// Order at one instant: links that change, measured time and probes, packets, timers, starts of flows, ends, answers, stops.
impl EventCode for Event {
    #[inline(always)]
    fn pack(self) -> u32 {
        let (tag, number) = match self {
            Event::Network(event) => return event.pack(),
            Event::Timer { connection, timer } => (4, u32::from(timer) << 27 | connection.0),
            Event::HostTimer(host) => (4, OF_HOST << 27 | host.0),
            Event::FlowStart(source) => (6, source),
            Event::Finish(connection) => (7, connection.0),
            Event::Answer(connection) => (7, 1 << 27 | connection.0),
            Event::Stop(connection) => (7, 1 << 28 | connection.0),
            Event::WarmUpEnd => (0, ONCE),
            Event::MeasureEnd => (0, ONCE + 1),
            Event::Sample => (0, ONCE + 2),
        };
        tag << 29 | number
    }

    #[inline]
    fn unpack(bits: u32) -> Event {
        match bits >> 28 {
            2 | 3 => Event::Network(NetworkEvent::Arrive(PortId(bits & ((1 << 29) - 1)))), // most events
            1 => [Event::WarmUpEnd, Event::MeasureEnd, Event::Sample][(bits - ONCE) as usize % 3],
            ..8 => Event::Network(NetworkEvent::unpack(bits)),
            8..12 if bits >> 27 & 7 == OF_HOST => Event::HostTimer(HostId(bits % Event::CONNECTIONS)),
            8..12 => Event::Timer {
                connection: ConnId(bits % Event::CONNECTIONS),
                timer: (bits >> 27) as u8 % Event::TIMERS,
            },
            12..14 => Event::FlowStart(bits & ((1 << 29) - 1)),
            14 if bits >> 27 & 1 > 0 => Event::Answer(ConnId(bits % Event::CONNECTIONS)),
            14 => Event::Finish(ConnId(bits % Event::CONNECTIONS)),
            _ => Event::Stop(ConnId(bits % Event::CONNECTIONS)),
        }
    }

    /// Ports and timers take turns. Traffic sources and ends keep their order.
    fn rank(bits: u32, at: Instant) -> u32 {
        match bits >> 28 {
            ..8 => NetworkEvent::rank(bits, at),
            8..12 => tie_break_rank(bits, at),
            _ => bits,
        }
    }

    /// Starts and ends of flows come last.
    fn precedes_nodes(bits: u32) -> bool {
        bits >> 29 == 0
    }

    /// A message that ends concerns no packet of another, nor one that an end of its own connection expects.
    fn is_barrier(bits: u32) -> bool {
        bits >> 27 != 14 << 1
    }

    /// The timer of a sender for its host's card concerns that host alone.
    fn is_local(bits: u32) -> bool {
        bits >> 27 == 4 << 2 | u32::from(OF_SENDER + CARD)
    }

    #[inline(always)]
    fn channel(bits: u32) -> Option<u32> {
        NetworkEvent::channel(bits)
    }

    #[inline(always)]
    fn of_channel(channel: u32) -> u32 {
        NetworkEvent::of_channel(channel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_packing() {
        let last = Event::Timer { connection: ConnId(Event::CONNECTIONS - 1), timer: Event::TIMERS - 2 };
        let first = Event::Timer { connection: ConnId(0), timer: 0 };
        let network = Event::Network(NetworkEvent::Release(PortId(7)));
        let once = [Event::Sample, Event::WarmUpEnd, Event::MeasureEnd];
        for event in [
            [first, last, network],
            [Event::FlowStart(9), Event::Finish(ConnId(5)), Event::Stop(ConnId(5))],
            [Event::HostTimer(HostId(0)), Event::HostTimer(HostId(Event::CONNECTIONS - 1)), first],
            [Event::Answer(ConnId(0)), Event::Answer(ConnId(Event::CONNECTIONS - 1)), first],
            once,
        ]
        .concat()
        {
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }
}
