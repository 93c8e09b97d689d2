//! Least attained service (foreground–background). Jobs with equal attained service form a level. The link
//! serves only the lowest level, all its jobs equally, until it reaches the next level and the two merge. A
//! level is a heap ordered by work. A merge pours the smaller heap into the larger, so that a job moves O(log
//! n) times.

use super::discipline::{Discipline, Finished, Job, instant};
use shortflow_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Serves the jobs with the least attained service.
#[derive(Default)]
pub(super) struct LasDiscipline {
    now: f64,
    /// Levels in order of falling attained service.
    levels: Vec<Level>,
}

#[derive(Default)]
struct Level {
    attained: f64,
    /// Work in picoseconds, and index of each job.
    jobs: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Discipline for LasDiscipline {
    fn add(&mut self, index: u32, job: &Job) {
        if self.levels.last().is_none_or(|level| level.attained > 0.0) {
            self.levels.push(Level::default());
        }
        if let Some(level) = self.levels.last_mut() {
            level.jobs.push(Reverse((job.work.as_ps(), index)));
        }
    }

    fn advance(&mut self, until: Instant, _: u32, finished: &mut Finished) -> f64 {
        let until = until.as_ps() as f64;
        while let Some(mut level) = self.levels.pop() {
            let ceiling = self.levels.last().map_or(f64::INFINITY, |next| next.attained);
            let smallest = level.jobs.peek().map_or(f64::INFINITY, |Reverse((work, _))| *work as f64);
            let sharers = level.jobs.len() as f64;
            let goal = ceiling.min(smallest);
            let needed = (goal - level.attained).max(0.0) * sharers;
            if needed > until - self.now {
                level.attained += (until - self.now) / sharers;
                self.levels.push(level);
                self.now = until;
                return 0.0;
            }
            self.now += needed;
            level.attained = goal;
            if smallest <= ceiling {
                finished.extend(level.jobs.pop().map(|Reverse((_, index))| (index, instant(self.now))));
                if !level.jobs.is_empty() {
                    self.levels.push(level);
                }
            } else if let Some(next) = self.levels.last_mut() {
                next.jobs.append(&mut level.jobs);
            }
        }
        let idle = until - self.now;
        self.now = until;
        idle
    }
}
