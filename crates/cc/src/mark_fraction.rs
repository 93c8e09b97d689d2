//! The congestion estimate of DCTCP, and [`ByMarks`]: the part that laws built on it share.

use crate::newreno::{grow, multiplicative_decrease, on_loss};
use crate::{AckSample, Cause, CongestionControl, FlowView, Window};
use shortflow_units::{Bytes, Instant};

/// Counts acknowledged and marked bytes over one window of data (RFC 8257 §3.3 steps 1–8).
///
/// Deviation: bytes, as in the RFC; the papers count packets. With full segments both are equal.
#[derive(Debug, Clone, Copy)]
pub struct MarkFraction {
    /// Congestion estimate, from 0 (no marks) to 1 (all marked).
    pub alpha: f64,
    window_end: u64,
    acked: Bytes,
    marked: Bytes,
}

impl MarkFraction {
    /// An estimate that starts at `initial_alpha`.
    pub fn new(initial_alpha: f64) -> Self {
        MarkFraction { alpha: initial_alpha, window_end: 0, acked: Bytes::ZERO, marked: Bytes::ZERO }
    }

    /// Accounts for one ACK; at the end of a window of data updates alpha with gain `g`.
    #[inline(always)]
    pub fn on_ack(&mut self, ack: &AckSample, g: f64) {
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

/// The equations of a law that cuts by alpha. Growth and loss are RFC 5681's.
pub trait MarkLaw {
    /// True if [`MarkLaw::increase`] reads the flow.
    const READS_FLOW: bool = false;

    /// The law's values.
    fn common(&self) -> Common;

    /// Segments per round trip by which the window grows.
    #[inline(always)]
    fn increase(&self, _: &FlowView) -> f64 {
        1.0
    }

    /// Factor of a decrease of `cwnd` segments.
    fn factor(&self, alpha: f64, cwnd: f64, flow: &FlowView) -> f64;

    /// False if alpha is not used.
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
    use crate::sample::tests::ack;

    /// RFC 8257 §3.3 step 3: the ACK of the last byte of a window still belongs to it; the next one, beyond, ends
    /// it. Both are marked, so F = 1 and alpha moves from 0 to g.
    #[test]
    fn a_window_of_data_ends_beyond_its_last_byte() {
        let mut marks = MarkFraction::new(0.0);
        let alphas = [(1, false), (5000, true), (5001, true)].map(|(snd_una, ece)| {
            marks.on_ack(&AckSample { snd_una, snd_nxt: 5000, ..ack(ece) }, 0.25);
            marks.alpha
        });
        assert_eq!(alphas, [0.0, 0.0, 0.25]);
    }
}
