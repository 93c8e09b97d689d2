//! FaST — Hwang, Yoo, "FaST: Fine-grained and Scalable TCP for Cloud Data Center Networks", TIIS 2014, §4, Algorithm
//! 1.
//!
//! | symbol | here |
//! |---|---|
//! | vwnd | [`Window::cwnd`], which may fall below one segment |
//! | W_min | [`Params::w_min`] |
//! | SegmentSize | [`CongestionControl::segment_size`] |
//! | limit | [`CongestionControl::window_bytes`] |
//! | m | [`Params::probes`] |
//! | α, g | as in [`crate::dctcp`] |
//! | F | marked ACKs over all ACKs of one window, as printed in Eq. 1 |
//!
//! Deviations:
//! - D1: α starts at 1; the paper states no value. From 0, vwnd needs seven marked round trips to fall below one
//!   segment, longer than a flow of 10 KB lives. Set `initial_alpha`.
//! - D2: the smallest segment is 100 bytes; the paper prints 100 Kbytes. vwnd does not fall below this segment.
//! - D3: "in each round" (Algorithm 1, l. 15–16) is taken as a limit on the bytes in flight, so the sender sends one
//!   probe per round trip. `probing=together` sends all probes at once. At 1 ≤ vwnd < W_min, a shorter segment fills
//!   the rest of the limit, unless the rest is below the smallest segment. With `nagle=true` the rest always stays
//!   empty.
//! - D4: Eq. 8 applies once per window of data, as in DCTCP. With `cut=ack` it applies to each marked ACK, as l. 9
//!   reads. Neither applies during probing, where lines 1–3 fix vwnd: a mark then ends slow start and counts in α.
//! - D5: below W_min, vwnd gains one segment per unmarked round trip; the paper states no growth. The gain is
//!   proportional to the acknowledged bytes, because segment sizes vary. `regrowth=tcp` adds the acknowledged bytes,
//!   as slow start does.
//! - D6: a timeout ends probing and leaves vwnd = 1. Fast retransmit does not change a vwnd below W_min. With
//!   `loss_floor=tcp` it sets at least two segments, as RFC 5681 does.
//! - D7: losses are repaired with SACK. The only recovery that the paper names is NewReno, for its baseline: set
//!   `recovery=newreno`.

use crate::newreno::{grow, multiplicative_decrease, on_loss};
use crate::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, Host, MarkFraction, Opening, Recovery, TransportInfo,
    Window,
};
use shortflow_spec::{Flag, keys, words};
use shortflow_units::{Bytes, Instant};

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "fast",
    summary: "DCTCP whose window may fall below one segment, by sending smaller segments",
    source: "FaST, KSII TIIS 2014",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Exact,
    fills_link: true,
    ecn_monotone: false, // the last probe's ACK sets the window, marked or not (FaST, Algorithm 1, l. 5-7)
};

/// vwnd while probing (Algorithm 1, l. 2).
const PROBE_WINDOW: f64 = 0.5;

words! {
    /// Timing of the probes (D3).
    pub enum Probing {
        /// One per round trip.
        Apart = "apart",
        /// All at once.
        Together = "together",
    }
}

words! {
    /// Frequency of Eq. 8 (D4).
    pub enum DecreasePer {
        /// Once per window of data.
        Window = "window",
        /// Each marked ACK.
        Ack = "ack",
    }
}

words! {
    /// Growth of a vwnd below W_min (D5).
    pub enum Regrowth {
        /// One segment per round trip.
        Segment = "segment",
        /// The acknowledged bytes, as in slow start.
        Tcp = "tcp",
    }
}

words! {
    /// Response of a vwnd below W_min to fast retransmit (D6).
    pub enum LossFloor {
        /// vwnd stays.
        Vwnd = "vwnd",
        /// vwnd becomes ssthresh, which is at least two segments.
        Tcp = "tcp",
    }
}

