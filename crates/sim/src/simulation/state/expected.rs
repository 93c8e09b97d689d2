//! The short path for packets that their endpoints expect, and early reception at hosts.

use super::super::event::{Event, OF_RECEIVER, OF_SENDER};
use super::super::outbox::EndpointOutbox;
use super::Simulation;
use crate::host::EndpointContext;
use crate::net::NetworkEvent;
use shortflow_units::{HostId, Instant, PortId};

impl Simulation<'_> {
    /// Delivers the packet that arrives now from `port`, then receives later packets early. Returns `None` if
    /// the endpoint does not expect the packet.
    #[inline(never)] // keeps the path of packets at switches short
    pub(super) fn receive_due(&mut self, port: PortId) -> Option<()> {
        let next = self.receive_expected(port)?;
        self.take_early(port, next, self.events.begin_of_window());
        Some(())
    }

    /// Receives early the packets that arrive through `port` from time `at` on. All departures from the port
    /// before `known` are known.
    #[inline(never)] // keeps the path of packets at switches short
    pub(super) fn receive_early(&mut self, port: PortId, at: Instant, known: Instant) {
        self.take_early(port, at, known);
    }

    /// Receives packets while the endpoint expects them and no event other than local timers precedes them at
    /// the host. After the measured time nothing is received early, because the run may end at any event.
    #[inline(always)] // saves a call per packet
    fn take_early(&mut self, port: PortId, mut at: Instant, known: Instant) {
        let (now, sender) = (self.events.now(), &self.network.ports()[port.index()]);
        let (host, pulls) =
            (sender.to(), sender.egress().transmitter.leads_to_early_host() && !self.measuring_over);
        let unknown = known + sender.link().1;
        loop {
            let limit = if at < Instant::MAX { at } else { unknown };
            let is_safe = pulls && self.events.is_safe(host, limit);
            if pulls
                && !is_safe
                && let Some(Event::Timer { connection, timer }) = self.events.take_local(host, limit)
            {
                self.on_timer(connection, timer, Some(HostId(host.0)));
            } else if at < Instant::MAX
                && (is_safe || pulls && self.events.is_safe(host, at) || self.events.is_next(host, at))
            {
                self.events.set_now(at);
                let Some(next) = self.receive_expected(port) else { break };
                at = next;
            } else {
                break;
            }
            self.handled += 1;
        }
        self.events.set_now(now);
        if at < Instant::MAX {
            self.events.schedule(at, host, NetworkEvent::Arrive(port).into());
        }
    }

    /// Delivers the head packet of `port` if the endpoint expects it. Returns the time of the next arrival,
    /// or `Instant::MAX`.
    #[inline(always)]
    fn receive_expected(&mut self, port: PortId) -> Option<Instant> {
        let (head, packet) = self.network.head(port)?;
        let (conn, host) = (packet.conn, packet.to);
        let connection = self.connections.get(conn, packet.flow_id)?;
        let at_sender = host == connection.source;
        if connection.has_app_waiter || !connection.ends.expects(packet, at_sender) {
            return None;
        }
        let packet = packet.bare();
        let cx = EndpointContext { now: self.events.now(), tcp: &self.scenario.tcp };
        let next = self.network.deliver(port, head);
        self.packets_received += 1;
        let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
        if at_sender {
            let mut outbox =
                EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_SENDER };
            if let Some((acked, class)) = connection.ends.deliver_expected_ack(&packet, cx, &mut outbox) {
                self.meter.count(class, acked);
            }
        } else {
            let mut outbox =
                EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_RECEIVER };
            connection.ends.deliver_expected_data(&packet, cx, &mut outbox);
        }
        self.tell_senders();
        Some(next)
    }
}
