//! The software switch: the simulator's own network, run by the clock.
//!
//! A frame that a host sends into its TAP device becomes a [`Packet`] without content and crosses the
//! ports of the scenario (rate, buffer, queue discipline, propagation delay, injected faults). When the
//! packet arrives, the frame is written into the TAP device of its destination, with CE set if a queue
//! has marked it. Ports compute with due times, so a late wake-up delays frames but keeps the rate.
//! Timing errors of frames are counted, and decide the verdict on a run.

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

/// Interval at which the thread checks for its end.
const PATIENCE: Span = Span::from_millis(5);
/// Frames taken from one host before the others have their turn.
const BURST: usize = 16;

/// The clock of a run: the simulator's time zero at some moment of the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// Time zero is so far ahead.
    pub fn starting_in(span: Span) -> Clock {
        Clock { origin_ns: sys::monotonic_ns() + span.as_ps() / 1000 }
    }

    /// Reading of the monotonic clock at `at`.
    pub fn monotonic_ns(&self, at: Instant) -> u64 {
        self.origin_ns + at.as_ps() / 1000
    }

    /// Sleeps until time zero.
    pub fn await_start(&self) {
        std::thread::sleep(Duration::from_nanos(self.origin_ns.saturating_sub(sys::monotonic_ns())));
    }

    /// The present time; zero before the start.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::ZERO + Span::from_nanos(sys::monotonic_ns().saturating_sub(self.origin_ns))
    }
}

/// The TAP devices of the hosts that take part.
#[derive(Debug)]
pub struct Taps {
    by_host: Vec<Option<File>>,
    cards: HashMap<HostId, Card>,
    poll: Poll,
}

impl Taps {
    /// These devices.
    /// Fails if one cannot be watched.
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

    /// Replaces the ports of hosts by these cards.
    pub fn with_cards(self, cards: HashMap<HostId, Card>) -> Taps {
        Taps { cards, ..self }
    }

    fn of(&mut self, host: HostId) -> Option<&mut File> {
        self.by_host.get_mut(host.index())?.as_mut()
    }
}

/// A switch's report on itself.
#[derive(Debug, Clone, Default)]
pub struct SwitchReport {
    /// For each frame since the end of the warm-up, its departure after its due time.
    pub timing_errors: TimingErrors,
    /// Stalls of the thread.
    pub stalls: Stalls,
    /// The thread had real-time priority.
    pub real_time: bool,
    /// Share of the measured time in which the thread computed, the kernel's work for it included.
    pub busy: f64,
    /// Frames that were lost here and not in a queue, for want of memory or because a host took no more.
    pub lost: u64,
    /// Backlog of the measured ports, if the scenario wants samples.
    pub samples: Samples,
    /// Fate of the data packets of each connection, by its number ([`flow_of`]).
    pub tallies: HashMap<u32, DeliveryCounters>,
    /// `tallies` at the beginning and at the end of the measured time.
    pub edges: Vec<HashMap<u32, DeliveryCounters>>,
}

/// Length of a stall, in packets, which then arrive at once. In simulations, 20 shorter stalls a second move queue
/// and goodput by less than 0.3 %; two of eight packets a second move L2DCT's queue by 8 % (docs/testbed.md).
pub const STALL_PACKETS: u64 = 4;

/// No stalls yet of a thread in this scenario.
pub fn no_stalls(scenario: &Scenario) -> Stalls {
    let window = Instant::ZERO + scenario.warmup..Instant::ZERO + scenario.duration;
    Stalls::above(packet_time(scenario).times(STALL_PACKETS), window)
}

/// The rounds of a thread. Of a stall in which nothing is due, no more is missed than a round takes.
pub fn rounds(scenario: &Scenario) -> Rounds {
    Rounds::new(packet_time(scenario).min(PATIENCE), no_stalls(scenario))
}

/// The time that a full packet takes on the slowest link.
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
    /// The monotonic clock and the thread's processor time when the measured time began.
    spent: [u64; 2],
    report: SwitchReport,
}

impl<'a> Switch<'a> {
    /// `network` of `scenario` between `taps`, for IP packets of at most `mtu` bytes. It measures as the
    /// scenario's `[measure]` says.
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
        network.begin(&mut events);
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

    /// Forwards until `stop`. Returns the network with its counters, and the switch's own account.
    /// Fails when a device does.
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
        self.catch_up()?; // the measured time may have ended since
        self.report.stalls = self.rounds.into_stalls();
        Ok((self.network, self.report))
    }

    /// Does everything that is due.
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
                // Hosts are real here: they have their own timers.
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

    /// A packet arrives at its host.
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

    /// Takes frames that a host has sent.
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

/// The monotonic clock and the processor time of this thread.
fn spent() -> [u64; 2] {
    [sys::monotonic_ns(), sys::thread_cpu_ns()]
}

/// A frame as the simulator's queues see it. ACKs have the best priority, as there.
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
