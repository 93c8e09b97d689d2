//! [`Fault`]: faults of links. A scenario has one entry `[faults]` or several entries `[[faults]]`.

use crate::config::{ANY_TIME, ConfigError, KeywordOr, ListOf, Reader, Text, keys};
use crate::needs::Needs;
use crate::priorities::{ANY_PRIORITY, PrioritySet};
use crate::topology::{Graph, HostNames, find_link, find_port};
use crate::traffic::{HostSet, Hosts};
use shortflow_spec::hint;
use shortflow_units::{NodeId, PortId, Span};
use std::ops::RangeInclusive;

keys! {
    /// Keys of one entry, before links are looked up.
    pub(super) struct FaultKeys {
        /// links such as "leaf0-spine1", or one direction of a link such as "leaf0->spine1"; without links, tier and
        /// hosts, the entry applies to every port of every switch
        links: Option<Vec<String>> = optional, LINKS, acts: loss > 0 || loss_every != never || ack_loss > 0 || corrupt > 0 || reorder > 0 || mark > 0 || down_at != never || pause_at != never;
        /// links from switches of this tier upwards
        tier: Option<String> = optional, Text::Tier, acts: loss > 0 || loss_every != never || ack_loss > 0 || corrupt > 0 || reorder > 0 || mark > 0 || down_at != never || pause_at != never;
        /// links of these hosts
        hosts: Option<HostSet> = optional, Hosts, acts: loss > 0 || loss_every != never || ack_loss > 0 || corrupt > 0 || reorder > 0 || mark > 0 || down_at != never || pause_at != never;
        /// probability that a data packet is lost before it is queued
        loss: f64 = "0", 0.0..=0.9;
        /// every so many data packets at a port, the last one is lost before it is queued
        loss_every: Option<u64> = "never", KeywordOr("never", 2..=u64::MAX);
        /// probability that a pure ACK is lost
        ack_loss: f64 = "0", 0.0..=0.9;
        /// probability that a packet is damaged on the wire and dropped at its end
        corrupt: f64 = "0", 0.0..=0.9;
        /// probability that a packet arrives reorder_delay later, behind packets that followed it
        reorder: f64 = "0", 0.0..=1.0;
        /// extra delay of a reordered packet
        reorder_delay: Span = "0s", ANY_TIME, acts: reorder > 0;
        /// probability that a data packet is marked
        mark: f64 = "0", 0.0..=1.0, acts: ecn;
        /// time at which the links fail; packets queued for the links or on the links are lost
        down_at: Option<Span> = "never", KeywordOr("never", ANY_TIME);
        /// time at which the links work again
        up_at: Option<Span> = "never", KeywordOr("never", ANY_TIME);
        /// time at which the far ends of the links pause data, as devices with priority flow control do
        pause_at: Option<Span> = "never", KeywordOr("never", ANY_TIME);
        /// time at which the far ends of the links resume data
        resume_at: Option<Span> = "never", KeywordOr("never", ANY_TIME), acts: pause_at != never;
        /// priority (traffic.pfc_priority) that is paused; all priorities unless given
        pause_priority: Option<u32> = optional, ANY_PRIORITY, acts: pause_at != never;
        /// data packets lost on arrival at the first measured port, by number from 1
        drop_data: Vec<u64> = "[]", ORDINALS;
        /// data packets marked on arrival at the first measured port, by number from 1
        mark_data: Vec<u64> = "[]", ORDINALS, acts: ecn;
    }
}

const LINKS: ListOf<Text> = ListOf(Text::Link, "a list of links such as [\"leaf0-spine1\"]");
const ORDINALS: ListOf<RangeInclusive<u64>> = ListOf(1..=u64::MAX, "a list of whole numbers from 1");

/// Faults on some links.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Ports that send onto the affected links, in ascending order. Link i has the ports 2i and 2i + 1.
    pub ports: Vec<PortId>,
    /// Probability that a data packet is lost on arrival at a port.
    pub loss: f64,
    /// Interval, in data packets, at which a packet is lost on arrival at a port.
    pub loss_every: Option<u64>,
    /// Probability that a pure ACK is lost on arrival at a port.
    pub ack_loss: f64,
    /// Probability that a packet is damaged, and dropped at the far end of the link.
    pub corrupt: f64,
    /// Probability that a packet arrives late, and the extra delay.
    pub reorder: (f64, Span),
    /// Probability that a data packet is marked.
    pub mark: f64,
    /// Time at which the links fail and, unless the failure is permanent, time at which they recover.
    pub outage: Option<(Span, Option<Span>)>,
    /// Time at which the far ends of the links pause data and, unless the pause is permanent, time at which
    /// they resume data.
    pub pause: Option<(Span, Option<Span>)>,
    /// Priorities that are paused.
    pub pause_priorities: PrioritySet,
    /// Data packets lost at the first measured port, by number from 1.
    pub drop_data: Vec<u64>,
    /// Data packets marked at the first measured port, by number from 1.
    pub mark_data: Vec<u64>,
}

