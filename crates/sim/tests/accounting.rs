//! Rows and counters of a run match the events of the network, packet by packet.

use crate::common::{TRACE, run, scenario, scheme, star};
use shortflow_sim::outcome::{FlowRow, Place};
use shortflow_sim::probe::{Sample, Subject};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::simulation::{self, Observer, RunProgress};
use shortflow_units::{Bytes, FlowId, Instant, NodeId, Span};

/// Two messages of 20 segments start 10 µs apart on one connection, and all segments are sent at once. Packet 25 is
/// the fifth of the second message, long before the first message is acknowledged.
#[test]
fn messages_of_one_connection_count_their_own_packets() {
    let text = star(
        3,
        "[tcp]\ninitial_window = 40\n[faults]\nmark_data = [25]\ndrop_data = [30]\n[[traffic]]\nkind = \"incast\"\n\
         flows = 1\nfrom = 0\nto = 2\nsizes = { kind = \"fixed\", value = \"29200B\" }\nrepeat = 2\nevery = \"10us\"\n\
         connections = \"persistent\"\n",
    );
    // With fair queueing, hosts know only at the departure how long a packet waits.
    for host_queue in ["droptail", "fair"] {
        let outcome = run(&scenario(&text, &[]), &scheme("dctcp", &[("host.queue", host_queue)]));
        let [first, second] = &outcome.flows[..] else { panic!("{} rows", outcome.flows.len()) };
        assert_eq!((first.left, first.packets, first.marks, first.retransmits), (20, 20, 0, 0));
        assert_eq!((second.left, second.packets, second.marks, second.retransmits), (21, 20, 1, 1));
        // Packet n waits n - 1 transmission times of 12 µs at the host; packets of the second message wait 10 µs
        // less.
        let at_host: Span = Span::from_micros(12).times((0..20).sum());
        assert_eq!(first.waited_at_host, at_host);
        let second_burst = Span::from_micros((20..40).map(|n| 12 * n - 10).sum());
        assert_eq!(second.waited_at_host, second_burst, "the retransmission finds an empty host");
    }
}

/// The queue of a FIFO host grows to its flow's window: packets of the measured time wait there for up to hundreds of
/// milliseconds. In the switch, they wait no longer than the largest backlog takes.
#[test]
fn waits_in_switches_leave_out_a_growing_queue_of_the_host() {
    let long = |from: u32, at: &str| {
        format!("[[traffic]]\nkind = 'long-lived'\nfrom = {from}\nto = 2\nstart = '{at}'\n")
    };
    let rest = "[host]\nmodel = 'fifo'\n".to_owned() + &long(0, "0s") + &long(1, "500ms");
    let text = star(3, &rest).replace("duration = \"1s\"", "warmup = \"600ms\"\nduration = \"1s\"");
    let outcome = run(&scenario(&text, &[]), &scheme("dctcp", &[]));
    let port = outcome.ports.iter().find(|port| port.to == NodeId(2)).unwrap();
    let longest = 12e-6 * f64::from(port.max_packets);
    for flow in &outcome.flows {
        let in_switch = flow.measured_switch_queueing().unwrap();
        assert!((1e-5..longest).contains(&in_switch), "{in_switch} s, {longest} s at most");
        assert!(flow.switch_queueing().unwrap() < longest);
    }
    let first = &outcome.flows[0];
    assert!(first.queueing().unwrap() > 10.0 * longest, "{:?} s in all queues", first.queueing());
}

/// A star of three hosts, measured from `warmup` to 100 ms.
fn measured_from(warmup: &str, traffic: &str, rows: &[&str]) -> Scenario {
    let times = format!("warmup = \"{warmup}\"\nduration = \"100ms\"");
    scenario(&star(3, traffic).replace("duration = \"1s\"", &times), rows)
}

/// The last 10 ms of 100 ms are measured. Four flows end before the measured time, in it (two flows), and after it. A
/// link of 1 Gbit/s carries 1.25 MB in 10 ms.
#[test]
fn only_bytes_of_the_measured_time_count_in_it() {
    let rows = ["0,0,2,5000000", "0.086,0,2,1000000", "0.095,0,2,125000", "0.098,1,2,1000000"];
    let scenario = measured_from("90ms", TRACE, &rows);
    for name in ["tcp", "dctcp", "pfabric"] {
        let outcome = run(&scenario, &scheme(name, &[]));
        let finishes: Vec<f64> =
            outcome.flows.iter().filter_map(|flow| Some(flow.finish?.as_secs_f64())).collect();
        let [before, into, within, beyond] = finishes[..] else { panic!("{name}: {finishes:?}") };
        assert!(before < 0.09 && (0.09..0.1).contains(&into), "{name}: {finishes:?}");
        assert!(within < 0.1 && beyond > 0.1, "{name}: {finishes:?}");

        let bytes: Vec<u64> = outcome.flows.iter().map(|flow| flow.delivered_in_window.get()).collect();
        assert_eq!((bytes[0], bytes[2]), (0, 125_000), "{name}");
        assert!((500_000..1_000_000).contains(&bytes[1]), "{name}: {bytes:?}");
        assert!((1..=250_000).contains(&bytes[3]), "{name}: {bytes:?}");
        assert!(bytes.iter().sum::<u64>() <= 1_250_000, "{name}: {bytes:?}");
    }
}

