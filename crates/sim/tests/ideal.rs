//! Ideal schedulers in whole scenarios, and compared with queueing theory.

use crate::common::{TRACE, fct, mean, scenario, scheme, star};
use proptest::prelude::*;
use shortflow_sim::engine::Seeds;
use shortflow_sim::ideal::{self, Job, Policy, finishes, policies, policies_for};
use shortflow_sim::outcome::{FlowRow, Outcome};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::simulation::{self, NoObserver, Observer, RunError, RunProgress};
use shortflow_units::{Bytes, Instant, Span};

fn policy(name: &str) -> Policy {
    Policy::named(name).unwrap_or_else(|| panic!("there is no policy {name}"))
}

fn serve(scenario: &Scenario, policy: Policy, seed: u64) -> Outcome {
    ideal::run(scenario, policy, seed, &mut NoObserver).unwrap_or_else(|error| panic!("{error}"))
}

/// True if `expected` is in the 99.9 % confidence interval of the mean of 20 values.
fn agrees(values: &[f64], expected: f64) -> bool {
    const T: f64 = 3.883;
    assert_eq!(values.len(), 20);
    let centre = mean(values);
    let variance = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / 19.0;
    (centre - expected).abs() <= T * (variance / 20.0).sqrt()
}

const MIX: &str = r#"
[[traffic]]
kind = "long-lived"
flows = 2
from = [0, 1]
to = 5
[[traffic]]
kind = "incast"
flows = 20
sizes = { kind = "uniform", min = "1B", max = "60KB" }
from = "0-3"
to = 5
repeat = 3
every = "20ms"
deadline = { kind = "uniform", min = "1ms", max = "9ms" }
[[traffic]]
kind = "incast"
flows = 10
sizes = { kind = "fixed", value = "30KB" }
repeat = 3
every = "20ms"
connections = "persistent"
to = 4
[[traffic]]
kind = "poisson"
sizes = { kind = "exponential", mean = "20KB" }
load = 0.3
"#;

fn mix() -> Scenario {
    let text = star(6, MIX).replace("duration = \"1s\"", "duration = \"80ms\"\nwarmup = \"10ms\"");
    scenario(&text, &[])
}

#[test]
fn the_flows_are_those_of_a_run_with_packets() {
    let scenario = mix();
    assert_eq!(policies_for(&scenario).unwrap().len(), policies().len());
    let key = |row: &FlowRow| {
        (row.source, row.destination, row.class, row.size, row.start, row.deadline, row.ideal)
    };
    let packets = simulation::run(&scenario, &scheme("dctcp", &[]), 7, &mut NoObserver);
    let packets: Vec<_> = packets.unwrap_or_else(|error| panic!("{error}")).flows.iter().map(key).collect();
    assert!(packets.len() > 200, "{}", packets.len());
    for policy in policies() {
        let fluid: Vec<_> = serve(&scenario, *policy, 7).flows.iter().map(key).collect();
        assert_eq!(fluid, packets, "{}", policy.name);
    }
}

#[test]
fn no_flow_beats_its_ideal_time_and_srpt_has_the_best_mean() {
    let scenario = mix();
    let total =
        |outcome: &Outcome| outcome.flows.iter().filter_map(|row| row.fct()).fold(Span::ZERO, |a, b| a + b);
    let best = total(&serve(&scenario, policy("ideal-srpt"), 3));
    for policy in policies() {
        let outcome = serve(&scenario, *policy, 3);
        assert_eq!(outcome.counters.unfinished, 0);
        for row in outcome.flows.iter().filter(|row| row.size != Bytes::MAX) {
            assert!(row.fct() >= row.ideal, "{}: {row:?}", policy.name);
        }
        assert!(best <= total(&outcome), "{}", policy.name);
    }
}

