//! Steady state of L2DCT — Munir et al., INFOCOM 2013, §II-C, Eqs. 5–13. With w_c = k = 1 it is that
//! of DCTCP.
//!
//! | symbol | here |
//! |---|---|
//! | C × T | [`Flows::bdp`] |
//! | K, N, w_c, k | [`Flows::threshold`], [`Flows::count`], [`Flows::weight`], [`Flows::step`] |
//! | W° | [`Flows::critical_window`] |
//! | α, b | [`Sawtooth::alpha`], [`Sawtooth::penalty`] |
//! | D, A, T_C | [`Sawtooth::window_swing`], [`Sawtooth::queue_swing`], [`Sawtooth::period`] |
//!
//! Deviation D1: Eq. 10 prints T_C = D; the paper's own (W₂ − W₁)/k round trips give D/k, and so do
//! we.

use libm::pow;

/// N synchronized backlogged flows of fixed weight on one bottleneck. Windows and queues are in
/// packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flows {
    /// Bandwidth–delay product of the bottleneck rate and the propagation round trip, in packets.
    pub bdp: f64,
    /// Marking threshold in packets.
    pub threshold: f64,
    /// Number of flows.
    pub count: f64,
    /// Weight of each flow.
    pub weight: f64,
    /// Segments that each window gains per round trip.
    pub step: f64,
}

/// The sawtooth that the flows settle into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sawtooth {
    /// Marked fraction.
    pub alpha: f64,
    /// Back-off penalty, α^w_c.
    pub penalty: f64,
    /// Peak to trough of one window, in packets.
    pub window_swing: f64,
    /// Peak to trough of the queue, in packets.
    pub queue_swing: f64,
    /// Length of a tooth, in round trips.
    pub period: f64,
    /// Longest queue, in packets.
    pub queue_max: f64,
    /// Shortest queue, in packets; below zero the link runs idle.
    pub queue_min: f64,
}

impl Flows {
    /// W° = (C T + K)/N: the window at which the queue reaches K.
    pub fn critical_window(&self) -> f64 {
        (self.bdp + self.threshold) / self.count
    }

    /// Right-hand side of Eq. 5: the share of packets sent in the last round trip of a window that
    /// grows from nothing to W° + k.
    pub fn last_round_share(&self) -> f64 {
        let (w0, k) = (self.critical_window(), self.step);
        (2.0 * w0 * k + k * k) / ((w0 + k) * (w0 + k))
    }

    /// Eqs. 6 to 12: the closed form, which assumes that b is small.
    pub fn closed_form(&self) -> Sawtooth {
        self.sawtooth(pow(self.last_round_share(), 1.0 / (self.weight + 1.0))) // Eq. 6
    }

