//! [`Observer`]: looks on while a run goes on, and may stop it.

use crate::probe::watch::{PacketEvent, TraceFilter};
use shortflow_units::{Instant, Span};

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunProgress {
    /// Simulated time.
    pub now: Instant,
    /// Finite flows that are not done, for which the drain waits.
    pub open: u64,
    /// Finite flows so far.
    pub flows: u64,
    /// When the last flow is done, if the flows at the last look are like those at the end of the measured time: at their recent
    /// rates, or at their timeouts.
    pub last: Instant,
}

impl RunProgress {
    /// About when a run will end whose arrivals end at `measured`, and which ends at `limit` at the latest: flows that
    /// have just begun take as long as the mean of the others, and the longest of many some times that.
    pub fn expected_end(&self, measured: Instant, limit: Instant) -> Instant {
        let (open, flows) = (self.open as f64, self.flows.max(1) as f64);
        let mean = open / flows * self.now.min(measured).since(Instant::ZERO).as_secs_f64();
        let longest = Span::from_secs_f64(mean * (1.0 + libm::log(open.max(1.0))));
        (self.now.max(measured) + longest).max(self.last).min(limit)
    }
}

/// Looks on while a run goes on.
pub trait Observer {
    /// Called every few thousand events; `false` stops the run. On several cores the others wait for it now and then.
    fn tick(&mut self, standing: RunProgress) -> bool;

    /// Events of packets to record; asked once, before the run. `None` costs nothing.
    fn watches(&self) -> Option<TraceFilter> {
        None
    }

    /// Told before each tick, and at the end, what happened to watched packets, in order of time.
    fn packets(&mut self, _events: Vec<PacketEvent>) {}
}

/// Lets a run go on undisturbed.
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn tick(&mut self, _: RunProgress) -> bool {
        true
    }
}
