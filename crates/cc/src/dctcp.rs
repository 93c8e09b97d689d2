//! DCTCP — \[DCTCP10\] Alizadeh et al., SIGCOMM 2010, §3; RFC 8257.
//!
//! | symbol | here |
//! |---|---|
//! | α | [`crate::MarkFraction::alpha`] |
//! | g | [`Params::g`] |
//! | F | marked over acknowledged bytes of one window, in [`crate::MarkFraction`] |
//! | K | the queue's `mark_above` |
//!
//! Deviations:
//! - D1: α starts at 0, as in the ns-2 code of the papers; RFC 8257 §4 and Linux start at 1. Set
//!   `initial_alpha`.
//! - D2: cwnd may fall to one segment; RFC 8257 and Linux keep two. Set `cwnd_floor`.

use crate::{ByMarks, Common, Ecn, FlowView, Host, MarkLaw, Recovery, TransportInfo};
use shortflow_spec::keys;

/// Registry entry.
pub const INFO: TransportInfo = TransportInfo {
    name: "dctcp",
    summary: "reduces the window in proportion to the fraction of marked packets",
    source: "DCTCP, SIGCOMM 2010; RFC 8257",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Exact,
};

keys! {
    /// DCTCP's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// weight of the newest window in alpha
        pub g: f64 = "0.0625", 0.0..=1.0;
        /// alpha before the first window has been acknowledged
        pub initial_alpha: f64 = "0", 0.0..=1.0;
        /// smallest window after a decrease for ECN, in segments
        pub cwnd_floor: f64 = "1", 1.0..=100.0;
    }
}

/// DCTCP on a connection.
pub type Dctcp = ByMarks<Params>;

impl MarkLaw for Params {
    fn common(&self) -> Common {
        Common { g: self.g, initial_alpha: self.initial_alpha, cwnd_floor: self.cwnd_floor }
    }

    fn factor(&self, alpha: f64, _: f64, _: &FlowView) -> f64 {
        1.0 - alpha / 2.0 // Eq. 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{ack, flow, left};
    use crate::{AckSample, Cause, CongestionControl, Window};
    use shortflow_units::{Bytes, Instant};

    /// Claims `l2dct/eq-alpha-ewma`: m fully marked windows from 0 give 1 − (15/16)^m.
    #[test]
    fn alpha_is_an_exponential_mean() {
        let mut dctcp = Dctcp::new(Params::default());
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
        for m in 1..=20 {
            dctcp.on_ack(&mut window, &ack_of_window(m, true));
            let expected = 1.0 - (15.0f64 / 16.0).powi(m as i32);
            assert!((dctcp.alpha(Instant::ZERO).unwrap() - expected).abs() < 1e-12);
        }
        assert_eq!(window.cwnd, 10.0, "marked ACKs do not open the window");
    }

    #[test]
    fn a_quarter_of_a_window_marked_counts_a_quarter() {
        let mut dctcp = Dctcp::new(Params::default());
        let mut window = Window { cwnd: 4.0, ssthresh: 4.0 };
        for (snd_una, ece) in [(1, false), (1460, true), (2920, false), (4380, false), (5840, false)] {
            let sample = AckSample { snd_una, snd_nxt: 5000, ..ack(ece) };
            dctcp.on_ack(&mut window, &sample);
        }
        assert!((dctcp.alpha(Instant::ZERO).unwrap() - 0.25 / 16.0).abs() < 1e-12);
    }

    /// Claims `xdctcp/eq2-dctcp-cut` and `fast/eq3-dctcp-cut`: half of alpha, down to the floor. A loss takes half
    /// of the flight.
    #[test]
    fn the_cut_is_half_of_alpha() {
        for (initial_alpha, cwnd_floor, cwnd, cut) in
            [(0.5, 1.0, 40.0, 30.0), (1.0, 2.0, 10.0, 5.0), (1.0, 2.0, 3.0, 2.0), (1.0, 2.0, 2.0, 2.0)]
        {
            let mut dctcp = Dctcp::new(Params { initial_alpha, cwnd_floor, ..Params::default() });
            let ssthresh = f64::max(cut, 2.0);
            assert_eq!(left(&mut dctcp, cwnd, Cause::EcnEcho, &flow(40)), Window { cwnd: cut, ssthresh });
            assert_eq!(left(&mut dctcp, cwnd, Cause::FastRetransmit, &flow(40)).cwnd, 20.0);
        }
    }

    fn ack_of_window(m: u64, ece: bool) -> AckSample {
        AckSample { acked: Bytes::new(1460), snd_una: 1460 * m, snd_nxt: 1460 * m, ..ack(ece) }
    }
}
