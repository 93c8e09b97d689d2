//! One link under one policy.

use super::Policy;
use super::demand::Demand;
use shortflow_units::{Instant, Span};

/// Work for a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// When it comes.
    pub arrives: Instant,
    /// How long it would take alone.
    pub work: Span,
    /// When it should be done; [`Instant::MAX`] for no deadline.
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

/// A link and the flows that it serves.
pub(super) struct Link {
    discipline: Box<dyn Discipline>,
    finished: Finished,
    backlogged: u32,
    leftover: f64,
    added: u32,
}

impl Link {
    pub(super) fn new(policy: Policy) -> Link {
        let discipline = (policy.discipline)();
        Link { discipline, finished: Vec::new(), backlogged: 0, leftover: 0.0, added: 0 }
    }

    /// Takes a job, which arrives no earlier than the ones before.
    fn add(&mut self, job: &Job) {
        self.advance(job.arrives);
        self.discipline.add(self.added, job);
        self.added += 1;
    }

    /// Takes the demands in turn, then serves until `until`. Returns the [`Link::leftover`] at
    /// the start of each backlogged one.
    pub(super) fn play(&mut self, demands: &[Demand], until: Instant) -> Vec<f64> {
        let mut starts = Vec::new();
        for demand in demands {
            if demand.backlogged {
                self.advance(demand.job.arrives);
                starts.push(self.leftover);
                self.backlogged += 1;
                self.added += 1;
            } else {
                self.add(&demand.job);
            }
        }
        self.advance(until);
        starts
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

/// When each of `jobs`, given in the order of arrival, is done on a link of its own under `policy`.
pub fn finishes(policy: Policy, jobs: &[Job]) -> Vec<Instant> {
    let mut link = Link::new(policy);
    jobs.iter().for_each(|job| link.add(job));
    link.advance(Instant::MAX);
    let mut finishes = vec![Instant::MAX; jobs.len()];
    link.finished.iter().for_each(|(index, at)| finishes[*index as usize] = *at);
    finishes
}
