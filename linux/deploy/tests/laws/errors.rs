//! Errors of the fixed-point laws compared with the floating-point laws, over a dense grid.

use crate::grid::{alphas, flow, flows, windows};
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, TransportConfig, Window};
use shortflow_deploy::laws::{FixedPoint, LawError, NAMES};
use shortflow_units::{Bytes, Instant};
use std::fmt;

/// The largest error of one hook of one law.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    /// Law, and the settings that differ from its defaults.
    pub law: String,
    /// Compared quantity: the window after a decrease, a loss or an unmarked ACK, or alpha.
    pub quantity: &'static str,
    /// Number of compared points.
    pub cases: u64,
    /// Largest difference, in segments or of alpha.
    pub absolute: f64,
    /// Largest difference as a share of the window before, or of 1 for alpha.
    pub relative: f64,
    /// Bound of `relative`, from the widths of the integers.
    pub bound: f64,
}

impl Comparison {
    /// True if no error exceeds the bound.
    pub(crate) fn holds(&self) -> bool {
        self.relative <= self.bound
    }

    /// A comparison of `quantity` of `law`, without cases yet.
    pub(crate) fn of(law: &str, quantity: &'static str, bound: f64) -> Comparison {
        Comparison { law: law.to_owned(), quantity, cases: 0, absolute: 0.0, relative: 0.0, bound }
    }

    /// Adds a case, whose relative error is a share of `scale`.
    pub(crate) fn add(&mut self, fixed: f64, float: f64, scale: f64) {
        let error = (fixed - float).abs();
        self.cases += 1;
        // NaN counts as an infinite error.
        self.absolute = self.absolute.max(if error.is_nan() { f64::INFINITY } else { error });
        self.relative = self.relative.max(if error.is_nan() { f64::INFINITY } else { error / scale });
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { law, quantity, cases, absolute, relative, bound } = self;
        let verdict = if self.holds() { "" } else { "  ABOVE ITS BOUND" };
        write!(f, "{quantity:<8}{cases:>8}{absolute:>10.1e}{relative:>10.1e}{bound:>10.1e}  {law}{verdict}")
    }
}

/// 2^-`bits`.
fn units(bits: i32) -> f64 {
    2f64.powi(-bits)
}

/// A law, its settings, and the bits of the bounds of its decrease and of its growth. The headers of the laws have
/// the analysis.
type Variant = (&'static str, &'static [(&'static str, &'static str)], i32, i32);

/// A decrease is rounded to 2^-24 segments and its factor to 2^-30, so the smallest window determines the bound: one
/// segment, or 0.0112 segments for FaST. A power adds the error of its exponent. Growth is rounded to 2^-24 segments,
/// and its step to 2^-24. If the weight is a power of w_low/w_high, the relative error of w_low = 0.01 is 2^-18.
const VARIANTS: [Variant; 15] = [
    ("dctcp", &[], 23, 24),
    ("d2tcp", &[], 22, 24),
    ("d2tcp", &[("clip_low", "0"), ("clip_high", "1000000000"), ("expired", "2")], 18, 24),
    ("l2dct", &[], 22, 23),
    ("l2dct", &[("profile", "srpt")], 22, 23),
    ("l2dct", &[("profile", "ps")], 22, 24),
    ("l2dct", &[("w_max", "100"), ("w_min", "0.01")], 18, 23),
    ("xdctcp", &[], 23, 24),
    ("xdctcp", &[("classify", "bytes"), ("ns", "0.1")], 23, 24),
    ("atcp", &[], 23, 24),
    ("atcp", &[("base", "dctcp")], 23, 24),
    ("atcp", &[("w_high", "100"), ("w_low", "0.01"), ("t1", "1MB")], 23, 22),
    ("atcp", &[("w_high", "100"), ("w_low", "0.01"), ("t1", "1MB"), ("middle", "exponential")], 23, 18),
    ("fast", &[], 17, 17),
    ("fast", &[("probes", "0"), ("min_segment", "10B"), ("nagle", "true")], 17, 17),
];

/// Compares every law over the grid.
fn compare() -> Result<Vec<Comparison>, LawError> {
    let mut all = Vec::new();
    for variant in &VARIANTS {
        all.extend(compare_variant(variant)?);
    }
    for name in NAMES {
        all.push(compare_alpha(name)?);
    }
    Ok(all)
}

/// Both forms of a law, in a state from which any number of cases starts.
struct Pair<'c> {
    config: &'c TransportConfig,
    fixed: FixedPoint,
}

