//! Incast: many simultaneous flows to one host, such as the answers to a query.

use super::context::{Context, four_digits, size_text};
use super::hosts::HostPair;
use super::messages::{Draws, Messages};
use super::{Count, Expected, FlowArrival, MeasurementWindow, Traffic, Workload};
use crate::config::{ANY_TIME, ConfigError, Kind, POSITIVE_TIME, ParamInfo, Reader, keys};
use crate::engine::{Seeds, Stream};
use shortflow_units::{Bytes, HostId, Instant, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "incast",
    summary: "bursts of flows to one host that start together",
    source: "",
    parameters,
    read,
};

keys! {
    /// Keys other than hosts and messages.
    struct IncastKeys {
        /// number of flows in one burst; the senders take turns
        flows: u32 = required, 1..=1_000_000u32;
        /// start of the first burst
        at: Span = "0s", ANY_TIME;
        /// largest random delay of the start of a flow
        jitter: Span = "0s", ANY_TIME;
        /// number of bursts
        repeat: u32 = "1", 1..=1_000_000u32;
        /// time between the starts of consecutive bursts
        every: Span = "100ms", POSITIVE_TIME, acts: repeat > 1;
    }
}

#[derive(Debug, Clone)]
struct Incast {
    keys: IncastKeys,
    from: Vec<HostId>,
    to: HostId,
    messages: Messages,
}

fn parameters() -> Vec<ParamInfo> {
    [IncastKeys::parameters(), HostPair::to_one_host(), Messages::parameters()].concat()
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = IncastKeys::read(reader)?;
    let (from, to) = HostPair::read(reader)?.many_to_one(reader, context)?;
    let messages = Messages::read(reader, context)?;
    check_times(&keys, reader, context)?;
    let burst = f64::from(keys.flows) * messages.sizes.mean();
    let transfer = context.access_rate(to).tx_time(Bytes::new(burst as u64)).as_secs_f64();
    let load = if keys.repeat > 1 { transfer / keys.every.as_secs_f64() } else { 0.0 };
    let all = f64::from(keys.flows) * f64::from(keys.repeat);
    messages.expect(context, all, keys.flows, (load, [context.to_host(to, load)]));
    context.peers.add(&from, &[to]);
    context.note(
        reader,
        &format!(
            "{} x {} flows of mean {} over {}, which needs {}ms for each burst of {}",
            keys.repeat,
            keys.flows,
            size_text(messages.sizes.mean()),
            context.access_port(to),
            four_digits(transfer * 1e3),
            size_text(burst),
        ),
    );
    Ok(Box::new(Incast { keys, from, to, messages }))
}

fn check_times(keys: &IncastKeys, reader: &Reader, context: &Context) -> Result<(), ConfigError> {
    context.start(reader, "at", keys.at)?;
    let last = keys.at + keys.every.times(u64::from(keys.repeat) - 1);
    if last + keys.jitter >= context.duration {
        let reason = format!(
            "burst {} would start between {last} and {}, not before the end of arrivals, duration = {}",
            keys.repeat,
            last + keys.jitter,
            context.duration
        );
        return Err(reader.impossible(if keys.repeat == 1 { "jitter" } else { "repeat" }, reason));
    }
    if keys.repeat > 1 && keys.jitter >= keys.every {
        let reason = format!("{} would mix bursts that are {} apart (every)", keys.jitter, keys.every);
        return Err(reader.impossible("jitter", reason));
    }
    Ok(())
}

impl Traffic for Incast {
    fn expected(&self, measured: MeasurementWindow) -> Expected {
        let IncastKeys { flows, at, jitter, repeat, every } = self.keys;
        let (mut whole, mut parts) = (0, 0.0);
        for burst in 0..u64::from(repeat) {
            let first = Instant::ZERO + at + every.times(burst);
            match first + jitter {
                _ if first >= measured.from => whole += u64::from(flows),
                last if last < measured.from => {}
                last => parts += last.since(measured.from).as_secs_f64() / jitter.as_secs_f64(),
            }
        }
        Expected::finite(match parts > 0.0 {
            true => Count::About(whole as f64 + parts * f64::from(flows)),
            false => Count::Exactly(whole),
        })
    }

    fn start(&self, seeds: Seeds, index: usize) -> Workload {
        let incast = self.clone();
        let mut jitter = seeds.stream("traffic gaps", index);
        let mut draws = self.messages.draws(seeds, index);
        let bursts = (0..u64::from(self.keys.repeat)).map(move |burst| {
            let at = Instant::ZERO + incast.keys.at + incast.keys.every.times(burst);
            incast.burst(at, &mut jitter, &mut draws)
        });
        Workload::open(bursts.flatten())
    }
}

impl Incast {
    /// Flows of the burst at `at`, in order of their start times.
    fn burst(&self, at: Instant, jitter: &mut Stream, draws: &mut Draws) -> Vec<FlowArrival> {
        let senders = self.from.len();
        let mut flow = |number: usize| {
            let late = Span::from_ps(jitter.below(self.keys.jitter.as_ps() + 1));
            let ends = (self.from[number % senders], self.to);
            self.messages.arrival(draws, at + late, ends, (number / senders) as u32)
        };
        let mut flows: Vec<FlowArrival> = (0..self.keys.flows as usize).map(&mut flow).collect();
        flows.sort_by_key(|flow| flow.at);
        flows
    }
}
