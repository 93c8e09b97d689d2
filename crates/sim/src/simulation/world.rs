//! [`World`]: the network, the hosts at its edge, and the events of both.
//!
//! Here stand the ways of packets and timers. [`Simulation`](super::state::Simulation) decides what follows for flows,
//! applications and records, and when the run ends.

use super::agents::Agents;
use super::connections::{Connections, PersistentKey};
use super::ends::AckOutcome;
use super::event::{Event, OF_RECEIVER, OF_SENDER};
use super::outbox::EndpointOutbox;
use super::part::{Notice, Part, owns};
use super::plan::{ExecutionPlan, Modes};
use crate::engine::{EventQueue, NodeScope};
use crate::host::{ConnectionSetup, EndpointContext};
use crate::net::{Network, NetworkEvent, Port};
use crate::packet::{Left, Packet};
use crate::probe::ClassMeter;
use crate::probe::account::{Accounts, Cause, Explained, LinkEnd, Standing};
use crate::probe::watch::TraceFilter;
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use crate::tcp::CARD;
use crate::theory::fct::ideal_fct;
use crate::traffic::{ConnectionUse, FlowArrival};
use shortflow_cc::Opening;
use shortflow_units::{Bytes, ConnId, HostId, Instant, NodeId, Occupancy, PortId, Rate, Span};

/// Smallest window, in segments, whose ratio to the path's capacity is computed.
const WORTH_A_LOOK: f64 = 100.0;

/// Network and hosts of a run, or of a part of it.
pub(super) struct World<'a> {
    pub scenario: &'a Scenario,
    pub modes: Modes,
    pub events: EventQueue<Event>,
    pub network: Network,
    pub connections: Connections,
    agents: Agents,
    /// Simulated part of the network; `None` for the whole network.
    pub part: Option<Part>,
    pub measuring_over: bool,
    /// True if an observer wants packet events.
    pub watched: bool,
    /// Bytes acknowledged since the last sample.
    pub meter: ClassMeter,
    /// Packets received by hosts.
    pub packets_received: u64,
    /// Number of events handled.
    pub handled: u64,
    /// Buffer for lists of ports.
    arriving: Vec<PortId>,
    /// Buffer for lists of ports that lead to hosts, with arrival times.
    reached: Vec<(PortId, Instant)>,
}

/// A packet that has reached its host, for the tracer.
pub(super) struct Watched {
    packet: Packet,
    /// Position of its record.
    place: usize,
}

impl<'a> World<'a> {
    /// The whole network, with the events by `plan`, before the run.
    pub(super) fn new(scenario: &'a Scenario, plan: &ExecutionPlan, network: Network) -> World<'a> {
        World {
            scenario,
            modes: plan.modes,
            events: plan.events(scenario, &network),
            network,
            connections: Connections::default(),
            agents: Agents::new(scenario.graph.hosts()),
            part: None,
            measuring_over: false,
            watched: false,
            meter: ClassMeter::new(scenario.classes.len()),
            packets_received: 0,
            handled: 0,
            arriving: Vec::new(),
            reached: Vec::new(),
        }
    }

    /// Restricts the simulation to a part of the network.
    pub(super) fn become_part(&mut self, part: Part) {
        self.network.split(&part.owner, part.number);
        self.part = Some(part);
    }

    /// True if `host` is simulated here.
    pub(super) fn owns(&self, host: HostId) -> bool {
        owns(&self.part, host)
    }

    #[inline(always)]
    fn context(&self) -> EndpointContext<'a> {
        EndpointContext { now: self.events.now(), tcp: &self.scenario.tcp }
    }

    /// Schedules an event that all parts have.
    pub(super) fn schedule_common(&mut self, at: Instant, event: Event) {
        self.events.schedule(at, NodeScope::GLOBAL, event);
    }

    /// Prefetches data of the present slot's arrivals, in a large network.
    #[inline(never)]
    pub(super) fn prefetch(&mut self) {
        let ports = &mut self.arriving;
        ports.clear();
        self.events.upcoming(|event| {
            if let Event::Network(NetworkEvent::Arrive(port)) = event {
                ports.push(port);
            }
        });
        self.network.prefetch(ports, |packet| self.connections.prefetch(packet.conn));
    }

    /// Lets the packets that reach a switch in the present window pass output by output.
    #[inline(always)] // one caller, which handles most windows
    pub(super) fn pass_window(&mut self, node: NodeId) {
        let mut reached = std::mem::take(&mut self.reached);
        self.handled += self.network.pass_window(&mut self.events, node, &mut reached);
        if self.modes.prefetch {
            let heads = reached.iter().filter_map(|(port, _)| self.network.head(*port));
            heads.for_each(|(_, packet)| self.connections.prefetch(packet.conn));
        }
        for (port, at) in reached.drain(..) {
            self.receive_early(port, at, self.events.end_of_window());
        }
        self.reached = reached;
    }

