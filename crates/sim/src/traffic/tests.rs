//! Arrivals of all traffic kinds.

use super::*;
use crate::config::{ConfigError, Document, Reader};
use crate::engine::Seeds;
use crate::specs::TcpSpec;
use crate::topology::Graph;
use proptest::prelude::*;
use shortflow_units::{Bytes, ClassId, HostId, Instant, NodeId, Rate, Span};
use std::collections::BTreeSet;

const DURATION: Span = Span::from_millis(1000);

/// Five hosts, h0 to h4, on one switch.
fn star() -> Graph {
    let mut graph = Graph::new(5, 1);
    let rate = Rate::new(1_000_000_000).unwrap();
    (0..5).for_each(|host| graph.connect(NodeId(host), NodeId(5), rate, Span::ZERO));
    graph
}

/// Reads a traffic entry. The file `flows.csv` has the text `csv`.
fn read_entry(toml: &str, csv: &str) -> Result<(Box<dyn Traffic>, Vec<String>), ConfigError> {
    let files = |_: &str| Ok(csv.to_owned());
    let document = Document::parse(toml, "test.toml", &[], &[], &files)?;
    let graph = star();
    let mut context = Context::new(&graph, DURATION, TcpSpec::default());
    let traffic = read(&Reader::new(&document), &mut context)?;
    Ok((traffic, context.notes))
}

fn arrivals(toml: &str, seed: u64) -> Vec<FlowArrival> {
    let (traffic, _) = read_entry(toml, "").unwrap();
    let in_time = |flow: &FlowArrival| flow.at < Instant::ZERO + DURATION;
    flows(&*traffic, seed, 0).take_while(in_time).collect()
}

/// The flows of an open-loop entry.
fn flows(traffic: &dyn Traffic, seed: u64, index: usize) -> Box<dyn Arrivals> {
    match traffic.start(Seeds::new(seed), index) {
        Workload::Open(arrivals) => arrivals,
        Workload::Closed(_) => panic!("{traffic:?} waits for answers"),
    }
}

/// Numbers of the source and destination of each flow.
fn ends(flows: &[FlowArrival]) -> Vec<(u32, u32)> {
    flows.iter().map(|flow| (flow.source.0, flow.destination.0)).collect()
}

#[test]
fn long_lived_flows_take_sources_in_turn() {
    let flows = arrivals("kind='long-lived'\nflows=3\nfrom=[1, 3]\nto=0\nstart='5ms'", 1);
    assert_eq!(ends(&flows), [(1, 0), (3, 0), (1, 0)]);
    assert!(flows.iter().all(|flow| flow.size == Bytes::MAX && flow.at.as_ps() == 5_000_000_000));
}

#[test]
fn long_lived_flows_stop_in_the_order_of_their_starts() {
    let flows = arrivals("kind='long-lived'\nfrom=[1, 3]\nto=0\nstart='5ms'\nstop='20ms'\nstagger='10ms'", 1);
    let times: Vec<_> =
        flows.iter().map(|flow| [flow.at, flow.stop.unwrap()].map(|at| at.as_ps() / 1_000_000_000)).collect();
    assert_eq!(times, [[15, 30], [35, 50]]);
}

#[test]
fn long_lived_flows_may_have_a_receiver_for_each_source() {
    let flows = arrivals("kind='long-lived'\nfrom=[1, 3]\nto=[0, 4]", 1);
    assert_eq!(ends(&flows), [(1, 0), (3, 4)]);
}

#[test]
fn long_lived_flows_of_a_permutation_go_from_each_to_another_by_seed() {
    let drawn = |seed| ends(&arrivals("kind='long-lived'\npermutation=true", seed));
    let mut several = BTreeSet::new();
    for seed in 0..20 {
        let pairs = drawn(seed);
        assert!(pairs.iter().all(|(from, to)| from != to), "{pairs:?}");
        let receivers: BTreeSet<u32> = pairs.iter().map(|pair| pair.1).collect();
        assert_eq!((pairs.len(), receivers.len()), (5, 5), "{pairs:?}");
        several.insert(pairs);
    }
    assert!(several.len() > 10 && drawn(3) == drawn(3));
    for seed in 0..20 {
        let few = ends(&arrivals("kind='long-lived'\npermutation=true\nflows=1", seed));
        assert!(few.iter().all(|(from, to)| from != to), "{few:?}");
    }
}

