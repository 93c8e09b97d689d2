//! Memory that the ports of a switch share with dynamic thresholds — A. K. Choudhury, E. L. Hahne, "Dynamic
//! Queue Length Thresholds for Shared-Memory Packet Switches", ToN 1998: a port may hold at most alpha times
//! the memory that is free.
//!
//! | symbol | field |
//! |---|---|
//! | B, α | `memory`, `alpha` |
//! | T(t) = α (B − Q(t)) (Eq. 1) | what [`Share::limit`] gives |
//!
//! Choices:
//! - A packet fits if the port's queue, the packet included, is within T and within what is free.
//! - Packets in transmission take memory until their last bit has left, as they count in the backlog.
//! - A port above T, because others have filled up since, keeps what it holds: a discipline that evicts
//!   gives up no more than the arriving packet needs.

use super::Port;
use crate::queue::Backlog;
use crate::scenario::Scenario;
use shortflow_units::{Bytes, Instant, NodeId, Occupancy, PortId};

/// Limit of one port.
#[derive(Debug, Clone, Copy)]
struct Share {
    memory: Occupancy,
    alpha: f64,
    buffer: Occupancy,
}

impl Share {
    /// The most that a port with `held` may hold while all ports together hold `used`.
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
                Occupancy::Packets(packets as u32) // not above `total` or `held`
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

/// The shared memories of a network. An arrival costs a look at every port of its switch.
#[derive(Debug, Clone)]
pub struct SharedMemory {
    /// By port; `None` where the buffer is static.
    shares: Vec<Option<Share>>,
    /// By node.
    ports: Vec<Vec<PortId>>,
}

impl SharedMemory {
    /// The memories of `scenario`, whose link i is ports 2i and 2i + 1; `None` if all buffers are static.
    pub fn new(scenario: &Scenario) -> Option<Box<SharedMemory>> {
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
    pub fn limit(&self, ports: &mut [Port], port: PortId, now: Instant) -> Option<Occupancy> {
        let share = self.shares[port.index()].as_ref()?;
        let switch = &self.ports[ports[port.index()].from.index()];
        let used = switch.iter().map(|port| ports[port.index()].backlog(now));
        let used = used.fold(Backlog::default(), |sum, one| sum + one);
        Some(share.limit(ports[port.index()].backlog(now), used))
    }
}

/// The share of a port of a switch, which may pause some of its links.
fn share(scenario: &Scenario, (from, to): (NodeId, NodeId), pauses: bool) -> Option<Share> {
    let switch = scenario.switch_port(from, to);
    // Where links are paused, headroom is for what arrives beyond the thresholds, so ports may hold all that is free.
    let alpha = if pauses { f64::INFINITY } else { switch.memory_alpha };
    let buffer = switch.buffer;
    switch.memory.map(|memory| Share { memory, alpha, buffer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Room;

    /// `ports` ports of a switch with a memory of 120 packets that all take whatever they may.
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

    /// n ports get alpha / (1 + n alpha) each: 1/2 of 120 alone, 1/3 each of two, 2/3 alone with alpha 2.
    #[test]
    fn congested_ports_share_equally_and_leave_a_reserve() {
        assert_eq!(filled(1.0, "unlimited", 1), [60]);
        assert_eq!(filled(1.0, "unlimited", 2), [40, 40]);
        assert_eq!(filled(1.0, "unlimited", 5), [20; 5]);
        assert_eq!(filled(2.0, "unlimited", 1), [80]);
        assert_eq!(filled(0.5, "unlimited", 2), [30, 30]);
        assert_eq!(filled(1.0, "25pkt", 2), [25, 25]);
    }

    /// With a large alpha the threshold is beyond what is free.
    #[test]
    fn nobody_takes_more_than_is_free() {
        assert_eq!(filled(1000.0, "unlimited", 3).iter().sum::<u32>(), 120);
    }

    /// 10,000 bytes, 4,000 of them used by this port and 3,000 by others: 3,000 are free, so it may not grow.
    #[test]
    fn a_port_above_its_threshold_keeps_what_it_holds() {
        let share = Share { memory: "10KB".parse().unwrap(), alpha: 1.0, buffer: Occupancy::Unlimited };
        let held = Backlog { packets: 4, bytes: Bytes::new(4000) };
        let used = Backlog { packets: 7, bytes: Bytes::new(7000) };
        assert_eq!(share.limit(held, used), Occupancy::Bytes(Bytes::new(4000)));
        assert_eq!(share.limit(Backlog::default(), used), Occupancy::Bytes(Bytes::new(3000)));
    }
}
