//! [`Arrival`]: a flow that begins.

use shortflow_units::{Bytes, ClassId, HostId, Instant, Span};

/// A flow that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When the first byte is handed to the transport.
    pub at: Instant,
    /// Sending host.
    pub source: HostId,
    /// Receiving host.
    pub destination: HostId,
    /// Payload; [`Bytes::MAX`] for a flow that never ends.
    pub size: Bytes,
    /// Class, an index into [`Spec::classes`](crate::scenario::Spec::classes).
    pub class: ClassId,
    /// How long after `at` the flow should be complete.
    pub deadline: Option<Span>,
    /// Which connection carries it.
    pub connection: ConnectionUse,
}

/// The connection that carries a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionUse {
    /// Its own, from slow start.
    New,
    /// Flows of one traffic entry with the same hosts and number share a connection, in order.
    Persistent(u32),
}

/// Flows in non-decreasing order of their start, perhaps without end.
pub trait Arrivals: Iterator<Item = Arrival> + Send {}

impl<T: Iterator<Item = Arrival> + Send> Arrivals for T {}
