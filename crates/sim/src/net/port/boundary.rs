//! Ports between two parts of a network.

use super::Port;
use crate::packet::Packet;
use shortflow_units::Instant;

/// A port between two parts of a network. Its own part has it with what has not been handed over, the part of the other end
/// with what is on the wire.
impl Port {
    /// From now on its packets are handed over.
    pub(in crate::net) fn split(&mut self) {
        self.crosses = true;
    }

    /// The next packet on the wire that has departed before `end`, and when.
    pub(in crate::net) fn export(&mut self, end: Instant) -> Option<(Instant, Packet)> {
        let departs = self.ring.front().map(|head| head.departs).filter(|departs| *departs < end)?;
        self.advance_departures(departs);
        self.ring.advance().map(|(packet, _)| (departs, packet.take()))
    }

    /// Departure of the next packet.
    pub(in crate::net) fn next_departure(&self) -> Instant {
        self.ring.front().map_or(Instant::MAX, |head| head.departs)
    }

    /// Puts a packet on the wire that has been handed over; when it arrives, if it is the head.
    pub(in crate::net) fn import(&mut self, departs: Instant, packet: Packet) -> Option<Instant> {
        self.ring.push(departs, packet);
        self.ring.mark_all_departed();
        (self.ring.len() == 1).then(|| self.reaches(departs))
    }

    /// Puts the far end of the wire back, as the other part has it.
    pub(in crate::net) fn join(&mut self, far: &mut Port) {
        self.arrived += far.arrived;
        let own = std::mem::replace(&mut self.ring, std::mem::take(&mut far.ring));
        self.ring.append(own);
    }
}
