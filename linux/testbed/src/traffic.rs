//! All senders and receivers of a run, in one thread.
//!
//! The sender writes a flow into its connection from the start of the flow on. The receiver answers the last byte of
//! the flow with one byte. The flow is finished when the sender reads this answer, at the time at which a simulated
//! sender has its last ACK. The answer carries that ACK, so the receiver cannot delay it.

use crate::congestion::Control;
use crate::host::TcpSettings;
use crate::plan::{Plan, Transfer};
use crate::switch::{Clock, Stalls, flow_of, rounds, tx_time};
use crate::sys::{self, CHANGES, Poll, READABLE};
use rustix::net::sockopt::set_tcp_congestion;
use shortflow_cc::Role;
use shortflow_deploy::Failure;
use shortflow_deploy::sys::Namespace;
use shortflow_sim::host::{Flow, Message};
use shortflow_sim::outcome::FlowRow;
use shortflow_sim::probe::{ClassMeter, Sample, Samples, Subject, throughput};
use shortflow_sim::scenario::Scenario;
use shortflow_units::{Bytes, FlowId, HostId, Instant, Span};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::time::Duration;

const PORT: u16 = 1983;
/// Bytes of one write: few, because the kernel does not release the processor during a write.
const CHUNK: usize = 1 << 15;
/// Connections that are requested at once, no more than a listener's queue holds.
const BACKLOG: usize = 100;
/// The start of a flow may be late by 1/100 of the transmission time that the flow itself needs on the slowest link.
const START_SHARE: u64 = 100;
/// Time limit for connections made before the run.
const CONNECT_TIMEOUT: Span = Span::from_millis(30_000);

/// Error of a start that is `late`, for a flow that needs the time `own` itself: zero if `late` is small against
/// `own`.
fn start_error(late: Span, own: Span) -> Span {
    if late.times(START_SHARE) > own { late } else { Span::ZERO }
}

/// Returns the connections' numbers in the network, and `None` for numbers that several connections have: the network
/// counts their packets together.
fn unique_numbers(numbers: Vec<Option<u32>>) -> Vec<Option<u32>> {
    let mut times = HashMap::new();
    numbers.iter().flatten().for_each(|number| *times.entry(*number).or_insert(0) += 1);
    numbers.into_iter().map(|number| number.filter(|number| times[number] == 1)).collect()
}

#[derive(Debug)]
struct Connection {
    ends: (HostId, HostId),
    sender: TcpStream,
    receiver: Option<TcpStream>,
    /// The connection has been requested.
    begun: bool,
    /// The connection is established.
    open: bool,
    /// Unfinished flows, in order.
    flows: VecDeque<Message>,
    /// The kernel's counters when the first of `flows` became the first.
    before: libc::tcp_info,
    /// Total bytes to write, and bytes written so far (`written`).
    wanted: u64,
    written: u64,
    /// Positions in the stream at which flows end that have no answer yet, and the number of bytes received
    /// (`received`).
    ends_at: VecDeque<u64>,
    received: u64,
    /// Bytes acknowledged up to the last sample.
    sampled: u64,
}

/// Opens a listener in each host.
fn listeners(
    namespaces: &HashMap<HostId, Namespace>,
    tcp: &TcpSettings,
    control: &Control,
) -> io::Result<Vec<TcpListener>> {
    let listen = |(&host, namespace): (&HostId, &Namespace)| {
        let listener = namespace.within(|| TcpListener::bind((tcp.address(host), PORT)))?;
        listener.set_nonblocking(true)?;
        set_tcp_congestion(&listener, control.name())?;
        sys::end_when_closed(&listener)?;
        Ok(listener)
    };
    namespaces.iter().map(listen).collect()
}

/// Makes, for each host, a socket for every connection that the host opens.
fn sockets(
    plan: &Plan,
    namespaces: &HashMap<HostId, Namespace>,
    tcp: &TcpSettings,
) -> io::Result<HashMap<HostId, Vec<TcpStream>>> {
    let of_host = |(&host, namespace): (&HostId, &Namespace)| {
        let count = plan.connections.iter().filter(|(source, _)| *source == host).count();
        let made = namespace.within(|| (0..count).map(|_| sys::tcp_socket(tcp.address(host))).collect())?;
        Ok((host, made))
    };
    namespaces.iter().map(of_host).collect()
}

