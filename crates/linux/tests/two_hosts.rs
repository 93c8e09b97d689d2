//! Two namespaces, a switch between them, and a real TCP connection. Needs root and `ip`; skipped without.

use shortflow_linux::switch::{Clock, Switch, SwitchReport, Taps, ipv4};
use shortflow_linux::sys::{self, Namespace};
use shortflow_sim::engine::Seeds;
use shortflow_sim::net::Network;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_units::{HostId, Span};
use std::io::{self, Error, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SIZE: usize = 4_000_000;
const SCENARIO: &str = r#"
title = "One flow from a fast link into a slow one"
duration = "20s"

[topology]
kind = "explicit"
file = "links.csv"

[switch]
buffer = "100pkt"
mark_above = "20pkt"

[[traffic]]
kind = "long-lived"
from = [0]
to = 1
"#;

const LINKS: &str = "a,b,rate,delay\nh0,s0,200Mbps,250us\ns0,h1,50Mbps,250us\n";

fn command(line: &str) -> io::Result<()> {
    let mut words = line.split(' ');
    let status = Command::new(words.next().unwrap_or_default()).args(words).status()?;
    if status.success() { Ok(()) } else { Err(Error::other(line.to_owned())) }
}

/// A host with its TAP device, ECN on.
fn host(number: u32) -> io::Result<(Namespace, std::fs::File)> {
    let namespace = Namespace::new()?;
    let device = namespace.within(|| {
        let device = sys::tap("eth0")?;
        sys::offloads_off("eth0")?;
        std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1")?;
        std::fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "reno")?;
        command("ip link set dev eth0 address 02:53:46:00:00:01 arp off gso_max_segs 1 up")?;
        command(&format!("ip address add {}/16 dev eth0", ipv4(HostId(number))))?;
        Ok(device)
    })?;
    Ok((namespace, device))
}

/// Sends `SIZE` bytes from host 0 to host 1; how long that takes.
fn transfer(hosts: &[Namespace; 2]) -> io::Result<Duration> {
    let listener = hosts[1].within(|| TcpListener::bind((ipv4(HostId(1)), 7000)))?;
    let receiver = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept()?;
        let mut buffer = vec![0; 1 << 16];
        let mut left = SIZE;
        while left > 0 {
            left -= socket.read(&mut buffer)?;
        }
        socket.write_all(&[1])
    });
    let mut sender = hosts[0].within(|| TcpStream::connect((ipv4(HostId(1)), 7000)))?;
    let start = Instant::now();
    sender.write_all(&vec![0; SIZE])?;
    sender.read_exact(&mut [0])?;
    let took = start.elapsed();
    receiver.join().unwrap()?;
    Ok(took)
}

fn through_the_switch(scheme: &str) -> io::Result<(Duration, Network, SwitchReport)> {
    let scenario = Scenario::parse(SCENARIO, "two-hosts", &[], &|_| Ok(LINKS.to_owned())).unwrap();
    let scheme = Scheme::named(scheme, &[]).unwrap();
    let network = Network::new(&scenario, &scheme, Seeds::new(1)).unwrap();
    let ((a, at_a), (b, at_b)) = (host(0)?, host(1)?);
    let mut taps = Taps::new([(HostId(0), at_a), (HostId(1), at_b)])?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let switch = Switch::new(&scenario, network, &mut taps, 1500, Clock::starting_in(Span::ZERO));
        let switch = scope.spawn(|| switch.run(&stop));
        let took = transfer(&[a, b]);
        stop.store(true, Ordering::Relaxed);
        let (network, report) = switch.join().unwrap()?;
        Ok((took?, network, report))
    })
}

/// 4 MB at 50 Mbit/s take 0.64 s, headers included 0.663 s. With marks above 20 packets the queue stays far
/// below the buffer of 100, and nothing is lost.
#[test]
fn the_slow_link_sets_the_pace_and_its_queue_marks() {
    if !std::fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("\nUid:\t0\t")) {
        eprintln!("skipped: needs root");
        return;
    }
    let (took, network, report) = through_the_switch("tcp-ecn").unwrap();
    let slow = network.ports()[2].counters();
    let lateness = (report.lateness.percentile(0.5), report.lateness.percentile(0.99), report.lateness.max());
    eprintln!("{took:?}; {slow:?}; late {lateness:?}; busy {:.2}; lost {}", report.busy, report.lost);
    let seconds = took.as_secs_f64();
    assert!((0.66..0.9).contains(&seconds), "{seconds}");
    assert!(slow.marked > 0 && slow.drops.total() == 0, "{slow:?}");
    assert!((20..100).contains(&slow.peak.packets), "{slow:?}");
}
