//! Open-loop flows at an offered load or a rate, between hosts of a pattern.

use super::context::{Context, four_digits, size_text};
use super::crossing;
use super::interarrival::{self, InterArrival};
use super::messages::Messages;
use super::pattern::Pattern;
use super::{Count, Expected, MeasurementWindow, Traffic, Workload};
use crate::config::{ANY_TIME, ConfigError, Flag, Kind, ParamInfo, Positive, Reader, Shape, Text, keys};
use crate::engine::Seeds;
use crate::topology::find_port;
use shortflow_units::{Instant, NodeId, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "arrivals",
    summary: "independent flows with inter-arrival times of any distribution: regular, log-normal, in bursts, …",
    source: "",
    parameters: || [vec![interarrival_parameter()], parameters()].concat(),
    read: |reader, context| {
        let table = reader.required_table("interarrival", &Shape::Kinds(interarrival::TABLE))?;
        read(interarrival::read(&table)?, reader, context)
    },
};

keys! {
    /// Keys other than hosts, inter-arrival times and messages.
    struct ArrivalKeys {
        /// offered load, arrival rate x mean size / capacity: of link; unless link is given, of the link to the
        /// receiver, or of the links to all receivers together
        load: Option<f64> = optional, Positive(10.0);
        /// count the headers of packets in load, in addition to payload
        load_with_headers: bool = "false", Flag, acts: load != "";
        /// number of flows per second, instead of load
        rate_per_s: Option<f64> = optional, Positive(1e10);
        /// link whose load is given; flows that cross the link count
        link: Option<String> = optional, Text::Port, acts: load != "";
        /// time at which arrivals begin
        start: Span = "0s", ANY_TIME;
    }
}

#[derive(Debug, Clone)]
struct Flows {
    interarrival: InterArrival,
    start: Instant,
    flows_per_s: f64,
    pattern: Pattern,
    messages: Messages,
}

fn interarrival_parameter() -> ParamInfo {
    ParamInfo::new(
        "interarrival",
        ParamInfo::REQUIRED,
        Shape::Kinds(interarrival::TABLE),
        "distribution of the times between arrivals",
    )
}

/// Keys of every traffic kind that [`read`] reads.
pub(super) fn parameters() -> Vec<ParamInfo> {
    [ArrivalKeys::parameters(), Pattern::parameters(), Messages::parameters()].concat()
}

/// Reads open-loop flows with the given inter-arrival times.
pub(super) fn read(
    interarrival: InterArrival,
    reader: &Reader,
    context: &mut Context,
) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = ArrivalKeys::read(reader)?;
    let pattern = Pattern::read(reader, context)?;
    let messages = Messages::read(reader, context)?;
    let mean = messages.sizes.mean();
    let target = Target::of(&keys, &pattern, reader, context)?;
    let counted = if keys.load_with_headers { messages.mean_with_headers(context) } else { mean };
    let flows_per_load = target.capacity / (8.0 * counted * target.share);
    let flows_per_s = keys.flows_per_s(flows_per_load, reader)?;
    let start = context.start(reader, "start", keys.start)?;
    let seconds = context.duration.saturating_sub(keys.start).as_secs_f64();
    let load = flows_per_s / flows_per_load;
    let shares = crossing::quick_shares(context.graph, &pattern);
    let offered = shares.into_iter().map(|share| flows_per_s * 8.0 * mean * share).enumerate();
    messages.expect(context, flows_per_s * seconds, interarrival.together(), (load, offered));
    let (load, rate) = (four_digits(load), four_digits(flows_per_s));
    let with = if keys.load_with_headers { " with headers" } else { "" };
    let note =
        format!("offered load {load}{with} of {}: {rate} flows/s of mean {}", target.name, size_text(mean));
    context.note(reader, &note);
    if flows_per_s > flows_per_load {
        let key = reader.path(if keys.load.is_some() { "load" } else { "rate_per_s" });
        let name = target.name;
        context
            .warnings
            .push(format!("{key}: {load} of {name} is above its capacity: queues grow until arrivals stop"));
    }
    Ok(Box::new(Flows { interarrival, start, flows_per_s, pattern, messages }))
}

/// Capacity to which the offered load refers.
struct Target {
    name: String,
    /// Capacity in bits per second.
    capacity: f64,
    /// Share of the flows that cross this link.
    share: f64,
}

impl Target {
    fn of(
        keys: &ArrivalKeys,
        pattern: &Pattern,
        reader: &Reader,
        context: &Context,
    ) -> Result<Target, ConfigError> {
        match &keys.link {
            Some(link) => {
                let port = find_port(link, "link", context.graph, reader)?;
                Target::link(link, port, pattern, reader, context)
            }
            None => Ok(Target::receivers(pattern, context)),
        }
    }

    fn link(
        link: &str,
        port: (NodeId, NodeId),
        pattern: &Pattern,
        reader: &Reader,
        context: &Context,
    ) -> Result<Target, ConfigError> {
        let share = crossing::share(context.graph, pattern, port);
        if share <= 0.0 {
            return Err(reader.impossible("link", format!("no flow of this traffic crosses {link}")));
        }
        let joins = |link: &&crate::topology::Link| (link.a, link.b) == port || (link.b, link.a) == port;
        let rates: Vec<f64> =
            context.graph.links.iter().filter(joins).map(|link| link.rate.as_bps() as f64).collect();
        let percent = four_digits(share * 100.0);
        let name = format!("{link} ({}), which {percent}% of the flows cross", rate_text(rates.iter().sum()));
        Ok(Target { name, capacity: rates.iter().sum(), share })
    }

    fn receivers(pattern: &Pattern, context: &Context) -> Target {
        let to = pattern.receivers();
        let name = match to.as_slice() {
            [to] => context.access_port(*to),
            several => format!("the links to {} hosts", several.len()),
        };
        let capacity = to.iter().map(|host| context.access_rate(*host).as_bps() as f64).sum();
        Target { name, capacity, share: 1.0 }
    }
}

fn rate_text(bps: f64) -> String {
    shortflow_units::Rate::new(bps as u64).map_or_else(String::new, |rate| rate.to_string())
}

impl ArrivalKeys {
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

impl Traffic for Flows {
    fn expected(&self, measured: MeasurementWindow) -> Expected {
        let gap = Span::from_secs_f64(1.0 / self.flows_per_s);
        if self.interarrival == InterArrival::Fixed && !gap.is_zero() {
            return Expected::finite(Count::Exactly(measured.regular(self.start + gap, gap)));
        }
        let seconds = measured.to.since(measured.from.max(self.start)).as_secs_f64();
        Expected::finite(Count::About(self.flows_per_s * seconds))
    }

    fn start(&self, seeds: Seeds, index: usize) -> Workload {
        let flows = self.clone();
        let mut stream = seeds.stream("traffic gaps", index);
        let mut pairs = self.pattern.pairs(seeds, index);
        let mut draws = self.messages.draws(seeds, index);
        let mut at = self.start;
        Workload::open((0..).map(move |number| {
            at += Span::from_secs_f64(flows.interarrival.sample(number, &mut stream) / flows.flows_per_s);
            flows.messages.arrival(&mut draws, at, pairs.draw(), 0)
        }))
    }
}
