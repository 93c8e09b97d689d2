//! A network: ports and routes. Packets enter at a host and leave at a host.

mod counted;
mod hooked;
mod paused;
mod prepared;
mod returned;
mod window;

use super::flow_control::PauseFrame;
use super::forwarded::Windows;
use super::outages::Outages;
use super::paths::Paths;
use super::reports::Reports;
use super::{
    Drops, FaultInjector, FlowControl, HostDelay, LinkChoice, MeasurementWindow, NetworkCounts, NetworkEvent,
    Port, PortEvent, RouteError, Routes, SharedMemory, Stage, WithNetwork,
};
use crate::engine::{EventQueue, Seeds};
use crate::packet::{Handover, Packet, PacketId, Packets};
use crate::probe::watch::{PacketEvent, PacketTracer, TraceFilter};
use crate::queue::{DropReason, PortSetup, QueueConfig};
use crate::routing::{Chooser, PathChoice};
use crate::scenario::Scenario;
use crate::theory::fct::Path;
use crate::topology::Graph;
use shortflow_units::{Bytes, ConnId, HostId, Instant, NodeId, PortId, Rate};
use std::collections::BTreeMap;

/// Rarely used parts of a network. They are stored apart, so that the common path stays short.
#[derive(Debug, Clone, Default)]
struct PortHooks {
    memory: Option<Box<SharedMemory>>,
    flow_control: Option<Box<FlowControl>>,
    /// Port from which the packet in a switch came.
    source: Option<PortId>,
    watch: Option<PacketTracer>,
    /// Priority of each connection, by number.
    priorities: Vec<u8>,
}

impl PortHooks {
    /// Shared memory, flow control and planned pauses of `scenario`, which prepare `ports` for pauses; `None`
    /// without any.
    fn of(scenario: &Scenario, ports: &mut [Port]) -> Option<Box<PortHooks>> {
        let memory = SharedMemory::new(scenario);
        let (flow_control, pauses) = FlowControl::control(scenario, ports);
        let is_special = memory.is_some() || pauses;
        is_special.then(|| Box::new(PortHooks { memory, flow_control, ..PortHooks::default() }))
    }
}

/// The network of a run.
#[derive(Debug, Clone)]
pub struct Network {
    pub(super) ports: Vec<Port>,
    /// Packets in the rings of the ports.
    pub(super) packets: Packets,
    /// Ports that lead to other parts of the network, each with the number of this part.
    pub(super) crossing: Vec<(PortId, u32)>,
    routes: Routes,
    chooser: Chooser,
    /// Label of the next packet of each host whose connection has no fixed path.
    labels: Vec<u8>,
    special: Option<Box<PortHooks>>,
    paths: Paths,
    /// True if all packets of a connection take one path, which is computed when the connection begins.
    fixed_paths: bool,
    /// True if paths are fixed, and some port of a switch has a short path.
    passes_on: bool,
    /// State of a run in windows.
    windows: Windows,
    outages: Option<Box<Outages>>,
    hosts: usize,
    /// Drops at nodes without a route.
    drops: BTreeMap<NodeId, Drops>,
    reports: Reports,
    /// Sender of each connection, by number, if queues return headers.
    senders: Option<Vec<HostId>>,
    /// Frames of flow control for other parts, each with the number of this part.
    pub(super) frames: Vec<(u32, PauseFrame)>,
    pub(super) sent: u64,
    pub(super) delivered: u64,
    /// Counters at the start and at the end of the measured time.
    pub(super) before: NetworkCounts,
    pub(super) after: Option<NetworkCounts>,
}

