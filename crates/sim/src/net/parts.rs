//! Networks in parts. A part has the ports of its nodes, and the far ends of wires that lead to it. Packets
//! that depart on a link to another part are exported, and arrive after the delay of the link.

use super::flow_control::PauseFrame;
use super::{Network, NetworkEvent, WithNetwork};
use crate::engine::EventQueue;
use crate::packet::Packet;
use shortflow_units::{Instant, PortId};

/// Mail between two parts: a packet or a frame on a link between them.
#[derive(Debug)]
pub enum BoundaryMail {
    /// A packet.
    Packet {
        /// Port that sent the packet.
        port: PortId,
        /// Departure of the packet's last bit.
        departs: Instant,
        /// The packet.
        packet: Packet,
    },
    /// A frame that pauses or resumes data.
    Frame(PauseFrame),
}

impl Network {
    /// Reduces the network to part `number`. `owner` has the part of each node.
    pub fn split(&mut self, owner: &[u32], number: u32) {
        for (index, port) in self.ports.iter_mut().enumerate() {
            let [from, to] = [port.from, port.to()].map(|node| owner[node.index()]);
            let transmitter = &mut port.egress.transmitter;
            if from == number && to != number {
                transmitter.lead_to_other_part();
                self.crossing.push((PortId::from(index), to));
            } else if from != to {
                transmitter.lead_to_early_host(false);
            }
        }
    }

    /// Exports frames, and packets that depart before `end`, into the mailboxes of the other parts. Returns
    /// the earliest of the arrivals of this mail and of the departures of remaining packets.
    pub fn export(&mut self, end: Instant, boxes: &mut [Vec<BoundaryMail>]) -> Instant {
        let mut next = Instant::MAX;
        for &(id, to) in &self.crossing {
            let port = &mut self.ports[id.index()];
            while let Some((departs, packet)) = port.export(end, &mut self.packets) {
                next = next.min(departs + port.link().1);
                boxes[to as usize].push(BoundaryMail::Packet { port: id, departs, packet });
            }
            next = next.min(port.egress.transmitter.next_departure());
        }
        for (to, frame) in self.frames.drain(..) {
            next = next.min(frame.at);
            boxes[to as usize].push(BoundaryMail::Frame(frame));
        }
        next
    }

    /// Takes mail from another part.
    pub fn import(&mut self, events: &mut EventQueue<impl WithNetwork>, mail: BoundaryMail) {
        let (port, departs, packet) = match mail {
            BoundaryMail::Packet { port, departs, packet } => (port, departs, packet),
            BoundaryMail::Frame(frame) => return self.deliver_frame(events, frame),
        };
        let sender = &mut self.ports[port.index()];
        if let Some(at) = sender.egress.transmitter.import(departs, packet, &mut self.packets) {
            events.schedule(at, sender.to(), NetworkEvent::Arrive(port).into());
        }
    }

    /// Merges the other parts into part 0 after a run. Rings keep packet numbers of other parts, but only
    /// their count is read.
    pub fn join(&mut self, mut others: Vec<Network>, owner: &[u32]) {
        for index in 0..self.ports.len() {
            let port = &self.ports[index];
            let [from, to] = [port.from, port.to()].map(|node| owner[node.index()] as usize);
            if let Some(other) = to.checked_sub(1).map(|other| &others[other]) {
                self.take_flow_control(PortId::from(index), other);
            }
            // Port `index` of part 0 swaps places with the port of its owner, which has the valid state.
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
                let far = &mut others[place - 1].ports[index];
                self.ports[index].egress.transmitter.join(&mut far.egress.transmitter);
            }
        }
        self.sent += others.iter().map(|part| part.sent).sum::<u64>();
        self.delivered += others.iter().map(|part| part.delivered).sum::<u64>();
    }
}
