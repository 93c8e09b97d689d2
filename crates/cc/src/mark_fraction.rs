//! The congestion estimate of DCTCP, and [`ByMarks`], the part that all laws based on this estimate share.

use crate::newreno::{grow, multiplicative_decrease, on_loss};
use crate::{AckSample, Cause, CongestionControl, FlowView, Window};
use shortflow_units::{Bytes, Instant};

/// Counts acknowledged and marked bytes over one window of data (RFC 8257 §3.3 steps 1–8).
///
/// Deviation: F counts bytes, as in the RFC. The papers count packets; with full segments, both fractions are equal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkFraction {
    /// Congestion estimate, from 0 (no marks) to 1 (all marked).
    pub alpha: f64,
    window_end: u64,
    acked: Bytes,
    marked: Bytes,
}

impl MarkFraction {
    /// An estimate that starts at `initial_alpha`.
    pub(crate) fn new(initial_alpha: f64) -> Self {
        MarkFraction { alpha: initial_alpha, window_end: 0, acked: Bytes::ZERO, marked: Bytes::ZERO }
    }

    /// Accounts for one ACK, and updates alpha with gain `g` at the end of a window of data.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, ack: &AckSample, g: f64) {
        self.acked += ack.acked;
        if ack.ece {
            self.marked += ack.acked;
        }
        if ack.snd_una > self.window_end {
            let f = self.marked.as_f64() / self.acked.as_f64(); // F, RFC 8257 step 5
            self.alpha = (1.0 - g) * self.alpha + g * f; // [DCTCP10] Eq. 1, [L2DCT] §II-A
            self.window_end = ack.snd_nxt;
            self.acked = Bytes::ZERO;
            self.marked = Bytes::ZERO;
        }
    }
}

/// Parameters of every [`MarkLaw`].
#[derive(Debug, Clone, Copy)]
pub struct Common {
    /// Gain of alpha.
    pub g: f64,
    /// Alpha before the first window has been acknowledged.
    pub initial_alpha: f64,
    /// Smallest window after a decrease, in segments.
    pub cwnd_floor: f64,
}

/// The equations of a law that decreases the window by alpha. Growth and loss follow RFC 5681.
pub trait MarkLaw {
    /// True if [`MarkLaw::increase`] reads the flow.
    const READS_FLOW: bool = false;

    /// The law's values of the parameters that all such laws share.
    fn common(&self) -> Common;

    /// Segments per round trip by which the window grows.
    #[inline(always)]
    fn increase(&self, _: &FlowView) -> f64 {
        1.0
    }

    /// Factor by which a mark multiplies a window of `cwnd` segments.
    fn factor(&self, alpha: f64, cwnd: f64, flow: &FlowView) -> f64;

    /// False if the law does not use alpha; marks are then not counted.
    #[inline(always)]
    fn counts_marks(&self) -> bool {
        true
    }
}

/// A [`MarkLaw`] on a connection.
#[derive(Debug, Clone)]
pub struct ByMarks<L> {
    law: L,
    marks: MarkFraction,
}

impl<L: MarkLaw> ByMarks<L> {
    /// State of a new connection.
    pub fn new(law: L) -> Self {
        let marks = MarkFraction::new(law.common().initial_alpha);
        ByMarks { law, marks }
    }
}

