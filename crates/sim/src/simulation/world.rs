//! Everything that changes during a run, and the loop that changes it.

use super::connections::{Connections, Fired};
use super::event::Event;
use super::sources::{FlowStart, Sources, Start};
use super::{Observer, RunError, Standing};
use crate::engine::{EventQueue, Seeds};
use crate::net::Network;
use crate::outcome::{Counters, DropRow, FlowRow, Outcome, PortRow};
use crate::packet::{Kind, Packet};
use crate::probe::{ClassMeter, Sample, Subject, throughput};
use crate::queue::QueueConfig;
use crate::scenario::{Fault, Scenario};
use crate::scheme::Scheme;
use crate::tcp::{Egress, Flow, Message, Tally};
use crate::theory::fct::ideal_fct;
use crate::traffic::{Arrival, ConnectionUse};
use shortflow_cc::Role;
use shortflow_units::{Bytes, ConnId, FlowId, HostId, Instant, PortId, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// Flows that start after the measured time: load for the others, without a row of their own.
const UNCOUNTED: FlowId = FlowId(u32::MAX);

/// Events between two looks at the observer.
const TICK: u64 = 8192;

pub(super) struct World<'a> {
    pub(super) scenario: &'a Scenario,
    scheme: &'a Scheme,
    pub(super) events: EventQueue<Event>,
    pub(super) network: Network,
    pub(super) connections: Connections,
    persistent: BTreeMap<(usize, HostId, HostId, u32), ConnId>,
    sources: Sources,
    pub(super) flows: Vec<FlowRow>,
    backlogged: Vec<Backlogged>,
    measured: Vec<PortId>,
    samples: Vec<Sample>,
    sampled: Instant,
    meter: ClassMeter,
    handled: u64,
    /// Finite flows that are not done, those included that applications have planned.
    pending: u64,
    /// The measured time.
    window: Range<Instant>,
    measuring_over: bool,
    /// Packets that hosts took.
    pub(super) taken: u64,
    /// Whether packets of a connection stay in order.
    pub(super) keeps_order: bool,
    /// The first invariant that a connection broke.
    pub(super) broken: Option<String>,
}

/// A flow without end, and how much of it had been acknowledged when the last sample was taken.
struct Backlogged {
    conn: ConnId,
    flow: FlowId,
    sampled: u64,
}

/// The port of a host, as its TCP sees it.
struct Outbox<'a> {
    network: &'a mut Network,
    events: &'a mut EventQueue<Event>,
    host: HostId,
}

impl Egress for Outbox<'_> {
    #[inline]
    fn send(&mut self, packet: Packet) -> Span {
        self.network.send(self.events, self.host, packet)
    }
}

/// The scheme's queue works with the thresholds of every switch.
fn check_thresholds(scenario: &Scenario, scheme: &Scheme) -> Result<(), RunError> {
    let QueueConfig::Red(red) = &scheme.queue else { return Ok(()) };
    let graph = &scenario.graph;
    let ports = graph.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
    let mut of_switches = ports.filter(|(from, _)| !graph.is_host(*from));
    match of_switches.all(|(from, to)| red.accepts(scenario.switch_port(from, to).mark_above)) {
        true => Ok(()),
        false => Err(RunError::RedWithoutThreshold),
    }
}

/// Whether packets of a connection arrive in the order in which they were sent, but for those that are
/// dropped.
fn keeps_order(scenario: &Scenario, scheme: &Scheme) -> bool {
    let disorders = |fault: &Fault| fault.reorder.0 > 0.0 || fault.outage.is_some();
    !scheme.queue.kind().reorders() && !scenario.faults.iter().any(disorders)
}

impl<'a> World<'a> {
    pub(super) fn new(scenario: &'a Scenario, scheme: &'a Scheme, seed: u64) -> Result<Self, RunError> {
        check_thresholds(scenario, scheme)?;
        let seeds = Seeds::new(seed);
        let network = Network::new(scenario, &scheme.queue, seeds)?;
        let mut world = World {
            measured: network.ports_between(&scenario.measure.ports),
            meter: ClassMeter::new(scenario.classes.len()),
            sources: Sources::new(scenario, seeds),
            scenario,
            scheme,
            events: EventQueue::new(),
            network,
            connections: Connections::default(),
            persistent: BTreeMap::new(),
            flows: Vec::new(),
            backlogged: Vec::new(),
            samples: Vec::new(),
            sampled: Instant::ZERO,
            handled: 0,
            pending: 0,
            window: Instant::ZERO + scenario.warmup..Instant::ZERO + scenario.duration,
            measuring_over: false,
            taken: 0,
            keeps_order: keeps_order(scenario, scheme),
            broken: None,
        };
        world.events.schedule(world.window.start, Event::WarmUpEnd);
        world.events.schedule(world.window.end, Event::MeasureEnd);
        world.network.begin(&mut world.events);
        if scenario.measure.sample_every.is_some() {
            world.events.schedule(Instant::ZERO, Event::Sample);
        }
        let (known, planned) = world.sources.begin();
        world.schedule_flows(&known);
        world.plan_flows(&planned);
        Ok(world)
    }

