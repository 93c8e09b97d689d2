//! [`Simulation`]: the state of a run, and its event loops.

mod expected;
mod flows;
mod records;
mod turns;
mod watched;

use super::agents::Agents;
use super::connections::{Connection, Connections, SequenceGap};
use super::ends::AckOutcome;
use super::event::{Event, OF_RECEIVER, OF_SENDER};
use super::outbox::EndpointOutbox;
use super::part::{Notice, Part, owns};
use super::plan::ExecutionPlan;
use super::sources::Sources;
use super::{Observer, RunError, RunProgress};
use crate::engine::{EventQueue, NodeScope, Seeds, Step};
use crate::host::{EndpointContext, Message};
use crate::net::{Network, NetworkEvent};
use crate::outcome::{FlowRow, LongPath};
use crate::packet::Packet;
use crate::probe::{ClassMeter, Samples};
use crate::queue::QueueConfig;
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use shortflow_cc::TransportConfig;
use shortflow_units::{Bytes, ClassId, ConnId, FlowId, HostId, Instant, NodeId, PortId, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// First number of flows that start after the measured time. These flows are load for the other flows. They
/// have rows of their own if the scenario records them.
const DRAIN: u32 = 1 << 31;

/// Events between two calls of the observer.
const TICK: u64 = 8192;

pub(super) struct Simulation<'a> {
    pub(super) scenario: &'a Scenario,
    scheme: &'a Scheme,
    pub(super) plan: &'a ExecutionPlan,
    pub(super) events: EventQueue<Event>,
    pub(super) network: Network,
    pub(super) connections: Connections,
    agents: Agents,
    /// Persistent connections by traffic entry (`None` if all entries share them), ends, number and priority.
    persistent: BTreeMap<(Option<usize>, HostId, HostId, u32, u8), ConnId>,
    sources: Sources,
    pub(super) flows: Vec<FlowRow>,
    /// Flows that start after the measured time, if the scenario records them. Then the number and the bytes
    /// of all such flows.
    pub(super) drain_flows: Vec<FlowRow>,
    drained: (u64, u64),
    backlogged: Vec<Backlogged>,
    long_paths: Vec<LongPath>,
    pub(super) measured: Vec<PortId>,
    pub(super) samples: Samples,
    sampled: Instant,
    meter: ClassMeter,
    pub(super) handled: u64,
    /// Event count of the next call to the observer.
    next_tick: u64,
    estimate: EndEstimate,
    /// Number of finite flows not known to be finished, including flows planned by applications.
    pending: u64,
    /// Time from the end of a message until all parts know of it. Then the receiver closes, and the run may
    /// end. This is the longest delay of a link, whatever the parts are.
    finish_delay: Span,
    /// The measured time.
    window: Range<Instant>,
    measuring_over: bool,
    /// Packets received by hosts.
    pub(super) packets_received: u64,
    /// Sequence gaps of closed connections.
    pub(super) skips: Vec<SequenceGap>,
    /// First violated invariant of a connection.
    pub(super) broken: Option<String>,
    /// True if there is no memory for more rows. The run then ends with an error.
    is_full: bool,
    /// True if an observer wants packet events.
    watched: bool,
    /// Simulated part of the network; `None` for the whole network.
    pub(super) part: Option<Part>,
    /// Number of events that every part handles: starts and ends of flows, single and periodic events.
    pub(super) common: u64,
    /// Buffer for lists of ports.
    arriving: Vec<PortId>,
    /// Bytes that receivers have, by the time at which the application learns of them, and by flow id.
    answers: BTreeMap<(Instant, u32), u64>,
    /// Buffer for lists of ports that lead to hosts, with arrival times.
    reached: Vec<(PortId, Instant)>,
}

/// Estimate of the end of the last flow.
#[derive(Default)]
struct EndEstimate {
    end: Instant,
    /// Event count of the next estimate.
    next: u64,
    /// Acknowledged bytes of each open flow at two earlier times.
    acked_before: BTreeMap<FlowId, [(Instant, u64); 2]>,
    /// Seconds and bytes of flows with a known rate, at the last estimate that found any.
    rated: (f64, f64),
}

/// A backlogged flow, with its acknowledged bytes at the last sample.
struct Backlogged {
    conn: ConnId,
    flow: FlowId,
    sampled: u64,
}

