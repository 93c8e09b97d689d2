//! What laws that read the path see of a real network, and that they are paced and woken as they ask.

use crate::common::{run, scenario, star};
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, PathSample, UserDefined, Window};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::scheme::Scheme;
use shortflow_units::{Bytes, Instant, Rate, Span};
use std::sync::{Arc, Mutex};

/// A law that keeps a window, paces if asked, and keeps what it sees: samples by time, and the times of its timer.
#[derive(Debug, Clone, Default)]
struct Recorder {
    cwnd: f64,
    rate: Option<Rate>,
    every: Option<Span>,
    due: Option<Instant>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    samples: Vec<(Instant, PathSample)>,
    woken: Vec<Instant>,
}

impl CongestionControl for Recorder {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        window.cwnd = self.cwnd;
        self.seen.lock().unwrap().samples.push((ack.flow.now, ack.path.unwrap()));
    }
    fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {}
    fn on_start(&mut self, now: Instant, line: Rate) {
        assert_eq!(line, Rate::new(1_000_000_000).unwrap());
        self.due = self.every.map(|every| now + every);
    }
    fn initial_window(&self, _: f64) -> f64 {
        self.cwnd
    }
    fn reads_path(&self) -> bool {
        true
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
    fn timer(&self) -> Option<Instant> {
        self.due
    }
    fn on_timer(&mut self, _: &mut Window, flow: &FlowView) {
        self.seen.lock().unwrap().woken.push(flow.now);
        self.due = self.every.map(|every| flow.now + every);
    }
}

/// `flows` long flows for 20 ms, each with such a law, on a star of 1 Gbit/s and 300 µs, beside other settings.
fn long_flows(law: &Recorder, flows: usize, rest: &str) -> Outcome {
    let traffic = format!(
        "[[traffic]]\nkind = \"long-lived\"\nflows = {flows}\nfrom = \"0-{}\"\nto = {flows}\n{rest}",
        flows - 1
    );
    let text = star(flows + 1, &traffic).replace("duration = \"1s\"", "duration = \"20ms\"");
    let law = law.clone();
    let start = Arc::new(move || Box::new(law.clone()) as Box<dyn UserDefined>);
    let scheme = Scheme::user_defined("tcp", "recorder".to_owned(), String::new(), &[], start).unwrap();
    run(&scenario(&text, &[]), &scheme)
}

/// 300 µs, two packets of 1500 bytes and two ACKs of 40 on links of 1 Gbit/s.
const BASE: Span = Span::from_nanos(300_000 + 2 * 12_000 + 2 * 320);

#[test]
fn an_empty_network_shows_its_round_trip_time_and_the_rate_of_the_window() {
    let law = Recorder { cwnd: 1.0, ..Recorder::default() };
    long_flows(&law, 1, "");
    let seen = law.seen.lock().unwrap();
    let rate = Rate::of(Bytes::new(1460), BASE);
    for (index, (_, sample)) in (1..).zip(&seen.samples) {
        let delivered = Bytes::new(1460 * index);
        let expected = PathSample {
            rtt: BASE,
            min_rtt: BASE,
            in_switches: Span::ZERO,
            in_hosts: Span::ZERO,
            hops: 1,
            delivered,
            rate,
            app_limited: false,
        };
        assert_eq!(*sample, expected);
    }
    assert!(seen.samples.len() > 50);
}