    /// Handles events until the measured time is over and every finite flow is done, or until the
    /// drain is over too.
    pub(super) fn run(&mut self, observer: &mut dyn Observer) -> Result<(), RunError> {
        let limit = self.window.end + self.scenario.drain;
        while let Some(event) = self.events.next(limit) {
            self.handle(event);
            self.handled += 1;
            if self.measuring_over && self.pending == 0 {
                break;
            }
            if self.handled.is_multiple_of(TICK) && !observer.tick(self.standing()) {
                return Err(RunError::Cancelled);
            }
        }
        Ok(())
    }

    fn standing(&self) -> Standing {
        let flows = (self.flows.len() - self.backlogged.len()) as u64;
        Standing { now: self.events.now(), open: self.pending, flows: flows.max(self.pending) }
    }

    #[inline(always)] // an event that is handed over costs its packing and unpacking
    fn handle(&mut self, event: Event) {
        match event {
            Event::Network(event) => {
                if let Some(packet) = self.network.handle(&mut self.events, &self.scenario.graph, event) {
                    self.receive(&packet);
                }
            }
            Event::Retransmit(conn) => self.on_retransmit_timer(conn),
            Event::DelayedAck(conn) => self.on_delayed_ack_timer(conn),
            Event::FlowStart(source) => self.start_flow(source as usize),
            Event::Sample => self.sample(),
            Event::WarmUpEnd => {
                let kept =
                    if self.scenario.measure.sample_every.is_some() { &self.measured[..] } else { &[] };
                self.network.open_window(self.events.now(), kept);
                self.for_each_message(|message, snd_una| message.acked_at_start = message.acked(snd_una))
            }
            Event::MeasureEnd => {
                self.network.close_window(self.events.now());
                self.for_each_message(|message, snd_una| message.acked_at_end = Some(message.acked(snd_una)));
                self.measuring_over = true;
            }
        }
    }

    /// A packet reaches its host. Late packets of closed connections end here.
    #[inline(never)] // keeps the path of packets at switches short
    fn receive(&mut self, packet: &Packet) {
        self.taken += 1;
        let now = self.events.now();
        let tcp = &self.scenario.tcp;
        let Some(connection) = self.connections.get(packet.conn, packet.flow_id) else { return };
        let (network, events) = (&mut self.network, &mut self.events);
        match packet.kind {
            Kind::Data => {
                let mut message_end = u64::MAX;
                if let Some(message) = connection.sender.message_mut(packet.seq) {
                    message.tally.count_arrived(packet);
                    message_end = message.end;
                }
                let mut out = Outbox { network, events, host: connection.destination };
                connection.receiver.on_data(now, packet, tcp, &mut out);
                if tcp.ack_message_end && connection.receiver.has_unanswered(message_end) {
                    connection.receiver.on_timer(tcp, &mut out);
                }
                if let Some(at) = connection.delayed_ack.arm(connection.receiver.timer()) {
                    self.events.schedule(at, Event::DelayedAck(packet.conn));
                }
                if connection.awaited {
                    let starts = self.sources.delivered(now, packet.flow_id, connection.receiver.received());
                    self.plan_flows(&starts);
                }
            }
            Kind::Ack => {
                let before = connection.sender.snd_una();
                let mut out = Outbox { network, events, host: connection.source };
                connection.sender.on_ack(now, packet, tcp, &mut out);
                let acked = connection.sender.snd_una() - before;
                if let Some(class) = connection.sender.class() {
                    self.meter.count(class, acked);
                }
                self.settle(packet.conn);
            }
            Kind::Syn => {
                let mut out = Outbox { network, events, host: connection.destination };
                connection.receiver.on_syn(tcp, &mut out);
            }
            Kind::SynAck => {
                let mut out = Outbox { network, events, host: connection.source };
                connection.sender.on_syn_ack(now, tcp, &mut out);
                self.settle(packet.conn);
            }
        }
    }

