//! Laws that read the path: samples from a real network, pacing and timers.

use crate::common::{TRACE, fct, run, scenario, star};
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, Opening, PathSample, UserDefined, Window};
use shortflow_sim::outcome::{FlowRow, Outcome};
use shortflow_sim::scheme::{Scheme, schemes};
use shortflow_spec::Source;
use shortflow_units::{Bytes, Instant, Rate, Span};
use std::sync::{Arc, Mutex};

/// A law with a constant window, which paces if asked, and records its samples with their times and the times of its
/// timer.
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
    /// For each sample, the segments by which `snd_una` advanced, and `true` in recovery.
    advances: Vec<(u64, bool)>,
    /// Marked bytes, and marked bytes reported by ACKs that did not advance.
    marked: [Bytes; 2],
    woken: Vec<Instant>,
}

impl Seen {
    /// For each sample, true if it is application-limited.
    fn limited(&self) -> Vec<bool> {
        self.samples.iter().map(|(_, sample)| sample.app_limited).collect()
    }
}

impl CongestionControl for Recorder {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        window.cwnd = self.cwnd;
        let mut seen = self.seen.lock().unwrap();
        seen.samples.push((ack.flow.now, ack.path.unwrap()));
        seen.advances.push((ack.acked.get() / 1460, ack.in_recovery));
        seen.marked[0] += ack.marked();
        seen.marked[1] += if ack.acked == Bytes::ZERO { ack.marked() } else { Bytes::ZERO };
    }
    fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {}
    fn on_start(&mut self, window: &mut Window, at: &Opening) {
        assert_eq!(at.line, Rate::new(1_000_000_000).unwrap());
        self.due = self.every.map(|every| at.now + every);
        window.cwnd = self.cwnd;
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

/// `flows` long flows with this law for 20 ms, on a star of 1 Gbit/s and 300 µs, with other settings in `rest`.
fn long_flows(law: &Recorder, flows: usize, rest: &str) -> Outcome {
    let traffic = format!(
        "[[traffic]]\nkind = \"long-lived\"\nflows = {flows}\nfrom = \"0-{}\"\nto = {flows}\n{rest}",
        flows - 1
    );
    let text = star(flows + 1, &traffic).replace("duration = \"1s\"", "duration = \"20ms\"");
    run(&scenario(&text, &[]), &scheme(law, "sack"))
}

/// [`Recorder`] in every sender, with this loss recovery.
fn scheme(law: &Recorder, recovery: &str) -> Scheme {
    scheme_over("tcp", law, ("transport.recovery", recovery))
}

/// [`scheme`] over another `base`, with this setting.
fn scheme_over(base: &str, law: &Recorder, (key, value): (&str, &str)) -> Scheme {
    let law = law.clone();
    let start = Arc::new(move || Box::new(law.clone()) as Box<dyn UserDefined>);
    let settings = [(key, value, Source::Set)];
    Scheme::user_defined(base, "recorder".to_owned(), String::new(), &settings, start).unwrap()
}

/// Flows of a trace with this law, on one connection, with other settings in `rest`.
fn trace(law: &Recorder, recovery: &str, rest: &str, rows: &[&str]) -> Outcome {
    let text = star(3, &format!("{rest}{TRACE}connections = \"persistent\"\n"));
    run(&scenario(&text, rows), &scheme(law, recovery))
}

/// The hosts of every scheme obey a user-defined law and give it a path with each ACK, or refuse the law.
#[test]
fn no_host_takes_a_law_and_leaves_it_alone() {
    for info in schemes() {
        let law = Recorder { cwnd: 4.0, ..Recorder::default() };
        let seen = Arc::clone(&law.seen);
        let start = Arc::new(move || Box::new(law.clone()) as Box<dyn UserDefined>);
        let taken = Scheme::user_defined(&info.name, "recorder".to_owned(), String::new(), &[], start);
        let host = Scheme::named(&info.name, &[]).unwrap().transport.info().host;
        assert_eq!(taken.is_ok(), host.info().takes_laws, "{}", info.name);
        let Ok(scheme) = taken else { continue };
        let text = star(3, "[[traffic]]\nkind = \"long-lived\"\n").replace("\"1s\"", "\"20ms\"");
        run(&scenario(&text, &[]), &scheme);
        assert!(seen.lock().unwrap().samples.len() > 10, "{}", info.name);
    }
}

/// Round-trip time of the empty network: 300 µs, two packets of 1,500 bytes and two ACKs of 40 bytes on links of 1
/// Gbit/s.
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
            hops: 1,
            delivered,
            newly_delivered: Bytes::new(1460),
            rate,
            ..PathSample::default()
        };
        assert_eq!(*sample, expected);
    }
    assert!(seen.samples.len() > 50);
}

