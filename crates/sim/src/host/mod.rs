//! Hosts. A connection has two ends, each an [`Endpoint`]: it receives packets and timers, sends packets
//! and arms timers. The event loop knows nothing else of it. TCP is one implementation.

mod message;
mod path;
pub mod priority;
mod stream;
mod timer;

pub use message::{DeliveryCounters, Flow, Message, MessageCounts, Messages};
pub use path::RateSampler;
pub use stream::SendStream;
pub use timer::LazyTimer;

use crate::packet::{EcnField, Handover, Packet, PacketType};
use crate::specs::TcpSpec;
use shortflow_cc::Window;
use shortflow_units::{ConnId, HostId, Instant, Rate, Span};

/// Timers of an endpoint are numbered from 0 and below this.
pub const TIMERS: u8 = 4;

/// Identity of a host in a connection, and its peer.
#[derive(Debug, Clone, Copy)]
pub struct EndpointId {
    /// Slot of the connection.
    pub conn: ConnId,
    /// Its number.
    pub flow_id: u32,
    /// The other host.
    pub peer: HostId,
    /// Start of the direction on the connection's path: 0, or [`REVERSE`](crate::net::REVERSE).
    pub way: u8,
}

impl EndpointId {
    /// An ACK without payload, not ECN-capable (RFC 3168 §6.1.4).
    #[inline]
    pub fn control(&self, seq: u64, tcp: &TcpSpec) -> Packet {
        Packet {
            seq,
            waited: Span::ZERO,
            in_switches: 0.0,
            priority: 0,
            conn: self.conn,
            flow_id: self.flow_id,
            to: self.peer,
            payload: 0,
            wire: tcp.header.get() as u16,
            extension: None,
            kind: PacketType::Ack,
            ecn: EcnField::NotEct,
            ecn_flag: false,
            hop: self.way,
        }
    }
}

/// Current time and host configuration.
#[derive(Debug, Clone, Copy)]
pub struct EndpointContext<'a> {
    /// The present time.
    pub now: Instant,
    /// Sizes of packets, timeouts and acknowledgements.
    pub tcp: &'a TcpSpec,
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
}

/// One end of a connection.
pub trait Endpoint {
    /// There is something new to send.
    fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl Outbox);

    /// A packet of the other end arrives.
    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox);

    /// The timer of this number has come.
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
    /// What it sends.
    fn stream(&self) -> &SendStream;

    /// Mutable [`SendEndpoint::stream`].
    fn stream_mut(&mut self) -> &mut SendStream;

    /// A segment that waited with the scheduler of the host's port departs then, or was dropped if that is not to come.
    fn on_left(&mut self, _departs: Instant, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}

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

    /// The application answers if it has everything below `end`: an acknowledgement that is delayed goes with that.
    fn on_message_end(&mut self, _end: u64, _cx: EndpointContext<'_>, _out: &mut impl Outbox) {}
}
