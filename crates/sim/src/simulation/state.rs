//! [`Simulation`]: the state of a run, and its event loops.

use super::books::Books;
use super::event::Event;
use super::part::{Notice, Part};
use super::plan::ExecutionPlan;
use super::progress::Progress;
use super::rows::{Rows, is_awaited};
use super::sampler::Sampler;
use super::sources::{FlowStart, Sources, Start};
use super::world::World;
use super::{Observer, RunError, RunProgress};
use crate::engine::{Seeds, Step};
use crate::host::{Flow, Message};
use crate::net::NetworkEvent;
use crate::outcome::{Counters, DropRow, FlowRow, LongPath, Outcome, PortRow};
use crate::packet::Packet;
use crate::queue::QueueConfig;
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use crate::theory::fct::ideal_fct;
use shortflow_cc::{Role, TransportConfig};
use shortflow_units::{Bytes, ClassId, ConnId, HostId, Instant, NodeId, Span};
use std::ops::Range;

/// A run, or a part of one: network and hosts, the flows that they carry, and what is recorded of both.
pub(super) struct Simulation<'a> {
    scheme: &'a Scheme,
    pub(super) plan: &'a ExecutionPlan,
    pub(super) world: World<'a>,
    sources: Sources,
    pub(super) rows: Rows,
    sampler: Sampler,
    pub(super) books: Books,
    progress: Progress,
    /// The measured time.
    window: Range<Instant>,
    /// Number of finite flows not known to be finished, including flows planned by applications.
    pending: u64,
    /// Time from the end of a message until all parts know of it. Then the receiver closes, and the run may
    /// end. This is the longest delay of a link, whatever the parts are.
    finish_delay: Span,
    /// Number of events that every part handles: starts and ends of flows, single and periodic events.
    common: u64,
    /// True if there is no memory for more rows. The run then ends with an error.
    is_full: bool,
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
    /// A simulation by `plan`, not yet split into parts. Planned pauses are only those of `part`, if one is given.
    pub(super) fn new(
        (scenario, scheme): (&'a Scenario, &'a Scheme),
        seed: u64,
        plan: &'a ExecutionPlan,
        part: Option<u32>,
    ) -> Result<Self, RunError> {
        check_thresholds(scenario, scheme)?;
        check_trims(scenario, scheme)?;
        let seeds = Seeds::new(seed);
        let network = plan.network(scenario, scheme, seeds)?;
        let mut simulation = Simulation {
            scheme,
            plan,
            sources: Sources::new(scenario, seeds),
            rows: Rows::default(),
            sampler: Sampler::new(network.ports_between(&scenario.measure.ports)),
            books: Books::new(!plan.needs.reordering),
            progress: Progress::new(),
            window: Instant::ZERO + scenario.warmup..Instant::ZERO + scenario.duration,
            pending: 0,
            finish_delay: scenario.graph.links.iter().map(|link| link.delay).max().unwrap_or_default(),
            common: 0,
            is_full: false,
            world: World::new(scenario, plan, network),
        };
        let Simulation { world, window, .. } = &mut simulation;
        world.schedule_common(window.start, Event::WarmUpEnd);
        world.schedule_common(window.end, Event::MeasureEnd);
        // The other parts have the frames that reach their ports.
        let is_here = |node: NodeId| part.is_none_or(|part| plan.owner[node.index()] == part);
        world.network.begin(&mut world.events, is_here);
        if scenario.conduct.small_queue > 0 || plan.cards_hold_one {
            world.network.tell_hosts();
        }
        if scenario.measure.sample_every.is_some() {
            world.schedule_common(Instant::ZERO, Event::Sample);
        }
        let (known, planned) = simulation.sources.begin();
        simulation.schedule_flows(&known);
        simulation.plan_flows(&planned);
        Ok(simulation)
    }

    /// The end of the drain.
    pub(super) fn limit(&self) -> Instant {
        self.window.end + self.world.scenario.drain
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
        if self.world.modes.windows {
            self.run_windows(until, observer)
        } else {
            self.run_in_order(until, observer)
        }
    }

    /// Handles events in order of time.
    fn run_in_order(&mut self, until: Instant, observer: &mut dyn Observer) -> Result<bool, RunError> {
        let prefetches = self.world.modes.prefetch;
        let mut place = Packet::EMPTY;
        loop {
            if prefetches && self.world.events.advance_slot(until) {
                self.world.prefetch();
            }
            let Some(event) = self.world.events.next(until) else { return Ok(false) };
            self.handle(event, &mut place);
            self.world.handled += 1;
            if self.is_over() {
                return Ok(true);
            }
            self.tick_if_due(observer)?;
        }
    }

    /// Handles events in windows, node by node.
    fn run_windows(&mut self, until: Instant, observer: &mut dyn Observer) -> Result<bool, RunError> {
        let prefetches = self.world.modes.prefetch;
        let mut place = Packet::EMPTY;
        while let Some(step) = self.world.events.next_step(until) {
            if prefetches {
                self.world.prefetch();
            }
            match step {
                Step::Node(node) if self.world.network.goes_by_output(NodeId(node)) => {
                    self.world.pass_window(NodeId(node));
                }
                Step::Node(_) => {
                    self.world.events.line_up();
                    while let Some(event) = self.world.events.next_here() {
                        self.handle(event, &mut place);
                        self.world.handled += 1;
                    }
                }
                Step::Global(event) => {
                    self.common += 1;
                    self.handle_common(event);
                    self.world.handled += 1;
                    if self.is_over() {
                        return Ok(true);
                    }
                }
            }
            self.tick_if_due(observer)?;
        }
        Ok(false)
    }

    #[inline(always)]
    fn tick_if_due(&mut self, observer: &mut dyn Observer) -> Result<(), RunError> {
        if self.progress.is_due(self.world.handled) { self.tick(observer) } else { Ok(()) }
    }

    /// Calls the observer.
    #[inline(never)] // keeps the loop short
    fn tick(&mut self, observer: &mut dyn Observer) -> Result<(), RunError> {
        self.report(self.world.events.now(), observer);
        self.progress.estimate(&mut self.world, &self.rows, self.window.end);
        match observer.tick(self.standing()) {
            true => self.check_room(),
            false => Err(RunError::Cancelled),
        }
    }

    /// Hands the packet events and accounts before `now` to the observer.
    fn report(&mut self, now: Instant, observer: &mut dyn Observer) {
        if self.world.watched {
            observer.packets(self.world.network.noted(now));
            let accounts = self.world.network.watch_mut().map(|watch| watch.take_accounts());
            observer.accounts(accounts.unwrap_or_default());
        }
    }

    /// Fails if a table has run out of memory.
    pub(super) fn check_room(&self) -> Result<(), RunError> {
        if self.is_full { Err(RunError::NoMemory) } else { Ok(()) }
    }

    pub(super) fn standing(&self) -> RunProgress {
        let flows = (self.rows.flows.len() - self.sampler.backlogged()) as u64;
        RunProgress {
            now: self.world.events.now(),
            open: self.pending,
            flows: flows.max(self.pending),
            last: self.progress.end,
        }
    }

    /// True if the measured time is over and all finite flows are known to be finished.
    #[inline(always)]
    fn is_over(&self) -> bool {
        self.world.measuring_over && self.pending == 0
    }

    /// End of the run. If flows stall for ever, the run ends with the drain, although the last event is much
    /// earlier.
    pub(super) fn end(&self) -> Instant {
        if self.pending > 0 { self.limit() } else { self.world.events.now() }
    }

    /// Handles an event. An arriving packet goes through `place`.
    #[inline(always)] // passing the event to a function would cost its packing and unpacking
    pub(super) fn handle(&mut self, event: Event, place: &mut Packet) {
        match event {
            Event::Network(NetworkEvent::Arrive(port)) if self.world.arrive(port).is_some() => {}
            Event::Network(event) => {
                let is_passage = matches!(event, NetworkEvent::Arrive(_));
                match self.world.handle(event, place) {
                    true if self.world.watched => self.receive_watched(place),
                    true => self.receive(place),
                    false if is_passage => return,
                    false => {}
                }
                self.world.tell_senders();
            }
            Event::Timer { connection, timer } => self.world.on_timer(connection, timer),
            Event::HostTimer(host) => self.world.on_host_timer(host),
            event => {
                self.common += 1;
                self.handle_common(event);
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
                let is_sampled = self.world.scenario.measure.sample_every.is_some();
                let kept = if is_sampled { &self.sampler.ports[..] } else { &[] };
                self.world.network.open_window(self.world.events.now(), kept);
                self.tell_messages(Message::begin_measured);
            }
            Event::MeasureEnd => {
                self.world.network.close_window(self.world.events.now());
                self.tell_messages(Message::end_measured);
                self.world.measuring_over = true;
            }
            Event::Network(_) | Event::Timer { .. } | Event::HostTimer(_) => {}
        }
    }

    /// Lets a host receive a packet.
    #[inline(never)] // keeps the path of packets at switches short
    pub(super) fn receive(&mut self, packet: &mut Packet) {
        let Some(notice) = self.world.receive(packet) else { return };
        if let Notice::Arrived { flow_id, received, at, .. } = notice {
            if self.world.scenario.host.reaction.is_zero() {
                let starts = self.sources.delivered(at, flow_id, received);
                return self.plan_flows(&starts);
            }
            if !self.sources.announces(flow_id, received) {
                return;
            }
        }
        self.publish(notice);
    }

    /// Does the work of [`Simulation::receive`] for a packet that may be watched.
    #[inline(never)] // keeps the path of unwatched packets short
    fn receive_watched(&mut self, packet: &mut Packet) {
        let watched = self.world.watch_arrival(packet);
        self.receive(packet);
        self.world.watch_delivery(&watched);
    }

    /// Handles a notice here, and sends it to all other parts.
    #[inline(never)] // keeps the path of every other packet short
    fn publish(&mut self, notice: Notice) {
        self.on_notice(notice);
        self.world.part.iter_mut().for_each(|part| part.notices.push(notice));
    }

    pub(super) fn on_notice(&mut self, notice: Notice) {
        let Simulation { world, books, sources, .. } = self;
        match notice {
            Notice::Acked { conn, acked, at } => {
                books.check_acked(world, conn, acked);
                world.connections.slot(conn).ends.messages_mut().finish(acked, at);
                world.schedule_common(at + self.finish_delay, Event::Finish(conn));
            }
            Notice::Arrived { conn, flow_id, received, at } => {
                let at = at + world.scenario.host.reaction;
                sources.expect_answer(at, flow_id, received);
                world.schedule_common(at, Event::Answer(conn));
                self.pending += 1;
            }
        }
    }

    fn finish_messages(&mut self, conn: ConnId) {
        let until = Instant::ZERO + self.world.events.now().since(Instant::ZERO + self.finish_delay);
        while let Some(message) = self.world.connections.slot(conn).ends.messages_mut().take_finished(until) {
            self.record(conn, &message);
            match message.is_backlogged() {
                true => self.sampler.end(conn),
                false => self.pending -= u64::from(is_awaited(&message)),
            }
        }
        let connection = self.world.connections.slot(conn);
        if connection.ends.messages().is_empty() && !connection.persistent {
            self.books.check_connection(&mut self.world, conn);
            self.world.close(conn);
        }
    }

    /// Lets the application that has waited longest learn of an arrival.
    fn answer(&mut self) {
        self.pending -= 1;
        let starts = self.sources.answer(self.world.events.now());
        self.plan_flows(&starts);
    }

    /// Ends the backlogged flow of a connection after the data sent so far.
    fn stop(&mut self, conn: ConnId) {
        let source = self.world.connections.slot(conn).source;
        if !self.world.owns(source) {
            return;
        }
        let ends = &mut self.world.connections.slot(conn).ends;
        if ends.stop() {
            let (acked, at) = (ends.acked(), self.world.events.now());
            self.publish(Notice::Acked { conn, acked, at });
        }
    }

    fn sample(&mut self) {
        if !self.sampler.sample(&mut self.world) {
            self.is_full = true;
            return;
        }
        let now = self.world.events.now();
        if let Some(at) = self.world.scenario.measure.sample_every.map(|every| now + every)
            && at <= self.window.end
        {
            self.world.schedule_common(at, Event::Sample);
        }
    }

    /// Writes a message into its row.
    fn record(&mut self, conn: ConnId, message: &Message) {
        let width = self.world.width(conn);
        let ends = &self.world.connections.slot(conn).ends;
        let bytes = (ends.acked(), ends.arrived(message.start, message.end));
        self.rows.record(message, bytes, width, &self.window);
    }

    /// Calls `tell` for every message, with the bytes of the message that have arrived.
    fn tell_messages(&mut self, tell: fn(&mut Message, u64)) {
        let open = self.world.connections.iter_mut();
        open.for_each(|(_, connection)| connection.ends.tell_messages(tell));
    }

    fn schedule_flows(&mut self, starts: &[FlowStart]) {
        for &(at, source) in starts {
            self.world.schedule_common(at, Event::FlowStart(source as u32));
        }
    }

    /// Schedules flows of applications. The run does not end before these flows have finished.
    fn plan_flows(&mut self, starts: &[FlowStart]) {
        self.pending += starts.len() as u64;
        self.schedule_flows(starts);
    }

    fn start_flow(&mut self, index: usize) {
        if !(self.rows.has_room() && self.world.connections.has_room() && self.sources.has_room()) {
            self.is_full = true;
            return;
        }
        if let Some(start) = self.sources.take(index) {
            let conn = self.world.connection_for(self.scheme, index, &start.arrival);
            self.push_message(conn, &start);
            self.world.tell_senders();
        }
        let next = self.sources.advance(index);
        if let Some(at) = next {
            self.world.schedule_common(at, Event::FlowStart(index as u32));
        }
    }

    fn push_message(&mut self, conn: ConnId, start: &Start) {
        let Simulation { world, sources, rows, .. } = self;
        let Start { arrival, reply } = start;
        let (now, scenario) = (world.events.now(), world.scenario);
        let counted = now < self.window.end || reply.is_some();
        let flow = rows.next(counted);
        let connection = world.connections.slot(conn);
        let flow_id = connection.flow_id;
        let path = world.network.path(arrival.source, arrival.destination, flow_id);
        let back = world.network.path(arrival.destination, arrival.source, flow_id);
        let backlogged = arrival.size == Bytes::MAX;
        let class = arrival.class;
        let role = Role::of_class(&scenario.classes[class.index()]);
        let deadline = arrival.deadline.map(|allowed| now + allowed);
        let end = connection.ends.push(Flow { flow, class, role, deadline }, arrival.size);
        if let Some(watch) = world.network.watch_mut() {
            watch.begin(flow_id, end, (counted.then_some(flow), class));
            let first = end.saturating_sub(arrival.size.get());
            let (row, permitted) = ((counted && !backlogged).then_some(flow), connection.ends.permitted());
            watch.starts(now, flow_id, (first, end), row, permitted);
        }
        if let Some(reply) = reply {
            connection.has_app_waiter = true;
            sources.expect(flow_id, end, *reply);
        }
        world.start_sending(conn, arrival.source);
        if !counted {
            rows.count_drained((!backlogged).then_some(arrival.size));
            if !scenario.measure.drain_flows {
                return;
            }
        }
        let ideal = (!backlogged).then(|| ideal_fct(arrival.size, &scenario.tcp, &path, &back));
        let task = reply.as_ref().map(|reply| reply.task);
        let row = FlowRow { task, ..FlowRow::new(arrival, ideal) };
        if !counted {
            return rows.drain_flows.push(row);
        }
        rows.flows.push(row);
        if backlogged {
            let ports = world.network.fixed_ports(arrival.source, arrival.destination, flow_id).collect();
            let delays = path.links.iter().chain(&back.links).map(|(_, delay)| *delay);
            let round_trip = delays.fold(Span::ZERO, |sum, delay| sum + delay);
            rows.long_paths.push(LongPath { row: flow.index(), ports, round_trip });
            self.sampler.begin(conn, flow, world.connections.slot(conn).ends.acked());
            let stop = arrival.stop.into_iter();
            stop.for_each(|at| world.schedule_common(at, Event::Stop(conn)));
        } else if reply.is_none() {
            self.pending += 1;
        }
    }

    /// Merges the other parts into part 0.
    pub(super) fn join(&mut self, others: Vec<Simulation<'_>>) {
        let Some(Part { owner, .. }) = self.world.part.take() else { return };
        let (mut rows, mut samplers, mut worlds) = (Vec::new(), Vec::new(), Vec::new());
        for other in others {
            // Each part handles the common events; count them only once.
            self.world.handled += other.world.handled - other.common;
            self.books.join(other.books, other.world.check_time());
            rows.push(other.rows);
            samplers.push(other.sampler);
            worlds.push(other.world);
        }
        self.rows.join(rows, |host: HostId| owner[host.index()] as usize);
        self.sampler.join(samplers, self.world.scenario.measure.sample_every.unwrap_or_default());
        self.world.join(worlds, &owner);
    }

    /// Ends the run: records open flows, ports and totals.
    pub(super) fn finish(mut self) -> Outcome {
        let end = self.end();
        self.record_open();
        let Simulation { world, rows, .. } = self;
        let network = &world.network;
        let counters = Counters {
            events: world.handled,
            packet_hops: network.hops(),
            packets_sent: network.sent(),
            packets_delivered: network.delivered(),
            packets_dropped: network.dropped(),
            packets_in_flight: network.in_flight(),
            unfinished: self.pending,
            connections_peak: world.connections.peak(),
            drain_flows: rows.drained.0,
            drain_bytes: rows.drained.1,
        };
        let length = self.window.end.since(self.window.start).as_secs_f64();
        let ports = PortRow::all(network, length);
        let drops = DropRow::all(network);
        let (tasks, samples) = (self.sources.into_tasks(), self.sampler.samples);
        let Rows { flows, drain_flows, long_paths, .. } = rows;
        Outcome { flows, drain_flows, tasks, samples, ports, drops, long_paths, counters, end }
    }

    fn record_open(&mut self) {
        let open: Vec<ConnId> = self.world.connections.iter_mut().map(|(conn, _)| conn).collect();
        for conn in open {
            // Copy one message at a time: a list of all messages would be as large as the flow table.
            for number in 0.. {
                let messages = self.world.connections.slot(conn).ends.messages_mut();
                let Some(message) = messages.iter_mut().nth(number).copied() else { break };
                self.record(conn, &message);
                self.pending -= u64::from(is_awaited(&message) && message.finish.is_some());
            }
        }
    }
}
