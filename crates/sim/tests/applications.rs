//! Closed loops: queries, jobs and sessions wait for their answers, and take the expected times.

use crate::common::{run, scenario, scheme, star};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::schemes;
use shortflow_sim::simulation::{self, NoObserver};
use shortflow_sim::traffic::{TaskKind, TaskRow};
use shortflow_units::{Instant, Span};

/// Time from handing over a single packet of `wire` bytes until it arrives, over two links of 1 Gbit/s and 75 µs.
fn one_way(wire: u64) -> Span {
    Span::from_nanos(2 * (8 * wire + 75_000))
}

fn in_star(hosts: usize, entry: &str) -> Scenario {
    scenario(&star(hosts, &format!("[[traffic]]\n{entry}")), &[])
}

fn times(outcome: &Outcome, kind: TaskKind) -> Vec<Span> {
    outcome.tasks.iter().filter(|task| task.kind == kind).filter_map(TaskRow::time).collect()
}

/// A request of 100 B and an answer of 1 KB are one packet each. A query takes the time of both packets in the
/// network, and the computing time.
#[test]
fn a_query_takes_its_request_its_computation_and_its_answer() {
    let entry = "kind = 'queries'\nworkers = 1\nto = 0\nrepeat = 3\nthink = '1ms'\nat = '5ms'
        compute = '2ms'\nsizes = { kind = 'fixed', value = '1KB' }";
    let outcome = run(&in_star(2, entry), &scheme("dctcp", &[]));
    let time = one_way(140) + Span::from_millis(2) + one_way(1040);
    assert_eq!(times(&outcome, TaskKind::Query), [time; 3]);
    let starts: Vec<Instant> = outcome.tasks.iter().map(|task| task.start).collect();
    assert_eq!(starts[0], Instant::ZERO + Span::from_millis(5));
    assert_eq!(starts[2], starts[0] + (time + Span::from_millis(1)).times(2));
    assert_eq!(outcome.flows.len(), 6);
    assert!(outcome.flows.iter().all(|flow| flow.task.is_some()));
    assert!(outcome.tasks.iter().all(|task| task.flows == 2));
}

/// A query that begins before the end of arrivals is answered during the drain. No query begins later.
#[test]
fn queries_stop_at_the_end_of_arrivals() {
    let entry = "kind = 'queries'\nworkers = 3\nto = 0\nrepeat = 1000\nthink = '1ms'\ncompute = '30ms'
        sizes = { kind = 'fixed', value = '1KB' }";
    let outcome = run(&in_star(4, entry), &scheme("dctcp", &[]));
    assert!(outcome.tasks.len() > 30 && outcome.tasks.len() < 34, "{}", outcome.tasks.len());
    assert!(outcome.tasks.iter().all(|task| task.finish.is_some()));
    assert!(outcome.tasks.iter().all(|task| task.start < Instant::ZERO + Span::from_millis(1000)));
    assert_eq!(outcome.counters.unfinished, 0);
}

/// Four workers below two aggregators: a task takes the times of two requests, of two answers, and of both
/// computations.
#[test]
fn two_levels_wait_for_each_other() {
    let entry = "kind = 'aggregation'\nroot = 0\naggregators = '1-2'\nfrom = '3-6'\nworkers = 4
        query_deadline = '100ms'
        worker = { sizes = { kind = 'fixed', value = '1KB' }, compute = '40ms', class = 'low' }
        aggregator = { sizes = { kind = 'fixed', value = '2KB' }, compute = '20ms', class = 'high', \
            deadline = { kind = 'fixed', value = '10ms' }, request_deadline = '5ms' }";
    let outcome = run(&in_star(7, entry), &scheme("dctcp", &[]));
    assert_eq!(outcome.tasks.len(), 1);
    let task = &outcome.tasks[0];
    assert_eq!(task.flows, 12);
    // On the way down, two requests share a link. On the way up, two answers of one packet share a link of level 1,
    // and two answers of two packets a link of level 2.
    let alone = one_way(140).times(2) + one_way(1040) + one_way(1500) + Span::from_millis(60);
    let time = task.time().unwrap();
    assert!(time > alone && time < alone + Span::from_micros(60), "{time} {alone}");
    assert_eq!(task.missed(outcome.end), Some(false));
    let deadlines = outcome.flows.iter().filter(|flow| flow.deadline.is_some()).count();
    assert_eq!(deadlines, 4, "two requests and two answers of aggregators");
}

const JOB: &str = "kind = 'mapreduce'\nmappers = '0-2'\nreducers = '2-4'\ncollector = 5
    map = '20ms'\nreduce = '10ms'\nresult = '1KB'\nsizes = { kind = 'fixed', value = '1250KB' }";

/// The three reducers get two or three blocks each, because h2 has one of its own. Three blocks of 1.25 MB take 30.8
/// ms with their headers on a link of 1 Gbit/s.
#[test]
fn a_job_takes_its_phases() {
    let outcome = run(&in_star(6, JOB), &scheme("dctcp", &[]));
    let (job, shuffle) = (&outcome.tasks[0], &outcome.tasks[1]);
    assert_eq!((job.kind, shuffle.kind), (TaskKind::Job, TaskKind::Shuffle));
    assert_eq!((job.flows, shuffle.flows), (11, 8));
    assert_eq!(shuffle.start, Instant::ZERO + Span::from_millis(20));
    let ideal = Span::from_micros(30_822);
    let shuffle_time = shuffle.time().unwrap();
    assert!(shuffle_time > ideal && shuffle_time < ideal + Span::from_millis(5), "{shuffle_time}");
    let rest = job.time().unwrap().saturating_sub(shuffle_time + Span::from_millis(30));
    assert!(rest >= one_way(1040) && rest < Span::from_millis(1), "{rest}");
}

