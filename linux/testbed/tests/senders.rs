//! The eBPF congestion controls on real connections, through the command line and the kernel. Needs root, iproute2
//! and the kernel's BTF; skipped without them, or while foreign programs are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{Cgroup, OccupiedNamespace, SCENARIO, accept, between, counted, host, tool};
use common::{LAWS, best_of_three, hides_connections, host_guard, must, output_of, programs_guard};
use shortflow_deploy::sys::Namespace;
use shortflow_sim::net::PortCounters;
use shortflow_testbed::switch::ipv4;
use shortflow_units::HostId;
use std::fs;
use std::io::{self, Error, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

const SIZE: usize = 4_000_000;
/// The payload of a packet of 1500 bytes.
const SEGMENT: usize = 1448;
const PORT: u16 = 7000;

/// State that a command must not change: registrations, mounts, pinned files, this namespace's default.
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

const ONE: Sender<'static> = Sender::Here { connections: 1 };

/// Record of one transfer.
struct Seen {
    took: Duration,
    /// Output of `ss` and of `status`, before the connections end.
    socket: String,
    status: String,
    /// The sender's /proc/net/netstat at the end.
    netstat: String,
    slow: PortCounters,
}

/// Sender in host 0.
enum Sender<'a> {
    /// From this process, over a number of connections.
    Here { connections: usize },
    /// From this process, one segment at a time.
    Segments { count: usize, every: Duration },
    /// From Python in `cgroup`, after the `statements` about `sock`.
    Python { cgroup: &'a str, statements: &'a str },
}

/// Sends `SIZE` bytes from host 0 to host 1. Returns the duration, and the state before the connections end.
fn transfer(hosts: &[Namespace; 2], sender: &Sender<'_>) -> io::Result<(Duration, [String; 3])> {
    let listener = hosts[1].within(|| TcpListener::bind((ipv4(HostId(1)), PORT)))?;
    let (connections, each) = match sender {
        Sender::Here { connections } => (*connections, SIZE / connections),
        Sender::Segments { count, .. } => (1, count * SEGMENT),
        Sender::Python { .. } => (1, SIZE),
    };
    let start = Instant::now();
    let (arrived, at_end) = std::sync::mpsc::channel();
    let (seen, at_sight) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let receiving = scope.spawn(move || {
            let mut sockets = receive(&listener, connections, each)?;
            let _ = arrived.send(start.elapsed());
            let _ = at_sight.recv();
            sockets.iter_mut().try_for_each(|socket| socket.write_all(&[1]))
        });
        let sending = scope.spawn(|| {
            hosts[0].within(|| match sender {
                Sender::Here { connections } => send(*connections),
                Sender::Segments { count, every } => send_segments(*count, *every),
                Sender::Python { cgroup, statements } => send_by_python(cgroup, statements),
            })
        });
        let took = at_end.recv_timeout(Duration::from_secs(20));
        let socket = hosts[0].within(|| tool("ss -tin state established"))?;
        let netstat = hosts[0].within(|| fs::read_to_string("/proc/thread-self/net/netstat"))?;
        let status = output_of(&["status"]).1;
        drop(seen);
        sending.join().unwrap()?;
        receiving.join().unwrap()?;
        Ok((took.map_err(Error::other)?, [socket, status, netstat]))
    })
}

