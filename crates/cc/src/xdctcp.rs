//! xDCTCP — Nahar, Kumar, Aduri, "xDCTCP: Extended Data Center TCP", §III.
//!
//! | symbol | here |
//! |---|---|
//! | α, g, F | as in [`crate::dctcp`] |
//! | dctcp_ns_ | [`Params::ns`], for query and short flows |
//! | dctcp_nl_ | [`Params::nl`], for long flows |
//!
//! `ns` and `nl` have the ranges of §III-B, so `ns` ≤ `nl`. Only `ns` may also go below the paper's 0.1, down to 0:
//! short flows then ignore marks. `nl` = 1 is the paper's optimum.
//!
//! Deviations:
//! - D1: the authors' scripts (github.com/robertsatya/xdctcp) give each sender its class. Here the traffic has the
//!   class. A flow of a class without a role is short until it has sent `threshold` bytes, and so is every flow with
//!   `classify=bytes`. The default of 1 MB is above the longest short flow of the scripts (512 KB).
//! - D2: query flows use `ns`, as in the scripts. The paper's rule does not mention query flows.
//! - D3: a mark leaves at least two segments, as in [`crate::dctcp`]. The paper states no floor; with `nl` = 1 and α
//!   = 1 nothing would be left.
//! - D4: g = 0.09 is the paper's optimum, but exceeds the paper's own bound: Eq. 5 gives 0.080 for its setting.

use crate::{ByMarks, Common, Ecn, FlowView, Host, MarkLaw, Recovery, Role, TransportInfo};
use shortflow_spec::{keys, words};
use shortflow_units::Bytes;

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "xdctcp",
    summary: "DCTCP whose short flows back off less and whose long flows back off more",
    source: "xDCTCP, UC San Diego 2015",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Exact,
    fills_link: true,
    ecn_monotone: true,
};

words! {
    /// Rule that makes a flow short or long.
    pub enum Classification {
        /// The role of the traffic class; without a role, the bytes sent.
        Role = "role",
        /// The bytes sent.
        Bytes = "bytes",
    }
}

keys! {
    /// xDCTCP's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// share of alpha by which short flows reduce their window
        pub ns: f64 = "0.3", 0.0..=0.5, acts: marks;
        /// share of alpha by which long flows reduce their window
        pub nl: f64 = "1", 0.5..=1.0, acts: marks;
        /// rule that makes a flow short or long: role: its traffic class, or threshold for other classes; bytes:
        /// threshold
        pub classify: Classification = "role", Classification::WORDS, acts: marks;
        /// number of sent bytes from which a flow is long, unless its class decides
        pub threshold: Bytes = "1MB", Bytes::ZERO..=Bytes::MAX, acts: marks && classify == bytes || marks && unknown_role;
        /// weight of the newest window in alpha
        pub g: f64 = "0.09", 0.0..=1.0, acts: alpha_counts;
        /// alpha before the first window has been acknowledged
        pub initial_alpha: f64 = "1", 0.0..=1.0, acts: alpha_counts;
        /// smallest window after a decrease for ECN, in segments
        pub cwnd_floor: f64 = "2", 1.0..=100.0, acts: marks;
    }
}

impl Params {
    /// The share of α by which `flow` reduces its window.
    pub fn reduction(&self, flow: &FlowView) -> f64 {
        let by_bytes = if flow.sent < self.threshold { self.ns } else { self.nl };
        match (self.classify, flow.role) {
            (Classification::Role, Role::Short) => self.ns,
            (Classification::Role, Role::Long) => self.nl,
            (Classification::Role, Role::Unknown) | (Classification::Bytes, _) => by_bytes, // D1
        }
    }
}

/// xDCTCP on a connection.
pub(crate) type Xdctcp = ByMarks<Params>;

impl MarkLaw for Params {
    fn common(&self) -> Common {
        Common { g: self.g, initial_alpha: self.initial_alpha, cwnd_floor: self.cwnd_floor }
    }

    fn factor(&self, alpha: f64, _: f64, flow: &FlowView) -> f64 {
        1.0 - self.reduction(flow) * alpha // Eq. 3, Eq. 4
    }
}