keys! {
    /// FaST's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// number of probes, data packets of half a segment, that a connection sends first
        pub probes: u32 = "3", 0..=3u32;
        /// window after probing, in segments; smaller windows limit the bytes of each round trip
        pub w_min: f64 = "2", 1.0..=100.0;
        /// smallest payload of a segment
        pub min_segment: Bytes = "100B", Bytes::new(1)..=Bytes::new(65_000);
        /// wait until the window has room for a whole segment, instead of sending a shorter segment
        pub nagle: bool = "false", Flag;
        /// weight of the newest window in alpha
        pub g: f64 = "0.0625", 0.0..=1.0, acts: alpha_counts;
        /// alpha before the first window has been acknowledged
        pub initial_alpha: f64 = "1", 0.0..=1.0, acts: alpha_counts;
        /// timing of the probes: apart: one per round trip; together: all at once
        pub probing: Probing = "apart", Probing::WORDS, acts: probes > 1;
        /// decreases by marks: window: at most one per window of data; ack: one per marked ACK
        pub cut: DecreasePer = "window", DecreasePer::WORDS, acts: marks;
        /// growth of a window below w_min: segment: one segment per round trip; tcp: the acknowledged bytes, as in slow
        /// start
        pub regrowth: Regrowth = "segment", Regrowth::WORDS;
        /// window after a fast retransmit below w_min: vwnd: unchanged; tcp: ssthresh, which is at least two segments
        pub loss_floor: LossFloor = "vwnd", LossFloor::WORDS;
    }
}

impl Params {
    /// SegmentSize (Eq. 9).
    #[inline(never)] // keeps the code path of other laws short
    pub fn full_segment(&self, vwnd: f64, mss: Bytes) -> Bytes {
        if vwnd >= 1.0 {
            return mss;
        }
        Bytes::new((vwnd * mss.as_f64()) as u64).max(self.min_segment).min(mss)
    }
}

/// FaST's state.
#[derive(Debug, Clone)]
pub struct Fast {
    params: Params,
    marks: MarkFraction,
    probes_left: u32,
}

impl Fast {
    /// State of a new connection.
    pub fn new(params: Params) -> Self {
        Fast { params, marks: MarkFraction::new(params.initial_alpha), probes_left: params.probes }
    }

    fn is_probing(&self) -> bool {
        self.probes_left > 0
    }

    /// Accounts for the ACK of a probe; the ACK of the last probe sets the window (Algorithm 1, l. 5–7).
    fn end_probe(&mut self, window: &mut Window) {
        self.probes_left -= 1;
        if !self.is_probing() {
            window.cwnd = self.params.w_min;
        }
    }

    /// Decreases vwnd (Eq. 8).
    fn decrease(&self, window: &mut Window, mss: Bytes) {
        multiplicative_decrease(window, 1.0 - self.marks.alpha / 2.0, self.floor(mss));
    }
}

