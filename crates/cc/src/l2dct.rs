//! L2DCT — Munir et al., "Minimizing Flow Completion Times in Data Centers", INFOCOM 2013, §II.
//!
//! | symbol | here |
//! |---|---|
//! | α, g, F | as in [`crate::dctcp`] |
//! | s | [`FlowView::sent`]: bytes sent so far, retransmissions not counted |
//! | w_c | [`Params::weight`] |
//! | w_max, w_min | [`Params::w_max`], [`Params::w_min`] |
//! | k, b | computed at use: Eq. 1, Eq. 2 |
//!
//! The profile is §III's: w_max up to `knee_low`, then linear down to w_min at `knee_high`.
//!
//! Deviations:
//! - D1: α starts at 0 (unstated; ns-2). Set `initial_alpha`.
//! - D2: `profile=ps` fixes w_c = 1 *and* k = 1. The paper's k = w_c/w_max would be 0.4, which is not
//!   the DCTCP that §VI says it equals.
//! - D3: "sent" is per flow, so each message on a persistent connection starts with w_max.
//! - D4: slow start, loss and timeouts are TCP's (unstated), and cwnd may fall to one segment.

use crate::{ByMarks, Common, Ecn, FlowView, Host, MarkLaw, Recovery, TransportInfo};
use shortflow_spec::{keys, words};
use shortflow_units::Bytes;

/// Registry entry.
pub const INFO: TransportInfo = TransportInfo {
    name: "l2dct",
    summary: "DCTCP with weights by bytes sent: short flows grow faster and back off less",
    source: "L2DCT, INFOCOM 2013",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Exact,
};

words! {
    /// Size on which the weight depends (§III-E).
    pub enum Profile {
        /// Bytes sent so far: least attained service.
        Las = "las",
        /// Bytes remaining: shortest remaining processing time.
        Srpt = "srpt",
        /// Nothing: w_c = 1, k = 1, processor sharing.
        Ps = "ps",
    }
}

keys! {
    /// L2DCT's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// basis of the weight
        pub profile: Profile = "las", Profile::WORDS;
        /// largest weight, of a flow that has just started
        pub w_max: f64 = "2.5", 0.01..=100.0;
        /// smallest weight, of a long flow
        pub w_min: f64 = "0.125", 0.001..=100.0;
        /// bytes up to which a flow has the largest weight
        pub knee_low: Bytes = "200KB", Bytes::ZERO..=Bytes::MAX;
        /// bytes from which a flow has the smallest weight
        pub knee_high: Bytes = "1MB", Bytes::ZERO..=Bytes::MAX;
        /// weight of the newest window in alpha
        pub g: f64 = "0.0625", 0.0..=1.0;
        /// alpha before the first window has been acknowledged
        pub initial_alpha: f64 = "0", 0.0..=1.0;
        /// smallest window after a decrease for ECN, in segments
        pub cwnd_floor: f64 = "1", 1.0..=100.0;
    } in order {
        w_min <= w_max;
        knee_low <= knee_high;
    }
}

impl Params {
    /// The flow weight w_c (§III; §III-E for the other profiles).
    #[inline]
    pub fn weight(&self, flow: &FlowView) -> f64 {
        match self.profile {
            Profile::Las => self.weight_at(flow.sent),
            Profile::Srpt => self.weight_at(flow.remaining),
            Profile::Ps => 1.0,
        }
    }

    fn weight_at(&self, s: Bytes) -> f64 {
        if s <= self.knee_low {
            return self.w_max;
        }
        if s >= self.knee_high {
            return self.w_min;
        }
        let done = (s - self.knee_low).as_f64() / (self.knee_high - self.knee_low).as_f64();
        self.w_max - (self.w_max - self.w_min) * done
    }

    /// The back-off penalty, b (Eq. 2).
    pub fn penalty(&self, alpha: f64, flow: &FlowView) -> f64 {
        libm::pow(alpha, self.weight(flow))
    }
}

/// L2DCT on a connection.
pub type L2dct = ByMarks<Params>;

impl MarkLaw for Params {
    const READS_FLOW: bool = true;

    fn common(&self) -> Common {
        Common { g: self.g, initial_alpha: self.initial_alpha, cwnd_floor: self.cwnd_floor }
    }

    /// k (Eq. 1).
    #[inline]
    fn increase(&self, flow: &FlowView) -> f64 {
        match self.profile {
            Profile::Ps => 1.0, // D2
            Profile::Las | Profile::Srpt => self.weight(flow) / self.w_max,
        }
    }

