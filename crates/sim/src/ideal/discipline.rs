//! [`Discipline`]: in which order a link serves its jobs, as fluid.

use shortflow_units::{Instant, Span};

/// Work for a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Arrival time.
    pub arrives: Instant,
    /// Service time alone.
    pub work: Span,
    /// Deadline; [`Instant::MAX`] for none.
    pub deadline: Instant,
}

/// Jobs that are done: their index and when.
pub(super) type Finished = Vec<(u32, Instant)>;

/// Serves finite jobs as fluid.
pub(super) trait Discipline {
    /// Takes a job at the instant up to which it has been advanced.
    fn add(&mut self, index: u32, job: &Job);
    /// Serves until `until` beside `backlogged` flows without end; returns the service, in
    /// picoseconds, that all of those get together.
    fn advance(&mut self, until: Instant, backlogged: u32, finished: &mut Finished) -> f64;
}

/// The nearest whole picosecond.
pub(super) fn instant(ps: f64) -> Instant {
    Instant::from_ps(ps.round() as u64)
}