impl<'c> Pair<'c> {
    fn new(config: &'c TransportConfig) -> Result<Pair<'c>, LawError> {
        Ok(Pair { config, fixed: FixedPoint::new(config)? })
    }

    /// Applies `step` to `window` in a new connection past its probes. Returns the windows in floating
    /// point and in fixed point.
    fn both(&self, window: Window, step: impl Fn(&mut dyn CongestionControl, &mut Window)) -> [Window; 2] {
        let run = |law: &mut dyn CongestionControl| {
            let mut probing = Window { cwnd: 1.0, ssthresh: 2.0 };
            if self.config.info().name == "fast" {
                law.on_congestion(&mut probing, Cause::Timeout, &flow(1460));
            }
            let mut window = window;
            step(law, &mut window);
            window
        };
        [run(&mut self.config.start()), run(&mut self.fixed.clone())]
    }
}

fn compare_variant(&(law, settings, decrease, growth): &Variant) -> Result<[Comparison; 3], LawError> {
    let given = settings.iter().copied();
    let label = given.clone().map(|(name, text)| format!(" {name}={text}")).collect::<String>();
    let label = law.to_owned() + &label;
    let mut decrease = Comparison::of(&label, "decrease", units(decrease));
    let mut growth = Comparison::of(&label, "growth", units(growth));
    let mut loss = Comparison::of(&label, "loss", units(23));
    for alpha in alphas() {
        let alpha = alpha.to_string();
        let config = TransportConfig::with(law, given.clone().chain([("initial_alpha", &*alpha)]))?;
        let pair = Pair::new(&config)?;
        for (flow, cwnd) in points(law) {
            let window = Window { cwnd, ssthresh: 2.0 };
            let [float, fixed] =
                pair.both(window, |law, window| law.on_congestion(window, Cause::EcnEcho, &flow));
            decrease.add(fixed.cwnd, float.cwnd, cwnd);
            decrease.add(fixed.ssthresh, float.ssthresh, cwnd.max(2.0));
        }
    }
    let config = TransportConfig::with(law, given)?;
    let pair = Pair::new(&config)?;
    for (flow, cwnd) in points(law) {
        for (ssthresh, acked) in [(0.0, 1), (0.0, 9_000), (f64::INFINITY, 1), (f64::INFINITY, 9_000)] {
            let acked = Bytes::new(acked.min(flow.mss.get()));
            let ack = AckSample { snd_una: 1, snd_nxt: 2, ..AckSample::of(flow, acked) };
            let [float, fixed] = pair.both(Window { cwnd, ssthresh }, |law, window| law.on_ack(window, &ack));
            growth.add(fixed.cwnd, float.cwnd, cwnd);
        }
        for cause in [Cause::FastRetransmit, Cause::Timeout] {
            let flight = Bytes::new(((cwnd * flow.mss.as_f64()) as u64).min(1 << 30)); // TCP's largest window
            let (flow, window) = (FlowView { flight, ..flow }, Window { cwnd, ssthresh: f64::INFINITY });
            let [float, fixed] = pair.both(window, |law, window| law.on_congestion(window, cause, &flow));
            loss.add(fixed.cwnd, float.cwnd, cwnd);
            loss.add(fixed.ssthresh, float.ssthresh, cwnd.max(1.0));
        }
    }
    Ok([decrease, growth, loss])
}

fn points(law: &str) -> impl Iterator<Item = (FlowView, f64)> {
    let windows = windows(law);
    flows(law).into_iter().flat_map(move |flow| windows.clone().into_iter().map(move |cwnd| (flow, cwnd)))
}

/// Drives both forms through 4000 windows of 1 to 50 segments, with all, none or a varying share of them marked.
fn compare_alpha(name: &str) -> Result<Comparison, LawError> {
    let config = TransportConfig::with(name, (name == "atcp").then_some(("base", "dctcp")))?;
    let mut alpha = Comparison::of(name, "alpha", units(27));
    let (mut float, mut fixed) = (config.start(), FixedPoint::new(&config)?);
    let mut window = Window { cwnd: 10.0, ssthresh: 2.0 };
    let (mut snd_una, mut dice) = (0, 1u64);
    for round in 0..4_000u64 {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (segments, share) =
            (1 + (dice >> 40) % 50, [0, 256, (dice >> 50) % 257][(round / 40 % 3) as usize]);
        let end = snd_una + segments * 1_448;
        for segment in 1..=segments {
            snd_una += 1_448;
            let ece = (segment * share) >> 8 > ((segment - 1) * share) >> 8;
            let (plain, snd_nxt) = (AckSample::of(flow(1_448), Bytes::new(1_448)), end + 1_448);
            let ack = AckSample { ece, may_grow: false, snd_una, snd_nxt, ..plain };
            float.on_ack(&mut window, &ack);
            fixed.on_ack(&mut window, &ack);
            alpha.add(
                fixed.alpha(Instant::ZERO).unwrap_or(f64::NAN),
                float.alpha(Instant::ZERO).unwrap_or(f64::NAN),
                1.0,
            );
        }
    }
    Ok(alpha)
}

/// Prints the table; `cargo test -p shortflow-deploy --test laws -- --nocapture no_error` shows it.
#[test]
fn no_error_exceeds_its_bound() {
    let all = compare().unwrap();
    for comparison in &all {
        println!("{comparison}");
    }
    let above: Vec<_> = all.iter().filter(|comparison| !comparison.holds()).collect();
    assert!(above.is_empty() && all.len() == 3 * VARIANTS.len() + NAMES.len(), "{above:#?}");
    assert!(all.iter().all(|comparison| comparison.cases > 100));
}

#[test]
fn an_error_above_its_bound_is_found() {
    let mut comparison = Comparison::of("dctcp", "decrease", 1e-6);
    comparison.add(1.0, 1.0, 1.0);
    assert!(comparison.holds());
    comparison.add(10.1, 10.0, 10.0);
    assert!(!comparison.holds() && (comparison.relative - 0.01).abs() < 1e-12);
    comparison.add(f64::NAN, 1.0, 1.0);
    assert_eq!(comparison.absolute, f64::INFINITY);
}
