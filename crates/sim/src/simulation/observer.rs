//! [`Observer`]: watches a run, and may stop it.

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
    /// Finite flows so far.
    pub flows: u64,
    /// Estimated end of the last flow: open flows go on at their recent rates or to their timeouts, and those at the end of the
    /// measured time resemble them.
    pub last: Instant,
}

impl RunProgress {
    /// Estimated end of a run whose arrivals end at `measured`, at most `limit`. New flows take the mean time of the others, and
    /// the longest of many a multiple of it.
    pub fn expected_end(&self, measured: Instant, limit: Instant) -> Instant {
        let (open, flows) = (self.open as f64, self.flows.max(1) as f64);
        let mean = open / flows * self.now.min(measured).since(Instant::ZERO).as_secs_f64();
        let longest = Span::from_secs_f64(mean * (1.0 + libm::log(open.max(1.0))));
        (self.now.max(measured) + longest).max(self.last).min(limit)
    }
}

/// Watches a run.
pub trait Observer {
    /// Called every few thousand events. `false` stops the run. Other cores sometimes wait for it.
    fn tick(&mut self, standing: RunProgress) -> bool;

    /// Packet events to record. Asked once, before the run. `None` costs nothing.
    fn watches(&self) -> Option<TraceFilter> {
        None
    }

    /// Receives events of watched packets in order of time, before each tick and at the end.
    fn packets(&mut self, _events: Vec<PacketEvent>) {}

    /// Flows to account for. Asked once, before the run. `None` costs nothing.
    fn explains(&self) -> Option<Explained> {
        None
    }

    /// Receives the accounts of finished flows in order of time, before each tick and at the end.
    fn accounts(&mut self, _accounts: Vec<FlowAccount>) {}
}

/// Does nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn tick(&mut self, _: RunProgress) -> bool {
        true
    }
}
