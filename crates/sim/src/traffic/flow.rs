//! [`FlowArrival`]: the start of a flow.

use shortflow_spec::words;
use shortflow_units::{Bytes, ClassId, HostId, Instant, Span};

/// The start of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowArrival {
    /// Time at which the transport gets the flow.
    pub at: Instant,
    /// Sending host.
    pub source: HostId,
    /// Receiving host.
    pub destination: HostId,
    /// Payload; [`Bytes::MAX`] for a backlogged flow.
    pub size: Bytes,
    /// Class, an index into [`Spec::classes`](crate::scenario::Spec::classes).
    pub class: ClassId,
    /// Time from `at` within which the flow should complete.
    pub deadline: Option<Span>,
    /// The connection that carries the flow.
    pub connection: ConnectionUse,
    /// Time from which a backlogged flow sends no new data.
    pub stop: Option<Instant>,
}

/// The connection that carries a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionUse {
    /// A new connection, which begins in slow start.
    New,
    /// Flows of one traffic entry with the same hosts and number share a connection and follow each other.
    Persistent(u32),
    /// Flows of all traffic entries with `shared`, with the same hosts and number, share a connection.
    Shared(u32),
}

words! {
    /// Sharing of connections by flows.
    pub enum Connections {
        /// Each flow has a connection.
        New = "new",
        /// Flows of one traffic entry between two hosts share a connection.
        Persistent = "persistent",
        /// Flows of all traffic entries with `shared` between two hosts share a connection.
        Shared = "shared",
    }
}

impl Connections {
    /// Connection of a flow. Simultaneous flows between the same hosts must differ in `number`.
    pub(super) fn of(self, number: u32) -> ConnectionUse {
        match self {
            Connections::New => ConnectionUse::New,
            Connections::Persistent => ConnectionUse::Persistent(number),
            Connections::Shared => ConnectionUse::Shared(number),
        }
    }
}

/// Flows in order of their start times, finite or endless.
pub trait Arrivals: Iterator<Item = FlowArrival> + Send {}

impl<T: Iterator<Item = FlowArrival> + Send> Arrivals for T {}
