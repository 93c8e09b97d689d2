//! Every way in which a connection gets its congestion control, with ECN agreed and refused. In each case the
//! connection has a law, its window grows, it survives a pause of its link, and its packets are ECN-capable if and
//! only if ECN was agreed. Needs root, iproute2 and the kernel's BTF; skipped without them, or while foreign programs
//! are loaded. `--nocapture` prints the table.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{Cgroup, Host, accept, host, tool};
use common::messages::{messages, roomy_host};
use common::wire::{Fate, Seen, carry};
use common::{LAWS, allowed_default, must, output_of, programs_guard};
use libbpf_rs::{Link, ObjectBuilder};
use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};
use serde_json::Value;
use shortflow_deploy::programs::CHOOSE;
use shortflow_testbed::switch::ipv4;
use shortflow_testbed::sys;
use shortflow_units::HostId;
use std::fs::{self, File};
use std::io::{self, Error, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The sender's port for the first of [`LAWS`], and the distance from it to the receiver's port, as in choose.bpf.c.
const FIRST_PORT: u16 = 5001;
const PEER: u16 = 100;
/// Segments of a transfer, and the number of data packets before its link pauses.
const SEGMENTS: usize = 300;
const BEFORE: usize = 60;
const PAUSE: Duration = Duration::from_millis(500);
const DELAY: Duration = Duration::from_millis(2);
const SEGMENT: u32 = 1448;
/// RFC 6928.
const INITIAL_WINDOW: u32 = 10;

/// Way in which the sender gets its congestion control. The sender connects, or from `Listener` on, is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Option,
    OptionInHandshake,
    OptionConnected,
    Connect4,
    Connect6,
    Bind4,
    Bind6,
    SockOpsTimeoutInit,
    SockOpsWindowInit,
    SockOpsConnect,
    SockOpsNeedsEcn,
    SockOpsState,
    SockOpsEstablished,
    SockOpsRoundTrip,
    SockOpsTimeout,
    SockOpsRetransmit,
    Route,
    Default,
    Listener,
    Accepted,
    RouteAccepted,
    DefaultAccepted,
    SockOpsListen,
    SockOpsStateAccepted,
    SockOpsAccepted,
}

impl Way {
    const ALL: [Way; 25] = [
        Way::Option,
        Way::OptionInHandshake,
        Way::OptionConnected,
        Way::Connect4,
        Way::Connect6,
        Way::Bind4,
        Way::Bind6,
        Way::SockOpsTimeoutInit,
        Way::SockOpsWindowInit,
        Way::SockOpsConnect,
        Way::SockOpsNeedsEcn,
        Way::SockOpsState,
        Way::SockOpsEstablished,
        Way::SockOpsRoundTrip,
        Way::SockOpsTimeout,
        Way::SockOpsRetransmit,
        Way::Route,
        Way::Default,
        Way::Listener,
        Way::Accepted,
        Way::RouteAccepted,
        Way::DefaultAccepted,
        Way::SockOpsListen,
        Way::SockOpsStateAccepted,
        Way::SockOpsAccepted,
    ];

    fn is_accepted(self) -> bool {
        self as usize >= Way::Listener as usize
    }

    /// Returns the program of choose.bpf.c that chooses, and the stage and state of linux/bpf.h in which it does.
    fn program(self) -> Option<(&'static str, u64, u64)> {
        const ESTABLISHED: u64 = 1;
        match self {
            Way::Connect4 => Some(("connect4", 0, 0)),
            Way::Connect6 => Some(("connect6", 0, 0)),
            Way::Bind4 => Some(("bind4", 0, 0)),
            Way::Bind6 => Some(("bind6", 0, 0)),
            Way::SockOpsTimeoutInit => Some(("sock_ops", 1, 0)),
            Way::SockOpsWindowInit => Some(("sock_ops", 2, 0)),
            Way::SockOpsConnect => Some(("sock_ops", 3, 0)),
            Way::SockOpsEstablished => Some(("sock_ops", 4, 0)),
            Way::SockOpsAccepted => Some(("sock_ops", 5, 0)),
            Way::SockOpsNeedsEcn => Some(("sock_ops", 6, 0)),
            Way::SockOpsTimeout => Some(("sock_ops", 8, 0)),
            Way::SockOpsRetransmit => Some(("sock_ops", 9, 0)),
            Way::SockOpsRoundTrip => Some(("sock_ops", 12, 0)),
            Way::SockOpsState | Way::SockOpsStateAccepted => Some(("sock_ops", 10, ESTABLISHED)),
            Way::SockOpsListen => Some(("sock_ops", 11, 0)),
            _ => None,
        }
    }
}