    /// Short path of a packet at the far end of a port. Returns `None` if the packet needs the long path.
    #[inline(always)]
    pub(super) fn arrive(&mut self, port: PortId) -> Option<()> {
        match self.network.leads_to_host(port)? {
            true if self.modes.predicts => self.receive_due(port),
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

    /// Handles an event of the network. Returns true if a packet has reached its host, in `place`.
    #[inline(always)]
    pub(super) fn handle(&mut self, event: NetworkEvent, place: &mut Packet) -> bool {
        let connections = &mut self.connections;
        let left_host = |packet: &Packet| connections.count_wait(packet);
        self.network.handle(&mut self.events, &self.scenario.graph, event, place, left_host)
    }

    /// Delivers the packet that arrives now from `port`, then receives later packets early. Returns `None` if
    /// the endpoint does not expect the packet.
    #[inline(never)] // keeps the path of packets at switches short
    fn receive_due(&mut self, port: PortId) -> Option<()> {
        let next = self.receive_expected(port)?;
        self.take_early(port, next, self.events.begin_of_window());
        Some(())
    }

    /// Receives early the packets that arrive through `port` from time `at` on. All departures from the port
    /// before `known` are known.
    #[inline(never)] // keeps the path of packets at switches short
    fn receive_early(&mut self, port: PortId, at: Instant, known: Instant) {
        self.take_early(port, at, known);
    }

    /// Receives packets while the endpoint expects them and no event other than local timers precedes them at
    /// the host. After the measured time nothing is received early, because the run may end at any event.
    #[inline(always)] // saves a call per packet
    fn take_early(&mut self, port: PortId, mut at: Instant, known: Instant) {
        let (now, sender) = (self.events.now(), &self.network.ports()[port.index()]);
        let (host, pulls) =
            (sender.to(), sender.egress().transmitter.leads_to_early_host() && !self.measuring_over);
        let unknown = known + sender.link().1;
        loop {
            let limit = if at < Instant::MAX { at } else { unknown };
            let is_safe = pulls && self.events.is_safe(host, limit);
            if pulls
                && !is_safe
                && let Some(Event::Timer { connection, timer }) = self.events.take_local(host, limit)
            {
                self.run_timer(connection, timer, Some(HostId(host.0)));
            } else if at < Instant::MAX
                && (is_safe || pulls && self.events.is_safe(host, at) || self.events.is_next(host, at))
            {
                self.events.set_now(at);
                let Some(next) = self.receive_expected(port) else { break };
                at = next;
            } else {
                break;
            }
            self.handled += 1;
        }
        self.events.set_now(now);
        if at < Instant::MAX {
            self.events.schedule(at, host, NetworkEvent::Arrive(port).into());
        }
    }

    /// Delivers the head packet of `port` if the endpoint expects it. Returns the time of the next arrival,
    /// or `Instant::MAX`.
    #[inline(always)]
    fn receive_expected(&mut self, port: PortId) -> Option<Instant> {
        let (head, packet) = self.network.head(port)?;
        let (conn, host) = (packet.conn, packet.to);
        let cx = self.context();
        let connection = self.connections.get(conn, packet.flow_id)?;
        let at_sender = host == connection.source;
        if connection.has_app_waiter || !connection.ends.expects(packet, at_sender) {
            return None;
        }
        let packet = packet.bare();
        let next = self.network.deliver(port, head);
        self.packets_received += 1;
        let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
        if at_sender {
            let mut outbox =
                EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_SENDER };
            if let Some((acked, class)) = connection.ends.deliver_expected_ack(&packet, cx, &mut outbox) {
                self.meter.count(class, acked);
            }
        } else {
            let mut outbox =
                EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_RECEIVER };
            connection.ends.deliver_expected_data(&packet, cx, &mut outbox);
        }
        self.tell_senders();
        Some(next)
    }

