//! CUBIC — RFC 9438.
//!
//! | symbol | here |
//! |---|---|
//! | C, β_cubic | [`Params::c`], [`Params::beta`] |
//! | W_max, K, W_est, cwnd_prior | `w_max`, `k`, `w_est`, `cwnd_prior` |
//! | t, t_epoch | [`FlowView::now`] since `epoch` |
//! | RTT | [`FlowView::srtt`] |
//! | W_cubic(t) | [`Cubic::w_cubic`] |
//! | α_cubic | [`Params::alpha`] |
//!
//! Deviations:
//! - D1: slow start follows RFC 5681. HyStart++ (§4.10, a SHOULD) and the rules for spurious losses (§4.9) are left
//!   out.
//! - D2: ECN-Echo reduces cwnd, a loss reduces FlightSize (§4.6 prefers FlightSize and allows both). The ECN factor
//!   is β_cubic; RFC 8511 suggests 0.85: set `beta_ecn`.
//! - D3: t also runs while the application or the receive window limits the sender (§5.8). The limit of 1.5 cwnd on
//!   the target bounds the effect.
//! - D4: if W_est overtakes W_cubic, cwnd never decreases to W_est. §4.3 sets cwnd to W_est.

use crate::newreno::{grow, multiplicative_decrease, on_loss};
use crate::{AckSample, Cause, CongestionControl, Ecn, FlowView, Host, Recovery, TransportInfo, Window};
use shortflow_spec::{Flag, keys};
use shortflow_units::Instant;

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "cubic",
    summary: "TCP whose window is a cubic function of the time since the last congestion",
    source: "RFC 9438",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: true,
    ecn_monotone: true,
};

keys! {
    /// CUBIC's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// constant C of the cubic window function, in segments per second cubed
        pub c: f64 = "0.4", 0.001..=1e6;
        /// factor by which a loss multiplies the window
        pub beta: f64 = "0.7", 0.1..=0.99;
        /// factor by which ECN-Echo multiplies the window
        pub beta_ecn: f64 = "0.7", 0.1..=0.99, acts: marks;
        /// lower the plateau further after a loss below the last plateau, to leave room for new flows
        pub fast_convergence: bool = "true", Flag;
        /// keep the window at least as large as the estimate of Reno's window
        pub reno_friendly: bool = "true", Flag;
    }
}

impl Params {
    /// α_cubic (§4.3). With this step, a sawtooth that keeps β of the window has the mean of Reno's, which keeps a
    /// half and adds one segment per round trip.
    pub fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}

/// CUBIC's state. Windows are in segments, times in seconds.
#[derive(Debug, Clone)]
pub struct Cubic {
    params: Params,
    w_max: f64,
    k: f64,
    w_est: f64,
    cwnd_prior: f64,
    epoch: Option<Instant>,
}

impl Cubic {
    /// State of a new connection.
    pub fn new(params: Params) -> Self {
        Cubic { params, w_max: 0.0, k: 0.0, w_est: 0.0, cwnd_prior: 0.0, epoch: None }
    }

    /// The window `t` seconds into congestion avoidance (Figure 1).
    pub fn w_cubic(&self, t: f64) -> f64 {
        let from_plateau = t - self.k;
        self.params.c * from_plateau * from_plateau * from_plateau + self.w_max
    }

    /// Starts congestion avoidance with a window of `cwnd`. If cwnd is at or above W_max, as after a timeout, the
    /// plateau is at cwnd (§4.8).
    fn begin_epoch(&mut self, cwnd: f64, now: Instant) -> Instant {
        if self.w_max > cwnd {
            self.k = libm::cbrt((self.w_max - cwnd) / self.params.c); // Figure 2
        } else {
            self.k = 0.0;
            self.w_max = cwnd;
        }
        self.w_est = cwnd;
        self.epoch = Some(now);
        now
    }

    fn avoid_congestion(&mut self, window: &mut Window, ack: &AckSample) {
        let now = ack.flow.now;
        let epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(window.cwnd, now));
        let t = now.since(epoch).as_secs_f64();
        let alpha = if self.w_est < self.cwnd_prior { self.params.alpha() } else { 1.0 };
        let segments = ack.acked.as_f64() / ack.flow.mss.as_f64();
        self.w_est += alpha * segments / window.cwnd; // Figure 4
        if self.params.reno_friendly && self.w_cubic(t) < self.w_est {
            window.cwnd = window.cwnd.max(self.w_est); // §4.3, D4
        } else {
            let target = self.w_cubic(t + ack.flow.srtt.as_secs_f64());
            let target = target.clamp(window.cwnd, 1.5 * window.cwnd); // §4.2
            window.cwnd += (target - window.cwnd) / window.cwnd; // §4.4, §4.5
        }
    }

    /// Stores the window of a congestion event for the next epoch (§4.6, §4.7).
    fn remember(&mut self, cwnd: f64) {
        self.epoch = None;
        self.cwnd_prior = cwnd;
        let converge = self.params.fast_convergence && cwnd < self.w_max;
        self.w_max = if converge { cwnd * (1.0 + self.params.beta) / 2.0 } else { cwnd };
    }
}

