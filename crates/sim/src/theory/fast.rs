//! How many flows a buffer holds — Hwang, Yoo, "FaST", TIIS 2014, §3, Eqs. 4–7; and Eq. 10.
//!
//! | symbol | here |
//! |---|---|
//! | C × RTT | [`Bottleneck::bdp`] |
//! | K, B, MSS | [`Bottleneck::threshold`], [`Bottleneck::buffer`], [`Bottleneck::mss`] |
//! | W*, N*, N*max | [`Bottleneck::critical_window`], [`Bottleneck::flows_at_minimum`], [`Bottleneck::most_flows`] |

/// A bottleneck that N flows share. All in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bottleneck {
    /// Bandwidth–delay product.
    pub bdp: f64,
    /// Marking threshold.
    pub threshold: f64,
    /// Switch buffer.
    pub buffer: f64,
    /// Segment size.
    pub mss: f64,
}

impl Bottleneck {
    /// Eq. 4: the window, in segments, at which the queue of `flows` synchronized flows reaches K.
    pub fn critical_window(&self, flows: f64) -> f64 {
        (self.bdp + self.threshold) / (flows * self.mss)
    }

    /// Eq. 5: the number of flows that brings the critical window down to `w_min` segments.
    pub fn flows_at_minimum(&self, w_min: f64) -> f64 {
        (self.bdp + self.threshold) / (w_min * self.mss)
    }

    /// Eq. 6: the sum of windows, in segments, at which the buffer is full.
    pub fn outstanding(&self) -> f64 {
        (self.bdp + self.buffer) / self.mss
    }

    /// Eq. 7: the number of flows of `w_min` segments that fill the buffer.
    pub fn most_flows(&self, w_min: f64) -> f64 {
        self.outstanding() / w_min
    }
}

/// Eq. 10, Jain's index: 1 where all are equal, 1/n where one has everything.
pub fn jain_index(throughputs: &[f64]) -> f64 {
    let sum: f64 = throughputs.iter().sum();
    let squares: f64 = throughputs.iter().map(|x| x * x).sum();
    sum * sum / (throughputs.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The paper's example: 1 Gbit/s, 100 us, K = 20 packets of 1.5 KB, B = 100 KB.
    const EXAMPLE: Bottleneck =
        Bottleneck { bdp: 12_500.0, threshold: 30_000.0, buffer: 100_000.0, mss: 1_500.0 };

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 1e-9 * expected, "{got} is not {expected}");
    }

    /// Claim `fast/eq4-critical-window`.
    #[test]
    fn ten_flows_reach_the_threshold_at_under_three_segments() {
        close(EXAMPLE.critical_window(10.0), 42.5 / 15.0);
    }

    /// Eq. 5, claim `fast/eq5-n-star`: about 14 flows.
    #[test]
    fn fourteen_flows_sit_at_two_segments() {
        close(EXAMPLE.flows_at_minimum(2.0), 42.5 / 3.0);
        close(EXAMPLE.critical_window(EXAMPLE.flows_at_minimum(2.0)), 2.0);
    }

    /// Claims `fast/eq6-outstanding` and, with Eq. 7, `fast/eq7-n-max`: 75 segments, 37.5 flows.
    #[test]
    fn thirty_seven_flows_of_two_segments_fill_the_buffer() {
        close(EXAMPLE.outstanding(), 75.0);
        close(EXAMPLE.most_flows(2.0), 37.5);
        close(EXAMPLE.most_flows(2.0) * 2.0 * EXAMPLE.mss, EXAMPLE.bdp + EXAMPLE.buffer);
    }

    /// Claim `fast/eq10-jain-index`.
    #[test]
    fn jain_index_of_worked_examples() {
        close(jain_index(&[7.0; 5]), 1.0);
        close(jain_index(&[1.0, 0.0, 0.0, 0.0]), 0.25);
        close(jain_index(&[1.0, 2.0]), 0.9);
    }

    proptest! {
        /// Claim `fast/eq10-jain-index`: between 1/n and 1, whatever the unit.
        #[test]
        fn jain_index_has_no_unit(x in prop::collection::vec(0.1f64..100.0, 1..50), unit in 0.01f64..100.0) {
            let index = jain_index(&x);
            prop_assert!(index <= 1.0 + 1e-12 && index >= 1.0 / x.len() as f64 - 1e-12);
            let scaled: Vec<f64> = x.iter().map(|x| x * unit).collect();
            prop_assert!((jain_index(&scaled) - index).abs() < 1e-9);
        }
    }
}
