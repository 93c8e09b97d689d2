//! Two hosts, each in a namespace, and a scenario's network between them.

use shortflow_deploy::sys::Namespace;
use shortflow_sim::engine::Seeds;
use shortflow_sim::net::Network;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_testbed::switch::{Clock, Switch, Taps, ipv4};
use shortflow_testbed::sys::{self, Poll, READABLE};
use shortflow_units::{HostId, Span};
use std::fs::{self, File};
use std::io::{self, Error, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A host and the far end of its TAP device.
pub(crate) type Host = (Namespace, File);

pub(crate) const SCENARIO: &str = r#"
title = "One flow from a fast link into a slow one"
duration = "20s"

topology = { kind = "explicit", file = "links.csv" }

switch = { buffer = "100pkt", mark_above = "20pkt" }

traffic = [{ kind = "long-lived", from = [0], to = 1 }]
"#;
const LINKS: &str = "a,b,rate,delay\nh0,s0,200Mbps,250us\ns0,h1,50Mbps,250us\n";

/// Runs a tool. Returns its output.
pub(crate) fn tool(line: &str) -> io::Result<String> {
    let mut words = line.split(' ');
    let output = Command::new(words.next().unwrap_or_default()).args(words).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(Error::other(line.to_owned())) }
}

/// Runs any command line. Returns its exit code and output.
pub(crate) fn started(line: &[&str]) -> (i32, String) {
    let output = Command::new(line[0]).args(&line[1..]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// Runs a command of the program as root without some capabilities. Returns its exit code and output.
pub(crate) fn output_without(capabilities: &str, arguments: &[&str]) -> (i32, String) {
    let limited = ["setpriv", "--bounding-set", capabilities, env!("CARGO_BIN_EXE_shortflow-linux")];
    started(&[&limited, arguments].concat())
}

/// A namespace with a process in it, by which commands find the namespace. The process ends with the test's process.
pub(crate) struct OccupiedNamespace {
    pub namespace: Namespace,
    pub process: Child,
}

impl OccupiedNamespace {
    pub(crate) fn of(namespace: Namespace) -> OccupiedNamespace {
        let process = namespace.within(|| Command::new("cat").stdin(Stdio::piped()).spawn()).unwrap();
        OccupiedNamespace { namespace, process }
    }
}

impl Drop for OccupiedNamespace {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// A cgroup of a test, from which Python sends.
pub(crate) struct Cgroup(pub String);

impl Cgroup {
    /// Makes a cgroup. If that is impossible, prints the reason and returns `None`.
    pub(crate) fn new(name: &str) -> Option<Cgroup> {
        let made = || {
            tool("python3 -V")?;
            let mounts = fs::read_to_string("/proc/self/mounts")?;
            let mut mounts = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
            let mount = mounts.find(|words| words[2] == "cgroup2").ok_or(Error::other("no cgroup2"))?;
            let path = format!("{}/shortflow-test-{}-{name}", mount[1], std::process::id());
            fs::create_dir(&path).map(|()| Cgroup(path))
        };
        made().inspect_err(|error| eprintln!("skipped: needs Python and a cgroup: {error}")).ok()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Returns the next connection. Waits at most 20 s for it and for each read from it, because senders may fail.
pub(crate) fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    const ACCEPT_TIMEOUT: Duration = Duration::from_secs(20);
    let (poll, mut ready) = (Poll::new()?, Vec::new());
    poll.add(listener, 0, READABLE)?;
    poll.wait(ACCEPT_TIMEOUT, &mut ready)?;
    ready.first().ok_or(ErrorKind::TimedOut)?;
    let (socket, _) = listener.accept()?;
    socket.set_read_timeout(Some(ACCEPT_TIMEOUT))?;
    Ok(socket)
}

/// Returns a counter from the contents of /proc/net/netstat or /proc/net/snmp, by the kernel's names of the table and
/// the counter. `TcpExt` has most counters of TCP, `Ip` the counters of packets.
pub(crate) fn counted(counters: &str, table: &str, name: &str) -> u64 {
    let mut lines = counters.lines().filter(|line| line.split(':').next() == Some(table));
    let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let mut both = names.split(' ').zip(values.split(' '));
    both.find(|(known, _)| *known == name).and_then(|(_, value)| value.parse().ok()).unwrap()
}

/// Makes a host whose sockets use `control`. `ecn` is its tcp_ecn.
pub(crate) fn host(number: u32, control: &str, ecn: &str) -> io::Result<Host> {
    let namespace = Namespace::new()?;
    let device = namespace.within(|| {
        let device = sys::tap("eth0")?;
        fs::write("/proc/sys/net/ipv4/tcp_ecn", ecn)?;
        fs::write("/proc/sys/net/ipv4/tcp_congestion_control", control)?;
        tool("ip link set dev eth0 address 02:53:46:00:00:01 arp off gso_max_segs 1 up")?;
        tool(&format!("ip address add {}/16 dev eth0", ipv4(HostId(number))))?;
        Ok(device)
    })?;
    Ok((namespace, device))
}

/// Runs `action` with the network of `scenario`, which may name [`LINKS`], between two hosts.
pub(crate) fn between<T>(
    scenario: &str,
    scheme: &str,
    hosts: [Host; 2],
    action: impl FnOnce(&[Namespace; 2]) -> io::Result<T>,
) -> io::Result<(T, Network)> {
    let scenario = Scenario::parse(scenario, "two-hosts", &[], &|_| Ok(LINKS.to_owned())).unwrap();
    let scheme = Scheme::named(scheme, &[]).unwrap();
    let network = Network::new(&scenario, (&scheme.queue, &scheme.host_queue), Seeds::new(1)).unwrap();
    let [(a, at_a), (b, at_b)] = hosts;
    let mut taps = Taps::new([(HostId(0), at_a), (HostId(1), at_b)])?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let switch = Switch::new(&scenario, network, &mut taps, 1500, Clock::starting_in(Span::ZERO));
        let switch = scope.spawn(|| switch.run(&stop));
        let done = action(&[a, b]);
        stop.store(true, Ordering::Relaxed);
        let (network, _) = switch.join().unwrap()?;
        Ok((done?, network))
    })
}