/// Checks that the receivers of all classes take the packets that the scheme's queues trim.
fn check_trims(scenario: &Scenario, scheme: &Scheme) -> Result<(), RunError> {
    let refused = |(class, transport): (&ClassId, &TransportConfig)| {
        let reason = scheme.refuses_trims(transport.info())?;
        Some(RunError::TrimsRefused { class: scenario.classes[class.index()].clone(), reason })
    };
    scenario.transports.iter().find_map(refused).map_or(Ok(()), Err)
}

/// Fails if RED cannot work with the threshold or rate of a port.
fn check_thresholds(scenario: &Scenario, scheme: &Scheme) -> Result<(), RunError> {
    let graph = &scenario.graph;
    for (from, to, rate) in graph.directions() {
        let (place, queue, used, mark_above) = match graph.is_host(from) {
            true => ("host", "host_queue", &scheme.host_queue, scenario.host.mark_above),
            false => ("switch", "queue", &scheme.queue, scenario.switch_port(from, to).mark_above),
        };
        let QueueConfig::Red(red) = used else { continue };
        if !red.accepts(mark_above) {
            return Err(RunError::RedWithoutThreshold { place, queue });
        }
        if let Some(curves) = red.curves.as_ref().filter(|curves| curves.of(rate).is_none()) {
            let port = format!("{}->{}", graph.name(from), graph.name(to));
            return Err(RunError::RateWithoutCurve { queue, port, rate, known: curves.to_string() });
        }
    }
    Ok(())
}

impl<'a> Simulation<'a> {
    /// A simulation by `plan`, which is not split into parts.
    pub(super) fn new(
        (scenario, scheme): (&'a Scenario, &'a Scheme),
        seed: u64,
        plan: &'a ExecutionPlan,
    ) -> Result<Self, RunError> {
        check_thresholds(scenario, scheme)?;
        check_trims(scenario, scheme)?;
        let seeds = Seeds::new(seed);
        let network = plan.network(scenario, scheme, seeds)?;
        let mut simulation = Simulation {
            measured: network.ports_between(&scenario.measure.ports),
            meter: ClassMeter::new(scenario.classes.len()),
            sources: Sources::new(scenario, seeds),
            scenario,
            scheme,
            plan,
            events: plan.events(scenario, &network),
            network,
            connections: Connections::default(),
            agents: Agents::new(scenario.graph.hosts()),
            persistent: BTreeMap::new(),
            flows: Vec::new(),
            drain_flows: Vec::new(),
            drained: (0, 0),
            backlogged: Vec::new(),
            long_paths: Vec::new(),
            samples: Samples::default(),
            sampled: Instant::ZERO,
            handled: 0,
            next_tick: TICK,
            estimate: EndEstimate::default(),
            pending: 0,
            finish_delay: scenario.graph.links.iter().map(|link| link.delay).max().unwrap_or_default(),
            window: Instant::ZERO + scenario.warmup..Instant::ZERO + scenario.duration,
            measuring_over: false,
            packets_received: 0,
            skips: Vec::new(),
            broken: None,
            is_full: false,
            watched: false,
            part: None,
            common: 0,
            arriving: Vec::new(),
            answers: BTreeMap::new(),
            reached: Vec::new(),
        };
        simulation.events.schedule(simulation.window.start, NodeScope::GLOBAL, Event::WarmUpEnd);
        simulation.events.schedule(simulation.window.end, NodeScope::GLOBAL, Event::MeasureEnd);
        simulation.network.begin(&mut simulation.events);
        if scenario.conduct.small_queue > 0 || plan.cards_hold_one {
            simulation.network.tell_hosts();
        }
        if scenario.measure.sample_every.is_some() {
            simulation.events.schedule(Instant::ZERO, NodeScope::GLOBAL, Event::Sample);
        }
        let (known, planned) = simulation.sources.begin();
        simulation.schedule_flows(&known);
        simulation.plan_flows(&planned);
        Ok(simulation)
    }

    /// The end of the drain.
    pub(super) fn limit(&self) -> Instant {
        self.window.end + self.scenario.drain
    }

    /// Handles events until the measured time is over and all finite flows are known to be finished, or until
    /// the drain is over.
    pub(super) fn run(&mut self, observer: &mut dyn Observer) -> Result<(), RunError> {
        self.run_until(self.limit(), observer)?;
        self.report(Instant::MAX, observer);
        Ok(())
    }

