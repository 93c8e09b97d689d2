//! Backlogged flows: they start and never end.

use super::context::Context;
use super::hosts::Ends;
use super::{Arrival, Arrivals, ConnectionUse, Traffic};
use crate::config::{ANY_TIME, ConfigError, Kind, Name, ParamInfo, Reader, keys};
use crate::engine::Seeds;
use shortflow_units::{Bytes, ClassId, HostId, Instant, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "long-lived",
    summary: "flows to one host that always have something to send, sources taken in turn",
    source: "",
    parameters,
    read,
};

keys! {
    /// What is not about hosts.
    struct LongLivedKeys {
        /// number of flows
        flows: u32 = required, 1..=1_000_000u32;
        /// when they start
        start: Span = "0s", ANY_TIME;
        /// name of the traffic class in results
        class: String = "long", Name;
    }
}

#[derive(Debug)]
struct LongLived {
    flows: u32,
    start: Instant,
    class: ClassId,
    from: Vec<HostId>,
    to: HostId,
}

fn parameters() -> Vec<ParamInfo> {
    [LongLivedKeys::parameters(), Ends::parameters()].concat()
}

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = LongLivedKeys::read(reader)?;
    let (from, to) = Ends::read(reader)?.many_to_one(reader, context)?;
    let start = context.start(reader, "start", keys.start)?;
    let seconds = context.duration.saturating_sub(keys.start).as_secs_f64();
    context.expect(1.0, context.access_rate(to).as_bps() as f64 / 8.0 * seconds);
    context.destinations.insert(to);
    let flows = if keys.flows == 1 { "1 flow".to_owned() } else { format!("{} flows", keys.flows) };
    context.note(reader, &format!("{flows} without end over {}", context.access_port(to)));
    Ok(Box::new(LongLived { flows: keys.flows, start, class: context.class(&keys.class), from, to }))
}

impl Traffic for LongLived {
    fn start(&self, _: Seeds, _: usize) -> Box<dyn Arrivals> {
        let flow = Arrival {
            at: self.start,
            source: self.to,
            destination: self.to,
            size: Bytes::MAX,
            class: self.class,
            deadline: None,
            connection: ConnectionUse::New,
        };
        let sources = self.from.clone().into_iter().cycle().take(self.flows as usize);
        Box::new(sources.map(move |source| Arrival { source, ..flow }))
    }
}
