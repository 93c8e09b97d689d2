//! Starts of flows, and opening of their connections.

use super::super::event::{Event, OF_SENDER};
use super::super::outbox::EndpointOutbox;
use super::super::part::owns;
use super::super::sources::{FlowStart, Start};
use super::{Backlogged, DRAIN, Simulation};
use crate::engine::NodeScope;
use crate::host::{ConnectionSetup, EndpointContext, Flow};
use crate::outcome::{FlowRow, LongPath};
use crate::theory::fct::ideal_fct;
use crate::traffic::{ConnectionUse, FlowArrival};
use shortflow_cc::{Opening, Role};
use shortflow_units::{Bytes, ConnId, FlowId, Rate, Span};

impl Simulation<'_> {
    pub(super) fn schedule_flows(&mut self, starts: &[FlowStart]) {
        for &(at, source) in starts {
            self.events.schedule(at, NodeScope::GLOBAL, Event::FlowStart(source as u32));
        }
    }

    /// Schedules flows of applications. The run does not end before these flows have finished.
    pub(super) fn plan_flows(&mut self, starts: &[FlowStart]) {
        self.pending += starts.len() as u64;
        self.schedule_flows(starts);
    }

    pub(super) fn start_flow(&mut self, index: usize) {
        if self.flows.try_reserve(1).is_err() || !self.connections.has_room() || !self.sources.has_room() {
            self.is_full = true;
            return;
        }
        if let Some(start) = self.sources.take(index) {
            let conn = self.connection_for(index, &start.arrival);
            self.push_message(conn, &start);
            self.tell_senders();
        }
        let next = self.sources.advance(index);
        if let Some(at) = next {
            self.events.schedule(at, NodeScope::GLOBAL, Event::FlowStart(index as u32));
        }
    }

    fn connection_for(&mut self, index: usize, arrival: &FlowArrival) -> ConnId {
        let priority = self.scenario.priorities[index];
        let key = |entry, number| Some((entry, arrival.source, arrival.destination, number, priority));
        let key = match arrival.connection {
            ConnectionUse::New => None,
            ConnectionUse::Persistent(number) => key(Some(index), number),
            ConnectionUse::Shared(number) => key(None, number),
        };
        let transport = self.scenario.transports.get(&arrival.class).unwrap_or(&self.scheme.transport);
        let key = key.filter(|_| !transport.info().host.info().by_message);
        if let Some(conn) = key.and_then(|key| self.persistent.get(&key)) {
            return *conn;
        }
        let ends = (arrival.source, arrival.destination);
        let flow_id = self.connections.next_flow_id();
        let path = self.network.path(ends.0, ends.1, flow_id);
        let back = self.network.path(ends.1, ends.0, flow_id);
        let tcp = &self.scenario.tcp;
        let round_trip = ideal_fct(tcp.mss, tcp, &path, &back);
        let (mss, header) = (tcp.mss, tcp.link_bytes(tcp.mss) - tcp.mss);
        let [line, receiver_line] =
            [&path, &back].map(|way| way.links.first().map_or(Rate::MAX, |link| link.0));
        let slowest = path.links.iter().skip(1).chain(back.links.iter().skip(1)).map(|(rate, _)| *rate).min();
        let full = self.scheme.queue.most_ahead(tcp.link_bytes(Bytes::ZERO), tcp.link_bytes(mss));
        let full_queue = full.zip(slowest).map_or(Span::ZERO, |(bytes, rate)| rate.tx_time(bytes));
        let setup = ConnectionSetup {
            tcp,
            at: Opening { now: self.events.now(), line, base_rtt: round_trip, mss, header },
            receiver_line,
            full_queue,
            priority: self.scheme.priority,
            initial_rto: tcp.initial_rto.unwrap_or_else(|| tcp.rto_min.max(round_trip.times(3))),
            small_queue: self.scenario.conduct.small_queue as usize,
            predicts: self.plan.modes.predicts,
        };
        let conn = self.connections.open(ends, key.is_some(), transport, &setup);
        self.network.watch_mut().into_iter().for_each(|watch| watch.open(ends, transport.info().host));
        self.network.prioritise(priority);
        self.network.open((conn, flow_id), ends.0, ends.1);
        if let Some(key) = key {
            self.persistent.insert(key, conn);
        }
        conn
    }

    fn push_message(&mut self, conn: ConnId, start: &Start) {
        let Start { arrival, reply } = start;
        let now = self.events.now();
        let tcp = &self.scenario.tcp;
        let counted = now < self.window.end || start.reply.is_some();
        let flow =
            FlowId::from(if counted { self.flows.len() } else { DRAIN as usize + self.drain_flows.len() });
        let connection = self.connections.slot(conn);
        let path = self.network.path(arrival.source, arrival.destination, connection.flow_id);
        let back = self.network.path(arrival.destination, arrival.source, connection.flow_id);
        let backlogged = arrival.size == Bytes::MAX;
        let class = arrival.class;
        let role = Role::of_class(&self.scenario.classes[class.index()]);
        let deadline = arrival.deadline.map(|allowed| now + allowed);
        let end = connection.ends.push(Flow { flow, class, role, deadline }, arrival.size);
        if let Some(watch) = self.network.watch_mut() {
            watch.begin(connection.flow_id, end, (counted.then_some(flow), class));
            let first = end.saturating_sub(arrival.size.get());
            let (row, permitted) = ((counted && !backlogged).then_some(flow), connection.ends.permitted());
            watch.starts(now, connection.flow_id, (first, end), row, permitted);
        }
        if let Some(reply) = reply {
            connection.has_app_waiter = true;
            self.sources.expect(connection.flow_id, end, *reply);
        }
        let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
        let host = arrival.source;
        let mut outbox =
            EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_SENDER };
        if owns(&self.part, host) {
            connection.ends.start(EndpointContext { now, tcp }, &mut outbox);
        }
        if !counted {
            self.drained.0 += 1;
            self.drained.1 += if backlogged { 0 } else { arrival.size.get() };
            if !self.scenario.measure.drain_flows {
                return;
            }
        }
        let ideal = (!backlogged).then(|| ideal_fct(arrival.size, tcp, &path, &back));
        let task = reply.as_ref().map(|reply| reply.task);
        let row = FlowRow { task, ..FlowRow::new(arrival, ideal) };
        if !counted {
            return self.drain_flows.push(row);
        }
        self.flows.push(row);
        if backlogged {
            let flow_id = self.connections.slot(conn).flow_id;
            let ports = self.network.fixed_ports(arrival.source, arrival.destination, flow_id).collect();
            let delays = path.links.iter().chain(&back.links).map(|(_, delay)| *delay);
            let round_trip = delays.fold(Span::ZERO, |sum, delay| sum + delay);
            self.long_paths.push(LongPath { row: flow.index(), ports, round_trip });
            let sampled = self.connections.slot(conn).ends.acked();
            self.backlogged.push(Backlogged { conn, flow, sampled });
            let stop = arrival.stop.map(|at| (at, NodeScope::GLOBAL, Event::Stop(conn)));
            stop.into_iter().for_each(|(at, site, event)| self.events.schedule(at, site, event));
        } else if reply.is_none() {
            self.pending += 1;
        }
    }
}