/// Accepts `connections` connections and reads `each` bytes from each.
fn receive(listener: &TcpListener, connections: usize, each: usize) -> io::Result<Vec<TcpStream>> {
    let reading = (0..connections).map(|_| {
        let socket = accept(listener)?;
        Ok(std::thread::spawn(move || {
            io::copy(&mut (&socket).take(each as u64), &mut io::sink())?;
            Ok(socket)
        }))
    });
    let reading: Vec<_> = reading.collect::<io::Result<_>>()?;
    reading.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// Opens `connections` connections and sends an equal share of `SIZE` bytes on each.
fn send(connections: usize) -> io::Result<()> {
    let sockets: Vec<TcpStream> =
        (0..connections).map(|_| TcpStream::connect((ipv4(HostId(1)), PORT))).collect::<io::Result<_>>()?;
    std::thread::scope(|scope| {
        let sending: Vec<_> = sockets
            .iter()
            .map(|mut socket| {
                scope.spawn(move || {
                    socket.write_all(&vec![0; SIZE / connections])?;
                    socket.read_exact(&mut [0])
                })
            })
            .collect();
        sending.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}

fn send_segments(count: usize, every: Duration) -> io::Result<()> {
    let mut socket = TcpStream::connect((ipv4(HostId(1)), PORT))?;
    for _ in 0..count {
        socket.write_all(&[0; SEGMENT])?;
        std::thread::sleep(every);
    }
    socket.read_exact(&mut [0])
}

fn send_by_python(cgroup: &str, statements: &str) -> io::Result<()> {
    let helper = concat!(env!("CARGO_MANIFEST_DIR"), "/../../linux/shortflow_linux");
    let connect = format!("sock = socket.create_connection(('{}', {PORT}))", ipv4(HostId(1)));
    let script = format!(
        "import socket, sys\nsys.path.insert(0, '{helper}')\nfrom sockets import *\n\
         {connect}\n{statements}\nsock.sendall(bytes({SIZE}))\nsock.recv(1)\n"
    );
    let enter = format!("echo $$ >{cgroup}/cgroup.procs && exec python3 -c \"$0\"");
    let status = Command::new("sh").args(["-c", &enter, &script]).status()?;
    if status.success() { Ok(()) } else { Err(Error::other("the Python sender failed")) }
}

/// Transfers between hosts that use `control`, through a queue that marks above `mark_above`. `receiver_ecn` is the
/// receiver's tcp_ecn.
fn through_the_switch(
    control: &str,
    receiver_ecn: &str,
    mark_above: &str,
    sender: &Sender<'_>,
) -> io::Result<Seen> {
    through(&SCENARIO.replace("20pkt", mark_above), control, receiver_ecn, sender)
}

/// [`through_the_switch`] with any scenario.
fn through(scenario: &str, control: &str, receiver_ecn: &str, sender: &Sender<'_>) -> io::Result<Seen> {
    // Listeners whose own control needs no ECN refuse ECN to a SYN that is itself ECT.
    let listening = if receiver_ecn == "0" { "reno" } else { control };
    let hosts = [host(0, control, "1")?, host(1, listening, receiver_ecn)?];
    let (seen, network) = between(scenario, "tcp-ecn", hosts, |hosts| transfer(hosts, sender))?;
    let (took, [socket, status, netstat]) = seen;
    Ok(Seen { took, socket, status, netstat, slow: *network.ports()[2].counters() })
}

impl Seen {
    /// Mean number of packets in the slow link's queue while the link is busy.
    fn mean_queue(&self) -> f64 {
        self.slow.packet_time.as_secs_f64() / self.slow.busy.as_secs_f64()
    }

    /// A counter of the sender's TCP, by the kernel's name for it.
    fn counted(&self, name: &str) -> u64 {
        counted(&self.netstat, "TcpExt", name)
    }
}

/// 4 MB at 50 Mbit/s take 0.64 s, and 0.663 s with headers. With marks above 20 packets the queue of the kernel's own
/// Reno stays far below the buffer of 100 packets, and nothing is lost.
#[test]
fn the_slow_link_sets_the_pace_and_its_queue_marks() {
    let Some(_guard) = host_guard() else { return };
    best_of_three(|| {
        let Seen { took, slow, .. } = through_the_switch("reno", "1", "20pkt", &ONE).unwrap();
        eprintln!("{took:?}; {slow:?}");
        assert!((0.66..0.9).contains(&took.as_secs_f64()), "{took:?}");
        assert!(slow.marked > 0 && slow.drops.total() == 0, "{slow:?}");
        assert!((20..100).contains(&slow.peak.packets), "{slow:?}");
    });
}

/// 4 MB at 50 Mbit/s take 0.663 s with headers. Marks above 20 packets keep the queue below its limit of 100 packets.
#[test]
fn every_law_fills_a_marking_link_and_leaves_nothing_behind() {
    let Some(_guard) = programs_guard() else { return };
    let before = host_state();
    let names: Vec<&str> = [&["load"][..], &LAWS].concat();
    must(&names);
    for law in LAWS {
        let seen = best_of_three(|| {
            let seen = through_the_switch(law, "1", "20pkt", &ONE).unwrap();
            assert!((0.66..1.0).contains(&seen.took.as_secs_f64()), "{law}: {:?}", seen.took);
            seen
        });
        let slow = seen.slow;
        eprintln!("{law}: {:?} {slow:?}", seen.took);
        assert!(seen.socket.contains(law) && seen.socket.contains("delivered_ce"), "{}", seen.socket);
        let has_both = shows(&seen.status, law, "connections  2") && shows(&seen.status, law, "alpha ");
        assert!(has_both, "{}", seen.status);
        assert!(slow.marked > 0 && slow.drops.total() == 0, "{law}: {slow:?}");
        assert!(slow.peak.packets < 100, "{law}: {slow:?}");
    }
    must(&["unload"]);
    assert_eq!(host_state(), before);
}

/// 0.5 % of 2,763 packets are lost, 14 on average. Fast retransmit repairs the losses while other packets flow.
#[test]
fn lost_packets_are_sent_again_without_a_timeout() {
    let Some(_guard) = programs_guard() else { return };
    let names: Vec<&str> = [&["load"][..], &LAWS].concat();
    must(&names);
    let scenario = format!("{SCENARIO}\n[faults]\nlinks = [\"s0->h1\"]\nloss = 0.005\n");
    for law in LAWS {
        best_of_three(|| {
            let seen = through(&scenario, law, "1", &ONE).unwrap();
            let counts = ["TCPTimeouts", "TCPFastRetrans", "TCPSackRecovery", "TCPLossProbes"]
                .map(|name| seen.counted(name));
            eprintln!("{law}: {:?}, timeouts, retransmissions, recoveries, probes: {counts:?}", seen.took);
            assert!(counts[0] == 0 && counts[1] >= 3, "{law}: {counts:?} {}", seen.socket);
            assert!((0.66..3.0).contains(&seen.took.as_secs_f64()), "{law}: {:?}", seen.took);
        });
    }
}

/// No segment follows the lost one. The kernel's tail loss probe repairs the loss before the timeout, and this halves
/// the window too.
#[test]
fn a_lost_tail_halves_the_window() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    best_of_three(|| {
        let scenario = format!("{SCENARIO}\n[faults]\nlinks = [\"s0->h1\"]\nloss = 0.03\n");
        let sender = Sender::Segments { count: 12, every: Duration::from_millis(300) };
        let seen = through(&scenario, "sf_dctcp", "1", &sender).unwrap();
        let counts = ["TCPTimeouts", "TCPFastRetrans", "TCPLossProbeRecovery"].map(|name| seen.counted(name));
        eprintln!(
            "{:?}, timeouts, retransmissions, repairs by a probe: {counts:?} {}",
            seen.took, seen.socket
        );
        assert!(counts[..2] == [0, 0] && counts[2] >= 1, "{counts:?} {}", seen.socket);
        assert!(seen.socket.contains(" ssthresh:2 "), "{}", seen.socket);
        assert!(seen.took.as_secs_f64() < 4.5, "{:?}", seen.took);
    });
}

/// Returns the part of the output of `status` that is about `law`.
fn status_of<'a>(status: &'a str, law: &str) -> &'a str {
    status.split("sf_").find(|part| part.starts_with(&law[3..])).unwrap_or_default()
}

