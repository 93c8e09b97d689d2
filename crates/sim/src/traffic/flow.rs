//! [`FlowArrival`]: a flow that begins.

use shortflow_spec::words;
use shortflow_units::{Bytes, ClassId, HostId, Instant, Span};

/// A flow that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowArrival {
    /// Time of the hand-over of the first byte to the transport.
    pub at: Instant,
    /// Sending host.
    pub source: HostId,
    /// Receiving host.
    pub destination: HostId,
    /// Payload; [`Bytes::MAX`] for a flow that never ends.
    pub size: Bytes,
    /// Class, an index into [`Spec::classes`](crate::scenario::Spec::classes).
    pub class: ClassId,
    /// Time from `at` within which the flow should be complete.
    pub deadline: Option<Span>,
    /// The connection that carries it.
    pub connection: ConnectionUse,
    /// Time from which a long-lived flow sends no new data.
    pub stop: Option<Instant>,
}

/// The connection that carries a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionUse {
    /// Its own, from slow start.
    New,
    /// Flows of one traffic entry with the same hosts and number share a connection, in order.
    Persistent(u32),
    /// Shared by all traffic entries with `shared`.
    Shared(u32),
}

words! {
    /// Flows that share a connection.
    pub enum Connections {
        /// None: each has its own.
        New = "new",
        /// Flows of a traffic entry between two hosts.
        Persistent = "persistent",
        /// Flows of all traffic entries with `shared` between two hosts.
        Shared = "shared",
    }
}

impl Connections {
    /// The connection of a flow. Flows that may be under way at once between the same hosts differ in `number`.
    pub(super) fn of(self, number: u32) -> ConnectionUse {
        match self {
            Connections::New => ConnectionUse::New,
            Connections::Persistent => ConnectionUse::Persistent(number),
            Connections::Shared => ConnectionUse::Shared(number),
        }
    }
}

/// Flows in non-decreasing order of their start, finite or endless.
pub trait Arrivals: Iterator<Item = FlowArrival> + Send {}

impl<T: Iterator<Item = FlowArrival> + Send> Arrivals for T {}
