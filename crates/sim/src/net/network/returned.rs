//! Reports to hosts on packets that waited, and headers that a switch sends back to the senders of their data because
//! a queue has no room (return to sender).

use super::{Network, WithNetwork};
use crate::engine::EventQueue;
use crate::packet::{Left, Packet};
use shortflow_units::{HostId, NodeId, PortId};

impl Network {
    /// From now on, records reports to hosts on packets that waited in the scheduler of a host's port.
    pub fn tell_hosts(&mut self) {
        self.reports.left = Some(Vec::new());
    }

    /// Next report to a host.
    #[inline]
    pub fn next_left(&mut self) -> Option<Left> {
        self.reports.left.as_mut()?.pop()
    }

    /// Sends headers that found no room at `port` of `node` back to the senders of their data.
    #[inline(never)] // keeps the common path short
    pub(super) fn return_headers(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        node: NodeId,
        port: PortId,
    ) {
        for id in std::mem::take(&mut self.reports.returned) {
            let mut packet = self.packets.take(id);
            turn_round(&mut packet, &self.senders);
            let now = events.now();
            self.watch_mut().into_iter().for_each(|watch| watch.returned(now, port, &packet));
            self.note_source(None);
            self.forward(events, node, &mut packet);
        }
    }

    /// Notes the sender of the next connection, if queues return headers.
    pub(super) fn note_sender(&mut self, source: HostId) {
        self.senders.iter_mut().for_each(|senders| senders.push(source));
    }
}

/// Turns a header round to the sender of its data.
pub(super) fn turn_round(packet: &mut Packet, senders: &Option<Vec<HostId>>) {
    let sender = senders.as_ref().and_then(|senders| senders.get(packet.flow_id as usize));
    packet.turn_round(sender.copied().unwrap_or(packet.to));
}