#[test]
fn many_to_one_sends_to_the_last_host_by_default() {
    let flows = arrivals("kind='poisson'\nrate_per_s=1000\nsizes={kind='fixed', value='2KB'}", 1);
    let sources: std::collections::BTreeSet<u32> = ends(&flows).iter().map(|(source, _)| *source).collect();
    assert_eq!(sources.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(flows.iter().all(|flow| flow.destination == HostId(4)));
}

/// Half of 1 Gbit/s in flows of 12.5 KB is 5000 flows per second, within five standard deviations of a
/// Poisson count.
#[test]
fn poisson_arrivals_offer_their_load() {
    let flows = arrivals("kind='poisson'\nload=0.5\nsizes={kind='fixed', value='12500B'}", 1);
    assert!(flows.len().abs_diff(5000) < 355, "{}", flows.len());
}

#[test]
fn all_to_all_never_sends_to_itself_and_spreads_evenly() {
    let flows = arrivals(
        "kind='poisson'\nrate_per_s=20000\npattern='all-to-all'\nsizes={kind='fixed', value='1B'}",
        1,
    );
    let mut counts = [[0u32; 5]; 5];
    ends(&flows).into_iter().for_each(|(from, to)| counts[from as usize][to as usize] += 1);
    for (from, row) in counts.iter().enumerate() {
        for (to, count) in row.iter().enumerate() {
            let expected = if from == to { 0..=0 } else { 840..=1160 }; // 1000 ± 5 sigma
            assert!(expected.contains(count), "h{from} to h{to}: {count}");
        }
    }
}

#[test]
fn common_random_numbers_survive_a_change_of_load() {
    let at = |load: &str| {
        arrivals(&format!("kind='poisson'\nload={load}\nsizes={{kind='exponential', mean='9KB'}}"), 7)
    };
    let (low, high) = (at("0.2"), at("0.4"));
    for (slow, fast) in low.iter().zip(&high) {
        assert_eq!((slow.size, slow.source), (fast.size, fast.source));
        assert!(slow.at.as_ps().abs_diff(2 * fast.at.as_ps()) < 10_000); // rounding
    }
}

#[test]
fn incast_bursts_repeat_and_take_senders_in_turn() {
    let toml = "kind='incast'\nflows=6\nrepeat=3\nevery='100ms'\nat='50ms'\nconnections='persistent'
        sizes={kind='fixed', value='25KB'}";
    let flows = arrivals(toml, 1);
    assert_eq!(flows.len(), 18);
    assert_eq!(ends(&flows[..6]), [(0, 4), (1, 4), (2, 4), (3, 4), (0, 4), (1, 4)]);
    let starts: Vec<u64> = flows.iter().step_by(6).map(|flow| flow.at.as_ps() / 1_000_000_000).collect();
    assert_eq!(starts, [50, 150, 250]);
    let connections: Vec<ConnectionUse> = flows[3..5].iter().map(|flow| flow.connection).collect();
    assert_eq!(connections, [ConnectionUse::Persistent(0), ConnectionUse::Persistent(1)]);
}

#[test]
fn jitter_spreads_a_burst() {
    let toml = "kind='incast'\nflows=100\njitter='1ms'\nsizes={kind='fixed', value='25KB'}";
    let flows = arrivals(toml, 1);
    let last = flows.last().unwrap().at.as_ps();
    assert!((900_000_000..=1_000_000_000).contains(&last), "{last}");
}

#[test]
fn deadlines_and_classes_are_attached() {
    let toml = "kind='poisson'\nload=0.1\nclass='query'\ndeadline={kind='fixed', value='40ms'}
        sizes={kind='fixed', value='2KB'}";
    let flow = arrivals(toml, 1)[0];
    assert_eq!(
        (flow.deadline, flow.class, flow.connection),
        (Some(Span::from_millis(40)), ClassId(0), ConnectionUse::New)
    );
}

/// Row 3 waits for rows 1 and 2, and row 4 starts 2 ms after row 3. Row 6 waits for row 5, which starts after
/// the run.
#[test]
fn rows_of_a_trace_wait_for_the_rows_that_they_name() {
    let csv = "start,source,destination,bytes,after\n0,0,1,9,\n0.1,1,2,9,\n0,2,3,9,1 2\n2ms,3,4,9,3\n1.5,0,1,9,\n0,1,2,9,5\n";
    let (traffic, notes) = read_entry("kind='trace'\nfile='flows.csv'", csv).unwrap();
    assert!(
        notes[0].contains("4 flows of mean 9B") && notes[0].ends_with(", 2 of them after others"),
        "{notes:?}"
    );
    let Workload::Closed(mut run) = traffic.start(Seeds::new(1), 0) else { panic!("{traffic:?}") };
    let mut actions = AppActions::default();
    run.begin(&mut actions);
    let at = |ms: u64| Instant::ZERO + Span::from_millis(ms);
    let sent = |actions: &mut AppActions| -> Vec<(u64, Instant)> {
        actions.take_requests().iter().map(|request| (request.tag, request.arrival.at)).collect()
    };
    assert_eq!(sent(&mut actions), [(0, at(0)), (1, at(100))]);
    for (ms, tag, wanted) in
        [(5, 0, vec![]), (200, 1, vec![(2, at(200))]), (300, 2, vec![(3, at(302))]), (310, 3, vec![])]
    {
        run.delivered(at(ms), tag, &mut actions);
        assert_eq!(sent(&mut actions), wanted);
    }
    assert_eq!(actions.into_tasks()[0].time(), Some(Span::from_millis(310)));
}

#[test]
fn a_row_waits_for_rows_above_alone() {
    for after in ["2", "0", "1 2", "-1", "x", "4294967297"] {
        let error =
            trace(&format!("start,source,destination,bytes,after\n0,0,1,9,\n0,1,2,9,{after}\n")).unwrap_err();
        let wrong = after.split(' ').next_back().unwrap();
        let told = format!(
            "flows.csv:3: after: {wrong:?} is not the number of a row above; rows count from 1 below the header"
        );
        assert_eq!(error, told);
    }
}

fn trace(csv: &str) -> Result<(Vec<FlowArrival>, Vec<String>), String> {
    let read = read_entry("kind='trace'\nfile='flows.csv'", csv).map_err(|error| error.to_string());
    read.map(|(traffic, notes)| (flows(&*traffic, 1, 0).collect(), notes))
}

#[test]
fn a_trace_is_replayed() {
    let csv = "destination,start,source,bytes,class,deadline\n# a comment\n4,0,h1,98KB,,\n\
        h4,300us,0,1500,query,40ms\n2,0.5,3,1,,1\n";
    let (flows, notes) = trace(csv).unwrap();
    assert_eq!(ends(&flows), [(1, 4), (0, 4), (3, 2)]);
    let starts: Vec<u64> = flows.iter().map(|flow| flow.at.as_ps()).collect();
    assert_eq!(starts, [0, 300_000_000, 500_000_000_000]);
    assert_eq!(flows.iter().map(|flow| flow.size.get()).collect::<Vec<_>>(), [98_000, 1500, 1]);
    assert_eq!(flows.iter().map(|flow| flow.class.0).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(flows[1].deadline, Some(Span::from_millis(40)));
    assert_eq!(flows[2].deadline, Some(Span::from_millis(1000)));
    assert_eq!(
        notes,
        [": \"flows.csv\": 3 flows of mean 33.167KB, at most offered load 0.0008 of s0->h4 (1Gbps)"]
    );
}

#[test]
fn flows_from_the_duration_on_are_omitted() {
    let (flows, notes) = trace("start,source,destination,bytes\n0,0,1,125KB\n1,0,1,5\n2,0,1,5\n").unwrap();
    assert_eq!(flows.len(), 1);
    assert!(notes[0].contains("1 flow of mean 125KB"), "{}", notes[0]);
}

#[test]
fn entries_of_one_scenario_draw_from_different_streams() {
    let (traffic, _) =
        read_entry("kind='poisson'\nload=0.5\nsizes={kind='exponential', mean='9KB'}", "").unwrap();
    let flow = |seed, index| flows(&*traffic, seed, index).next();
    assert_eq!(flow(1, 0), flow(1, 0));
    assert_ne!(flow(1, 0), flow(1, 1));
    assert_ne!(flow(1, 0), flow(2, 0));
}

/// Entries of all kinds that draw at random.
fn any_entry() -> impl Strategy<Value = String> {
    let sizes = "sizes={kind='uniform', min='2KB', max='98KB'}\ndeadline={kind='exponential', mean='40ms'}";
    prop_oneof![
        (1u32..1000, prop::bool::ANY).prop_map(move |(load, all)| format!(
            "kind='poisson'\nload={}\npattern='{}'\n{sizes}",
            f64::from(load) / 100.0,
            if all { "all-to-all" } else { "many-to-one" }
        )),
        (1u32..200, 0u32..90, 1u32..9).prop_map(move |(flows, jitter, repeat)| format!(
            "kind='incast'\nflows={flows}\njitter='{jitter}ms'\nrepeat={repeat}\n{sizes}"
        )),
    ]
}

proptest! {
    #[test]
    fn arrivals_are_sorted_repeatable_and_between_two_hosts(toml in any_entry(), seed: u64) {
        let flows = arrivals(&toml, seed);
        prop_assert_eq!(&flows, &arrivals(&toml, seed));
        prop_assert!(flows.is_sorted_by_key(|flow| flow.at));
        for flow in &flows {
            prop_assert!(flow.source != flow.destination && flow.source.0 < 5 && flow.destination.0 < 5);
            prop_assert!((2_000..=98_000).contains(&flow.size.get()));
            prop_assert!(flow.deadline.is_some_and(|deadline| !deadline.is_zero()));
        }
    }

    #[test]
    fn no_csv_text_makes_a_trace_panic(csv in "(start,source,destination,bytes(,after)?\n)?([0-9a-z.,\"# \n-]{0,40})") {
        let _ = read_entry("kind='trace'\nfile='flows.csv'", &csv);
    }
}

mod patterns;

/// Number of flows of an entry that count from 100 ms on, as text.
fn expected(toml: &str, csv: &str) -> String {
    let from = Instant::ZERO + Span::from_millis(100);
    let (traffic, _) = read_entry(toml, csv).unwrap();
    traffic.expected(MeasurementWindow { from, to: Instant::ZERO + DURATION }).to_string()
}

const FIXED: &str = "sizes={kind='fixed', value='10KB'}";

/// Poisson: 5000 flows/s for 0.9 s. Periodic: two senders, at 0, 10, … ms and at 3, 13, … ms. Applications:
/// only the first requests, if they start in the measured time.
#[test]
fn every_kind_counts_its_measured_flows() {
    let csv = "start,source,destination,bytes\n0,0,1,9\n0.1,0,1,9\n0.5,0,1,9\n";
    for (toml, wanted) in [
        ("kind='long-lived'\nflows=3", "3 backlogged flows"),
        ("kind='long-lived'\npermutation=true", "5 backlogged flows"),
        (&format!("kind='poisson'\nrate_per_s=5000\n{FIXED}"), "about 4500 flows"),
        (&format!("kind='poisson'\nrate_per_s=5000\nstart='400ms'\n{FIXED}"), "about 3000 flows"),
        (&format!("kind='arrivals'\nrate_per_s=1000\ninterarrival={{kind='fixed'}}\n{FIXED}"), "900 flows"),
        (&format!("kind='arrivals'\nrate_per_s=0.9\ninterarrival={{kind='fixed'}}\n{FIXED}"), "0 flows"),
        (&format!("kind='periodic'\nevery='10ms'\nstagger='3ms'\nfrom=[0, 1]\n{FIXED}"), "180 flows"),
        (&format!("kind='incast'\nflows=7\nrepeat=4\n{FIXED}"), "21 flows"),
        ("kind='trace'\nfile='flows.csv'", "2 flows"),
        (
            &format!("kind='queries'\nworkers=6\nat='100ms'\n{FIXED}"),
            "at least 6 flows; how many more depends on responses",
        ),
        (
            &format!("kind='queries'\nworkers=6\n{FIXED}"),
            "at least 0 flows; how many more depends on responses",
        ),
    ] {
        assert_eq!(expected(toml, csv), wanted, "{toml}");
    }
}

proptest! {
    /// An exact number is the number of arrivals under every seed.
    #[test]
    fn an_exact_count_is_the_number_of_arrivals(
        seed: u64, flows in 1u32..9, repeat in 1u32..9, at in 0u64..150, stagger in 0u64..60, every in 1u64..100,
    ) {
        let incast = format!("kind='incast'\nflows={flows}\nrepeat={repeat}\nat='{at}ms'\nevery='{every}ms'\n{FIXED}");
        let periodic = format!("kind='periodic'\nevery='{every}ms'\nstart='{at}ms'\nstagger='{stagger}ms'\n{FIXED}");
        let fixed = format!("kind='arrivals'\nrate_per_s={every}\nstart='{at}ms'\ninterarrival={{kind='fixed'}}\n{FIXED}");
        for toml in [incast, periodic, fixed] {
            let count = arrivals(&toml, seed).iter().filter(|flow| flow.at.as_ps() >= 100_000_000_000).count();
            let text = if count == 1 { "1 flow".to_owned() } else { format!("{count} flows") };
            prop_assert_eq!(expected(&toml, ""), text, "{}", toml);
        }
    }
}
