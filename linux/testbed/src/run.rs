//! A run: makes the hosts and the network, sends the flows, and merges the counters of hosts and network.

use crate::awake::Awake;
use crate::card::{self, CARD, Card};
use crate::congestion::{self, Control};
use crate::host::{Host, TcpSettings};
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
use shortflow_sim::probe::{Samples, Subject};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::theory::fct::{Path, ideal_fct};
use shortflow_units::{Bytes, HostId, Instant, NodeId, PortId, Rate, Span};
use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Real-time priority of the hosts' thread, below the switch's.
const TRAFFIC_PRIORITY: i32 = 40;
/// Time between the start of the threads and time zero of the run.
const HEAD_START: Span = Span::from_millis(100);
/// Limit of open files: two sockets for each connection, and a reserve.
const OPEN_FILES: u64 = 40_000;

/// Ratio of the rate of a host's port to the rate of its measured card. The port is faster than the card, so the
/// queue is in the card.
const PORT_SPEEDUP: u64 = 10;

/// Parts of the kernel that replace the scheme's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice<'a> {
    /// Congestion control.
    pub congestion: Option<&'a str>,
    /// Qdisc inside the hosts' cards.
    pub card: Option<&'a str>,
}

/// Runs `scheme` in `scenario` with the random draws of `seed` and the kernel's parts in `choice`. Processors are
/// kept awake, unless they `may_sleep`.
/// Fails if the kernel cannot run the scenario, or if the host lacks a requirement.
pub fn run(
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    choice: Choice<'_>,
    may_sleep: bool,
) -> Result<Measured, Failure> {
    let testbed = Testbed::new(scenario, scheme, seed, choice)?;
    let Testbed { plan, tcp, control, lock, namespaces, mut taps } = testbed;
    sys::raise_open_files(OPEN_FILES);
    let network = || {
        let network = Network::new(scenario, (&scheme.queue, &scheme.host_queue), Seeds::new(seed));
        let mut network = network.map_err(|error| Failure::Input(format!("topology: {error}")))?;
        for port in network.ports_between(&cards(scenario)) {
            let rate = network.ports()[port.index()].link().0;
            network.set_rate(port, Rate::new(rate.as_bps() * PORT_SPEEDUP).unwrap_or(rate));
        }
        Ok(network)
    };
    let traffic = {
        let _lock = lock;
        Traffic::new(scenario, &plan, &namespaces, &tcp, &control)
    };
    let mut traffic = traffic.map_err(Failure::host("testbed: sockets"))?;
    if !scenario.tcp.handshake {
        // Handshakes cross a network of their own, so that the measured network is empty at time zero.
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

/// Checks that the run can start; sends nothing.
/// Fails as [`run`] does.
pub fn check(scenario: &Scenario, scheme: &Scheme, seed: u64, choice: Choice<'_>) -> Result<(), Failure> {
    Testbed::new(scenario, scheme, seed, choice).map(drop)
}

/// Returns the sampled ports of hosts. Their queues are in the kernel's cards.
fn cards(scenario: &Scenario) -> Vec<(NodeId, NodeId)> {
    let is_sampled = scenario.measure.sample_every.is_some();
    let of_host = |ends: &&(NodeId, NodeId)| is_sampled && scenario.graph.is_host(ends.0);
    scenario.measure.ports.iter().filter(of_host).copied().collect()
}

/// Describes why a host cannot be made, with the remedy if rights are missing.
fn host_failure(error: io::Error) -> Failure {
    let way_out = match error.kind() {
        io::ErrorKind::PermissionDenied => "; needs CAP_SYS_ADMIN and CAP_NET_ADMIN: run as root",
        _ => "",
    };
    Failure::Host(format!("testbed: {error}{way_out}"))
}

/// Hosts, cards and congestion control of a run that has not begun.
struct Testbed {
    plan: Plan,
    tcp: TcpSettings,
    control: Control,
    lock: Option<Lock>,
    namespaces: HashMap<HostId, Namespace>,
    taps: Taps,
}

impl Testbed {
    /// Makes every host that sends or receives.
    fn new(scenario: &Scenario, scheme: &Scheme, seed: u64, choice: Choice<'_>) -> Result<Testbed, Failure> {
        let plan = Plan::of(scenario, seed)?;
        let tcp = TcpSettings::of(scenario, scheme)?;
        let kernel_control = congestion::kernel_control(scheme, choice.congestion)?;
        let probe = sys::tcp_socket(Ipv4Addr::LOCALHOST.into()).and_then(|socket| sys::tcp_info(&socket));
        probe.map_err(Failure::host("testbed"))?;
        let (control, lock) = Control::of(scheme, kernel_control)?;
        let rates = scenario.graph.access_links();
        let (mut namespaces, mut devices) = (HashMap::new(), Vec::new());
        let (mut cards, measured) = (HashMap::new(), cards(scenario));
        for host in plan.hosts() {
            let is_measured = measured.iter().any(|(from, _)| from.0 == host.0);
            let qdiscs = card::qdiscs(rates[host.index()].1, tcp.mtu, choice.card, is_measured);
            let made = Host::new(host, &qdiscs, &tcp).map_err(host_failure)?;
            let Host { namespace, device } = made;
            namespace.within(|| Ok(control.mark_dscp(CARD))).map_err(Failure::host("testbed"))??;
            if is_measured {
                cards.insert(host, namespace.within(Card::open).map_err(Failure::host("testbed"))?);
            }
            namespaces.insert(host, namespace);
            devices.push((host, device));
        }
        let taps = Taps::new(devices).map_err(Failure::host("testbed"))?.with_cards(cards);
        Ok(Testbed { plan, tcp, control, lock, namespaces, taps })
    }
}

/// Runs `action` in one thread and the switch in another. On two processors or more the switch has a processor of its
/// own: no priority interrupts the kernel's work for the hosts, which must not delay the switch.
fn between<T: Send>(
    switch: Switch<'_>,
    action: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<((Network, SwitchReport), T), Failure> {
    let stop = AtomicBool::new(false);
    let processors = sys::processors();
    let (of_hosts, of_switch) = processors.split_at(processors.len().saturating_sub(1));
    let pin = |processors: &[usize]| {
        // Without pinning the thread still runs, with larger timing errors.
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
        let died = |_| Failure::Host("testbed: a thread panicked".to_owned());
        Ok((switched.map_err(died)?.map_err(Failure::host("testbed: the switch"))?, done.map_err(died)??))
    })
}

/// Merges the reports of hosts and switch and the network's counters into one result.
fn measured(
    scenario: &Scenario,
    plan: &Plan,
    network: &Network,
    mut switch: SwitchReport,
    traffic: TrafficReport,
    congestion: &str,
) -> Measured {
    let seconds = scenario.duration.saturating_sub(scenario.warmup).as_secs_f64();
    let TrafficReport { rows: mut flows, numbers, samples, unfinished, stalls, start_error, end } = traffic;
    let measured = cards(scenario);
    let with_card_rate = |mut path: Path, from: HostId| {
        let is_measured = measured.iter().any(|(host, _)| host.0 == from.0);
        if let Some((rate, _)) = path.links.first_mut().filter(|_| is_measured) {
            *rate = card_rate(*rate);
        }
        path
    };
    for (row, number) in flows.iter_mut().zip(&numbers) {
        let number_or_any = number.unwrap_or_default();
        let path = with_card_rate(network.path(row.source, row.destination, number_or_any), row.source);
        let back = with_card_rate(network.path(row.destination, row.source, number_or_any), row.destination);
        let tcp = &scenario.tcp;
        row.ideal = (row.size != Bytes::MAX).then(|| ideal_fct(row.size, tcp, &path, &back));
        let edges = |edge: usize| switch.edges.get(edge)?.get(number.as_ref()?);
        let at = |edge| edges(edge).copied().unwrap_or_default();
        if let Some(tally) = number.and_then(|number| switch.tallies.get(&number)) {
            row.take_tally(*tally);
            row.measured = at(1).since(at(0));
        }
    }
    let mut ports = PortRow::all(network, seconds);
    for port in network.ports_between(&cards(scenario)) {
        fill_from_card(&mut ports[port.index()], port, scenario, &switch.samples);
    }
    let samples = Samples::merged(&[samples, std::mem::take(&mut switch.samples)], |_| {});
    let in_drain = |transfer: &&Transfer| !transfer.counted && transfer.arrival.at < end;
    let drained = || plan.transfers.iter().filter(in_drain).map(|transfer| transfer.arrival.size);
    let counters = Counters {
        events: 0, // the kernel counts no events
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
    let (tasks, drops) = (Vec::new(), DropRow::all(network));
    let (drain_flows, long_paths) = (Vec::new(), Vec::new());
    let outcome = Outcome { flows, drain_flows, tasks, samples, ports, drops, counters, long_paths, end };
    Measured { outcome, switch, host_stalls: stalls, start_error, congestion: congestion.to_owned() }
}

/// Rate of a measured card, from the rate of its host's port.
fn card_rate(port: Rate) -> Rate {
    Rate::new(port.as_bps() / PORT_SPEEDUP).unwrap_or(port)
}

/// Fills the row of a host's port from samples of the host's card, which has the queue.
fn fill_from_card(row: &mut PortRow, port: PortId, scenario: &Scenario, samples: &Samples) {
    let window = Instant::ZERO + scenario.warmup..=Instant::ZERO + scenario.duration;
    let mean_and_most = |subject| {
        let mine = samples.iter().filter(|sample| sample.subject == subject && window.contains(&sample.at));
        let values: Vec<f64> = mine.map(|sample| sample.value).collect();
        (values.iter().sum::<f64>() / values.len() as f64, values.into_iter().fold(0.0, f64::max))
    };
    let (packets, bytes) =
        (mean_and_most(Subject::QueuePackets(port)), mean_and_most(Subject::QueueBytes(port)));
    let rate = card_rate(row.rate);
    *row = PortRow {
        rate,
        mean_packets: packets.0,
        max_packets: packets.1 as u32,
        mean_bytes: bytes.0,
        max_bytes: Bytes::new(bytes.1 as u64),
        percentiles: None,
        utilisation: row.utilisation * PORT_SPEEDUP as f64,
        ..row.clone()
    };
}