impl Network {
    /// Network of `scenario` with these queues in switches and in hosts.
    pub fn new(
        scenario: &Scenario,
        queues: (&QueueConfig, &QueueConfig),
        seeds: Seeds,
    ) -> Result<Network, RouteError> {
        let graph = &scenario.graph;
        let routes = Routes::new(graph)?;
        let chooser = scenario.routing.start(graph.nodes.len(), seeds);
        let outages = Outages::new(scenario, &routes);
        let mut ports = ports_of(scenario, queues, seeds);
        let special = PortHooks::of(scenario, &mut ports);
        let hosts = graph.hosts();
        Ok(Network {
            ports,
            packets: Packets::default(),
            crossing: Vec::new(),
            routes,
            chooser,
            labels: vec![0; hosts],
            special,
            paths: Paths::default(),
            fixed_paths: false,
            passes_on: false,
            windows: Windows::default(),
            outages,
            hosts,
            drops: BTreeMap::new(),
            reports: Reports::default(),
            senders: queues.0.returns().then(Vec::new),
            frames: Vec::new(),
            sent: 0,
            delivered: 0,
            before: NetworkCounts::default(),
            after: None,
        })
    }

    /// Fixes the paths if `fixed_paths` is true: all packets of a connection take one path, which is computed
    /// when the connection begins.
    pub fn with_fixed_paths(self, fixed_paths: bool) -> Network {
        let of_switches = |port: &&Port| port.from.index() >= self.hosts;
        let passes_on =
            fixed_paths && self.ports.iter().filter(of_switches).any(|port| port.egress.has_short_path());
        Network { fixed_paths, passes_on, ..self }
    }

    /// Records packet events from now on, for [`Network::watch_mut`].
    pub fn watch(&mut self, what: TraceFilter) {
        let lag = self.ports.iter().map(|port| port.link().1).max().unwrap_or_default();
        self.ports.iter_mut().for_each(Port::watch);
        let special = self.special.get_or_insert_default();
        special.watch = Some(PacketTracer::new(what, lag));
    }

    /// Tracer of the packets, if any.
    pub fn watch_mut(&mut self) -> Option<&mut PacketTracer> {
        self.special.as_mut()?.watch.as_mut()
    }

    /// Records that no later record can precede, in order of time.
    pub fn noted(&mut self, now: Instant) -> Vec<PacketEvent> {
        self.watch_mut().map(|watch| watch.take(now)).unwrap_or_default()
    }

    /// Schedules the outages, and the planned pauses of the nodes for which `is_here` is true.
    pub fn begin(&self, events: &mut EventQueue<impl WithNetwork>, is_here: impl Fn(NodeId) -> bool) {
        if let Some(outages) = &self.outages {
            outages.schedule(events);
        }
        self.schedule_planned_frames(events, is_here);
    }

    /// Sends a packet from `host`. Returns its known delays. If the packet waits in a scheduler,
    /// [`Network::next_left`] reports its departure later.
    #[inline(never)] // has many callers, of which few send often
    pub fn send(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        host: HostId,
        packet: Packet,
    ) -> Handover {
        self.emit(events, host, packet)
    }

    /// [`Network::send`], inlined into the caller. Common packets are built in their place of [`Packets`].
    #[inline(always)]
    pub fn emit(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        host: HostId,
        packet: Packet,
    ) -> Handover {
        self.sent += 1;
        if self.special.is_none()
            && let Some(next) = self.paths.next(&packet)
            && let Some(port) = self.ports.get_mut(next.index())
            && let Some(departure) = port.egress.offer(events.now(), packet.frame())
        {
            if let Some((at, to)) =
                port.egress.transmitter.start_from_host(departure, &mut self.packets, packet)
            {
                events.schedule(at, to, NetworkEvent::Arrive(next).into());
            }
            return Handover { waits: departure.waits, departs: departure.departs };
        }
        self.forward_from(events, host, packet)
    }

    #[inline(never)] // keeps the short path short
    fn forward_from(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        host: HostId,
        mut packet: Packet,
    ) -> Handover {
        self.note_source(None);
        self.forward(events, NodeId(host.0), &mut packet)
    }

