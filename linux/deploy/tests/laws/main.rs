//! The fixed-point laws compared with the floating-point laws: over a grid, over the ACKs of simulated connections,
//! in simulations with each, over random scripts, and at the ends of every range.

mod errors;
mod grid;

use errors::Comparison;
use proptest::prelude::*;
use shortflow_cc::{
    AckSample, Cause, CongestionControl, FlowView, Opening, Role, Transport, TransportConfig, Window,
};
use shortflow_deploy::laws::{FixedPoint, NAMES, exp2_neg, log2_fixed, power, priority_dscp, priority_label};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::simulation::{self, NoObserver};
use shortflow_units::{Bytes, Instant, Rate, Span};
use std::sync::{Arc, Mutex};

/// Largest relative error of a fixed-point window after any number of ACKs. Each ACK adds up to 2^-24 segments, and a
/// decrease halves the sum. A bound of 2^-17 leaves room for FaST windows of a tenth of a segment, and for
/// alpha^(1/8) at small alpha.
const DRIFT: f64 = 1.0 / 131_072.0;

/// The path of a connection.
fn opening() -> Opening {
    let (line, base_rtt) = (Rate::new(10_000_000_000).unwrap(), Span::from_micros(100));
    Opening { now: Instant::ZERO, line, base_rtt, mss: Bytes::new(1_460), header: Bytes::new(78) }
}

/// Errors over all connections of a simulation.
#[derive(Debug)]
struct Drift {
    /// Errors of windows after ACKs, decreases and losses, and of alpha.
    errors: [Comparison; 4],
    /// Number of hooks before which the two windows were on different sides of an edge.
    ties: u64,
}

impl Drift {
    fn new(law: &str) -> Arc<Mutex<Drift>> {
        // The bound of alpha is 2^-31 (1 + 1/g) with g = 0.01.
        let bounds = [("growth", DRIFT), ("decrease", DRIFT), ("loss", DRIFT), ("alpha", 5e-8)];
        let errors = bounds.map(|(quantity, bound)| Comparison::of(law, quantity, bound));
        Arc::new(Mutex::new(Drift { errors, ties: 0 }))
    }
}

/// A floating-point law, which a fixed-point law follows through all hooks.
#[derive(Debug)]
struct Followed {
    float: Transport,
    fixed: FixedPoint,
    shadow: Window,
    /// The window as the law left it; later changes are the sender's.
    left: Window,
    drift: Arc<Mutex<Drift>>,
}

impl Followed {
    fn new(config: &TransportConfig, drift: Arc<Mutex<Drift>>) -> Followed {
        let window = Window { cwnd: 0.0, ssthresh: f64::INFINITY };
        let fixed = FixedPoint::new(config).unwrap();
        Followed { float: config.start(), fixed, shadow: window, left: window, drift }
    }

    fn step(
        &mut self,
        of: usize,
        window: &mut Window,
        hook: impl Fn(&mut dyn CongestionControl, &mut Window),
    ) {
        let mut drift = self.drift.lock().unwrap();
        if window.cwnd != self.left.cwnd {
            self.shadow.cwnd = window.cwnd;
        }
        if window.ssthresh != self.left.ssthresh {
            self.shadow.ssthresh = window.ssthresh;
        }
        // Slow start ends at ssthresh, and FaST counts differently below two segments. Two windows on different sides
        // of such an edge diverge by a whole step, however close they are, so the test sets them equal again.
        let sides = |window: &Window| (window.in_slow_start(), window.cwnd < 2.0);
        let held = |segments: f64| (segments * 16_777_216.0).round() / 16_777_216.0;
        let shadow = Window { cwnd: held(self.shadow.cwnd), ssthresh: held(self.shadow.ssthresh) };
        let tie = sides(window) != sides(&shadow);
        hook(&mut self.float, window);
        hook(&mut self.fixed, &mut self.shadow);
        if tie {
            drift.ties += 1;
            self.shadow = *window;
        }
        self.left = *window;
        drift.errors[of].add(self.shadow.cwnd, window.cwnd, window.cwnd);
    }
}

impl CongestionControl for Followed {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.step(0, window, |law, window| law.on_ack(window, ack));
        if let Some(alpha) = self.float.alpha(Instant::ZERO) {
            let fixed = self.fixed.alpha(Instant::ZERO).unwrap();
            self.drift.lock().unwrap().errors[3].add(fixed, alpha, 1.0);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        let of = if cause == Cause::EcnEcho { 1 } else { 2 };
        self.step(of, window, |law, window| law.on_congestion(window, cause, flow));
    }

