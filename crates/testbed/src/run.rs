//! A run: makes the hosts, lets them send while the network lies between them, and puts together what both have seen.

use crate::awake::Awake;
use crate::congestion::{self, Control};
use crate::host::{CARD, Host, TcpSettings};
use crate::measured::Measured;
use crate::plan::{Plan, Transfer};
use crate::programs::Lock;
use crate::switch::{Clock, Switch, SwitchReport, Taps};
use crate::sys;
use crate::traffic::{Traffic, TrafficReport};
use shortflow_deploy::Failure;
use shortflow_deploy::sys::Namespace;
use shortflow_sim::engine::Seeds;
use shortflow_sim::net::Network;
use shortflow_sim::outcome::{Counters, DropRow, Outcome, PortRow};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::theory::fct::ideal_fct;
use shortflow_units::{Bytes, HostId, Span};
use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Priority of the thread that writes and reads, below that of the switch.
const TRAFFIC_PRIORITY: i32 = 40;
/// Time for threads to get ready.
const HEAD_START: Span = Span::from_millis(100);
/// Open files: two ends for each connection, and some more.
const OPEN_FILES: u64 = 40_000;

/// Runs `scheme` in `scenario` with the random draws of `seed`, with a congestion control of the kernel in
/// place of the scheme's own if one is named. Processors are kept awake, unless they `may_sleep`.
///
/// # Errors
/// Fails if the scenario wants what a kernel does not have, or if the host lacks something.
pub fn run(
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    congestion: Option<&str>,
    may_sleep: bool,
) -> Result<Measured, Failure> {
    let bed = Bed::new(scenario, scheme, seed, congestion)?;
    let Bed { plan, tcp, control, lock, namespaces, mut taps } = bed;
    sys::raise_open_files(OPEN_FILES);
    let network = || {
        let network = Network::new(scenario, (&scheme.queue, &scheme.host_queue), Seeds::new(seed));
        network.map_err(|error| Failure::Input(format!("topology: {error}")))
    };
    let traffic = {
        let _lock = lock;
        Traffic::new(scenario, &plan, &namespaces, &tcp, &control)
    };
    let mut traffic = traffic.map_err(Failure::host("testbed: sockets"))?;
    if !scenario.tcp.handshake {
        // Connections are made over a network of their own, so that the measured one begins at time zero.
        let clock = Clock::starting_in(Span::ZERO);
        between(Switch::new(scenario, network()?, &mut taps, tcp.mtu as usize, clock), || traffic.connect())?;
    }
    let _awake = (!may_sleep).then(Awake::all);
    let clock = Clock::starting_in(HEAD_START);
    let switch = Switch::new(scenario, network()?, &mut taps, tcp.mtu as usize, clock);
    let ((network, switch), report) = between(switch, || {
        sys::real_time(TRAFFIC_PRIORITY);
        traffic.run(clock).map_err(Failure::host("testbed: a connection"))
    })?;
    Ok(measured(scenario, &plan, &network, switch, report, control.name()))
}

/// Finds out whether such a run could begin, and sends nothing.
///
/// # Errors
/// Fails as [`run`] does.
pub fn check(
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    congestion: Option<&str>,
) -> Result<(), Failure> {
    Bed::new(scenario, scheme, seed, congestion).map(drop)
}

/// Why a host cannot be made.
fn refused(error: io::Error) -> Failure {
    let way_out = match error.kind() {
        io::ErrorKind::PermissionDenied => "; this takes CAP_SYS_ADMIN and CAP_NET_ADMIN; run it as root",
        _ => "",
    };
    Failure::Host(format!("testbed: {error}{way_out}"))
}

/// Hosts that have sent nothing.
struct Bed {
    plan: Plan,
    tcp: TcpSettings,
    control: Control,
    lock: Option<Lock>,
    namespaces: HashMap<HostId, Namespace>,
    taps: Taps,
}