impl Connection {
    fn new(ends: (HostId, HostId), sender: TcpStream, control: &Control) -> io::Result<Connection> {
        set_tcp_congestion(&sender, control.name())?;
        sys::end_when_closed(&sender)?;
        Ok(Connection {
            ends,
            receiver: None,
            begun: false,
            open: false,
            flows: VecDeque::new(),
            before: sys::tcp_info(&sender)?,
            sender,
            wanted: 0,
            written: 0,
            ends_at: VecDeque::new(),
            received: 0,
            sampled: 0,
        })
    }

    /// Returns the bytes acknowledged, without the SYN that the kernel counts too, and the kernel's other counters.
    fn acked(&self) -> io::Result<(u64, libc::tcp_info)> {
        let info = sys::tcp_info(&self.sender)?;
        Ok((info.tcpi_bytes_acked.saturating_sub(1), info))
    }

    /// Sets the retransmissions and timeouts of the first flow from the kernel's counters. The first flow delays all
    /// others.
    fn count(&mut self, now: &libc::tcp_info) {
        let Some(first) = self.flows.front_mut() else { return };
        first.retransmits = now.tcpi_total_retrans.saturating_sub(self.before.tcpi_total_retrans);
        first.timeouts = now.tcpi_total_rto.saturating_sub(self.before.tcpi_total_rto).into();
    }

    /// Returns the bytes of the first flow that were acknowledged since the last call.
    fn take_acked(&mut self, acked: u64) -> u64 {
        let end = self.flows.front().map_or(acked, |first| first.end);
        let taken = acked.min(end).max(self.sampled);
        taken - std::mem::replace(&mut self.sampled, taken)
    }
}

/// All senders and receivers of a run.
#[derive(Debug)]
pub(crate) struct Traffic<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    tcp: &'a TcpSettings,
    control: &'a Control,
    poll: Poll,
    listeners: Vec<TcpListener>,
    connections: Vec<Connection>,
    /// Connections by the address of their sender.
    senders: HashMap<SocketAddr, usize>,
    zeros: Vec<u8>,
    /// Connections whose sockets may have room for more bytes.
    unwritten: BTreeSet<usize>,
    rows: Vec<FlowRow>,
    /// The connection of each row.
    carriers: Vec<usize>,
    active: Vec<usize>,
    meter: ClassMeter,
    samples: Samples,
    sampled: Instant,
    pending: usize,
    /// Measured time. A bound is `Instant::MAX` until it is reached.
    window: Range<Instant>,
    start_error: Span,
}

/// Report of the hosts.
#[derive(Debug)]
pub(crate) struct TrafficReport {
    /// Rows of the flow table in order of starts, without the network's counts.
    pub rows: Vec<FlowRow>,
    /// For each row, the number of its connection in the network; `None` if the flow shared the connection or the
    /// number.
    pub numbers: Vec<Option<u32>>,
    /// Samples of throughput and congestion windows.
    pub samples: Samples,
    /// Number of flows with an end and a row that did not finish.
    pub unfinished: usize,
    /// Stalls of the hosts' thread.
    pub stalls: Stalls,
    /// Largest delay of the start of a flow with an end. A delay of at most 1 % of the flow's own transmission time
    /// on the slowest link counts as zero.
    pub start_error: Span,
    /// End of the run.
    pub end: Instant,
}

