//! Hosts. A connection has two ends, each an [`Endpoint`]: it receives packets and timers, sends packets
//! and arms timers. The event loop knows nothing else of it. TCP is one implementation.

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

/// Timers of a sender are numbered from 0 and below this, those of a receiver below one less.
pub(crate) const TIMERS: u8 = 4;

/// What the ends of a new connection are told.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionSetup<'a> {
    /// Sizes of packets, timeouts and acknowledgements.
    pub tcp: &'a TcpSpec,
    /// Time, path and segments.
    pub at: Opening,
    /// Rate of the link of the receiver's host.
    pub receiver_line: Rate,
    /// Rule for the priority of the sender's packets.
    pub priority: PriorityRule,
    /// Time after which the first packets count as lost.
    pub initial_rto: Span,
    /// Segments of the connection that its host's card takes; 0 is no limit.
    pub small_queue: usize,
    /// True if expected packets may take the short path.
    pub predicts: bool,
}

/// Outlet for an endpoint's packets.
pub trait PacketSink {
    /// Hands a packet to the host's port. Returns its known delays.
    fn send(&mut self, packet: Packet) -> Handover;

    /// [`PacketSink::send`], compiled into the caller.
    #[inline(always)]
    fn emit(&mut self, packet: Packet) -> Handover {
        self.send(packet)
    }
}

/// Actions of an endpoint.
pub trait Outbox: PacketSink {
    /// Has [`Endpoint::on_timer`] called at `at` with the number `timer`. It cannot be taken back: see [`LazyTimer`].
    fn set_timer(&mut self, timer: u8, at: Instant);

    /// What connections of this kind share at this host. Connections that the agent names get their turn when this call is over.
    fn agent<A: HostAgent + Default>(&mut self) -> &mut A;
}

/// One end of a connection.
pub trait Endpoint {
    /// There is something new to send.
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox);

    /// A packet of the other end arrives.
    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox);

    /// The timer of this number has come, or one of an earlier connection in this slot: [`LazyTimer::expired`] tells.
    fn on_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox);
}

/// Sender state for probes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SenderSnapshot {
    /// Congestion window, where there is one.
    pub window: Option<Window>,
    /// Rate at which it sends, where it paces.
    pub rate: Option<Rate>,
    /// The control's congestion estimate.
    pub alpha: Option<f64>,
}

/// The end that sends data.
pub trait SendEndpoint: Endpoint {
    /// Its stream of bytes.
    fn stream(&self) -> &SendStream;

    /// Mutable [`SendEndpoint::stream`].
    fn stream_mut(&mut self) -> &mut SendStream;

    /// The host's agent has named this connection.
    fn on_turn(&mut self, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}

    /// A segment that waited with the scheduler of the host's port departs then, or was dropped if that is not to come.
    fn on_left(&mut self, _departs: Instant, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}

    /// One past the last byte that it may send, where the receiver grants.
    fn permitted(&self) -> Option<u64> {
        None
    }

    /// State for probes at `now`.
    fn snapshot(&self, now: Instant) -> SenderSnapshot;
}

/// The end that receives data.
pub trait ReceiveEndpoint: Endpoint {
    /// All bytes of the stream below this have arrived.
    fn received(&self) -> u64;

    /// Bytes of `start..end` of the stream that have arrived.
    fn arrived(&self, start: u64, end: u64) -> u64 {
        self.received().min(end).saturating_sub(start)
    }

    /// Bytes missing below new bytes on their arrival; without reordering they were lost.
    fn skipped(&self) -> u64;

    /// The host's agent has named this connection.
    fn on_turn(&mut self, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}

    /// The application answers if it has everything below `end`: an acknowledgement that is delayed goes with that.
    fn on_message_end(&mut self, _end: u64, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}
}