    /// Handles an event. Returns `true` if a packet has reached its host, with this packet in `packet`.
    /// `left_host` receives a packet whose transmission from its host begins after a wait.
    #[inline(always)]
    pub fn handle(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        graph: &Graph,
        event: NetworkEvent,
        packet: &mut Packet,
        left_host: impl FnMut(&Packet),
    ) -> bool {
        let arrived = match event {
            NetworkEvent::Arrive(port) => self.arrive(events, port, packet),
            NetworkEvent::Release(port) => self.release(events.now(), port, packet),
            NetworkEvent::TransmitDone(port) => {
                self.transmit_done(events, port, left_host);
                None
            }
            NetworkEvent::LinkChange(step) => {
                self.change_links(events, graph, step);
                None
            }
            NetworkEvent::Pause(port) => {
                self.obey_frame(events, port, left_host);
                None
            }
        };
        let Some(node) = arrived else { return false };
        if node.index() >= self.hosts {
            self.note_source(event.source());
            self.forward(events, node, packet);
            return false;
        }
        self.delivered += 1;
        true
    }

    /// True if `port` leads to a host, false if it leads to a switch. `None` if packets from the port may
    /// need the long path.
    #[inline(always)]
    pub fn leads_to_host(&self, port: PortId) -> Option<bool> {
        let source = self.ports.get(port.index())?;
        let is_to_host = source.to().index() < self.hosts;
        let is_rare = source.is_faulty() || !self.fixed_paths || !(is_to_host || self.passes_on);
        if is_rare { None } else { Some(is_to_host) }
    }

    /// Next packet that arrives from `port`, and its place.
    #[inline(always)]
    pub fn head(&self, port: PortId) -> Option<(PacketId, &Packet)> {
        let head = self.ports.get(port.index())?.egress.transmitter.head()?;
        Some((head, self.packets.get(head)))
    }

    /// Removes the packet `head` from the wire of `port`, and frees its place. The host has a copy. Returns
    /// the next arrival from `port`, or [`Instant::MAX`] if there is none.
    #[inline(always)]
    pub fn deliver(&mut self, port: PortId, head: PacketId) -> Instant {
        self.delivered += 1;
        self.packets.free(head);
        self.ports[port.index()].egress.transmitter.advance(&mut self.packets).unwrap_or(Instant::MAX)
    }

    /// Moves the packet at the head of the wire of `port` to the ring of its next port. Returns the next
    /// port. If a host takes arrivals from this port early, and the packet is at the head there, also returns
    /// its arrival; otherwise [`Instant::MAX`]. Returns `None` and moves nothing if the packet needs the long
    /// path.
    #[inline(never)] // a function of its own has all registers
    pub fn pass_on(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        port: PortId,
    ) -> Option<(PortId, Instant)> {
        if self.special.is_some() {
            return None;
        }
        let id = self.ports[port.index()].egress.transmitter.head()?;
        let packet = self.packets.get(id);
        let (frame, next) = (packet.frame(), self.paths.next(packet)?);
        let [source, target] = self.ports.get_disjoint_mut([port.index(), next.index()]).ok()?;
        let departure = target.egress.offer(events.now(), frame)?;
        let node = source.to();
        let follows = source.egress.transmitter.advance(&mut self.packets);
        let packet = self.packets.get_mut(id);
        packet.go(departure.waits, departure.is_marked, false);
        let mut reaches = target.egress.transmitter.start(departure.departs, id, packet.wire);
        if let Some((at, to)) = reaches.take_if(|_| !target.egress.transmitter.leads_to_early_host()) {
            events.schedule(at, to, NetworkEvent::Arrive(next).into());
        }
        if let Some(at) = follows {
            events.schedule(at, node, NetworkEvent::Arrive(port).into());
        }
        Some((next, reaches.map_or(Instant::MAX, |(at, _)| at)))
    }

    /// Moves the packet at the head of the wire of `port` into `packet`. Returns the node that the packet
    /// reaches, or `None` if a fault drops or delays the packet.
    #[inline]
    fn arrive(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        port: PortId,
        packet: &mut Packet,
    ) -> Option<NodeId> {
        let sender = &mut self.ports[port.index()];
        let node = sender.to();
        if sender.is_faulty() {
            return self.arrive_over_faults(events, port, packet).then_some(node);
        }
        let next = sender.arrive(&mut self.packets, packet)?;
        if let Some(at) = next {
            events.schedule(at, node, NetworkEvent::Arrive(port).into());
        }
        Some(node)
    }