/// True if `status` says `text` about a law's connections, or if the kernel hides them.
fn shows(status: &str, law: &str, text: &str) -> bool {
    hides_connections(status) || status_of(status, law).contains(text)
}

/// A receiver that refuses ECN echoes no marks, so the connection falls back to the former default.
#[test]
fn without_ecn_the_former_default_takes_over() {
    let Some(_guard) = programs_guard() else { return };
    let former = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    must(&["load", "sf_dctcp"]);
    let seen = through_the_switch("sf_dctcp", "0", "20pkt", &ONE).unwrap();
    assert!(seen.socket.contains(&format!("\t {} ", former.trim())), "{}", seen.socket);
    assert_eq!(seen.slow.marked, 0, "packets are not ECN-capable");
    assert!(shows(&seen.status, "sf_dctcp", "connections  0"), "{}", seen.status);
}

/// Forty windows of two segments make a queue of about 70 packets. FaST's windows fall below one segment.
#[test]
fn many_windows_of_fast_keep_the_queue_short() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp", "sf_fast"]);
    best_of_three(|| {
        let mean = |law| {
            let seen = through_the_switch(law, "1", "4pkt", &Sender::Here { connections: 40 }).unwrap();
            eprintln!("{law}: {:?} {:?}\n{}", seen.took, seen.slow, status_of(&seen.status, law));
            seen.mean_queue()
        };
        let (dctcp, fast) = (mean("sf_dctcp"), mean("sf_fast"));
        assert!(fast < 0.7 * dctcp, "{fast} against {dctcp} packets");
    });
}