impl CongestionControl for Fast {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.marks.on_ack(&AckSample { acked: Bytes::new(1), ..*ack }, self.params.g); // Eq. 1, Eq. 2
        if self.is_probing() {
            self.end_probe(window);
        } else if ack.may_grow && window.cwnd < self.params.w_min && self.params.regrowth == Regrowth::Segment
        {
            let round_trip = window.cwnd * ack.flow.mss.as_f64();
            window.cwnd += (ack.acked.as_f64() / round_trip).min(1.0); // D5
        } else if ack.may_grow {
            grow(window, ack, 1.0);
        }
        if ack.ece && self.params.cut == DecreasePer::Ack && !self.is_probing() {
            self.decrease(window, ack.flow.mss); // D4
        }
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        let vwnd = window.cwnd;
        match cause {
            Cause::EcnEcho if self.is_probing() => window.ssthresh = self.params.w_min.max(2.0), // D4
            Cause::EcnEcho if self.params.cut == DecreasePer::Ack => {}
            Cause::EcnEcho => self.decrease(window, flow.mss),
            Cause::FastRetransmit => {
                on_loss(window, cause, flow);
                if vwnd < self.params.w_min && self.params.loss_floor == LossFloor::Vwnd {
                    window.cwnd = vwnd; // D6
                }
            }
            Cause::Timeout => {
                on_loss(window, cause, flow);
                self.probes_left = 0; // D6
            }
        }
    }

    fn on_start(&mut self, window: &mut Window, _: &Opening) {
        window.cwnd = if self.is_probing() { PROBE_WINDOW } else { self.params.w_min };
    }

    #[inline]
    fn segment_size(&self, window: &Window, mss: Bytes, room: Bytes) -> Bytes {
        let full = self.params.full_segment(window.cwnd, mss);
        let fills = !self.params.nagle && window.cwnd < self.params.w_min;
        if fills && room < full && room >= self.params.min_segment { room } else { full }
    }

    #[inline]
    fn window_bytes(&self, window: &Window, mss: Bytes) -> Bytes {
        let segment = self.params.full_segment(window.cwnd, mss);
        let probes = if self.params.probing == Probing::Together { self.probes_left } else { 0 };
        Bytes::new((window.cwnd.max(1.0).max(f64::from(probes)) * segment.as_f64()) as u64) // D3
    }

    fn floor(&self, mss: Bytes) -> f64 {
        (self.params.min_segment.as_f64() / mss.as_f64()).min(PROBE_WINDOW)
    }

    fn alpha(&self, _: Instant) -> Option<f64> {
        Some(self.marks.alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{ack, first_window, flow};
    use proptest::prelude::*;

    const MSS: Bytes = Bytes::new(1460);

    fn law(params: Params) -> (Fast, Window) {
        let mut law = Fast::new(params);
        let window = Window { cwnd: first_window(&mut law, 10.0), ssthresh: f64::INFINITY };
        (law, window)
    }

    /// A law after probing, with a constant alpha of 0.5.
    fn halfway() -> Fast {
        law(Params { probes: 0, initial_alpha: 0.5, g: 0.0, ..Params::default() }).0
    }

    fn limit(law: &Fast, vwnd: f64) -> u64 {
        law.window_bytes(&Window { cwnd: vwnd, ssthresh: 2.0 }, MSS).get()
    }

    #[test]
    fn without_nagle_a_shorter_segment_fills_a_small_window() {
        let size = |law: &Fast, vwnd, room| {
            law.segment_size(&Window { cwnd: vwnd, ssthresh: 2.0 }, MSS, Bytes::new(room)).get()
        };
        let nagle = law(Params { nagle: true, ..Params::default() }).0;
        for (vwnd, room, off, on) in
            [(1.5, 730, 730, 1460), (1.5, 99, 1460, 1460), (2.0, 730, 1460, 1460), (0.5, 300, 300, 730)]
        {
            assert_eq!((size(&halfway(), vwnd, room), size(&nagle, vwnd, room)), (off, on));
        }
    }

    /// With `cut=ack`, each of two marked ACKs of one window takes a quarter of vwnd. The ECN-Echo of the window
    /// takes nothing more.
    #[test]
    fn each_marked_ack_may_decrease_the_window() {
        let mut law =
            law(Params { probes: 0, initial_alpha: 0.5, g: 0.0, cut: DecreasePer::Ack, ..Params::default() })
                .0;
        let mut window = Window { cwnd: 2.0, ssthresh: 2.0 };
        for left in [1.5, 1.125] {
            law.on_ack(&mut window, &AckSample { may_grow: false, ..ack(true) });
            law.on_congestion(&mut window, Cause::EcnEcho, &flow(1));
            assert_eq!(window.cwnd, left);
        }
    }

    #[test]
    fn probes_may_leave_together_and_small_windows_follow_tcp() {
        let (mut law, mut window) = law(Params {
            probing: Probing::Together,
            regrowth: Regrowth::Tcp,
            loss_floor: LossFloor::Tcp,
            ..Params::default()
        });
        let allowed = [2190, 1460, 730]
            .map(|bytes| (limit(&law, window.cwnd) == bytes, law.on_ack(&mut window, &ack(false))).0);
        assert_eq!((allowed, limit(&law, window.cwnd)), ([true; 3], 2920));
        window.cwnd = 0.5;
        law.on_ack(&mut window, &AckSample { acked: Bytes::new(730), ..ack(false) });
        assert_eq!(window.cwnd, 1.0);
        law.on_congestion(&mut window, Cause::FastRetransmit, &flow(4));
        assert_eq!(window.cwnd, 2.0);
    }

    proptest! {
        /// A segment always fits into an empty window, so no flow waits forever.
        #[test]
        fn a_segment_fits_into_an_empty_window(vwnd in 0.0001f64..3.0, mss in 1u64..9000) {
            let (law, mss) = (halfway(), Bytes::new(mss));
            let window = Window { cwnd: vwnd, ssthresh: 2.0 };
            let limit = law.window_bytes(&window, mss);
            let segment = law.segment_size(&window, mss, limit);
            prop_assert!(Bytes::ZERO < segment && segment <= limit && segment <= mss);
        }
    }
}