/// Ten segments sent at once wait in the queue of their host, behind 0 to 9 others. Packets of two flows meet in the
/// switch. The rest of each round-trip time is that of the empty network.
#[test]
fn waits_in_hosts_and_in_switches_are_separate() {
    let law = Recorder { cwnd: 10.0, ..Recorder::default() };
    long_flows(&law, 1, "");
    let seen = law.seen.lock().unwrap();
    for (ahead, (_, sample)) in (0..10).zip(&seen.samples[..10]) {
        assert_eq!(sample.in_hosts, Span::from_micros(12).times(ahead));
        assert_eq!(sample.at_sender, sample.in_hosts);
        assert_eq!((sample.in_switches, sample.base_rtt()), (Span::ZERO, BASE));
    }
    let law = Recorder { cwnd: 30.0, ..Recorder::default() };
    long_flows(&law, 2, "");
    let seen = law.seen.lock().unwrap();
    // 60 segments are in flight and 27 fill the path, so a packet waits for 33 others, 33 · 12 µs.
    let late = seen.samples.iter().filter(|(at, _)| at.as_secs_f64() > 0.01);
    let late: Vec<PathSample> = late.map(|(_, sample)| *sample).collect();
    assert!(late.len() > 800, "{} of the 833 that the link has sent", late.len());
    for sample in late {
        assert_eq!(sample.base_rtt(), BASE);
        let waits = (sample.in_switches + sample.in_hosts).as_secs_f64() / 12e-6;
        assert!((32.0..34.0).contains(&waits), "{waits} packets");
        assert!(sample.in_switches > sample.in_hosts);
    }
}

/// Two hosts send to each other, 40 segments at a time on a path that holds 27. Data waits behind ACKs and data, and
/// ACKs wait behind the data of the receiver. No processor is late.
#[test]
fn waits_behind_the_receivers_own_packets_are_separate() {
    let law = Recorder { cwnd: 40.0, ..Recorder::default() };
    let rows = ["0,h0,h1,2920000", "0,h1,h0,2920000"];
    run(&scenario(&star(2, TRACE), &rows), &scheme(&law, "sack"));
    let seen = law.seen.lock().unwrap();
    let late = seen.samples.iter().filter(|(at, _)| (0.005..0.02).contains(&at.as_secs_f64()));
    let late: Vec<PathSample> = late.map(|(_, sample)| *sample).collect();
    assert!(late.len() > 1500, "{}", late.len());
    for sample in &late {
        assert_eq!((sample.base_rtt(), sample.at_work()), (BASE, Span::ZERO));
    }
    let mean = |of: fn(&PathSample) -> Span| {
        late.iter().map(|sample| of(sample).as_secs_f64() * 1e6).sum::<f64>() / late.len() as f64
    };
    let (before, after) = (mean(|sample| sample.at_sender), mean(|sample| sample.at_receiver));
    assert!(before > 50.0 && after > 50.0, "{before} us, {after} us");
}

/// The receiver's delay of an ACK counts as a delay of the host: with one ACK for two segments and a window of one
/// segment, each ACK waits for `ack_delay`.
#[test]
fn a_delayed_ack_is_a_delay_of_the_host() {
    let law = Recorder { cwnd: 1.0, ..Recorder::default() };
    long_flows(&law, 1, "[tcp]\nack_every = 2\nack_delay = \"40us\"\n");
    let seen = law.seen.lock().unwrap();
    assert!(seen.samples.len() > 40);
    for (_, sample) in &seen.samples {
        assert_eq!((sample.in_hosts, sample.rtt), (Span::from_micros(40), BASE + Span::from_micros(40)));
        assert_eq!(sample.at_sender, Span::ZERO);
    }
}

/// Each host is late by up to 100 µs, on average by 50 µs, and this delay is not part of the path.
#[test]
fn jitter_is_a_delay_of_the_hosts() {
    let law = Recorder { cwnd: 1.0, ..Recorder::default() };
    long_flows(&law, 1, "[host]\njitter = \"100us\"\n");
    let seen = law.seen.lock().unwrap();
    for (_, sample) in &seen.samples {
        assert_eq!((sample.base_rtt(), sample.at_sender), (BASE, Span::ZERO));
    }
    let (n, sum) = seen
        .samples
        .iter()
        .fold((0.0, 0.0), |(n, sum), (_, sample)| (n + 1.0, sum + sample.in_hosts.as_secs_f64()));
    assert!(n > 40.0 && (80e-6..120e-6).contains(&(sum / n)), "{n} samples, {} s on average", sum / n);
}