impl<'a> Traffic<'a> {
    /// Makes the sockets for all connections of `plan`, with `namespaces` by host. During the run the kernel has the
    /// data of each connection's oldest unfinished flow, as the law of a simulated sender has.
    /// Fails if there are too many open files, or if the kernel lacks the congestion control.
    pub(crate) fn new(
        scenario: &'a Scenario,
        plan: &'a Plan,
        namespaces: &HashMap<HostId, Namespace>,
        tcp: &'a TcpSettings,
        control: &'a Control,
    ) -> io::Result<Traffic<'a>> {
        let poll = Poll::new()?;
        let listeners = listeners(namespaces, tcp, control)?;
        for (token, listener) in listeners.iter().enumerate() {
            poll.add(listener, token as u64, READABLE)?;
        }
        let mut sockets = sockets(plan, namespaces, tcp)?;
        let connection = |&ends: &(HostId, HostId)| {
            let sender = sockets.get_mut(&ends.0).and_then(Vec::pop).ok_or(ErrorKind::NotFound)?;
            Connection::new(ends, sender, control)
        };
        let connections = plan.connections.iter().map(connection).collect::<io::Result<_>>()?;
        Ok(Traffic {
            scenario,
            plan,
            tcp,
            control,
            poll,
            listeners,
            connections,
            senders: HashMap::new(),
            zeros: vec![0; CHUNK],
            unwritten: BTreeSet::new(),
            rows: Vec::new(),
            carriers: Vec::new(),
            active: Vec::new(),
            meter: ClassMeter::new(scenario.classes.len()),
            samples: Samples::default(),
            sampled: Instant::ZERO,
            pending: 0,
            window: Instant::MAX..Instant::MAX,
            start_error: Span::ZERO,
        })
    }

    /// Opens all connections, for a scenario in which they are open before the run.
    /// Fails if a connection fails, or if not all are established within 30 s.
    pub(crate) fn connect(&mut self) -> Result<(), Failure> {
        let clock = Clock::starting_in(Span::ZERO);
        for first in (0..self.connections.len()).step_by(BACKLOG) {
            let last = self.connections.len().min(first + BACKLOG);
            let connected = (first..last).try_for_each(|number| self.begin(number));
            let connected = connected.and_then(|()| self.await_connections(clock, first..last));
            if !connected.map_err(Failure::host("testbed: a connection"))? {
                return Err(Failure::Host("testbed: the hosts cannot reach each other".to_owned()));
            }
        }
        Ok(())
    }

    /// Waits for the connections `which`. Returns `false` if one of them is not established within 30 s after time
    /// zero of `clock`.
    fn await_connections(&mut self, clock: Clock, which: Range<usize>) -> io::Result<bool> {
        let stands = |each: &Connection| each.open && each.receiver.is_some();
        while !self.connections[which.clone()].iter().all(stands) {
            if clock.now() > Instant::ZERO + CONNECT_TIMEOUT {
                return Ok(false);
            }
            self.serve(clock, Span::from_millis(10))?;
        }
        Ok(true)
    }

    /// Starts to open a connection.
    fn begin(&mut self, number: usize) -> io::Result<()> {
        let connection = &mut self.connections[number];
        connection.begun = true;
        sys::connect(&connection.sender, (self.tcp.address(connection.ends.1), PORT).into())?;
        self.senders.insert(connection.sender.local_addr()?, number);
        let token = self.listeners.len() + 2 * number;
        self.poll.add(&connection.sender, token as u64, CHANGES)
    }

    /// Starts every flow at its time. Returns when the measured time is over and every flow with an end is finished,
    /// at the latest when the drain is over.
    /// Fails if a connection fails.
    pub(crate) fn run(&mut self, clock: Clock) -> io::Result<TrafficReport> {
        let scenario = self.scenario;
        let (warm, measured) = (Instant::ZERO + scenario.warmup, Instant::ZERO + scenario.duration);
        let over = measured + scenario.drain;
        clock.await_start();
        let mut starts = self.plan.transfers.iter().peekable();
        let mut sample_at = scenario.measure.sample_every.map(|_| Instant::ZERO);
        let (mut warming, mut measuring) = (true, true);
        let mut rounds = rounds(scenario);
        loop {
            let now = clock.now();
            while let Some(transfer) = starts.next_if(|transfer| transfer.arrival.at <= now) {
                self.start(clock, transfer)?;
            }
            if warming && now >= warm {
                self.tell_messages(Message::begin_measured)?;
                self.window.start = now;
                warming = false;
            }
            if let Some(at) = sample_at.filter(|at| *at <= now) {
                self.sample(now)?;
                sample_at =
                    scenario.measure.sample_every.map(|every| at + every).filter(|at| *at <= measured);
            }
            if measuring && now >= measured {
                self.tell_messages(Message::end_measured)?;
                self.window.end = now;
                measuring = false;
            }
            if now >= over || !measuring && self.pending == 0 {
                return self.finish(now, rounds.into_stalls());
            }
            let next_start = starts.peek().map(|transfer| transfer.arrival.at);
            let window = [warming.then_some(warm), measuring.then_some(measured), Some(over)];
            let next = window.into_iter().chain([next_start, sample_at]).flatten().min().unwrap_or(over);
            let due = rounds.due(next);
            let woken = self.serve(clock, due.since(clock.now()))?;
            rounds.end(due, woken);
        }
    }

    /// Starts a flow: opens its connection if necessary, and writes its first bytes.
    fn start(&mut self, clock: Clock, transfer: &Transfer) -> io::Result<()> {
        let Transfer { arrival, connection: number, counted } = *transfer;
        let now = clock.now();
        if !self.connections[number].begun {
            self.begin(number)?;
        }
        let own = tx_time(self.scenario, arrival.size);
        self.start_error = self.start_error.max(start_error(now.since(arrival.at), own));
        let backlogged = arrival.size == Bytes::MAX;
        let flow = if counted { FlowId::from(self.rows.len()) } else { FlowId::NONE };
        if counted {
            self.rows.push(FlowRow { start: now, ..FlowRow::new(&arrival, None) });
            self.carriers.push(number);
            self.pending += usize::from(!backlogged);
        }
        let connection = &mut self.connections[number];
        let start = connection.wanted;
        connection.wanted = if backlogged { u64::MAX } else { start.saturating_add(arrival.size.get()) };
        let role = Role::of_class(&self.scenario.classes[arrival.class.index()]);
        let deadline = arrival.deadline.map(|allowed| now + allowed);
        let flow = Flow { flow, class: arrival.class, role, deadline };
        let message = Message::new(flow, start..connection.wanted);
        if connection.flows.is_empty() {
            connection.before = sys::tcp_info(&connection.sender)?;
            self.active.push(number);
            self.control.tell(&connection.sender, &message, clock)?;
        }
        connection.flows.push_back(message);
        connection.ends_at.push_back(connection.wanted);
        self.write(number)
    }

    /// Waits for a ready socket for at most `patience`, or not at all if a connection may have room for more bytes.
    /// Then serves the ready sockets. Returns the end of the wait.
    fn serve(&mut self, clock: Clock, patience: Span) -> io::Result<Instant> {
        let mut ready = Vec::new();
        let unwritten = std::mem::take(&mut self.unwritten);
        let patience = if unwritten.is_empty() { patience } else { Span::ZERO };
        self.poll.wait(Duration::from_nanos(patience.as_ps() / 1000), &mut ready)?;
        let woken = clock.now();
        for token in ready {
            match (token as usize).checked_sub(self.listeners.len()) {
                None => self.accept(token as usize)?,
                Some(place) if place % 2 == 0 => {
                    self.write(place / 2)?;
                    self.take_answers(clock, place / 2)?;
                }
                Some(place) => self.receive(place / 2)?,
            }
        }
        unwritten.into_iter().try_for_each(|number| self.write(number))?;
        Ok(woken)
    }

    fn accept(&mut self, listener: usize) -> io::Result<()> {
        loop {
            let (socket, from) = match self.listeners[listener].accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            let Some(&number) = self.senders.get(&from) else { continue };
            socket.set_nonblocking(true)?;
            socket.set_nodelay(true)?;
            sys::end_when_closed(&socket)?;
            self.poll.add(&socket, (self.listeners.len() + 2 * number + 1) as u64, CHANGES)?;
            self.connections[number].receiver = Some(socket);
            self.receive(number)?;
        }
    }

    /// Writes a part of the waiting bytes if the socket has room. The rest waits for later rounds, so that other
    /// flows can write.
    fn write(&mut self, number: usize) -> io::Result<()> {
        let connection = &mut self.connections[number];
        if !connection.open {
            if let Some(error) = connection.sender.take_error()? {
                return Err(error);
            }
            connection.open = connection.sender.peer_addr().is_ok();
        }
        let left = connection.wanted - connection.written;
        let length = left.min(CHUNK as u64);
        if !connection.open || length == 0 {
            return Ok(());
        }
        if let Some(taken) = sys::send(&connection.sender, &self.zeros[..length as usize], length < left)? {
            connection.written += taken as u64;
            self.unwritten.insert(number);
        }
        Ok(())
    }

    /// Reads arrived data, and answers the flows that end in it.
    fn receive(&mut self, number: usize) -> io::Result<()> {
        let connection = &mut self.connections[number];
        let Some(receiver) = &mut connection.receiver else { return Ok(()) };
        while let Some(bytes @ 1..) = sys::discard_received(receiver, &mut self.zeros)? {
            connection.received += bytes as u64;
        }
        while connection.ends_at.front().is_some_and(|end| *end <= connection.received) {
            connection.ends_at.pop_front();
            receiver.write_all(&[1])?;
        }
        Ok(())
    }

    /// Reads answers, each of which finishes a flow, and gives the kernel the data of the next flow.
    fn take_answers(&mut self, clock: Clock, number: usize) -> io::Result<()> {
        let mut answers = [0; 64];
        loop {
            let count = match self.connections[number].sender.read(&mut answers) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if [ErrorKind::WouldBlock, ErrorKind::NotConnected].contains(&error.kind()) => {
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            for _ in 0..count {
                self.conclude(number, Some(clock.now()))?;
            }
            let connection = &self.connections[number];
            if let Some(message) = connection.flows.front() {
                self.control.tell(&connection.sender, message, clock)?;
            }
        }
    }

    /// Removes the first flow of a connection, and fills its row. `finish` is `None` if the run is over before the
    /// flow is.
    fn conclude(&mut self, number: usize, finish: Option<Instant>) -> io::Result<()> {
        let connection = &mut self.connections[number];
        let (acked, info) = connection.acked()?;
        connection.count(&info);
        let new = connection.take_acked(acked);
        let Some(message) = connection.flows.pop_front() else { return Ok(()) };
        connection.before = info;
        self.meter.count(message.class, new);
        if connection.flows.is_empty() {
            self.active.retain(|active| *active != number);
        }
        let Some(row) = self.rows.get_mut(message.flow.index()) else { return Ok(()) };
        row.finish = finish;
        (row.retransmits, row.timeouts) = (message.retransmits, message.timeouts);
        row.acked = Bytes::new(message.acked(acked));
        if row.overlaps(&self.window) {
            row.note_window(message.in_window(message.acked(acked)));
        }
        self.pending -= usize::from(finish.is_some());
        Ok(())
    }

    /// Calls `tell` for every unfinished flow, with its acknowledged bytes. The kernel does not report bytes that
    /// arrived beyond a gap.
    fn tell_messages(&mut self, tell: fn(&mut Message, u64)) -> io::Result<()> {
        for &number in &self.active {
            let connection = &mut self.connections[number];
            let (acked, info) = connection.acked()?;
            connection.count(&info);
            for message in &mut connection.flows {
                tell(message, message.acked(acked));
            }
        }
        Ok(())
    }

    fn sample(&mut self, at: Instant) -> io::Result<()> {
        let time = at.since(std::mem::replace(&mut self.sampled, at));
        for &number in &self.active {
            let connection = &mut self.connections[number];
            let (acked, info) = connection.acked()?;
            let new = connection.take_acked(acked);
            let Some(message) = connection.flows.front() else { continue };
            self.meter.count(message.class, new);
            if message.is_backlogged() {
                let shared = throughput(new, time);
                let window = f64::from(info.tcpi_snd_cwnd);
                let subjects =
                    [(Subject::FlowThroughput(message.flow), shared), (Subject::Cwnd(message.flow), window)];
                subjects
                    .into_iter()
                    .for_each(|(subject, value)| self.samples.push(Sample { at, subject, value }));
            }
        }
        self.meter.sample(at, time, &mut self.samples);
        Ok(())
    }

    /// Ends the measurement. Connections stay open, because closing them is not part of the run.
    fn finish(&mut self, end: Instant, stalls: Stalls) -> io::Result<TrafficReport> {
        let unfinished = self.pending;
        for number in std::mem::take(&mut self.active) {
            for _ in 0..self.connections[number].flows.len() {
                self.conclude(number, None)?;
            }
        }
        let mut flows = vec![0; self.connections.len()];
        self.plan.transfers.iter().for_each(|transfer| flows[transfer.connection] += 1);
        let number = |connection: &Connection| {
            let to = (self.tcp.address(connection.ends.1), PORT).into();
            connection.sender.local_addr().ok().map(|from| flow_of(from, to))
        };
        let numbers = unique_numbers(self.connections.iter().map(number).collect());
        let of_carrier = |&carrier: &usize| numbers[carrier].filter(|_| flows[carrier] == 1);
        let numbers = self.carriers.iter().map(of_carrier).collect();
        let (rows, samples) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.samples));
        Ok(TrafficReport { rows, numbers, samples, unfinished, stalls, start_error: self.start_error, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 100 Mbit/s, 20 KB take 1.7 ms and 5 MB take 0.4 s. A flow without an end is never late.
    #[test]
    fn a_start_error_counts_only_if_large_against_the_flow() {
        let starts = [(17, 1_700), (18, 1_700), (4_000, 400_000), (4_001, 400_000)];
        let found = starts.map(|(late, own)| start_error(Span::from_micros(late), Span::from_micros(own)));
        assert_eq!(found, [0, 18, 0, 4_001].map(Span::from_micros));
        assert_eq!(start_error(Span::from_millis(1), Span::MAX), Span::ZERO);
    }

    #[test]
    fn connections_that_share_a_number_have_none() {
        assert_eq!(unique_numbers(vec![Some(7), None, Some(8), Some(7)]), [None, None, Some(8), None]);
    }
}
