//! Steady state of long flows, compared with the analyses of L2DCT §II-C (Eqs. 8–12) and DCTCP §3.3.

use crate::common::{queue, run, scenario, scheme};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;

fn flows(n: usize, name: &str, settings: &[(&str, &str)]) -> Outcome {
    let text = format!(
        r#"
title = "long flows"
duration = "3s"
warmup = "1s"
topology = {{ kind = "dumbbell", pairs = {n}, rate = "10Gbps", bottleneck = "1Gbps", rtt = "300us" }}
switch = {{ buffer = "250pkt", mark_above = "20pkt" }}
traffic = [{{ kind = "long-lived", flows = {n}, from = "0-{}", to = {n} }}]
[measure]
ports = ["s0->s1"]
sample_every = "50us"
"#,
        n - 1
    );
    run(&scenario(&text, &[]), &scheme(name, settings))
}
/// The sawtooth of a run from 1 s on.
struct Teeth {
    mean_window: f64,
    /// Median decrease of the first flow's window.
    swing: f64,
    /// Mean time between these decreases, in round trips.
    period: f64,
    alpha: f64,
}

impl Teeth {
    fn of(outcome: &Outcome, n: usize) -> Teeth {
        let series = |chosen: fn(Subject) -> bool| -> Vec<(f64, f64)> {
            let late = outcome.samples.iter().filter(|sample| sample.at.as_secs_f64() >= 1.0);
            late.filter(|sample| chosen(sample.subject)).map(|s| (s.at.as_secs_f64(), s.value)).collect()
        };
        let mean = |values: &[(f64, f64)]| values.iter().map(|v| v.1).sum::<f64>() / values.len() as f64;
        let windows = series(|subject| matches!(subject, Subject::Cwnd(flow) if flow.0 == 0));
        let alphas = series(|subject| matches!(subject, Subject::Alpha(flow) if flow.0 == 0));
        let decreases: Vec<(f64, f64)> = windows
            .windows(2)
            .filter(|pair| pair[1].1 < pair[0].1 - 0.5)
            .map(|pair| (pair[0].0, pair[0].1 - pair[1].1))
            .collect();
        let mut drops: Vec<f64> = decreases.iter().map(|decrease| decrease.1).collect();
        drops.sort_by(f64::total_cmp);
        let mean_window = mean(&windows);
        let round_trip = n as f64 * mean_window * 12e-6; // all packets of the windows, at 12 µs each
        let between = (decreases[decreases.len() - 1].0 - decreases[0].0) / (decreases.len() - 1) as f64;
        Teeth {
            mean_window,
            swing: drops[drops.len() / 2],
            period: between / round_trip,
            alpha: mean(&alphas),
        }
    }
}

fn fixed_weight(weight: &'static str) -> [(&'static str, &'static str); 4] {
    [
        ("transport.w_max", if weight == "1" { "1" } else { "2.5" }),
        ("transport.w_min", weight),
        ("transport.knee_low", "0B"),
        ("transport.knee_high", "1B"),
    ]
}

fn within(measured: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((measured / expected - 1.0).abs() <= tolerance, "{what}: {measured}, not {expected}");
}

/// Predictions of L2DCT's Eqs. 6, 8 and 10 to 12, with D/k as the period.
struct Sawtooth {
    alpha: f64,
    window_swing: f64,
    period: f64,
    queue_max: f64,
    queue_min: f64,
}

fn theory(n: usize, weight: f64, step: f64) -> Sawtooth {
    let (n, bdp, threshold) = (n as f64, 25.0, 20.0);
    let critical = (bdp + threshold) / n;
    let marked = (2.0 * critical * step + step * step) / (critical + step).powi(2);
    let alpha = marked.powf(1.0 / (weight + 1.0));
    let window_swing = alpha.powf(weight) * (critical + step) / 2.0;
    let queue_max = threshold + n * step;
    let queue_min = queue_max - n * window_swing;
    Sawtooth { alpha, window_swing, period: window_swing / step, queue_max, queue_min }
}

/// Claims `l2dct/fig3-w1-accuracy`, `l2dct/eq10-oscillation-period` (differs; corrected: D/k),
/// `l2dct/fig3-w05-overestimate`: w = 1 and 0.5, N = 1 and 2.
#[test]
fn swing_period_and_mean_window_follow_equations_8_to_10() {
    for (weight, w, step) in [("1", 1.0, 1.0), ("0.5", 0.5, 0.2)] {
        for n in [1, 2] {
            let expected = theory(n, w, step);
            let teeth = Teeth::of(&flows(n, "l2dct", &fixed_weight(weight)), n);
            let what = |name| format!("{name} at w = {w}, N = {n}");
            within(teeth.swing, expected.window_swing, 0.2, &what("swing"));
            within(teeth.period, expected.period, 0.2, &what("period"));
            let peak = 45.0 / n as f64 + step;
            // The claim's 5 % holds for w = 1 and one flow (4.4 %). In other cases, the queue overshoots K by two
            // packets, one that exceeds K and one that arrives, which is 5.5 to 7.3 % of the smaller means.
            let tolerance = if (w, n) == (1.0, 1) { 0.05 } else { 0.08 };
            within(teeth.mean_window, peak - expected.window_swing / 2.0, tolerance, &what("mean window"));
            assert!(teeth.swing < expected.window_swing, "the analysis overestimates the swing");
            within(teeth.alpha, expected.alpha, 0.25, &what("alpha"));
        }
    }
}

/// Two DCTCP flows: the queue stays within 10 % of the interval from the analytic Q_min to Q_max, and the link is
/// never idle. Claims `l2dct/eq11-max-queue`, `l2dct/eq12-min-queue`.
#[test]
fn the_queue_of_two_flows_stays_between_equations_11_and_12() {
    let outcome = flows(2, "dctcp", &[]);
    let expected = theory(2, 1.0, 1.0);
    let queue = queue(&outcome, 1.0);
    let least = queue.iter().copied().fold(f64::INFINITY, f64::min);
    let most = queue.iter().copied().fold(0.0, f64::max);
    assert!(least >= 0.9 * expected.queue_min, "{least} below Q_min = {}", expected.queue_min);
    assert!(most <= 1.1 * expected.queue_max, "{most} above Q_max = {}", expected.queue_max);
    let bottleneck = outcome.ports.iter().map(|port| port.utilisation).fold(0.0, f64::max);
    assert!(bottleneck >= 0.99, "utilisation {bottleneck}");
}