/// The fourth of ten packets is lost. Every ACK reports one segment that has arrived, in order or not, and the round
/// trip of this segment. So does the ACK of the retransmission, although it covers seven segments.
#[test]
fn acks_that_do_not_advance_have_samples() {
    for recovery in ["sack", "rack"] {
        let law = Recorder { cwnd: 10.0, ..Recorder::default() };
        let outcome = trace(&law, recovery, "[faults]\ndrop_data = [4]\n", &["0,h0,h2,43800"]);
        assert_eq!((outcome.flows[0].timeouts, outcome.flows[0].retransmits), (0, 1));
        let seen = law.seen.lock().unwrap();
        let delivered: Vec<u64> =
            seen.samples.iter().map(|(_, sample)| sample.delivered.get() / 1460).collect();
        assert_eq!(delivered, (1..=30).collect::<Vec<u64>>(), "{recovery}");
        assert!(seen.samples.iter().all(|(_, sample)| sample.newly_delivered == Bytes::new(1460)));
        let [before, after] = [&seen.samples[2], &seen.samples[3]];
        assert_eq!(
            after.0.since(before.0),
            Span::from_micros(24),
            "the fifth comes two packets after the third"
        );
    }
}

/// Packets are sprayed over four spines, which mark above two packets. They arrive in any order, and none is
/// retransmitted. The marks reported to laws add up to the marked arrivals.
#[test]
fn marks_are_echoed_in_any_order_of_arrivals() {
    let law = Recorder { cwnd: 40.0, ..Recorder::default() };
    let fabric = "\"leaf-spine\"\nracks = 2\nhosts_per_rack = 4\nspines = 4\nuplink_rate = \"1Gbps\"";
    let text = star(8, TRACE).replace("\"star\"\nhosts = 8", fabric).replace("\"20pkt\"", "\"2pkt\"");
    let rows = [0, 1, 2, 3].map(|host| format!("0,h{host},h{},584000", host + 4));
    let scenario =
        scenario(&format!("routing = {{ kind = \"spray\" }}\n{text}"), &rows.each_ref().map(|row| &**row));
    let outcome = run(&scenario, &scheme_over("dctcp", &law, ("transport.dupthresh", "1000")));
    let sum = |of: fn(&FlowRow) -> u64| outcome.flows.iter().map(of).sum::<u64>();
    let (marks, again) = (sum(|flow| flow.marks.into()), sum(|flow| flow.retransmits.into()));
    let seen = law.seen.lock().unwrap();
    assert_eq!((seen.marked[0], again), (Bytes::new(1460 * marks), 0));
    assert!(marks > 100 && seen.marked[1] > Bytes::new(1460 * 20), "{marks} marks, {:?}", seen.marked);
}

/// Ten segments fill the window. The next message comes before their ACKs, so its segments are not
/// application-limited. The third message comes when everything is acknowledged, so its segments are.
#[test]
fn a_rate_is_limited_by_the_application_where_data_runs_out_before_the_window() {
    let law = Recorder { cwnd: 10.0, ..Recorder::default() };
    trace(&law, "sack", "", &["0,h0,h2,14600", "0.0001,h0,h2,14600", "0.01,h0,h2,4380"]);
    let seen = law.seen.lock().unwrap();
    assert_eq!(seen.limited(), [[false; 20].as_slice(), &[true; 3]].concat());
    assert_eq!(seen.samples[20].1.rate, Rate::of(Bytes::new(1460), BASE), "sampling begins again");
}

/// The first of ten segments is lost, and the three segments of the next message come with its retransmission. SACKed
/// data is not in flight, so the window was not full. With RACK, the window was not full at the retransmission of the
/// first segment either.
#[test]
fn data_that_has_arrived_leaves_room_in_the_window() {
    for (recovery, full) in [("sack", 10), ("rack", 9)] {
        let law = Recorder { cwnd: 10.0, ..Recorder::default() };
        let rows = ["0,h0,h2,14600", "0.0005,h0,h2,4380"];
        let outcome = trace(&law, recovery, "[faults]\ndrop_data = [1]\n", &rows);
        assert_eq!((outcome.flows[0].timeouts, outcome.flows[0].retransmits), (0, 1));
        let expected: Vec<bool> = (0..13).map(|sample| sample >= full).collect();
        assert_eq!(law.seen.lock().unwrap().limited(), expected, "{recovery}");
    }
}

/// Five of twelve segments are lost, and proportional rate reduction retransmits them one by one when no other data
/// is left. This wait is not application-limited.
#[test]
fn segments_that_wait_for_retransmission_are_data() {
    let law = Recorder { cwnd: 10.0, ..Recorder::default() };
    let outcome = trace(&law, "rack", "[faults]\ndrop_data = [1, 2, 3, 4, 5]\n", &["0,h0,h2,17520"]);
    assert_eq!((outcome.flows[0].timeouts, outcome.flows[0].retransmits), (0, 5));
    assert_eq!(law.seen.lock().unwrap().limited(), [false; 12]);
}

