//! Hosts. A connection has two ends, each an [`Endpoint`]. An endpoint receives packets and timers, sends
//! packets and sets timers. The event loop needs no other knowledge of endpoints. TCP is one implementation.

mod agent;
mod identity;
mod message;
mod path;
pub mod priority;
mod stream;
mod timer;

pub use agent::{HostAgent, Turn};
pub use identity::{EndpointContext, EndpointId};
pub use message::{DeliveryCounters, Flow, Message, MessageCounts, Messages};
pub use path::RateSampler;
pub use stream::SendStream;
pub use timer::LazyTimer;

use crate::packet::{Handover, Packet};
use crate::specs::TcpSpec;
use priority::PriorityRule;
use shortflow_cc::{Opening, Window};
use shortflow_units::{Instant, Rate, Span};

/// Number of timers of a sender, which are numbered from 0. A receiver has one timer fewer, because its last
/// number is reserved for the host.
pub(crate) const TIMERS: u8 = 4;

/// Parameters of the two ends of a new connection.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionSetup<'a> {
    /// Keys of TCP: packet sizes, timeouts and acknowledgements.
    pub tcp: &'a TcpSpec,
    /// Start time, path and segment size.
    pub at: Opening,
    /// Rate of the link of the receiver's host.
    pub receiver_line: Rate,
    /// Longest wait in a full queue that trims, at the slowest switch port of both paths.
    pub full_queue: Span,
    /// Rule for the priority of the sender's packets.
    pub priority: PriorityRule,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Span,
    /// Maximum number of segments of the connection in its host's card; 0: no limit.
    pub small_queue: usize,
    /// True if expected packets may take the short path.
    pub predicts: bool,
}

/// Receiver of the packets that an endpoint sends.
pub trait PacketSink {
    /// Hands a packet to the host's port. Returns its known delays.
    fn send(&mut self, packet: Packet) -> Handover;

    /// [`PacketSink::send`], inlined into the caller.
    #[inline(always)]
    fn emit(&mut self, packet: Packet) -> Handover {
        self.send(packet)
    }
}

/// Actions of an endpoint.
pub trait Outbox: PacketSink {
    /// Schedules a call of [`Endpoint::on_timer`] with `timer` at time `at`. The call cannot be cancelled;
    /// see [`LazyTimer`].
    fn set_timer(&mut self, timer: u8, at: Instant);

    /// State that all connections of this kind share at this host. Connections that the agent names get their
    /// turn after the present call.
    fn agent<A: HostAgent + Default>(&mut self) -> &mut A;
}

/// One end of a connection.
pub trait Endpoint {
    /// Called when there is new data to send.
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox);

    /// Called when a packet from the other end arrives.
    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox);

    /// Called when timer `timer` expires. An earlier connection in this slot may have set the timer; see
    /// [`LazyTimer::expired`].
    fn on_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox);
}

/// Sender state for probes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SenderSnapshot {
    /// Congestion window, if the sender has one.
    pub window: Option<Window>,
    /// Pacing rate, if the sender paces.
    pub rate: Option<Rate>,
    /// Congestion estimate of the law.
    pub alpha: Option<f64>,
}

/// End of a connection that sends data.
pub trait SendEndpoint: Endpoint {
    /// The stream of bytes to send.
    fn stream(&self) -> &SendStream;

    /// Mutable [`SendEndpoint::stream`].
    fn stream_mut(&mut self) -> &mut SendStream;

    /// Called when the host's agent has named this connection.
    fn on_turn(&mut self, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}

    /// Called when a segment no longer waits in the scheduler of the host's port. `departs` is the departure
    /// of its last bit, or zero if the segment was dropped.
    fn on_left(&mut self, _departs: Instant, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}

    /// One past the last byte that grants permit to send; `None` if the receiver sends no grants.
    fn permitted(&self) -> Option<u64> {
        None
    }

    /// State for probes at `now`.
    fn snapshot(&self, now: Instant) -> SenderSnapshot;
}

/// End of a connection that receives data.
pub trait ReceiveEndpoint: Endpoint {
    /// All bytes of the stream below this have arrived.
    fn received(&self) -> u64;

    /// Bytes of `start..end` of the stream that have arrived.
    fn arrived(&self, start: u64, end: u64) -> u64 {
        self.received().min(end).saturating_sub(start)
    }

    /// Bytes that were missing when later bytes arrived. Without reordering, these bytes were lost.
    fn skipped(&self) -> u64;

    /// Called when the host's agent has named this connection.
    fn on_turn(&mut self, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}

    /// Called after each packet. If all bytes below `end` have arrived, the application answers, and a
    /// delayed acknowledgement goes with the answer.
    fn on_message_end(&mut self, _end: u64, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}
}
