//! Behaviour of Linux hosts beyond the RFCs: quick ACKs, immediate ACKs when marks change, growth by segments,
//! jitter. Times are as in `analytic.rs`: a segment and its ACK take 324.64 µs, and each further segment 12 µs.

use crate::common::{TRACE, fct, run, scenario, scheme, star, values};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;
use shortflow_units::Span;

const ROUND: u64 = 324_640;
const WAIT: u64 = 500_000;

/// One flow of `segments` with a first window of one segment, whose ACKs are delayed by half a millisecond.
fn delayed(segments: u64, settings: &str) -> Span {
    let tcp = format!(
        "[tcp]\ninitial_window = 1\nack_every = 2\nack_delay = \"500us\"\nrto_min = \"1s\"\n{settings}\n"
    );
    let row = format!("0,h0,h2,{}", segments * 1460);
    fct(&run(&scenario(&star(3, &(tcp + TRACE)), &[&row]), &scheme("dctcp", &[])), 0)
}

#[test]
fn the_first_segments_are_acknowledged_one_by_one() {
    for (quick, waits) in [(0, 2), (1, 1), (2, 0)] {
        let took = delayed(2, &format!("quick_acks = {quick}"));
        assert_eq!(took, Span::from_nanos(2 * ROUND + waits * WAIT), "{quick}");
    }
}

#[test]
fn a_change_of_the_echo_is_acknowledged_at_once() {
    // Segments, marked segments, and waits for the timer without and with the setting. In the last case the second
    // mark changes nothing, but its segment reports the decrease (CWR).
    for (segments, marked, without, with) in
        [(1, "[]", 1, 1), (1, "[1]", 1, 0), (2, "[2]", 2, 1), (2, "[1]", 2, 0), (2, "[1, 2]", 2, 0)]
    {
        for (setting, waits) in [(false, without), (true, with)] {
            let took =
                delayed(segments, &format!("ack_ecn_changes = {setting}\n[faults]\nmark_data = {marked}"));
            let expected = Span::from_nanos(segments * ROUND + waits * WAIT);
            assert_eq!(took, expected, "{segments} segments, marked: {marked}, {setting}");
        }
    }
}

#[test]
fn slow_start_doubles_with_delayed_acks_too() {
    let text = "[tcp]\ninitial_window = 2\nack_every = 2\ngrow_by_segments = true\n".to_owned() + TRACE;
    let outcome = run(&scenario(&star(3, &text), &["0,h0,h2,8760"]), &scheme("tcp", &[]));
    // Two segments, one ACK, four segments.
    assert_eq!(fct(&outcome, 0), Span::from_nanos(ROUND + 12_000 + ROUND + 36_000));
}

/// A backlogged flow, sampled every millisecond, whose first segment is marked, which ends slow start.
fn climb(settings: &str) -> Outcome {
    let text = format!(
        "[tcp]\ninitial_window = 10\n{settings}[faults]\nmark_data = [1]\n[[traffic]]\nkind = \"long-lived\"\n\
         flows = 1\nfrom = [0]\nto = 2\n[measure]\nsample_every = \"1ms\"\n"
    );
    let text = star(3, &text).replace("duration = \"1s\"", "duration = \"10ms\"");
    run(&scenario(&text, &[]), &scheme("dctcp", &[]))
}

fn window(outcome: &Outcome) -> f64 {
    *values(outcome, |subject| matches!(subject, Subject::Cwnd(_))).last().unwrap()
}

#[test]
fn congestion_avoidance_adds_one_segment_per_round_trip_or_half_of_it() {
    let every = window(&climb("")) - 10.0;
    let by_segments = window(&climb("ack_every = 2\ngrow_by_segments = true\n")) - 10.0;
    let by_acks = window(&climb("ack_every = 2\n")) - 10.0;
    assert!(every > 20.0 && (by_segments / every - 1.0).abs() < 0.05, "{by_segments} {every}");
    assert!((by_acks / every - 0.5).abs() < 0.08, "{by_acks} {every}");
}

/// An ACK that fills a hole covers segments that had arrived earlier, and opens the window only once.
#[test]
fn with_an_ack_per_segment_growth_by_segments_is_growth_by_acks() {
    let rows: Vec<String> = (0..20).map(|i| format!("{}ms,h{},h2,200000", 10 * i, i % 2)).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    for name in ["tcp", "dctcp"] {
        let times = |grow: bool| {
            let text = format!("[tcp]\ngrow_by_segments = {grow}\n[faults]\nloss = 0.02\n") + TRACE;
            let outcome = run(&scenario(&star(3, &text), &rows), &scheme(name, &[]));
            assert!(outcome.flows.iter().map(|flow| flow.retransmits).sum::<u32>() > 20);
            (0..20).map(|i| fct(&outcome, i)).collect::<Vec<_>>()
        };
        assert_eq!(times(true), times(false), "{name}");
    }
}

