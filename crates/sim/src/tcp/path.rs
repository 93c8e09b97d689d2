//! [`Path`]: telemetry, pacer and timer of a sender whose law reads the path
//! ([`CongestionControl::reads_path`]). Other senders have no such state.
//!
//! Deviation: the first segment of a fast retransmit waits neither for the pacer nor for the window (RFC 6675
//! §5 (4.3)). With NewReno, this holds for each segment that a partial ACK requests. Later segments wait.

use crate::host::{EndpointContext, LazyTimer, Outbox, RateSampler, SendStream};
use crate::packet::{Extension, Packet};
use shortflow_cc::{CongestionControl, PathSample};
use shortflow_units::{Bytes, Instant, Rate, Span};

/// Numbers of the sender's timers.
pub(super) const PACE: u8 = 1;
const LAW: u8 = 2;
pub(crate) const CARD: u8 = 3;

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

    /// Telemetry of a data packet that leaves now. `is_alone` is true if no other data is in flight.
    pub(super) fn on_sent(
        &mut self,
        stream: &mut SendStream,
        payload: Bytes,
        is_alone: bool,
        EndpointContext { now, tcp }: EndpointContext<'_>,
    ) -> Box<Extension> {
        stream.law.on_sent(tcp.frame(payload), now);
        self.sent = Some((now, tcp.link_bytes(payload)));
        self.meter.on_sent(now, is_alone)
    }

    /// Path sample from the packet that `ack` acknowledges, when `delivered` bytes of the stream have arrived.
    #[inline(never)]
    pub(super) fn sample(
        &mut self,
        now: Instant,
        ack: &Packet,
        stream: &mut SendStream,
        delivered: u64,
    ) -> Option<PathSample> {
        let extension = ack.extension.as_ref()?;
        if !extension.hops.is_empty() {
            stream.law.on_hops(&extension.hops);
        }
        Some(self.meter.sample(now, ack.telemetry()?, delivered))
    }

    /// True if the pacer holds the next segment. Sets the pacer's deadline.
    #[inline(never)]
    pub(super) fn holds_back(&mut self, stream: &SendStream, now: Instant) -> bool {
        let due = self.due(stream.law.pacing_rate(), stream.window.cwnd);
        self.pace.deadline = Some(due).filter(|due| *due > now);
        self.pace.deadline.is_some()
    }

    /// Arms the timers of pacer and law. The application limits the sender if it is `app_limited`, with this number of
    /// bytes in flight.
    pub(super) fn arm(&mut self, stream: &SendStream, app_limited: Option<u64>, out: &mut impl Outbox) {
        if let Some(in_flight) = app_limited {
            self.meter.note_app_limited(in_flight);
        }
        self.law.deadline = stream.law.timer();
        for (timer, alarm) in [(PACE, &mut self.pace), (LAW, &mut self.law)] {
            if let Some(at) = alarm.arm() {
                out.set_timer(timer, at);
            }
        }
    }
}
