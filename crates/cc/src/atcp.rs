//! ATCP — Wu et al., "Adaptive Data Transmission in the Cloud", §V-C and §VI.
//!
//! | symbol | here |
//! |---|---|
//! | s | [`FlowView::sent`]: bytes sent so far, without retransmissions |
//! | W(s) | [`Params::weight_at`] |
//! | W_H, W_L | [`Params::w_high`], [`Params::w_low`] |
//! | T1, T2, T | [`Params::t1`], [`Params::t2`]; both are T by default |
//! | W′(s) | [`Middle`] |
//! | adder | 1/cwnd, in [`crate::newreno::grow`] |
//!
//! Deviations:
//! - D1: the paper does not name its base TCP; here it is NewReno. Set `recovery=sack` for SACK. The choice matters:
//!   in the recipe of Fig. 5, the windows of weights 2 and 1 settle at a mean ratio of 1.60 with NewReno and 1.87 with
//!   SACK. Theorem 1 gives 2.
//! - D2: §V-D says that the mechanism can modify other AIMD senders. With `base=dctcp` and `ecn=exact`, a mark
//!   decreases the window by α/2. Without ECN, `base` has no effect.
//! - D3: s counts the bytes of one flow, so each message on a persistent connection starts with W_H.
//! - D4: the paper leaves W′(s) open. Both forms that §V-C names are offered; they run from W_H at T1 to W_L at T2.
//! - D5: s counts each byte once. The counter of §VI grows "when the socket sends data", which includes
//!   retransmissions.

use crate::{ByMarks, Common, Ecn, FlowView, Host, MarkLaw, Recovery, TransportInfo};
use shortflow_spec::{keys, words};
use shortflow_units::Bytes;

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "atcp",
    summary: "TCP whose window grows in proportion to a weight that falls with the bytes sent",
    source: "ATCP, University of Wisconsin-Madison",
    host: Host::Tcp,
    recovery: Recovery::NewReno,
    ecn: Ecn::Off,
    fills_link: true,
    ecn_monotone: true,
};

words! {
    /// Form of W′(s) between T1 and T2.
    pub enum Middle {
        /// A straight line.
        Linear = "linear",
        /// An exponential: equal steps of s divide the weight by equal factors.
        Exponential = "exponential",
    }
}

words! {
    /// Response to a mark.
    pub enum Base {
        /// Halves the window, as a loss does.
        Tcp = "tcp",
        /// Decreases the window by α/2.
        Dctcp = "dctcp",
    }
}

keys! {
    /// ATCP's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// weight of a flow that has sent at most t1
        pub w_high: f64 = "3", 0.01..=100.0;
        /// weight of a flow that has sent more than t2
        pub w_low: f64 = "1", 0.01..=100.0;
        /// sent bytes up to which a flow has the weight w_high
        pub t1: Bytes = "10MB", Bytes::ZERO..=Bytes::MAX;
        /// sent bytes above which a flow has the weight w_low
        pub t2: Bytes = "10MB", Bytes::ZERO..=Bytes::MAX;
        /// shape of the weight between t1 and t2
        pub middle: Middle = "linear", Middle::WORDS, acts: t1 != t2;
        /// response to a mark: tcp: halve the window; dctcp: decrease it by alpha/2
        pub base: Base = "tcp", Base::WORDS, acts: alpha_counts;
        /// weight of the newest window in alpha
        pub g: f64 = "0.0625", 0.0..=1.0, acts: alpha_counts && base == dctcp;
        /// alpha before the first window has been acknowledged
        pub initial_alpha: f64 = "1", 0.0..=1.0, acts: alpha_counts && base == dctcp;
        /// smallest window after a decrease for ECN, in segments
        pub cwnd_floor: f64 = "2", 1.0..=100.0, acts: marks;
    } in order {
        w_low <= w_high;
        t1 <= t2;
    }
}

impl Params {
    /// Weight of a flow that has sent `s` bytes (§V-C, the general form).
    #[inline]
    pub fn weight_at(&self, s: Bytes) -> f64 {
        if s <= self.t1 {
            return self.w_high;
        }
        if s > self.t2 {
            return self.w_low;
        }
        let done = (s - self.t1).as_f64() / (self.t2 - self.t1).as_f64();
        match self.middle {
            Middle::Linear => self.w_high - (self.w_high - self.w_low) * done,
            Middle::Exponential => self.w_high * libm::pow(self.w_low / self.w_high, done),
        }
    }
}

/// ATCP on a connection.
pub(crate) type Atcp = ByMarks<Params>;

impl MarkLaw for Params {
    const READS_FLOW: bool = true;

    fn common(&self) -> Common {
        Common { g: self.g, initial_alpha: self.initial_alpha, cwnd_floor: self.cwnd_floor }
    }

    #[inline]
    fn increase(&self, flow: &FlowView) -> f64 {
        self.weight_at(flow.sent) // §VI: adder × weight()
    }

    fn factor(&self, alpha: f64, _: f64, _: &FlowView) -> f64 {
        if self.counts_marks() { 1.0 - alpha / 2.0 } else { 0.5 }
    }

    fn counts_marks(&self) -> bool {
        self.base == Base::Dctcp
    }
}
