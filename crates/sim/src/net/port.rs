//! A port: queue discipline, transmitter and the wire behind it.
//!
//! Packets of a port with arrival order leave in the order in which they came, so the departure time
//! is known on arrival and one ring holds queue and wire together. Only the ring's head has a pending
//! event; the backlog is brought up to date when someone looks.

use super::{FaultInjector, Packet};
use crate::queue::{Backlog, DropReason, Queue, QueueDiscipline, Verdict};
use shortflow_units::{Bytes, Instant, NodeId, Rate, Span};
use std::collections::VecDeque;

/// The part of a run over which time averages are taken.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// End of the warm-up.
    pub from: Instant,
    /// End of the measured time.
    pub to: Instant,
}

impl Window {
    /// How much of `from..to` lies inside.
    #[inline]
    fn overlap(&self, from: Instant, to: Instant) -> Span {
        to.min(self.to).since(from.max(self.from))
    }

    /// Length.
    pub fn length(&self) -> Span {
        self.to.since(self.from)
    }
}

/// What a port has seen. Counts cover the whole run, times the measured window.
#[derive(Debug, Clone, Copy, Default)]
pub struct PortCounters {
    /// Packets accepted.
    pub accepted: u64,
    /// Bytes accepted, on the wire.
    pub accepted_bytes: Bytes,
    /// Packets dropped for want of room.
    pub dropped_full: u64,
    /// Packets dropped by injected faults.
    pub dropped_fault: u64,
    /// Packets marked here.
    pub marked: u64,
    /// Largest backlog, in the window.
    pub peak: Backlog,
    /// Time the transmitter was busy, in the window.
    pub busy: Span,
    /// Sum over packets of their time in the port, in the window: the integral of the backlog.
    pub packet_time: Span,
    /// Sum over packets of size times time in the port, in byte-picoseconds, in the window.
    pub byte_time: u128,
}

#[derive(Debug, Clone, Copy)]
struct InFlight {
    departs: Instant,
    packet: Packet,
}

/// The sending side of one direction of a link.
#[derive(Debug, Clone)]
pub struct Port {
    /// Node that it belongs to.
    pub from: NodeId,
    /// Node at the other end.
    pub to: NodeId,
    rate: Rate,
    delay: Span,
    queue: Queue,
    faults: Option<Box<FaultInjector>>,
    window: Window,
    busy_until: Instant,
    ring: VecDeque<InFlight>,
    departed: usize,
    backlog: Backlog,
    last_tx: (u32, Span),
    counters: PortCounters,
}

impl Port {
    /// An idle port.
    pub fn new(
        (from, to): (NodeId, NodeId),
        (rate, delay): (Rate, Span),
        queue: Queue,
        faults: Option<Box<FaultInjector>>,
        window: Window,
    ) -> Port {
        Port {
            from,
            to,
            rate,
            delay,
            queue,
            faults,
            window,
            busy_until: Instant::ZERO,
            ring: VecDeque::new(),
            departed: 0,
            backlog: Backlog::default(),
            last_tx: (0, Span::ZERO),
            counters: PortCounters::default(),
        }
    }

    /// Rate and one-way propagation delay.
    pub fn link(&self) -> (Rate, Span) {
        (self.rate, self.delay)
    }

    /// What the port has seen so far.
    pub fn counters(&self) -> &PortCounters {
        &self.counters
    }

    /// Packets queued here or on the wire behind.
    pub fn in_flight(&self) -> usize {
        self.ring.len()
    }

    /// The backlog at `now`.
    pub fn backlog(&mut self, now: Instant) -> Backlog {
        self.retire(now);
        self.backlog
    }

    /// Takes a packet in. Returns when the wire's head arrives, if that has just become known.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, packet: &mut Packet) -> Option<Instant> {
        self.retire(now);
        match self.judge(now, packet) {
            Verdict::Dropped(DropReason::BufferFull) => {
                self.counters.dropped_full += 1;
                return None;
            }
            Verdict::Dropped(DropReason::Fault) => {
                self.counters.dropped_fault += 1;
                return None;
            }
            Verdict::Marked => self.counters.marked += 1,
            Verdict::Queued => {}
        }
        let starts = now.max(self.busy_until);
        let departs = starts + self.tx_time(packet.wire);
        self.busy_until = departs;
        packet.waited += starts.since(now);
        self.account(now, starts, departs, packet);
        self.ring.push_back(InFlight { departs, packet: *packet });
        (self.ring.len() == 1).then(|| departs + self.delay)
    }

    /// Takes the packet that reaches the other end, and when the next one will.
    #[inline]
    pub fn arrive(&mut self) -> Option<(Packet, Option<Instant>)> {
        let packet = self.ring.front()?.packet;
        self.ring.pop_front();
        match self.departed {
            0 => self.leave(&packet),
            _ => self.departed -= 1,
        }
        Some((packet, self.ring.front().map(|next| next.departs + self.delay)))
    }

    fn judge(&mut self, now: Instant, packet: &mut Packet) -> Verdict {
        let fault = self.faults.as_mut().map_or(Verdict::Queued, |faults| faults.arrive(packet));
        if matches!(fault, Verdict::Dropped(_)) {
            return fault;
        }
        match self.queue.arrive(now, self.backlog, packet) {
            Verdict::Queued => fault,
            verdict => verdict,
        }
    }

    #[inline]
    fn account(&mut self, now: Instant, starts: Instant, departs: Instant, packet: &Packet) {
        self.backlog.packets += 1;
        self.backlog.bytes += packet.wire_size();
        let counters = &mut self.counters;
        counters.accepted += 1;
        counters.accepted_bytes += packet.wire_size();
        let (busy, stay) = if now >= self.window.from && departs <= self.window.to {
            (departs.since(starts), departs.since(now))
        } else {
            (self.window.overlap(starts, departs), self.window.overlap(now, departs))
        };
        if !stay.is_zero() {
            counters.peak.packets = counters.peak.packets.max(self.backlog.packets);
            counters.peak.bytes = counters.peak.bytes.max(self.backlog.bytes);
        }
        counters.busy += busy;
        counters.packet_time += stay;
        counters.byte_time += u128::from(packet.wire) * u128::from(stay.as_ps());
    }

    #[inline]
    fn retire(&mut self, now: Instant) {
        while let Some(&InFlight { packet, .. }) =
            self.ring.get(self.departed).filter(|next| next.departs <= now)
        {
            self.leave(&packet);
            self.departed += 1;
        }
    }

    #[inline]
    fn leave(&mut self, packet: &Packet) {
        self.backlog.packets -= 1;
        self.backlog.bytes = self.backlog.bytes - packet.wire_size();
    }

    /// Transmission time; most packets of a port have one size, which saves the division.
    #[inline]
    fn tx_time(&mut self, wire: u32) -> Span {
        if self.last_tx.0 != wire {
            self.last_tx = (wire, self.rate.tx_time(Bytes::new(u64::from(wire))));
        }
        self.last_tx.1
    }
}
