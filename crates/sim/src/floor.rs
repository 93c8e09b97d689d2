//! The floor of the benchmark: packets that cross the ports of a topology, without transport, statistics,
//! drops, and order among the events of one time step. The cost of a packet-hop in a run, divided by its cost
//! here, is comparable between machines. The code of this file is frozen, because a change would invalidate
//! old figures.
//!
//! Each host sends ten packets of 1500 bytes to the host half way round the list of hosts. At that host, a
//! packet turns into 40 bytes, returns, and starts again.

use crate::net::{RouteError, Routes};
use crate::topology::Graph;
use shortflow_units::{Bytes, HostId, NodeId};
use std::collections::VecDeque;

const PACKETS: usize = 10;

#[derive(Debug)]
struct Port {
    /// Transmission times of a packet in picoseconds, on the way there and back.
    takes: [u64; 2],
    delay: u64,
    free: u64,
    /// Departure time and index of each packet in the port or on the wire.
    ring: VecDeque<(u64, u32)>,
}

/// Position of a packet on its round trip, as an index into `ways` from `start` to `end`. The return path
/// starts at `turn`.
#[derive(Debug, Clone, Copy)]
struct Packet {
    at: u32,
    start: u32,
    turn: u32,
    end: u32,
}

/// A minimal event loop over a topology.
#[derive(Debug)]
pub struct Floor {
    ports: Vec<Port>,
    packets: Vec<Packet>,
    /// Port numbers in the order in which packets cross the ports.
    ways: Vec<u32>,
    /// Ports by the time step of their next arrival, modulo the number of steps.
    steps: Vec<Vec<u32>>,
    /// Length of a step in picoseconds: at most the shortest time in which a packet crosses a link.
    step: u64,
    now: u64,
}

impl Floor {
    /// A loop in which all packets have started.
    pub fn new(graph: &Graph) -> Result<Floor, RouteError> {
        let mut ports = Vec::new();
        for link in graph.links.iter().flat_map(|link| [link, link]) {
            let takes = [1500, 40].map(|size| link.rate.tx_time(Bytes::new(size)).as_ps());
            ports.push(Port { takes, delay: link.delay.as_ps(), free: 0, ring: VecDeque::new() });
        }
        let crossing = |back: usize| ports.iter().map(move |port| port.takes[back] + port.delay);
        let longest = crossing(0).max().unwrap_or(1);
        let step = crossing(1).min().unwrap_or(1).max(longest >> 16).max(1);
        let steps = vec![Vec::new(); (longest / step) as usize + 2];
        let mut floor = Floor { ports, packets: Vec::new(), ways: Vec::new(), steps, step, now: 0 };
        floor.set_out(graph, &Routes::new(graph)?);
        Ok(floor)
    }

    fn set_out(&mut self, graph: &Graph, routes: &Routes) {
        let hosts = graph.hosts();
        for host in 0..hosts {
            let other = (host + (hosts / 2).max(1)) % hosts;
            let start = self.ways.len() as u32;
            self.add_way(graph, routes, host, other);
            let turn = self.ways.len() as u32;
            self.add_way(graph, routes, other, host);
            let packet = Packet { at: start, start, turn, end: self.ways.len() as u32 };
            if turn > start {
                self.packets.extend([packet; PACKETS]);
            }
        }
        (0..self.packets.len()).for_each(|packet| self.send(packet as u32, 0));
    }

    fn add_way(&mut self, graph: &Graph, routes: &Routes, from: usize, to: usize) {
        let mut node = NodeId::from(from);
        while let ports @ [_, ..] = routes.next(node, HostId(to as u32)) {
            let port = ports[from % ports.len()].index();
            let link = graph.links[port / 2];
            node = if port.is_multiple_of(2) { link.b } else { link.a };
            self.ways.push(port as u32);
        }
    }

    /// Moves packets until they have crossed `hops` links. Returns the number of links crossed.
    pub fn run(&mut self, hops: u64) -> u64 {
        let mut done = 0;
        while done < hops && !self.packets.is_empty() {
            let index = (self.now % self.steps.len() as u64) as usize;
            let mut due = std::mem::take(&mut self.steps[index]);
            done += due.len() as u64;
            due.drain(..).for_each(|port| self.arrive(port));
            self.steps[index] = due;
            self.now += 1;
        }
        done
    }

    fn arrive(&mut self, index: u32) {
        let port = &mut self.ports[index as usize];
        let Some((departs, packet)) = port.ring.pop_front() else { return };
        let at = departs + port.delay;
        if let Some(next) = port.ring.front() {
            let due = next.0 + port.delay;
            self.schedule(index, due);
        }
        let way = &mut self.packets[packet as usize];
        way.at = if way.at + 1 == way.end { way.start } else { way.at + 1 };
        self.send(packet, at);
    }

    fn send(&mut self, packet: u32, at: u64) {
        let way = self.packets[packet as usize];
        let index = self.ways[way.at as usize];
        let port = &mut self.ports[index as usize];
        port.free = port.free.max(at) + port.takes[usize::from(way.at >= way.turn)];
        port.ring.push_back((port.free, packet));
        if port.ring.len() == 1 {
            let due = port.free + port.delay;
            self.schedule(index, due);
        }
    }

    fn schedule(&mut self, port: u32, due: u64) {
        let ahead = (due / self.step).saturating_sub(self.now).clamp(1, self.steps.len() as u64 - 1);
        let index = ((self.now + ahead) % self.steps.len() as u64) as usize;
        self.steps[index].push(port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shortflow_units::{Rate, Span};

    /// Two hosts on a switch. Each port alternates between packets of both directions, with 12 and 0.32 µs at
    /// 1 Gbit/s. A port is idle now and then, when all packets are elsewhere.
    #[test]
    fn packets_go_round_nearly_as_fast_as_links_allow() {
        let mut graph = Graph::new(2, 1);
        let rate = Rate::new(1_000_000_000).unwrap();
        (0..2).for_each(|host| graph.connect(NodeId(host), NodeId(2), rate, Span::from_micros(1)));
        let mut floor = Floor::new(&graph).unwrap();
        let hops = floor.run(10_000);
        let elapsed_us = (floor.now * floor.step) as f64 / 1e6;
        let most = 4.0 * 2.0 * elapsed_us / 12.32;
        assert!((0.9..1.001).contains(&(hops as f64 / most)), "{hops} of {most}");
    }
}
