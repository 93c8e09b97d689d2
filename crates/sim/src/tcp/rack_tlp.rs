//! [`RackTlp`]: state of a sender with RACK-TLP (RFC 8985), and its three timers. [`super::rack`] detects losses,
//! [`super::tlp`] times probes, and [`super::prr`] limits sending during recovery.
//!
//! Deviations:
//! - A lost retransmission is repeated within the same recovery and does not reduce the window again, as in
//!   Linux. §9.3 reduces the rate in proportion instead. RFC 5681 §4.3 would reduce the window again.
//! - A reduction is not undone when DSACK shows that all retransmissions were needless. Linux undoes the
//!   reduction; RFC 8985 does not require this. There is no F-RTO (RFC 5682).
//! - Retransmitted segments keep their size, even if the law now asks for smaller segments.
//! - Outside recovery, SACKed data releases new data at once, as in limited transmit (RFC 3042) and in Linux.

use super::prr::Prr;
use super::rack::Rack;
use super::tlp::{Tlp, pto};
use crate::host::EndpointContext;
use shortflow_units::{Instant, Span};

/// State of RACK-TLP (RFC 8985 §5.3), and the deadlines of its timers and of the retransmission timer (§5.4).
#[derive(Debug, Default)]
pub(super) struct RackTlp {
    pub rack: Rack,
    pub tlp: Tlp,
    pub prr: Prr,
    pub rto: Option<Instant>,
    pub probe: Option<Instant>,
    pub reorder: Option<Instant>,
    /// New data was sent or acknowledged, so the probe timer restarts.
    pub progress: bool,
}

impl RackTlp {
    /// Segment `start..end` leaves, §6.1. Starts the retransmission timer, which then expires at `rto`, if it does not
    /// run (RFC 6298 (5.1)). Restarts the timer for a retransmission of the first segment, as in Linux.
    pub(super) fn on_sent(
        &mut self,
        (start, end): (u64, u64),
        (snd_una, snd_max): (u64, u64),
        now: Instant,
        rto: Instant,
    ) {
        let is_new = start >= snd_max;
        self.rack.on_sent(start, end, now);
        self.prr.on_sent(end - start);
        self.progress |= is_new;
        if self.rto.is_none() || (start == snd_una && !is_new) {
            self.rto = Some(rto);
        }
    }

    /// The reordering window, for a smoothed round trip of `srtt`, or zero before the first sample.
    pub(super) fn reo_wnd(&self, srtt: Span, recovering: bool, dupthresh: u32) -> Span {
        let srtt = if srtt.is_zero() { self.rack.rtt() } else { srtt };
        self.rack.reo_wnd(srtt, recovering, dupthresh)
    }

    /// The retransmission timer has expired, §6.3.
    pub(super) fn on_timeout(&mut self, now: Instant, reo_wnd: Span) {
        self.tlp.on_recovery();
        self.rack.on_timeout(now, reo_wnd);
        (self.reorder, self.rto) = (None, None);
    }

    /// Enters recovery of a flight of `out` bytes, which ends with a window of `ssthresh` bytes.
    pub(super) fn enter_recovery(&mut self, out: u64, ssthresh: u64, mss: u64) {
        self.tlp.on_recovery();
        self.prr = Prr::new(out, ssthresh);
        self.prr.on_ack(0, self.rack.pipe(), false, mss);
    }

    /// §5.4 and §8: finds the next timer. New data and ACKs that advance start the probe timer, unless losses
    /// are being detected or repaired (§7.2); `is_open` is false while they are repaired. The probe timer fires no later
    /// than the retransmission timer. Returns the deadline.
    pub(super) fn set_timers(
        &mut self,
        is_open: bool,
        srtt: Span,
        cx: EndpointContext<'_>,
    ) -> Option<Instant> {
        if self.rack.outstanding() == 0 {
            (self.rto, self.reorder) = (None, None);
        }
        let open = is_open && self.rack.sacked() == 0 && self.reorder.is_none();
        if !open || srtt.is_zero() || !self.tlp.is_due() || self.rto.is_none() {
            self.probe = None;
        } else if self.progress {
            self.probe = self.rto.min(Some(cx.now + pto(srtt, self.rack.outstanding() == 1, cx.tcp)));
        }
        self.progress = false;
        [self.reorder, self.probe, self.rto].into_iter().flatten().min()
    }
}
