//! FaST's smaller segments: routes for each size, segments on the wire, and that nothing is left behind. Needs root and
//! the kernel's BTF; skipped without, or while something is loaded that is not of this test.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{Host, SCENARIO, between, tool};
use common::messages::{messages, roomy_host};
use common::wire::{Fate, Seen};
use common::{alone, must, said};
use shortflow_linux::switch::ipv4;
use shortflow_linux::sys::{self, Namespace};
use shortflow_units::HostId;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const WITH: [&str; 4] = ["load", "sf_fast", "--segments", "eth0"];
const WITHOUT: [&str; 2] = ["load", "sf_fast"];

/// Two hosts of what the first of them loads.
fn hosts(load: &[&str]) -> [Host; 2] {
    let hosts = [0, 1].map(|number| roomy_host(number, "reno").unwrap());
    hosts[0].0.within(|| Ok(must(load))).unwrap();
    for (namespace, _) in &hosts {
        let default = || fs::write("/proc/sys/net/ipv4/tcp_congestion_control", load[1]);
        namespace.within(default).unwrap();
    }
    hosts
}

/// From the thirteenth packet on everything is marked: the window falls to its floor of 100 bytes and the segments with
/// it. They begin with FaST's three probes of half a segment.
#[test]
fn a_window_below_one_segment_has_segments_of_its_size() {
    let Some(_alone) = alone() else { return };
    let fates = |number, _| if number < 12 { Fate::Pass } else { Fate::Mark };
    let trace = messages(hosts(&WITH), 50, &[], Duration::from_millis(2), fates).unwrap();
    let lengths = trace.seen.iter().filter_map(|seen| match seen {
        Seen::Data { length, .. } => Some(*length),
        Seen::Ack { .. } => None,
    });
    let lengths: Vec<u32> = lengths.collect();
    eprintln!("{lengths:?}");
    let mut turns = lengths.clone();
    turns.dedup();
    assert!(lengths[..3] == [724; 3] && turns == [724, 1448, 724, 362, 181], "{lengths:?}");
    assert_eq!(trace.counted("Ip", "FragCreates"), 0, "packets left as IP fragments");
}

/// 4 MB in all over forty connections.
fn forty([a, b]: &[Namespace; 2]) -> io::Result<Duration> {
    const EACH: usize = 100_000;
    let listener = b.within(|| TcpListener::bind((ipv4(HostId(1)), 7000)))?;
    let mut pairs = Vec::new();
    for _ in 0..40 {
        let socket = a.within(|| TcpStream::connect((ipv4(HostId(1)), 7000)))?;
        pairs.push((socket, listener.accept()?.0));
    }
    let start = Instant::now();
    pairs.iter_mut().try_for_each(|(socket, _)| socket.write_all(&[0; EACH]))?;
    for (sending, receiving) in &mut pairs {
        sys::end_when_closed(sending)?;
        sys::end_when_closed(receiving)?;
        receiving.set_read_timeout(Some(Duration::from_secs(20)))?;
        receiving.read_exact(&mut [0; EACH])?;
    }
    Ok(start.elapsed())
}

/// Whole segments further apart, and smaller ones: neither loses packets, where forty windows of two segments do.
#[test]
fn forty_windows_lose_nothing() {
    let Some(_alone) = alone() else { return };
    for load in [&["load", "sf_dctcp"][..], &WITHOUT, &WITH] {
        let scenario = SCENARIO.replace("20pkt", "4pkt");
        let (took, network, _) = between(&scenario, "tcp-ecn", hosts(load), forty).unwrap();
        let slow = network.ports()[2].counters();
        let busy = slow.busy.as_secs_f64();
        let [packets, bytes] =
            [slow.packet_time.as_secs_f64(), slow.byte_time as f64 / 1e12].map(|sum| sum / busy);
        eprintln!("{load:?}: {took:?}, {packets:.1} packets and {bytes:.0} bytes wait, {slow:?}");
        assert_eq!(slow.drops.total() > 0, load[1] == "sf_dctcp", "{load:?}");
    }
}

/// A namespace that is found by the process in it.
struct Inhabited(Namespace, Child);

impl Drop for Inhabited {
    fn drop(&mut self) {
        let _ = self.1.kill();
        let _ = self.1.wait();
    }
}

#[test]
fn rules_and_routes_go_with_what_has_set_them() {
    let Some(_alone) = alone() else { return };
    let (namespace, _device) = roomy_host(0, "reno").unwrap();
    let process = namespace.within(|| Command::new("sleep").arg("60").spawn()).unwrap();
    let host = Inhabited(namespace, process);
    let load = |arguments: &[&str]| host.0.within(|| Ok(must(arguments))).unwrap();
    let routing = || {
        let shown = || Ok(tool("ip -4 rule show")? + &tool("ip -4 route show table all")?);
        host.0.within(shown).unwrap()
    };
    let before = routing();
    assert!(load(&WITH).contains("segments=eth0"));
    let made = routing();
    assert!(made.contains("fwmark 0x53460003 lookup 1397096451") && made.contains("mtu lock 233"), "{made}");
    assert!(load(&WITH).contains("already loaded"));
    assert_eq!(routing(), made);
    assert!(load(&WITHOUT).contains("replaced"));
    assert_eq!(routing(), before);
    load(&WITH);
    assert_eq!(routing(), made);
    must(&["unload"]);
    assert_eq!(routing(), before);
}

#[test]
fn wrong_devices_and_other_laws_are_refused() {
    for (arguments, says) in [
        (&["load", "sf_fast", "--segments", "nope"][..], "device \"nope\""),
        (&["load", "sf_dctcp", "--segments", "lo"], "only the windows of sf_fast"),
    ] {
        let (code, text) = said(arguments);
        assert!(code == 2 && text.contains(says), "{arguments:?}: {code} {text}");
    }
}
