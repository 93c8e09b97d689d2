//! Remarks on a run whose numbers may come from its hosts instead of its network or its law.

use crate::outcome::{DropRow, FlowRow, Outcome, Place, PortRow};
use crate::queue::{DropReason, QueueKind};
use crate::scenario::Scenario;
use crate::scheme::Scheme;
use shortflow_cc::Host;
use shortflow_units::{Bytes, HostId, Instant, NodeId, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Segments of a connection that Linux allows in its host's port.
const USUAL: u32 = 2;
/// A window is wide from this multiple of its path's capacity on.
const WIDE: f64 = 10.0;
/// Jain's index below which shares are unequal.
const FAIR: f64 = 0.9;

/// Remarks on a run, each with the name of its kind.
pub fn remarks(outcome: &Outcome, scenario: &Scenario, scheme: &Scheme) -> Vec<(&'static str, String)> {
    let said = [
        ("crowded", crowded(outcome, scenario, scheme)),
        ("waiting", waiting(outcome, scenario)),
        ("wide", wide(outcome, scenario)),
        ("phase", phase(outcome, scenario, scheme)),
    ];
    said.into_iter().filter_map(|(kind, text)| Some((kind, text?))).collect()
}

/// A host that holds more than the small queues of its flows, one repair each, and its ACKs.
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
        "{} holds up to {} packets where small queues would hold {} (flows at once: {}): senders fill their own host's port{}",
        scenario.graph.name(worst.from),
        worst.max_packets,
        u64::from(allowed) * flows(worst.from),
        flows(worst.from),
        smaller(scenario).map_or_else(String::new, |setting| format!("; {setting} keeps them from it")),
    ))
}

/// The setting that gives hosts the usual small queues, if they have larger ones or none.
fn smaller(scenario: &Scenario) -> Option<String> {
    match scenario.conduct.small_queue {
        0 => Some("host.model=linux".to_owned()),
        queue => (queue > USUAL).then(|| format!("host.small_queue={USUAL}")),
    }
}

/// The most flows of each host at one time.
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

/// A class whose packets wait in their own host for more than half of its mean completion time.
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
         {}host.queue=fair lets them pass",
        scenario.classes[class],
        (100.0 * share).min(100.0), // copies wait too
        smaller(scenario).map_or_else(String::new, |setting| format!("{setting} or ")),
    ))
}

/// A window far above all that its path and its host can hold.
fn wide(outcome: &Outcome, scenario: &Scenario) -> Option<String> {
    let rows = outcome.flows.iter().enumerate().filter(|(_, flow)| flow.width > WIDE);
    let (number, flow) = rows.max_by(|a, b| a.1.width.total_cmp(&b.1.width))?;
    // Without small queues no window counts as held back.
    let setting =
        if scenario.conduct.small_queue > 0 { "tcp.growth=cwnd-limited" } else { "host.model=linux" };
    Some(format!(
        "the window of flow {number} is {:.0} times what its path holds, in flight, in buffers and in the small queue, so that \
         it limits nothing; {setting} keeps it from that",
        flow.width
    ))
}

/// Long flows to one host with equal rates, unequal shares of their common time, losses for want of room and hosts without jitter.
fn phase(outcome: &Outcome, scenario: &Scenario, scheme: &Scheme) -> Option<String> {
    let is_random = scenario.host.jitter != Some(Span::ZERO) || scenario.host.stalls > 0.0;
    let is_switch = |place: Place| matches!(place, Place::Port(from, _) if !scenario.graph.is_host(from));
    let overflows =
        |row: &DropRow| row.reason == DropReason::BufferFull && row.measured > 0 && is_switch(row.place);
    if is_random || scheme.queue.kind() != QueueKind::DropTail || !outcome.drops.iter().any(overflows) {
        return None;
    }
    let window = Instant::ZERO + scenario.warmup..Instant::ZERO + scenario.duration;
    let is_long = |flow: &&FlowRow| flow.size == Bytes::MAX && flow.overlaps(&window);
    let mut long: BTreeMap<HostId, Vec<&FlowRow>> = BTreeMap::new();
    outcome
        .flows
        .iter()
        .filter(is_long)
        .for_each(|flow| long.entry(flow.destination).or_default().push(flow));
    let rate =
        |host: HostId| outcome.ports.iter().find(|port| port.from == NodeId(host.0)).map(|port| port.rate);
    let found = long.into_iter().filter_map(|(to, flows)| {
        let rates: BTreeSet<_> = flows.iter().map(|flow| rate(flow.source)).collect();
        let got = over_equal_share(&flows, &window);
        let (sum, squares) = got.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let jain = sum * sum / (got.len() as f64 * squares);
        (rates.len() == 1 && jain < FAIR).then_some((to, got.len(), jain))
    });
    let (to, flows, jain) = found.min_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(format!(
        "{flows} long flows to {} have a Jain index of {jain:.2}; with equal rates and no jitter, phase may decide who \
         meets a full buffer; if host.jitter=half-packet raises the index, it did, else look at paths, laws and starts",
        scenario.graph.name(NodeId(to.0))
    ))
}

/// Bytes that flows got of a link over the time of the whole link that equal shares would have given them. Flows that are
/// there for less than half of `window` still converge and only take their share.
fn over_equal_share(flows: &[&FlowRow], window: &Range<Instant>) -> Vec<f64> {
    let begin = |flow: &FlowRow| flow.start.max(window.start);
    let end = |flow: &FlowRow| flow.finish.unwrap_or(window.end).min(window.end);
    let turns =
        flows.iter().enumerate().flat_map(|(n, flow)| [(begin(flow), true, n), (end(flow), false, n)]);
    let mut turns: Vec<_> = turns.collect();
    turns.sort_unstable();
    let (mut share, mut open, mut last, mut shares) = (0.0, 0.0, window.start, vec![0.0; flows.len()]);
    for (at, begins, flow) in turns {
        share += at.since(last).as_secs_f64() / f64::max(open, 1.0);
        (open, last) = (open + if begins { 1.0 } else { -1.0 }, at);
        shares[flow] = share - shares[flow];
    }
    let is_there = |flow: &FlowRow| end(flow).since(begin(flow)).times(2) >= window.end.since(window.start);
    let judged = flows.iter().zip(shares).filter(|(flow, _)| is_there(flow));
    judged.map(|(flow, share)| flow.delivered_in_window.as_f64() / share).collect()
}