    /// Delivers a packet to its endpoint. Late packets of closed connections are ignored. Returns a notice if a message
    /// is now fully acknowledged, or if an application waits for data of the connection.
    #[inline(always)]
    pub(super) fn receive(&mut self, packet: &mut Packet) -> Option<Notice> {
        self.packets_received += 1;
        let (conn, flow_id) = (packet.conn, packet.flow_id);
        let cx = self.context();
        let connection = self.connections.get(conn, flow_id)?;
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
            finished.then(|| Notice::Acked { conn, acked: connection.ends.acked(), at: cx.now })
        } else {
            let mut outbox =
                EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_RECEIVER };
            connection.ends.deliver_to_receiver(packet, cx, &mut outbox);
            let received = || connection.ends.received();
            connection.has_app_waiter.then(|| Notice::Arrived {
                conn,
                flow_id,
                received: received(),
                at: cx.now,
            })
        }
    }

    /// Starts sending the data of a connection from `host`, if the host is simulated here.
    pub(super) fn start_sending(&mut self, conn: ConnId, host: HostId) {
        if !self.owns(host) {
            return;
        }
        let cx = self.context();
        let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
        let mut outbox =
            EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_SENDER };
        self.connections.slot(conn).ends.start(cx, &mut outbox);
    }

    /// A timer of a connection expires.
    #[inline(always)]
    pub(super) fn on_timer(&mut self, conn: ConnId, timer: u8) {
        match self.watched {
            true => self.run_timer_watched(conn, timer),
            false => self.run_timer(conn, timer, None),
        }
    }

    /// Runs a timer of a connection, which may have been closed since. `early` is the host that runs the
    /// timer early.
    #[inline(never)] // keeps the path of packets short
    fn run_timer(&mut self, conn: ConnId, timer: u8, early: Option<HostId>) {
        let cx = self.context();
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

    /// Does the work of [`World::run_timer`] if timeouts may be watched.
    #[inline(never)] // keeps the path of unwatched timers short
    fn run_timer_watched(&mut self, conn: ConnId, timer: u8) {
        let (now, before) = (self.events.now(), self.connections.slot(conn).ends.timeouts());
        let cause = match timer.checked_sub(OF_SENDER) {
            Some(0) => Cause::Recovery,
            Some(CARD) => Cause::SmallQueue,
            _ => Cause::Pacing,
        };
        let place = self.network.watch_mut().map_or(0, |watch| watch.wakes(cause));
        self.run_timer(conn, timer, None);
        let open = self.connections.slot(conn);
        let (number, una, cwnd) = (open.flow_id, open.ends.acked(), open.ends.cwnd(now));
        if let Some(watch) = self.network.watch_mut().filter(|_| open.ends.timeouts() > before) {
            watch.timed_out(now, number, una, cwnd, place);
        }
    }

    /// The common timer of a host's agents expires.
    pub(super) fn on_host_timer(&mut self, host: HostId) {
        self.agents.wake(host, self.events.now());
        self.tell_senders();
    }

    /// Work after each event at a host: tells senders which segments have left the schedulers of their hosts' ports,
    /// and runs the connections that agents name.
    #[inline]
    pub(super) fn tell_senders(&mut self) {
        while let Some(left) = self.network.next_left() {
            self.tell_sender(left);
        }
        if self.agents.are_touched() {
            self.take_turns();
        }
    }

    #[inline(never)] // keeps the path of hosts without agents short
    fn take_turns(&mut self) {
        while let Some((host, turn)) = self.agents.next_turn(&mut self.events) {
            self.network.watch_mut().into_iter().for_each(|watch| watch.turns());
            let cx = self.context();
            let Some(connection) = self.connections.get(turn.conn, turn.flow_id) else { continue };
            let at_sender = host == connection.source;
            let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
            let timers = if at_sender { OF_SENDER } else { OF_RECEIVER };
            let mut outbox = EndpointOutbox { network, events, agents, host, connection: turn.conn, timers };
            connection.ends.on_turn(at_sender, cx, &mut outbox);
        }
    }

    #[inline(never)] // keeps the path of packets short
    fn tell_sender(&mut self, Left { conn, flow_id, departs }: Left) {
        let cx = self.context();
        let Some(connection) = self.connections.get(conn, flow_id) else { return };
        let (network, events, agents) = (&mut self.network, &mut self.events, &mut self.agents);
        let host = connection.source;
        let mut outbox =
            EndpointOutbox { network, events, agents, host, connection: conn, timers: OF_SENDER };
        connection.ends.on_left(departs, cx, &mut outbox);
    }

    /// The connection for a flow of traffic entry `index`: an idle persistent connection, or a new one.
    pub(super) fn connection_for(&mut self, scheme: &Scheme, index: usize, arrival: &FlowArrival) -> ConnId {
        let priority = self.scenario.priorities[index];
        let transport = self.scenario.transports.get(&arrival.class).unwrap_or(&scheme.transport);
        let key = |entry, number| {
            let (source, destination) = (arrival.source, arrival.destination);
            Some(PersistentKey { entry, source, destination, number, priority })
        };
        let key = match arrival.connection {
            ConnectionUse::New => None,
            ConnectionUse::Persistent(number) => key(Some(index), number),
            ConnectionUse::Shared(number) => key(None, number),
        };
        let key = key.filter(|_| !transport.info().host.info().by_message);
        if let Some(conn) = key.and_then(|key| self.connections.persistent(&key)) {
            return conn;
        }
        let (source, to) = (arrival.source, arrival.destination);
        let flow_id = self.connections.next_flow_id();
        let path = self.network.path(source, to, flow_id);
        let back = self.network.path(to, source, flow_id);
        let tcp = &self.scenario.tcp;
        let round_trip = ideal_fct(tcp.mss, tcp, &path, &back);
        let (mss, header) = (tcp.mss, tcp.link_bytes(tcp.mss) - tcp.mss);
        let [line, receiver_line] =
            [&path, &back].map(|way| way.links.first().map_or(Rate::MAX, |link| link.0));
        let slowest = path.links.iter().skip(1).chain(back.links.iter().skip(1)).map(|(rate, _)| *rate).min();
        let full = scheme.queue.most_ahead(tcp.link_bytes(Bytes::ZERO), tcp.link_bytes(mss));
        let full_queue = full.zip(slowest).map_or(Span::ZERO, |(bytes, rate)| rate.tx_time(bytes));
        let setup = ConnectionSetup {
            tcp,
            at: Opening { now: self.events.now(), line, base_rtt: round_trip, mss, header },
            receiver_line,
            full_queue,
            priority: scheme.priority,
            initial_rto: tcp.initial_rto.unwrap_or_else(|| tcp.rto_min.max(round_trip.times(3))),
            small_queue: self.scenario.conduct.small_queue as usize,
            predicts: self.modes.predicts,
        };
        let conn = self.connections.open((source, to), key, transport, &setup);
        self.network
            .watch_mut()
            .into_iter()
            .for_each(|watch| watch.open((source, to), transport.info().host));
        self.network.prioritise(priority);
        self.network.open((conn, flow_id), source, to);
        conn
    }

    /// Closes an idle connection.
    pub(super) fn close(&mut self, conn: ConnId) {
        let connection = self.connections.slot(conn);
        let (flow_id, ends) = (connection.flow_id, [connection.source, connection.destination]);
        ends.into_iter().for_each(|host| self.agents.close(host, flow_id));
        self.connections.close(conn);
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

    /// Fails if an event was scheduled in the past.
    pub(super) fn check_time(&self) -> Result<(), String> {
        self.events.scheduled_in_past().map_or(Ok(()), |(due, now)| {
            Err(format!("an event was scheduled for {due}, before the current time {now}"))
        })
    }

    /// Merges other parts of the network into part 0.
    pub(super) fn join(&mut self, others: Vec<World<'_>>, owner: &[u32]) {
        let (mut networks, mut tables) = (Vec::new(), Vec::new());
        for other in others {
            self.packets_received += other.packets_received;
            networks.push(other.network);
            tables.push(other.connections);
        }
        self.network.join(networks, owner);
        self.connections.join(&mut tables, |host| owner[host.index()] as usize);
    }

    /// Starts to record packet events and to account for completion times.
    pub(super) fn watch(&mut self, what: Option<TraceFilter>, explained: Option<Explained>) {
        self.network.watch(what.unwrap_or_default());
        self.watched = true;
        let Some(explained) = explained else { return };
        let ends = self.network.ports().iter().map(|port| {
            let (rate, delay) = port.link();
            LinkEnd { from: port.from, to: port.to(), rate, delay }
        });
        let (ends, hosts) = (ends.collect::<Vec<_>>(), self.scenario.graph.hosts());
        let accounts = Accounts::new(explained, &ends, hosts, self.scenario.tcp.wire.gap());
        self.network.watch_mut().into_iter().for_each(|watch| watch.explain(accounts.clone()));
    }

    /// Shows the tracer a packet that has reached its host, before the host receives it.
    pub(super) fn watch_arrival(&mut self, packet: &Packet) -> Watched {
        let now = self.events.now();
        let place = self.network.watch_mut().map_or(0, |watch| watch.arrives(now, packet));
        Watched { packet: packet.clone(), place }
    }

    /// Shows the tracer the state of the host after it has received a packet.
    pub(super) fn watch_delivery(&mut self, Watched { packet, place }: &Watched) {
        let now = self.events.now();
        let sender = self.connections.get(packet.conn, packet.flow_id);
        let sender = sender.filter(|open| open.source == packet.to);
        let standing =
            sender.as_ref().map(|open| Standing { una: open.ends.acked(), permitted: open.ends.permitted() });
        let cwnd = sender.and_then(|open| open.ends.cwnd(now));
        let Some(watch) = self.network.watch_mut() else { return };
        standing.into_iter().for_each(|standing| watch.answered(now, packet.flow_id, standing));
        if watch.wants(None, packet) {
            watch.delivered(now, packet, cwnd, *place);
        }
    }
}