/// A flow of 30 KB takes 20 segments of 12 µs and one of 6.72 µs, 246.72 µs in all.
#[test]
fn backlogged_flows_share_under_ps_and_take_the_rest_elsewhere() {
    let rest = "[[traffic]]\nkind = \"long-lived\"\nflows = 3\n".to_owned() + TRACE;
    let text = star(3, &rest).replace("duration = \"1s\"", "duration = \"100ms\"");
    let scenario = scenario(&text, &["10ms,h0,h2,30000"]);
    let goodput = |outcome: &Outcome| {
        let bytes: Vec<f64> = outcome.flows[..3].iter().map(|row| row.delivered_in_window.as_f64()).collect();
        assert!(bytes.iter().all(|each| (each - bytes[0]).abs() <= 1.0), "{bytes:?}");
        bytes.iter().sum::<f64>() * 8.0
    };
    let work = Span::from_nanos(246_720);
    let expected = (0.1 - work.as_secs_f64()) * 1e9 * 1460.0 / 1500.0;
    for policy in policies() {
        let outcome = serve(&scenario, *policy, 1);
        let ideal = outcome.flows[3].ideal.unwrap_or_default();
        let waited = if policy.name == "ideal-ps" { work.times(3) } else { Span::ZERO };
        assert_eq!(fct(&outcome, 3), ideal + waited, "{}", policy.name);
        assert!((goodput(&outcome) / expected - 1.0).abs() < 1e-6, "{}", policy.name);
    }
}

/// Two flows share the link for 40 ms, and one flow has it for the other 60 ms.
#[test]
fn a_flow_that_stops_leaves_the_link_to_the_others() {
    let long = |keys: &str| format!("[[traffic]]\nkind = 'long-lived'\nflows = 1\n{keys}\n");
    let text =
        star(3, &(long("stop = '40ms'") + &long(""))).replace("duration = \"1s\"", "duration = \"100ms\"");
    for policy in policies() {
        let outcome = serve(&scenario(&text, &[]), *policy, 1);
        for (row, seconds) in outcome.flows.iter().zip([0.02, 0.08]) {
            let share = row.delivered_in_window.as_f64() * 8.0 / (seconds * 1e9 * 1460.0 / 1500.0);
            assert!((share - 1.0).abs() < 1e-3, "{}: {share}", policy.name);
        }
    }
}

#[test]
fn flows_open_at_the_end_of_the_drain_are_unfinished() {
    let text = star(3, TRACE).replace("duration = \"1s\"", "duration = \"1ms\"");
    let scenario =
        scenario(&text.replace("drain = \"100s\"", "drain = \"9ms\""), &["0,h0,h2,1MB", "0,h0,h2,1MB"]);
    assert!(policies_for(&scenario).unwrap().iter().all(|policy| policy.name != "ideal-edf"));
    let outcome = serve(&scenario, policy("ideal-fifo"), 1);
    assert!(outcome.flows[0].finish.is_some());
    assert_eq!((outcome.flows[1].finish, outcome.flows[1].acked), (None, Bytes::ZERO));
    assert_eq!(outcome.counters.unfinished, 1);
    assert_eq!(outcome.end, Instant::ZERO + Span::from_millis(10));
    assert_eq!(outcome.flows[1].missed(outcome.end), None);
}

/// Poisson flows that go on during the drain; only flows of the measured time count.
fn drained(duration: &str, load: &str, rtt: &str) -> Scenario {
    let flows = format!(
        "[measure]\ndrain_flows = true\n[[traffic]]\nkind = \"poisson\"\nload = {load}\nto = 5\n\
         sizes = {{ kind = \"exponential\", mean = \"50KB\" }}\n"
    );
    let star = star(6, &flows).replace("duration = \"1s\"", &format!("duration = \"{duration}\""));
    scenario(&star.replace("rtt = \"300us\"", &format!("rtt = \"{rtt}\"")), &[])
}

/// Flows that arrive during the drain compete until the last measured flow is done, in ideal and in packet runs. So
/// measured flows finish as in a run that measures more flows, and the flows of the drain are the next flows of that
/// run. On a long path, some flows arrive after the link is idle and before the last byte arrives.
#[test]
fn flows_go_on_arriving_while_those_that_count_are_served() {
    let arrival = |row: &FlowRow| (row.start, row.source, row.destination, row.size);
    for (load, rtt) in [("0.9", "300us"), ("0.2", "20ms")] {
        let (short, long) = (drained("20ms", load, rtt), drained("400ms", load, rtt));
        let simulated =
            |scenario| simulation::run(scenario, &scheme("dctcp", &[]), 3, &mut NoObserver).unwrap();
        let ideal = policies().iter().map(|policy| (serve(&short, *policy, 3), serve(&long, *policy, 3)));
        for (part, whole) in ideal.chain([(simulated(&short), simulated(&long))]) {
            let (counted, next) = whole.flows.split_at(part.flows.len());
            let finishes = |rows: &[FlowRow]| rows.iter().map(|row| row.finish).collect::<Vec<_>>();
            assert_eq!(finishes(&part.flows), finishes(counted));
            let next: Vec<_> = next.iter().take_while(|row| row.start < part.end).map(arrival).collect();
            assert!(next.len() > 3 && part.end < whole.end, "{} until {}", next.len(), part.end);
            assert_eq!(part.drain_flows.iter().map(arrival).collect::<Vec<_>>(), next);
            let bytes = next.iter().map(|arrival| arrival.3.get()).sum();
            assert_eq!((part.counters.drain_flows, part.counters.drain_bytes), (next.len() as u64, bytes));
        }
    }
}