/// Keeps this process in a cgroup in which a program of choose.bpf.c chooses the congestion control.
struct Chosen {
    home: String,
    _link: Link,
    _cgroup: Cgroup,
}

impl Chosen {
    fn new((program, stage, state): (&str, u64, u64)) -> Option<Chosen> {
        let cgroup = Cgroup::new("ways")?;
        let mut object = ObjectBuilder::default().open_memory(CHOOSE).unwrap();
        let mut values = [stage, state].map(u64::to_ne_bytes).concat();
        for law in LAWS {
            values.extend(law.bytes().chain([0; 16]).take(16));
        }
        for mut map in object.maps_mut() {
            if map.name().to_string_lossy().ends_with("choice") {
                map.set_initial_value(&values).unwrap();
            }
        }
        let object = object.load().unwrap();
        let directory = File::open(&cgroup.0).unwrap();
        let program = object.progs_mut().find(|each| each.name() == program).unwrap();
        let link = program.attach_cgroup(directory.as_raw_fd()).unwrap();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap().to_owned();
        let home = format!("{}{own}", cgroup.0.rsplit_once('/').unwrap().0);
        enter(&cgroup.0);
        Some(Chosen { home, _link: link, _cgroup: cgroup })
    }
}

fn enter(cgroup: &str) {
    fs::write(format!("{cgroup}/cgroup.procs"), std::process::id().to_string()).unwrap();
}

impl Drop for Chosen {
    fn drop(&mut self) {
        enter(&self.home);
    }
}

/// Record of a sender's connection.
#[derive(Debug)]
struct Outcome {
    control: String,
    /// Time of the transfer, if it ended.
    took: Option<Duration>,
    /// Most segments in flight before the pause, and the window at the end.
    flight: u32,
    cwnd: u32,
    /// Number of ECN-capable data packets, and number of all data packets.
    ect: (usize, usize),
}

impl Outcome {
    /// True if the sender uses `control` and sent ECN-capable packets as agreed. This does not depend on time.
    fn has_law(&self, control: &str, agreed: bool) -> bool {
        self.control == control && agreed == (self.ect.0 > 0)
    }

    /// True if the sender has finished, grew its window before and after the pause, and if ECN was agreed, sent most
    /// packets ECN-capable. Other work on the host may disturb these numbers.
    fn is_in_time(&self, agreed: bool) -> bool {
        let (ect, all) = self.ect;
        // Not all packets are ECN-capable: retransmissions are not (RFC 3168 section 6.1.5).
        let says = !agreed || 2 * ect > all;
        self.took.is_some() && self.flight > INITIAL_WINDOW && self.cwnd >= 4 && says
    }
}

/// Makes two hosts, of which host 0 is the sender.
fn hosts(way: Way, law: &str, agreed: bool) -> io::Result<[Host; 2]> {
    let of_peer = match (agreed, way.is_accepted()) {
        (true, false) => (law, "1"),
        // A listener agrees to ECN for a SYN that follows RFC 3168, whatever the listener's control is.
        (true, true) => ("reno", "1"),
        (false, _) => ("reno", "0"),
    };
    let hosts = [host(0, allowed_default(), "1")?, host(1, of_peer.0, of_peer.1)?];
    hosts[0].0.within(|| {
        fs::write("/proc/sys/net/ipv4/tcp_slow_start_after_idle", "0")?;
        fs::write("/proc/sys/net/ipv4/tcp_wmem", "4096 8000000 8000000")?;
        if matches!(way, Way::Route | Way::RouteAccepted) {
            tool(&format!("ip route replace {}/32 dev eth0 congctl {law}", ipv4(HostId(1))))?;
        }
        if matches!(way, Way::Default | Way::DefaultAccepted) {
            let (code, text) = output_of(&["load", law, "--default"]);
            (code == 0).then_some(()).ok_or(Error::other(text))?;
        }
        Ok(())
    })?;
    Ok(hosts)
}

