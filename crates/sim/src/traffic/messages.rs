//! [`Messages`]: keys and draws that the finite flows of all traffic kinds share.

use super::context::Context;
use super::deadlines::{self, Deadlines};
use super::flow::{ConnectionUse, Connections, FlowArrival};
use super::sizes::{self, Sizes};
use crate::config::{ConfigError, ParamInfo, Reader, Shape, Text, keys};
use crate::engine::{Seeds, Stream};
use crate::theory::fct::segments;
use shortflow_units::{Bytes, ClassId, HostId, Instant};
use std::sync::Arc;

/// Sizes, deadlines, class and connections of the flows of a traffic entry.
#[derive(Debug, Clone)]
pub(super) struct Messages {
    pub sizes: Arc<dyn Sizes>,
    deadlines: Option<Deadlines>,
    class: ClassId,
    connections: Connections,
}

/// Random streams for sizes and deadlines.
pub(super) struct Draws {
    sizes: Stream,
    deadlines: Stream,
}

keys! {
    /// Keys with plain values.
    struct MessageKeys {
        /// name of the traffic class in results
        class: String = "short", Text::Name;
        /// sharing of connections: new: each flow has a connection; persistent: flows of this entry between two hosts
        /// share a connection; shared: flows of all entries with shared between two hosts share a connection
        connections: Connections = "new", Connections::WORDS;
    }
}

impl Messages {
    /// Reads the keys of [`Messages::parameters`].
    pub(super) fn read(reader: &Reader, context: &mut Context) -> Result<Messages, ConfigError> {
        let keys = MessageKeys::read(reader)?;
        let sizes = sizes::read(&reader.required_table("sizes", &Shape::Kinds(sizes::TABLE))?)?;
        let deadlines =
            reader.optional_table("deadline")?.map(|table| deadlines::read(&table)).transpose()?;
        context.deadlines |= deadlines.is_some();
        Ok(Messages { sizes, deadlines, class: context.class(&keys.class), connections: keys.connections })
    }

    /// Mean flow size in bytes on a link, including headers and padding. The mean padding and the mean unused
    /// part of last packets come from 10,000 draws, with an error of about a hundredth of a packet.
    pub(super) fn mean_with_headers(&self, context: &Context) -> f64 {
        const DRAWS: u32 = 10_000;
        let tcp = &context.tcp;
        let (mss, mut stream) = (tcp.mss.as_f64(), Seeds::new(0).stream("traffic headers", 0));
        let empty = |packets: f64| packets.ceil() - packets;
        let headers = |payload| (tcp.link_bytes(payload) - payload).as_f64();
        let of_full = headers(tcp.mss);
        let padding = |size| headers(segments(size, tcp.mss).1) - of_full;
        let drawn = |size: Bytes| empty(size.as_f64() / mss) + padding(size) / of_full;
        let all: f64 = (0..DRAWS).map(|_| drawn(self.sizes.sample(&mut stream))).sum();
        let mean = self.sizes.mean();
        mean + (mean / mss + all / f64::from(DRAWS)) * of_full
    }

    /// Counts `flows` flows, of which `together` start at once. `load` is the offered load. `offered` has
    /// bits of payload per second on links; headers are added here.
    pub(super) fn expect(
        &self,
        context: &mut Context,
        flows: f64,
        together: u32,
        (load, offered): (f64, impl IntoIterator<Item = (usize, f64)>),
    ) {
        let headers = self.mean_with_headers(context) / self.sizes.mean();
        let offered = offered.into_iter().map(|(place, bps)| (place, bps * headers));
        let apart = self.connections == Connections::New;
        context.expect_sizes(flows, &*self.sizes, together, (load, offered), apart);
    }

    /// The keys as users see them.
    pub(super) fn parameters() -> Vec<ParamInfo> {
        let sizes = ParamInfo::new("sizes", ParamInfo::REQUIRED, Shape::Kinds(sizes::TABLE), "flow sizes");
        let about = "deadlines, relative to the start of a flow";
        [
            MessageKeys::parameters(),
            vec![sizes, ParamInfo::new("deadline", "", Shape::Kinds(deadlines::TABLE), about)],
        ]
        .concat()
    }

    /// Random streams of traffic entry `index`.
    pub(super) fn draws(&self, seeds: Seeds, index: usize) -> Draws {
        Draws {
            sizes: seeds.stream("traffic sizes", index),
            deadlines: seeds.stream("traffic deadlines", index),
        }
    }

    /// Random streams of one member (such as a session) of traffic entry `index`. The draws of a member must
    /// not depend on other members.
    pub(super) fn draws_of(&self, seeds: Seeds, index: usize, member: usize) -> Draws {
        let stream = |purpose: &str| seeds.stream(&format!("traffic {purpose} of {member}"), index);
        Draws { sizes: stream("sizes"), deadlines: stream("deadlines") }
    }

    /// Class of the flows.
    pub(super) fn class(&self) -> ClassId {
        self.class
    }

    /// A flow with random size and deadline. Simultaneous flows between the same hosts must differ in
    /// `number`.
    pub(super) fn arrival(
        &self,
        draws: &mut Draws,
        at: Instant,
        (source, destination): (HostId, HostId),
        number: u32,
    ) -> FlowArrival {
        FlowArrival {
            at,
            source,
            destination,
            size: self.sizes.sample(&mut draws.sizes),
            class: self.class,
            deadline: self.deadlines.as_ref().map(|deadlines| deadlines.sample(&mut draws.deadlines)),
            connection: self.connection(number),
            stop: None,
        }
    }

    /// Connection of the flows with this number.
    pub(super) fn connection(&self, number: u32) -> ConnectionUse {
        self.connections.of(number)
    }
}
