//! Priorities of the packets of a real connection, read where the packets leave the host. Needs root, iproute2, the
//! kernel's BTF, cgroup2 and Python; skipped without them, or while foreign programs are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{Cgroup, Host, accept, host, tool};
use common::{ProgramsGuard, must, output_of, programs_guard};
use shortflow_deploy::laws::{priority_dscp, priority_label};
use shortflow_testbed::switch::header::{self, Header};
use shortflow_testbed::switch::{ETHERNET, ipv4, ipv6};
use shortflow_units::HostId;
use std::fs::File;
use std::io::{self, Error, Read, Write};
use std::net::{IpAddr, TcpListener};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SIZE: usize = 300_000;

/// DCTCP, loaded with a cgroup whose applications may state flow data. No other program is loaded meanwhile.
struct Loaded {
    cgroup: Cgroup,
    _guard: ProgramsGuard,
}

impl Loaded {
    fn new() -> Option<Loaded> {
        let guard = programs_guard()?;
        let cgroup = Cgroup::new("dscp")?;
        must(&["load", "dctcp", "--cgroup", &cgroup.0]);
        Some(Loaded { cgroup, _guard: guard })
    }
}

/// A host with an IPv4 and an IPv6 address.
fn dual_host(number: u32) -> io::Result<Host> {
    let host = host(number, "sf_dctcp", "1")?;
    let address = format!("ip -6 address add {}/64 dev eth0 nodad", ipv6(HostId(number)));
    host.0.within(|| tool(&address))?;
    Ok(host)
}

/// Passes frames between two hosts until `stop` is set. Returns the headers of frames from the first to the second,
/// except neighbour discovery.
fn relay(devices: [&File; 2], stop: &AtomicBool) -> Vec<Header> {
    let mut seen = Vec::new();
    let mut frame = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        let mut is_idle = true;
        for (from, to) in [(0, 1), (1, 0)] {
            let Ok(length) = (&mut &*devices[from]).read(&mut frame) else { continue };
            is_idle = false;
            let frame = &frame[..length];
            let is_discovery = frame[12..14] == [0x86, 0xdd] && frame[ETHERNET + 6] != 6;
            if from == 0 && !is_discovery {
                seen.extend(header::read(frame));
            }
            let _ = (&mut &*devices[to]).write(frame);
        }
        if is_idle {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    seen
}

/// Returns the packets in which host 0 sends `SIZE` bytes, marked by `rule`, after the Python `statements` about
/// `sock`.
fn packets(loaded: &Loaded, rule: &str, to: IpAddr, statements: &str) -> io::Result<Vec<Header>> {
    let ((a, at_a), (b, at_b)) = (dual_host(0)?, dual_host(1)?);
    a.within(|| {
        must(&["dscp", "eth0", "--by", rule]);
        Ok(())
    })?;
    let listener = b.within(|| TcpListener::bind((to, 7000)))?;
    let family = if to.is_ipv4() { "AF_INET" } else { "AF_INET6" };
    let script = format!(
        "import socket, struct\nsock = socket.socket(socket.{family})\nsock.connect(('{to}', 7000))\n\
         say = lambda option, value: sock.setsockopt(0x5346, option, struct.pack('Q', value))\n\
         {statements}\nsock.sendall(bytes({SIZE}))\nsock.recv(1)\n"
    );
    let enter = format!("echo $$ >{}/cgroup.procs && exec python3 -c \"$0\"", loaded.cgroup.0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let relay = scope.spawn(|| relay([&at_a, &at_b], &stop));
        let sender = scope.spawn(|| a.within(|| Command::new("sh").args(["-c", &enter, &script]).status()));
        let received = accept(&listener).and_then(|mut socket| {
            socket.read_exact(&mut vec![0; SIZE])?;
            socket.write_all(&[1])
        });
        let status = sender.join().unwrap();
        stop.store(true, Ordering::Relaxed);
        let seen = relay.join().unwrap();
        received?;
        if status?.success() { Ok(seen) } else { Err(Error::other("the Python sender failed")) }
    })
}

/// Returns the priorities of packets with payload, in order. All other packets must have the best priority.
fn of_data(packets: &[Header]) -> Vec<u32> {
    let (data, other): (Vec<&Header>, Vec<&Header>) = packets.iter().partition(|packet| packet.payload > 0);
    assert!(data.len() >= SIZE / 1_460 && !other.is_empty(), "{} {}", data.len(), other.len());
    assert!(other.iter().all(|packet| packet.priority == 0), "{other:?}");
    data.iter().map(|packet| packet.priority).collect()
}

#[test]
fn every_packet_carries_the_priority_of_its_flow() {
    let Some(loaded) = Loaded::new() else { return };
    let (old, new): (IpAddr, IpAddr) = (ipv4(HostId(1)).into(), ipv6(HostId(1)).into());
    let size = format!("say(1, {SIZE})");
    let priorities = |rule, to, statements: &str| of_data(&packets(&loaded, rule, to, statements).unwrap());

    let last = SIZE as u64;
    let by_sent = priorities("sent", old, "");
    assert!(by_sent.is_sorted(), "{by_sent:?}");
    assert_eq!((by_sent[0], by_sent.last()), (1, Some(&priority_dscp(last - 1_000, 10))));

    let by_size = priorities("size", old, &size);
    assert!(by_size.iter().all(|priority| *priority == priority_dscp(last, 10)), "{by_size:?}");
    assert!(priorities("size", old, "").iter().all(|priority| *priority == 63));

    let by_remaining = priorities("remaining", new, &size);
    assert!(by_remaining.is_sorted_by(|a, b| a >= b), "{by_remaining:?}");
    assert_eq!(by_remaining[0], priority_label(last));
    assert!(by_remaining.last() < by_remaining.first());

    let by_deadline = priorities("deadline", new, "say(2, 5_000_000_000)");
    let most = priority_label(5_000_000_000);
    assert!(by_deadline.iter().all(|priority| (1..=most).contains(priority)), "{by_deadline:?}");
    assert!(by_deadline[0] > priority_label(2_000_000_000), "{by_deadline:?}");
    assert!(priorities("deadline", new, "").iter().all(|priority| *priority == 0xfffff));
}

/// Without an Ethernet header, the program would read other bytes as the IP header.
#[test]
fn a_device_without_ethernet_headers_is_refused() {
    let Some(_loaded) = Loaded::new() else { return };
    let (host, _device) = dual_host(0).unwrap();
    let answer = host.within(|| {
        tool("ip tuntap add dev tun0 mode tun")?;
        Ok(output_of(&["dscp", "tun0", "--by", "sent"]))
    });
    let (code, text) = answer.unwrap();
    assert!(code == 2 && text.starts_with("tun0: its packets have no Ethernet header"), "{code} {text}");
}