    /// Handles events up to `until` or the end of the run. Returns `true` at the end.
    pub(super) fn run_until(
        &mut self,
        until: Instant,
        observer: &mut dyn Observer,
    ) -> Result<bool, RunError> {
        if self.plan.modes.windows {
            self.run_windows(until, observer)
        } else {
            self.run_in_order(until, observer)
        }
    }

    /// Handles events in order of time.
    fn run_in_order(&mut self, until: Instant, observer: &mut dyn Observer) -> Result<bool, RunError> {
        let prefetches = self.plan.modes.prefetch;
        let mut place = Packet::EMPTY;
        loop {
            if prefetches && self.events.advance_slot(until) {
                self.prefetch();
            }
            let Some(event) = self.events.next(until) else { return Ok(false) };
            self.handle(event, &mut place);
            self.handled += 1;
            if self.measuring_over && self.pending == 0 {
                return Ok(true);
            }
            self.tick_if_due(observer)?;
        }
    }

    /// Handles events in windows, node by node.
    fn run_windows(&mut self, until: Instant, observer: &mut dyn Observer) -> Result<bool, RunError> {
        let prefetches = self.plan.modes.prefetch;
        let mut place = Packet::EMPTY;
        while let Some(step) = self.events.next_step(until) {
            if prefetches {
                self.prefetch();
            }
            match step {
                Step::Node(node) if self.network.goes_by_output(NodeId(node)) => {
                    let mut reached = std::mem::take(&mut self.reached);
                    self.handled += self.network.pass_window(&mut self.events, NodeId(node), &mut reached);
                    if prefetches {
                        let heads = reached.iter().filter_map(|(port, _)| self.network.head(*port));
                        heads.for_each(|(_, packet)| self.connections.prefetch(packet.conn));
                    }
                    for (port, at) in reached.drain(..) {
                        self.receive_early(port, at, self.events.end_of_window());
                    }
                    self.reached = reached;
                }
                Step::Node(_) => {
                    self.events.line_up();
                    while let Some(event) = self.events.next_here() {
                        self.handle(event, &mut place);
                        self.handled += 1;
                    }
                }
                Step::Global(event) => {
                    self.common += 1;
                    self.handle_common(event);
                    self.handled += 1;
                    if self.measuring_over && self.pending == 0 {
                        return Ok(true);
                    }
                }
            }
            self.tick_if_due(observer)?;
        }
        Ok(false)
    }

    /// Calls the observer every [`TICK`] events.
    #[inline(always)]
    fn tick_if_due(&mut self, observer: &mut dyn Observer) -> Result<(), RunError> {
        if self.handled < self.next_tick {
            return Ok(());
        }
        self.next_tick = (self.handled / TICK + 1) * TICK;
        self.tick(observer)
    }

    #[inline(never)] // keeps the loop short
    fn tick(&mut self, observer: &mut dyn Observer) -> Result<(), RunError> {
        self.report(self.events.now(), observer);
        if self.handled >= self.estimate.next {
            self.estimate_end();
        }
        match observer.tick(self.standing()) {
            true => self.check_room(),
            false => Err(RunError::Cancelled),
        }
    }

    /// Fails if a table has run out of memory.
    pub(super) fn check_room(&self) -> Result<(), RunError> {
        if self.is_full { Err(RunError::NoMemory) } else { Ok(()) }
    }

    /// Prefetches data of the present slot's arrivals, in a large network.
    #[inline(never)]
    fn prefetch(&mut self) {
        let ports = &mut self.arriving;
        ports.clear();
        self.events.upcoming(|event| {
            if let Event::Network(NetworkEvent::Arrive(port)) = event {
                ports.push(port);
            }
        });
        self.network.prefetch(ports, |packet| self.connections.prefetch(packet.conn));
    }

    pub(super) fn standing(&self) -> RunProgress {
        let flows = (self.flows.len() - self.backlogged.len()) as u64;
        RunProgress {
            now: self.events.now(),
            open: self.pending,
            flows: flows.max(self.pending),
            last: self.estimate.end,
        }
    }