#[test]
fn jitter_delays_a_packet_by_a_random_time_up_to_its_limit() {
    let rows: Vec<String> = (0..40).map(|i| format!("{i}ms,h0,h2,1460")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let text = star(3, &("[host]\njitter = \"100us\"\n".to_owned() + TRACE));
    let outcome = run(&scenario(&text, &rows), &scheme("tcp", &[]));
    // The segment and its ACK are late by up to 100 µs each, in all by 100 µs on average.
    let late: Vec<f64> =
        (0..40).map(|i| (fct(&outcome, i).as_secs_f64() - ROUND as f64 * 1e-9) * 1e6).collect();
    assert!(late.iter().all(|late| (0.0..200.0).contains(late)), "{late:?}");
    let mean = late.iter().sum::<f64>() / 40.0;
    assert!((mean - 100.0).abs() < 20.0, "{mean}");
}

/// A late host sends no faster than its link. With links of equal rate, the switch holds only the packet that it
/// sends, even after a pause, at the end of which many packets are ready.
#[test]
fn late_packets_stay_a_transmission_time_apart() {
    for host in ["jitter = '12us'", "jitter = '200us'", "stalls = 1000", "jitter = '12us'\nstalls = 1000"] {
        let text = format!(
            "title = 'one flow'\nduration = '20ms'\nwarmup = '0s'\ndrain = '0s'\n\
             topology = {{ kind = 'star', hosts = 2, rate = '10Gbps', rtt = '100us' }}\n\
             switch = {{ buffer = '1000pkt', mark_above = 'unlimited' }}\n[tcp]\nreceive_window = '90pkt'\n\
             [host]\n{host}\n[[traffic]]\nkind = 'long-lived'\nfrom = 0\nto = 1\n"
        );
        let outcome = run(&scenario(&text, &[]), &scheme("tcp", &[]));
        let at_switch = outcome.ports.iter().filter(|port| port.from.index() >= 2);
        let most = at_switch.map(|port| port.max_packets).max();
        assert_eq!(most, Some(1), "{host}");
    }
}

/// Flows of one segment start every 2 ms. A pause of length L meets a share E[L] / (gap + E[L]) of the packets. These
/// wait for E[L²] / 2 E[L] on average, and at most for the longest pause. The segment waits at one host, its ACK at
/// the other.
#[test]
fn packets_wait_for_the_end_of_a_pause() {
    let rows: Vec<String> = (0..5000).map(|i| format!("{}ms,h0,h2,1460", 2 * i)).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let late = |host: &str| {
        let text = star(3, &format!("[host]\n{host}\n{TRACE}")).replace("\"1s\"", "\"10s\"");
        let outcome = run(&scenario(&text, &rows), &scheme("tcp", &[]));
        let late = (0..5000).map(|i| fct(&outcome, i).saturating_sub(Span::from_nanos(ROUND)));
        let mut late: Vec<f64> = late.map(|late| late.as_secs_f64() * 1e6).collect();
        late.sort_by(f64::total_cmp);
        late
    };
    // Both hosts: a share of 1/11 of the packets waits, for 541.7 µs on average.
    let uniform = late("stalls = 100");
    let mean = uniform.iter().sum::<f64>() / 5000.0;
    assert!((mean / (2.0 * 541.7 / 11.0) - 1.0).abs() < 0.1, "{mean}");
    assert!(uniform[4999] > 1400.0 && uniform[4999] < 3000.0, "{}", uniform[4999]);
    let on_time = uniform.iter().filter(|late| **late == 0.0).count() as f64 / 5000.0;
    assert!((on_time - (10.0f64 / 11.0).powi(2)).abs() < 0.03, "{on_time}");
    // With pauses of one length, every wait is equally likely: a quarter of the waiting packets waits for less than a
    // quarter of the pause.
    let equal = late("stalls = 20\nstall_min = \"1ms\"\nstall_max = \"1ms\"");
    let waiting: Vec<f64> = equal.into_iter().filter(|late| *late > 0.0).collect();
    let short = waiting.iter().filter(|late| **late < 250.0).count() as f64 / waiting.len() as f64;
    assert!((short - 0.25).abs() < 0.07, "{short} of {}", waiting.len());
}

#[test]
fn jitter_and_pauses_keep_the_order_of_packets() {
    let [jittery, punctual, stalling] =
        ["jitter = '1ms'", "jitter = '50us'", "jitter = '50us'\nstalls = 500"].map(|host| {
            let text = star(3, &format!("[host]\n{host}\n[tcp]\nreceive_window = '20pkt'\n{TRACE}"));
            let outcome = run(&scenario(&text, &["0,h0,h2,1000000"]), &scheme("tcp", &[]));
            assert_eq!((outcome.flows[0].retransmits, outcome.counters.packets_dropped), (0, 0), "{host}");
            fct(&outcome, 0)
        });
    assert!(stalling > punctual + Span::from_millis(3) && jittery > punctual);
}

/// Share of the second of two DCTCP flows in the bytes of the measured time; the second starts two seconds later.
fn share_of_the_newcomer(jitter: &str) -> f64 {
    let text = format!(
        r#"
title = "a newcomer"
duration = "10s"
warmup = "4s"
topology = {{ kind = "dumbbell", pairs = 2, rate = "200Mbps", bottleneck = "100Mbps", rtt = "2ms" }}
switch = {{ buffer = "100pkt", mark_above = "8pkt" }}
tcp = {{ initial_window = 10 }}
host = {{ jitter = "{jitter}" }}
traffic = [{{ kind = "long-lived", flows = 2, from = "0-1", to = 2, stagger = "2s" }}]
"#
    );
    let outcome = run(&scenario(&text, &[]), &scheme("dctcp", &[("transport.cwnd_floor", "2")]));
    let bytes: Vec<f64> = outcome.flows.iter().map(|flow| flow.delivered_in_window.as_f64()).collect();
    bytes[1] / (bytes[0] + bytes[1])
}

/// Packets of a flow arrive in a row, always at the same point of another packet's transmission. The flow with the
/// smaller window is then cut twice in a round more often, and stays small (traffic phase effects: Floyd and
/// Jacobson, 1992).
#[test]
fn a_newcomer_gets_its_share_where_hosts_are_not_punctual_to_the_picosecond() {
    let (punctual, real) = (share_of_the_newcomer("0s"), share_of_the_newcomer("50us"));
    assert!(punctual < 0.35 && (real - 0.5).abs() < 0.06, "{punctual} {real}");
}
