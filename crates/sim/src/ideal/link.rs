//! One link under one discipline.

use super::discipline::{Discipline, Finished, Job};
use shortflow_units::Instant;

/// A link and the flows that it serves.
pub(super) struct Link {
    discipline: Box<dyn Discipline>,
    finished: Finished,
    backlogged: u32,
    leftover: f64,
    added: u32,
}

impl Link {
    pub(super) fn new(discipline: Box<dyn Discipline>) -> Link {
        Link { discipline, finished: Vec::new(), backlogged: 0, leftover: 0.0, added: 0 }
    }

    /// Takes a job, which arrives no earlier than the ones before.
    pub(super) fn add(&mut self, job: &Job) {
        self.advance(job.arrives);
        self.discipline.add(self.added, job);
        self.added += 1;
    }

    /// Takes a flow that never ends and arrives at `at`. Returns the [`Link::leftover`] then.
    pub(super) fn add_backlogged(&mut self, at: Instant) -> f64 {
        self.advance(at);
        self.backlogged += 1;
        self.added += 1;
        self.leftover
    }

    /// A flow that never ends is stopped at `at`. Returns the [`Link::leftover`] then.
    pub(super) fn stop_backlogged(&mut self, at: Instant) -> f64 {
        self.advance(at);
        self.backlogged -= 1;
        self.leftover
    }

    /// Serves until `until`.
    pub(super) fn advance(&mut self, until: Instant) {
        let together = self.discipline.advance(until, self.backlogged, &mut self.finished);
        if self.backlogged > 0 {
            self.leftover += together / f64::from(self.backlogged);
        }
    }

    /// Service that a backlogged flow would have had if it had been there from the first one on, in
    /// picoseconds.
    pub(super) fn leftover(&self) -> f64 {
        self.leftover
    }

    /// The jobs that are done, by their position among all that were added.
    pub(super) fn finished(&self) -> &Finished {
        &self.finished
    }
}