    /// After a sender has acted: records finished flows, closes or keeps the connection, arms the timer.
    #[inline]
    fn settle(&mut self, conn: ConnId) {
        let connection = self.connections.slot(conn);
        if let Some(at) = connection.retransmit.arm(connection.sender.timer()) {
            self.events.schedule(at, Event::Retransmit(conn));
        }
        if connection.sender.has_finished() {
            self.finish_messages(conn);
        }
    }

    #[inline(never)] // keeps the path of every other ACK short
    fn finish_messages(&mut self, conn: ConnId) {
        while let Some(message) = self.connections.slot(conn).sender.take_finished() {
            self.record(conn, &message, Some(self.events.now()));
            self.pending -= u64::from(message.flow != UNCOUNTED);
        }
        let connection = self.connections.slot(conn);
        if connection.sender.is_idle() && !connection.persistent {
            self.check_connection(conn);
            self.connections.close(conn);
        }
    }

    /// Writes what a message has become into its row.
    fn record(&mut self, conn: ConnId, message: &Message, finish: Option<Instant>) {
        let snd_una = self.connections.slot(conn).sender.snd_una();
        let Some(row) = self.flows.get_mut(message.flow.index()) else { return }; // uncounted
        row.finish = finish;
        row.retransmits = message.retransmits;
        row.timeouts = message.timeouts;
        let Tally { left, waited_at_host, arrived, marks, waited } = message.tally;
        (row.left, row.waited_at_host) = (left, waited_at_host);
        (row.packets, row.marks, row.waited) = (arrived, marks, waited);
        row.acked = Bytes::new(message.acked(snd_una));
        if row.overlaps(&self.window) {
            row.acked_in_window = message.acked_in_window(snd_una);
        }
    }

    fn on_retransmit_timer(&mut self, conn: ConnId) {
        let now = self.events.now();
        let connection = self.connections.slot(conn);
        if connection.flow_id == u32::MAX {
            return;
        }
        if connection.retransmit.fire(now, connection.sender.timer()) == Fired::Due {
            let (network, events) = (&mut self.network, &mut self.events);
            let mut out = Outbox { network, events, host: connection.source };
            connection.sender.on_timeout(now, &self.scenario.tcp, &mut out);
        }
        self.settle(conn);
    }

    fn on_delayed_ack_timer(&mut self, conn: ConnId) {
        let now = self.events.now();
        let connection = self.connections.slot(conn);
        if connection.flow_id == u32::MAX {
            return;
        }
        if connection.delayed_ack.fire(now, connection.receiver.timer()) == Fired::Due {
            let (network, events) = (&mut self.network, &mut self.events);
            let mut out = Outbox { network, events, host: connection.destination };
            connection.receiver.on_timer(&self.scenario.tcp, &mut out);
        }
        if let Some(at) = connection.delayed_ack.arm(connection.receiver.timer()) {
            self.events.schedule(at, Event::DelayedAck(conn));
        }
    }

    fn schedule_flows(&mut self, starts: &[FlowStart]) {
        for &(at, source) in starts {
            self.events.schedule(at, Event::FlowStart(source as u32));
        }
    }

    /// Schedules flows of applications: the run does not end before them.
    fn plan_flows(&mut self, starts: &[FlowStart]) {
        self.pending += starts.len() as u64;
        self.schedule_flows(starts);
    }

    fn start_flow(&mut self, index: usize) {
        if let Some(start) = self.sources.take(index) {
            let conn = self.connection_for(index, &start.arrival);
            self.push_message(conn, &start);
            self.settle(conn);
        }
        let next = self.sources.advance(index);
        if let Some(at) = next {
            self.events.schedule(at, Event::FlowStart(index as u32));
        }
    }