    fn on_start(&mut self, window: &mut Window, at: &Opening) {
        let mut fixed = *window;
        self.float.on_start(window, at);
        self.fixed.on_start(&mut fixed, at);
        assert_eq!(*window, fixed);
    }

    fn segment_size(&self, window: &Window, mss: Bytes, room: Bytes) -> Bytes {
        let float = self.float.segment_size(window, mss, room);
        let fixed = self.fixed.segment_size(window, mss, room);
        assert!(float.get().abs_diff(fixed.get()) <= 1, "{float} {fixed}"); // the window is rounded
        float
    }

    fn window_bytes(&self, window: &Window, mss: Bytes) -> Bytes {
        let float = self.float.window_bytes(window, mss);
        let fixed = self.fixed.window_bytes(window, mss);
        assert!(float.get().abs_diff(fixed.get()) <= 1, "{float} {fixed}"); // the window is rounded
        float
    }
}

/// Incast with deadlines and backlogged flows of one class or another; some packets are lost.
fn scenario(ack_every: u32) -> Scenario {
    let text = format!(
        r#"
title = "Waves of short flows beside long ones"
duration = "200ms"
drain = "10s"
topology = {{ kind = "star", hosts = 12, rate = "1Gbps", rtt = "200us" }}
switch = {{ buffer = "60pkt", mark_above = "10pkt" }}
tcp = {{ ack_every = {ack_every}, rto_min = "5ms" }}
[[traffic]]
kind = "incast"
flows = 9
sizes = {{ kind = "uniform", min = "1B", max = "300KB" }}
repeat = 6
every = "10ms"
deadline = {{ kind = "uniform", min = "1ms", max = "20ms" }}
[[traffic]]
kind = "long-lived"
flows = 2
[faults]
loss = 0.002
"#
    );
    Scenario::parse(&text, "waves", &[], &|_| Err("no file".to_owned()))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario, scheme: &Scheme) -> Outcome {
    simulation::run(scenario, scheme, 1, &mut NoObserver).unwrap_or_else(|error| panic!("{error}"))
}

/// Both laws see every ACK, decrease and loss of every connection of a simulation.
#[test]
fn windows_stay_together_over_the_acks_of_a_simulation() {
    for name in NAMES {
        for ack_every in [1, 2] {
            let config = Scheme::named(name, &[]).unwrap().transport;
            let drift = Drift::new(name);
            let seen = drift.clone();
            let start = Arc::new(move || Box::new(Followed::new(&config, seen.clone())) as _);
            let scheme = Scheme::user_defined(name, name.to_owned(), String::new(), &[], start).unwrap();
            let outcome = run(&scenario(ack_every), &scheme);
            assert_eq!(outcome.counters.unfinished, 0, "{name}");
            let drift = drift.lock().unwrap();
            println!("{drift:?}");
            assert!(drift.errors.iter().all(Comparison::holds), "{drift:?}");
            let [acks, decreases, losses, _] = drift.errors.each_ref().map(|error| error.cases);
            assert!(acks > 5_000 && losses > 10 && drift.ties < acks / 1_000, "{drift:?}");
            assert!(decreases > 50 || name == "atcp", "{drift:?}"); // ATCP ignores ECN by default
        }
    }
}

/// Next event of a connection.
#[derive(Debug, Clone)]
enum Event {
    Ack { bytes: u64, ece: bool, decrease: bool },
    Lost(Cause),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let ack = |ece| {
        (prop_oneof![6 => Just(1_460u64), 1 => 1..1_460u64], any::<bool>())
            .prop_map(move |(bytes, decrease)| Event::Ack { bytes, ece, decrease: ece && decrease })
    };
    let loss = prop_oneof![Just(Cause::FastRetransmit), Just(Cause::Timeout)].prop_map(Event::Lost);
    prop::collection::vec(prop_oneof![40 => ack(false), 15 => ack(true), 1 => loss], 1..400)
}

