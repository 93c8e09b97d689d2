//! Frames that pause or resume a priority of data at the other end of a link.

use super::{Network, WithNetwork, settle};
use crate::engine::EventQueue;
use crate::net::flow_control::{Deadlock, PauseFrame};
use crate::net::{NetworkEvent, Port};
use crate::packet::Packet;
use crate::scenario::lossless::PAUSE_FRAME;
use shortflow_units::{Bytes, Instant, NodeId, PortId};

impl Network {
    /// Schedules the frames of the scenario's pauses, for ports of the nodes for which `is_here` is true.
    pub(super) fn schedule_planned_frames(
        &self,
        events: &mut EventQueue<impl WithNetwork>,
        is_here: impl Fn(NodeId) -> bool,
    ) {
        let here = |(_, port): &(usize, &Port)| is_here(port.from);
        for (number, port) in self.ports.iter().enumerate().filter(here) {
            for at in port.pauses.iter().flat_map(|pauses| pauses.planned_frames()) {
                events.schedule(at, port.from, NetworkEvent::Pause(PortId::from(number)).into());
            }
        }
    }

    /// Notes the port from which the next packet comes, for flow control.
    #[inline]
    pub(super) fn note_source(&mut self, source: Option<PortId>) {
        if let Some(special) = &mut self.special {
            special.source = source;
        }
    }

    /// Sets the priority of the next connection.
    pub fn prioritise(&mut self, priority: u8) {
        if let Some(special) = &mut self.special {
            special.priorities.push(priority);
        }
    }

    /// Handles a frame that reaches `port`. Calls `left_host` for a packet that now leaves its host after a
    /// wait.
    #[inline(never)] // keeps the path of packets short
    pub(super) fn obey_frame(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        port: PortId,
        left_host: impl FnMut(&Packet),
    ) {
        let (now, sender) = (events.now(), &mut self.ports[port.index()]);
        let is_host = sender.from.index() < self.hosts;
        let started =
            sender.obey_frame(now, &mut self.packets, |due| settle((events, &mut self.reports), port, due));
        started.filter(|_| is_host).into_iter().for_each(left_host);
        self.note_drops(now, port);
        self.send_frames(events, port, None);
    }

    /// Judges the links whose packets have left `port`, and the link of `source`, from which a packet
    /// arrived. Sends a frame for each verdict that has changed.
    #[inline(never)] // keeps the path without flow control short
    pub(super) fn send_frames(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        port: PortId,
        source: Option<PortId>,
    ) {
        let Some(special) = self.special.as_deref_mut() else { return };
        let Some(control) = &mut special.flow_control else { return };
        let mut pauses = self.ports[port.index()].pauses.as_mut();
        let freed = pauses.as_mut().map(|pauses| pauses.take_freed()).unwrap_or_default();
        freed.iter().for_each(|freed| control.leave(*freed));
        let links = freed.iter().map(|freed| freed.from).chain(source);
        let mut changed = Vec::new();
        links.for_each(|from| {
            control.update(from, |priority, pauses| changed.push((from, priority, pauses)));
        });
        if let Some(pauses) = pauses {
            pauses.return_freed(freed);
        }
        for (from, priority, pauses) in changed {
            let back = PortId(from.0 ^ 1);
            let sender = &self.ports[back.index()];
            // No frame can cross a failed link. The link is judged again after its recovery.
            if sender.is_down() {
                self.reset_verdict(from);
                continue;
            }
            let (at, delay) =
                (sender.egress.transmitter.frame_arrival(events.now(), PAUSE_FRAME), sender.link().1);
            let departs = Instant::ZERO + at.since(Instant::ZERO + delay);
            self.watch_mut().into_iter().for_each(|watch| watch.frame(departs, back, (priority, pauses)));
            let frame = PauseFrame { port: from, at, priority, pauses };
            // The frame goes on its wire, or into the mail for the part that has the other end.
            match self.crossing.binary_search_by_key(&back, |(port, _)| *port) {
                Ok(place) => self.frames.push((self.crossing[place].1, frame)),
                Err(_) => self.deliver_frame(events, frame),
            }
        }
    }

    /// Schedules the arrival of a frame on a wire.
    pub(in crate::net) fn deliver_frame(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        PauseFrame { port, at, priority, pauses }: PauseFrame,
    ) {
        let sender = &mut self.ports[port.index()];
        if let Some(state) = &mut sender.pauses {
            state.expect_frame(at, priority, pauses);
        }
        events.schedule(at, sender.from, NetworkEvent::Pause(port).into());
    }

    /// Handles flow control when the link of `port` has failed or recovered. Ends the pause of the port,
    /// frees the memory of packets that waited there, and makes the switch at the other end judge the link
    /// again.
    pub(super) fn restart_flow_control(&mut self, events: &mut EventQueue<impl WithNetwork>, port: PortId) {
        self.reset_verdict(port);
        self.send_frames(events, port, Some(port));
    }

    fn reset_verdict(&mut self, from: PortId) {
        if let Some(control) = self.special.as_mut().and_then(|special| special.flow_control.as_mut()) {
            control.reset(from);
        }
    }

    /// Takes the count of a link from the part that simulates its switch.
    pub(in crate::net) fn take_flow_control(&mut self, from: PortId, other: &Network) {
        let mine = self.special.as_mut().and_then(|special| special.flow_control.as_mut());
        let others = other.special.as_ref().and_then(|special| special.flow_control.as_ref());
        mine.zip(others).into_iter().for_each(|(mine, others)| mine.adopt(from, others));
    }

    /// Bytes that flow control counts at all links.
    pub fn counted_at_links(&self) -> Bytes {
        let control = self.special.as_ref().and_then(|special| special.flow_control.as_ref());
        control.map_or(Bytes::ZERO, |control| control.counted())
    }

    /// Runs [`FlowControl::deadlocks`](crate::net::FlowControl::deadlocks) on the network.
    pub(crate) fn deadlocks(&self, deadline: Instant) -> Vec<Deadlock> {
        let control = self.special.as_ref().and_then(|special| special.flow_control.as_ref());
        control.map_or(Vec::new(), |control| control.deadlocks(&self.ports, deadline))
    }
}