impl Bed {
    /// The hosts that take part in these flows.
    fn new(
        scenario: &Scenario,
        scheme: &Scheme,
        seed: u64,
        congestion: Option<&str>,
    ) -> Result<Bed, Failure> {
        let plan = Plan::of(scenario, seed)?;
        let tcp = TcpSettings::of(scenario, scheme)?;
        let of_kernel = congestion::of_kernel(scheme, congestion)?;
        let probe = sys::tcp_socket(Ipv4Addr::LOCALHOST.into()).and_then(|socket| sys::tcp_info(&socket));
        probe.map_err(Failure::host("testbed"))?;
        let (control, lock) = Control::of(scheme, of_kernel)?;
        let rates = scenario.graph.access_links();
        let (mut namespaces, mut devices) = (HashMap::new(), Vec::new());
        for host in plan.hosts() {
            let made = Host::new(host, rates[host.index()].1, &tcp).map_err(refused)?;
            let Host { namespace, device } = made;
            namespace.within(|| Ok(control.mark_dscp(CARD))).map_err(Failure::host("testbed"))??;
            namespaces.insert(host, namespace);
            devices.push((host, device));
        }
        let taps = Taps::new(devices).map_err(Failure::host("testbed"))?;
        Ok(Bed { plan, tcp, control, lock, namespaces, taps })
    }
}

/// Runs an action while the switch runs in a thread and, on two processors or more, on one of its own: kernel work of
/// hosts, which no priority interrupts, must not delay the switch.
fn between<T: Send>(
    switch: Switch<'_>,
    action: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<((Network, SwitchReport), T), Failure> {
    let stop = AtomicBool::new(false);
    let processors = sys::processors();
    let (of_hosts, of_switch) = processors.split_at(processors.len().saturating_sub(1));
    let pin = |processors: &[usize]| {
        // On other processors it would run too, only less evenly.
        let _ = sys::run_on(processors);
    };
    std::thread::scope(|scope| {
        let switch = scope.spawn(|| {
            pin(of_switch);
            switch.run(&stop)
        });
        let done = scope.spawn(|| {
            pin(if of_hosts.is_empty() { of_switch } else { of_hosts });
            action()
        });
        let done = done.join();
        stop.store(true, Ordering::Relaxed);
        let switched = switch.join();
        let died = |_| Failure::Host("testbed: a thread died".to_owned());
        Ok((switched.map_err(died)?.map_err(Failure::host("testbed: the switch"))?, done.map_err(died)??))
    })
}

/// Hosts and network together as one result.
fn measured(
    scenario: &Scenario,
    plan: &Plan,
    network: &Network,
    mut switch: SwitchReport,
    traffic: TrafficReport,
    congestion: &str,
) -> Measured {
    let TrafficReport { rows: mut flows, numbers, mut samples, unfinished, stalls, start_error, end } =
        traffic;
    for (row, number) in flows.iter_mut().zip(&numbers) {
        let number_or_any = number.unwrap_or_default();
        let path = network.path(row.source, row.destination, number_or_any);
        let back = network.path(row.destination, row.source, number_or_any);
        let tcp = &scenario.tcp;
        row.ideal = (row.size != Bytes::MAX).then(|| ideal_fct(row.size, tcp.mss, tcp.header, &path, &back));
        let edges = |edge: usize| switch.edges.get(edge)?.get(number.as_ref()?);
        let at = |edge| edges(edge).copied().unwrap_or_default();
        if let Some(tally) = number.and_then(|number| switch.tallies.get(&number)) {
            (row.left, row.waited_at_host) = (tally.left, tally.waited_at_host);
            (row.packets, row.marks, row.waited) = (tally.arrived, tally.marks, tally.waited);
            row.measured = at(1).since(at(0));
        }
    }
    samples.append(&mut switch.samples);
    samples.sort_by_key(|sample| sample.at);
    let seconds = scenario.duration.saturating_sub(scenario.warmup).as_secs_f64();
    let in_drain = |transfer: &&Transfer| !transfer.counted && transfer.arrival.at < end;
    let drained = || plan.transfers.iter().filter(in_drain).map(|transfer| transfer.arrival.size);
    let counters = Counters {
        events: 0, // a kernel does not count any
        packet_hops: network.hops(),
        packets_sent: network.sent(),
        packets_delivered: network.delivered(),
        packets_dropped: network.dropped(),
        packets_in_flight: network.in_flight(),
        unfinished: unfinished as u64,
        connections_peak: plan.connections.len() as u64,
        drain_flows: drained().count() as u64,
        drain_bytes: drained().filter(|size| *size != Bytes::MAX).map(Bytes::get).sum(),
    };
    let (tasks, ports, drops) = (Vec::new(), PortRow::all(network, seconds), DropRow::all(network));
    let outcome = Outcome { flows, drain_flows: Vec::new(), tasks, samples, ports, drops, counters, end };
    Measured { outcome, switch, host_stalls: stalls, start_error, congestion: congestion.to_owned() }
}