#[test]
fn flows_that_wait_for_others_have_no_ideal() {
    let queries =
        "[[traffic]]\nkind = \"queries\"\nworkers = 3\nsizes = { kind = \"fixed\", value = \"10KB\" }\n";
    let scenario = scenario(&star(4, &format!("{TRACE}{queries}")), &["0,h0,h2,1460"]);
    assert!(policies_for(&scenario).unwrap_err().contains("traffic.2"));
    let result = ideal::run(&scenario, policy("ideal-ps"), 1, &mut NoObserver);
    assert_eq!(result.err(), Some(RunError::ClosedLoop(2)));
}

#[test]
fn a_run_can_be_cancelled() {
    struct Impatient;
    impl Observer for Impatient {
        fn tick(&mut self, _: RunProgress) -> bool {
            false
        }
    }
    let result = ideal::run(&mix(), policy("ideal-las"), 1, &mut Impatient);
    assert_eq!(result.err(), Some(RunError::Cancelled));
}

proptest! {
    #[test]
    fn a_lone_flow_takes_exactly_its_ideal_time(bytes in 1u64..3_000_000, start_us in 0u64..900_000) {
        let row = format!("{start_us}us,h0,h2,{bytes}");
        let scenario = scenario(&star(3, TRACE), &[&row]);
        for policy in policies() {
            let outcome = serve(&scenario, *policy, 1);
            prop_assert_eq!(outcome.flows[0].fct(), outcome.flows[0].ideal, "{}", policy.name);
        }
    }
}

