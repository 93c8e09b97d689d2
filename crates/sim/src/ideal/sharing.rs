//! Processor sharing by virtual time: a clock that runs at the service rate of one flow. A flow finishes when
//! the clock has advanced by its work, so one heap holds all finishes in their final order.

use super::discipline::{Discipline, Finished, Job, instant};
use shortflow_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Serves all jobs at equal rates.
#[derive(Default)]
pub(super) struct Sharing {
    now: f64,
    /// Service in picoseconds of a job that has been present since the link was last without jobs.
    clock: f64,
    /// Value of the clock at each job's finish. Non-negative floats are ordered like their bits.
    jobs: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Discipline for Sharing {
    fn add(&mut self, index: u32, job: &Job) {
        let finish = self.clock + job.work.as_ps() as f64;
        self.jobs.push(Reverse((finish.to_bits(), index)));
    }

    fn advance(&mut self, until: Instant, backlogged: u32, finished: &mut Finished) -> f64 {
        let until = until.as_ps() as f64;
        let mut left = 0.0;
        while let Some(Reverse((finish, index))) = self.jobs.peek() {
            let target = f64::from_bits(*finish);
            let sharers = self.jobs.len() as f64 + f64::from(backlogged);
            let needed = (target - self.clock).max(0.0) * sharers;
            let available = until - self.now;
            left += needed.min(available) * f64::from(backlogged) / sharers;
            if needed > available {
                self.clock += available / sharers;
                self.now = until;
                return left;
            }
            self.now += needed;
            self.clock = target;
            finished.push((*index, instant(self.now)));
            self.jobs.pop();
        }
        left += until - self.now;
        self.now = until;
        // No job is left. Restarting the clock keeps it small, and so precise.
        self.clock = 0.0;
        left
    }
}
