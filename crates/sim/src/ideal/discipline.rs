//! [`Discipline`]: order in which a fluid link serves its jobs.

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

/// Finished jobs: index and finish time.
pub(super) type Finished = Vec<(u32, Instant)>;

/// Serves finite jobs as a fluid.
pub(super) trait Discipline {
    /// Adds a job, which arrives at the time of the last advance.
    fn add(&mut self, index: u32, job: &Job);
    /// Serves until `until`, in the presence of `backlogged` endless flows. Returns the total service of
    /// these flows in picoseconds.
    fn advance(&mut self, until: Instant, backlogged: u32, finished: &mut Finished) -> f64;
}

/// The nearest whole picosecond.
pub(super) fn instant(ps: f64) -> Instant {
    Instant::from_ps(ps.round() as u64)
}
