//! A network in parts: each has the ports of its nodes, and of the others' that lead to it the far end of the wire. What
//! departs on a crossing link is handed over, and reaches the other part after the delay of the link.

use super::{Network, NetworkEvent, WithNetwork};
use crate::engine::EventQueue;
use crate::packet::Packet;
use shortflow_units::{Instant, PortId};

/// A packet on a link between two parts.
#[derive(Debug)]
pub struct BoundaryPacket {
    port: PortId,
    departs: Instant,
    packet: Packet,
}

impl Network {
    /// Makes this the part with this number, where `owner` is the part of each node.
    pub fn split(&mut self, owner: &[u32], number: u32) {
        for (index, port) in self.ports.iter_mut().enumerate() {
            let to = owner[port.to.index()];
            if owner[port.from.index()] == number && to != number {
                port.split();
                self.crossing.push((PortId::from(index), to));
            }
        }
    }

    /// Puts what departs before `end` into the boxes for the other parts. The earliest time at which something happens to what
    /// was handed over or will be.
    pub fn export(&mut self, end: Instant, boxes: &mut [Vec<BoundaryPacket>]) -> Instant {
        let mut next = Instant::MAX;
        for &(id, to) in &self.crossing {
            let port = &mut self.ports[id.index()];
            while let Some((departs, packet)) = port.export(end) {
                next = next.min(departs + port.link().1);
                boxes[to as usize].push(BoundaryPacket { port: id, departs, packet });
            }
            next = next.min(port.next_departure());
        }
        next
    }

    /// Takes in what another part has handed over.
    pub fn import(&mut self, events: &mut EventQueue<impl WithNetwork>, mail: BoundaryPacket) {
        let BoundaryPacket { port, departs, packet } = mail;
        let sender = &mut self.ports[port.index()];
        if let Some(at) = sender.import(departs, packet) {
            events.schedule(at, sender.to, NetworkEvent::Arrive(port).into());
        }
    }

    /// Makes one network of part 0 and the others.
    pub fn join(&mut self, mut others: Vec<Network>, owner: &[u32]) {
        for index in 0..self.ports.len() {
            let port = &self.ports[index];
            let [from, to] = [port.from, port.to].map(|node| owner[node.index()] as usize);
            // Port `index` of part 0 changes places with that of the part that it belongs to.
            if let Some(part) = from.checked_sub(1).map(|other| &mut others[other]) {
                std::mem::swap(&mut self.ports[index], &mut part.ports[index]);
                self.before.take_port(index, &part.before);
                self.after
                    .iter_mut()
                    .zip(&part.after)
                    .for_each(|(mine, theirs)| mine.take_port(index, theirs));
            }
            if from != to {
                let place = if to == 0 { from } else { to };
                self.ports[index].join(&mut others[place - 1].ports[index]);
            }
        }
        self.sent += others.iter().map(|part| part.sent).sum::<u64>();
        self.delivered += others.iter().map(|part| part.delivered).sum::<u64>();
    }
}
