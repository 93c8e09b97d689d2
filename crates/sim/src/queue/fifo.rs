//! [`Fifo`]: waiting packets in order of arrival.

use super::{Backlog, QueuedPacket};
use std::collections::VecDeque;

/// Waiting packets in order of arrival, with their backlog.
#[derive(Debug, Clone, Default)]
pub(super) struct Fifo {
    packets: VecDeque<QueuedPacket>,
    backlog: Backlog,
}

impl Fifo {
    /// Backlog of the waiting packets.
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// True if no packet waits.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The packet that has waited longest.
    pub(super) fn front(&self) -> Option<&QueuedPacket> {
        self.packets.front()
    }

    /// Appends a packet.
    pub(super) fn push(&mut self, waiting: QueuedPacket) {
        self.backlog.add(waiting.wire);
        self.packets.push_back(waiting);
    }

    /// Removes the packet that has waited longest.
    pub(super) fn pop(&mut self) -> Option<QueuedPacket> {
        let waiting = self.packets.pop_front()?;
        self.backlog.remove(waiting.wire);
        Some(waiting)
    }

    /// Removes the packet that came last.
    pub(super) fn pop_last(&mut self) -> Option<QueuedPacket> {
        let waiting = self.packets.pop_back()?;
        self.backlog.remove(waiting.wire);
        Some(waiting)
    }
}