    /// [`Network::arrive`] over a link with faults. Returns `true` if the packet arrives.
    #[inline(never)] // keeps the common path short
    fn arrive_over_faults(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        port: PortId,
        packet: &mut Packet,
    ) -> bool {
        let now = events.now();
        let sender = &mut self.ports[port.index()];
        let departed = sender.egress.transmitter.next_departure();
        let is_due = sender.is_due(&mut self.packets, now);
        let Some(next) = is_due.then(|| sender.arrive(&mut self.packets, packet)).flatten() else {
            return false;
        };
        if let Some(at) = next {
            events.schedule(at, sender.to(), NetworkEvent::Arrive(port).into());
        }
        let node = sender.to();
        self.watch_mut().into_iter().for_each(|watch| watch.departed(departed, port, packet));
        let passage = self.ports[port.index()].pass(now, packet);
        self.note_drops(now, port);
        if let Err(Some(until)) = passage {
            events.schedule(until, node, NetworkEvent::Release(port).into());
        }
        passage.is_ok()
    }

    /// [`Network::arrive`] of a packet that a fault on the wire of `port` has delayed.
    #[inline(never)] // keeps the common path short
    fn release(&mut self, now: Instant, port: PortId, packet: &mut Packet) -> Option<NodeId> {
        let sender = &mut self.ports[port.index()];
        *packet = sender.faults.as_mut()?.release(now)?;
        Some(sender.to())
    }

    /// Lets links of `graph` fail or recover, and updates the routes.
    #[inline(never)] // keeps the path of packets short
    fn change_links(&mut self, events: &mut EventQueue<impl WithNetwork>, graph: &Graph, step: u32) {
        let Some(outages) = &self.outages else { return };
        let now = events.now();
        for change in outages.changes(step) {
            let port = &mut self.ports[change.port.index()];
            match change.fails {
                true => port.fail(now, &mut self.packets, |due| {
                    settle((events, &mut self.reports), change.port, due)
                }),
                false => port.restore(),
            }
        }
        let failing: Vec<PortId> = outages.changes(step).iter().map(|change| change.port).collect();
        self.routes = outages.intact.over(graph, |link| !self.ports[2 * link].is_down());
        for port in failing {
            self.note_drops(now, port);
            self.restart_flow_control(events, port);
        }
    }

    /// Routes a packet at `node` and enqueues it at its next port. Returns its known delays there.
    #[inline(never)] // keeps the short path short
    fn forward(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        node: NodeId,
        packet: &mut Packet,
    ) -> Handover {
        let now = events.now();
        let port = match self.paths.next(packet) {
            Some(port) => port,
            None => {
                if let Some(label) = self.labels.get_mut(node.index()) {
                    packet.hop = *label;
                    *label = label.wrapping_add(1);
                }
                match *self.routes.next(node, packet.to) {
                    [port] => port,
                    [] => return self.drop_unroutable(now, node, packet),
                    ref ports => ports[self.chooser.choose(now, packet.hop_at(node, ports.len()))],
                }
            }
        };
        packet.hop = packet.hop.wrapping_add(1);
        let handover = if self.special.is_some() {
            self.forward_hooked(events, port, packet)
        } else {
            let sender = &mut self.ports[port.index()];
            hand_over(sender, (events, &mut self.reports), port, (&mut self.packets, packet))
        };
        if !self.reports.returned.is_empty() {
            self.return_headers(events, node, port);
        }
        handover
    }

    /// Drops a packet at a node without a route.
    #[inline(never)] // keeps the common path short
    fn drop_unroutable(&mut self, now: Instant, node: NodeId, packet: &Packet) -> Handover {
        self.drops.entry(node).or_default().count(DropReason::NoRoute, 1);
        if let Some(watch) = self.watch_mut() {
            watch.lost(now, None, vec![(DropReason::NoRoute, packet.clone())], None);
        }
        Handover::DROPPED
    }