    /// The same from the exact root of Eq. 5, α (b − b²/4) = x with b = α^w_c. Without a root, which
    /// takes windows below a few packets, α = 1.
    pub fn exact(&self) -> Sawtooth {
        let marked_share = |alpha: f64| {
            let b = pow(alpha, self.weight);
            alpha * (b - b * b / 4.0)
        };
        let (mut low, mut high) = (0.0, 1.0); // marked_share increases on [0, 1]
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if marked_share(middle) < self.last_round_share() {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.sawtooth(high)
    }

    /// Last form of Eq. 9: the queue swing where W° ≫ k.
    pub fn queue_swing_of_large_windows(&self) -> f64 {
        let w0 = self.critical_window();
        self.count * w0 / 2.0 * pow(2.0 * self.step / w0, self.weight / (self.weight + 1.0))
    }

    fn sawtooth(&self, alpha: f64) -> Sawtooth {
        let penalty = pow(alpha, self.weight); // Eq. 7
        let window_swing = penalty * (self.critical_window() + self.step) / 2.0; // Eq. 8
        let queue_swing = self.count * window_swing; // Eq. 9
        let queue_max = self.threshold + self.count * self.step; // Eq. 11
        Sawtooth {
            alpha,
            penalty,
            window_swing,
            queue_swing,
            period: window_swing / self.step, // Eq. 10, D1
            queue_max,
            queue_min: queue_max - queue_swing, // Eq. 12
        }
    }
}

/// Eq. 13: with a threshold above this many packets the queue never runs empty, whatever N is.
pub fn threshold_bound(bdp: f64, weight: f64) -> f64 {
    let w = pow(weight, weight);
    w * bdp / (2.0 * pow(weight + 1.0, weight + 1.0) - w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The paper's link: 1 Gbit/s, 300 us and 1500-byte packets give C T = 25; K = 20.
    fn flows(weight: f64, step: f64, count: f64) -> Flows {
        Flows { bdp: 25.0, threshold: 20.0, count, weight, step }
    }

    fn close(got: f64, expected: f64) {
        let digits = if expected < 1.0 { 5e-5 } else { 5e-5 * expected };
        assert!((got - expected).abs() <= digits, "{got} is not {expected}");
    }

    /// Claim `l2dct/eq5-alpha-balance` (differs where it is simulated), as a formula.
    #[test]
    fn exact_alpha_balances_equation_5() {
        close(flows(1.0, 1.0, 1.0).exact().alpha, 0.2131);
        close(flows(1.0, 1.0, 1.0).exact().penalty, 0.2131);
    }

    /// Claims `l2dct/eq6-alpha-steady` and `l2dct/eq7-penalty-steady`.
    #[test]
    fn closed_form_of_alpha_and_penalty() {
        for (weight, step, alpha, penalty) in
            [(1.0, 1.0, 0.2074, 0.2074), (0.5, 0.2, 0.0427, 0.2067), (0.125, 0.05, 0.0044, 0.5071)]
        {
            let sawtooth = flows(weight, step, 1.0).closed_form();
            close(sawtooth.alpha, alpha);
            close(sawtooth.penalty, penalty);
        }
    }

    /// Claim `l2dct/eq6-dctcp-special-case`.
    #[test]
    fn unit_weight_and_step_give_the_alpha_of_dctcp() {
        for count in [1.0, 2.0, 5.0] {
            let flows = flows(1.0, 1.0, count);
            let w0 = flows.critical_window();
            let dctcp = ((2.0 * w0 + 1.0) / ((w0 + 1.0) * (w0 + 1.0))).sqrt();
            assert!((flows.closed_form().alpha - dctcp).abs() < 1e-9 * dctcp);
        }
    }

    /// Claims `l2dct/eq8-window-amplitude` and `l2dct/eq9-queue-amplitude`.
    #[test]
    fn swings_of_window_and_queue() {
        close(flows(1.0, 1.0, 1.0).closed_form().window_swing, 4.7697);
        close(flows(0.125, 0.05, 1.0).closed_form().window_swing, 11.4231);
        close(flows(1.0, 1.0, 1.0).closed_form().queue_swing, 4.7697);
        close(flows(1.0, 1.0, 2.0).closed_form().queue_swing, 6.7823);
        close(flows(1.0, 1.0, 1.0).queue_swing_of_large_windows(), 4.7434);
    }

    /// Claim `l2dct/eq10-oscillation-period` (differs), corrected: 228 round trips where Eq. 10 prints 11.4.
    #[test]
    fn a_tooth_lasts_the_swing_over_the_step() {
        close(flows(1.0, 1.0, 1.0).closed_form().period, 4.7697);
        close(flows(0.125, 0.05, 1.0).closed_form().period, 11.4231 / 0.05);
    }

    /// Claims `l2dct/eq11-max-queue` and `l2dct/eq12-min-queue`.
    #[test]
    fn longest_and_shortest_queue() {
        close(flows(1.0, 1.0, 2.0).closed_form().queue_max, 22.0);
        close(flows(1.0, 1.0, 1.0).closed_form().queue_min, 16.2303);
        close(flows(1.0, 1.0, 2.0).closed_form().queue_min, 15.2177);
        close(flows(0.5, 0.2, 2.0).closed_form().queue_max, 20.4); // K + N k, not K + N
        close(flows(0.5, 0.2, 2.0).closed_form().queue_min, 14.5016);
    }

    /// Claims `l2dct/eq13-k-bound` and `l2dct/eq13-worst-case`.
    #[test]
    fn threshold_above_which_the_queue_never_empties() {
        for (weight, ratio) in [(0.125, 0.5099), (0.5, 0.2383), (1.0, 1.0 / 7.0), (2.5, 0.06564)] {
            close(threshold_bound(25.0, weight) / 25.0, ratio);
        }
    }

    /// Claims `l2dct/sec2c-amplitude-exponent` (differs where it is simulated) and `l2dct/sec2c-wmin-worst-amplitude`, over two
    /// decades of the product.
    #[test]
    fn swing_grows_with_a_power_of_the_bandwidth_delay_product() {
        for (weight, exponent) in [(1.0, 0.5), (0.125, 8.0 / 9.0), (2.5, 2.0 / 7.0)] {
            let swing = |bdp: f64| {
                Flows { bdp, threshold: 0.8 * bdp, count: 1.0, weight, step: 1.0 }.closed_form().queue_swing
            };
            let fitted = (swing(1000.0) / swing(10.0)).ln() / 100.0f64.ln();
            assert!((fitted - exponent).abs() < 0.01, "weight {weight}: {fitted}");
        }
    }

    /// Claim `l2dct/sec2c-w0-like-tcp`.
    #[test]
    fn without_weight_every_mark_halves() {
        assert!(flows(1e-12, 1.0, 1.0).closed_form().penalty > 1.0 - 1e-9);
    }

    proptest! {
        /// Eq. 13 is where the minimum of Eq. 12 over N, with the swing of large windows, is zero.
        #[test]
        fn the_bound_is_the_minimum_over_the_number_of_flows(weight in 0.1f64..3.0, step in 0.05f64..1.0) {
            let threshold = threshold_bound(25.0, weight);
            let queue_min = |count: f64| {
                let flows = Flows { bdp: 25.0, threshold, count, weight, step };
                threshold + count * step - flows.queue_swing_of_large_windows()
            };
            let least = (1..100_000).map(|n| queue_min(f64::from(n) / 100.0)).fold(f64::INFINITY, f64::min);
            prop_assert!((-1e-9..1e-3).contains(&least), "{least}");
        }

        /// Claim `l2dct/eq5-alpha-balance` (differs where it is simulated): the root solves the equation wherever there is one.
        #[test]
        fn the_root_solves_equation_5(weight in 0.1f64..3.0, step in 0.05f64..1.0, count in 1.0f64..5.0) {
            let flows = flows(weight, step, count);
            let Sawtooth { alpha, penalty: b, .. } = flows.exact();
            let share = alpha * (b - b * b / 4.0);
            prop_assert!((share / flows.last_round_share() - 1.0).abs() < 1e-9);
        }
    }
}
