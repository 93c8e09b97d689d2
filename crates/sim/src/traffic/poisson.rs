//! Flows that arrive as a Poisson process.

use super::context::{Context, four_digits, size_text};
use super::hosts::Ends;
use super::messages::Messages;
use super::{Arrivals, Traffic};
use crate::config::{ANY_TIME, Choice, ConfigError, Kind, ParamInfo, Positive, Reader, keys};
use crate::engine::{Seeds, Stream};
use shortflow_units::{HostId, Instant, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "poisson",
    summary: "independent flows at random times, at an offered load or a rate",
    source: "",
    parameters,
    read,
};

keys! {
    /// What is not about hosts or messages.
    struct PoissonKeys {
        /// offered load, arrival rate x mean size / capacity: of the link to the receiver, for
        /// all-to-all of the links to all receivers together
        load: Option<f64> = optional, Positive(10.0);
        /// flows per second, instead of load
        rate_per_s: Option<f64> = optional, Positive(1e10);
        /// one receiver, or each flow between two hosts chosen at random
        pattern: Pattern = "many-to-one", Choice(PATTERNS);
        /// when arrivals begin
        start: Span = "0s", ANY_TIME;
    }
}

/// Who sends to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    ManyToOne,
    AllToAll,
}

const PATTERNS: &[(&str, Pattern)] =
    &[("many-to-one", Pattern::ManyToOne), ("all-to-all", Pattern::AllToAll)];

#[derive(Debug, Clone)]
struct Poisson {
    start: Instant,
    flows_per_s: f64,
    from: Vec<HostId>,
    to: Vec<HostId>,
    messages: Messages,
}

fn parameters() -> Vec<ParamInfo> {
    [PoissonKeys::parameters(), Ends::parameters(), Messages::parameters()].concat()
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = PoissonKeys::read(reader)?;
    let ends = Ends::read(reader)?;
    let (from, to) = match keys.pattern {
        Pattern::ManyToOne => ends.many_to_one(reader, context).map(|(from, to)| (from, vec![to]))?,
        Pattern::AllToAll => ends.many_to_many(reader, context)?,
    };
    let messages = Messages::read(reader, context)?;
    let mean = messages.sizes.mean();
    let capacity: f64 = to.iter().map(|host| context.access_rate(*host).as_bps() as f64).sum();
    let flows_per_load = capacity / (8.0 * mean);
    let flows_per_s = keys.flows_per_s(flows_per_load, reader)?;
    let start = context.start(reader, "start", keys.start)?;
    let seconds = context.duration.saturating_sub(keys.start).as_secs_f64();
    context.expect(flows_per_s * seconds, mean);
    context.destinations.extend(&to);
    let links = match to.as_slice() {
        [to] => context.access_port(*to),
        several => format!("the links to {} hosts", several.len()),
    };
    let (load, rate) = (four_digits(flows_per_s / flows_per_load), four_digits(flows_per_s));
    context
        .note(reader, &format!("offered load {load} of {links}: {rate} flows/s of mean {}", size_text(mean)));
    Ok(Box::new(Poisson { start, flows_per_s, from, to, messages }))
}

impl PoissonKeys {
    fn flows_per_s(&self, flows_per_load: f64, reader: &Reader) -> Result<f64, ConfigError> {
        match (self.load, self.rate_per_s) {
            (Some(load), None) => Ok(load * flows_per_load),
            (None, Some(rate)) => Ok(rate),
            (None, None) => Err(reader.impossible("load", "missing; either load or rate_per_s is needed")),
            (Some(_), Some(_)) => {
                Err(reader.impossible("rate_per_s", "given together with load; one of them is enough"))
            }
        }
    }
}

impl Traffic for Poisson {
    fn start(&self, seeds: Seeds, index: usize) -> Box<dyn Arrivals> {
        let poisson = self.clone();
        let mut gaps = seeds.stream("traffic gaps", index);
        let mut hosts = seeds.stream("traffic hosts", index);
        let mut draws = self.messages.draws(seeds, index);
        let mut at = self.start;
        Box::new(std::iter::repeat_with(move || {
            at += Span::from_secs_f64(gaps.exponential(1.0) / poisson.flows_per_s);
            poisson.messages.arrival(&mut draws, at, poisson.ends(&mut hosts), 0)
        }))
    }
}

impl Poisson {
    /// A sender and another host that receives. There is one for every sender.
    fn ends(&self, stream: &mut Stream) -> (HostId, HostId) {
        let mut any = |hosts: &[HostId]| hosts[stream.below(hosts.len() as u64) as usize];
        let source = any(&self.from);
        loop {
            let destination = any(&self.to);
            if destination != source {
                return (source, destination);
            }
        }
    }
}
