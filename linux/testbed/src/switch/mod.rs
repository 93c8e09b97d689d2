//! Software switch: the simulator's network, run in real time.
//!
//! A frame that a host sends into its TAP device becomes a [`Packet`] without content and crosses the ports of the
//! scenario (rate, buffer, queue discipline, propagation delay, injected faults). When the packet arrives, the switch
//! writes the frame into the TAP device of its destination, with CE set if a queue has marked it. Ports compute with
//! due times, so a late wake-up delays frames but keeps the rate. The switch counts the timing errors of frames,
//! which decide the verdict on a run.

mod frames;
pub mod header;
mod timing;

pub use header::{ETHERNET, flow_of, ipv4, ipv6};
pub use timing::{Rounds, Stalls, TimingErrors};

use crate::card::Card;
use crate::sys::{self, Poll, READABLE};
use frames::Frames;
use shortflow_sim::engine::{EventQueue, NodeScope};
use shortflow_sim::host::DeliveryCounters;
use shortflow_sim::net::Network;
use shortflow_sim::packet::{EcnField, Packet, PacketType};
use shortflow_sim::probe::{Sample, Samples, Subject};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::simulation::Event;
use shortflow_units::{Bytes, HostId, Instant, PortId, Span};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest wait of the thread, after which it checks whether to stop.
const POLL_TIMEOUT: Span = Span::from_millis(5);
/// Frames taken from one host before other hosts have their turn.
const BURST: usize = 16;

/// Clock of a run: the reading of the monotonic clock at the simulator's time zero.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// Makes a clock whose time zero is `span` ahead.
    pub fn starting_in(span: Span) -> Clock {
        Clock { origin_ns: sys::monotonic_ns() + span.as_ps() / 1000 }
    }

    /// Reading of the monotonic clock at `at`, in nanoseconds.
    pub fn monotonic_ns(&self, at: Instant) -> u64 {
        self.origin_ns + at.as_ps() / 1000
    }

    /// Sleeps until time zero.
    pub fn await_start(&self) {
        std::thread::sleep(Duration::from_nanos(self.origin_ns.saturating_sub(sys::monotonic_ns())));
    }

    /// Current time of the run; zero before the start.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::ZERO + Span::from_nanos(sys::monotonic_ns().saturating_sub(self.origin_ns))
    }
}

/// TAP devices of the hosts that take part.
#[derive(Debug)]
pub struct Taps {
    by_host: Vec<Option<File>>,
    cards: HashMap<HostId, Card>,
    poll: Poll,
}

impl Taps {
    /// Watches the devices of hosts.
    /// Fails if a device cannot be watched.
    pub fn new(devices: impl IntoIterator<Item = (HostId, File)>) -> io::Result<Taps> {
        let poll = Poll::new()?;
        let mut by_host = Vec::new();
        for (host, device) in devices {
            poll.add(&device, host.0.into(), READABLE)?;
            if by_host.len() <= host.index() {
                by_host.resize_with(host.index() + 1, || None);
            }
            by_host[host.index()] = Some(device);
        }
        Ok(Taps { by_host, cards: HashMap::new(), poll })
    }

    /// Samples the backlog of these hosts' ports from their cards.
    pub fn with_cards(self, cards: HashMap<HostId, Card>) -> Taps {
        Taps { cards, ..self }
    }

    fn of(&mut self, host: HostId) -> Option<&mut File> {
        self.by_host.get_mut(host.index())?.as_mut()
    }
}

/// Report of a switch on its own timing, its losses and its packets.
#[derive(Debug, Clone, Default)]
pub struct SwitchReport {
    /// Delay of the departure of each frame after its due time, since the end of the warm-up.
    pub timing_errors: TimingErrors,
    /// Stalls of the switch's thread.
    pub stalls: Stalls,
    /// True if the thread had real-time priority.
    pub real_time: bool,
    /// Share of the measured time in which the thread used its processor, system calls included.
    pub busy: f64,
    /// Frames lost outside the queues, because their slot was needed for a later frame or because a host took no
    /// more.
    pub lost: u64,
    /// Samples of the backlog of the measured ports, if the scenario has an interval for samples.
    pub samples: Samples,
    /// Counters of the data packets of each connection, by its number ([`flow_of`]).
    pub tallies: HashMap<u32, DeliveryCounters>,
    /// `tallies` at the beginning and at the end of the measured time.
    pub edges: Vec<HashMap<u32, DeliveryCounters>>,
}

