//! Policies that serve one flow at a time, the flow of the lowest rank: SRPT, SJF, EDF, FIFO. An arriving
//! flow of lower rank preempts. Flows of equal rank are served in order of arrival. All arithmetic is in
//! whole picoseconds.

use super::discipline::{Discipline, Finished, Job};
use shortflow_units::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Rank of a job with this remaining work. The rank must not grow while the job is served.
type Rank = fn(&Job, Span) -> u64;

/// Serves the job of the lowest rank.
pub(super) struct PriorityDiscipline {
    rank: Rank,
    now: Instant,
    waiting: BinaryHeap<Reverse<Waiting>>,
}

#[derive(Clone, Copy)]
struct Waiting {
    rank: u64,
    index: u32,
    remaining: Span,
    job: Job,
}

impl PriorityDiscipline {
    pub(super) fn new(rank: Rank) -> PriorityDiscipline {
        PriorityDiscipline { rank, now: Instant::ZERO, waiting: BinaryHeap::new() }
    }
}

impl Discipline for PriorityDiscipline {
    fn add(&mut self, index: u32, job: &Job) {
        let rank = (self.rank)(job, job.work);
        self.waiting.push(Reverse(Waiting { rank, index, remaining: job.work, job: *job }));
    }

    fn advance(&mut self, until: Instant, _: u32, finished: &mut Finished) -> f64 {
        while let Some(mut first) = self.waiting.peek_mut() {
            let finish = self.now + first.0.remaining;
            if finish > until {
                let Waiting { job, remaining, .. } = first.0;
                let remaining = remaining.saturating_sub(until.since(self.now));
                first.0.remaining = remaining;
                first.0.rank = (self.rank)(&job, remaining);
                self.now = until;
                return 0.0;
            }
            finished.push((first.0.index, finish));
            self.now = finish;
            PeekMut::pop(first);
        }
        let idle = until.since(self.now);
        self.now = until;
        idle.as_ps() as f64
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.rank, self.index).cmp(&(other.rank, other.index))
    }
}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Waiting {}