impl Fault {
    /// True if the fault affects `port`.
    pub fn covers(&self, port: PortId) -> bool {
        self.ports.binary_search(&port).is_ok()
    }

    /// True if the fault can only mark packets: it loses, delays and damages none.
    pub(super) fn marks_alone(&self) -> bool {
        let loses = self.loss > 0.0 || self.loss_every.is_some() || self.ack_loss > 0.0 || self.corrupt > 0.0;
        !loses && self.reorder.0 == 0.0 && self.outage.is_none() && self.drop_data.is_empty()
    }

    /// Demands on the execution of a run.
    pub(crate) fn needs(&self) -> Needs {
        let (fails, reorders) = (self.outage.is_some(), self.reorder.0 > 0.0);
        Needs {
            global_order: fails.then(|| "links fail".to_owned()),
            whole_ports: if reorders || self.corrupt > 0.0 { self.ports.clone() } else { Vec::new() },
            packet_routing: fails,
            reordering: fails || reorders,
            answers: self.pause.is_some(),
        }
    }
}

/// Reads all entries of the scenario, whose arrivals end at `duration` and have these priorities.
pub(super) fn read(
    top: &Reader,
    (graph, names): (&Graph, &HostNames),
    arrivals: (Span, &[u8]),
) -> Result<Vec<Fault>, ConfigError> {
    let one = top.tables_inside().contains(&"faults");
    let entries = if one { vec![top.table("faults")?] } else { top.tables("faults")? };
    entries.iter().map(|entry| fault(entry, (graph, names), arrivals)).collect()
}

fn fault(
    reader: &Reader,
    (graph, names): (&Graph, &HostNames),
    (duration, priorities): (Span, &[u8]),
) -> Result<Fault, ConfigError> {
    reader.only(&FaultKeys::parameters(), &[])?;
    let keys = FaultKeys::read(reader).map_err(|error| match error {
        ConfigError::Value { key, value, expected } if key.ends_with(".loss") => {
            let expected = format!("{expected}; loss_every = 100 loses one data packet of 100");
            ConfigError::Value { key, value, expected }
        }
        error => error,
    })?;
    let outage = interval(reader, ("down_at", keys.down_at), ("up_at", keys.up_at), duration)?;
    let pause = interval(reader, ("pause_at", keys.pause_at), ("resume_at", keys.resume_at), duration)?;
    if keys.reorder > 0.0 && keys.reorder_delay.is_zero() {
        let reason = format!("zero, so {} would have no effect", reader.path("reorder"));
        return Err(reader.impossible("reorder_delay", reason));
    }
    let used: PrioritySet = priorities.iter().copied().collect();
    let pause_priorities = match keys.pause_priority.map(|priority| priority as u8) {
        Some(priority) if !used.has(priority) => {
            let reason = format!("no traffic has priority {priority}; traffic has {used}");
            return Err(reader.impossible("pause_priority", reason));
        }
        Some(priority) => PrioritySet::of(priority),
        None => used,
    };
    let FaultKeys { loss, loss_every, ack_loss, corrupt, reorder, reorder_delay, mark, .. } = keys;
    let (mut drop_data, mut mark_data) = (keys.drop_data.clone(), keys.mark_data.clone());
    drop_data.sort_unstable();
    mark_data.sort_unstable();
    let mut ports = match selected(reader, keys, (graph, names))? {
        Some(ports) if drop_data.is_empty() && mark_data.is_empty() => ports,
        Some(_) => {
            let key = if drop_data.is_empty() { "mark_data" } else { "drop_data" };
            return Err(reader
                .impossible(key, "counts packets at the first measured port; remove links, tier and hosts"));
        }
        None if outage.is_some() => {
            return Err(reader.impossible("down_at", "names no links that fail; set links, tier or hosts"));
        }
        None if pause.is_some() => {
            return Err(reader.impossible("pause_at", "names no links to pause; set links, tier or hosts"));
        }
        None => ports_from(graph, |from, _| !graph.is_host(from)),
    };
    ports.sort_unstable();
    ports.dedup();
    let opposite = |port: &PortId| PortId(port.0 ^ 1);
    if let Some(port) = ports.iter().find(|port| outage.is_some() && !ports.contains(&opposite(port))) {
        let link = graph.links[port.index() / 2];
        let name = format!("{}-{}", graph.name(link.a), graph.name(link.b));
        return Err(reader.impossible("links", format!("a link fails in both directions; write {name:?}")));
    }
    let reorder = (reorder, reorder_delay);
    Ok(Fault {
        ports,
        loss,
        loss_every,
        ack_loss,
        corrupt,
        reorder,
        mark,
        outage,
        pause,
        pause_priorities,
        drop_data,
        mark_data,
    })
}

