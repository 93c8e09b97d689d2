//! The retransmission timeout — RFC 6298, with Karn's rule.
//!
//! Deviations: the scenario sets the first timeout (`tcp.initial_rto`) and the minimum (`tcp.rto_min`), which
//! are one second each in the RFC. The three seconds of §5.7 after a lost SYN are not used.

use crate::specs::TcpSpec;
use shortflow_units::{Instant, Span};

/// SRTT and RTTVAR of a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SmoothedRtt {
    srtt: Option<Span>,
    rttvar: Span,
}

impl SmoothedRtt {
    /// Takes a sample.
    #[inline]
    pub(crate) fn sample(&mut self, rtt: Span) {
        self.srtt = Some(match self.srtt {
            None => {
                self.rttvar = rtt.divided_by(2); // 2.2
                rtt
            }
            Some(srtt) => {
                let error = srtt.abs_diff(rtt);
                self.rttvar = (self.rttvar.times(3) + error).divided_by(4); // 2.3, beta = 1/4
                (srtt.times(7) + rtt).divided_by(8) // 2.3, alpha = 1/8
            }
        });
    }

    /// SRTT + max(G, 4 RTTVAR) with the clock granularity G (2.2, 2.3); G before the first sample.
    #[inline]
    pub(crate) fn timeout(&self, granularity: Span) -> Span {
        self.srtt.unwrap_or(Span::ZERO) + self.rttvar.times(4).max(granularity)
    }
}

/// SRTT, RTTVAR and RTO of a connection, and the segment being timed.
#[derive(Debug, Clone)]
pub(crate) struct RtoEstimator {
    rtt: SmoothedRtt,
    rto: Span,
    timed: Option<(u64, Instant)>,
}

impl RtoEstimator {
    /// An estimator without samples (2.1), whose first timeout is `initial`.
    pub(crate) fn new(initial: Span) -> Self {
        RtoEstimator { rtt: SmoothedRtt::default(), rto: initial, timed: None }
    }

    /// Takes a known round trip as the first sample (2.2), and keeps the first timeout.
    pub(crate) fn on_known(&mut self, round_trip: Span) {
        self.rtt = SmoothedRtt { srtt: Some(round_trip), rttvar: round_trip.divided_by(2) };
    }

    /// The present timeout, including back-off.
    #[inline]
    pub(crate) fn rto(&self) -> Span {
        self.rto
    }

    /// Smoothed round-trip time; zero before the first sample.
    #[inline]
    pub(crate) fn srtt(&self) -> Span {
        self.rtt.srtt.unwrap_or(Span::ZERO)
    }

    /// New data up to `end` is sent. Times it unless a segment is being timed (3).
    #[inline]
    pub(crate) fn on_send(&mut self, end: u64, now: Instant) {
        if self.timed.is_none() {
            self.timed = Some((end, now));
        }
    }

    /// A segment is retransmitted. Its sample would be ambiguous, so timing stops (3, Karn).
    pub(crate) fn on_retransmit(&mut self) {
        self.timed = None;
    }

    /// All bytes below `una` are acknowledged. Takes a sample if they include the timed segment.
    #[inline]
    pub(crate) fn on_ack(&mut self, una: u64, now: Instant, tcp: &TcpSpec) {
        if let Some((_, sent)) = self.timed.filter(|(end, _)| una >= *end) {
            self.timed = None;
            self.sample(now.since(sent), tcp);
        }
    }

    /// The timer has expired: doubles the timeout (5.5) until the next sample.
    pub(crate) fn back_off(&mut self, tcp: &TcpSpec) {
        self.rto = self.rto.times(2).min(tcp.rto_max);
    }

    fn sample(&mut self, rtt: Span, tcp: &TcpSpec) {
        self.rtt.sample(rtt);
        self.rto = self.rtt.timeout(tcp.clock_granularity).max(tcp.rto_min).min(tcp.rto_max); // 2.4, 2.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::testing::tcp;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Span::from_micros(us)
    }

    /// R = 400 µs: SRTT 400, RTTVAR 200, RTO 1200 µs. Then R' = 800 µs: RTTVAR 250, SRTT 450, RTO 1450 µs.
    #[test]
    fn follows_the_rfc_by_hand() {
        let tcp = TcpSpec { rto_min: Span::ZERO, ..tcp() };
        let mut rto = RtoEstimator::new(Span::from_millis(10));
        rto.on_send(1460, at(0));
        rto.on_send(2920, at(5));
        rto.on_ack(1460, at(400), &tcp);
        assert_eq!((rto.srtt(), rto.rto()), (Span::from_micros(400), Span::from_micros(1200)));
        rto.on_send(4380, at(1000));
        rto.on_ack(2920, at(1100), &tcp);
        rto.on_ack(4380, at(1800), &tcp);
        assert_eq!((rto.srtt(), rto.rto()), (Span::from_micros(450), Span::from_micros(1450)));
    }

    #[test]
    fn minimum_granularity_backoff_and_maximum() {
        let tcp = TcpSpec { rto_max: Span::from_millis(30), ..tcp() };
        let mut rto = RtoEstimator::new(Span::from_millis(10));
        rto.back_off(&tcp);
        assert_eq!(rto.rto(), Span::from_millis(20));
        rto.back_off(&tcp);
        assert_eq!(rto.rto(), Span::from_millis(30));
        rto.on_send(1460, at(0));
        rto.on_ack(1460, at(300), &tcp);
        assert_eq!(rto.rto(), Span::from_millis(10), "a sample ends the back-off; RTOmin holds");
    }

    #[test]
    fn a_retransmission_is_not_timed() {
        let tcp = tcp();
        let mut rto = RtoEstimator::new(Span::from_millis(10));
        rto.on_send(1460, at(0));
        rto.on_retransmit();
        rto.on_ack(1460, at(50_000), &tcp);
        assert_eq!(rto.srtt(), Span::ZERO);
    }
}