/// Settings of every law. g keeps alpha above 2^-60 through the longest script. Below that, alpha counts as 0, and
/// alpha^(1/8) would show the difference.
fn settings() -> impl Strategy<Value = (&'static str, Vec<(&'static str, String)>)> {
    let real = |low: f64, high: f64| (low..=high).prop_map(|value| value.to_string());
    let size = || 0u64..3_000_000;
    let marks = (real(0.01, 0.07), real(0.0, 1.0));
    let own = prop::sample::select(NAMES.to_vec()).prop_flat_map(move |name| {
        let pair = (real(0.01, 1.0), real(1.0, 10.0), size(), size(), any::<bool>());
        pair.prop_map(move |(low, high, near, beyond, first)| {
            let (near, far) = (format!("{near}B"), format!("{}B", near + beyond));
            let choose = |a: &str, b: &str| (if first { a } else { b }).to_owned();
            let own = match name {
                "d2tcp" => vec![("clip_low", low), ("clip_high", high)],
                "l2dct" => vec![
                    ("w_min", low),
                    ("w_max", high),
                    ("knee_low", near),
                    ("knee_high", far),
                    ("profile", choose("las", "srpt")),
                ],
                "atcp" => vec![
                    ("w_low", low),
                    ("w_high", high),
                    ("t1", near),
                    ("t2", far),
                    ("middle", choose("linear", "exponential")),
                    ("base", "dctcp".to_owned()),
                ],
                "xdctcp" => vec![("threshold", near), ("classify", choose("role", "bytes"))],
                _ => Vec::new(),
            };
            (name, own)
        })
    });
    (own, marks).prop_map(|((name, mut own), (g, alpha))| {
        own.extend([("g", g), ("initial_alpha", alpha)]);
        (name, own)
    })
}

fn configured(name: &str, settings: &[(&str, String)]) -> TransportConfig {
    let settings = settings.iter().map(|(key, value)| (*key, &**value));
    TransportConfig::with(name, settings).unwrap_or_else(|error| panic!("{error}"))
}

