//! Remarks on runs whose results may be determined by the model of the hosts, rather than by the network or
//! the law.

use crate::outcome::{DropRow, FlowRow, LongPath, Outcome, Place, PortRow};
use crate::queue::{DropReason, QueueKind};
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use crate::topology::{Graph, Link};
use shortflow_cc::Host;
use shortflow_units::{Bytes, ClassId, HostId, Instant, NodeId, Rate, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Segments of a connection that Linux allows in its host's port.
const USUAL: u32 = 2;
/// Ratio of window to path capacity from which on a window is wide.
const WIDE: f64 = 10.0;
/// Jain's index below which shares are unequal.
const FAIR: f64 = 0.9;
/// Ratio of goodputs above which flows with a longer round trip are ahead of flows with a shorter one. No law
/// intends this.
const AHEAD: f64 = 1.2;

/// Ratio to the mean share below which a flow over several full ports starves.
const STARVED: f64 = 0.25;
/// Relative difference below which round trips count as equal.
const ALIKE: f64 = 0.05;

/// Remarks on a run, each with the name of its kind.
pub fn remarks(outcome: &Outcome, scenario: &Scenario, scheme: &Scheme) -> Vec<(&'static str, String)> {
    let found = [
        ("crowded", crowded(outcome, scenario, scheme)),
        ("waiting", waiting(outcome, scenario)),
        ("wide", wide(outcome, scenario)),
        ("phase", phase(outcome, scenario, scheme)),
        ("jitter", jitter(scenario, scheme)),
    ];
    found.into_iter().filter_map(|(kind, text)| Some((kind, text?))).collect()
}

/// A host that holds more than the small queues of its flows, one repair for each flow, and its ACKs.
fn crowded(outcome: &Outcome, scenario: &Scenario, scheme: &Scheme) -> Option<String> {
    let allowed = if scenario.conduct.small_queue > 0 { scenario.conduct.small_queue } else { USUAL };
    let room = scenario.tcp.full_frame().get() * u64::from(allowed + 1);
    let acks = |port: &PortRow| scenario.tcp.frame(Bytes::ZERO).get() * u64::from(port.max_packets);
    let is_full = |port: &PortRow, flows: u64| port.max_bytes.get() > room * flows + acks(port);
    let ports = outcome.ports.iter().filter(|port| scenario.graph.is_host(port.from));
    let mut ports = ports.filter(|port| is_full(port, 1)).peekable();
    if scheme.transport.info().host != Host::Tcp || ports.peek().is_none() {
        return None;
    }
    let open = open_at_once(&outcome.flows);
    let flows = |node: NodeId| open.get(&HostId(node.0)).copied().unwrap_or(1);
    let worst = ports.filter(|port| is_full(port, flows(port.from))).max_by_key(|port| port.max_packets)?;
    Some(format!(
        "{} holds up to {} packets, where small queues would hold {} (simultaneous flows: {}): senders fill the port of their host{}",
        scenario.graph.name(worst.from),
        worst.max_packets,
        u64::from(allowed) * flows(worst.from),
        flows(worst.from),
        smaller(scenario).map_or_else(String::new, |setting| format!("; set {setting} to prevent this")),
    ))
}

/// The setting that gives hosts the usual small queues, if they have larger queues or no limit.
fn smaller(scenario: &Scenario) -> Option<String> {
    match scenario.conduct.small_queue {
        0 => Some("host.model=linux".to_owned()),
        queue => (queue > USUAL).then(|| format!("host.small_queue={USUAL}")),
    }
}

/// Largest number of simultaneous flows of each host.
fn open_at_once(flows: &[FlowRow]) -> BTreeMap<HostId, u64> {
    let turns = |flow: &FlowRow| {
        [(flow.start, true, flow.source), (flow.finish.unwrap_or(Instant::MAX), false, flow.source)]
    };
    let mut turns: Vec<(Instant, bool, HostId)> = flows.iter().flat_map(turns).collect();
    turns.sort_unstable_by_key(|&(at, begins, host)| (at, !begins, host));
    let mut open: BTreeMap<HostId, (u64, u64)> = BTreeMap::new();
    for (_, begins, host) in turns {
        let (now, most) = open.entry(host).or_default();
        *now = if begins { *now + 1 } else { *now - 1 };
        *most = (*most).max(*now);
    }
    open.into_iter().map(|(host, (_, most))| (host, most)).collect()
}

/// A class whose packets wait at their own host for more than half of its mean completion time.
fn waiting(outcome: &Outcome, scenario: &Scenario) -> Option<String> {
    let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for flow in &outcome.flows {
        let Some(time) = flow.fct().filter(|_| flow.left > 0) else { continue };
        let (waited, all) = sums.entry(flow.class.index()).or_default();
        *waited += flow.waited_at_host.as_secs_f64() / flow.left as f64;
        *all += time.as_secs_f64();
    }
    let shares = sums.into_iter().map(|(class, (waited, all))| (class, waited / all));
    let (class, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, share)| *share > 0.5)?;
    Some(format!(
        "packets of {} flows wait in the port of their own host for {:.0} % of the mean completion time; \
         set {}host.queue=fair to shorten this wait",
        scenario.classes[class],
        (100.0 * share).min(100.0), // retransmissions wait too
        smaller(scenario).map_or_else(String::new, |setting| format!("{setting} or ")),
    ))
}

