//! [`Traffic`]: interface of all traffic kinds.

use super::application::{AppActions, Application};
use super::context::Context;
use super::{Arrivals, Count, Expected, MeasurementWindow};
use crate::config::{ConfigError, Reader};
use crate::engine::Seeds;
use crate::needs::Needs;
use shortflow_units::{Bytes, Span};
use std::fmt::Debug;

/// Reads a traffic entry from its table.
pub(super) type Read = fn(&Reader, &mut Context) -> Result<Box<dyn Traffic>, ConfigError>;

/// A validated `[[traffic]]` entry, immutable and shared by runs.
pub trait Traffic: Send + Sync + Debug {
    /// The flows for one seed. `index` is the position of the entry in the scenario, from 0.
    fn start(&self, seeds: Seeds, index: usize) -> Workload;

    /// Number of measured flows. The default counts the flows of one seed, so it is exact only if start times
    /// do not depend on the seed.
    fn expected(&self, measured: MeasurementWindow) -> Expected {
        self.start(Seeds::new(0), 0).expected(measured)
    }
}

/// A traffic entry in one run.
pub enum Workload {
    /// Open-loop flows, whose start times do not depend on the network.
    Open(Box<dyn Arrivals>),
    /// A closed-loop application, which waits for responses.
    Closed(Box<dyn Application>),
}

impl Workload {
    /// Open-loop flows.
    pub(super) fn open(arrivals: impl Arrivals + 'static) -> Workload {
        Workload::Open(Box::new(arrivals))
    }

    /// Demands of entry `index` on the execution of a run. An answer that takes at least as long as the
    /// `longest` delay of a link starts after all nodes know of the arrival. Then the nodes can be simulated
    /// in any order.
    pub(crate) fn needs(&self, index: usize, reaction: Span, longest: Span) -> Needs {
        match self {
            Workload::Open(_) => Needs::default(),
            Workload::Closed(_) if reaction >= longest && !longest.is_zero() => {
                Needs { answers: true, ..Needs::default() }
            }
            Workload::Closed(_) => {
                let waits = format!("traffic.{} waits for answers", index + 1);
                let reason =
                    format!("{waits}, and host.reaction is below {longest}, the longest delay of a link");
                Needs { answers: true, ..Needs::global_order(reason) }
            }
        }
    }

    /// Number of measured flows in the first steps of this workload. It is exact only if start times do not
    /// depend on the seed.
    pub(super) fn expected(self, measured: MeasurementWindow) -> Expected {
        match self {
            Workload::Open(arrivals) => {
                let (mut flows, mut backlogged) = (0, 0);
                for flow in arrivals.take_while(|flow| flow.at < measured.to) {
                    match flow.size {
                        Bytes::MAX => backlogged += 1,
                        _ => flows += u64::from(measured.counts(flow.at)),
                    }
                }
                Expected { flows: Count::Exactly(flows), backlogged }
            }
            Workload::Closed(mut application) => {
                let mut actions = AppActions::default();
                application.begin(&mut actions);
                let first = actions.take_requests();
                let counted = first.iter().filter(|sending| measured.counts(sending.arrival.at)).count();
                Expected::finite(Count::AtLeast(counted as u64))
            }
        }
    }
}
