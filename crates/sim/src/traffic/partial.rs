//! Partial deployment: a share of the flows of a traffic entry runs another transport than the scheme's. The
//! class of a flow determines its transport. If a class also has flows with the scheme's transport, the flows
//! with the other transport form a class `CLASS-TRANSPORT`.

use super::application::{AppActions, Application, FlowRequest};
use super::context::Context;
use super::expected::{Expected, MeasurementWindow};
use super::flow::{ConnectionUse, Connections, FlowArrival};
use super::workload::{Traffic, Workload};
use crate::config::{ConfigError, Positive, Reader, Text, keys};
use crate::engine::{Seeds, Stream};
use shortflow_cc::TransportConfig;
use shortflow_units::{ClassId, HostId, Instant};
use std::sync::Arc;

keys! {
    /// Keys for transports, valid for every traffic kind.
    pub(super) struct PartialKeys {
        /// transport, with its parameters, that replaces the scheme's transport; if other flows of their class keep the
        /// scheme's transport, these flows have the class CLASS-TRANSPORT
        transport: Option<String> = optional, Text::Transport;
        /// share of the flows with transport, or of the connections if flows share connections; 1 unless given
        transport_share: Option<f64> = optional, Positive(1.0);
    }
}

/// Wraps `traffic` so that a share of its flows runs the transport of its entry.
pub(super) fn read(
    reader: &Reader,
    context: &mut Context,
    traffic: Box<dyn Traffic>,
) -> Result<Box<dyn Traffic>, ConfigError> {
    let PartialKeys { transport, transport_share } = PartialKeys::read(reader)?;
    let Some(text) = transport else {
        return match transport_share {
            Some(_) => Err(reader.impossible("transport_share", "needs transport; set both keys")),
            None => Ok(traffic),
        };
    };
    if reader.resolved("connections").as_deref() == Some(Connections::Shared.word()) {
        let reason = "flows of other entries may share these connections; set connections = \"persistent\"";
        return Err(reader.impossible("transport", reason));
    }
    let config =
        TransportConfig::parse(&text).map_err(|error| reader.impossible("transport", error.to_string()))?;
    let share = transport_share.unwrap_or(1.0);
    if transport_share.is_none() {
        context.warnings.push(format!(
            "{}: all flows of the entry run {text} under every scheme; set transport_share = 1 if you intend this",
            reader.path("transport")
        ));
    }
    let mut classes = (0..context.classes.len()).map(ClassId::from).collect::<Vec<_>>();
    for of_scheme in std::mem::take(&mut context.mentioned) {
        let plain = context.classes[of_scheme.index()].clone();
        let is_alone =
            share >= 1.0 && context.elsewhere.as_ref().is_some_and(|others| !others.contains(&plain));
        let name = if is_alone { plain } else { format!("{plain}-{}", config.info().name) };
        let class = context.class(&name);
        let known = context.transports.entry(class).or_insert_with(|| (text.clone(), config.clone()));
        if known.0 != text {
            let reason = format!("{text:?} and {:?} would both be class {name:?}; rename a class", known.0);
            return Err(reader.impossible("transport", reason));
        }
        classes[of_scheme.index()] = class;
    }
    let own = if classes.iter().enumerate().any(|(of, class)| of != class.index()) {
        ", in separate classes"
    } else {
        ""
    };
    context.note(reader, &format!("{} of the flows run {text}{own}", percent(share)));
    Ok(Box::new(Partial { traffic, share, classes: classes.into() }))
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

#[derive(Debug)]
struct Partial {
    traffic: Box<dyn Traffic>,
    share: f64,
    /// For each class of the entry, the class of its flows with the other transport.
    classes: Arc<[ClassId]>,
}

impl Traffic for Partial {
    fn expected(&self, measured: MeasurementWindow) -> Expected {
        self.traffic.expected(measured)
    }

    fn start(&self, seeds: Seeds, index: usize) -> Workload {
        let stream = seeds.stream("traffic transports", index);
        let mut draw = Draw { seeds, index, stream, share: self.share, classes: Arc::clone(&self.classes) };
        match self.traffic.start(seeds, index) {
            Workload::Open(arrivals) => Workload::open(arrivals.map(move |mut flow| {
                let chosen = match flow.connection {
                    ConnectionUse::New => draw.next(),
                    ConnectionUse::Persistent(number) | ConnectionUse::Shared(number) => {
                        draw.of((flow.source, flow.destination), number.into())
                    }
                };
                draw.assign(&mut flow, chosen);
                flow
            })),
            Workload::Closed(application) => {
                Workload::Closed(Box::new(PartialApplication { application, draw }))
            }
        }
    }
}

/// Draws which flows run the other transport.
struct Draw {
    seeds: Seeds,
    index: usize,
    stream: Stream,
    share: f64,
    classes: Arc<[ClassId]>,
}

impl Draw {
    /// Draws for the next flow. Flows must come in a fixed order.
    fn next(&mut self) -> bool {
        self.stream.unit() < self.share
    }

    /// Draws for a flow by its ends and `number`. The result does not depend on the order of starts.
    fn of(&self, (source, destination): (HostId, HostId), number: u64) -> bool {
        let purpose = format!("traffic transports {} {} {number}", source.0, destination.0);
        self.seeds.stream(&purpose, self.index).unit() < self.share
    }

    fn assign(&self, flow: &mut FlowArrival, chosen: bool) {
        if chosen {
            flow.class = self.classes[flow.class.index()];
        }
    }
}

struct PartialApplication {
    application: Box<dyn Application>,
    draw: Draw,
}

impl PartialApplication {
    fn assign(&self, actions: &mut AppActions) {
        for FlowRequest { arrival, tag, .. } in actions.requests_mut() {
            let number = match arrival.connection {
                ConnectionUse::New => *tag,
                ConnectionUse::Persistent(number) | ConnectionUse::Shared(number) => number.into(),
            };
            let chosen = self.draw.of((arrival.source, arrival.destination), number);
            self.draw.assign(arrival, chosen);
        }
    }
}

impl Application for PartialApplication {
    fn begin(&mut self, actions: &mut AppActions) {
        self.application.begin(actions);
        self.assign(actions);
    }

    fn delivered(&mut self, now: Instant, tag: u64, actions: &mut AppActions) {
        self.application.delivered(now, tag, actions);
        self.assign(actions);
    }
}
