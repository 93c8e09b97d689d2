//! D2TCP — Vamanan, Hasan, Vijaykumar, "Deadline-Aware Datacenter TCP (D2TCP)", SIGCOMM 2012, §3.
//!
//! | symbol | here |
//! |---|---|
//! | α, g, F | as in [`crate::dctcp`] |
//! | d | [`Params::imminence`] |
//! | T_c | round trips that the flow still needs: B / (0.75 W) |
//! | D | round trips left until the deadline |
//! | B | [`FlowView::remaining`] in segments: unsent and unacknowledged |
//! | W | [`crate::Window::cwnd`] |
//! | p | computed at each decrease: α^d |
//!
//! Deviations:
//! - D1: after the deadline d = 1, as for a flow without a deadline. The paper does not define d here: its senders
//!   give up at the deadline. Set `expired`, for example to 2.
//! - D2: α starts at 1, and a mark leaves at least two segments, as in [`crate::dctcp`].
//! - D3: d is computed only at a decrease, from the current W.
//! - D4: d = 1 at the ACK that completes the flow: B = 0, and no rate is needed. d = 1 also before the first RTT
//!   sample.

use crate::{ByMarks, Common, Ecn, FlowView, Host, MarkLaw, Recovery, TransportInfo};
use shortflow_spec::keys;
use shortflow_units::{Bytes, Span};

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "d2tcp",
    summary: "DCTCP that backs off less the nearer the deadline of the flow is",
    source: "D2TCP, SIGCOMM 2012",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Exact,
    fills_link: true,
    ecn_monotone: true,
};

/// Mean of a sawtooth between W/2 and W, divided by W.
const MEAN_OF_SAWTOOTH: f64 = 0.75;

keys! {
    /// D2TCP's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// smallest exponent of alpha, for a flow well ahead of its deadline
        pub clip_low: f64 = "0.5", 0.0..=1.0, acts: marks && deadlines;
        /// largest exponent of alpha, for a flow about to miss its deadline; a large number removes the limit
        pub clip_high: f64 = "2", 1.0..=1e9, acts: marks && deadlines;
        /// exponent of alpha after the deadline; with 1 the flow behaves as under DCTCP
        pub expired: f64 = "1", 0.0..=1e9, acts: marks && deadlines;
        /// weight of the newest window in alpha
        pub g: f64 = "0.0625", 0.0..=1.0, acts: alpha_counts;
        /// alpha before the first window has been acknowledged
        pub initial_alpha: f64 = "1", 0.0..=1.0, acts: alpha_counts;
        /// smallest window after a decrease for ECN, in segments
        pub cwnd_floor: f64 = "2", 1.0..=100.0, acts: marks;
    }
}

impl Params {
    /// The deadline imminence factor d = T_c / D, clipped (§3.2).
    pub fn imminence(&self, cwnd: f64, flow: &FlowView) -> f64 {
        let Some(deadline) = flow.deadline.filter(|_| flow.remaining != Bytes::MAX) else { return 1.0 };
        if deadline <= flow.now {
            return self.expired; // D1
        }
        if flow.srtt == Span::ZERO || flow.remaining == Bytes::ZERO {
            return 1.0; // D4
        }
        let b = flow.remaining.as_f64() / flow.mss.as_f64();
        let needed = b / (MEAN_OF_SAWTOOTH * cwnd); // T_c
        let left = deadline.since(flow.now).as_secs_f64() / flow.srtt.as_secs_f64(); // D
        (needed / left).clamp(self.clip_low, self.clip_high)
    }
}

/// D2TCP on a connection.
pub(crate) type D2tcp = ByMarks<Params>;

impl MarkLaw for Params {
    fn common(&self) -> Common {
        Common { g: self.g, initial_alpha: self.initial_alpha, cwnd_floor: self.cwnd_floor }
    }

    fn factor(&self, alpha: f64, cwnd: f64, flow: &FlowView) -> f64 {
        1.0 - libm::pow(alpha, self.imminence(cwnd, flow)) / 2.0 // §3.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;
    use crate::sample::tests::{flow, left};
    use shortflow_units::Instant;

    /// A flow with `segments` to go and `micros` until its deadline; the round-trip time is 300 µs.
    fn due(segments: u64, micros: u64) -> FlowView {
        let deadline = Some(Instant::ZERO + Span::from_micros(micros));
        FlowView { remaining: Bytes::new(segments * 1460), deadline, ..flow(10) }
    }

    fn cut_to(params: Params, flow: &FlowView) -> f64 {
        let mut law = D2tcp::new(Params { initial_alpha: 0.25, ..params });
        left(&mut law, 40.0, Cause::EcnEcho, flow).cwnd
    }

    /// 300 segments at a mean window of 30 need ten round trips. d is 1 with ten round trips left and 2 with five, at
    /// any time of the run.
    #[test]
    fn imminence_is_the_time_needed_over_the_time_left() {
        let params = Params { clip_low: 0.0, clip_high: 1e9, ..Params::default() };
        for (now, round_trips, d) in [(0, 10, 1.0), (0, 5, 2.0), (0, 2, 5.0), (0, 100, 0.1), (10_000, 5, 2.0)]
        {
            let now_at = Instant::ZERO + Span::from_micros(now);
            let flow = FlowView { now: now_at, ..due(300, now + round_trips * 300) };
            let measured = params.imminence(40.0, &flow);
            assert!((measured - d).abs() < 1e-12, "{measured} is not {d}");
        }
    }

    /// d stays between 0.5 and 2, and is 1 at the ACK that completes a flow.
    #[test]
    fn imminence_is_clipped() {
        for (segments, micros, d) in [(300, 300, 2.0), (300, 300_000, 0.5), (0, 300, 1.0)] {
            assert_eq!(Params::default().imminence(40.0, &due(segments, micros)), d);
        }
    }

    /// α = 1/4: p = α^d is 1/16 near the deadline, 1/4 on time, and 1/2 far ahead of it. A mark takes half of p.
    #[test]
    fn near_the_deadline_a_mark_cuts_less() {
        for (micros, left) in [(300, 38.75), (3_000, 35.0), (300_000, 30.0)] {
            assert_eq!(cut_to(Params::default(), &due(300, micros)), left);
        }
    }
}