/// Ten segments at once wait in the queue of their host, where 0 to 9 are ahead of them; two flows of five meet in the
/// switch. The rest of each round-trip time is that of an empty network.
#[test]
fn waiting_in_hosts_and_in_switches_is_told_apart() {
    let law = Recorder { cwnd: 10.0, ..Recorder::default() };
    long_flows(&law, 1, "");
    let seen = law.seen.lock().unwrap();
    for (ahead, (_, sample)) in (0..10).zip(&seen.samples) {
        assert_eq!(sample.in_hosts, Span::from_micros(12).times(ahead));
        assert_eq!((sample.in_switches, sample.base_rtt()), (Span::ZERO, BASE));
    }
    let law = Recorder { cwnd: 30.0, ..Recorder::default() };
    long_flows(&law, 2, "");
    let seen = law.seen.lock().unwrap();
    // 60 segments, of which 27 fill the path: the others wait, 33 · 12 µs.
    let late = seen.samples.iter().filter(|(at, _)| at.as_secs_f64() > 0.01).map(|(_, sample)| sample);
    for sample in late {
        assert_eq!(sample.base_rtt(), BASE);
        let waits = (sample.in_switches + sample.in_hosts).as_secs_f64() / 12e-6;
        assert!((32.0..34.0).contains(&waits), "{waits} packets");
        assert!(sample.in_switches > sample.in_hosts);
    }
}

/// A receiver that delays its ACKs counts as a host: with two segments an ACK and a window of one, `ack_delay` passes.
#[test]
fn a_delayed_ack_is_a_delay_of_the_host() {
    let law = Recorder { cwnd: 1.0, ..Recorder::default() };
    long_flows(&law, 1, "[tcp]\nack_every = 2\nack_delay = \"40us\"\n");
    let seen = law.seen.lock().unwrap();
    assert!(seen.samples.len() > 40);
    for (_, sample) in &seen.samples {
        assert_eq!((sample.in_hosts, sample.rtt), (Span::from_micros(40), BASE + Span::from_micros(40)));
    }
}

/// A quarter of a segment is one segment in four round trips, and a half one in two; none waits anywhere.
#[test]
fn a_window_below_one_segment_is_paced() {
    for (cwnd, round_trips) in [(0.25, 4), (0.5, 2)] {
        let law = Recorder { cwnd, ..Recorder::default() };
        let outcome = long_flows(&law, 1, "");
        let seen = law.seen.lock().unwrap();
        for pair in seen.samples.windows(2) {
            assert_eq!(pair[1].0.since(pair[0].0), BASE.times(round_trips));
        }
        assert!(seen.samples.len() as u64 >= 60 / round_trips - 1);
        assert_eq!(outcome.flows[0].timeouts, 0);
    }
}

/// 250 Mbit/s on the wire are one packet in 48 µs, whatever the window.
#[test]
fn a_pacing_rate_spaces_packets() {
    let law = Recorder { cwnd: 100.0, rate: Rate::new(250_000_000), ..Recorder::default() };
    let outcome = long_flows(&law, 1, "");
    let seen = law.seen.lock().unwrap();
    for pair in seen.samples.windows(2) {
        assert_eq!(pair[1].0.since(pair[0].0), Span::from_micros(48));
    }
    assert!(seen.samples.len() > 400);
    assert!(outcome.flows[0].waited.is_zero());
    let last = seen.samples.last().unwrap().1;
    assert_eq!(last.rate, Rate::of(Bytes::new(1460), Span::from_micros(48)), "the rate of delivery");
}

#[test]
fn a_law_is_woken_when_it_asks() {
    let every = Span::from_micros(700);
    let law = Recorder { cwnd: 2.0, every: Some(every), ..Recorder::default() };
    long_flows(&law, 1, "");
    let seen = law.seen.lock().unwrap();
    let expected: Vec<Instant> = (1..=28).map(|n| Instant::ZERO + every.times(n)).collect();
    assert_eq!(seen.woken, expected);
}

/// A lost segment below one segment: the timeout resends it, and the pace goes on.
#[test]
fn losses_below_one_segment_are_repaired() {
    let law = Recorder { cwnd: 0.5, ..Recorder::default() };
    let outcome = long_flows(&law, 1, "[faults]\ndrop_data = [4]\n");
    assert_eq!((outcome.flows[0].timeouts, outcome.flows[0].retransmits), (1, 1));
    let delivered = law.seen.lock().unwrap().samples.last().unwrap().1.delivered;
    assert!(delivered.get() > 10 * 1460, "{delivered}");
}
