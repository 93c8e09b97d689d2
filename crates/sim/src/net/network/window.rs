//! Windows at a switch. If the outputs are independent, packets are handled output by output.

use super::{Network, WithNetwork, settle};
use crate::engine::EventQueue;
use crate::net::forwarded::{Forwarded, Output, Windows};
use crate::net::{NetworkEvent, Port, PortEvent};
use crate::packet::Packets;
use shortflow_units::{Instant, NodeId, PortId};

/// Number of packets of a channel that are prefetched together; a channel of a fast link has some five in a window.
const FETCHED: usize = 8;

impl Network {
    /// Prepares a network for windows. With `by_output`, switches handle packets output by output where
    /// possible.
    pub fn with_windows(mut self, nodes: usize, by_output: bool) -> Network {
        let is_plain = by_output && !self.chooser.draws() && self.special.is_none() && self.outages.is_none();
        let mut by_output = vec![is_plain; nodes];
        by_output[..self.hosts].fill(false);
        let (mut counts, mut numbers) = (vec![0; nodes], Vec::new());
        for port in &self.ports {
            by_output[port.to.index()] &= !port.is_faulty();
            numbers.push(counts[port.from.index()]);
            counts[port.from.index()] += 1;
        }
        let outputs = vec![Output::default(); counts.iter().max().copied().unwrap_or(0) as usize];
        self.windows = Windows { by_output, numbers, outputs, touched: Vec::new() };
        self
    }

    /// True if [`Network::pass_window`] handles windows of `node`.
    #[inline]
    pub fn goes_by_output(&self, node: NodeId) -> bool {
        self.windows.by_output[node.index()]
    }

    /// Forwards all packets that reach `node` in its window. Adds the ports to hosts that take packets early
    /// to `reached`, with the arrival times. Returns the number of events that this replaces.
    pub fn pass_window(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        node: NodeId,
        reached: &mut Vec<(PortId, Instant)>,
    ) -> u64 {
        self.gather(events, node) + self.enqueue_sorted(events, reached)
    }

    /// Sorts the packets that reach `node` in its window by output. Returns their number.
    #[inline(never)] // a function of its own has all registers
    fn gather(&mut self, events: &mut EventQueue<impl WithNetwork>, node: NodeId) -> u64 {
        let (end, mut passed) = (events.end_of_window(), 0);
        let Network { ports, packets, paths, routes, chooser, windows, .. } = self;
        while let Some(channel) = events.take_channel() {
            let from = match NetworkEvent::on_channel(channel) {
                NetworkEvent::Arrive(port) => port,
                event => {
                    if let NetworkEvent::TransmitDone(port) = event {
                        windows.touch(port);
                    }
                    continue;
                }
            };
            let (source, mut count) = (&mut ports[from.index()], 0);
            source.prefetch_packets(packets, FETCHED); // a window ago they were elsewhere in the table
            while let Some((at, id)) = source.arrival(packets, count) {
                if at >= end {
                    events.put_off(channel, at);
                    break;
                }
                let packet = packets.get(id);
                let route = || routes.of_packet(node, packet, chooser);
                if let Some(next) = paths.next(packet).or_else(route) {
                    Forwarded { at, from, id }.insert_sorted(windows.touch(next));
                }
                count += 1;
            }
            source.skip(count);
            passed += count as u64;
        }
        passed
    }

    /// Enqueues the sorted packets at their ports. Returns the number of transmissions that end.
    #[inline(never)] // a function of its own has all registers
    fn enqueue_sorted(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        reached: &mut Vec<(PortId, Instant)>,
    ) -> u64 {
        let Network { ports, packets, left, windows: Windows { numbers, outputs, touched, .. }, .. } = self;
        let mut ended = 0;
        for out in touched.drain(..) {
            let output = &mut outputs[numbers[out.index()] as usize];
            let (target, taken) = (&mut ports[out.index()], output.sorted());
            if target.is_scheduled() {
                ended += enqueue_scheduled(events, (target, out), packets, taken);
            } else {
                for forwarded in taken {
                    let packet = packets.get_mut(forwarded.id);
                    let Some(departure) = target.offer(forwarded.at, packet.frame()) else {
                        packet.hop = packet.hop.wrapping_add(1);
                        target.enqueue(forwarded.at, packets, forwarded.id, |due| {
                            settle((events, left), out, due)
                        });
                        continue;
                    };
                    packet.go(departure.waits, departure.is_marked, false);
                    match target.start_transmission(departure.departs, forwarded.id, packet.wire) {
                        Some((at, _)) if target.pulls => reached.push((out, at)),
                        Some((at, to)) => events.schedule(at, to, NetworkEvent::Arrive(out).into()),
                        None => {}
                    }
                }
            }
            output.clear();
        }
        ended
    }
}

/// Enqueues packets at a port with a scheduler, and ends transmissions that are due before them. Returns the
/// number of transmissions that end.
#[inline(never)] // keeps the path of ports without scheduler short
fn enqueue_scheduled(
    events: &mut EventQueue<impl WithNetwork>,
    (target, out): (&mut Port, PortId),
    packets: &mut Packets,
    taken: &[Forwarded],
) -> u64 {
    let (end, mut ended) = (events.end_of_window(), 0);
    let mut wake = |due| match due {
        PortEvent::Arrival(at, to) => events.schedule(at, to, NetworkEvent::Arrive(out).into()),
        PortEvent::Done(..) | PortEvent::Left(_) => {} // the loop below ends transmissions, and this is no host's port
    };
    let mut taken = taken.iter().peekable();
    let mut done = target.next_done();
    loop {
        if let Some(next) = taken.next_if(|next| done.is_none_or(|done| next.at <= done)) {
            let packet = packets.get_mut(next.id);
            match target.offer(next.at, packet.frame()) {
                Some(departure) => {
                    packet.go(departure.waits, departure.is_marked, false);
                    let head = target.start_transmission(departure.departs, next.id, packet.wire);
                    head.into_iter().for_each(|(at, to)| wake(PortEvent::Arrival(at, to)));
                }
                None => {
                    packet.hop = packet.hop.wrapping_add(1);
                    target.enqueue(next.at, packets, next.id, &mut wake);
                }
            }
        } else if let Some(at) = done.filter(|done| *done < end) {
            ended += 1;
            target.transmit_done(at, packets, &mut wake);
        } else {
            break;
        }
        done = target.next_done();
    }
    if let Some(done) = done {
        events.schedule(done, target.from, NetworkEvent::TransmitDone(out).into());
    }
    ended
}