/// Length above which a delay of a thread is a stall, in packet times; as many packets then arrive at once. In
/// simulations, 20 shorter stalls per second change queue and goodput by less than 0.3 %. Two stalls of eight packets
/// per second change L2DCT's queue by 8 % (docs/testbed.md).
pub const STALL_PACKETS: u64 = 4;

/// Empty count of a thread's stalls, with the limit and the measured time of this scenario.
pub fn no_stalls(scenario: &Scenario) -> Stalls {
    let window = Instant::ZERO + scenario.warmup..Instant::ZERO + scenario.duration;
    Stalls::above(packet_time(scenario).times(STALL_PACKETS), window)
}

/// Rounds of a thread in this scenario. If nothing is due during a stall, the count misses at most the length of one
/// round of the stall: one packet time, but no more than 5 ms.
pub fn rounds(scenario: &Scenario) -> Rounds {
    Rounds::new(packet_time(scenario).min(POLL_TIMEOUT), no_stalls(scenario))
}

/// Transmission time of a full packet on the slowest link.
pub fn packet_time(scenario: &Scenario) -> Span {
    tx_time(scenario, scenario.tcp.mss + scenario.tcp.header)
}

/// Transmission time of `bytes` on the slowest link.
pub fn tx_time(scenario: &Scenario, bytes: Bytes) -> Span {
    scenario.graph.links.iter().map(|link| link.rate.tx_time(bytes)).max().unwrap_or(Span::ZERO)
}

/// A network between TAP devices.
#[derive(Debug)]
pub struct Switch<'a> {
    scenario: &'a Scenario,
    measured: Vec<PortId>,
    network: Network,
    events: EventQueue<Event>,
    clock: Clock,
    taps: &'a mut Taps,
    frames: Frames,
    rounds: Rounds,
    /// The monotonic clock and the thread's processor time at the beginning of the measured time, in nanoseconds.
    spent: [u64; 2],
    report: SwitchReport,
}