/// With `tcp.grow_by_segments` and one ACK for two segments, the fourth of ten segments is lost. The ACK that the
/// fifth causes acknowledges the third and reports both. After that, each ACK reports one segment. The last one ends
/// recovery and counts once.
#[test]
fn each_segment_of_an_ack_is_reported_with_its_delivered_bytes() {
    let law = Recorder { cwnd: 10.0, ..Recorder::default() };
    let settings = "[tcp]\ngrow_by_segments = true\nack_every = 2\n[faults]\ndrop_data = [4]\n";
    trace(&law, "sack", settings, &["0,h0,h2,14600"]);
    let seen = law.seen.lock().unwrap();
    let told: Vec<(u64, bool, u64)> = (seen.samples.iter().zip(&seen.advances))
        .map(|((_, sample), &(advance, in_recovery))| {
            (advance, in_recovery, sample.newly_delivered.get() / 1460)
        })
        .collect();
    let [alone, beyond, repeated] = [(1, false, 1), (1, false, 2), (0, false, 1)];
    let recovering = [(0, true, 1); 3];
    let expected = [&[alone, alone, beyond, repeated, repeated], &recovering[..], &[(7, false, 1)]].concat();
    assert_eq!(told, expected);
}

/// 10 Mbit/s are one packet in 1.2 ms. The third of three packets is lost. The probe is due two round trips after it,
/// and leaves when the pacer allows it.
#[test]
fn a_tail_loss_probe_waits_for_the_pacer() {
    let law = Recorder { cwnd: 10.0, rate: Rate::new(10_000_000), ..Recorder::default() };
    let outcome = trace(&law, "rack", "[faults]\ndrop_data = [3]\n", &["0,h0,h2,4380"]);
    assert_eq!((outcome.flows[0].timeouts, outcome.flows[0].retransmits), (0, 1));
    assert_eq!(fct(&outcome, 0), Span::from_micros(3 * 1200) + BASE);
}

/// A window of a quarter of a segment sends one segment in four round trips, a window of a half one in two. No
/// segment waits in a queue.
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

/// Two messages of 100 bytes at once fit into a window of one segment, and leave without a pause.
#[test]
fn a_window_of_one_segment_is_not_paced() {
    let law = Recorder { cwnd: 1.0, ..Recorder::default() };
    let outcome = trace(&law, "sack", "", &["0,h0,h2,1460", "0.01,h0,h2,100", "0.01,h0,h2,100"]);
    let alone = Span::from_nanos(2 * (1_120 + 75_000) + 2 * 75_320);
    assert_eq!([1, 2].map(|flow| fct(&outcome, flow)), [alone, alone + Span::from_nanos(1_120)]);
}

/// 250 Mbit/s on the wire are one packet in 48 µs, with any window.
#[test]
fn a_pacing_rate_spaces_packets() {
    let law = Recorder { cwnd: 100.0, rate: Rate::new(250_000_000), ..Recorder::default() };
    let outcome = long_flows(&law, 1, "");
    let seen = law.seen.lock().unwrap();
    for pair in seen.samples.windows(2) {
        assert_eq!(pair[1].0.since(pair[0].0), Span::from_micros(48));
    }
    assert!(seen.samples.len() > 400 && !seen.limited().contains(&true));
    assert!(outcome.flows[0].waited.is_zero());
    let last = seen.samples.last().unwrap().1;
    assert_eq!(last.rate, Rate::of(Bytes::new(1460), Span::from_micros(48)), "the rate of delivery");
}

#[test]
fn a_law_is_called_when_its_timer_expires() {
    let every = Span::from_micros(700);
    let law = Recorder { cwnd: 2.0, every: Some(every), ..Recorder::default() };
    long_flows(&law, 1, "");
    let seen = law.seen.lock().unwrap();
    let expected: Vec<Instant> = (1..=28).map(|n| Instant::ZERO + every.times(n)).collect();
    assert_eq!(seen.woken, expected);
}

/// A segment is lost at a window below one segment. The timeout retransmits it, and pacing continues.
#[test]
fn losses_below_one_segment_are_repaired() {
    let law = Recorder { cwnd: 0.5, ..Recorder::default() };
    let outcome = long_flows(&law, 1, "[faults]\ndrop_data = [4]\n");
    assert_eq!((outcome.flows[0].timeouts, outcome.flows[0].retransmits), (1, 1));
    let delivered = law.seen.lock().unwrap().samples.last().unwrap().1.delivered;
    assert!(delivered.get() > 10 * 1460, "{delivered}");
}