impl CongestionControl for Cubic {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if !ack.may_grow {
            return;
        }
        if window.in_slow_start() {
            grow(window, ack, 1.0);
        } else {
            self.avoid_congestion(window, ack);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        // A flight above the window was sent before a mark of the same window of data. The mark has already been
        // stored.
        let is_new = cause != Cause::FastRetransmit || flow.flight_segments() <= window.cwnd;
        if is_new {
            self.remember(window.cwnd);
        }
        match cause {
            Cause::EcnEcho => multiplicative_decrease(window, self.params.beta_ecn, 1.0), // §4.6, D2
            Cause::FastRetransmit => {
                window.ssthresh = (flow.flight_segments() * self.params.beta).max(2.0); // Figure 5
                window.cwnd = window.ssthresh;
            }
            Cause::Timeout => {
                on_loss(window, cause, flow);
                window.ssthresh = (flow.flight_segments() * self.params.beta).max(2.0);
                self.w_max = 0.0; // §4.8: the next epoch starts on the plateau
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{ack, close, flow};
    use proptest::prelude::*;
    use shortflow_units::{Bytes, Span};

    /// A law after a loss at a window of 100 segments, and its window of 70.
    fn after_a_loss(params: Params) -> (Cubic, Window) {
        let mut law = Cubic::new(params);
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        law.on_congestion(&mut window, Cause::FastRetransmit, &flow(100));
        (law, window)
    }

    fn at(millis: u64, rtt: Span) -> AckSample {
        let now = Instant::ZERO + Span::from_millis(millis);
        AckSample { flow: FlowView { now, srtt: rtt, ..flow(70) }, ..ack(false) }
    }

    /// K = ∛(30 / 0.4) = 4.217 s: W_cubic starts at 70, is W_max at K and 130 at 2 K.
    #[test]
    fn the_curve_starts_at_the_cut_window_and_has_its_plateau_at_the_old_maximum() {
        let (mut law, window) = after_a_loss(Params::default());
        assert_eq!(window, Window { cwnd: 70.0, ssthresh: 70.0 });
        law.begin_epoch(window.cwnd, Instant::ZERO);
        let k = 4.217_163_326_508_746;
        for (t, w) in [(0.0, 70.0), (k, 100.0), (2.0 * k, 130.0)] {
            close(law.w_cubic(t), w);
        }
    }

    /// RFC 3168 §6.1.2: a mark at a window of 100 and a loss of the same window of data are one event. W_max stays
    /// 100. Without this rule, the loss would set W_max to 70 * 1.7 / 2 = 59.5.
    #[test]
    fn a_mark_and_a_loss_of_one_window_are_remembered_once() {
        let mut law = Cubic::new(Params::default());
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        law.on_congestion(&mut window, Cause::EcnEcho, &flow(100));
        law.on_congestion(&mut window, Cause::FastRetransmit, &flow(100));
        assert_eq!((window.cwnd, law.w_max, law.cwnd_prior), (70.0, 100.0, 100.0));
    }

    /// With a round trip of 100 ms, W_cubic exceeds W_est. One ACK at t adds (W_cubic(t + RTT) − cwnd)/cwnd to cwnd,
    /// and at most one half.
    #[test]
    fn each_ack_moves_towards_the_window_of_the_next_round_trip() {
        let (mut law, mut window) = after_a_loss(Params::default());
        let rtt = Span::from_millis(100);
        law.on_ack(&mut window, &at(0, rtt));
        law.on_ack(&mut window, &at(1_000, rtt));
        let (before, target) = (window.cwnd, law.w_cubic(1.5 + 0.1));
        law.on_ack(&mut window, &at(1_500, rtt));
        close(window.cwnd, before + (target - before) / before);
        let before = window.cwnd;
        law.on_ack(&mut window, &at(60_000, rtt));
        close(window.cwnd, before + 0.5);
    }

    /// With a round trip of 300 µs, W_cubic stays flat. W_est grows by α_cubic = 0.529 per round trip, and by 1 after
    /// it has reached the window of the loss.
    #[test]
    fn at_data_centre_round_trips_the_window_is_that_of_tcp() {
        let (mut law, mut window) = after_a_loss(Params::default());
        close(Params::default().alpha(), 0.529_411_764_705_882_4);
        for _ in 0..70 {
            law.on_ack(&mut window, &at(0, Span::from_micros(300)));
        }
        assert!((window.cwnd - 70.529).abs() < 0.005, "{}", window.cwnd);
        law.cwnd_prior = 70.0;
        let before = window.cwnd;
        for _ in 0..70 {
            law.on_ack(&mut window, &at(0, Span::from_micros(300)));
        }
        assert!((window.cwnd - before - 1.0).abs() < 0.03, "{}", window.cwnd - before);
        let (mut alone, mut window) = after_a_loss(Params { reno_friendly: false, ..Params::default() });
        alone.on_ack(&mut window, &at(0, Span::from_micros(300)));
        assert!(window.cwnd < 70.001);
    }

    /// §4.3: an ACK adds α_cubic/cwnd to W_est for each acknowledged segment, and 1/cwnd from the window of the last
    /// loss on: 2/70 for an ACK of two segments at 70.
    #[test]
    fn the_window_of_tcp_grows_by_segments_acknowledged() {
        for (cwnd_prior, alpha) in [(100.0, Params::default().alpha()), (70.0, 1.0)] {
            let (mut law, mut window) = after_a_loss(Params::default());
            law.cwnd_prior = cwnd_prior;
            let two = AckSample { acked: Bytes::new(2920), ..at(5_000, Span::from_micros(300)) };
            law.on_ack(&mut window, &two);
            close(window.cwnd, 70.0 + alpha * 2.0 / 70.0);
        }
    }

    /// §4.3: W_est decides only above W_cubic. Both are 64 here, so the ACK moves the window towards W_cubic one
    /// second later, 64.4.
    #[test]
    fn where_both_windows_meet_the_curve_leads() {
        let mut law = Cubic::new(Params::default());
        (law.w_max, law.w_est, law.epoch) = (64.0, 64.0 - 1.0 / 64.0, Some(Instant::ZERO));
        let mut window = Window { cwnd: 64.0, ssthresh: 2.0 };
        law.on_ack(&mut window, &at(0, Span::from_millis(1_000)));
        assert_eq!(law.w_est, 64.0);
        close(window.cwnd, 64.0 + 0.4 / 64.0);
    }

    /// §4.7: a loss below the old maximum is the sign of a new flow; a second loss at the old maximum is not.
    #[test]
    fn a_loss_at_the_old_maximum_keeps_the_plateau() {
        let (mut law, mut window) = after_a_loss(Params::default());
        window.cwnd = 100.0;
        law.on_congestion(&mut window, Cause::FastRetransmit, &flow(100));
        assert_eq!(law.w_max, 100.0);
    }

    /// After losses at 100 and at 80, W_max is 80 × 1.7 / 2 = 68, or 80 without fast convergence.
    #[test]
    fn fast_convergence_lowers_the_plateau() {
        for (fast_convergence, w_max) in [(true, 68.0), (false, 80.0)] {
            let (mut law, mut window) = after_a_loss(Params { fast_convergence, ..Params::default() });
            window.cwnd = 80.0;
            law.on_congestion(&mut window, Cause::EcnEcho, &flow(80));
            close(law.w_max, w_max);
            close(window.cwnd, 56.0);
        }
    }

    #[test]
    fn after_a_timeout_the_plateau_is_where_slow_start_ends() {
        let (mut law, mut window) = after_a_loss(Params::default());
        law.on_congestion(&mut window, Cause::Timeout, &flow(70));
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 49.0 });
        window.cwnd = 49.0;
        law.on_ack(&mut window, &at(0, Span::from_micros(300)));
        assert_eq!((law.k, law.w_max), (0.0, 49.0));
    }

    #[test]
    fn floors_are_two_segments_after_a_loss_and_one_after_a_mark() {
        let mut law = Cubic::new(Params::default());
        let mut window = Window { cwnd: 2.0, ssthresh: 2.0 };
        law.on_congestion(&mut window, Cause::FastRetransmit, &flow(2));
        assert_eq!(window, Window { cwnd: 2.0, ssthresh: 2.0 });
        window.cwnd = 1.2;
        law.on_congestion(&mut window, Cause::EcnEcho, &flow(1));
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 2.0 });
    }

    proptest! {
        /// Without congestion, no ACK decreases the window or adds more than one segment.
        #[test]
        fn growth_is_bounded(cwnd in 2.0f64..1e4, millis in prop::collection::vec(0u64..100, 1..100)) {
            let mut law = Cubic::new(Params::default());
            let mut window = Window { cwnd, ssthresh: f64::INFINITY };
            law.on_congestion(&mut window, Cause::EcnEcho, &flow(10));
            let mut now = 0;
            for step in millis {
                now += step;
                let before = window.cwnd;
                law.on_ack(&mut window, &at(now, Span::from_millis(1)));
                prop_assert!(window.cwnd >= before && window.cwnd <= before + 1.0);
            }
        }
    }
}