    fn connection_for(&mut self, index: usize, arrival: &Arrival) -> ConnId {
        let key = match arrival.connection {
            ConnectionUse::New => None,
            ConnectionUse::Persistent(n) => Some((index, arrival.source, arrival.destination, n)),
        };
        if let Some(conn) = key.and_then(|key| self.persistent.get(&key)) {
            return *conn;
        }
        let ends = (arrival.source, arrival.destination);
        let flow_id = self.connections.next_flow_id();
        let path = self.network.path(ends.0, ends.1, flow_id);
        let back = self.network.path(ends.1, ends.0, flow_id);
        let tcp = &self.scenario.tcp;
        let initial_rto = tcp.initial_rto.unwrap_or_else(|| {
            let mss = tcp.mss;
            tcp.rto_min.max(ideal_fct(mss, mss, tcp.header, &path, &back).times(3))
        });
        let transport = self.scenario.transports.get(&arrival.class).unwrap_or(&self.scheme.transport);
        let scheme = (transport, self.scheme.priority);
        let conn = self.connections.open(ends, key.is_some(), scheme, tcp, initial_rto);
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
        let flow = if counted { FlowId::from(self.flows.len()) } else { UNCOUNTED };
        let connection = self.connections.slot(conn);
        let path = self.network.path(arrival.source, arrival.destination, connection.flow_id);
        let back = self.network.path(arrival.destination, arrival.source, connection.flow_id);
        let backlogged = arrival.size == Bytes::MAX;
        let class = arrival.class;
        let role = Role::of_class(&self.scenario.classes[class.index()]);
        let deadline = arrival.deadline.map(|allowed| now + allowed);
        let end = connection.sender.push(Flow { flow, class, role, deadline }, arrival.size);
        if let Some(reply) = reply {
            connection.awaited = true;
            self.sources.expect(connection.flow_id, end, *reply);
        }
        let (network, events) = (&mut self.network, &mut self.events);
        let mut out = Outbox { network, events, host: arrival.source };
        connection.sender.start(now, tcp, &mut out);
        if !counted {
            return;
        }
        let ideal = (!backlogged).then(|| ideal_fct(arrival.size, tcp.mss, tcp.header, &path, &back));
        let task = reply.as_ref().map(|reply| reply.task);
        self.flows.push(FlowRow { task, ..FlowRow::new(arrival, ideal) });
        if backlogged {
            let sampled = self.connections.slot(conn).sender.snd_una();
            self.backlogged.push(Backlogged { conn, flow, sampled });
        } else if reply.is_none() {
            self.pending += 1;
        }
    }

    fn for_each_message(&mut self, mut act: impl FnMut(&mut Message, u64)) {
        for connection in self.connections.iter_mut() {
            let snd_una = connection.sender.snd_una();
            connection.sender.messages_mut().for_each(|message| act(message, snd_una));
        }
    }

    fn sample(&mut self) {
        let at = self.events.now();
        for &port in &self.measured {
            let backlog = self.network.backlog(port, at);
            let packets =
                Sample { at, subject: Subject::QueuePackets(port), value: f64::from(backlog.packets) };
            let bytes = Sample { at, subject: Subject::QueueBytes(port), value: backlog.bytes.as_f64() };
            self.samples.extend([packets, bytes]);
        }
        let time = at.since(self.sampled);
        self.sampled = at;
        self.meter.sample(at, time, &mut self.samples);
        for Backlogged { conn, flow, sampled } in &mut self.backlogged {
            let flow = *flow;
            let sender = &self.connections.slot(*conn).sender;
            let acked = sender.snd_una() - std::mem::replace(sampled, sender.snd_una());
            let value = throughput(acked, time);
            self.samples.push(Sample { at, subject: Subject::FlowThroughput(flow), value });
            let (window, alpha) = sender.state();
            self.samples.push(Sample { at, subject: Subject::Cwnd(flow), value: window.cwnd });
            self.samples.extend(alpha.map(|value| Sample { at, subject: Subject::Alpha(flow), value }));
        }
        if let Some(at) = self.scenario.measure.sample_every.map(|every| at + every)
            && at <= self.window.end
        {
            self.events.schedule(at, Event::Sample);
        }
    }

    /// Ends the accounts: rows of unfinished flows, ports, totals.
    pub(super) fn finish(mut self) -> Outcome {
        self.record_unfinished();
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
        };
        let ports = self.network.ports().iter().map(|port| PortRow::of(port, length)).collect();
        let drops = DropRow::all(&self.network);
        let (flows, tasks, samples) = (self.flows, self.sources.into_tasks(), self.samples);
        // Where flows stall for ever the last event comes long before the drain is over.
        let end = if self.pending > 0 { self.window.end + self.scenario.drain } else { self.events.now() };
        Outcome { flows, tasks, samples, ports, drops, counters, end }
    }

    fn record_unfinished(&mut self) {
        let open: Vec<(ConnId, Message)> = self
            .connections
            .iter_mut()
            .flat_map(|connection| {
                let conn = connection.sender.conn();
                connection.sender.messages_mut().map(move |message| (conn, *message)).collect::<Vec<_>>()
            })
            .collect();
        for (conn, message) in open {
            self.record(conn, &message, None);
        }
    }
}
