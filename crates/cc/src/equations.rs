//! The papers' equations with worked numbers, one module per paper: `cargo test -p shortflow-cc equations::l2dct`.

use crate::sample::tests::{ack, close, first_window, flow, left};
use crate::{AckSample, Cause, CongestionControl, FlowView, Role, Transport, TransportConfig, Window};
use shortflow_units::{Bytes, Instant};

/// A law on a new connection.
fn law(text: &str) -> Transport {
    TransportConfig::parse(text).unwrap().start()
}

/// A flow that has sent this many kilobytes.
fn sent(kilobytes: u64) -> FlowView {
    FlowView { sent: Bytes::new(kilobytes * 1_000), ..flow(40) }
}

/// Window after a mark at `cwnd` segments.
fn cut(text: &str, cwnd: f64, flow: &FlowView) -> f64 {
    left(&mut law(text), cwnd, Cause::EcnEcho, flow).cwnd
}

/// Segments that 45 unmarked ACKs add to a window of 45.
fn grown(text: &str, flow: FlowView) -> f64 {
    let mut law = law(text);
    let mut window = Window { cwnd: 45.0, ssthresh: 45.0 };
    (0..45).for_each(|_| law.on_ack(&mut window, &AckSample { flow, ..ack(false) }));
    window.cwnd - 45.0
}

/// Segments that one unmarked ACK adds to a window of 45, times 45.
fn step(text: &str, flow: FlowView) -> f64 {
    let mut law = law(text);
    let mut window = Window { cwnd: 45.0, ssthresh: 45.0 };
    law.on_ack(&mut window, &AckSample { flow, ..ack(false) });
    (window.cwnd - 45.0) * 45.0
}

/// Alpha after each window of ten ACKs, of which `marked` are marked.
fn alphas(text: &str, marked: &[u64]) -> Vec<f64> {
    let mut law = law(text);
    let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
    let mut acked = 0;
    let mut one = |round: u64, ece: bool| {
        acked += 1;
        let sample = AckSample { snd_una: acked, snd_nxt: (round + 1) * 10, ..ack(ece) };
        law.on_ack(&mut window, &sample);
        law.alpha(Instant::ZERO).unwrap()
    };
    // The ACK of the last byte still belongs to its window; the next ACK closes the window.
    one(0, false);
    let of_windows = marked.iter().zip(1..);
    of_windows.map(|(&marked, round)| (0..10).map(|n| one(round, n < marked)).last().unwrap()).collect()
}

fn all_close(measured: &[f64], expected: &[f64]) {
    assert_eq!(measured.len(), expected.len());
    measured.iter().zip(expected).for_each(|(&measured, &expected)| close(measured, expected));
}

mod l2dct {
    use super::*;

    /// α ← (1 − g) α + g F with g = 1/16.
    #[test]
    fn alpha_of_sec_2a() {
        let half = [5, 5].map(|_| 5);
        all_close(&alphas("l2dct+initial_alpha=0", &half), &[0.031_25, 0.060_546_875]);
        close(alphas("l2dct+initial_alpha=0", &[10; 10])[9], 1.0 - (15.0f64 / 16.0).powi(10));
    }

    /// k = w_c / w_max: from 1 to 0.05, by the weights of Sec. III (2.5 to 200 KB, 1.3125 at 600 KB, 0.125 from 1 MB).
    #[test]
    fn eq_1_growth() {
        for (kilobytes, k) in [(0, 1.0), (200, 1.0), (600, 0.525), (1_000, 0.05), (10_000, 0.05)] {
            close(step("l2dct", sent(kilobytes)), k);
        }
    }

    /// b = α^w_c and cwnd ← cwnd (1 − b/2): at α = 1/4 from 40 segments.
    #[test]
    fn eqs_2_and_3_decrease() {
        for (weight, window) in [(0.5, 30.0), (1.0, 35.0), (1.5, 37.5), (2.0, 38.75), (2.5, 39.375)] {
            let of = format!("l2dct+w_max={weight}+w_min={weight}+initial_alpha=0.25");
            close(cut(&of, 40.0, &sent(0)), window);
        }
        close(cut("l2dct+initial_alpha=0.25", 40.0, &sent(1_000)), 40.0 * (1.0 - 0.25f64.powf(0.125) / 2.0));
    }

