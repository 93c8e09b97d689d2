//! Samples and progress estimates during a run, and the outcome at its end.

use super::super::event::Event;
use super::super::part::owns;
use super::{Backlogged, DRAIN, Simulation, TICK};
use crate::engine::NodeScope;
use crate::host::{Message, SenderSnapshot};
use crate::net::Port;
use crate::outcome::{Counters, DropRow, Outcome, PortRow};
use crate::probe::{Sample, Subject, throughput};
use crate::theory::fct::ideal_fct;
use shortflow_units::{ConnId, Instant, Occupancy, Span};

/// Smallest window, in segments, whose ratio to the path's capacity is computed.
const WORTH_A_LOOK: f64 = 100.0;

impl Simulation<'_> {
    /// Samples queues, windows and rates.
    pub(super) fn sample(&mut self) {
        let at = self.events.now();
        let rows = 2 * self.measured.len() + self.scenario.classes.len() + 4 * self.backlogged.len();
        if !self.samples.try_reserve(rows) {
            self.is_full = true;
            return;
        }
        for &port in &self.measured {
            if self.part.as_ref().is_some_and(|part| !part.owns(self.network.ports()[port.index()].from)) {
                continue;
            }
            let backlog = self.network.backlog(port, at);
            let (packets, bytes) = (f64::from(backlog.packets), backlog.bytes.as_f64());
            self.samples.push(Sample { at, subject: Subject::QueuePackets(port), value: packets });
            self.samples.push(Sample { at, subject: Subject::QueueBytes(port), value: bytes });
        }
        let time = at.since(self.sampled);
        self.sampled = at;
        match self.part {
            None => self.meter.sample(at, time, &mut self.samples),
            Some(_) => self.meter.take(at, &mut self.samples, |bytes| bytes as f64), // `join_samples` divides by the time
        }
        for Backlogged { conn, flow, sampled } in &mut self.backlogged {
            let connection = self.connections.slot(*conn);
            if !owns(&self.part, connection.source) {
                continue;
            }
            let flow = *flow;
            let ends = &connection.ends;
            let acked = ends.acked() - std::mem::replace(sampled, ends.acked());
            let SenderSnapshot { window, rate, alpha } = ends.view(at);
            let quantities = [
                (Subject::FlowThroughput(flow), Some(throughput(acked, time))),
                (Subject::Cwnd(flow), window.map(|window| window.cwnd)),
                (Subject::Rate(flow), rate.map(|rate| rate.as_bps() as f64)),
                (Subject::Alpha(flow), alpha),
            ];
            for (subject, value) in quantities {
                value.into_iter().for_each(|value| self.samples.push(Sample { at, subject, value }));
            }
        }
        if let Some(at) = self.scenario.measure.sample_every.map(|every| at + every)
            && at <= self.window.end
        {
            self.events.schedule(at, NodeScope::GLOBAL, Event::Sample);
        }
    }

    /// Estimates the end of the run from all open measured flows. The interval to the next estimate grows
    /// with the number of connections, to keep the cost small.
    pub(super) fn estimate_end(&mut self) {
        let (now, flows, before, mut slots) =
            (self.events.now(), &self.flows, std::mem::take(&mut self.estimate.acked_before), 0);
        let (mut rest, mut unknown, mut rated) = (Span::ZERO, 0, (0.0, 0.0));
        let at_rate = |left: u64, (time, bytes): (f64, f64)| Span::from_secs_f64(time * left as f64 / bytes);
        for (_, connection) in self.connections.iter_mut() {
            slots += 1;
            if !owns(&self.part, connection.source) {
                continue;
            }
            let ends = &connection.ends;
            let counts = |message: &&Message| message.flow.0 < DRAIN && !message.is_backlogged();
            let Some(message) = ends.messages().first().filter(counts) else { continue };
            let (size, acked) = (message.end - message.start, message.acked(ends.acked()));
            // Use the rate over the last quarter to half of the flow's life, timeouts included. The initial
            // window would bias the rate of younger flows.
            let start = flows[message.flow.index()].start;
            let [older, newer] = before.get(&message.flow).copied().unwrap_or([(start, 0); 2]);
            let is_over = now.since(newer.0).times(4) > now.since(start);
            self.estimate
                .acked_before
                .insert(message.flow, if is_over { [newer, (now, acked)] } else { [older, newer] });
            let (time, progress) = (now.since(older.0).as_secs_f64(), acked - older.1);
            if progress > 0 && (older.0 > start || 10 * acked >= size) {
                rest = rest.max(at_rate(size - acked, (time, progress as f64)));
                rated = (rated.0 + time, rated.1 + progress as f64);
            } else {
                unknown = unknown.max(size - acked);
            }
            rest = rest.max(ends.stalled_until(now).map_or(Span::ZERO, |until| until.max(now).since(now)));
        }
        if rated.1 > 0.0 {
            self.estimate.rated = rated;
        }
        if self.estimate.rated.1 > 0.0 {
            rest = rest.max(at_rate(unknown, self.estimate.rated));
        }
        // Assume that similar flows are open at the end of the measured time.
        self.estimate.end = now.max(self.window.end) + rest;
        // 64 events per connection keep the estimate's share of the run time small.
        self.estimate.next = self.handled + 8 * TICK + 64 * slots;
    }

    /// End of the run. If flows stall for ever, the run ends with the drain, although the last event is much
    /// earlier.
    pub(in crate::simulation) fn end(&self) -> Instant {
        if self.pending > 0 { self.window.end + self.scenario.drain } else { self.events.now() }
    }

    /// Ends the run: records open flows, ports and totals.
    pub(in crate::simulation) fn finish(mut self) -> Outcome {
        let end = self.end();
        self.record_open();
        let length = self.window.end.since(self.window.start).as_secs_f64();
        let counters = Counters {
            events: self.handled,
            packet_hops: self.network.hops(),
            packets_sent: self.network.sent(),
            packets_delivered: self.network.delivered(),
            packets_dropped: self.network.dropped(),
            packets_in_flight: self.network.in_flight(),
            unfinished: self.pending,
            connections_peak: self.connections.peak(),
            drain_flows: self.drained.0,
            drain_bytes: self.drained.1,
        };
        let ports = PortRow::all(&self.network, length);
        let drops = DropRow::all(&self.network);
        let (flows, drain_flows, samples) = (self.flows, self.drain_flows, self.samples);
        let (tasks, long_paths) = (self.sources.into_tasks(), self.long_paths);
        Outcome { flows, drain_flows, tasks, samples, ports, drops, long_paths, counters, end }
    }

    /// Ratio of a connection's window to the capacity of its path (bandwidth-delay product, switch buffers
    /// and the host's small queue). Returns 0, without a search for the path, for windows of up to 100
    /// segments.
    pub(super) fn width(&mut self, conn: ConnId) -> f64 {
        let (now, tcp) = (self.events.now(), &self.scenario.tcp);
        let connection = self.connections.slot(conn);
        let Some(cwnd) = connection.ends.cwnd(now).filter(|cwnd| *cwnd > WORTH_A_LOOK) else { return 0.0 };
        let (source, to, flow_id) = (connection.source, connection.destination, connection.flow_id);
        let there = self.network.path(source, to, flow_id);
        let round_trip = ideal_fct(tcp.mss, tcp, &there, &self.network.path(to, source, flow_id));
        let (full, on_link) = (tcp.full_frame().as_f64(), tcp.link_bytes(tcp.mss).as_f64());
        let rate = there.rate().map_or(0.0, |rate| rate.as_bps() as f64 / 8.0);
        let buffer = |port: &Port| match self.scenario.switch_port(port.from, port.to()).buffer {
            Occupancy::Packets(packets) => f64::from(packets),
            Occupancy::Bytes(bytes) => bytes.as_f64() / full,
            Occupancy::Unlimited => f64::INFINITY,
        };
        let buffers: f64 = self.network.ports_on_path(source, to, flow_id).skip(1).map(buffer).sum();
        cwnd / (rate * round_trip.as_secs_f64() / on_link
            + buffers
            + f64::from(self.scenario.conduct.small_queue))
    }

    fn record_open(&mut self) {
        let open: Vec<ConnId> = self.connections.iter_mut().map(|(conn, _)| conn).collect();
        for conn in open {
            // Copy one message at a time: a list of all messages would be as large as the flow table.
            for number in 0.. {
                let message = self.connections.slot(conn).ends.messages_mut().iter_mut().nth(number).copied();
                let Some(message) = message else { break };
                self.record(conn, &message);
                let is_pending = message.flow.0 < DRAIN && !message.is_backlogged();
                self.pending -= u64::from(is_pending && message.finish.is_some());
            }
        }
    }
}
