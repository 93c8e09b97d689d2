//! [`EndpointOutbox`]: access of an endpoint to the network and the event queue.

use super::agents::Agents;
use super::event::Event;
use crate::engine::EventQueue;
use crate::host::{HostAgent, Outbox, PacketSink};
use crate::net::Network;
use crate::packet::{Handover, Packet};
use shortflow_units::{ConnId, HostId, Instant};

/// Network, event queue and agents of one endpoint of a connection.
pub(super) struct EndpointOutbox<'a> {
    pub network: &'a mut Network,
    pub events: &'a mut EventQueue<Event>,
    pub agents: &'a mut Agents,
    pub host: HostId,
    pub connection: ConnId,
    /// Number of the endpoint's first timer.
    pub timers: u8,
}

impl PacketSink for EndpointOutbox<'_> {
    #[inline]
    fn send(&mut self, packet: Packet) -> Handover {
        self.network.send(self.events, self.host, packet)
    }

    #[inline(always)]
    fn emit(&mut self, packet: Packet) -> Handover {
        self.network.emit(self.events, self.host, packet)
    }
}

impl Outbox for EndpointOutbox<'_> {
    #[inline]
    fn set_timer(&mut self, timer: u8, at: Instant) {
        let timer = self.timers + timer;
        self.events.schedule(at, self.host, Event::Timer { connection: self.connection, timer });
    }

    fn agent<A: HostAgent + Default>(&mut self) -> &mut A {
        self.agents.of(self.host)
    }
}
