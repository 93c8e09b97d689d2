//! Two hosts, a namespace each, and a scenario's network between them.

use shortflow_linux::switch::{Clock, Switch, SwitchReport, Taps, ipv4};
use shortflow_linux::sys::{self, Namespace};
use shortflow_sim::engine::Seeds;
use shortflow_sim::net::Network;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_units::{HostId, Span};
use std::fs::{self, File};
use std::io::{self, Error};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};

/// A host and the far end of its TAP device.
pub type Host = (Namespace, File);

pub const SCENARIO: &str = r#"
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

/// What a tool prints.
pub fn tool(line: &str) -> io::Result<String> {
    let mut words = line.split(' ');
    let output = Command::new(words.next().unwrap_or_default()).args(words).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(Error::other(line.to_owned())) }
}

/// Exit code and output of a command, however it is started.
pub fn started(line: &[&str]) -> (i32, String) {
    let output = Command::new(line[0]).args(&line[1..]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// Exit code and output of a command as root without some capabilities.
pub fn said_without(capabilities: &str, arguments: &[&str]) -> (i32, String) {
    let limited = ["setpriv", "--bounding-set", capabilities, env!("CARGO_BIN_EXE_shortflow-linux")];
    started(&[&limited, arguments].concat())
}

/// A namespace with a process in it, by which commands find it.
pub struct Inhabited {
    pub namespace: Namespace,
    pub process: Child,
}

impl Inhabited {
    pub fn of(namespace: Namespace) -> Inhabited {
        let process = namespace.within(|| Command::new("sleep").arg("60").spawn()).unwrap();
        Inhabited { namespace, process }
    }
}

impl Drop for Inhabited {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// A host whose sockets use `control`, with the kernel's setting `ecn`.
pub fn host(number: u32, control: &str, ecn: &str) -> io::Result<Host> {
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

/// What `action` gives while the network of `scenario`, which may name [`LINKS`], lies between two hosts.
pub fn between<T>(
    scenario: &str,
    scheme: &str,
    hosts: [Host; 2],
    action: impl FnOnce(&[Namespace; 2]) -> io::Result<T>,
) -> io::Result<(T, Network, SwitchReport)> {
    let scenario = Scenario::parse(scenario, "two-hosts", &[], &|_| Ok(LINKS.to_owned())).unwrap();
    let scheme = Scheme::named(scheme, &[]).unwrap();
    let network = Network::new(&scenario, &scheme, Seeds::new(1)).unwrap();
    let [(a, at_a), (b, at_b)] = hosts;
    let mut taps = Taps::new([(HostId(0), at_a), (HostId(1), at_b)])?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let switch = Switch::new(&scenario, network, &mut taps, 1500, Clock::starting_in(Span::ZERO));
        let switch = scope.spawn(|| switch.run(&stop));
        let done = action(&[a, b]);
        stop.store(true, Ordering::Relaxed);
        let (network, report) = switch.join().unwrap()?;
        Ok((done?, network, report))
    })
}