    /// cwnd ← cwnd + k per round trip: 45 ACKs add nearly one segment, or 0.05 segments after 1 MB.
    #[test]
    fn eq_4_increase() {
        let (fresh, long) = (grown("l2dct", sent(0)), grown("l2dct", sent(2_000)));
        assert!((0.98..1.0).contains(&fresh) && (0.0499..0.05).contains(&long), "{fresh} {long}");
    }

    /// With every weight, α = 1 halves the window and α = 0 does not change it (Sec. II-A).
    #[test]
    fn extremes_of_alpha() {
        for kilobytes in [0, 600, 2_000] {
            assert_eq!(cut("l2dct+initial_alpha=1", 40.0, &sent(kilobytes)), 20.0);
            assert_eq!(cut("l2dct+initial_alpha=0", 40.0, &sent(kilobytes)), 40.0);
        }
    }

    /// b over α is concave for weights below 1 and convex for weights above 1 (Fig. 2): at α = 1/2, b is above or
    /// below 1/2.
    #[test]
    fn fig_2_shape() {
        for (weight, above) in [(0.125, true), (0.5, true), (1.5, false), (2.5, false)] {
            let of = format!("l2dct+w_max={weight}+w_min={weight}+initial_alpha=0.5");
            let penalty = 2.0 * (1.0 - cut(&of, 40.0, &sent(0)) / 40.0);
            assert_eq!(penalty > 0.5, above, "{weight}");
        }
    }
}

mod xdctcp {
    use super::*;

    fn of(role: Role) -> FlowView {
        FlowView { role, ..flow(40) }
    }

    #[test]
    fn eq_1_alpha() {
        all_close(&alphas("xdctcp+initial_alpha=0", &[10, 0, 3]), &[0.09, 0.0819, 0.101_529]);
        all_close(&alphas("dctcp+initial_alpha=0", &[10, 0, 3]), &[0.0625, 0.058_593_75, 0.073_681_640_625]);
    }

    #[test]
    fn eq_2_dctcp_decrease() {
        for (alpha, window) in [(0.2, 18.0), (0.8, 12.0), (1.0, 10.0)] {
            close(cut(&format!("dctcp+initial_alpha={alpha}"), 20.0, &of(Role::Long)), window);
        }
    }

    /// Windows after a mark at 20 segments and α = 0.8, for three values of one factor.
    fn decreases(factor: &str, role: Role, windows: [(f64, f64); 3]) {
        for (value, window) in windows {
            close(cut(&format!("xdctcp+initial_alpha=0.8+{factor}={value}"), 20.0, &of(role)), window);
        }
    }

    /// Short flows and queries have the same role.
    #[test]
    fn eq_3_short_decrease() {
        decreases("ns", Role::Short, [(0.1, 18.4), (0.3, 15.2), (0.5, 12.0)]);
    }

    #[test]
    fn eq_4_long_decrease() {
        decreases("nl", Role::Long, [(0.5, 12.0), (0.8, 7.2), (1.0, 4.0)]);
    }

    /// Sec. III-B: 0.1 ≤ ns ≤ 0.5 ≤ nl ≤ 1.
    #[test]
    fn factors_keep_their_order() {
        for (text, fine) in [("ns=0.5+nl=0.5", true), ("ns=0.6", false), ("nl=0.4", false), ("nl=1.1", false)]
        {
            assert_eq!(TransportConfig::parse(&format!("xdctcp+{text}")).is_ok(), fine, "{text}");
        }
    }
}

mod atcp {
    use super::*;

    const GENERAL: &str = "atcp+w_high=4+t1=1MB+t2=9MB";

    /// W = 3 up to 10 MB, and 1 above (Sec. V-C).
    #[test]
    fn weight_of_two_levels() {
        for (kilobytes, weight) in [(0, 3.0), (10_000, 3.0), (10_001, 1.0), (1_000_000, 1.0)] {
            close(step("atcp", sent(kilobytes)), weight);
        }
    }

    /// W' between T1 and T2: a line, or an exponential.
    #[test]
    fn weight_of_three_parts() {
        for (kilobytes, line, ratios) in
            [(1_000, 4.0, 4.0), (3_000, 3.25, 4.0 / 2.0f64.sqrt()), (5_000, 2.5, 2.0), (9_000, 1.0, 1.0)]
        {
            close(step(GENERAL, sent(kilobytes)), line);
            close(step(&format!("{GENERAL}+middle=exponential"), sent(kilobytes)), ratios);
        }
    }

