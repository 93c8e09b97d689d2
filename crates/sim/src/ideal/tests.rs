//! Policies on one link. `tests/ideal.rs` has whole scenarios.

use super::*;
use proptest::prelude::*;

const UNIT: u64 = 1_000_000_000; // 1 ms

fn job(arrives: u64, work: u64) -> Job {
    Job { arrives: Instant::from_ps(arrives), work: Span::from_ps(work), deadline: Instant::MAX }
}

fn named(name: &str) -> Policy {
    Policy::named(name).unwrap()
}

/// Finish time minus arrival time of each job.
fn times(policy: Policy, jobs: &[Job]) -> Vec<Span> {
    finishes(policy, jobs).iter().zip(jobs).map(|(finish, job)| finish.since(job.arrives)).collect()
}

fn sum(times: &[Span]) -> Span {
    times.iter().fold(Span::ZERO, |sum, time| sum + *time)
}

/// L2DCT, Fig. 1: C arrives at 0 with size 4, A at 1 with size 1, and B at 2 with size 2. For the claims
/// `l2dct/fig1-ps-afct`, `l2dct/fig1-srpt-afct`, `l2dct/fig1-las-afct` and `l2dct/fig1-las-between`, in half
/// units for C, A and B: means of 14/3, 10/3 and 11/3 units.
#[test]
fn l2dct_fig1() {
    let jobs = [job(0, 4 * UNIT), job(UNIT, UNIT), job(2 * UNIT, 2 * UNIT)];
    for (policy, expected) in
        [("ideal-ps", [14, 5, 9]), ("ideal-srpt", [14, 2, 4]), ("ideal-las", [14, 2, 6])]
    {
        assert_eq!(
            times(named(policy), &jobs),
            expected.map(|half| Span::from_ps(half * UNIT / 2)),
            "{policy}"
        );
    }
}

#[test]
fn sjf_orders_by_original_size_and_srpt_by_remaining_size() {
    let jobs = [job(0, 10), job(8, 4), job(9, 3)];
    assert_eq!(finishes(named("ideal-srpt"), &jobs), [10, 17, 13].map(Instant::from_ps));
    assert_eq!(finishes(named("ideal-sjf"), &jobs), [17, 15, 12].map(Instant::from_ps));
}

#[test]
fn edf_goes_by_deadline_and_fifo_by_arrival() {
    let due = |job: Job, deadline| Job { deadline: Instant::from_ps(deadline), ..job };
    let jobs = [job(0, 10), due(job(1, 10), 50), due(job(2, 10), 40), job(3, 10)];
    assert_eq!(finishes(named("ideal-edf"), &jobs), [30, 21, 12, 40].map(Instant::from_ps));
    assert_eq!(finishes(named("ideal-fifo"), &jobs), [10, 20, 30, 40].map(Instant::from_ps));
}

/// Reference bounds of pECN for N = 80 simultaneous flows, U[2, 50] KB, at 1 Gbps: SJF 5.9, FIFO 8.4, PS 11.6
/// ms.
#[test]
fn pecn_reference_bounds_at_80_senders() {
    let mut sizes = Seeds::new(1).stream("sizes", 0);
    let rounds: Vec<Vec<Job>> = (0..500)
        .map(|_| (0..80).map(|_| job(0, ((2.0 + 48.0 * sizes.unit()) * 8e6) as u64)).collect())
        .collect();
    for (name, expected) in [
        ("ideal-sjf", 5.9),
        ("ideal-srpt", 5.9),
        ("ideal-fifo", 8.4),
        ("ideal-ps", 11.6),
        ("ideal-las", 11.6),
    ] {
        let total: f64 = rounds.iter().map(|jobs| sum(&times(named(name), jobs)).as_secs_f64()).sum();
        let mean_ms = total * 1e3 / (500.0 * 80.0);
        assert!((mean_ms - expected).abs() < 0.05, "{name}: {mean_ms} ms");
    }
}

#[test]
fn a_million_jobs() {
    let mut stream = Seeds::new(1).stream("million", 0);
    let mut at = 0.0;
    let jobs: Vec<Job> = (0..1_000_000)
        .map(|_| {
            at += stream.exponential(1e6);
            job(at as u64, 1 + stream.exponential(0.95e6) as u64)
        })
        .collect();
    for policy in policies() {
        assert!(finishes(*policy, &jobs).iter().all(|finish| *finish < Instant::MAX), "{}", policy.name);
    }
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let gap = prop_oneof![Just(0u64), 0u64..2_000_000];
    let deadline = prop_oneof![Just(u64::MAX), 0u64..10_000_000];
    prop::collection::vec((gap, 1u64..1_000_000, deadline), 1..60).prop_map(|rows| {
        let mut at = 0;
        let next = |(gap, work, deadline): (u64, u64, u64)| {
            at += gap;
            Job { deadline: Instant::from_ps(deadline), ..job(at, work) }
        };
        rows.into_iter().map(next).collect()
    })
}

/// Ends of the busy periods of a server that never idles while there is work.
fn busy_ends(jobs: &[Job]) -> Vec<Instant> {
    let mut ends = vec![Instant::ZERO];
    for job in jobs {
        let last = ends.len() - 1;
        if job.arrives > ends[last] {
            ends.push(job.arrives + job.work);
        } else {
            ends[last] = ends[last].max(job.arrives) + job.work;
        }
    }
    ends
}

/// Rounding error of finish times in whole picoseconds, under PS and LAS.
const ROUNDING: Span = Span::from_ps(2);

proptest! {
    #[test]
    fn no_job_is_faster_than_alone_and_every_policy_conserves_work(jobs in jobs()) {
        for policy in policies() {
            let finishes = finishes(*policy, &jobs);
            for (job, finish) in jobs.iter().zip(&finishes) {
                prop_assert!(*finish >= job.arrives + job.work, "{}", policy.name);
            }
            for end in busy_ends(&jobs).into_iter().filter(|end| *end > Instant::ZERO) {
                let last = finishes.iter().filter(|finish| **finish <= end + ROUNDING).max().copied();
                let off = last.map(|last| end.since(last).max(last.since(end)));
                prop_assert!(off.is_some_and(|off| off <= ROUNDING), "{}: {last:?} {end:?}", policy.name);
            }
        }
    }

    #[test]
    fn no_policy_has_a_lower_mean_than_srpt(jobs in jobs()) {
        let best = sum(&times(named("ideal-srpt"), &jobs));
        for policy in policies() {
            let slack = ROUNDING.times(jobs.len() as u64);
            prop_assert!(best <= sum(&times(*policy, &jobs)) + slack, "{}", policy.name);
        }
    }
}