fn connect(to: u32, way: Option<Way>, law: &str, [own, other]: [u16; 2]) -> io::Result<TcpStream> {
    // An IPv4 address in an IPv6 socket calls the programs of IPv6, and gives packets of IPv4.
    let address = |host: u32| match way {
        Some(Way::Connect6 | Way::Bind6) => IpAddr::from(ipv4(HostId(host)).to_ipv6_mapped()),
        _ => ipv4(HostId(host)).into(),
    };
    let socket = sys::tcp_socket(address(to))?;
    let choose = |at: Way| -> io::Result<()> {
        if way == Some(at) { Ok(set_tcp_congestion(&socket, law)?) } else { Ok(()) }
    };
    rustix::net::bind(&socket, &SocketAddr::from((address(1 - to), own)))?;
    choose(Way::Option)?;
    sys::connect(&socket, SocketAddr::from((address(to), other)))?;
    choose(Way::OptionInHandshake)?;
    let begun = Instant::now();
    while socket.peer_addr().is_err() {
        if begun.elapsed() > Duration::from_secs(5) {
            return Err(Error::other("the handshake does not end"));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    choose(Way::OptionConnected)?;
    socket.set_nonblocking(false)?;
    Ok(socket)
}

/// Sends all segments, and waits until they are acknowledged. Returns the duration, `None` after 12 s.
fn send(socket: &mut TcpStream) -> io::Result<Option<Duration>> {
    let begun = Instant::now();
    socket.write_all(&vec![0; SEGMENTS * SEGMENT as usize])?;
    while begun.elapsed() < Duration::from_secs(12) {
        let info = sys::tcp_info(socket)?;
        if info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0 {
            return Ok(Some(begun.elapsed()));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(None)
}

/// Opens a connection. Returns its two ends, the sender first.
fn ends(hosts: &[Host; 2], way: Way, law: &str, port: u16) -> io::Result<(TcpStream, TcpStream)> {
    let server = usize::from(!way.is_accepted());
    let [of_server, of_client] = if way.is_accepted() { [port, port + PEER] } else { [port + PEER, port] };
    let listener = hosts[server].0.within(|| {
        let listener = TcpListener::bind((ipv4(HostId(server as u32)), of_server))?;
        if way == Way::Listener {
            set_tcp_congestion(&listener, law)?;
        }
        Ok(listener)
    })?;
    let way_of_client = (!way.is_accepted()).then_some(way);
    let client =
        hosts[1 - server].0.within(|| connect(server as u32, way_of_client, law, [of_client, of_server]))?;
    let accepted = accept(&listener)?;
    if way == Way::Accepted {
        set_tcp_congestion(&accepted, law)?;
    }
    Ok(if way.is_accepted() { (accepted, client) } else { (client, accepted) })
}

fn outcome(way: Way, law: &str, agreed: bool) -> io::Result<Outcome> {
    let hosts = hosts(way, law, agreed)?;
    let port = FIRST_PORT + LAWS.iter().position(|known| *known == law).unwrap_or(0) as u16;
    let mut paused: Option<Instant> = None;
    let fate = |number, _| {
        if number < BEFORE {
            return Fate::Pass;
        }
        if paused.get_or_insert_with(Instant::now).elapsed() < PAUSE { Fate::Drop } else { Fate::Pass }
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let wire = scope.spawn(|| carry([&hosts[0].1, &hosts[1].1], DELAY, fate, &stop));
        let done: io::Result<_> = (|| {
            let (mut sender, mut receiver) = ends(&hosts, way, law, port)?;
            sys::end_when_closed(&sender)?;
            sys::end_when_closed(&receiver)?;
            let reading = scope.spawn(move || while matches!(receiver.read(&mut [0; 65536]), Ok(1..)) {});
            let took = send(&mut sender)?;
            let cwnd = sys::tcp_info(&sender)?.tcpi_snd_cwnd;
            let control = tcp_congestion(&sender)?;
            drop(sender);
            let _ = reading.join();
            Ok((took, cwnd, control))
        })();
        stop.store(true, Ordering::Relaxed);
        let seen = wire.join().unwrap();
        let (took, cwnd, control) = done?;
        let (mut sent, mut acked, mut flight, mut ect) = (0, 0, 0, (0, 0));
        for each in seen {
            match each {
                Seen::Data { seq, length, is_ect, .. } => {
                    sent = sent.max(seq + length);
                    ect = (ect.0 + usize::from(is_ect), ect.1 + 1);
                    if ect.1 <= BEFORE {
                        flight = flight.max((sent - acked) / SEGMENT);
                    }
                }
                Seen::Ack { number, .. } => acked = acked.max(number),
            }
        }
        Ok(Outcome { control, took, flight, cwnd, ect })
    })
}

/// Runs all laws at once, each between hosts of its own. Returns their outcomes.
fn outcomes(way: Way, agreed: bool) -> Vec<(&'static str, Outcome)> {
    std::thread::scope(|scope| {
        let running = LAWS.map(|law| (law, scope.spawn(move || outcome(way, law, agreed).unwrap())));
        running.into_iter().map(|(law, running)| (law, running.join().unwrap())).collect()
    })
}

/// Returns the line of a cell of the table.
fn described(way: Way, agreed: bool, law: &str, one: &Outcome, verdict: &str) -> String {
    let ecn = if agreed { "agreed" } else { "refused" };
    let way = format!("{way:?}");
    let took = one.took.map_or("not done".to_owned(), |took| format!("{:.2} s", took.as_secs_f64()));
    let Outcome { control, flight, cwnd, ect: (ect, all), .. } = one;
    format!(
        "{way:21} {ecn:8} {law:10} {verdict} runs {control:10} cwnd before {flight:3} after {cwnd:3} ECT {ect:3}/{all:3} {took}"
    )
}

/// Without ECN a connection falls back to the namespace's former default. ATCP as in the paper reacts to losses only
/// and needs no ECN, so it does not fall back.
#[test]
fn every_connection_has_a_law_however_it_was_chosen() {
    let Some(_guard) = programs_guard() else { return };
    must(&[&["load"][..], &LAWS].concat());
    let (mut wrong, mut fallbacks) = (Vec::new(), 0);
    for way in Way::ALL {
        let _chosen = match way.program().map(Chosen::new) {
            Some(None) => return, // `new` has printed the reason
            chosen => chosen,
        };
        for agreed in [true, false] {
            let expected = |law| if agreed || law == "sf_atcp" { law } else { allowed_default() };
            let mut found = outcomes(way, agreed);
            // Up to three attempts, the rule of best_of_three() for numbers from real time. A connection with a wrong
            // law is wrong in every attempt.
            for _ in 0..2 {
                let has_laws = found.iter().all(|(law, one)| one.has_law(expected(law), agreed));
                if has_laws && !found.iter().all(|(_, one)| one.is_in_time(agreed)) {
                    found = outcomes(way, agreed);
                }
            }
            fallbacks += usize::from(!agreed);
            for (law, one) in found {
                let is_sound = one.has_law(expected(law), agreed) && one.is_in_time(agreed);
                let line = described(way, agreed, law, &one, if is_sound { "sound" } else { "WRONG" });
                println!("{line}");
                wrong.extend((!is_sound).then_some(line));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cells are wrong:\n{}", wrong.len(), wrong.join("\n"));
    let status: Value = serde_json::from_str(&must(&["status", "--json"])).unwrap();
    for control in status["loaded"].as_array().unwrap() {
        let counted = &control["fallbacks"].as_array().unwrap()[..];
        // At least one fallback for each way; repeated attempts count too.
        let is_counted = |one: &Value| {
            one["to"] == allowed_default()
                && one["reason"] == "no-ecn"
                && one["connections"].as_u64().unwrap() as usize >= fallbacks
        };
        assert!(if control["name"] == "sf_atcp" {
            counted.is_empty()
        } else {
            counted.iter().any(is_counted)
        });
    }
    let words = format!("since the first load run {}: the other end did not agree", allowed_default());
    assert!(must(&["status"]).contains(&words));
}

/// AccECN (RFC 9768) counts as ECN: the law counts marks, and no connection falls back.
#[test]
fn accurate_ecn_is_ecn() {
    let Some(_guard) = programs_guard() else { return };
    must(&[&["load"][..], &LAWS].concat());
    for law in LAWS {
        let hosts = [0, 1].map(|number| roomy_host(number, law).unwrap());
        let set = |host: &Host| host.0.within(|| fs::write("/proc/sys/net/ipv4/tcp_ecn", "3"));
        if let Err(error) = hosts.iter().try_for_each(set) {
            return eprintln!("skipped: this kernel does not offer AccECN (tcp_ecn = 3): {error}");
        }
        let fates = |number, is_new| if is_new && number % 8 == 1 { Fate::Mark } else { Fate::Pass };
        let trace = messages(hosts, SEGMENTS, &[], DELAY, fates).unwrap();
        assert_eq!(trace.counted("TcpExt", "TCPTimeouts"), 0);
        let ect = trace.seen.iter().filter(|seen| matches!(seen, Seen::Data { is_ect: true, .. })).count();
        assert_eq!(ect, SEGMENTS, "{law}");
        let of_law = trace.status.split(law).nth(1).unwrap();
        let is_marked = of_law.contains("alpha") && !of_law.contains("max 0.000\n");
        println!("{law} {}", of_law.lines().take(5).collect::<Vec<_>>().join(" |"));
        assert!(is_marked || law == "sf_atcp", "{law} {of_law}");
    }
    assert!(!must(&["status"]).contains("without ECN"));
}