    /// A medium and a large flow add W_H + W_L segments a round trip (Sec. VII-A).
    #[test]
    fn sum_of_increments() {
        close(step("atcp", sent(1_000)) + step("atcp", sent(20_000)), 4.0);
    }
}

mod fast {
    use super::*;

    const MSS: Bytes = Bytes::new(1460);
    const PAST: &str = "fast+probes=0";

    /// F counts ACKs, not bytes: one marked ACK of 100 bytes and three unmarked ACKs of 1,460 bytes give 1/4.
    #[test]
    fn eq_1_marked_fraction() {
        let mut law = law("fast+probes=0+g=1");
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
        for (snd_una, bytes, ece) in
            [(1, 1460, false), (2, 100, true), (3, 1460, false), (4, 1460, false), (5, 1460, false)]
        {
            let snd_nxt = if snd_una == 1 { 4 } else { 8 };
            law.on_ack(&mut window, &AckSample { acked: Bytes::new(bytes), snd_una, snd_nxt, ..ack(ece) });
        }
        assert_eq!(law.alpha(Instant::ZERO), Some(0.25));
    }

    #[test]
    fn eq_2_alpha() {
        all_close(
            &alphas("fast+probes=0+initial_alpha=0", &[10, 0, 3]),
            &[0.0625, 0.058_593_75, 0.073_681_640_625],
        );
    }

    /// DCTCP leaves at least two segments.
    #[test]
    fn eq_3_dctcp_decrease() {
        for (cwnd, window) in [(10.0, 6.0), (3.0, 2.0), (2.0, 2.0)] {
            close(cut("dctcp+initial_alpha=0.8", cwnd, &flow(40)), window);
        }
    }

    /// vwnd ← vwnd (1 − α/2), also below two segments.
    #[test]
    fn eq_8_virtual_window() {
        for (vwnd, alpha, window) in [(10.0, 1.0, 5.0), (2.0, 0.5, 1.5), (1.5, 0.8, 0.9), (0.8, 1.0, 0.4)] {
            close(cut(&format!("{PAST}+initial_alpha={alpha}"), vwnd, &flow(40)), window);
        }
    }

    /// Eq. 9 and Algorithm 1, l. 15: a window below one segment reduces the segment. One round trip may send the
    /// window, and at least one segment.
    #[test]
    fn eq_9_segments_and_rounds() {
        let law = law(PAST);
        for (vwnd, bytes, round) in [
            (0.01, 100, 100),
            (0.5, 730, 730),
            (0.75, 1095, 1095),
            (1.0, 1460, 1460),
            (1.5, 1460, 2190),
            (7.25, 1460, 10_585),
        ] {
            let window = Window { cwnd: vwnd, ssthresh: 2.0 };
            let found = (law.segment_size(&window, MSS, Bytes::MAX), law.window_bytes(&window, MSS));
            assert_eq!(found, (Bytes::new(bytes), Bytes::new(round)), "{vwnd}");
        }
    }

    /// Algorithm 1, l. 1–7: three probes of half a segment, then a window of two whole segments.
    #[test]
    fn algorithm_1_probes() {
        let mut law = law("fast");
        let mut window = Window { cwnd: first_window(&mut law, 10.0), ssthresh: f64::INFINITY };
        let sizes = [(); 4].map(|()| {
            let size = law.segment_size(&window, MSS, Bytes::MAX).get();
            law.on_ack(&mut window, &ack(false));
            size
        });
        assert_eq!(sizes, [730, 730, 730, 1460]);
    }

    /// At two segments and above, FaST behaves like DCTCP (Sec. 4).
    #[test]
    fn from_two_segments_on_fast_is_dctcp() {
        let windows = [PAST, "dctcp"].map(|text| {
            let mut law = law(text);
            let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
            for ece in [false, true, false, false, true, false] {
                law.on_ack(&mut window, &ack(ece));
                if ece {
                    law.on_congestion(&mut window, Cause::EcnEcho, &flow(10));
                }
            }
            window.cwnd
        });
        assert_eq!(windows[0], windows[1]);
        assert!(2.0 < windows[0] && windows[0] < 10.0, "{}", windows[0]);
    }
}