    /// Starts the next transmission of a port whose packets wait.
    #[inline(never)] // keeps the path of ports without a scheduler short
    fn transmit_done(
        &mut self,
        events: &mut EventQueue<impl WithNetwork>,
        port: PortId,
        left_host: impl FnMut(&Packet),
    ) {
        let (now, sender) = (events.now(), &mut self.ports[port.index()]);
        let is_host = sender.from.index() < self.hosts;
        let started = sender
            .transmit_done(now, &mut self.packets, |due| settle((events, &mut self.reports), port, due));
        started.filter(|_| is_host).into_iter().for_each(left_host);
        if self.special.is_some() {
            self.note_drops(now, port);
            self.send_frames(events, port, None);
        }
    }

    /// Prefetches data for the next arrivals from `ports`, stage by stage for all ports. `at_host` receives
    /// the packets that reach their host. `ports` keeps the next ports of the other packets.
    pub fn prefetch(&self, ports: &mut Vec<PortId>, mut at_host: impl FnMut(&Packet)) {
        let of = |port: &PortId| &self.ports[port.index()];
        ports.iter().for_each(|port| of(port).prefetch_wire());
        ports.iter().for_each(|port| of(port).egress.transmitter.prefetch_head());
        ports.iter().for_each(|port| of(port).egress.transmitter.prefetch_packets(&self.packets, 1));
        let head = |port: &PortId| of(port).egress.transmitter.head().map(|packet| self.packets.get(packet));
        if self.fixed_paths {
            ports.iter().filter_map(head).for_each(|packet| self.paths.prefetch(packet));
        }
        ports.retain_mut(|port| {
            let Some(packet) = head(port) else { return false };
            let node = of(port).to();
            if node.index() < self.hosts {
                at_host(packet);
                return false;
            }
            let next = self.paths.next(packet).or_else(|| self.routes.of_packet(node, packet, &self.chooser));
            next.inspect(|next| of(next).prefetch()).map(|next| *port = next).is_some()
        });
        ports.iter().for_each(|port| of(port).egress.transmitter.prefetch_ring());
    }

    /// Computes the path of a new connection, if paths are fixed.
    pub fn open(&mut self, (conn, flow_id): (ConnId, u32), source: HostId, to: HostId) {
        self.note_sender(source);
        if self.fixed_paths {
            let end = |port: PortId| self.ports[port.index()].to();
            let way = |source, to| self.routes.fixed_path((source, to, flow_id), &self.chooser, end);
            let ways = way(source, to).zip(way(to, source)).map(|(there, back)| [there, back]);
            self.paths.keep((conn, flow_id), ways);
        }
    }

    /// Rate and delay of every link on the path of connection `flow_id` from `source` to `to` if no link is
    /// down. If packets choose among several links, the fastest link is taken.
    pub fn path(&self, source: HostId, to: HostId, flow_id: u32) -> Path {
        Path::of(&self.stages(source, to, flow_id), |port| self.ports[port.index()].link())
    }

    /// Ports of the links that [`Network::path`] describes.
    pub fn ports_on_path(&self, source: HostId, to: HostId, flow_id: u32) -> impl Iterator<Item = &Port> {
        self.stages(source, to, flow_id).into_iter().map(|stage| &self.ports[stage.fastest.index()])
    }

    /// Ends of the links that all packets of connection `flow_id` cross, if this is known in advance.
    pub fn fixed_ports(
        &self,
        source: HostId,
        to: HostId,
        flow_id: u32,
    ) -> impl Iterator<Item = (NodeId, NodeId)> {
        let fixed =
            self.stages(source, to, flow_id).into_iter().filter(|stage| stage.choice == LinkChoice::Fixed);
        fixed.map(|stage| &self.ports[stage.fastest.index()]).map(|port| (port.from, port.to()))
    }

    fn stages(&self, source: HostId, to: HostId, flow_id: u32) -> Vec<Stage> {
        let routes = self.outages.as_ref().map_or(&self.routes, |outages| &outages.intact);
        let (link, end) =
            (|port: PortId| self.ports[port.index()].link(), |port: PortId| self.ports[port.index()].to());
        routes.stages((source, to, flow_id), &self.chooser, link, end)
    }

