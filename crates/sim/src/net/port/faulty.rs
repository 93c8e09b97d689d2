//! Ports whose links have faults.

use super::{Backlog, InFlight, Port, PortEvent, Queue};
use crate::net::faults::WireOutcome;
use crate::packet::{Packet, Packets};
use crate::priorities::PrioritySet;
use crate::queue::{DropReason, Scheduler, SchedulerEffects};
use shortflow_units::{Bytes, Instant};

/// Methods of a port whose link can fail, and can damage or delay packets.
impl Port {
    /// True if the head of the wire arrives at `now`. False if the link has failed since the event was
    /// scheduled.
    pub fn is_due(&mut self, packets: &mut Packets, now: Instant) -> bool {
        self.arrival_of_head(packets) == Some(now)
    }

    /// Delivers `packet` from the wire, drops it, or delays it. The error is the time until which the packet
    /// is delayed, or `None` if the packet is dropped.
    pub fn pass(&mut self, now: Instant, packet: &mut Packet) -> Result<(), Option<Instant>> {
        let Some(faults) = &mut self.faults else { return Ok(()) };
        match faults.pass() {
            WireOutcome::Delivered => Ok(()),
            WireOutcome::Corrupted => {
                self.drop(DropReason::Corrupted, packet);
                Err(None)
            }
            WireOutcome::Delayed(by) => {
                faults.hold(now + by, packet.take());
                Err(Some(now + by))
            }
        }
    }

    /// Packet that was delayed until `now`.
    pub fn release(&mut self, now: Instant) -> Option<Packet> {
        self.faults.as_mut()?.release(now)
    }

    /// True if the link is down.
    pub fn is_down(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.is_down())
    }

    /// Lets the link fail. Waiting packets and packets on the wire are lost.
    pub fn fail(&mut self, now: Instant, packets: &mut Packets, mut wake: impl FnMut(PortEvent)) {
        self.advance_departures(now);
        let Some(faults) = &mut self.faults else { return };
        if let Some(dropped) = &mut self.dropped {
            let ring = self.ring.iter().map(|next| packets.get(next.packet));
            dropped.extend(faults.kept().chain(ring).map(|packet| (DropReason::LinkDown, packet.clone())));
        }
        let mut lost = faults.fail() + self.ring.len() as u64;
        for &InFlight { departs, wire, .. } in self.ring.undeparted() {
            let size = Bytes::new(wire.into());
            let takes = self.tx_time(size);
            let starts = Instant::ZERO + departs.since(Instant::ZERO).saturating_sub(takes);
            self.counters.cancel(&self.window, now, (starts, departs), size);
        }
        self.forget_pauses(now);
        self.queue.pause(PrioritySet::NONE);
        if let Queue::Scheduled(queue) = &mut self.queue {
            let mut effects = SchedulerEffects::default();
            while let Some(waiting) = queue.dequeue(now, &mut effects) {
                effects.drop(DropReason::LinkDown, waiting);
            }
            lost += effects.drops().count() as u64;
            for (reason, waiting) in effects.drops() {
                self.counters.evict(&self.window, now, waiting.wire_size());
                let packet = waiting.take(packets);
                self.free(waiting, waiting.wire);
                self.tell(&packet, Instant::ZERO, &mut wake);
                self.dropped.iter_mut().for_each(|dropped| dropped.push((reason, packet.clone())));
            }
        }
        self.lost_on_wire += self.ring.departed() as u64;
        self.counters.drops.count(DropReason::LinkDown, lost);
        if let Some(levels) = &mut self.levels {
            levels.empty(now);
        }
        self.ring.iter().for_each(|next| drop(packets.take(next.packet)));
        self.ring.clear();
        self.backlog = Backlog::default();
        self.waits = false;
        self.queue.pause(self.paused());
        self.busy_until = now;
    }

    /// Lets the link recover.
    pub fn restore(&mut self) {
        if let Some(faults) = &mut self.faults {
            faults.restore();
        }
    }
}
