//! L2DCT — Munir et al., "Minimizing Flow Completion Times in Data Centers", INFOCOM 2013, §II.
//!
//! | symbol | here |
//! |---|---|
//! | α, g, F | as in [`crate::dctcp`] |
//! | s | [`FlowView::sent`]: bytes sent so far, without retransmissions |
//! | w_c | [`Params::weight`] |
//! | w_max, w_min | [`Params::w_max`], [`Params::w_min`] |
//! | k, b | computed where they are used, by Eq. 1 and Eq. 2 |
//!
//! w_c over s is that of §III: w_max up to `knee_low`, then linear down to w_min at `knee_high`.
//!
//! Deviations:
//! - D1: α starts at 1, as in [`crate::dctcp`]. The paper states no value, and its ns-2 code starts at 0: set
//!   `initial_alpha`.
//! - D2: `profile=ps` sets w_c = 1 *and* k = 1. §VI calls a flow with constant w_c equivalent to a DCTCP flow, but by
//!   Eq. 1 its k would be 1/w_max = 0.4.
//! - D3: s counts the bytes of one flow, so each message on a persistent connection starts with w_max.
//! - D4: slow start, losses and timeouts follow TCP, and a mark leaves at least two segments, as in [`crate::dctcp`].
//!   The paper states neither.

use crate::{ByMarks, Common, Ecn, FlowView, Host, MarkLaw, Recovery, TransportInfo};
use shortflow_spec::{keys, words};
use shortflow_units::Bytes;

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "l2dct",
    summary: "DCTCP with weights by bytes sent: short flows grow faster and back off less",
    source: "L2DCT, INFOCOM 2013",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Exact,
    fills_link: true,
    ecn_monotone: true,
};

words! {
    /// Basis of the weight (§III-E).
    pub enum Profile {
        /// Bytes sent so far (least attained service).
        Las = "las",
        /// Bytes remaining (shortest remaining processing time).
        Srpt = "srpt",
        /// No size: w_c = 1 and k = 1 for all flows (processor sharing).
        Ps = "ps",
    }
}

keys! {
    /// L2DCT's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// basis of the weight: las: bytes sent; srpt: bytes remaining; ps: none, so all flows have equal weights
        pub profile: Profile = "las", Profile::WORDS;
        /// largest weight, of a flow up to knee_low
        pub w_max: f64 = "2.5", 0.01..=100.0, acts: profile != ps;
        /// smallest weight, of a flow from knee_high on
        pub w_min: f64 = "0.125", 0.001..=100.0, acts: profile != ps;
        /// bytes sent or remaining, by profile, up to which a flow has the weight w_max
        pub knee_low: Bytes = "200KB", Bytes::ZERO..=Bytes::MAX, acts: profile != ps;
        /// bytes sent or remaining, by profile, from which a flow has the weight w_min
        pub knee_high: Bytes = "1MB", Bytes::ZERO..=Bytes::MAX, acts: profile != ps;
        /// weight of the newest window in alpha
        pub g: f64 = "0.0625", 0.0..=1.0, acts: alpha_counts;
        /// alpha before the first window has been acknowledged
        pub initial_alpha: f64 = "1", 0.0..=1.0, acts: alpha_counts;
        /// smallest window after a decrease for ECN, in segments
        pub cwnd_floor: f64 = "2", 1.0..=100.0, acts: marks;
    } in order {
        w_min <= w_max;
        knee_low <= knee_high;
    }
}

impl Params {
    /// The flow weight w_c (§III; §III-E for SRPT and PS).
    #[inline]
    pub fn weight(&self, flow: &FlowView) -> f64 {
        match self.profile {
            Profile::Las => self.weight_at(flow.sent),
            Profile::Srpt => self.weight_at(flow.remaining),
            Profile::Ps => 1.0,
        }
    }

    fn weight_at(&self, s: Bytes) -> f64 {
        if s <= self.knee_low {
            return self.w_max;
        }
        if s >= self.knee_high {
            return self.w_min;
        }
        let done = (s - self.knee_low).as_f64() / (self.knee_high - self.knee_low).as_f64();
        self.w_max - (self.w_max - self.w_min) * done
    }

    /// The back-off penalty b (Eq. 2).
    pub fn penalty(&self, alpha: f64, flow: &FlowView) -> f64 {
        libm::pow(alpha, self.weight(flow))
    }
}

/// L2DCT on a connection.
pub(crate) type L2dct = ByMarks<Params>;

impl MarkLaw for Params {
    const READS_FLOW: bool = true;

    fn common(&self) -> Common {
        Common { g: self.g, initial_alpha: self.initial_alpha, cwnd_floor: self.cwnd_floor }
    }

    /// The increase k in segments per round trip (Eq. 1).
    #[inline]
    fn increase(&self, flow: &FlowView) -> f64 {
        match self.profile {
            Profile::Ps => 1.0, // D2
            Profile::Las | Profile::Srpt => self.weight(flow) / self.w_max,
        }
    }

    fn factor(&self, alpha: f64, _: f64, flow: &FlowView) -> f64 {
        1.0 - self.penalty(alpha, flow) / 2.0 // Eq. 3
    }
}
