//! Backlogged flows, which send until they are stopped.

use super::context::Context;
use super::hosts::HostPair;
use super::pattern::permutation;
use super::{ConnectionUse, FlowArrival, Traffic, Workload};
use crate::config::{ANY_TIME, ConfigError, Flag, Kind, ParamInfo, Reader, Text, keys};
use crate::engine::Seeds;
use shortflow_units::{Bytes, ClassId, HostId, Instant, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "long-lived",
    summary: "backlogged flows; the senders take turns, and send to one host, to a host each, or to a random permutation",
    source: "",
    parameters,
    read,
};

keys! {
    /// Keys other than hosts.
    struct LongLivedKeys {
        /// number of flows; one flow for each sender unless given
        flows: Option<u32> = optional, 1..=1_000_000u32;
        /// time at which flows start
        start: Span = "0s", ANY_TIME;
        /// time at which flows stop sending new data; data already sent is still delivered
        stop: Option<Span> = optional, ANY_TIME;
        /// extra delay of start and stop of each flow: stagger x the number of its sending host
        stagger: Span = "0s", ANY_TIME;
        /// let each sender send to another sender, so that each receives one flow; the pairs are random
        permutation: bool = "false", Flag;
        /// name of the traffic class in results
        class: String = "long", Text::Name;
    }
}

#[derive(Debug)]
struct LongLived {
    class: ClassId,
    /// Start time, source and destination of each flow, in order of time. Each run draws its own permutation.
    flows: Vec<(Instant, HostId, HostId)>,
    /// Time from start to stop.
    length: Option<Span>,
    /// All hosts of the permutation, if the receivers are a permutation of the senders.
    permuted: Option<Vec<HostId>>,
}

fn parameters() -> Vec<ParamInfo> {
    [LongLivedKeys::parameters(), HostPair::parameters()].concat()
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = LongLivedKeys::read(reader)?;
    let ends = HostPair::read(reader)?;
    let pairs = match keys.permutation {
        true => ends.ring(reader, context)?,
        false => ends.one_to_one(reader, context)?,
    };
    let count = keys.flows.map_or(pairs.len(), |flows| flows as usize);
    if keys.flows.is_none() {
        reader.defaulted("flows", count.to_string());
    }
    let senders: BTreeSet<HostId> = pairs.iter().map(|(from, _)| *from).collect();
    if count > senders.len() && !keys.stagger.is_zero() {
        context.warnings.push(format!(
            "{}: {count} flows have fewer sending hosts ({}), and flows of one host start together; write an entry for each flow",
            reader.path("stagger"),
            senders.len()
        ));
    } else {
        context.check_stagger(reader, keys.stagger, senders.iter());
    }
    let start = |host: HostId| keys.start + keys.stagger.times(u64::from(host.0));
    let mut flows: Vec<(Span, HostId, HostId)> =
        pairs.into_iter().cycle().take(count).map(|(from, to)| (start(from), from, to)).collect();
    flows.sort_by_key(|(start, ..)| *start);
    let latest = flows.last().map_or(keys.start, |(start, ..)| *start);
    context.start(reader, if keys.stagger.is_zero() { "start" } else { "stagger" }, latest)?;
    if let Some(stop) = keys.stop.filter(|stop| *stop <= keys.start) {
        return Err(reader.impossible("stop", format!("{stop} is not after start = {}", keys.start)));
    }
    let length = keys.stop.map(|stop| stop.saturating_sub(keys.start));
    let most = context.duration.saturating_sub(keys.start);
    let seconds = length.map_or(most, |length| length.min(most)).as_secs_f64();
    let receivers: BTreeSet<HostId> = flows.iter().map(|(.., to)| *to).collect();
    for to in &receivers {
        let rate = |host: HostId| context.access_rate(host).as_bps() as f64 / 8.0;
        let flows = flows.iter().filter(|(.., other)| other == to);
        let sent: f64 = flows.map(|(_, from, _)| rate(*from).min(context.window_rate)).sum();
        context.packets += rate(*to).min(sent) * seconds / context.tcp.mss.as_f64();
    }
    match keys.permutation {
        // Any of these flows may go to any of these hosts.
        true => context.peers.add(&Vec::from_iter(senders.clone()), &Vec::from_iter(senders.clone())),
        false => context.peers.add_pairs(flows.iter().map(|(_, from, to)| (*from, *to))),
    }
    context.backlogged += count;
    let text = if count == 1 { "1 flow".to_owned() } else { format!("{count} flows") };
    let links = match receivers.first() {
        Some(to) if receivers.len() == 1 => context.access_port(*to),
        _ => format!("the links to {} hosts", receivers.len()),
    };
    let end = length.map_or("without end".to_owned(), |length| format!("of {length}"));
    context.note(reader, &format!("{text} {end} over {links}"));
    let flows = flows.into_iter().map(|(start, from, to)| (Instant::ZERO + start, from, to)).collect();
    let permuted = keys.permutation.then(|| senders.into_iter().collect());
    Ok(Box::new(LongLived { class: context.class(&keys.class), flows, length, permuted }))
}

impl LongLived {
    /// The flows of one run.
    fn drawn(&self, seeds: Seeds, index: usize) -> Vec<(Instant, HostId, HostId)> {
        let mut flows = self.flows.clone();
        if let Some(hosts) = &self.permuted {
            let to = permutation(hosts, hosts, &mut seeds.stream("traffic permutation", index));
            let receiver: BTreeMap<&HostId, HostId> = hosts.iter().zip(to).collect();
            flows.iter_mut().for_each(|(_, from, to)| *to = receiver[from]);
        }
        flows
    }
}

impl Traffic for LongLived {
    fn start(&self, seeds: Seeds, index: usize) -> Workload {
        let (class, length) = (self.class, self.length);
        let flow = move |(at, source, destination)| FlowArrival {
            at,
            source,
            destination,
            size: Bytes::MAX,
            class,
            deadline: None,
            connection: ConnectionUse::New,
            stop: length.map(|length| at + length),
        };
        Workload::open(self.drawn(seeds, index).into_iter().map(flow))
    }
}
