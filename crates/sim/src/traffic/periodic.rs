//! Senders that have something to send at fixed intervals, each on a clock of its own.

use super::context::{Context, four_digits, size_text};
use super::hosts::Ends;
use super::messages::Messages;
use super::{Count, Expected, Measured, Traffic, Workload};
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
    /// What is not about hosts or messages.
    struct PeriodicKeys {
        /// time from burst to burst of a sender
        every: Span = required, POSITIVE_TIME;
        /// when host 0 would send first
        start: Span = "0s", ANY_TIME;
        /// each sender starts later by this times its host number
        stagger: Span = "0s", ANY_TIME;
    }
}

#[derive(Debug, Clone)]
struct Periodic {
    every: Span,
    /// Each sender and its first burst.
    from: Vec<(Instant, HostId)>,
    to: HostId,
    messages: Messages,
}

fn parameters() -> Vec<ParamInfo> {
    [PeriodicKeys::parameters(), Ends::parameters(), Messages::parameters()].concat()
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = PeriodicKeys::read(reader)?;
    let (from, to) = Ends::read(reader)?.many_to_one(reader, context)?;
    let messages = Messages::read(reader, context)?;
    let first = |host: &HostId| keys.start + keys.stagger.times(u64::from(host.0));
    let latest = from.iter().map(first).max().unwrap_or(keys.start);
    let key = if keys.stagger.is_zero() { "start" } else { "stagger" };
    context.start(reader, key, latest)?;
    let mean = messages.sizes.mean();
    let bursts = from
        .iter()
        .map(|host| context.duration.saturating_sub(first(host)).as_secs_f64() / keys.every.as_secs_f64());
    context.expect(bursts.sum(), mean);
    context.destinations.insert(to);
    let bps = from.len() as f64 * mean * 8.0 / keys.every.as_secs_f64();
    let load = four_digits(bps / context.access_rate(to).as_bps() as f64);
    let note = format!(
        "{} senders of mean {} every {}, offered load {load} of {}",
        from.len(),
        size_text(mean),
        keys.every,
        context.access_port(to)
    );
    context.note(reader, &note);
    let from = from.iter().map(|host| (Instant::ZERO + first(host), *host)).collect();
    Ok(Box::new(Periodic { every: keys.every, from, to, messages }))
}

impl Traffic for Periodic {
    fn expected(&self, measured: Measured) -> Expected {
        let bursts = self.from.iter().map(|(first, _)| measured.regular(*first, self.every));
        Expected::finite(Count::Exactly(bursts.sum()))
    }

    fn start(&self, seeds: Seeds, index: usize) -> Workload {
        let periodic = self.clone();
        let mut draws = self.messages.draws(seeds, index);
        let mut turns: BinaryHeap<Reverse<(Instant, HostId)>> =
            self.from.iter().copied().map(Reverse).collect();
        Workload::open(std::iter::from_fn(move || {
            let mut next = turns.peek_mut()?;
            let Reverse((at, source)) = *next;
            *next = Reverse((at + periodic.every, source));
            Some(periodic.messages.arrival(&mut draws, at, (source, periodic.to), 0))
        }))
    }
}
