//! Work after each event at a host: reports of departures to senders, and turns that agents give to
//! connections.

use super::super::event::{OF_RECEIVER, OF_SENDER};
use super::super::outbox::EndpointOutbox;
use super::Simulation;
use crate::host::EndpointContext;
use crate::packet::Left;

impl Simulation<'_> {
    /// Tells senders which segments have left the schedulers of their hosts' ports, and runs the connections
    /// that agents name.
    #[inline]
    pub(super) fn tell_senders(&mut self) {
        while let Some(left) = self.network.next_left() {
            self.tell_sender(left);
        }
        if self.agents.are_touched() {
            self.take_turns();
        }
    }

    #[inline(never)] // keeps the path of hosts without agents short
    fn take_turns(&mut self) {
        while let Some((host, turn)) = self.agents.next_turn(&mut self.events) {
            self.network.watch_mut().into_iter().for_each(|watch| watch.turns());
            let cx = EndpointContext { now: self.events.now(), tcp: &self.scenario.tcp };
            let Some(connection) = self.connections.get(turn.conn, turn.flow_id) else { continue };
            let at_sender = host == connection.source;
            let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
            let timers = if at_sender { OF_SENDER } else { OF_RECEIVER };
            let mut outbox = EndpointOutbox { network, events, agents, host, connection: turn.conn, timers };
            connection.ends.on_turn(at_sender, cx, &mut outbox);
        }
    }

    #[inline(never)] // keeps the path of packets short
    fn tell_sender(&mut self, Left { conn, flow_id, departs }: Left) {
        let cx = EndpointContext { now: self.events.now(), tcp: &self.scenario.tcp };
        let Some(connection) = self.connections.get(conn, flow_id) else { return };
        let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
        let host = connection.source;
        let mut outbox =
            EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_SENDER };
        connection.ends.on_left(departs, cx, &mut outbox);
    }
}
