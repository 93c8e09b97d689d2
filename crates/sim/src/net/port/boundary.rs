//! Ports with a link between two parts of a network.

use super::{InFlight, Port};
use crate::packet::{Packet, Packets};
use shortflow_units::Instant;

/// A port with a link between two parts. The port's own part has the packets not yet exported, and the other
/// part has the packets on the wire.
impl Port {
    /// Makes the port export its packets.
    pub(in crate::net) fn split(&mut self) {
        self.crosses = true;
    }

    /// Takes the next packet that departs before `end`, with its departure time.
    pub(in crate::net) fn export(
        &mut self,
        end: Instant,
        packets: &mut Packets,
    ) -> Option<(Instant, Packet)> {
        let departs = self.ring.front().map(|head| head.departs).filter(|departs| *departs < end)?;
        self.advance_departures(departs);
        self.ring.advance().map(|(packet, _)| (departs, packets.take(packet)))
    }

    /// Departure time of the next packet.
    pub(in crate::net) fn next_departure(&self) -> Instant {
        self.ring.front().map_or(Instant::MAX, |head| head.departs)
    }

    /// Puts an exported packet on the wire. Returns its arrival time if it is the first on the wire.
    pub(in crate::net) fn import(
        &mut self,
        departs: Instant,
        packet: Packet,
        packets: &mut Packets,
    ) -> Option<Instant> {
        let wire = packet.wire;
        self.ring.push(InFlight { departs, packet: packets.put(packet), wire });
        self.ring.mark_all_departed();
        if self.ring.len() == 1 { self.arrival_of_head(packets) } else { None }
    }

    /// Takes the far end of the wire back from the other part.
    pub(in crate::net) fn join(&mut self, far: &mut Port) {
        self.arrived += far.arrived;
        let own = std::mem::replace(&mut self.ring, std::mem::take(&mut far.ring));
        self.ring.append(own);
    }
}
