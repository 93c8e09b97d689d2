//! State of a sender whose law reads the path: rate samples, the pacer, and the law's timer.

use crate::host::{LazyTimer, RateSampler};
use shortflow_units::{Bytes, Instant, Rate, Span};

/// State of a sender whose law reads the path.
#[derive(Debug)]
pub(super) struct Path {
    pub meter: RateSampler,
    /// Departure time of the last packet, and its size on the link.
    pub sent: Option<(Instant, Bytes)>,
    /// Fires when a waiting packet may leave.
    pub pace: LazyTimer,
    /// The law's own timer.
    pub law: LazyTimer,
}

impl Default for Path {
    fn default() -> Path {
        Path { meter: RateSampler::default(), sent: None, pace: LazyTimer::IDLE, law: LazyTimer::IDLE }
    }
}

impl Path {
    /// Earliest departure of the next packet. With a pacing rate, it is the last departure plus the last
    /// packet's transmission time at `rate`. Without a rate, a window below one segment sends one packet per
    /// RTT / `cwnd`.
    pub(super) fn due(&self, rate: Option<Rate>, cwnd: f64) -> Instant {
        let Some((sent, takes)) = self.sent else { return Instant::ZERO };
        match rate {
            Some(rate) => sent + rate.tx_time(takes),
            None if cwnd < 1.0 => sent + Span::from_secs_f64(self.meter.last_rtt().as_secs_f64() / cwnd),
            None => Instant::ZERO,
        }
    }
}
