//! What a sender does about one event on the wire, and a receiver about marks: real sockets in namespaces, and a wire
//! that drops, marks or delays just the packets that a test names. Needs root and the kernel's BTF; skipped without,
//! or while something is loaded that is not of this test.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{Host, host};
use common::wire::{Fate, Seen, carry};
use common::{alone, must, said};
use shortflow_linux::switch::ipv4;
use shortflow_linux::sys;
use shortflow_units::HostId;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PORT: u16 = 7000;
/// The payload of a packet of 1500 bytes.
const SEGMENT: u32 = 1448;
/// Segments of a message, where nothing else is said.
const MESSAGE: usize = 400;

/// A host in whose TCP a message waits as a whole. In an application's call it would put acknowledgements off.
fn roomy_host(number: u32, control: &str) -> io::Result<Host> {
    let host = host(number, control, "1")?;
    host.0.within(|| {
        ["tcp_wmem", "tcp_rmem"]
            .iter()
            .try_for_each(|name| fs::write(format!("/proc/sys/net/ipv4/{name}"), "4096 8000000 8000000"))
    })?;
    Ok(host)
}

/// What was seen of a connection.
struct Trace {
    seen: Vec<Seen>,
    /// The sender's `status` and /proc/net/netstat at the end.
    status: String,
    netstat: String,
}

/// What a connection is asked to do.
struct Route {
    /// Segments of each message.
    segments: usize,
    /// Of the wire, one way.
    delay: Duration,
    /// `tcp_slow_start_after_idle`.
    restarts: bool,
}

impl Default for Route {
    /// A delay that is long beside what a busy host adds.
    fn default() -> Route {
        Route { segments: MESSAGE, delay: Duration::from_millis(10), restarts: true }
    }
}

/// Sends messages over a connection of `control`, each acknowledged by a byte of the receiver, with
/// `pauses` between them.
fn messages(
    control: &str,
    Route { segments, delay, restarts }: Route,
    pauses: &[Duration],
    fate: impl FnMut(usize, bool) -> Fate + Send,
) -> io::Result<Trace> {
    let ((a, at_a), (b, at_b)) = (roomy_host(0, control)?, roomy_host(1, control)?);
    let listener = b.within(|| TcpListener::bind((ipv4(HostId(1)), PORT)))?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let wire = scope.spawn(|| carry([&at_a, &at_b], delay, fate, &stop));
        scope.spawn(|| -> io::Result<()> {
            let (mut socket, _) = listener.accept()?;
            sys::end_when_closed(&socket)?;
            let mut message = vec![0; segments * SEGMENT as usize];
            while socket.read_exact(&mut message).is_ok() {
                socket.write_all(&[1])?;
            }
            Ok(())
        });
        let ended = a.within(|| {
            fs::write("/proc/sys/net/ipv4/tcp_slow_start_after_idle", u8::from(restarts).to_string())?;
            let mut socket = TcpStream::connect((ipv4(HostId(1)), PORT))?;
            socket.set_read_timeout(Some(Duration::from_secs(20)))?;
            sys::end_when_closed(&socket)?;
            let mut send = || {
                socket.write_all(&vec![0; segments * SEGMENT as usize])?;
                socket.read_exact(&mut [0])
            };
            send()?;
            for pause in pauses {
                std::thread::sleep(*pause);
                send()?;
            }
            Ok([said(&["status"]).1, fs::read_to_string("/proc/thread-self/net/netstat")?])
        });
        std::thread::sleep(3 * delay);
        stop.store(true, Ordering::Relaxed);
        let seen = wire.join().unwrap();
        let [status, netstat] = ended?;
        Ok(Trace { seen, status, netstat })
    })
}

impl Trace {
    /// A counter of the sender's TCP, by the kernel's name for it.
    fn counted(&self, name: &str) -> u64 {
        let mut lines = self.netstat.lines().filter(|line| line.starts_with("TcpExt:"));
        let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let mut both = names.split(' ').zip(values.split(' '));
        both.find(|(known, _)| *known == name).and_then(|(_, value)| value.parse().ok()).unwrap()
    }

    /// Where `found` is so for the first time at or after `from`.
    fn position(&self, from: usize, found: impl Fn(&Seen) -> bool) -> usize {
        from + self.seen[from..].iter().position(found).unwrap()
    }

    /// Of each acknowledgement, its ECN-Echo and which of the packets that it is the first for were marked.
    fn covered(&self) -> Vec<(bool, Vec<bool>)> {
        let mut waiting = VecDeque::new();
        let mut covered = Vec::new();
        for seen in &self.seen {
            match *seen {
                Seen::Data { seq, fate, .. } => waiting.push_back((seq, fate == Fate::Mark)),
                Seen::Ack { number, ece, .. } => {
                    let count = waiting.iter().take_while(|(seq, _)| *seq < number).count();
                    covered.push((ece, waiting.drain(..count).map(|(_, is_marked)| is_marked).collect()));
                }
            }
        }
        covered
    }

    /// For each data packet and acknowledgement in turn, segments sent and not acknowledged after it.
    fn flights(&self) -> Vec<u32> {
        let [mut sent, mut acked] = [0; 2];
        let flight = |seen: &Seen| {
            match *seen {
                Seen::Data { seq, length, .. } => sent = sent.max(seq + length),
                Seen::Ack { number, .. } => acked = acked.max(number),
            }
            sent.saturating_sub(acked) / SEGMENT
        };
        self.seen.iter().map(flight).collect()
    }
}

