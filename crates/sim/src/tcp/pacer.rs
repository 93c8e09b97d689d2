//! State of a sender whose law reads the path: telemetry and samples, the pacer, and the event of the law's timer.

use crate::host::{LazyTimer, RateSampler};
use shortflow_units::{Bytes, Instant, Rate, Span};

/// The state of a sender whose law reads the path.
#[derive(Debug)]
pub(super) struct Path {
    pub meter: RateSampler,
    /// Time of the last packet, and the bytes that a link could send in its time.
    pub sent: Option<(Instant, Bytes)>,
    /// Departure of the next packet, if one waits.
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
    /// When the next packet may leave: a packet's time at `rate` after the last one, or, without a rate and below one
    /// segment, a round-trip time over `cwnd`.
    pub fn due(&self, rate: Option<Rate>, cwnd: f64) -> Instant {
        let Some((sent, takes)) = self.sent else { return Instant::ZERO };
        match rate {
            Some(rate) => sent + rate.tx_time(takes),
            None if cwnd < 1.0 => sent + Span::from_secs_f64(self.meter.last_rtt().as_secs_f64() / cwnd),
            None => Instant::ZERO,
        }
    }
}
