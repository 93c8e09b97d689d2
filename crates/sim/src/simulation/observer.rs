//! [`Observer`]: receives progress and packet events of a run, and may stop the run.

use crate::probe::account::{Explained, FlowAccount};
use crate::probe::watch::{PacketEvent, TraceFilter};
use shortflow_units::{Instant, Span};

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunProgress {
    /// Simulated time.
    pub now: Instant,
    /// Unfinished finite flows, for which the drain waits.
    pub open: u64,
    /// Finite flows that have started.
    pub flows: u64,
    /// Estimated end of the last flow. Assumes that open flows continue at their recent rates or wait for
    /// their timeouts, and that flows open at the end of the measured time need as long.
    pub last: Instant,
}

impl RunProgress {
    /// Estimated end of the run, at most `limit`. Flows stop arriving at `measured`. Flows that are still
    /// open then take the mean FCT so far (Little's law), times 1 + ln(open) for the longest of them.
    pub fn expected_end(&self, measured: Instant, limit: Instant) -> Instant {
        let (open, flows) = (self.open as f64, self.flows.max(1) as f64);
        let mean = open / flows * self.now.min(measured).since(Instant::ZERO).as_secs_f64();
        let longest = Span::from_secs_f64(mean * (1.0 + libm::log(open.max(1.0))));
        (self.now.max(measured) + longest).max(self.last).min(limit)
    }
}

/// Receives progress and packet events of a run.
pub trait Observer {
    /// Reports progress every few thousand events. Returns `false` to stop the run. All cores may wait for
    /// this call.
    fn tick(&mut self, standing: RunProgress) -> bool;

    /// Packet events to record, asked once before the run. `None` costs no time.
    fn watches(&self) -> Option<TraceFilter> {
        None
    }

    /// Receives the watched packet events in order of time, before each tick and at the end.
    fn packets(&mut self, _events: Vec<PacketEvent>) {}

    /// Flows to account for, asked once before the run. `None` costs no time.
    fn explains(&self) -> Option<Explained> {
        None
    }

    /// Receives the accounts of finished flows in order of time, before each tick and at the end.
    fn accounts(&mut self, _accounts: Vec<FlowAccount>) {}
}

/// Observes nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn tick(&mut self, _: RunProgress) -> bool {
        true
    }
}