/// With storage, every mapper reads first. With stragglers, some computations take longer.
#[test]
fn reading_and_stragglers_delay_a_job() {
    let plain = times(&run(&in_star(7, JOB), &scheme("dctcp", &[])), TaskKind::Job)[0];
    let with = |more: &str| {
        let outcome = run(&in_star(7, &format!("{JOB}\n{more}")), &scheme("dctcp", &[]));
        (times(&outcome, TaskKind::Job)[0], outcome.flows.len())
    };
    let (reading, flows) = with("storage = 6\ninput = '1250KB'");
    assert_eq!(flows, 14);
    assert!(reading > plain + Span::from_millis(25), "three inputs from one host: {reading} {plain}");
    let (straggling, _) = with("straggle = 2.0");
    assert!(straggling > plain + Span::from_millis(10), "{straggling} {plain}");
}

/// Four ranks with 4 MB each take six steps. In each step, every rank sends 1 MB to the next rank, which takes 8.22
/// ms with headers on a link of 1 Gbit/s. A rank reacts 2 µs after a chunk. The other operations take half of the
/// steps.
#[test]
fn a_collective_takes_its_steps_one_after_the_other() {
    let took = |operation: &str, steps: u64| {
        let entry = format!(
            "kind = 'ring'\nranks = '0-3'\nsize = '4MB'\nrepeat = 2\noperation = '{operation}'\n[host]\nreaction = '2us'"
        );
        let outcome = run(&in_star(4, &entry), &scheme("dctcp", &[]));
        let times = times(&outcome, TaskKind::Collective);
        assert_eq!((times.len(), outcome.flows.len() as u64), (2, 2 * 4 * steps));
        let reacts = Span::from_micros(2).times(steps - 1);
        let least = Span::from_micros(8_219).times(steps) + reacts;
        // The first chunk of a connection is sent in slow start.
        assert!(
            times.iter().all(|time| *time > least && *time < least + Span::from_millis(5)),
            "{times:?} {least}"
        );
    };
    took("all-reduce", 6);
    took("reduce-scatter", 3);
    took("all-gather", 3);
}

const WEB: &str = "kind = 'web'\nclients = '0-1'\nservers = 2\ndatabases = 3\nsessions = 4\nthink = '10ms'
    sizes = { kind = 'fixed', value = '1KB' }\nclass = 'page'
    answer = { sizes = { kind = 'fixed', value = '1KB' }, class = 'answer' }";

#[test]
fn a_page_takes_four_flows_one_after_the_other() {
    let outcome = run(&in_star(4, WEB), &scheme("dctcp", &[]));
    let times = times(&outcome, TaskKind::Request);
    // Four sessions for one second: each page takes 10 ms of think time and 0.64 ms of waiting.
    assert!((320..430).contains(&times.len()), "{}", times.len());
    // Before each of the last three flows, the ACK of the previous flow leaves (40 bytes).
    let least = one_way(1040).times(4) + Span::from_nanos(3 * 320);
    assert_eq!(times.iter().min(), Some(&least));
    assert_eq!(outcome.flows.len(), 4 * outcome.tasks.len());
}

/// Sizes and choices do not depend on the scheme, because each session has its own random draws.
#[test]
fn closed_loops_meet_the_same_sizes_under_every_scheme() {
    let queries = "kind = 'queries'\nworkers = 20\nto = 4\nrepeat = 5\njitter = '10us'
        sizes = { kind = 'uniform', min = '2KB', max = '90KB' }";
    let pages = WEB.replace("'fixed', value = '1KB' }\nclass", "'exponential', mean = '40KB' }\nclass");
    for entry in [queries, &pages] {
        let scenario = in_star(5, entry);
        let sizes = |name: &str| {
            let outcome = run(&scenario, &scheme(name, &[]));
            let mut sizes: Vec<(u32, u32, u64)> = outcome
                .flows
                .iter()
                .filter(|flow| flow.start < Instant::ZERO + Span::from_millis(40))
                .map(|flow| (flow.source.0, flow.destination.0, flow.size.get()))
                .collect();
            sizes.sort_unstable();
            sizes
        };
        let first = sizes(&schemes()[0].name);
        for scheme in schemes() {
            let other = sizes(&scheme.name);
            let common = first.iter().filter(|flow| other.contains(flow)).count();
            let least = first.len().min(other.len()) * 9 / 10;
            assert!(common >= least, "{}: {common} of {} and {}", scheme.name, first.len(), other.len());
        }
    }
}

/// All tasks finish, and a run repeats exactly, even if packets are lost.
#[test]
fn applications_survive_losses_under_every_scheme() {
    for (hosts, entry) in [
        (
            5,
            "kind = 'queries'\nworkers = 8\nto = 0\nrepeat = 20\nconnections = 'persistent'
            sizes = { kind = 'fixed', value = '20KB' }",
        ),
        (6, JOB),
        (4, WEB),
    ] {
        let text = star(hosts, &format!("[[traffic]]\n{entry}\n[faults]\nloss = 0.01"));
        let scenario = scenario(&text, &[]);
        for info in schemes() {
            let scheme = scheme(&info.name, &[]);
            let result = |seed| simulation::run(&scenario, &scheme, seed, &mut NoObserver).unwrap();
            let outcome = result(1);
            assert_eq!(outcome.counters.unfinished, 0, "{}", info.name);
            assert!(outcome.tasks.iter().all(|task| task.finish.is_some()), "{}", info.name);
            assert_eq!(outcome.digest(), result(1).digest(), "{}", info.name);
            assert_ne!(outcome.digest(), result(2).digest(), "{}", info.name);
        }
    }
}
