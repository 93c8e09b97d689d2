//! TCP's window law — RFC 5681 §3.1 and §3.2, with NewReno loss recovery (RFC 6582) by default.
//!
//! | symbol | field |
//! |---|---|
//! | cwnd, ssthresh | [`Window::cwnd`], [`Window::ssthresh`] in segments |
//! | FlightSize | [`FlowView::flight`] in segments |
//!
//! Deviations:
//! - D1: an idle connection keeps its window. RFC 5681 §4.1 restarts from a small window after an idle time of one
//!   RTO.
//! - D2: a loss halves FlightSize or cwnd, whichever is smaller. RFC 5681 Eq. 4 halves FlightSize, which without SACK
//!   counts segments that have arrived beyond a hole. ns-2 and Linux halve cwnd, even if the application limits the
//!   sender.

use crate::{AckSample, Cause, CongestionControl, Ecn, FlowView, Host, Recovery, TransportInfo, Window};
use shortflow_spec::keys;

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "newreno",
    summary: "TCP NewReno; with ecn=classic it halves once per window of marked data",
    source: "RFC 5681, RFC 6582",
    host: Host::Tcp,
    recovery: Recovery::NewReno,
    ecn: Ecn::Off,
    fills_link: true,
    ecn_monotone: true,
};

keys! {
    /// NewReno's window law has no parameters.
    #[derive(Copy)]
    pub struct Params {}
}

/// RFC 5681 congestion control.
#[derive(Debug, Clone)]
pub struct NewReno;

impl NewReno {
    /// State of a new connection.
    pub fn new(_: Params) -> Self {
        NewReno
    }
}

/// Opens the window: slow start below ssthresh, otherwise `step` segments per round trip (RFC 5681 Eq. 2 and 3, where
/// `step` is 1).
#[inline]
pub(crate) fn grow(window: &mut Window, ack: &AckSample, step: f64) {
    if window.in_slow_start() {
        window.cwnd += (ack.acked.as_f64() / ack.flow.mss.as_f64()).min(1.0); // Eq. 2
    } else {
        window.cwnd += step / window.cwnd; // Eq. 3
    }
}

/// Responds to ECN-Echo: multiplies cwnd by `factor`, not below `floor` segments, and ends slow start at the new
/// window (RFC 3168 §6.1.2, where `factor` is one half).
pub(crate) fn multiplicative_decrease(window: &mut Window, factor: f64, floor: f64) {
    window.cwnd = (window.cwnd * factor).max(floor);
    window.ssthresh = window.cwnd.max(2.0);
}

/// Responds to a loss as TCP does: sets ssthresh to half the flight (RFC 5681 Eq. 4, D2), and cwnd to ssthresh or,
/// after a timeout, to one segment (§3.1).
pub(crate) fn on_loss(window: &mut Window, cause: Cause, flow: &FlowView) {
    window.ssthresh = (flow.flight_segments() / 2.0).max(2.0); // Eq. 4
    window.cwnd = if cause == Cause::Timeout { 1.0 } else { window.ssthresh };
}

impl CongestionControl for NewReno {
    #[inline(always)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if ack.may_grow {
            grow(window, ack, 1.0);
        }
    }

    fn reads_flow(&self) -> bool {
        false
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        match cause {
            Cause::EcnEcho => multiplicative_decrease(window, 0.5, 1.0), // RFC 3168 §6.1.2
            Cause::FastRetransmit | Cause::Timeout => on_loss(window, cause, flow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{ack, flow, left};
    use shortflow_units::Bytes;

    /// RFC 5681 Eq. 2, min(N, SMSS): an ACK of half a segment adds half a segment, an ACK of two segments adds one.
    #[test]
    fn slow_start_adds_the_acknowledged_bytes_up_to_one_segment() {
        for (acked, cwnd) in [(730, 2.5), (1460, 3.0), (2920, 3.0)] {
            let mut window = Window { cwnd: 2.0, ssthresh: f64::INFINITY };
            NewReno.on_ack(&mut window, &AckSample { acked: Bytes::new(acked), ..ack(false) });
            assert_eq!(window.cwnd, cwnd);
        }
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_per_round_trip() {
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
        for _ in 0..10 {
            NewReno.on_ack(&mut window, &ack(false));
        }
        assert!((window.cwnd - 11.0).abs() < 0.05, "{}", window.cwnd);
    }

    #[test]
    fn marks_halve_the_window_losses_the_flight_and_a_timeout_restarts_from_one() {
        let cases = [
            (Cause::EcnEcho, 20, 10.0, 10.0),
            (Cause::FastRetransmit, 16, 8.0, 8.0),
            (Cause::Timeout, 3, 1.0, 2.0),
        ];
        for (cause, flight, cwnd, ssthresh) in cases {
            assert_eq!(left(&mut NewReno, 20.0, cause, &flow(flight)), Window { cwnd, ssthresh });
        }
    }
}
