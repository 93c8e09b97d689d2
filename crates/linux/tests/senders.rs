//! The eBPF congestion controls on real connections, through the command line and the kernel. Needs root and
//! the kernel's BTF; skipped without, or while something is loaded that is not of this test.
#![cfg(feature = "bpf")]

use libbpf_rs::query::ProgInfoIter;
use shortflow_linux::switch::{Clock, Switch, Taps, ipv4};
use shortflow_linux::sys::{self, Namespace};
use shortflow_sim::engine::Seeds;
use shortflow_sim::net::{Network, PortCounters};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_units::HostId;
use std::fs;
use std::io::{self, Error, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const LAWS: [&str; 6] = ["sf_dctcp", "sf_l2dct", "sf_d2tcp", "sf_xdctcp", "sf_atcp", "sf_fast"];
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

/// Registrations are the whole host's: one test at a time. What it loads goes, however it ends.
struct Alone {
    _turn: MutexGuard<'static, ()>,
}

impl Drop for Alone {
    fn drop(&mut self) {
        shortflow(&["unload"]);
    }
}

fn alone() -> Option<Alone> {
    static ALONE: Mutex<()> = Mutex::new(());
    let turn = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let status = shortflow(&["status"]);
    let reason = if !status.status.success() {
        String::from_utf8_lossy(&status.stderr).into_owned()
    } else if status.stdout != b"nothing is loaded\n" {
        "programs are loaded on this host".to_owned()
    } else if !shortflow(&["check"]).status.success() {
        "`shortflow-linux check` finds something missing".to_owned()
    } else {
        return Some(Alone { _turn: turn });
    };
    eprintln!("skipped: {reason}");
    None
}

fn shortflow(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shortflow-linux")).args(arguments).output().unwrap()
}

/// Exit code, and what was printed.
fn said(arguments: &[&str]) -> (i32, String) {
    let output = shortflow(arguments);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

fn tool(line: &str) -> io::Result<String> {
    let mut words = line.split(' ');
    let output = Command::new(words.next().unwrap_or_default()).args(words).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(Error::other(line.to_owned())) }
}

/// What a command must not change: registrations, mounts, pinned files, this namespace's default.
fn host_state() -> [String; 4] {
    let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let sysctl = "/proc/sys/net/ipv4/tcp_";
    [
        file(&format!("{sysctl}available_congestion_control")),
        file(&format!("{sysctl}congestion_control")),
        file("/proc/self/mounts"),
        fs::read_dir("/sys/fs/bpf")
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| format!("{:?}", e.path()))
            .collect(),
    ]
}

/// A host whose sockets use `control`.
fn host(number: u32, control: &str, ecn: &str) -> io::Result<(Namespace, fs::File)> {
    let namespace = Namespace::new()?;
    let device = namespace.within(|| {
        let device = sys::tap("eth0")?;
        sys::offloads_off("eth0")?;
        fs::write("/proc/sys/net/ipv4/tcp_ecn", ecn)?;
        fs::write("/proc/sys/net/ipv4/tcp_congestion_control", control)?;
        tool("ip link set dev eth0 address 02:53:46:00:00:01 arp off gso_max_segs 1 up")?;
        tool(&format!("ip address add {}/16 dev eth0", ipv4(HostId(number))))?;
        Ok(device)
    })?;
    Ok((namespace, device))
}

/// What was seen of one transfer.
struct Seen {
    took: Duration,
    /// `ss` and `status`, while it ran.
    socket: String,
    status: String,
    slow: PortCounters,
}

/// Sends `SIZE` bytes from host 0 to host 1; how long that takes, and what is seen half way.
fn transfer(hosts: &[Namespace; 2]) -> io::Result<(Duration, String, String)> {
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
    sender.write_all(&vec![0; SIZE / 2])?;
    let socket = hosts[0].within(|| tool("ss -tin state established"))?;
    let status = said(&["status"]).1;
    sender.write_all(&vec![0; SIZE / 2])?;
    sender.read_exact(&mut [0])?;
    let took = start.elapsed();
    receiver.join().unwrap()?;
    Ok((took, socket, status))
}

fn through_the_switch(control: &str, ecn: &str) -> io::Result<Seen> {
    let scenario = Scenario::parse(SCENARIO, "two-hosts", &[], &|_| Ok(LINKS.to_owned())).unwrap();
    let scheme = Scheme::named("tcp-ecn", &[]).unwrap();
    let network = Network::new(&scenario, &scheme, Seeds::new(1)).unwrap();
    let ((a, at_a), (b, at_b)) = (host(0, control, ecn)?, host(1, control, ecn)?);
    let mut taps = Taps::new([(HostId(0), at_a), (HostId(1), at_b)])?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (graph, clock) = (&scenario.graph, Clock::starting_now());
        let switch = Switch::new(graph, network, &mut taps, 1500, clock);
        let switch = scope.spawn(|| switch.run(&stop));
        let seen = transfer(&[a, b]);
        stop.store(true, Ordering::Relaxed);
        let (network, _) = switch.join().unwrap()?;
        let (took, socket, status) = seen?;
        Ok(Seen { took, socket, status, slow: *network.ports()[2].counters() })
    })
}

/// Nanoseconds per call and calls of each program whose name begins with `prefix`.
fn costs(prefix: &str) -> Vec<(String, u64, u64)> {
    let named = ProgInfoIter::default().filter(|info| info.name.to_string_lossy().starts_with(prefix));
    named
        .filter(|info| info.run_cnt > 0)
        .map(|info| (info.name.to_string_lossy().into_owned(), info.run_time_ns / info.run_cnt, info.run_cnt))
        .collect()
}

/// 4 MB at 50 Mbit/s take 0.663 s with headers; marks above 20 packets keep the queue off its end.
#[test]
fn every_law_fills_a_marking_link_and_leaves_nothing_behind() {
    let Some(_alone) = alone() else { return };
    let before = host_state();
    let names: Vec<&str> = [&["load"][..], &LAWS].concat();
    let (code, text) = said(&names);
    assert_eq!(code, 0, "{text}");
    let _ = fs::write("/proc/sys/kernel/bpf_stats_enabled", "1");
    for law in LAWS {
        let seen = through_the_switch(law, "1").unwrap();
        let slow = seen.slow;
        eprintln!("{law}: {:?} {slow:?}", seen.took);
        for (program, nanoseconds, calls) in costs(&law[3..]) {
            eprintln!("  {program:<16} {nanoseconds:>5} ns x {calls}");
        }
        assert!(seen.socket.contains(law) && seen.socket.contains("delivered_ce"), "{}", seen.socket);
        let of_law = seen.status.split("sf_").find(|part| part.starts_with(&law[3..])).unwrap();
        assert!(of_law.contains("connections  2") && of_law.contains("alpha "), "{}", seen.status);
        assert!((0.66..1.0).contains(&seen.took.as_secs_f64()), "{law}: {:?}", seen.took);
        assert!(slow.marked > 0 && slow.drops.total() == 0, "{law}: {slow:?}");
        assert!(slow.peak.packets < 100, "{law}: {slow:?}");
    }
    let _ = fs::write("/proc/sys/kernel/bpf_stats_enabled", "0");
    let (code, text) = said(&["unload"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(host_state(), before);
}
