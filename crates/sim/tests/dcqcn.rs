//! DCQCN in a network: equal rates, the queue between its thresholds, and losses.

use crate::common::{TRACE, mean, run, scenario, scheme, values};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;
use shortflow_sim::queue::DropReason;
use shortflow_sim::simulation::{self, NoObserver};

/// Text of a star with 40 Gbit/s and 10 µs, followed by `rest`.
fn star(hosts: usize, duration: &str, rest: &str) -> String {
    format!(
        r#"
title = "dcqcn"
duration = "{duration}"
drain = "1s"
topology = {{ kind = "star", hosts = {hosts}, rate = "40Gbps", rtt = "10us" }}
switch = {{ buffer = "4MB", mark_above = "100KB" }}
[tcp]
rto_min = "1ms"
{rest}
"#
    )
}

/// `flows` long flows to one host, which start 2 ms apart. The measured time is from 40 to 60 ms.
fn long_flows(flows: usize, settings: &[(&str, &str)]) -> Outcome {
    let rest = format!(
        "[[traffic]]\nkind = \"long-lived\"\nflows = {flows}\nfrom = \"0-{}\"\nto = {flows}\nstagger = \"2ms\"\n\
         [measure]\nsample_every = \"10us\"\n",
        flows - 1
    );
    let text = star(flows + 1, "60ms", &rest).replace("duration", "warmup = \"40ms\"\nduration");
    run(&scenario(&text, &[]), &scheme("dcqcn", settings))
}

/// Payload per second of each flow, in Gbit/s.
fn goodputs(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.delivered_in_window.as_f64() * 8.0 / 0.02 / 1e9).collect()
}

/// Backlog in KB from 40 ms on.
fn queue(outcome: &Outcome) -> Vec<f64> {
    let late = outcome.samples.iter().filter(|sample| sample.at.as_secs_f64() > 0.04);
    let bytes = late.filter(|sample| matches!(sample.subject, Subject::QueueBytes(_)));
    bytes.map(|sample| sample.value / 1000.0).collect()
}

/// §5: the second flow starts at the rate of its link 2 ms after the first, which has the whole port. Both flows
/// converge to half of the port's rate.
#[test]
fn two_flows_converge_to_equal_rates() {
    let outcome = long_flows(2, &[]);
    let (goodputs, half) = (goodputs(&outcome), 40.0 * 1460.0 / 1500.0 / 2.0);
    assert!(goodputs.iter().all(|rate| (rate / half - 1.0).abs() < 0.1), "{goodputs:?} of {half}");
    assert!(goodputs.iter().sum::<f64>() > 0.95 * 2.0 * half, "{goodputs:?}");
    assert_eq!(outcome.counters.packets_dropped, 0);
}

/// The mean queue is between K_min and K_max: first 5 and 200 KB, then 40 and 400 KB. With more flows it is longer.
#[test]
fn the_queue_stands_between_the_thresholds() {
    let [two, eight] = [2, 8].map(|flows| mean(&queue(&long_flows(flows, &[]))));
    assert!(5.0 < two && two < eight && eight < 200.0, "{two} KB with 2 flows, {eight} with 8");
    let raised = mean(&queue(&long_flows(2, &[("queue.min", "40KB"), ("queue.max", "10")])));
    assert!(40.0 < raised && raised < 400.0, "{raised} KB");
}

/// A single flow uses the whole link: 1 MB are 685 packets of 300 ns each, over two links and 5 µs.
#[test]
fn a_flow_alone_sends_at_the_rate_of_its_link() {
    let outcome = run(&scenario(&(star(3, "10ms", "") + TRACE), &["0,h0,h2,1000100"]), &scheme("dcqcn", &[]));
    let flow = &outcome.flows[0];
    assert_eq!((flow.fct(), flow.packets), (flow.ideal, 685));
}

/// With flows in both directions, answers meet queues above K_max, and none is dropped at random.
#[test]
fn answers_pass_congestion_points() {
    let each = |from: &str, to: u32| {
        format!("[[traffic]]\nkind = \"long-lived\"\nflows = 4\nfrom = \"{from}\"\nto = {to}\n")
    };
    let text = star(10, "5ms", &(each("0-3", 4) + &each("5-8", 9) + &each("4-4", 5) + &each("9-9", 0)));
    let outcome = run(&scenario(&text, &[]), &scheme("dcqcn", &[]));
    assert!(outcome.ports.iter().any(|port| port.marks > 0));
    let early: u64 =
        outcome.drops.iter().filter(|row| row.reason == DropReason::Early).map(|row| row.in_run).sum();
    assert_eq!(early, 0);
}

/// A mark less than 50 µs after a CNP is reported when the 50 µs are over.
#[test]
fn a_mark_between_notifications_is_notified_later() {
    let notified = |marks: &str| {
        let text = star(3, "10ms", &format!("[faults]\nmark_data = [{marks}]\n")) + TRACE;
        let outcome = run(&scenario(&text, &["0,h0,h2,400000"]), &scheme("dcqcn", &[]));
        outcome.counters.packets_sent - 2 * outcome.flows[0].packets
    };
    // Packet 60 comes 18 µs after packet 1.
    assert_eq!([notified(""), notified("1"), notified("1, 60"), notified("1, 60, 61")], [0, 1, 2, 2]);
}