/// The class of a port reaches the law. With ns = 0, short flows of xDCTCP do not slow down, and the queue stays as
/// slow start left it.
#[test]
fn the_class_of_a_port_decides_the_cut() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_xdctcp", "--param", "ns=0"]);
    best_of_three(|| {
        let mean = |class: &str| {
            assert_eq!(output_of(&["class", class]), (0, format!("port {PORT}: {}\n", &class[5..])));
            let seen = through_the_switch("sf_xdctcp", "1", "20pkt", &ONE).unwrap();
            assert!(shows(&seen.status, "sf_xdctcp", "2 with a class"), "{}", seen.status);
            seen.mean_queue()
        };
        let (short, long) = (mean("7000=short"), mean("7000=long"));
        assert!(short > 1.5 * long, "{short} and {long} packets");
    });
}

/// Applications state class, deadline and size by setsockopt(2). This needs a process in the cgroup.
#[test]
fn applications_of_a_cgroup_set_sizes_deadlines_and_classes() {
    let Some(_guard) = programs_guard() else { return };
    let before = host_state();
    let (Some(inside), Some(outside)) = (Cgroup::new("in"), Cgroup::new("out")) else { return };
    let arguments = ["load", "sf_xdctcp", "--param", "ns=0", "--cgroup", &inside.0];
    must(&arguments);
    let statements = "assert (get_size(sock), get_deadline(sock), get_class(sock)) == (None, None, None)
set_size(sock, 4000000)
set_deadline(sock, 0.5)
set_class(sock, 'short')
assert (get_size(sock), get_class(sock)) == (4000000, 'short')
assert 0 < get_deadline(sock) <= 0.5
with socket.create_server(('', 0)) as server:
    set_class(server, 'long')
    set_deadline(server, None)
    try:
        set_deadline(server, 0.5)
        assert False
    except OSError as error:
        assert error.errno == 22";
    let sender = Sender::Python { cgroup: &inside.0, statements };
    let seen = through_the_switch("sf_xdctcp", "1", "20pkt", &sender).unwrap();
    let known = "2; 1 with a size; 1 with a deadline; 1 with a class";
    assert!(shows(&seen.status, "sf_xdctcp", known), "{}", seen.status);
    let short = seen.mean_queue();
    let statements =
        "for say in lambda: set_class(sock, 'short'), lambda: get_class(sock):\n    try:\n        say()\n        assert False
    except OSError as error:\n        assert '--cgroup' in str(error)";
    let sender = Sender::Python { cgroup: &outside.0, statements };
    let seen = through_the_switch("sf_xdctcp", "1", "20pkt", &sender).unwrap();
    assert!(!seen.status.contains("with a class"), "{}", seen.status);
    assert!(short > 1.5 * seen.mean_queue(), "{short} and {} packets", seen.mean_queue());
    must(&["unload"]);
    drop((inside, outside));
    assert_eq!(host_state(), before);
}

/// 4 MB at the application's limit of 2.5 MB/s take 1.6 s, on a link of 6.25 MB/s.
#[test]
fn an_application_limits_its_rate() {
    let Some(_guard) = programs_guard() else { return };
    let Some(cgroup) = Cgroup::new("rate") else { return };
    must(&["load", "sf_dctcp"]);
    let statements =
        "SO_MAX_PACING_RATE = 47\nsock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 2500000)";
    let sender = Sender::Python { cgroup: &cgroup.0, statements };
    let seen = through_the_switch("sf_dctcp", "1", "20pkt", &sender).unwrap();
    assert!(seen.took.as_secs_f64() > 1.5, "{:?} {}", seen.took, seen.socket);
}

