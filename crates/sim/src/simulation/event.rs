//! [`Event`]: an event of a run.

use crate::engine::{EventCode, tie_break_rank};
use crate::host;
use crate::net::NetworkEvent;
use crate::tcp::CARD;
use shortflow_units::{ConnId, HostId, Instant, PortId};

/// An event of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// An event of the network.
    Network(NetworkEvent),
    /// A timer of a connection may have expired.
    Timer {
        /// The connection.
        connection: ConnId,
        /// Number of the timer, below [`Event::TIMERS`].
        timer: u8,
    },
    /// The timer of this host's agents.
    HostTimer(HostId),
    /// The next flow of this traffic source starts.
    FlowStart(u32),
    /// An application learns which bytes have arrived on this connection.
    Answer(ConnId),
    /// Both ends of this connection know that a message is fully acknowledged.
    Finish(ConnId),
    /// The backlogged flow of this connection sends no more new data.
    Stop(ConnId),
    /// Queues, windows and rates are sampled.
    Sample,
    /// The warm-up ends.
    WarmUpEnd,
    /// The measured time ends.
    MeasureEnd,
}

impl Event {
    /// Number of timers of a connection (sender and receiver), including the number reserved for hosts.
    pub const TIMERS: u8 = 8;
    /// Largest number of connections that an event can name.
    pub const CONNECTIONS: u32 = 1 << 27;
}

/// First timer numbers of sender and receiver.
pub(super) const OF_SENDER: u8 = 0;
pub(super) const OF_RECEIVER: u8 = host::TIMERS;
/// The receiver's last timer number denotes the timer of a host.
const OF_HOST: u32 = Event::TIMERS as u32 - 1;

/// Code of the first single or periodic event.
const ONCE: u32 = 1 << 28;

impl From<NetworkEvent> for Event {
    #[inline]
    fn from(event: NetworkEvent) -> Event {
        Event::Network(event)
    }
}

/// | highest bits | event | remaining bits |
/// |---|---|---|
/// | 0001 | single or periodic event | kind |
/// | 0 | event of the network | as in `net/event.rs` |
/// | 10 | timer | 3 bits: timer, 27 bits: connection; the last timer is that of a host |
/// | 110 | start of a flow | traffic source |
/// | 11100 | end of a message | connection |
/// | 11101 | answer of an application | connection |
/// | 1111 | stop of a backlogged flow | connection |
///
/// Simultaneous events run in this order: changes of links, measured time and samples, packets, timers,
/// starts of flows, ends of messages, answers, stops.
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
            2 | 3 => Event::Network(NetworkEvent::Arrive(PortId(bits & ((1 << 29) - 1)))), // the most frequent event
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

    /// Simultaneous events of ports, and of timers, are ordered by a hash. Traffic sources and ends of
    /// messages keep their order.
    fn rank(bits: u32, at: Instant) -> u32 {
        match bits >> 28 {
            ..8 => NetworkEvent::rank(bits, at),
            8..12 => tie_break_rank(bits, at),
            _ => bits,
        }
    }

    /// Changes of links and single or periodic events precede the events of all nodes. Starts and ends of
    /// flows follow them.
    fn precedes_nodes(bits: u32) -> bool {
        bits >> 29 == 0
    }

    /// True for all events except the end of a message, which does not affect packets of other connections,
    /// nor packets that its own connection expects.
    fn is_barrier(bits: u32) -> bool {
        bits >> 27 != 14 << 1
    }

    /// True for the sender's timer for its host's card, which affects this host only.
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