    /// Handles an event. An arriving packet goes through `place`.
    #[inline(always)] // passing the event to a function would cost its packing and unpacking
    pub(super) fn handle(&mut self, event: Event, place: &mut Packet) {
        match event {
            Event::Network(NetworkEvent::Arrive(port)) if self.arrive(port).is_some() => {}
            Event::Network(event) => {
                let connections = &mut self.connections;
                let left_host = |packet: &Packet| connections.count_wait(packet);
                let (events, graph) = (&mut self.events, &self.scenario.graph);
                let is_passage = matches!(event, NetworkEvent::Arrive(_));
                match self.network.handle(events, graph, event, place, left_host) {
                    true if self.watched => self.receive_watched(place),
                    true => self.receive(place),
                    false if is_passage => return,
                    false => {}
                }
                self.tell_senders();
            }
            Event::Timer { connection, timer } if self.watched => self.on_timer_watched(connection, timer),
            Event::Timer { connection, timer } => self.on_timer(connection, timer, None),
            Event::HostTimer(host) => {
                self.agents.wake(host, self.events.now());
                self.tell_senders();
            }
            event => {
                self.common += 1;
                self.handle_common(event);
            }
        }
    }

    /// Short path of a packet at the far end of a port. Returns `None` if the packet needs the long path.
    #[inline(always)]
    fn arrive(&mut self, port: PortId) -> Option<()> {
        match self.network.leads_to_host(port)? {
            true if self.plan.modes.predicts => self.receive_due(port),
            true => None,
            false => {
                let (next, at) = self.network.pass_on(&mut self.events, port)?;
                if at < Instant::MAX {
                    self.receive_early(next, at, self.events.now());
                }
                Some(())
            }
        }
    }

    /// Handles an event that all parts have.
    #[inline(never)] // keeps the path of packets short
    fn handle_common(&mut self, event: Event) {
        match event {
            Event::FlowStart(source) => self.start_flow(source as usize),
            Event::Finish(connection) => self.finish_messages(connection),
            Event::Stop(connection) => self.stop(connection),
            Event::Answer(_) => self.answer(),
            Event::Sample => self.sample(),
            Event::WarmUpEnd => {
                let kept =
                    if self.scenario.measure.sample_every.is_some() { &self.measured[..] } else { &[] };
                self.network.open_window(self.events.now(), kept);
                self.tell_messages(Message::begin_measured);
            }
            Event::MeasureEnd => {
                self.network.close_window(self.events.now());
                self.tell_messages(Message::end_measured);
                self.measuring_over = true;
            }
            Event::Network(_) | Event::Timer { .. } | Event::HostTimer(_) => {}
        }
    }