impl<'a> Switch<'a> {
    /// Places `network` between `taps`, for IP packets of at most `mtu` bytes. The scenario's `[measure]` decides
    /// what is measured.
    pub fn new(
        scenario: &'a Scenario,
        network: Network,
        taps: &'a mut Taps,
        mtu: usize,
        clock: Clock,
    ) -> Switch<'a> {
        let mut events = EventQueue::new();
        events.schedule(Instant::ZERO + scenario.warmup, NodeScope::GLOBAL, Event::WarmUpEnd);
        events.schedule(Instant::ZERO + scenario.duration, NodeScope::GLOBAL, Event::MeasureEnd);
        network.begin(&mut events, |_| true);
        if scenario.measure.sample_every.is_some() {
            events.schedule(Instant::ZERO, NodeScope::GLOBAL, Event::Sample);
        }
        Switch {
            measured: network.ports_between(&scenario.measure.ports),
            scenario,
            network,
            events,
            clock,
            taps,
            frames: Frames::new(mtu + ETHERNET + 4),
            rounds: rounds(scenario),
            spent: [0; 2],
            report: SwitchReport::default(),
        }
    }

    /// Forwards frames until `stop` is set. Returns the network with its counters, and the switch's report.
    /// Fails if a device fails.
    pub fn run(mut self, stop: &AtomicBool) -> io::Result<(Network, SwitchReport)> {
        self.report.real_time = sys::real_time(50);
        let mut ready = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            self.catch_up()?;
            let due = self.rounds.due(self.events.next_at().unwrap_or(Instant::MAX));
            let wait = due.since(self.clock.now());
            self.taps.poll.wait(Duration::from_nanos(wait.as_ps() / 1000), &mut ready)?;
            self.rounds.end(due, self.clock.now());
            for &host in &ready {
                self.take_in(HostId(host as u32))?;
            }
        }
        self.catch_up()?; // the end of the measured time may have become due
        self.report.stalls = self.rounds.into_stalls();
        Ok((self.network, self.report))
    }

    /// Handles every event that is due.
    fn catch_up(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        if let Some(due) = self.events.next_at().filter(|due| *due <= now) {
            self.rounds.note(due, now);
        }
        let mut packet = Packet::EMPTY;
        while let Some(event) = self.events.next(now) {
            match event {
                Event::Network(event) => {
                    let tallies = &mut self.report.tallies;
                    let left_host = |packet: &Packet| {
                        if packet.kind == PacketType::Data {
                            tallies.entry(packet.flow_id).or_default().waited_at_host += packet.waited;
                        }
                    };
                    let (events, graph) = (&mut self.events, &self.scenario.graph);
                    if self.network.handle(events, graph, event, &mut packet, left_host) {
                        self.hand_over(&packet);
                    }
                }
                Event::Sample => self.take_sample()?,
                Event::WarmUpEnd => {
                    let kept = self.scenario.measure.sample_every.map_or(&[][..], |_| &self.measured);
                    self.network.open_window(self.events.now(), kept);
                    self.report.edges.push(self.report.tallies.clone());
                    self.spent = spent();
                }
                Event::MeasureEnd => {
                    self.network.close_window(self.events.now());
                    self.report.edges.push(self.report.tallies.clone());
                    let (since, now) = (self.spent, spent());
                    self.report.busy = (now[1] - since[1]) as f64 / (now[0] - since[0]).max(1) as f64;
                }
                // The kernel runs the hosts with timers of its own, so the switch schedules none of these.
                Event::Timer { .. }
                | Event::FlowStart(_)
                | Event::Answer(_)
                | Event::HostTimer(_)
                | Event::Finish(_)
                | Event::Stop(_) => {}
            }
        }
        self.events.advance(now);
        Ok(())
    }

    /// Writes the frame of a packet that arrives at its host into the host's device.
    fn hand_over(&mut self, packet: &Packet) {
        let due = self.events.now();
        if due >= Instant::ZERO + self.scenario.warmup {
            self.report.timing_errors.add(self.clock.now().since(due));
        }
        if packet.kind == PacketType::Data {
            self.report.tallies.entry(packet.flow_id).or_default().count_arrived(packet);
        }
        let frame = self.frames.get_mut(packet.seq);
        let sent = match (frame, self.taps.of(packet.to)) {
            (Some(frame), Some(device)) => {
                if packet.ecn == EcnField::Ce {
                    header::set_ce(frame);
                }
                device.write(frame).is_ok()
            }
            _ => false,
        };
        self.report.lost += u64::from(!sent);
    }

    /// Reads frames that a host has sent, and sends them into the network.
    fn take_in(&mut self, host: HostId) -> io::Result<()> {
        for _ in 0..BURST {
            let Some(device) = self.taps.of(host) else { return Ok(()) };
            let room = self.frames.room();
            let length = match device.read(room) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            let Some(header) = header::read(&room[..length]) else { continue };
            let seq = self.frames.keep(length);
            let packet = packet_of(&header, seq);
            self.catch_up()?;
            let (kind, flow_id) = (packet.kind, packet.flow_id);
            let waits = self.network.send(&mut self.events, host, packet).waits;
            if kind == PacketType::Data {
                self.report.tallies.entry(flow_id).or_default().count_left(waits);
            }
        }
        Ok(())
    }

    fn take_sample(&mut self) -> io::Result<()> {
        let at = self.events.now();
        for &port in &self.measured {
            let card = self.taps.cards.get(&HostId(self.network.ports()[port.index()].from.0));
            let backlog = card.map_or_else(|| Ok(self.network.backlog(port, at)), Card::backlog)?;
            let (packets, bytes) = (f64::from(backlog.packets), backlog.bytes.as_f64());
            self.report.samples.push(Sample { at, subject: Subject::QueuePackets(port), value: packets });
            self.report.samples.push(Sample { at, subject: Subject::QueueBytes(port), value: bytes });
        }
        let next = self.scenario.measure.sample_every.map(|every| at + every);
        if let Some(next) = next.filter(|next| *next <= Instant::ZERO + self.scenario.duration) {
            self.events.schedule(next, NodeScope::GLOBAL, Event::Sample);
        }
        Ok(())
    }
}

/// The monotonic clock and the processor time of this thread, in nanoseconds.
fn spent() -> [u64; 2] {
    [sys::monotonic_ns(), sys::thread_cpu_ns()]
}

/// Returns the simulator's packet for a frame. ACKs have the best priority, as in a simulation.
fn packet_of(header: &header::Header, seq: u64) -> Packet {
    let is_data = header.payload > 0;
    Packet {
        seq,
        priority: if is_data { header.priority.into() } else { 0 },
        flow_id: header.flow,
        to: header.to,
        payload: header.payload,
        wire: header.wire,
        kind: if is_data { PacketType::Data } else { PacketType::Ack },
        ecn: header.ecn,
        ..Packet::EMPTY
    }
}
