//! FaST's smaller segments: the routes for each size, the segments on the wire, and the removal of rules and routes.
//! Needs root, iproute2 and the kernel's BTF; skipped without them, or while foreign programs are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{Host, OccupiedNamespace, SCENARIO, between, output_without, started, tool};
use common::messages::{messages, roomy_host};
use common::wire::{Fate, Seen};
use common::{
    eventually, hides_connections, is_nothing_loaded, must, output_of, program, programs_guard, took,
};
use shortflow_deploy::sys::Namespace;
use shortflow_testbed::switch::ipv4;
use shortflow_testbed::sys;
use shortflow_units::HostId;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

const WITH: [&str; 4] = ["load", "sf_fast", "--segments", "eth0"];
const WITHOUT: [&str; 2] = ["load", "sf_fast"];

/// Makes two hosts, both with the congestion control that the command `load` loads in the first.
fn hosts(load: &[&str]) -> [Host; 2] {
    let hosts = [0, 1].map(|number| roomy_host(number, "reno").unwrap());
    hosts[0].0.within(|| Ok(must(load))).unwrap();
    for (namespace, _) in &hosts {
        let default = || fs::write("/proc/sys/net/ipv4/tcp_congestion_control", load[1]);
        namespace.within(default).unwrap();
    }
    hosts
}