/// Mean time in an M/G/1 queue by policy, in mean services, integrated over sizes. With arrival rate λ, F̄ = 1 − F,
/// m₂(x) = ∫₀ˣ t² dF, ρ(x) = λ ∫₀ˣ t dF, and for sizes cut off at x ρ̂(x) = λ ∫₀ˣ F̄ dt and m̂₂(x) = 2 ∫₀ˣ t F̄ dt,
/// the mean time in system of a job of size x is:
///
/// | policy | time in system | source |
/// |---|---|---|
/// | FIFO | λ E\[S²\] / 2(1 − ρ) + x | Pollaczek–Khinchine |
/// | PS | x / (1 − ρ) | Kleinrock 1967 |
/// | SRPT | λ (m₂(x) + x² F̄(x)) / 2(1 − ρ(x))² + ∫₀ˣ dt / (1 − ρ(t)) | Schrage and Miller 1966 |
/// | SJF, preemptive | λ m₂(x) / 2(1 − ρ(x))² + x / (1 − ρ(x)) | Kleinrock 1976, §3.7 |
/// | LAS (FB) | λ m̂₂(x) / 2(1 − ρ̂(x))² + x / (1 − ρ̂(x)) | Schrage 1967 |
///
/// Decimals come from the midpoint rule with 200,000 intervals of x, from 0 to 50 (exponential; the tail beyond is
/// e⁻⁵⁰) or to 2 (uniform). The weight of an interval is the decrease of F̄ in it, and integrals up to x grow by half
/// an interval at a time.
type MeanTimes = [(&'static str, f64); 5];

/// Exponential sizes at load 0.7.
const EXPONENTIAL: MeanTimes = [
    ("ideal-fifo", 10.0 / 3.0),
    ("ideal-ps", 10.0 / 3.0),
    ("ideal-srpt", 1.874539),
    ("ideal-sjf", 2.083870),
    ("ideal-las", 10.0 / 3.0),
];
/// Uniform sizes from 0 at load 0.7.
const UNIFORM: MeanTimes = [
    ("ideal-fifo", 23.0 / 9.0),
    ("ideal-ps", 10.0 / 3.0),
    ("ideal-srpt", 1.983938),
    ("ideal-sjf", 2.257752),
    ("ideal-las", 4.382912),
];
/// Exponential sizes at load 0.6.
const LIGHTER: MeanTimes = [
    ("ideal-fifo", 2.5),
    ("ideal-ps", 2.5),
    ("ideal-srpt", 1.604072),
    ("ideal-sjf", 1.752608),
    ("ideal-las", 2.5),
];

/// Mean time in system of 20,000 jobs with mean size 1 at load 0.7, without the first 2,000 jobs.
fn sojourn(policy: Policy, seed: u64, size: fn(f64) -> f64) -> f64 {
    const UNIT: f64 = 1e9;
    let mut gaps = Seeds::new(seed).stream("gaps", 0);
    let mut sizes = Seeds::new(seed).stream("sizes", 0);
    let mut at = 0.0;
    let mut next = || {
        at += gaps.exponential(UNIT / 0.7);
        let work = Span::from_ps((size(sizes.unit()) * UNIT) as u64);
        Job { arrives: Instant::from_ps(at as u64), work, deadline: Instant::MAX }
    };
    let jobs: Vec<Job> = (0..20_000).map(|_| next()).collect();
    let finishes = finishes(policy, &jobs);
    let times =
        jobs.iter().zip(&finishes).map(|(job, finish)| finish.since(job.arrives).as_ps() as f64 / UNIT);
    mean(&times.skip(2_000).collect::<Vec<_>>())
}

fn check_mg1(size: fn(f64) -> f64, theory: MeanTimes) {
    for (name, expected) in theory {
        let got: Vec<f64> = (1..=20).map(|seed| sojourn(policy(name), seed, size)).collect();
        assert!(agrees(&got, expected), "{name}: {} is not {expected}", mean(&got));
    }
}

#[test]
fn mg1_with_exponential_sizes() {
    check_mg1(|unit| -libm::log(1.0 - unit), EXPONENTIAL);
}

#[test]
fn mg1_with_uniform_sizes() {
    check_mg1(|unit| 2.0 * unit, UNIFORM);
}

/// An M/G/1 queue as a scenario: huge segments and tiny headers leave a pure queue. The completion time beyond the
/// ideal one is the time in system beyond the service.
#[test]
fn mg1_with_poisson_flows_of_a_scenario() {
    let rest = "[tcp]\nmss = \"65000B\"\nheader = \"1B\"\n[[traffic]]\nkind = \"poisson\"\nload = 0.6\n\
                to = 20\nsizes = { kind = \"exponential\", mean = \"50KB\" }\n";
    let scenario = scenario(&star(21, rest).replace("\"250pkt\"", "\"unlimited\""), &[]);
    let service = 50e3 * 8.0 / 1e9;
    for (name, expected) in LIGHTER {
        let waits = |seed: u64| {
            let outcome = serve(&scenario, policy(name), seed);
            let waits = outcome.flows.iter().filter_map(|row| Some(row.fct()?.saturating_sub(row.ideal?)));
            mean(&waits.map(|wait| wait.as_secs_f64() / service).collect::<Vec<_>>())
        };
        let got: Vec<f64> = (1..=20).map(waits).collect();
        assert!(agrees(&got, expected - 1.0), "{name}: {} is not {expected}", mean(&got));
    }
}

/// A scenario with unlimited buffers and tiny headers, in which the inner links of `topology` are the bottleneck of
/// `traffic`.
fn behind_a_core(topology: &str, traffic: &str) -> Scenario {
    let text = format!(
        "title = 'core'\nduration = '20s'\nwarmup = '500ms'\nhost.model = 'fifo'\n{topology}\n[switch]\n\
         buffer = 'unlimited'\nmark_above = 'unlimited'\n[tcp]\nmss = '1500B'\nheader = '1B'\n{traffic}"
    );
    scenario(&text, &[])
}

/// M/M/1 with a service time of 0.8 ms at load 0.8 (Kleinrock, Queueing Systems, 1975). The mean time is 0.8 / (1 -
/// 0.8) = 4 ms first come, first served, and also under processor sharing, for which it holds for any sizes. SRPT's
/// mean of 1.88 ms is Schrage and Miller's integral (1966).
#[test]
fn the_inner_link_of_a_dumbbell_is_the_server() {
    let dumbbell =
        "[topology]\nkind = 'dumbbell'\npairs = 20\nrate = '100Gbps'\nbottleneck = '1Gbps'\nrtt = '1us'";
    let poisson = "[[traffic]]\nkind = 'poisson'\nfrom = '0-19'\nto = 20\nload = 0.8\nlink = 's0->s1'\n\
                   load_with_headers = true\nsizes = { kind = 'exponential', mean = '100KB' }\n";
    let scenario = behind_a_core(dumbbell, poisson);
    assert!(policies_for(&scenario).is_ok());
    for (name, expected) in [("ideal-fifo", 4e-3), ("ideal-ps", 4e-3), ("ideal-srpt", 1.88e-3)] {
        let times: Vec<f64> = (1..5)
            .flat_map(|seed| serve(&scenario, policy(name), seed).flows)
            .filter(|row| row.start >= Instant::ZERO + scenario.warmup)
            .filter_map(|row| Some(row.fct()?.as_secs_f64()))
            .collect();
        let error = mean(&times) / expected - 1.0;
        assert!(error.abs() < 0.05, "{name}: {} s, {error}", mean(&times));
    }
}

/// 20 flows of 125 KB leave one host at once. First come, first served at 1 Gbps, the k-th flow takes k ms.
#[test]
fn a_sender_of_many_flows_is_the_server() {
    let rows: Vec<String> = (1..=20).map(|to| format!("0,h0,h{to},121666")).collect();
    let scenario = scenario(&star(21, TRACE), &rows.iter().map(String::as_str).collect::<Vec<_>>());
    let outcome = serve(&scenario, policy("ideal-fifo"), 1);
    let last = outcome.flows.iter().filter_map(|row| row.fct()).max().unwrap_or_default();
    assert!((last.as_secs_f64() - 20e-3).abs() < 0.5e-3, "{last}");
}

/// Flows on the long paths of a chain wait at several inner links, which a model of one link leaves out.
#[test]
fn several_busy_inner_links_leave_no_ideal() {
    let lot = "[topology]\nkind = 'chain'\nhops = 3\nhosts_per_switch = 4\nrate = '10Gbps'\ntrunk_rate = '1Gbps'\nrtt = '100us'";
    let entry = |from: &str, to: u32, load: f64| {
        format!(
            "[[traffic]]\nkind = 'poisson'\nfrom = '{from}'\nto = {to}\nrate_per_s = {}\n\
             sizes = {{ kind = 'exponential', mean = '100KB' }}\n",
            load * 1250.0
        )
    };
    let traffic = [entry("0-1", 15, 0.35), entry("2-3", 7, 0.35), entry("4-5", 11, 0.35)].concat();
    let reason = policies_for(&behind_a_core(lot, &traffic)).unwrap_err();
    assert!(reason.starts_with("much of the traffic waits at several links, such as s"), "{reason}");
}

/// Three backlogged flows have nearly all bytes, and one of them shares two inner links with the other two. The many
/// short flows of one rack do not outweigh this flow.
#[test]
fn links_are_judged_by_bytes_and_not_by_numbers_of_flows() {
    let chain = "[topology]\nkind = 'chain'\nhops = 3\nhosts_per_switch = 4\nrate = '10Gbps'\ntrunk_rate = '1Gbps'\nrtt = '100us'";
    let long = |from: u32, to: u32| format!("[[traffic]]\nkind = 'long-lived'\nfrom = {from}\nto = {to}\n");
    let short = "[[traffic]]\nkind = 'poisson'\nfrom = 0\nto = 1\nrate_per_s = 100\nsizes = { kind = 'fixed', value = '1KB' }\n";
    let judged =
        |flows: &[String]| policies_for(&behind_a_core(chain, &[flows.concat(), short.to_owned()].concat()));
    assert!(judged(&[long(2, 15)]).is_ok(), "one flow meets nobody");
    let reason = judged(&[long(2, 15), long(3, 7), long(4, 11)]).unwrap_err();
    assert!(reason.starts_with("much of the traffic waits at several links, such as s"), "{reason}");
}
