//! DCTCP — \[DCTCP10\] Alizadeh et al., SIGCOMM 2010, §3; RFC 8257.
//!
//! | symbol | here |
//! |---|---|
//! | α | [`crate::MarkFraction::alpha`] |
//! | g | [`Params::g`] |
//! | F | marked bytes over acknowledged bytes of one window, in [`crate::MarkFraction`] |
//! | K | the queue's `mark_above` |
//!
//! Values that the paper leaves open:
//! - α starts at 1, as in RFC 8257 §3.3 and Linux. The papers' ns-2 code starts at 0: set `initial_alpha`.
//! - A mark leaves at least two segments in cwnd, as in RFC 8257 and Linux. The paper's Fig. 17 is only met with this
//!   floor. ns-2 leaves at least one: set `cwnd_floor`.

use crate::{ByMarks, Common, Ecn, FlowView, Host, MarkLaw, Recovery, TransportInfo};
use shortflow_spec::keys;

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "dctcp",
    summary: "reduces the window in proportion to the fraction of marked packets",
    source: "DCTCP, SIGCOMM 2010; RFC 8257",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Exact,
    fills_link: true,
    ecn_monotone: true,
};

keys! {
    /// DCTCP's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// weight of the newest window in alpha
        pub g: f64 = "0.0625", 0.0..=1.0, acts: alpha_counts;
        /// alpha before the first window has been acknowledged
        pub initial_alpha: f64 = "1", 0.0..=1.0, acts: alpha_counts;
        /// smallest window after a decrease for ECN, in segments
        pub cwnd_floor: f64 = "2", 1.0..=100.0, acts: marks;
    }
}

/// DCTCP on a connection.
pub(crate) type Dctcp = ByMarks<Params>;

impl MarkLaw for Params {
    fn common(&self) -> Common {
        Common { g: self.g, initial_alpha: self.initial_alpha, cwnd_floor: self.cwnd_floor }
    }

    fn factor(&self, alpha: f64, _: f64, _: &FlowView) -> f64 {
        1.0 - alpha / 2.0 // Eq. 2
    }
}