/// A window far above the capacity of its path and its host's small queue.
fn wide(outcome: &Outcome, scenario: &Scenario) -> Option<String> {
    let rows = outcome.flows.iter().enumerate().filter(|(_, flow)| flow.width > WIDE);
    let (number, flow) = rows.max_by(|a, b| a.1.width.total_cmp(&b.1.width))?;
    // Without small queues, no window counts as held back.
    let setting =
        if scenario.conduct.small_queue > 0 { "tcp.growth=cwnd-limited" } else { "host.model=linux" };
    Some(format!(
        "the window of flow {number} is {:.0} times the capacity of its path (links, buffers and small queue), so the window \
         limits nothing; set {setting} to prevent this",
        flow.width
    ))
}

/// Jitter of hosts above the delay in hosts that a law allows. The delay includes the jitter of data and of
/// ACKs.
fn jitter(scenario: &Scenario, scheme: &Scheme) -> Option<String> {
    let allowed = scheme.resolved.iter().find(|setting| setting.key == "transport.host_target")?;
    let (most, jitter) = (allowed.value.parse::<Span>().ok()?, scenario.jitter().into_iter().max()?);
    (jitter > most).then(|| {
        format!(
            "hosts delay packets by up to {jitter} in each direction, and the law's target for hosts is {most}, so links may \
             stay idle; set transport.host_target={} to allow for the jitter",
            most + jitter.times(2)
        )
    })
}

/// Properties of flows whose shares should be equal: full ports, rate of the host's link, and the class if it
/// has its own transport.
type Alike = (Vec<(NodeId, NodeId)>, Rate, Option<ClassId>);

/// Long flows over full drop-tail ports, with shares that neither laws nor round trips explain, and with too
/// little jitter for these ports.
fn phase(outcome: &Outcome, scenario: &Scenario, scheme: &Scheme) -> Option<String> {
    if scenario.host.stalls > 0.0 || scheme.queue.kind() != QueueKind::DropTail {
        return None;
    }
    let is_switch = |from: NodeId| !scenario.graph.is_host(from);
    let overflows = |row: &DropRow| match row.place {
        Place::Port(from, to) if is_switch(from) && row.reason == DropReason::BufferFull => {
            (row.measured > 0).then_some((from, to))
        }
        _ => None,
    };
    let full: BTreeSet<(NodeId, NodeId)> = outcome.drops.iter().filter_map(overflows).collect();
    if full.is_empty() {
        return None;
    }
    unequal_at_a_port(outcome, scenario, &full).or_else(|| starved(outcome, scenario, &full))
}