/// From the thirteenth packet on all packets are marked. The window falls to its floor of 100 bytes, and the size of
/// the segments with it. The flow starts with FaST's three probes of half a segment.
#[test]
fn a_window_below_one_segment_has_segments_of_its_size() {
    let Some(_guard) = programs_guard() else { return };
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

/// Sends 4 MB in total over 40 connections. Returns the duration.
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

/// FaST loses no packets, whether it spaces whole segments or sends smaller ones. Forty windows of two segments,
/// DCTCP's minimum, do lose packets.
#[test]
fn forty_windows_lose_nothing() {
    let Some(_guard) = programs_guard() else { return };
    for load in [&["load", "sf_dctcp"][..], &WITHOUT, &WITH] {
        let scenario = SCENARIO.replace("20pkt", "4pkt");
        let (took, network) = between(&scenario, "tcp-ecn", hosts(load), forty).unwrap();
        let slow = network.ports()[2].counters();
        let busy = slow.busy.as_secs_f64();
        let [packets, bytes] =
            [slow.packet_time.as_secs_f64(), slow.byte_time as f64 / 1e12].map(|sum| sum / busy);
        eprintln!("{load:?}: {took:?}, {packets:.1} packets and {bytes:.0} bytes wait, {slow:?}");
        assert_eq!(slow.drops.total() > 0, load[1] == "sf_dctcp", "{load:?}");
    }
}

/// A host with a default route by eth0, and with 10.2.0.0/16 by eth1.
struct Router {
    host: OccupiedNamespace,
    _devices: [File; 2],
}

impl Router {
    fn new() -> Router {
        let (namespace, eth0) = roomy_host(0, "reno").unwrap();
        let set_up = || {
            let eth1 = sys::tap("eth1")?;
            tool("ip link set dev eth1 arp off up")?;
            tool("ip address add 10.2.0.1/16 dev eth1")?;
            tool("ip route add default via 10.83.0.9 dev eth0")?;
            Ok(eth1)
        };
        let eth1 = namespace.within(set_up).unwrap();
        Router { host: OccupiedNamespace::of(namespace), _devices: [eth0, eth1] }
    }

    fn ip(&self, line: &str) -> String {
        self.host.namespace.within(|| tool(&format!("ip -4 {line}"))).unwrap()
    }

    fn load(&self, arguments: &[&str]) -> String {
        self.host.namespace.within(|| Ok(must(arguments))).unwrap()
    }

    fn routing(&self) -> String {
        self.ip("rule show") + &self.ip("route show table all")
    }
}

#[test]
fn rules_and_routes_end_with_the_control_that_set_them() {
    let Some(_guard) = programs_guard() else { return };
    let host = Router::new();
    let before = host.routing();
    assert!(host.load(&WITH).contains("segments=eth0"));
    let made = host.routing();
    assert!(made.contains("fwmark 0x53460003 lookup 1397096451") && made.contains("mtu lock 233"), "{made}");
    assert!(host.load(&WITH).contains("already loaded"));
    assert_eq!(host.routing(), made);
    assert!(host.load(&WITHOUT).contains("replaced"));
    assert_eq!(host.routing(), before);
    host.load(&WITH);
    assert_eq!(host.routing(), made);
    must(&["unload"]);
    assert_eq!(host.routing(), before);
}

/// Packets with the mark leave by the same device as packets without it, also with other routes and rules.
#[test]
fn nothing_leaves_by_another_device_than_without_a_mark() {
    let Some(_guard) = programs_guard() else { return };
    let host = Router::new();
    for line in [
        "rule add to 10.9.0.0/16 table 9",
        "route add default via 10.2.0.9 dev eth1 table 9",
        "route add unreachable 10.8.0.0/16",
        "route add 10.7.0.0/16 nexthop via 10.83.0.9 dev eth0 nexthop via 10.2.0.9 dev eth1",
        "route add 10.6.0.0/16 via 10.2.0.9 dev eth1 metric 1",
        "route add 10.6.0.0/16 via 10.83.0.9 dev eth0 metric 2",
    ] {
        host.ip(line);
    }
    let output = host.load(&WITH);
    assert!(
        output.contains("warning: --segments: whole segments on a route over several devices: 10.7.0.0/16"),
        "{output}"
    );
    let by = |to: &str, mark: &str| {
        let line = ["ip", "-4", "route", "get", to, "mark", mark];
        let (_, text) = host.host.namespace.within(|| Ok(started(&line))).unwrap();
        let mut words = text.split_whitespace().skip_while(|word| *word != "dev").skip(1);
        (words.next().map(str::to_owned), text.contains(" mtu "))
    };
    let eth = |number: u32| Some(format!("eth{number}"));
    for (to, device, is_small) in [
        ("10.83.0.2", eth(0), true),
        ("198.51.100.1", eth(0), true),
        ("10.2.5.5", eth(1), false),
        ("10.9.5.5", eth(1), false),
        ("10.8.5.5", None, false),
        ("10.6.5.5", eth(1), false),
    ] {
        assert_eq!(by(to, "0"), (device.clone(), false), "{to}");
        assert_eq!(by(to, "0x53460001"), (device, is_small), "{to}");
    }
    assert!(!by("10.7.5.5", "0x53460001").1);
}

/// The connection leaves by eth0. The routes for smaller segments use eth1, its device when `load` made them.
#[test]
fn connections_by_another_device_are_not_marked() {
    let Some(_guard) = programs_guard() else { return };
    let hosts = [0, 1].map(|number| roomy_host(number, "reno").unwrap());
    let load = || {
        let eth1 = sys::tap("eth1")?;
        tool("ip link set dev eth1 arp off up")?;
        tool("ip address add 10.2.0.1/16 dev eth1")?;
        tool("ip route add 10.83.0.0/17 dev eth1")?;
        must(&["load", "sf_fast", "--segments", "eth1"]);
        tool("ip route del 10.83.0.0/17 dev eth1")?;
        Ok(eth1)
    };
    let _eth1 = hosts[0].0.within(load).unwrap();
    for (namespace, _) in &hosts {
        let default = || fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "sf_fast");
        namespace.within(default).unwrap();
    }
    let fates = |number, _| if number < 12 { Fate::Pass } else { Fate::Mark };
    let trace = messages(hosts, 50, &[], Duration::from_millis(2), fates).unwrap();
    assert!(
        hides_connections(&trace.status) || trace.status.contains("cwnd         min 0.0"),
        "{}",
        trace.status
    );
    let is_small = |seen: &&Seen| matches!(seen, Seen::Data { length, .. } if *length <= 362);
    assert_eq!(trace.seen.iter().filter(is_small).count(), 0);
}