/// A message in whose 61st packet something happens, in slow start with a window of some 70 segments.
struct Hole {
    trace: Trace,
    /// The packet's first transmission and its second, and the acknowledgement that covers it.
    first: usize,
    second: usize,
    filled: usize,
}

impl Hole {
    fn new(fate: Fate) -> Hole {
        let fates = |number, _| if number == 60 { fate } else { Fate::Pass };
        let trace = messages("sf_dctcp", Route::default(), &[], fates).unwrap();
        let first =
            trace.position(0, |seen| matches!(seen, Seen::Data { fate: found, .. } if *found == fate));
        let hole = trace.seen[first].seq();
        let second = trace.position(first + 1, |seen| seen.seq() == hole);
        let filled =
            trace.position(first, |seen| matches!(seen, Seen::Ack { number, .. } if Some(*number) > hole));
        Hole { trace, first, second, filled }
    }

    /// Segments on the way when the loss was noticed, and most of them a round trip after it was filled.
    fn flights(&self) -> [u32; 2] {
        let flights = self.trace.flights();
        let after = flights[self.filled + 80..self.filled + 120].iter().max().unwrap();
        [flights[self.second], *after]
    }
}

/// What arrives between a loss and its repair is told apart from the window's own acknowledgements by SACK.
#[test]
fn a_loss_is_repaired_at_once_and_halves_the_window() {
    let Some(_alone) = alone() else { return };
    must(&["load", "sf_dctcp"]);
    let hole = Hole::new(Fate::Drop);
    let Hole { first, second, filled, .. } = hole;
    let sacks = hole.trace.seen[first..second].iter().filter(|seen| seen.has_sack()).count();
    let (data, acks): (Vec<&Seen>, Vec<&Seen>) =
        hole.trace.seen[second + 1..filled].iter().partition(|seen| seen.seq().is_some());
    let share = data.len() as f64 / acks.len() as f64;
    let [before, after] = hole.flights();
    eprintln!("{sacks} SACKs, {} new for {} arrived, {before} then {after} segments", data.len(), acks.len());
    assert_eq!(hole.trace.counted("TCPTimeouts"), 0);
    assert!((3..=5).contains(&sacks), "sent again after {sacks} SACKs, of a window of {before}");
    assert!((0.4..0.6).contains(&share), "{share} segments leave for one that arrives");
    assert!((before / 2..=before / 2 + 4).contains(&after), "{before} then {after} segments");
}

/// The packet arrives eight milliseconds late and was sent again meanwhile.
#[test]
fn a_loss_that_was_none_leaves_the_window_as_it_was() {
    let Some(_alone) = alone() else { return };
    must(&["load", "sf_dctcp"]);
    let hole = Hole::new(Fate::Late(Duration::from_millis(8)));
    let undone: u64 = ["TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo"]
        .map(|name| hole.trace.counted(name))
        .iter()
        .sum();
    let [before, after] = hole.flights();
    eprintln!("{undone} undone, {before} then {after} segments");
    assert!(undone >= 1 && hole.trace.counted("TCPTimeouts") == 0);
    assert!(after >= before, "{before} then {after} segments");
}

/// Three packets of eight are marked, one alone and two that follow each other: alpha is 3/8, and every
/// acknowledgement is for packets of one kind and tells which, also where it is for several.
#[test]
fn acknowledgements_echo_just_the_marks() {
    let Some(_alone) = alone() else { return };
    must(&["load", "sf_dctcp"]);
    let route = Route { segments: 2000, delay: Duration::from_millis(3), ..Route::default() };
    let fates = |number, is_new: bool| match number % 8 {
        1 | 4 | 5 if is_new => Fate::Mark,
        _ => Fate::Pass,
    };
    let trace = messages("sf_dctcp", route, &[], fates).unwrap();
    let covered = trace.covered();
    let several = covered.iter().filter(|(_, packets)| packets.len() > 1).count();
    let wrong =
        covered.iter().filter(|(ece, packets)| packets.iter().any(|is_marked| is_marked != ece)).count();
    let alpha: f64 = trace.status.rsplit(' ').next().unwrap().trim().parse().unwrap();
    eprintln!("alpha {alpha}, {} acknowledgements, {several} for several, {wrong} wrong", covered.len());
    assert!(several > 100 && wrong == 0, "{several} for several, {wrong} wrong");
    assert!((0.325..0.425).contains(&alpha), "{alpha}");
}

/// Two seconds after the last segment nine timeouts have passed, of some 220 ms each.
#[test]
fn after_a_pause_the_window_is_the_initial_one_unless_the_host_says_otherwise() {
    let Some(_alone) = alone() else { return };
    must(&["load", "sf_dctcp"]);
    let burst = |control, restarts| {
        let pauses = [Duration::from_secs(2)];
        let trace = messages(control, Route { restarts, ..Route::default() }, &pauses, |_, _| Fate::Pass);
        let trace = trace.unwrap();
        let begins = trace.position(0, |seen| seen.seq() == Some(MESSAGE as u32 * SEGMENT));
        trace.position(begins, |seen| matches!(seen, Seen::Ack { .. })) - begins
    };
    let bursts = [burst("sf_dctcp", true), burst("reno", true), burst("sf_dctcp", false)];
    eprintln!("segments before the first acknowledgement: {bursts:?}");
    assert!(bursts[..2] == [10, 10] && bursts[2] > 100, "{bursts:?}");
}