/// Long flows over the same full ports with unexplained shares and too little jitter.
fn unequal_at_a_port(
    outcome: &Outcome,
    scenario: &Scenario,
    full: &BTreeSet<(NodeId, NodeId)>,
) -> Option<String> {
    let links = links(&scenario.graph);
    let window = Instant::ZERO + scenario.warmup..Instant::ZERO + scenario.duration;
    let mut alike: BTreeMap<Alike, Vec<(Span, &FlowRow)>> = BTreeMap::new();
    for LongPath { row, ports, .. } in &outcome.long_paths {
        let flow = &outcome.flows[*row];
        let shared: Vec<_> = ports.iter().copied().filter(|port| full.contains(port)).collect();
        let way = || ports.iter().filter_map(|port| links.get(port));
        if let Some((access, _)) = way().next().filter(|_| !shared.is_empty() && flow.overlaps(&window)) {
            let law = scenario.transports.contains_key(&flow.class).then_some(flow.class);
            let delay = way().fold(Span::ZERO, |sum, (_, delay)| sum + *delay);
            alike.entry((shared, *access, law)).or_default().push((delay, flow));
        }
    }
    let found = alike.into_iter().filter_map(|((ports, ..), flows)| {
        let (rate, port) = ports.iter().filter_map(|port| Some((links.get(port)?.0, port))).min()?;
        let jitter = scenario.half_packet(rate);
        let is_enough = scenario.host.jitter.is_none_or(|given| given >= jitter);
        let finding = if is_enough { None } else { unexplained(&flows, &window) };
        let here = outcome.long_paths.iter().filter(|path| path.ports.contains(port)).count();
        finding.map(|finding| (rate, *port, here, finding, jitter))
    });
    let (_, (from, to), flows, finding, jitter) = found.min_by_key(|found| found.0)?;
    let name = |node| scenario.graph.name(node);
    Some(format!(
        "{flows} long flows share the full port {}->{}, {finding}; phase may decide which flow meets the full buffer; with \
         --set host.jitter={jitter}, half the transmission time of a packet there, chance decides; if the shares stay, \
         compare paths, laws and start times of the flows",
        name(from),
        name(to),
    ))
}

/// A long flow over two or more full ports that gets almost no goodput, even with jitter: each port may drop
/// the packets that the previous port let through.
fn starved(outcome: &Outcome, scenario: &Scenario, full: &BTreeSet<(NodeId, NodeId)>) -> Option<String> {
    let window = Instant::ZERO + scenario.warmup..Instant::ZERO + scenario.duration;
    let crosses = |path: &LongPath| path.ports.iter().copied().filter(|port| full.contains(port)).collect();
    let ways: Vec<(usize, Vec<(NodeId, NodeId)>)> =
        outcome.long_paths.iter().map(|path| (path.row, crosses(path))).collect();
    let share = |row: usize, port: (NodeId, NodeId)| {
        let here = ways.iter().filter(|(_, ports)| ports.contains(&port)).map(|(row, _)| *row);
        let rows: Vec<usize> = here.filter(|row| outcome.flows[*row].overlaps(&window)).collect();
        let flows: Vec<(Span, &FlowRow)> =
            rows.iter().map(|row| (Span::ZERO, &outcome.flows[*row])).collect();
        let got = over_equal_share(&flows, &window);
        let all: f64 = got.iter().map(|(_, got)| got).sum();
        let own = got.iter().find(|(number, _)| rows[*number] == row)?;
        (got.len() > 1 && all > 0.0).then(|| own.1 * got.len() as f64 / all)
    };
    let several = ways.iter().filter(|(_, ports)| ports.len() > 1);
    let least = several.filter_map(|(row, ports)| {
        let most = ports.iter().map(|port| share(*row, *port)).collect::<Option<Vec<f64>>>()?;
        Some((most.into_iter().fold(0.0, f64::max), *row, ports))
    });
    let (share, row, ports) = least.min_by(|one, other| one.0.total_cmp(&other.0))?;
    let flow = &outcome.flows[row];
    let (name, host) = (|node| scenario.graph.name(node), |host: HostId| scenario.graph.name(NodeId(host.0)));
    let shown: Vec<String> =
        ports.iter().map(|(from, to)| format!("{}->{}", name(*from), name(*to))).collect();
    let links = links(&scenario.graph);
    let slowest = ports.iter().filter_map(|port| links.get(port)).map(|(rate, _)| *rate).min()?;
    let jitter = scenario.half_packet(slowest);
    let remedy = match scenario.host.jitter {
        Some(given) if given < jitter => format!(
            "with --set host.jitter={jitter}, half the transmission time of a packet there, chance decides"
        ),
        _ => "jitter of half a packet does not remove this here; try other rates, other buffers, or a queue that marks".to_owned(),
    };
    (share < STARVED).then(|| {
        format!(
            "a long flow from {} to {} crosses the full ports {} and gets {:.1} % of the mean share there; phase may \
             decide which flow meets the full buffers; {remedy}",
            host(flow.source),
            host(flow.destination),
            shown.join(" and "),
            100.0 * share
        )
    })
}

