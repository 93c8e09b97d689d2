//! [`EndpointOutbox`]: the network and the clock, as an endpoint of a connection has them.

use super::event::Event;
use crate::engine::EventQueue;
use crate::host::{self, Outbox, PacketSink};
use crate::net::Network;
use crate::packet::{Handover, Packet};
use shortflow_units::{ConnId, HostId, Instant};

/// The network and the clock, for one endpoint of a connection.
pub(super) struct EndpointOutbox<'a> {
    pub network: &'a mut Network,
    pub events: &'a mut EventQueue<Event>,
    pub host: HostId,
    pub connection: ConnId,
    /// Number of its first timer.
    pub timers: u8,
}

/// Number of the first timer of a sender and of a receiver.
pub(super) const OF_SENDER: u8 = 0;
pub(super) const OF_RECEIVER: u8 = host::TIMERS;

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
}
