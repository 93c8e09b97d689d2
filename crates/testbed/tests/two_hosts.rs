//! Two namespaces, a switch between them, and a real TCP connection. Needs root, `ip` and `tc`; skipped without.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{SCENARIO, accept, between, host};
use common::{best_of_three, turn};
use shortflow_deploy::sys::Namespace;
use shortflow_testbed::switch::ipv4;
use shortflow_units::HostId;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

const SIZE: usize = 4_000_000;

/// Sends `SIZE` bytes from host 0 to host 1; how long that takes.
fn transfer(hosts: &[Namespace; 2]) -> io::Result<Duration> {
    let listener = hosts[1].within(|| TcpListener::bind((ipv4(HostId(1)), 7000)))?;
    let receiver = std::thread::spawn(move || {
        let mut socket = accept(&listener)?;
        socket.read_exact(&mut vec![0; SIZE])?;
        socket.write_all(&[1])
    });
    let mut sender = hosts[0].within(|| TcpStream::connect((ipv4(HostId(1)), 7000)))?;
    sender.set_read_timeout(Some(Duration::from_secs(20)))?;
    sender.set_write_timeout(Some(Duration::from_secs(20)))?;
    let start = Instant::now();
    sender.write_all(&vec![0; SIZE])?;
    sender.read_exact(&mut [0])?;
    let took = start.elapsed();
    receiver.join().unwrap()?;
    Ok(took)
}

/// 4 MB at 50 Mbit/s take 0.64 s, headers included 0.663 s. With marks above 20 packets the queue stays far
/// below the buffer of 100, and nothing is lost.
#[test]
fn the_slow_link_sets_the_pace_and_its_queue_marks() {
    let Some(_turn) = turn() else { return };
    best_of_three(|| {
        let hosts = [0, 1].map(|number| host(number, "reno", "1").unwrap());
        let (took, network, report) = between(SCENARIO, "tcp-ecn", hosts, transfer).unwrap();
        let slow = network.ports()[2].counters();
        let lateness =
            (report.lateness.percentile(0.5), report.lateness.percentile(0.99), report.lateness.max());
        eprintln!("{took:?}; {slow:?}; late {lateness:?}; busy {:.2}; lost {}", report.busy, report.lost);
        let seconds = took.as_secs_f64();
        assert!((0.66..0.9).contains(&seconds), "{seconds}");
        assert!(slow.marked > 0 && slow.drops.total() == 0, "{slow:?}");
        assert!((20..100).contains(&slow.peak.packets), "{slow:?}");
    });
}
