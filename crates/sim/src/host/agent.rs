//! [`HostAgent`]: what all connections of a host share, such as its card, the credit that it gives and the order of its messages.

use shortflow_units::{ConnId, Instant};
use std::any::Any;
use std::fmt::Debug;

/// A connection that may send or answer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Slot of the connection.
    pub conn: ConnId,
    /// Its number. A connection that has closed gets no turn.
    pub flow_id: u32,
}

/// State that the connections of one kind share at a host. Their ends find it at [`Outbox::agent`](super::Outbox::agent); the first
/// one that asks makes it. It sends nothing itself: it names connections, whose ends do.
pub trait HostAgent: Any + Debug + Send {
    /// The next connection that has its turn, `on_turn` of the end at this host. Asked again after each until there is none, whenever
    /// an end has looked at the agent, and at [`HostAgent::wakes_at`].
    fn next_turn(&mut self, now: Instant) -> Option<Turn>;

    /// When to ask again if no end looks at the agent before.
    fn wakes_at(&self) -> Option<Instant>;
}
