//! Senders that send bursts at fixed intervals, each with its own phase.

use super::context::{Context, four_digits, size_text};
use super::hosts::HostPair;
use super::messages::Messages;
use super::{Count, Expected, MeasurementWindow, Traffic, Workload};
use crate::config::{ANY_TIME, ConfigError, Kind, POSITIVE_TIME, ParamInfo, Reader, keys};
use crate::engine::Seeds;
use shortflow_units::{HostId, Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "periodic",
    summary: "every sender sends a burst at fixed intervals to one host",
    source: "xDCTCP, UC San Diego 2015, §IV: 2 KB every 1 ms and 500 KB every 10 ms",
    parameters,
    read,
};

keys! {
    /// Keys other than hosts and messages.
    struct PeriodicKeys {
        /// time between the starts of consecutive bursts of a sender
        every: Span = required, POSITIVE_TIME;
        /// start of the first burst of host 0
        start: Span = "0s", ANY_TIME;
        /// extra delay of the bursts of each sender: stagger x its host number
        stagger: Span = "0s", ANY_TIME;
        /// largest random delay of a sender, which is the same for all its bursts
        jitter: Span = "0s", ANY_TIME;
    }
}

#[derive(Debug, Clone)]
struct Periodic {
    every: Span,
    jitter: Span,
    /// Each sender with the earliest time of its first burst.
    from: Vec<(Instant, HostId)>,
    to: HostId,
    messages: Messages,
}

fn parameters() -> Vec<ParamInfo> {
    [PeriodicKeys::parameters(), HostPair::to_one_host(), Messages::parameters()].concat()
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = PeriodicKeys::read(reader)?;
    let (from, to) = HostPair::read(reader)?.many_to_one(reader, context)?;
    let messages = Messages::read(reader, context)?;
    context.check_stagger(reader, keys.stagger, from.iter());
    let first = |host: &HostId| keys.start + keys.stagger.times(u64::from(host.0));
    let latest = from.iter().map(first).max().unwrap_or(keys.start) + keys.jitter;
    let key = match (keys.stagger.is_zero(), keys.jitter.is_zero()) {
        (_, false) => "jitter",
        (true, true) => "start",
        (false, true) => "stagger",
    };
    context.start(reader, key, latest)?;
    let mean = messages.sizes.mean();
    let bursts = from
        .iter()
        .map(|host| context.duration.saturating_sub(first(host)).as_secs_f64() / keys.every.as_secs_f64());
    let bps = from.len() as f64 * mean * 8.0 / keys.every.as_secs_f64();
    let load = bps / context.access_rate(to).as_bps() as f64;
    messages.expect(context, bursts.sum(), from.len() as u32, (load, [context.to_host(to, load)]));
    context.peers.add(&from, &[to]);
    let note = format!(
        "{} senders of mean {} every {}, offered load {} of {}",
        from.len(),
        size_text(mean),
        keys.every,
        four_digits(load),
        context.access_port(to)
    );
    context.note(reader, &note);
    let from = from.iter().map(|host| (Instant::ZERO + first(host), *host)).collect();
    Ok(Box::new(Periodic { every: keys.every, jitter: keys.jitter, from, to, messages }))
}

impl Traffic for Periodic {
    fn expected(&self, measured: MeasurementWindow) -> Expected {
        let late = |by: Span| -> u64 {
            self.from.iter().map(|(first, _)| measured.regular(*first + by, self.every)).sum()
        };
        let ends = (late(Span::ZERO), late(self.jitter));
        Expected::finite(match self.jitter.is_zero() {
            true => Count::Exactly(ends.0),
            false => Count::About((ends.0 + ends.1) as f64 / 2.0),
        })
    }

    fn start(&self, seeds: Seeds, index: usize) -> Workload {
        let periodic = self.clone();
        let mut draws = self.messages.draws(seeds, index);
        let mut jitter = seeds.stream("traffic gaps", index);
        let mut late = || Span::from_ps(jitter.below(self.jitter.as_ps() + 1));
        let mut turns: BinaryHeap<Reverse<(Instant, HostId)>> =
            self.from.iter().map(|(first, host)| Reverse((*first + late(), *host))).collect();
        Workload::open(std::iter::from_fn(move || {
            let mut next = turns.peek_mut()?;
            let Reverse((at, source)) = *next;
            *next = Reverse((at + periodic.every, source));
            Some(periodic.messages.arrival(&mut draws, at, (source, periodic.to), 0))
        }))
    }
}