/// Two flows of one host share its link in turns, with one packet of each in its queue.
#[test]
fn flows_of_a_host_take_turns() {
    let rows = ["0,h0,h2,1000100", "0,h0,h1,1000100"];
    let outcome = run(&scenario(&(star(3, "10ms", "") + TRACE), &rows), &scheme("dcqcn", &[]));
    let [first, second] = [0, 1].map(|flow| outcome.flows[flow].fct().unwrap().as_secs_f64());
    assert!((first / second - 1.0).abs() < 0.01, "{first} s and {second} s");
    let waited = outcome.flows[0].waited_at_host.as_secs_f64() / outcome.flows[0].left as f64;
    assert!(waited <= 300e-9, "{waited} s a packet");
}

/// Go-back-N: after a loss, the lost packet and all later ones are retransmitted once, without a timeout. The loss of
/// the last packet needs a timeout, because no later packet reveals it.
#[test]
fn losses_are_repaired_from_the_first_missing_packet_on() {
    let lose = |which: &str| {
        let text = star(3, "10ms", &format!("[faults]\ndrop_data = [{which}]\n")) + TRACE;
        let outcome = run(&scenario(&text, &["0,h0,h2,146000"]), &scheme("dcqcn", &[]));
        let flow = &outcome.flows[0];
        assert_eq!(flow.acked, flow.size, "{which}");
        (flow.timeouts, flow.retransmits)
    };
    // The NACK takes a round trip of 10.9 µs, in which 36 packets leave behind the lost one.
    let (timeouts, retransmits) = lose("10");
    assert!(timeouts == 0 && (36..=39).contains(&retransmits), "{retransmits}");
    assert_eq!(lose("100"), (1, 1));
}

/// Every packet is marked, but a CNP is sent at most every 50 µs, and each CNP halves the rate.
#[test]
fn notifications_are_rationed() {
    let text = star(3, "10ms", "[faults]\nmark = 1.0\n") + TRACE;
    let settings = [("transport.rate_timer", "10s"), ("transport.alpha_timer", "10s")];
    let outcome = run(&scenario(&text, &["0,h0,h2,200000"]), &scheme("dcqcn", &settings));
    // 11 µs at 40 Gbit/s, 50 at 20 and 22 at 10 carry the 205 KB; the last packet is acknowledged 11 µs later.
    let time = outcome.flows[0].fct().unwrap().as_secs_f64();
    assert!((90e-6..97e-6).contains(&time), "{time}");
    assert_eq!(outcome.counters.packets_sent, 2 * outcome.flows[0].packets + 2);
}

/// 24 hosts send 500 KB each to one host, over 2 MB of buffer with flow control. Each parameter set has a curve for
/// the rate, and no packet is dropped or retransmitted.
#[test]
fn every_parameter_set_is_lossless_with_pauses() {
    let rows: Vec<String> = (0..24).map(|host| format!("0.0001,h{host},h24,500000")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    for (set, rate) in [("paper", "40Gbps"), ("hpcc-authors", "100Gbps"), ("simai-2026", "100Gbps")] {
        let switch = "buffer = \"2MB\", xoff = \"10KB\"";
        let text = star(25, "3ms", "").replace("40Gbps", rate).replace("buffer = \"4MB\"", switch) + TRACE;
        let outcome = run(&scenario(&text, &rows), &scheme(&format!("dcqcn@{set}"), &[]));
        let marks: u64 = outcome.ports.iter().map(|port| port.marks).sum();
        assert!(outcome.flows.iter().all(|flow| flow.acked == flow.size && flow.retransmits == 0), "{set}");
        assert_eq!(outcome.counters.packets_dropped, 0, "{set}");
        assert!(marks > 100, "{set}: {marks} marks");
    }
}

/// A port whose rate has no curve is refused.
#[test]
fn a_rate_without_a_curve_is_refused() {
    let text = star(3, "1ms", "") + TRACE;
    let refused = |name: &str| {
        let (scenario, scheme) = (scenario(&text, &["0,h0,h2,1000"]), scheme(name, &[]));
        simulation::run(&scenario, &scheme, 1, &mut NoObserver).unwrap_err().to_string()
    };
    assert_eq!(
        refused("dcqcn@hpcc-authors"),
        "queue.curves: s0->h0 has a rate of 40Gbps, and the curves are for 25Gbps, 50Gbps, 100Gbps, 200Gbps, 400Gbps; add one \
         for 40Gbps, or set queue.curves=none for the curve of queue.min, queue.max and queue.max_p"
    );
}

/// Eq. 2: if the rate rises only every 10 ms, probes still see alpha fall every 55 µs. Probes sample every 10 µs.
#[test]
fn probes_see_alpha_fall_between_timers() {
    let outcome = long_flows(2, &[("transport.rate_timer", "10ms"), ("transport.g", "0.25")]);
    let of_first = |subject| matches!(subject, Subject::Alpha(flow) if flow.0 == 0);
    let falling: Vec<f64> =
        values(&outcome, of_first).into_iter().filter(|alpha| (1e-6..0.9).contains(alpha)).collect();
    let longest = falling.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0);
    assert!(falling.len() > 200 && longest <= 6, "{longest} samples alike of {}", falling.len());
}