/// Our receivers wait for a second segment for two timer ticks, at most 20 ms. Reno's receivers wait 40 ms. A busy
/// host adds to both.
#[test]
fn a_single_segment_is_acknowledged_soon() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    best_of_three(|| {
        let [ours, reno] = ["sf_dctcp", "reno"].map(|control| delayed_ack(control).unwrap().as_secs_f64());
        eprintln!("acknowledged after {:.1} ms, by Reno's after {:.1} ms", ours * 1e3, reno * 1e3);
        assert!(ours < 0.8 * reno, "{ours} {reno}");
    });
}

/// Returns the shortest delay of the ACK of a single segment.
fn delayed_ack(control: &str) -> io::Result<Duration> {
    Namespace::new()?.within(|| {
        tool("ip link set lo up")?;
        fs::write("/proc/sys/net/ipv4/tcp_ecn", "1")?;
        fs::write("/proc/sys/net/ipv4/tcp_congestion_control", control)?;
        let listener = TcpListener::bind(("127.0.0.1", PORT))?;
        let mut sending = TcpStream::connect(("127.0.0.1", PORT))?;
        let _receiving = listener.accept()?;
        sending.set_nodelay(true)?;
        // The fifth column has the bytes that wait for an ACK.
        let waits = || {
            let sockets = fs::read_to_string("/proc/thread-self/net/tcp")?;
            let mut queues = sockets.lines().skip(1).filter_map(|line| line.split_whitespace().nth(4));
            Ok::<_, Error>(queues.any(|queue| !queue.starts_with("00000000")))
        };
        let mut times = Vec::new();
        for _ in 0..40 {
            let start = Instant::now();
            sending.write_all(&[1])?;
            while waits()? {
                std::thread::sleep(Duration::from_micros(200));
            }
            times.push(start.elapsed());
        }
        // The kernel acknowledges the first segments of a connection at once, so they do not count.
        Ok(times[20..].iter().copied().min().unwrap_or_default())
    })
}

/// `unload` restores the default of a namespace, also from another namespace.
#[test]
fn the_default_from_before_comes_back() {
    const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
    let Some(_guard) = programs_guard() else { return };
    let before = host_state();
    let host = OccupiedNamespace::of(Namespace::new().unwrap());
    let default = || host.namespace.within(|| fs::read_to_string(SYSCTL)).unwrap();
    host.namespace.within(|| fs::write(SYSCTL, "reno")).unwrap();
    for law in ["sf_dctcp", "sf_l2dct"] {
        let loaded = host.namespace.within(|| Ok(output_of(&["load", law, "--default"]))).unwrap();
        assert_eq!((loaded.0, default().trim()), (0, law), "{}", loaded.1);
    }
    must(&["unload"]);
    assert_eq!(default().trim(), "reno");
    assert_eq!(host_state(), before);
}

#[test]
fn loading_twice_changes_nothing_and_other_parameters_replace() {
    let Some(_guard) = programs_guard() else { return };
    let before = host_state();
    for (arguments, says) in [
        (&["load", "dctcp"][..], "sf_dctcp: loaded: g=0.0625"),
        (&["load", "sf_dctcp"], "sf_dctcp: already loaded: g=0.0625"),
        (&["load", "dctcp", "--param", "g=0.25"], "sf_dctcp: replaced for new connections: g=0.25"),
        (&["status"], "parameters   g=0.25"),
        (&["unload", "sf_fast"], "sf_fast: not loaded"),
        (&["unload", "dctcp"], "sf_dctcp: unloaded"),
        (&["unload"], "nothing is loaded"),
    ] {
        let (code, text) = output_of(arguments);
        assert!(code == 0 && text.contains(says), "{arguments:?}: {text}");
    }
    assert_eq!(host_state(), before);
}

/// `load` is killed after 0 to 132 ms. The next command removes everything that it left.
#[test]
fn a_killed_load_leaves_nothing_that_the_next_command_does_not_remove() {
    let Some(_guard) = programs_guard() else { return };
    let before = host_state();
    for step in 0..12 {
        let arguments = ["load", "sf_dctcp", "sf_l2dct", "--default"];
        let mut load = Command::new(env!("CARGO_BIN_EXE_shortflow-linux")).args(arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(step * 12));
        let _ = load.kill();
        load.wait().unwrap();
        must(&["unload"]);
        assert_eq!(host_state(), before, "killed after {} ms", step * 12);
    }
}
