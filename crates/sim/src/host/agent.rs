//! [`HostAgent`]: state that connections of a host share, such as its card, the credit that it gives, and the
//! order of its messages.

use shortflow_units::{ConnId, Instant};
use std::any::Any;
use std::fmt::Debug;

/// A connection that may send or answer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Slot of the connection.
    pub conn: ConnId,
    /// Flow id of the connection. A closed connection gets no turn.
    pub flow_id: u32,
}

/// State that all connections of one kind share at a host. Endpoints access the agent by
/// [`Outbox::agent`](super::Outbox::agent), which creates it on first use. An agent sends no packets itself.
/// It names connections, whose endpoints then send.
pub trait HostAgent: Any + Debug + Send {
    /// The next connection whose endpoint at this host gets a call of `on_turn`. Called again after each turn
    /// until it returns `None`. Called also after an endpoint accessed the agent, and at
    /// [`HostAgent::wakes_at`].
    fn next_turn(&mut self, now: Instant) -> Option<Turn>;

    /// Time of the next call of [`HostAgent::next_turn`], if no endpoint accesses the agent before.
    fn wakes_at(&self) -> Option<Instant>;

    /// A connection of this host with this flow id has closed.
    fn on_close(&mut self, _connection: u32) {}
}