impl<L: MarkLaw> CongestionControl for ByMarks<L> {
    #[inline(always)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if self.law.counts_marks() {
            self.marks.on_ack(ack, self.law.common().g);
        }
        if ack.may_grow {
            grow(window, ack, self.law.increase(&ack.flow));
        }
    }

    fn reads_flow(&self) -> bool {
        L::READS_FLOW
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        if cause != Cause::EcnEcho {
            return on_loss(window, cause, flow); // RFC 8257 §3.5
        }
        let factor = self.law.factor(self.marks.alpha, window.cwnd, flow);
        multiplicative_decrease(window, factor, self.law.common().cwnd_floor);
    }

    fn alpha(&self, _: Instant) -> Option<f64> {
        self.law.counts_marks().then_some(self.marks.alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{ack, close, flow, left};
    use crate::{Role, TransportConfig};
    use shortflow_units::Span;

    /// RFC 8257 §3.3 step 4: the ACK of the last byte of a window still belongs to this window. The next ACK ends the
    /// window. Both ACKs are marked, so F = 1 and alpha moves from 0 to g.
    #[test]
    fn a_window_of_data_ends_beyond_its_last_byte() {
        let mut marks = MarkFraction::new(0.0);
        let alphas = [(1, false), (5000, true), (5001, true)].map(|(snd_una, ece)| {
            marks.on_ack(&AckSample { snd_una, snd_nxt: 5000, ..ack(ece) }, 0.25);
            marks.alpha
        });
        assert_eq!(alphas, [0.0, 0.0, 0.25]);
    }

    /// The papers' equations from 40 segments at alpha = 1/4: the window after a mark, and the segments that the
    /// unmarked ACKs of one round trip add.
    #[test]
    fn each_law_cuts_by_alpha_and_grows_by_its_step() {
        let sent = |kilobytes: u64| FlowView { sent: Bytes::new(kilobytes * 1_000), ..flow(40) };
        let of = |role, kilobytes| FlowView { role, ..sent(kilobytes) };
        let ending = FlowView { remaining: Bytes::new(100_000), ..sent(9_900) };
        let expired = FlowView { deadline: Some(Instant::ZERO), ..ending };
        let soon = Some(Instant::ZERO + Span::from_micros(300));
        let backlogged = FlowView { deadline: soon, remaining: Bytes::MAX, ..sent(0) };
        let general = "atcp+w_high=4+t1=1MB+t2=9MB";
        let ratios = &*format!("{general}+middle=exponential");
        for (law, alpha, flow, window, step) in [
            ("dctcp", Some(0.25), sent(0), 35.0, 1.0),
            ("dctcp+cwnd_floor=30", Some(1.0), sent(0), 30.0, 1.0),
            ("l2dct", Some(0.25), sent(200), 40.0 * (1.0 - 0.03125 / 2.0), 1.0),
            ("l2dct", Some(0.25), sent(600), 40.0 * (1.0 - 0.25f64.powf(1.3125) / 2.0), 0.525),
            ("l2dct", Some(0.25), sent(1_000), 40.0 * (1.0 - 0.840_896_415_253_714_6 / 2.0), 0.05),
            ("l2dct+profile=srpt", Some(0.25), ending, 40.0 * (1.0 - 0.03125 / 2.0), 1.0),
            ("l2dct+profile=ps", Some(0.25), sent(1_000), 35.0, 1.0),
            ("xdctcp", Some(0.25), of(Role::Short, 5_000), 37.0, 1.0),
            ("xdctcp", Some(0.25), of(Role::Long, 0), 30.0, 1.0),
            ("xdctcp", Some(0.25), of(Role::Unknown, 999), 37.0, 1.0),
            ("xdctcp", Some(0.25), of(Role::Unknown, 1_000), 30.0, 1.0),
            ("xdctcp+classify=bytes", Some(0.25), of(Role::Short, 1_000), 30.0, 1.0),
            ("atcp", None, sent(10_000), 20.0, 3.0),
            ("atcp+base=dctcp", Some(0.25), sent(10_001), 35.0, 1.0),
            (general, None, sent(5_000), 20.0, 2.5),
            (ratios, None, sent(5_000), 20.0, 2.0),
            ("d2tcp", Some(0.25), sent(0), 35.0, 1.0),
            ("d2tcp", Some(0.25), backlogged, 35.0, 1.0),
            ("d2tcp", Some(0.25), expired, 35.0, 1.0),
            ("d2tcp+expired=2", Some(0.25), expired, 38.75, 1.0),
        ] {
            let set = format!("{law}+initial_alpha={}", alpha.unwrap_or(0.25));
            let mut transport = TransportConfig::parse(&set).unwrap().start();
            assert_eq!(transport.alpha(Instant::ZERO), alpha, "{law}");
            assert_eq!(transport.reads_flow(), ["l2dct", "atcp"].iter().any(|name| law.starts_with(name)));
            close(left(&mut transport, 40.0, Cause::EcnEcho, &flow).cwnd, window);
            let mut grown = Window { cwnd: 40.0, ssthresh: 40.0 };
            transport.on_ack(&mut grown, &AckSample { flow, ..ack(false) });
            close((grown.cwnd - 40.0) * 40.0, step);
        }
    }

    /// Both windows are equal bit for bit after ten windows of ten ACKs, the first ACK of each marked.
    #[test]
    fn atcp_of_unit_weights_is_its_base() {
        for (atcp, base) in [("atcp+w_high=1", "newreno"), ("atcp+w_high=1+base=dctcp", "dctcp")] {
            let [atcp, base] = [atcp, base].map(|law| {
                let mut transport = TransportConfig::parse(law).unwrap().start();
                let mut window = Window { cwnd: 40.0, ssthresh: 40.0 };
                for number in 1..=100 {
                    let ece = number % 10 == 1;
                    let of = AckSample { snd_una: number, snd_nxt: number + 10, ..ack(ece) };
                    transport.on_ack(&mut window, &of);
                    if ece {
                        transport.on_congestion(&mut window, Cause::EcnEcho, &of.flow);
                    }
                }
                window
            });
            assert_eq!(atcp, base);
        }
    }
}