    fn factor(&self, alpha: f64, _: f64, flow: &FlowView) -> f64 {
        1.0 - self.penalty(alpha, flow) / 2.0 // Eq. 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dctcp;
    use crate::sample::tests::{SLOW_START, ack, close, events, flow, left, stay_equal};
    use crate::{AckSample, Cause, CongestionControl, Window};
    use proptest::prelude::*;

    fn sent(kilobytes: u64) -> FlowView {
        FlowView { sent: Bytes::new(kilobytes * 1_000), ..flow(10) }
    }

    /// Claim `l2dct/sec3-weight-profile`.
    #[test]
    fn weight_falls_linearly_between_the_knees() {
        let params = Params::default();
        for (kilobytes, weight) in [(0, 2.5), (200, 2.5), (600, 1.3125), (1_000, 0.125), (10_000, 0.125)] {
            close(params.weight(&sent(kilobytes)), weight);
        }
    }

    /// Claims `l2dct/eq1-increase-factor`, `l2dct/sec3b-k-long-flows`.
    #[test]
    fn step_is_the_weight_over_its_maximum() {
        let params = Params::default();
        close(params.increase(&sent(0)), 1.0);
        close(params.increase(&sent(600)), 0.525);
        close(params.increase(&sent(2_000)), 0.05);
    }

    /// Claim `l2dct/eq2-backoff-penalty`: 0.25^2.5, 0.25^1, 0.25^0.125.
    #[test]
    fn penalty_is_alpha_to_the_weight() {
        let params = Params::default();
        close(params.penalty(0.25, &sent(0)), 0.03125);
        close(params.penalty(0.25, &sent(2_000)), 0.840_896_415_253_714_6);
        let unit = Params { profile: Profile::Ps, ..params };
        close(unit.penalty(0.25, &sent(0)), 0.25);
    }

    /// Claim `l2dct/eq3-window-decrease`: alpha = 0.25 takes 1/64 from a short flow, 42 % from a long one.
    #[test]
    fn a_marked_short_flow_hardly_backs_off() {
        for (kilobytes, factor) in [(0, 1.0 - 0.03125 / 2.0), (2_000, 1.0 - 0.840_896_415_253_714_6 / 2.0)] {
            let mut law = L2dct::new(Params { initial_alpha: 0.25, ..Params::default() });
            close(left(&mut law, 40.0, Cause::EcnEcho, &sent(kilobytes)).cwnd, 40.0 * factor);
        }
    }

    /// Claim `l2dct/eq4-window-increase`: k per round trip, here k = 0.05 over windows of 20 ACKs.
    #[test]
    fn a_long_flow_grows_by_a_twentieth_per_round_trip() {
        let mut law = L2dct::new(Params::default());
        let mut window = Window { cwnd: 20.0, ssthresh: 20.0 };
        for _ in 0..20 {
            law.on_ack(&mut window, &AckSample { flow: sent(2_000), ..ack(false) });
        }
        assert!((window.cwnd - 20.05).abs() < 0.02 * 0.05, "{}", window.cwnd);
    }

    /// Claim `l2dct/sec2-extremes`.
    #[test]
    fn full_marking_halves_and_no_marking_keeps_the_window_at_every_weight() {
        for kilobytes in [0, 300, 700, 1_000, 50_000] {
            for (initial_alpha, cwnd) in [(0.0, 40.0), (1.0, 20.0)] {
                let mut law = L2dct::new(Params { initial_alpha, ..Params::default() });
                assert_eq!(left(&mut law, 40.0, Cause::EcnEcho, &sent(kilobytes)).cwnd, cwnd);
            }
        }
    }

    /// Claim `l2dct/fig2-penalty-shape`: concave below weight 1, convex above, falling in the weight.
    #[test]
    fn penalty_bends_at_weight_one() {
        let b =
            |alpha: f64, w: f64| Params { w_max: w, w_min: w, ..Params::default() }.penalty(alpha, &sent(0));
        for step in 1..20 {
            let alpha = f64::from(step) / 20.0;
            for (w, bend) in [(0.125, -1.0), (0.5, -1.0), (1.5, 1.0), (2.5, 1.0)] {
                let second = b(alpha - 0.05, w) - 2.0 * b(alpha, w) + b(alpha + 0.05, w);
                assert!(second * bend > 0.0, "alpha {alpha}, weight {w}");
            }
            assert!(b(alpha, 0.125) > b(alpha, 0.5) && b(alpha, 0.5) > b(alpha, 2.5));
        }
    }

    #[test]
    fn srpt_weighs_what_remains() {
        let params = Params { profile: Profile::Srpt, ..Params::default() };
        let ending = FlowView { sent: Bytes::new(9_900_000), remaining: Bytes::new(100_000), ..flow(10) };
        close(params.weight(&ending), 2.5);
        close(params.weight(&flow(10)), 0.125);
    }

    proptest! {
        /// Claim `l2dct/sec6-unit-weight-is-fair`: with w_c = k = 1 the windows are DCTCP's, bit for bit.
        #[test]
        fn unit_weight_is_dctcp(events in events()) {
            let mut ps = L2dct::new(Params { profile: Profile::Ps, ..Params::default() });
            let mut dctcp = dctcp::Dctcp::new(dctcp::Params::default());
            stay_equal([&mut ps, &mut dctcp], SLOW_START, None, flow(10), &events);
        }

        /// Claim `l2dct/sec2-extremes`, its consequence: k and b never exceed one.
        #[test]
        fn step_and_penalty_stay_in_the_unit_interval(bytes: u64, alpha in 0.0f64..=1.0) {
            let flow = FlowView { sent: Bytes::new(bytes), ..flow(10) };
            let params = Params::default();
            prop_assert!((0.05..=1.0).contains(&params.increase(&flow)));
            prop_assert!((0.0..=1.0).contains(&params.penalty(alpha, &flow)));
        }
    }
}