/// Losses leave gaps, and a packet that fills a gap acknowledges at once what had arrived before. For every start of
/// the measured time of 2 ms, the delivered bytes do not exceed what the link carries in this time, plus the packet
/// in transmission at its start.
#[test]
fn no_more_is_delivered_than_the_line_carries() {
    let faults =
        "[faults]\nloss = 0.003\n[[traffic]]\nkind = \"long-lived\"\nflows = 3\nto = 2\nfrom = [0, 1]\n";
    for name in ["tcp", "newreno", "dctcp", "pfabric-minimal", "dcqcn"] {
        for start in (10..40).step_by(2) {
            let times = format!("warmup = \"{start}ms\"\nduration = \"{}ms\"", start + 2);
            let text = star(3, faults).replace("duration = \"1s\"", &times);
            let outcome = run(&scenario(&text, &[]), &scheme(name, &[]));
            let bytes: u64 = outcome.flows.iter().map(|flow| flow.delivered_in_window.get()).sum();
            assert!(bytes <= 250_000 / 1500 * 1460 + 2 * 1460, "{name} from {start} ms: {bytes}");
        }
    }
}

/// Two hosts send, one of them until 40 ms. All bytes that it has sent by then arrive, and the other gets the whole
/// link. From 50 ms on, no byte of the first flow counts.
#[test]
fn a_flow_that_stops_delivers_all_sent_data() {
    let long =
        |from: u32, stop: &str| format!("[[traffic]]\nkind = 'long-lived'\nfrom = {from}\nto = 2\n{stop}\n");
    let rest = long(0, "stop = '40ms'") + &long(1, "") + "[measure]\nsample_every = '1ms'\n";
    let text = star(3, &rest).replace("duration = \"1s\"", "warmup = \"50ms\"\nduration = \"100ms\"");
    for name in
        ["dctcp", "tcp", "cubic+transport.recovery=rack", "swift", "pfabric", "pfabric-minimal", "dcqcn"]
    {
        let (base, settings) =
            name.split_once('+').map_or((name, None), |(base, rest)| (base, rest.split_once('=')));
        let settings: Vec<(&str, &str)> = settings.into_iter().collect();
        let outcome = run(&scenario(&text, &[]), &scheme(base, &settings));
        let [stopped, other] = &outcome.flows[..] else { panic!("{} rows", outcome.flows.len()) };
        let finish = stopped.finish.unwrap_or_else(|| panic!("{name} never ends")).as_secs_f64();
        assert!((0.04..0.05).contains(&finish), "{name}: ends at {finish} s");
        assert!(stopped.acked > Bytes::new(100_000), "{name}: {}", stopped.acked);
        assert_eq!((stopped.delivered_in_window, other.finish), (Bytes::ZERO, None), "{name}");
        let goodput = other.delivered_in_window.as_f64() * 8.0 / 0.05;
        assert!(goodput > 0.9e9, "{name}: the other has {goodput} bit/s");
        assert_eq!(outcome.counters.unfinished, 0, "{name}");
        let of_stopped = |sample: &Sample| sample.subject == Subject::FlowThroughput(FlowId(0));
        let last = outcome.samples.iter().filter(of_stopped).last().unwrap().at.as_secs_f64();
        assert!((0.039..=finish).contains(&last), "{name}: sampled until {last} s");
    }
}

/// The request of the only query is sent within the measured time, the answer after it.
#[test]
fn an_answer_after_the_measured_time_counts_nothing_in_it() {
    let query = "[[traffic]]\nkind = 'queries'\nworkers = 1\nto = 0\nrepeat = 1\nthink = '1ms'\nat = '90ms'
        compute = '30ms'\nsizes = { kind = 'fixed', value = '1KB' }";
    let outcome = run(&measured_from("20ms", query, &[]), &scheme("dctcp", &[]));
    let [request, answer] = &outcome.flows[..] else { panic!("{} rows", outcome.flows.len()) };
    assert_eq!((request.delivered_in_window, answer.delivered_in_window), (request.size, Bytes::ZERO));
    assert_eq!(answer.acked, answer.size);
}