    /// Payload of connection `flow_id` that was dropped or trimmed on the way from `source` to `to`.
    pub fn lost(&self, source: HostId, to: HostId, flow_id: u32) -> u64 {
        self.ports_on_path(source, to, flow_id).map(|port| port.egress.account.lost(flow_id)).sum()
    }

    /// Ports, two per link.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Ports with these ends: (sending node, receiving node).
    pub fn ports_between(&self, ends: &[(NodeId, NodeId)]) -> Vec<PortId> {
        let ports = self.ports.iter().enumerate();
        let by_ends: BTreeMap<(NodeId, NodeId), usize> =
            ports.map(|(i, port)| ((port.from, port.to()), i)).collect();
        ends.iter().filter_map(|ends| by_ends.get(ends)).map(|port| PortId::from(*port)).collect()
    }

    /// Sets the rate of a port. The testbed sets rates that differ from those of the links.
    pub fn set_rate(&mut self, port: PortId, rate: Rate) {
        self.ports[port.index()].set_rate(rate);
    }
}

/// Ports of both directions of every link, with these queues in switches and in hosts.
fn ports_of(
    scenario: &Scenario,
    (of_switches, of_hosts): (&QueueConfig, &QueueConfig),
    seeds: Seeds,
) -> Vec<Port> {
    let graph = &scenario.graph;
    let window =
        MeasurementWindow { from: Instant::ZERO + scenario.warmup, to: Instant::ZERO + scenario.duration };
    let (gap, header) = (scenario.tcp.wire.gap(), scenario.tcp.frame(Bytes::ZERO));
    let jitter = scenario.jitter();
    let directions = graph.links.iter().flat_map(|link| [(link, link.a, link.b), (link, link.b, link.a)]);
    let ports = directions.enumerate().map(|(index, (link, from, to))| {
        let faults = FaultInjector::new(scenario, index, (from, to), seeds);
        let (queue, buffer, (mark_above, mark_all_above, mark_probability)) = match graph.is_host(from) {
            true => (of_hosts, scenario.host.buffer, (scenario.host.mark_above, None, None)),
            false => {
                let switch = scenario.switch_port(from, to);
                (of_switches, switch.buffer, switch.curve())
            }
        };
        let rate = link.rate;
        let setup =
            PortSetup { mark_above, mark_all_above, mark_probability, rate, gap, header, seeds, index };
        let queue = queue.build(setup);
        let mut port = Port::new((from, to), (link.rate, link.delay), (queue, buffer), faults, window);
        port.egress.transmitter.set_gap(gap);
        match graph.is_host(from) {
            true => port.of_host(HostDelay::of(&scenario.host, jitter[from.index()], index, seeds)),
            false => port,
        }
    });
    ports.collect()
}

/// Enqueues a packet at its port. All callers share this function, so that schedulers are compiled once.
#[inline(always)]
fn hand_over(
    sender: &mut Port,
    (events, reports): Told<'_, impl WithNetwork>,
    port: PortId,
    (packets, packet): (&mut Packets, &mut Packet),
) -> Handover {
    let id = packets.put(packet.take());
    sender.enqueue(events.now(), packets, id, |due| settle((events, reports), port, due))
}

/// Event queue and reports, which receive the events of a port.
type Told<'a, E> = (&'a mut EventQueue<E>, &'a mut Reports);

#[inline]
fn settle((events, reports): Told<'_, impl WithNetwork>, port: PortId, due: PortEvent) {
    match due {
        PortEvent::Arrival(at, node) => events.schedule(at, node, NetworkEvent::Arrive(port).into()),
        PortEvent::Done(at, node) => events.schedule(at, node, NetworkEvent::TransmitDone(port).into()),
        PortEvent::Left(left) => reports.left.iter_mut().for_each(|reports| reports.push(left)),
        PortEvent::Returned(header) => reports.returned.push(header),
    }
}