/// Rate and delay of both directions of each link.
fn links(graph: &Graph) -> BTreeMap<(NodeId, NodeId), (Rate, Span)> {
    let ways = |link: &Link| [(link.a, link.b), (link.b, link.a)].map(|ends| (ends, (link.rate, link.delay)));
    graph.links.iter().flat_map(ways).collect()
}

/// Text on shares of flows with these path delays, if neither equal nor longer round trips explain the
/// shares.
fn unexplained(flows: &[(Span, &FlowRow)], window: &Range<Instant>) -> Option<String> {
    let mut shares: Vec<(Span, f64)> =
        over_equal_share(flows, window).into_iter().map(|(number, got)| (flows[number].0, got)).collect();
    shares.sort_by_key(|(delay, _)| *delay);
    let is_equal =
        |one: &(Span, f64), next: &(Span, f64)| next.0.as_secs_f64() <= one.0.as_secs_f64() * (1.0 + ALIKE);
    let got = |group: &[(Span, f64)]| group.iter().map(|(_, got)| *got).collect::<Vec<f64>>();
    let by_delay: Vec<Vec<f64>> = shares.chunk_by(is_equal).map(got).collect();
    let sum = |got: &[f64]| got.iter().sum::<f64>();
    let mean = |got: &Vec<f64>| sum(got) / got.len() as f64;
    let jain = |got: &Vec<f64>| {
        let squares: Vec<f64> = got.iter().map(|x| x * x).collect();
        sum(got).powi(2) / (got.len() as f64 * sum(&squares))
    };
    // Flows without goodput have no index and no ratio.
    let unequal = by_delay.iter().map(jain).filter(|jain| *jain < FAIR).min_by(f64::total_cmp);
    let means: Vec<f64> = by_delay.iter().map(mean).collect();
    let pairs =
        means.iter().enumerate().flat_map(|(n, near)| means[n + 1..].iter().map(move |far| far / near));
    match (pairs.filter(|ratio| *ratio > AHEAD).max_by(f64::total_cmp), unequal) {
        (Some(f64::INFINITY), _) => Some("and flows with a longer round trip get all goodput".to_owned()),
        (Some(ratio), _) => Some(format!(
            "and flows with a longer round trip get {ratio:.1} times the goodput of flows with a shorter one"
        )),
        (None, Some(jain)) => {
            Some(format!("and flows with equal round trips have a Jain index of {jain:.2}"))
        }
        (None, None) => None,
    }
}

/// Goodput of flows relative to equal shares, with the index of each flow: bytes delivered, divided by the link
/// time that equal shares would give the flow. Flows present for less than half of `window` are still
/// converging: they take their share, but are not judged.
fn over_equal_share(flows: &[(Span, &FlowRow)], window: &Range<Instant>) -> Vec<(usize, f64)> {
    let begin = |flow: &FlowRow| flow.start.max(window.start);
    let end = |flow: &FlowRow| flow.finish.unwrap_or(window.end).min(window.end);
    let turns =
        flows.iter().enumerate().flat_map(|(n, (_, flow))| [(begin(flow), true, n), (end(flow), false, n)]);
    let mut turns: Vec<_> = turns.collect();
    turns.sort_unstable();
    let (mut share, mut open, mut last, mut shares) = (0.0, 0.0, window.start, vec![0.0; flows.len()]);
    for (at, begins, flow) in turns {
        share += at.since(last).as_secs_f64() / f64::max(open, 1.0);
        (open, last) = (open + if begins { 1.0 } else { -1.0 }, at);
        shares[flow] = share - shares[flow];
    }
    let is_there = |flow: &FlowRow| end(flow).since(begin(flow)).times(2) >= window.end.since(window.start);
    let judged = flows.iter().zip(shares).enumerate().filter(|(_, ((_, flow), _))| is_there(flow));
    judged.map(|(n, ((_, flow), share))| (n, flow.delivered_in_window.as_f64() / share)).collect()
}