/// The interval from the value of one key to the value of another, if the first key is set.
fn interval(
    reader: &Reader,
    (begins, from): (&str, Option<Span>),
    (ends, to): (&str, Option<Span>),
    duration: Span,
) -> Result<Option<(Span, Option<Span>)>, ConfigError> {
    match (from, to) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(reader.impossible(ends, format!("needs {begins}; set both keys"))),
        (Some(from), _) if from >= duration => {
            Err(reader.impossible(begins, format!("{from} is not before duration = {duration}")))
        }
        (Some(from), Some(to)) if to <= from => {
            Err(reader.impossible(ends, format!("{to} is not after {begins} = {from}")))
        }
        (Some(from), to) => Ok(Some((from, to))),
    }
}

/// Ports of the links that an entry names; `None` if it names none.
fn selected(
    reader: &Reader,
    keys: FaultKeys,
    (graph, names): (&Graph, &HostNames),
) -> Result<Option<Vec<PortId>>, ConfigError> {
    let ways = [keys.links.is_some(), keys.tier.is_some(), keys.hosts.is_some()];
    if ways.iter().filter(|given| **given).count() > 1 {
        let key = if ways[2] { "hosts" } else { "tier" };
        return Err(reader.impossible(
            key,
            "given together with another choice of links; set one of links, tier and hosts",
        ));
    }
    if let Some(names) = keys.links {
        if names.is_empty() {
            return Err(reader.impossible("links", "[] names no link"));
        }
        return names
            .iter()
            .map(|name| ports_of(name, graph, reader))
            .collect::<Result<Vec<_>, _>>()
            .map(|all| Some(all.concat()));
    }
    if let Some(name) = keys.tier {
        let known: Vec<&str> = graph.tiers.iter().map(String::as_str).collect();
        let level = known.iter().position(|tier| *tier == name).ok_or_else(|| {
            reader.impossible("tier", format!("there is no tier {name:?}; {}", hint(&name, &known)))
        })?;
        graph.upwards(level).map_err(|reason| reader.impossible("tier", reason))?;
        return Ok(Some(both_ways(graph, |a, b| graph.tier(a) == Some(level) && graph.leads_up(a, b))));
    }
    let Some(set) = keys.hosts else { return Ok(None) };
    let hosts = set.resolve(names, reader, "hosts")?;
    Ok(Some(both_ways(graph, |a, _| hosts.iter().any(|host| host.0 == a.0))))
}

/// Ports whose sending and receiving node satisfy `wanted`.
fn ports_from(graph: &Graph, wanted: impl Fn(NodeId, NodeId) -> bool) -> Vec<PortId> {
    let directions = graph.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
    let ports = directions.enumerate().filter(|(_, (from, to))| wanted(*from, *to));
    ports.map(|(port, _)| PortId::from(port)).collect()
}

/// Both ports of each link of which one direction satisfies `wanted`.
fn both_ways(graph: &Graph, wanted: impl Fn(NodeId, NodeId) -> bool) -> Vec<PortId> {
    ports_from(graph, |from, to| wanted(from, to) || wanted(to, from))
}

/// The port of a named direction, or both ports of a named link.
fn ports_of(name: &str, graph: &Graph, reader: &Reader) -> Result<Vec<PortId>, ConfigError> {
    if name.contains("->") {
        let ends = find_port(name, "links", graph, reader)?;
        return Ok(ports_from(graph, |from, to| (from, to) == ends));
    }
    let link = find_link(name, "links", graph, reader)?;
    Ok(vec![PortId::from(2 * link), PortId::from(2 * link + 1)])
}