/// The first packet of each of five flows of one segment is lost at the switch, and retransmitted after the timeout
/// of 10 ms. The measured time is from 30 to 60 ms. Each flow has two packets, numbered in order of sending: the
/// first packet of flow 5 comes before the second packet of flow 4.
///
/// | flow | lost | timeout | packets |
/// |---|---|---|---|
/// | 1 | 5 ms | 15 ms | 1, 2 |
/// | 2 | 22 ms | 32 ms | 3, 4 |
/// | 3 | 40 ms | 50 ms | 5, 6 |
/// | 4 | 55 ms | 65 ms | 7, 9 |
/// | 5 | just after 60 ms | 70 ms | 8, 10 |
#[test]
fn drops_marks_and_retransmissions_are_those_of_the_measured_time() {
    let starts = ["0.005", "0.022", "0.04", "0.055", "0.05995"];
    let rows = starts.map(|start| format!("{start},0,2,1460"));
    let faults = "[faults]\ndrop_data = [1, 3, 5, 7, 8]\nmark_data = [2, 4, 6, 9]\n";
    let text = star(3, &format!("{faults}{TRACE}"))
        .replace("duration = \"1s\"", "warmup = \"30ms\"\nduration = \"60ms\"");
    let scenario = scenario(&text, &rows.each_ref().map(String::as_str));
    for name in ["dctcp", "pecn"] {
        let outcome = run(&scenario, &scheme(name, &[]));
        let [lost] = &outcome.drops[..] else { panic!("{name}: {:?}", outcome.drops) };
        assert_eq!((lost.in_run, lost.measured), (5, 2), "{name}");
        assert_eq!(outcome.counters.packets_dropped, 5, "{name}");
        let port = outcome.ports.iter().find(|port| port.to.0 == 2).unwrap();
        assert_eq!((port.drops, port.marks, port.tx_packets), (2, 2, 2), "{name}");
        let flows = |of: fn(&FlowRow) -> u32| outcome.flows.iter().map(of).collect::<Vec<_>>();
        assert_eq!(flows(|row| row.timeouts), [1; 5], "{name}");
        assert_eq!(flows(|row| row.retransmits), [1; 5], "{name}");
        assert_eq!(flows(|row| row.timeouts_in_window), [0, 1, 1, 0, 0], "{name}");
        assert_eq!(flows(|row| row.retransmits_in_window), [0, 1, 1, 0, 0], "{name}");
        assert_eq!(flows(|row| row.marks), [1, 1, 1, 1, 0], "{name}");
    }
}

/// A packet finds no path at 5 ms, and again after timeouts of 10 and 20 ms. The third time is in the measured time.
#[test]
fn drops_at_a_switch_without_a_route_are_counted() {
    let text = r#"
title = "a dumbbell whose middle fails"
warmup = "30ms"
duration = "100ms"
topology = { kind = "dumbbell", pairs = 1, rate = "1Gbps", bottleneck = "1Gbps", rtt = "300us" }
switch = { buffer = "250pkt", mark_above = "20pkt" }
faults = { links = ["s0-s1"], down_at = "1ms", up_at = "45ms" }
traffic = [{ kind = "trace", file = "flows.csv", unmeasured = true }]
"#;
    let outcome = run(&scenario(text, &["0.005,0,1,1460"]), &scheme("dctcp", &[]));
    let [row] = &outcome.drops[..] else { panic!("{:?}", outcome.drops) };
    assert!(matches!(row.place, Place::Node(_)));
    assert_eq!((row.in_run, row.measured), (3, 1));
}

/// A flow has losses and many timeouts. From a fifth of the run on, the predicted end of the run is near its real
/// end.
#[test]
fn the_estimated_end_of_a_run_includes_timeouts() {
    struct Notes(Vec<(Instant, Instant)>);
    impl Observer for Notes {
        fn tick(&mut self, standing: RunProgress) -> bool {
            let (measured, limit) = (Instant::ZERO + Span::from_millis(1), Instant::MAX);
            self.0.push((standing.now, standing.expected_end(measured, limit)));
            true
        }
    }
    let faults = "[tcp]\nrto_min = \"10ms\"\n[faults]\nlinks = [\"s0->h2\"]\nloss = 0.08";
    let text = star(3, &format!("{faults}\n{TRACE}")).replace("\"1s\"", "\"1ms\"");
    let (scenario, mut notes) = (scenario(&text, &["0us,h0,h2,300000000"]), Notes(Vec::new()));
    let outcome = simulation::run(&scenario, &scheme("tcp", &[]), 1, &mut notes).unwrap();
    assert!(outcome.flows[0].timeouts > 100 && outcome.counters.unfinished == 0);
    let whole = outcome.end.since(Instant::ZERO).as_secs_f64();
    for (now, end) in notes.0 {
        let (left, truth) = (end.since(now).as_secs_f64(), outcome.end.since(now).as_secs_f64());
        let is_early = now.since(Instant::ZERO).as_secs_f64() < 0.2 * whole;
        let ratio = (left + 0.05 * whole) / (truth + 0.05 * whole);
        assert!(is_early || (1.0 / 1.5..1.5).contains(&ratio), "{left} s of {truth} s");
    }
}
