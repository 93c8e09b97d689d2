//! Memory that the ports of a switch share by dynamic thresholds — A. K. Choudhury, E. L. Hahne, "Dynamic
//! Queue Length Thresholds for Shared-Memory Packet Switches", ToN 1998: a port may hold at most alpha times
//! the free memory.
//!
//! | symbol | field |
//! |---|---|
//! | B, α | `memory`, `alpha` |
//! | T(t) = α (B − Q(t)) (Eq. 1) | result of [`Share::limit`] |
//!
//! Choices:
//! - A packet fits if the port's queue including the packet is within T and within the free memory.
//! - A packet in transmission takes memory until its last bit has left, because it counts in the backlog.
//! - A port above T, because other ports have filled up since, keeps its packets: a discipline that evicts
//!   gives up only what the arriving packet needs.

use super::Port;
use crate::queue::Backlog;
use crate::scenario::Scenario;
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, PortId};

/// Limits of one port.
#[derive(Debug, Clone, Copy)]
struct Share {
    memory: Occupancy,
    alpha: f64,
    buffer: Occupancy,
}

impl Share {
    /// The most that a port with backlog `held` may hold, if all ports together hold `used`.
    fn limit(&self, held: Backlog, used: Backlog) -> Occupancy {
        let most = |total: u64, used: u64, held: u64, buffer: Option<u64>| {
            let free = total.saturating_sub(used);
            let threshold = (self.alpha * free as f64) as u64;
            threshold.min(held + free).min(buffer.unwrap_or(u64::MAX)).max(held)
        };
        match self.memory {
            Occupancy::Packets(total) => {
                let buffer = match self.buffer {
                    Occupancy::Packets(buffer) => Some(buffer.into()),
                    _ => None,
                };
                let packets = most(total.into(), used.packets.into(), held.packets.into(), buffer);
                Occupancy::Packets(packets as u32) // at most `total` or `held`, which fit
            }
            Occupancy::Bytes(total) => {
                let buffer = match self.buffer {
                    Occupancy::Bytes(buffer) => Some(buffer.get()),
                    _ => None,
                };
                Occupancy::Bytes(Bytes::new(most(total.get(), used.bytes.get(), held.bytes.get(), buffer)))
            }
            Occupancy::Unlimited => self.buffer,
        }
    }
}

/// Shared memories of a network. The cost of an arrival is proportional to the number of the switch's ports.
#[derive(Debug, Clone)]
pub(crate) struct SharedMemory {
    /// Indexed by port; `None` for a static buffer.
    shares: Vec<Option<Share>>,
    /// Ports of each node.
    ports: Vec<Vec<PortId>>,
}

impl SharedMemory {
    /// The shared memories of `scenario`; `None` if all buffers are static. Link i has the ports 2i and 2i +
    /// 1.
    pub(crate) fn new(scenario: &Scenario) -> Option<Box<SharedMemory>> {
        let graph = &scenario.graph;
        let mut pauses = vec![false; graph.nodes.len()];
        for (from, to, _) in graph.directions().filter(|(from, ..)| !graph.is_host(*from)) {
            pauses[from.index()] |= scenario.switch_port(from, to).xoff.is_some();
        }
        let mut memory = SharedMemory { shares: Vec::new(), ports: vec![Vec::new(); graph.nodes.len()] };
        let directions = graph.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
        for (from, to) in directions {
            memory.ports[from.index()].push(PortId::from(memory.shares.len()));
            let share = share(scenario, (from, to), pauses[from.index()]);
            memory.shares.push(share.filter(|_| !graph.is_host(from)));
        }
        memory.shares.iter().any(Option::is_some).then(|| Box::new(memory))
    }

    /// Present limit of `port`; `None` for a static buffer.
    #[inline(never)] // keeps the path of static buffers short
    pub(crate) fn limit(&self, ports: &mut [Port], port: PortId, now: Instant) -> Option<Occupancy> {
        let share = self.shares[port.index()].as_ref()?;
        let switch = &self.ports[ports[port.index()].from.index()];
        let used = switch.iter().map(|port| ports[port.index()].backlog(now));
        let used = used.fold(Backlog::default(), |sum, one| sum + one);
        Some(share.limit(ports[port.index()].backlog(now), used))
    }
}

/// The share of a switch's port. `pauses` is true if the switch pauses some of its links.
fn share(scenario: &Scenario, (from, to): (NodeId, NodeId), pauses: bool) -> Option<Share> {
    let switch = scenario.switch_port(from, to);
    // With flow control, ingress thresholds limit the memory and the headroom holds the excess, so a port may
    // take all free memory.
    let alpha = if pauses { f64::INFINITY } else { switch.memory_alpha };
    let buffer = switch.buffer;
    switch.memory.map(|memory| Share { memory, alpha, buffer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Room;

    /// Final queues of `ports` ports that take all they may of a memory of 120 packets.
    fn filled(alpha: f64, buffer: &str, ports: usize) -> Vec<u32> {
        let share = Share { memory: Occupancy::Packets(120), alpha, buffer: buffer.parse().unwrap() };
        let mut held = vec![Backlog::default(); ports];
        let mut refused = 0;
        for port in (0..ports).cycle() {
            let used = held.iter().fold(Backlog::default(), |sum, one| sum + *one);
            assert!(used.packets <= 120);
            let size = Bytes::new(1500);
            let room = Room { found: held[port], limit: share.limit(held[port], used) };
            if room.fits(size) {
                held[port].packets += 1;
                refused = 0;
            } else {
                refused += 1;
            }
            if refused == ports {
                break;
            }
        }
        held.iter().map(|held| held.packets).collect()
    }

    /// n ports get alpha / (1 + n alpha) of the memory each: with alpha 1, 1/2 alone and 1/3 for each of two;
    /// with alpha 2, 2/3 alone.
    #[test]
    fn congested_ports_share_equally_and_leave_a_reserve() {
        assert_eq!(filled(1.0, "unlimited", 1), [60]);
        assert_eq!(filled(1.0, "unlimited", 2), [40, 40]);
        assert_eq!(filled(1.0, "unlimited", 5), [20; 5]);
        assert_eq!(filled(2.0, "unlimited", 1), [80]);
        assert_eq!(filled(0.5, "unlimited", 2), [30, 30]);
        assert_eq!(filled(1.0, "25pkt", 2), [25, 25]);
    }

    /// With a large alpha, the threshold exceeds the free memory.
    #[test]
    fn nobody_takes_more_than_is_free() {
        assert_eq!(filled(1000.0, "unlimited", 3).iter().sum::<u32>(), 120);
    }

    /// Of 10,000 bytes, this port uses 4,000 and other ports use 3,000. With 3,000 bytes free, the port must
    /// not grow.
    #[test]
    fn a_port_above_its_threshold_keeps_its_packets() {
        let share = Share { memory: "10KB".parse().unwrap(), alpha: 1.0, buffer: Occupancy::Unlimited };
        let held = Backlog { packets: 4, bytes: Bytes::new(4000) };
        let used = Backlog { packets: 7, bytes: Bytes::new(7000) };
        assert_eq!(share.limit(held, used), Occupancy::Bytes(Bytes::new(4000)));
        assert_eq!(share.limit(Backlog::default(), used), Occupancy::Bytes(Bytes::new(3000)));
    }
}