/// A flow that has sent `at` of its `size` bytes, with a deadline 30 ms after its start.
fn flow_at(at: u64, size: u64, flight: u64, role: Role) -> FlowView {
    FlowView {
        now: Instant::ZERO + Span::from_nanos(at * 10),
        srtt: Span::from_micros(250),
        mss: Bytes::new(1_460),
        sent: Bytes::new(at),
        remaining: Bytes::new(size.saturating_sub(at)),
        flight: Bytes::new(flight),
        deadline: Some(Instant::ZERO + Span::from_millis(30)),
        role,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// With any settings, ACKs, marks and losses, both windows stay together.
    #[test]
    fn windows_stay_together_over_any_script(
        (name, settings) in settings(), script in events(), size in 1u64..5_000_000, role in 0usize..3
    ) {
        let config = configured(name, &settings);
        let drift = Drift::new(name);
        let mut law = Followed::new(&config, drift.clone());
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        law.on_start(&mut window, &opening());
        let role = [Role::Unknown, Role::Short, Role::Long][role];
        let mut at = 0;
        for event in script {
            let flight = (window.cwnd * 1_460.0) as u64;
            let flow = flow_at(at, size, flight, role);
            match event {
                Event::Lost(cause) => law.on_congestion(&mut window, cause, &flow),
                Event::Ack { bytes, ece, decrease } => {
                    at += bytes;
                    let (snd_una, snd_nxt) = (at, at + flight);
                    let plain = AckSample::of(flow, Bytes::new(bytes));
                    let ack = AckSample { ece, may_grow: !ece, snd_una, snd_nxt, ..plain };
                    law.on_ack(&mut window, &ack);
                    if decrease {
                        law.on_congestion(&mut window, Cause::EcnEcho, &flow);
                    }
                }
            }
            let drift = drift.lock().unwrap();
            prop_assert!(drift.errors.iter().all(Comparison::holds), "{drift:?}");
        }
    }

    #[test]
    fn logarithm_and_power(bits in 0u32..60, mantissa: u64, w in 0u64..(100 << 24)) {
        let value = (1 << bits | mantissa & ((1 << bits) - 1)).max(1);
        let exact = (value as f64).log2();
        let log = log2_fixed(value) as f64 / 2f64.powi(32);
        prop_assert!((-2f64.powi(-28)..=2f64.powi(-40)).contains(&(log - exact)), "{log} {exact}");
        let (alpha, exponent) = (value as f64 / 2f64.powi(60), w as f64 / 2f64.powi(24));
        let (p, exact) = (power(value, w) as f64 / 2f64.powi(60), alpha.powf(exponent));
        prop_assert!((p - exact).abs() <= 2f64.powi(-29) + 2f64.powi(-28) * exponent * exact, "{p} {exact}");
    }

    /// A flow with the lower value never gets the higher number.
    #[test]
    fn priorities_keep_their_order(a: u64, b: u64, shift in 0u32..64, lowest in 10u32..15) {
        let (sooner, later) = ((a >> shift).min(b >> shift), (a >> shift).max(b >> shift));
        prop_assert!(priority_label(sooner) <= priority_label(later));
        prop_assert!(priority_dscp(sooner, lowest) <= priority_dscp(later, lowest));
        prop_assert!(priority_label(later) <= 0xfffff && priority_dscp(later, lowest) <= 63);
    }

    #[test]
    fn power_of_two(z in 0u64..(60 << 32)) {
        let (p, exact) = (exp2_neg(z) as f64 / 2f64.powi(60), (-(z as f64) / 2f64.powi(32)).exp2());
        prop_assert!((p - exact).abs() <= 2f64.powi(-30) * exact + 2f64.powi(-60), "{p} {exact}");
    }

    /// An ACK for n segments moves the window as n ACKs do, except for the growth between them.
    #[test]
    fn a_merged_ack_counts_as_its_segments(
        n in 1u32..64, cwnd in 64.0..1e5f64,
        beyond in prop_oneof![Just(f64::INFINITY), Just(-62.0), 0.0..64.0f64]
    ) {
        let config = TransportConfig::named("dctcp").unwrap();
        let (mut float, mut fixed) = (config.start(), FixedPoint::new(&config).unwrap());
        // Both start from multiples of 2^-24, so they take the same number of steps to ssthresh.
        let held = |segments: f64| (segments * 16_777_216.0).round() / 16_777_216.0;
        let (cwnd, ssthresh) = (held(cwnd), held(cwnd + beyond));
        let mut windows = [Window { cwnd, ssthresh }; 2];
        for _ in 0..n {
            float.on_ack(&mut windows[0], &ack_of(1));
        }
        fixed.on_merged_ack(&mut windows[1], &ack_of(n.into()), n);
        let n = f64::from(n);
        prop_assert!((windows[0].cwnd - windows[1].cwnd).abs() <= n * n / cwnd.powi(3) + 1e-6, "{windows:?}");
    }
}

/// An unmarked ACK of `segments` segments.
fn ack_of(segments: u64) -> AckSample {
    let flow = flow_at(0, 1 << 30, 0, Role::Unknown);
    AckSample { snd_una: 1, snd_nxt: 2, ..AckSample::of(flow, Bytes::new(segments * 1_460)) }
}

/// After a timeout, cwnd = 1 and ssthresh = 30, and 60 segments had arrived: the ACK of these segments does not
/// restore cwnd. The reference counts each ACK as one segment, however many it covers; merged ACKs exist only in the
/// kernel.
#[test]
fn a_cumulative_ack_ends_slow_start_at_ssthresh() {
    let config = TransportConfig::named("dctcp").unwrap();
    let mut fixed = FixedPoint::new(&config).unwrap();
    for (segments, cwnd) in [(1, 2.0), (29, 30.0), (60, 30.0 + 31.0 / 30.0)] {
        let mut window = Window { cwnd: 1.0, ssthresh: 30.0 };
        fixed.on_merged_ack(&mut window, &ack_of(60), segments);
        assert!((window.cwnd - cwnd).abs() < 1e-6, "{segments}: {window:?}");
    }
}

/// Worked numbers: sizes in bytes, times in nanoseconds. The class in a hardware switch is the DSCP divided by 8.
#[test]
fn priorities_in_packets() {
    let labels = [0, 1, 1_460, 16_383, 16_384, 32_768, 32_770, u64::MAX - 1, u64::MAX].map(priority_label);
    assert_eq!(labels, [1, 1, 1_460, 16_383, 16_384, 32_768, 32_769, 835_583, 0xfffff]);
    let dscps = [0, 1_024, 1_280, 2_048, 4_095, 4_096, 98_000, 1 << 20, 1 << 26, u64::MAX];
    assert_eq!(dscps.map(|size| priority_dscp(size, 10)), [1, 1, 1, 4, 7, 8, 25, 40, 63, 63]);
    let times = [0, 16_384, 1_000_000, 20_000_000, 1 << 30, u64::MAX];
    assert_eq!(times.map(|time| priority_dscp(time, 14)), [1, 1, 23, 40, 63, 63]);
    for class in 0..7 {
        let first_of_next = 4_096 << (2 * class);
        let classes = [first_of_next - 1, first_of_next].map(|size| priority_dscp(size, 10) / 8);
        assert_eq!(classes, [class, class + 1]);
    }
}

#[test]
fn ends_of_the_power() {
    const ONE: u64 = 1 << 60;
    assert_eq!([power(ONE, 5 << 24), power(ONE, 0), power(0, 0), power(1, 0)], [ONE; 4]);
    assert_eq!([power(0, 1), power(1, 2 << 24), power(ONE / 2, u64::MAX)], [0; 3]);
    assert_eq!(power(ONE / 4, 1 << 23), ONE / 2);
}

/// The one coarse approximation: after 645 windows without a mark, alpha is 0. At the next mark, a long L2DCT flow
/// then keeps its window, where the real alpha^(1/8) still takes 0.3 % of it.
#[test]
fn a_long_rest_brings_alpha_to_zero() {
    let config = configured("l2dct", &[("initial_alpha", "1".to_owned())]);
    let (mut float, mut fixed) = (config.start(), FixedPoint::new(&config).unwrap());
    let flow = flow_at(2_000_000, 4_000_000, 14_600, Role::Unknown);
    let mut windows = [Window { cwnd: 1_000.0, ssthresh: 2.0 }; 2];
    for window in 1..=700 {
        let plain = AckSample::of(flow, Bytes::new(1_460));
        let ack = AckSample { may_grow: false, snd_una: window, snd_nxt: window, ..plain };
        float.on_ack(&mut windows[0], &ack);
        fixed.on_ack(&mut windows[1], &ack);
    }
    assert!(float.alpha(Instant::ZERO).unwrap() > 0.0 && fixed.alpha(Instant::ZERO) == Some(0.0));
    float.on_congestion(&mut windows[0], Cause::EcnEcho, &flow);
    fixed.on_congestion(&mut windows[1], Cause::EcnEcho, &flow);
    assert_eq!(windows[1].cwnd, 1_000.0);
    assert!((997.0..1_000.0).contains(&windows[0].cwnd), "{windows:?}");
}

/// Nothing overflows, divides by zero or leaves its range; undefined behaviour would end the test binary.
#[test]
fn the_ends_of_every_range() {
    for name in NAMES {
        for alpha in ["0", "1"] {
            let mut settings = vec![("g", "1".to_owned()), ("initial_alpha", alpha.to_owned())];
            settings.extend((name == "fast").then(|| ("min_segment", "1B".to_owned())));
            let config = configured(name, &settings);
            for cwnd in [1.0 / 9_000.0, 1.0, 1.5, 2.0, 1e3, 1_048_575.5, 1_048_576.0] {
                for mss in [1, 36, 1_460, 9_000] {
                    for acked in [0, 1, mss, 1 << 31, u64::from(u32::MAX)] {
                        check_ends(&config, cwnd, mss, acked);
                    }
                }
            }
        }
    }
}

fn check_ends(config: &TransportConfig, cwnd: f64, mss: u64, acked: u64) {
    for (remaining, left, srtt) in
        [(0, 0, 0), (u64::MAX - 1, 1, 1 << 40), (1, 1 << 60, 1), (u64::MAX, 0, 5_000)]
    {
        let flow = FlowView {
            now: Instant::ZERO,
            srtt: Span::from_ps(srtt),
            mss: Bytes::new(mss),
            sent: Bytes::new(remaining),
            remaining: Bytes::new(remaining),
            flight: Bytes::new(acked),
            deadline: Some(Instant::from_ps(left)),
            role: Role::Unknown,
        };
        let mut fixed = FixedPoint::new(config).unwrap();
        let mut window = Window { cwnd, ssthresh: f64::INFINITY };
        for step in 0..12u64 {
            let snd_una = (1 << 32) - 3 + step; // wraps
            let plain = AckSample::of(flow, Bytes::new(acked));
            let sample = AckSample { ece: step % 2 == 0, snd_una, snd_nxt: snd_una + acked, ..plain };
            fixed.on_ack(&mut window, &sample);
            let causes = [Cause::EcnEcho, Cause::EcnEcho, Cause::FastRetransmit, Cause::Timeout];
            fixed.on_congestion(&mut window, causes[step as usize % 4], &flow);
            let alpha = fixed.alpha(Instant::ZERO).unwrap();
            assert!(window.cwnd > 0.0 && window.cwnd <= 1_048_576.0, "{window:?}");
            assert!(window.ssthresh >= 2.0 && (0.0..=1.0).contains(&alpha), "{window:?} {alpha}");
        }
    }
}
