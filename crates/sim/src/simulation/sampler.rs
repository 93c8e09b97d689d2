//! [`Sampler`]: samples of queues, windows and rates at fixed intervals.

use super::part::owns;
use super::world::World;
use crate::host::SenderSnapshot;
use crate::probe::{Sample, Samples, Subject, throughput};
use shortflow_units::{ConnId, FlowId, Instant, PortId, Span};
use std::collections::HashMap;

/// Subjects of the samples, and the samples so far.
pub(super) struct Sampler {
    /// Ports whose queues are sampled.
    pub ports: Vec<PortId>,
    /// Backlogged flows, which are sampled.
    backlogged: Vec<Backlogged>,
    pub samples: Samples,
    /// Time of the last sample.
    sampled: Instant,
}

/// A backlogged flow, with its acknowledged bytes at the last sample.
struct Backlogged {
    conn: ConnId,
    flow: FlowId,
    sampled: u64,
}

impl Sampler {
    /// A sampler of these ports, without samples.
    pub(super) fn new(ports: Vec<PortId>) -> Sampler {
        Sampler { ports, backlogged: Vec::new(), samples: Samples::default(), sampled: Instant::ZERO }
    }

    /// Samples a backlogged flow from now on; `acked` bytes of its connection are acknowledged.
    pub(super) fn begin(&mut self, conn: ConnId, flow: FlowId, acked: u64) {
        self.backlogged.push(Backlogged { conn, flow, sampled: acked });
    }

    /// Ends the samples of the backlogged flows of a connection.
    pub(super) fn end(&mut self, conn: ConnId) {
        self.backlogged.retain(|flow| flow.conn != conn);
    }

    /// Number of backlogged flows that have not finished.
    pub(super) fn backlogged(&self) -> usize {
        self.backlogged.len()
    }

    /// Samples queues, windows and rates. Returns false if there is no memory for the samples.
    pub(super) fn sample(&mut self, world: &mut World<'_>) -> bool {
        let at = world.events.now();
        let rows = 2 * self.ports.len() + world.scenario.classes.len() + 4 * self.backlogged.len();
        if !self.samples.try_reserve(rows) {
            return false;
        }
        for &port in &self.ports {
            let from = world.network.ports()[port.index()].from;
            if world.part.as_ref().is_some_and(|part| !part.owns(from)) {
                continue;
            }
            let backlog = world.network.backlog(port, at);
            let (packets, bytes) = (f64::from(backlog.packets), backlog.bytes.as_f64());
            self.samples.push(Sample { at, subject: Subject::QueuePackets(port), value: packets });
            self.samples.push(Sample { at, subject: Subject::QueueBytes(port), value: bytes });
        }
        let time = at.since(self.sampled);
        self.sampled = at;
        match world.part {
            None => world.meter.sample(at, time, &mut self.samples),
            Some(_) => world.meter.take(at, &mut self.samples, |bytes| bytes as f64), // `join` divides by the time
        }
        for Backlogged { conn, flow, sampled } in &mut self.backlogged {
            let connection = world.connections.slot(*conn);
            if !owns(&world.part, connection.source) {
                continue;
            }
            let (flow, ends) = (*flow, &connection.ends);
            let acked = ends.acked() - std::mem::replace(sampled, ends.acked());
            let SenderSnapshot { window, rate, alpha } = ends.view(at);
            let quantities = [
                (Subject::FlowThroughput(flow), Some(throughput(acked, time))),
                (Subject::Cwnd(flow), window.map(|window| window.cwnd)),
                (Subject::Rate(flow), rate.map(|rate| rate.as_bps() as f64)),
                (Subject::Alpha(flow), alpha),
            ];
            for (subject, value) in quantities {
                value.into_iter().for_each(|value| self.samples.push(Sample { at, subject, value }));
            }
        }
        true
    }

    /// Merges the samples of other parts, taken at intervals of `every`, into the order of a run on one core, and sums
    /// the throughput of each class.
    pub(super) fn join(&mut self, others: impl IntoIterator<Item = Sampler>, every: Span) {
        let places: HashMap<PortId, usize> = self.ports.iter().copied().zip(0..).collect();
        let place = |sample: &Sample| match sample.subject {
            Subject::QueuePackets(port) | Subject::QueueBytes(port) => (0, places[&port]),
            Subject::Throughput(class) => (1, class.index()),
            Subject::Cwnd(flow)
            | Subject::Alpha(flow)
            | Subject::FlowThroughput(flow)
            | Subject::Rate(flow) => (2, flow.index()),
        };
        let mut parts = vec![std::mem::take(&mut self.samples)];
        parts.extend(others.into_iter().map(|other| other.samples));
        self.samples = Samples::merged(&parts, |of_time| {
            of_time.sort_by_key(place);
            of_time.dedup_by(|next, kept| {
                let is_same = matches!(next.subject, Subject::Throughput(_)) && next.subject == kept.subject;
                if is_same {
                    kept.value += next.value;
                }
                is_same
            });
            for sample in of_time.iter_mut().filter(|sample| matches!(sample.subject, Subject::Throughput(_)))
            {
                let time = if sample.at == Instant::ZERO { Span::ZERO } else { every };
                sample.value = throughput(sample.value as u64, time);
            }
        });
    }
}
