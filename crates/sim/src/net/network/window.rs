//! Windows at a switch. If the outputs are independent, packets are handled output by output.

use super::returned::turn_round;
use super::{Network, WithNetwork, settle};
use crate::engine::EventQueue;
use crate::net::forwarded::{Forwarded, Output, Windows};
use crate::net::{NetworkEvent, Port, PortEvent};
use crate::packet::{PacketId, Packets};
use shortflow_units::{Instant, NodeId, PortId};
use std::collections::VecDeque;

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
            by_output[port.to().index()] &= !port.is_faulty();
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
        let passed = self.gather(events, node);
        let may_return = |Windows { numbers, outputs, touched, .. }: &Windows| {
            let arrivals = |out: &PortId| outputs[numbers[out.index()] as usize].count();
            touched.iter().any(|out| self.ports[out.index()].may_return(arrivals(out)))
        };
        if self.senders.is_some() && may_return(&self.windows) {
            return passed + self.enqueue_in_order(events, node);
        }
        passed + self.enqueue_sorted(events, reached)
    }

    /// Enqueues the sorted packets of all outputs in order of time, because headers that an output returns go to
    /// another output at once. All ports have schedulers. Returns the number of transmissions that end.
    #[inline(never)] // keeps the common path short
    fn enqueue_in_order(&mut self, events: &mut EventQueue<impl WithNetwork>, node: NodeId) -> u64 {
        let Network { ports, packets, routes, chooser, senders, windows, .. } = self;
        let mut used = std::mem::take(&mut windows.touched);
        let mut due: VecDeque<(Forwarded, PortId)> = VecDeque::new();
        for out in &used {
            let output = &mut windows.outputs[windows.numbers[out.index()] as usize];
            due.extend(output.sorted().iter().map(|forwarded| (*forwarded, *out)));
            output.clear();
        }
        due.make_contiguous().sort_by(|(one, _), (other, _)| one.order(other));
        let (mut ended, mut returned) = (0, Vec::new());
        while let Some((next, out)) = due.pop_front() {
            let port = &mut ports[out.index()];
            ended += enqueue_after(events, (port, out), packets, &next, |header| returned.push(header));
            for id in returned.drain(..) {
                let packet = packets.get_mut(id);
                turn_round(packet, senders);
                if let Some(back) = routes.of_packet(node, packet, chooser) {
                    due.push_front((Forwarded { id, ..next }, back));
                    if !used.contains(&back) {
                        used.push(back);
                    }
                }
            }
        }
        for out in used {
            ended += end_window(events, (&mut ports[out.index()], out), packets);
        }
        ended
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
            let (source, mut count) = (&mut ports[from.index()].egress.transmitter, 0);
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
        let Network { ports, packets, reports, windows: Windows { numbers, outputs, touched, .. }, .. } =
            self;
        let mut ended = 0;
        for out in touched.drain(..) {
            let output = &mut outputs[numbers[out.index()] as usize];
            let (target, taken) = (&mut ports[out.index()], output.sorted());
            if target.is_scheduled() {
                ended += enqueue_scheduled(events, (target, out), packets, taken);
            } else {
                for forwarded in taken {
                    let packet = packets.get_mut(forwarded.id);
                    let Some(departure) = target.egress.offer(forwarded.at, packet.frame()) else {
                        packet.hop = packet.hop.wrapping_add(1);
                        target.enqueue(forwarded.at, packets, forwarded.id, |due| {
                            settle((events, reports), out, due)
                        });
                        continue;
                    };
                    packet.go(departure.waits, departure.is_marked, false);
                    match target.egress.transmitter.start(departure.departs, forwarded.id, packet.wire) {
                        Some((at, _)) if target.egress.transmitter.leads_to_early_host() => {
                            reached.push((out, at))
                        }
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

/// Enqueues packets at a port with a scheduler, and ends transmissions that are due before them or in the rest of the
/// window. Returns the number of transmissions that end.
#[inline(never)] // keeps the path of ports without scheduler short
fn enqueue_scheduled(
    events: &mut EventQueue<impl WithNetwork>,
    (target, out): (&mut Port, PortId),
    packets: &mut Packets,
    taken: &[Forwarded],
) -> u64 {
    let no_return =
        |_| debug_assert!(false, "a header is returned in a window in which no queue can be full");
    let enqueue = |next: &Forwarded| enqueue_after(events, (target, out), packets, next, no_return);
    let ended = taken.iter().map(enqueue).sum::<u64>();
    ended + end_window(events, (target, out), packets)
}

/// Ends the transmissions of a port that are due before a packet, and enqueues the packet. `give_back` receives headers
/// that return. Returns the number of transmissions that end.
#[inline(always)]
fn enqueue_after(
    events: &mut EventQueue<impl WithNetwork>,
    (target, out): (&mut Port, PortId),
    packets: &mut Packets,
    next: &Forwarded,
    mut give_back: impl FnMut(PacketId),
) -> u64 {
    let ended = end_transmissions(events, (target, out), packets, next.at);
    let packet = packets.get_mut(next.id);
    match target.egress.offer(next.at, packet.frame()) {
        Some(departure) => {
            packet.go(departure.waits, departure.is_marked, false);
            if let Some((at, to)) = target.egress.transmitter.start(departure.departs, next.id, packet.wire) {
                events.schedule(at, to, NetworkEvent::Arrive(out).into());
            }
        }
        None => {
            packet.hop = packet.hop.wrapping_add(1);
            target.enqueue(next.at, packets, next.id, |due| match due {
                PortEvent::Arrival(at, to) => events.schedule(at, to, NetworkEvent::Arrive(out).into()),
                PortEvent::Returned(header) => give_back(header),
                PortEvent::Done(..) | PortEvent::Left(_) => {} // these functions end transmissions, and this is no host's port
            });
        }
    }
    ended
}

/// Ends the transmissions of a port that are due before `end`. Returns their number.
#[inline(always)]
fn end_transmissions(
    events: &mut EventQueue<impl WithNetwork>,
    (target, out): (&mut Port, PortId),
    packets: &mut Packets,
    end: Instant,
) -> u64 {
    let mut ended = 0;
    while let Some(at) = target.egress.transmitter.next_done().filter(|done| *done < end) {
        ended += 1;
        target.transmit_done(at, packets, |due| {
            if let PortEvent::Arrival(at, to) = due {
                events.schedule(at, to, NetworkEvent::Arrive(out).into());
            }
        });
    }
    ended
}

/// Ends the transmissions of a port that are due in the rest of the window. Returns their number.
fn end_window(
    events: &mut EventQueue<impl WithNetwork>,
    (target, out): (&mut Port, PortId),
    packets: &mut Packets,
) -> u64 {
    let end = events.end_of_window();
    let ended = end_transmissions(events, (target, out), packets, end);
    if let Some(done) = target.egress.transmitter.next_done() {
        events.schedule(done, target.from, NetworkEvent::TransmitDone(out).into());
    }
    ended
}