    /// Delivers a packet to its endpoint. Late packets of closed connections are ignored.
    #[inline(never)] // keeps the path of packets at switches short
    pub(super) fn receive(&mut self, packet: &mut Packet) {
        self.packets_received += 1;
        let (conn, flow_id) = (packet.conn, packet.flow_id);
        let cx = EndpointContext { now: self.events.now(), tcp: &self.scenario.tcp };
        let Some(connection) = self.connections.get(conn, flow_id) else { return };
        let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
        let host = packet.to;
        if host == connection.source {
            let mut outbox =
                EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_SENDER };
            let AckOutcome { acked, class, finished } =
                connection.ends.deliver_to_sender(packet, cx, &mut outbox);
            if let Some(class) = class {
                self.meter.count(class, acked);
            }
            if finished {
                self.publish_acked(conn);
            }
        } else {
            let mut outbox =
                EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_RECEIVER };
            connection.ends.deliver_to_receiver(packet, cx, &mut outbox);
            if connection.has_app_waiter {
                let received = connection.ends.received();
                if self.scenario.host.reaction.is_zero() {
                    let starts = self.sources.delivered(cx.now, flow_id, received);
                    self.plan_flows(&starts);
                } else if self.sources.announces(flow_id, received) {
                    self.publish(Notice::Arrived { conn, flow_id, received, at: cx.now });
                }
            }
        }
    }

    /// Publishes fully acknowledged messages of a sender to all parts.
    #[inline(never)] // keeps the path of every other ACK short
    fn publish_acked(&mut self, conn: ConnId) {
        let acked = self.connections.slot(conn).ends.acked();
        self.publish(Notice::Acked { conn, acked, at: self.events.now() });
    }

    /// Handles a notice here, and sends it to all other parts.
    fn publish(&mut self, notice: Notice) {
        self.on_notice(notice);
        self.part.iter_mut().for_each(|part| part.notices.push(notice));
    }

    pub(super) fn on_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Acked { conn, acked, at } => {
                self.check_acked(conn, acked);
                self.connections.slot(conn).ends.messages_mut().finish(acked, at);
                self.events.schedule(at + self.finish_delay, NodeScope::GLOBAL, Event::Finish(conn));
            }
            Notice::Arrived { conn, flow_id, received, at } => {
                let at = at + self.scenario.host.reaction;
                self.answers.insert((at, flow_id), received);
                self.pending += 1;
                self.events.schedule(at, NodeScope::GLOBAL, Event::Answer(conn));
            }
        }
    }

    fn finish_messages(&mut self, conn: ConnId) {
        let until = Instant::ZERO + self.events.now().since(Instant::ZERO + self.finish_delay);
        while let Some(message) = self.connections.slot(conn).ends.messages_mut().take_finished(until) {
            self.record(conn, &message);
            match message.is_backlogged() {
                true => self.backlogged.retain(|flow| flow.conn != conn),
                false => self.pending -= u64::from(message.flow.0 < DRAIN),
            }
        }
        let connection = self.connections.slot(conn);
        if connection.ends.messages().is_empty() && !connection.persistent {
            self.check_connection(conn);
            let &mut Connection { flow_id, source, destination, .. } = self.connections.slot(conn);
            [source, destination].into_iter().for_each(|host| self.agents.close(host, flow_id));
            self.connections.close(conn);
        }
    }

    /// Lets the application that has waited longest learn of an arrival.
    fn answer(&mut self) {
        let now = self.events.now();
        self.pending -= 1;
        let due = self.answers.first_entry().filter(|first| first.key().0 <= now);
        if let Some(((_, flow_id), received)) = due.map(|first| first.remove_entry()) {
            let starts = self.sources.delivered(now, flow_id, received);
            self.plan_flows(&starts);
        }
    }

    /// Ends the backlogged flow of a connection after the data sent so far.
    fn stop(&mut self, conn: ConnId) {
        let connection = self.connections.slot(conn);
        if owns(&self.part, connection.source) && connection.ends.stop() {
            self.publish_acked(conn);
        }
    }

    /// Writes a message into its row.
    fn record(&mut self, conn: ConnId, message: &Message) {
        let width = self.width(conn);
        let ends = &self.connections.slot(conn).ends;
        let (acked, delivered) = (ends.acked(), ends.arrived(message.start, message.end));
        let row = match message.flow.0.checked_sub(DRAIN) {
            Some(number) => self.drain_flows.get_mut(number as usize),
            None => self.flows.get_mut(message.flow.index()),
        };
        let Some(row) = row else { return };
        (row.finish, row.received) = (message.finish, message.received);
        row.retransmits = message.retransmits;
        row.timeouts = message.timeouts;
        row.take_tally(message.tally);
        row.acked = Bytes::new(message.acked(acked));
        row.width = width;
        if row.overlaps(&self.window) {
            row.note_window(message.in_window(delivered));
        }
    }

    /// Runs a timer of a connection, which may have been closed since. `early` is the host that runs the
    /// timer early.
    #[inline(never)] // keeps the path of packets short
    fn on_timer(&mut self, conn: ConnId, timer: u8, early: Option<HostId>) {
        let cx = EndpointContext { now: self.events.now(), tcp: &self.scenario.tcp };
        let connection = self.connections.slot(conn);
        let host = if timer < OF_RECEIVER { connection.source } else { connection.destination };
        // The timer may belong to an earlier connection in this slot, at another host.
        let is_there = early.map_or_else(|| self.events.are_of(host), |early| early == host);
        if connection.flow_id == u32::MAX || !owns(&self.part, host) || !is_there {
            return;
        }
        let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
        if timer < OF_RECEIVER {
            let mut outbox =
                EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_SENDER };
            connection.ends.sender_timer(timer, cx, &mut outbox);
        } else {
            let mut outbox =
                EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_RECEIVER };
            connection.ends.receiver_timer(timer - OF_RECEIVER, cx, &mut outbox);
        }
        self.tell_senders();
    }

    /// Calls `tell` for every message, with the bytes of the message that have arrived.
    fn tell_messages(&mut self, tell: fn(&mut Message, u64)) {
        self.connections.iter_mut().for_each(|(_, connection)| connection.ends.tell_messages(tell));
    }
}