/// Kills loads and unloads at moments spread over both. There are so many routes that most kills land while routes
/// change.
#[test]
fn killed_commands_leave_no_rules_and_routes() {
    let Some(_guard) = programs_guard() else { return };
    let host = Router::new();
    for number in 0..200 {
        host.ip(&format!("route add 10.100.{number}.0/24 via 10.83.0.9 dev eth0"));
    }
    let before = host.routing();
    let undisturbed = |arguments: &[&str]| host.host.namespace.within(|| Ok(took(arguments))).unwrap();
    let load = (&WITH[..], undisturbed(&WITH), &before);
    let made = host.routing();
    let unload = (&["unload"][..], undisturbed(&["unload"]), &made);
    let mut midway = 0;
    for step in 0..240 {
        if step >= 24 && midway > 0 {
            break;
        }
        let is_load = step % 2 == 0;
        if !is_load {
            host.load(&WITH);
        }
        let (arguments, undisturbed, untouched) = if is_load { load } else { unload };
        let begin = || program().args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut command = host.host.namespace.within(begin).unwrap();
        std::thread::sleep(undisturbed.mul_f64(f64::from(step / 2 % 12) / 12.0));
        let _ = command.kill();
        let was_killed = !command.wait().unwrap().success();
        midway += usize::from(was_killed && host.routing() != *untouched);
        must(&["unload"]);
        assert_eq!(host.routing(), before, "step {step}");
    }
    eprintln!("{:?}, {:?}: killed in the middle {midway}", load.1, unload.1);
    assert!(midway > 0, "no kill has landed in the middle");
}

#[test]
fn routes_where_a_command_may_not_go_are_named_and_removed_later() {
    let Some(_guard) = programs_guard() else { return };
    let host = Router::new();
    let before = host.routing();
    host.load(&WITH);
    let (code, text) = output_without("-sys_admin,-sys_ptrace", &["unload"]);
    assert!(
        code == 3 && text.contains("CAP_SYS_PTRACE show all); routes of --segments remain"),
        "{code} {text}"
    );
    assert_eq!(must(&["unload"]), "nothing is loaded\n");
    assert_eq!(host.routing(), before);
    assert!(!fs::exists("/sys/fs/bpf/shortflow").unwrap());
}

/// `--cgroup` gets a file in a cgroup instead of a cgroup, which the kernel refuses only in the last step of `load`.
#[test]
fn a_failed_load_keeps_loaded_programs() {
    let Some(_guard) = programs_guard() else { return };
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let Some(cgroup) = mounts.lines().find(|line| line.contains(" cgroup2 ")) else {
        eprintln!("skipped: no cgroup2 file system");
        return;
    };
    let file = format!("{}/cgroup.procs", cgroup.split(' ').nth(1).unwrap());
    let host = Router::new();
    let before = host.routing();
    let fail = |arguments: &[&str]| {
        let arguments = [arguments, &["--cgroup", &file]].concat();
        let (code, text) = host.host.namespace.within(|| Ok(output_of(&arguments))).unwrap();
        assert_ne!(code, 0, "{text}");
    };
    fail(&WITH);
    assert_eq!(host.routing(), before);
    assert!(eventually(|| is_nothing_loaded(&output_of(&["status"]))));
    host.load(&WITH);
    let made = host.routing();
    fail(&["load", "sf_fast", "sf_dctcp", "--segments", "eth0"]);
    assert_eq!(host.routing(), made);
    let status = must(&["status"]);
    assert!(status.contains("segments=eth0") && !status.contains("sf_dctcp"), "{status}");
}

#[test]
fn wrong_devices_and_other_laws_are_refused() {
    let Some(_guard) = programs_guard() else { return };
    for (arguments, says) in [
        (&["load", "sf_fast", "--segments", "nope"][..], "device \"nope\""),
        (&["load", "sf_dctcp", "--segments", "lo"], "needs sf_fast, the only control"),
        (&["load", "sf_fast", "--segments", "lo"], "no IPv4 route of table main uses lo alone"),
    ] {
        let (code, text) = output_of(arguments);
        assert!(code == 2 && text.contains(says), "{arguments:?}: {code} {text}");
    }
}
