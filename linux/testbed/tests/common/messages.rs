//! Messages over a wire on which a test decides the fate of each packet, and the record of the packets.

use super::hosts::{Host, counted, host};
use super::output_of;
use super::wire::{Fate, Seen, carry};
use rustix::net::sockopt::set_tcp_congestion;
use shortflow_testbed::switch::ipv4;
use shortflow_testbed::sys;
use shortflow_units::HostId;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PORT: u16 = 7000;
/// The payload of a packet of 1500 bytes.
pub(crate) const SEGMENT: u32 = 1448;

/// Makes a host whose socket buffers hold a whole message. A message that waits in the application's write would
/// delay acknowledgements.
pub(crate) fn roomy_host(number: u32, control: &str) -> io::Result<Host> {
    let host = host(number, control, "1")?;
    host.0.within(|| {
        ["tcp_wmem", "tcp_rmem"]
            .iter()
            .try_for_each(|name| fs::write(format!("/proc/sys/net/ipv4/{name}"), "4096 8000000 8000000"))
    })?;
    Ok(host)
}

/// Record of a connection.
pub(crate) struct Trace {
    pub seen: Vec<Seen>,
    /// The sender's `status`, and its /proc/net/netstat and snmp, at the end.
    pub status: String,
    counters: String,
}

/// Sends messages of `segments` segments from the first host to the second, with `pauses` between them. The receiver
/// answers each message with one byte. The wire takes `delay` each way.
pub(crate) fn messages(
    hosts: [Host; 2],
    segments: usize,
    pauses: &[Duration],
    delay: Duration,
    fate: impl FnMut(usize, bool) -> Fate + Send,
) -> io::Result<Trace> {
    messages_under(
        hosts,
        segments,
        &pauses.iter().map(|pause| (*pause, None)).collect::<Vec<_>>(),
        delay,
        fate,
    )
}

/// As [`messages`], but the sender may change its congestion control before a pause.
pub(crate) fn messages_under(
    [(a, at_a), (b, at_b)]: [Host; 2],
    segments: usize,
    pauses: &[(Duration, Option<&str>)],
    delay: Duration,
    fate: impl FnMut(usize, bool) -> Fate + Send,
) -> io::Result<Trace> {
    let listener = b.within(|| TcpListener::bind((ipv4(HostId(1)), PORT)))?;
    std::thread::spawn(move || answer(&listener, segments)); // not waited for: it may miss the end
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let wire = scope.spawn(|| carry([&at_a, &at_b], delay, fate, &stop));
        let ended = a.within(|| {
            let mut socket = TcpStream::connect((ipv4(HostId(1)), PORT))?;
            socket.set_read_timeout(Some(Duration::from_secs(20)))?;
            sys::end_when_closed(&socket)?;
            let mut send = |control: Option<&str>, pause| {
                control.map_or(Ok(()), |control| set_tcp_congestion(&socket, control))?;
                std::thread::sleep(pause);
                socket.write_all(&vec![0; segments * SEGMENT as usize])?;
                socket.read_exact(&mut [0])
            };
            send(None, Duration::ZERO)?;
            pauses.iter().try_for_each(|(pause, control)| send(*control, *pause))?;
            let counters = |name| fs::read_to_string(format!("/proc/thread-self/net/{name}"));
            Ok((output_of(&["status"]).1, counters("netstat")? + &counters("snmp")?))
        });
        stop.store(true, Ordering::Relaxed);
        let seen = wire.join().unwrap();
        let (status, counters) = ended?;
        Ok(Trace { seen, status, counters })
    })
}

/// Answers each message of `segments` segments with one byte.
fn answer(listener: &TcpListener, segments: usize) -> io::Result<()> {
    let (mut socket, _) = listener.accept()?;
    sys::end_when_closed(&socket)?;
    let mut message = vec![0; segments * SEGMENT as usize];
    while socket.read_exact(&mut message).is_ok() {
        socket.write_all(&[1])?;
    }
    Ok(())
}

impl Trace {
    /// A counter of the sender, by the kernel's names for it.
    pub(crate) fn counted(&self, table: &str, name: &str) -> u64 {
        counted(&self.counters, table, name)
    }

    /// Returns the first position from `from` on at which `found` holds.
    pub(crate) fn position(&self, from: usize, found: impl Fn(&Seen) -> bool) -> usize {
        from + self.seen[from..].iter().position(found).unwrap()
    }

    /// Returns, for each acknowledgement, its ECN-Echo, and for each packet that it acknowledges first, whether the
    /// packet was marked.
    pub(crate) fn covered(&self) -> Vec<(bool, Vec<bool>)> {
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

    /// Returns the segments in flight (sent and not acknowledged) after each data packet and acknowledgement.
    pub(crate) fn flights(&self) -> Vec<u32> {
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
