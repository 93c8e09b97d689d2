//! Weighted TCP as a fluid — Wu et al., "Adaptive Data Transmission in the Cloud", §V-A, §V-B, §VII-A.
//!
//! | symbol | here |
//! |---|---|
//! | a, b | [`Weights::a`], [`Weights::b`] |
//! | S | [`capacity`] |
//! | T′ | `rtt` |
//! | w_j | window at the j-th congestion event |
//! | R | ratio of the weights, `ratio` |
//!
//! Deviation D1: the text says that the network holds C × T + B and then prints S = C × T; the
//! recursion needs the former.

/// Weights of two flows that compete in congestion avoidance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Segments per round trip of the first flow.
    pub a: f64,
    /// Segments per round trip of the second.
    pub b: f64,
}

/// What pipe and buffers hold, S = C T + B, in segments.
pub fn capacity(bdp: f64, buffer: f64) -> f64 {
    bdp + buffer // D1
}

impl Weights {
    /// The same two flows, the second first.
    pub fn swapped(self) -> Weights {
        Weights { a: self.b, b: self.a }
    }

    /// The share of the first flow, a / (a + b).
    pub fn share(self) -> f64 {
        self.a / (self.a + self.b)
    }

    /// The first flow's window at the next congestion event, after one at `window` that halved both.
    pub fn next_window(self, window: f64, capacity: f64) -> f64 {
        0.5 * window + 0.5 * capacity * self.share()
    }

    /// The first flow's window at congestion events in the limit (Theorem 1).
    pub fn limit_window(self, capacity: f64) -> f64 {
        capacity * self.share()
    }

    /// The first flow's rate in the limit, in segments per second, just before a loss (Theorem 1).
    pub fn limit_rate(self, capacity: f64, rtt: f64) -> f64 {
        capacity / rtt * self.share()
    }

    /// Segments that both windows gain per round trip (§VII-A).
    pub fn step(self) -> f64 {
        self.a + self.b
    }
}

/// A large flow, and a small one that lives within it, on a link of rate `link` (Theorem 2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nested {
    /// Rate of the link.
    pub link: f64,
    /// Size of the large flow, S₁.
    pub large: f64,
    /// Size of the small flow, S₂.
    pub small: f64,
}

impl Nested {
    /// Completion time of the small flow at rate `rate`: S₂ / R₂.
    pub fn small_time(&self, rate: f64) -> f64 {
        self.small / rate
    }

    /// Completion time of the large flow, whatever the small one's rate: (S₁ + S₂) / C.
    pub fn large_time(&self) -> f64 {
        (self.large + self.small) / self.link
    }

    /// Mean completion time with the small flow at rate `rate`.
    pub fn mean_time(&self, rate: f64) -> f64 {
        (self.small_time(rate) + self.large_time()) / 2.0
    }
}

/// Rate of a medium flow with `ratio` times the weight of the one large flow that it meets: C R/(R + 1).
pub fn share(link: f64, ratio: f64) -> f64 {
    link * ratio / (ratio + 1.0)
}

/// Its completion time: (S/C)(1 + 1/R).
pub fn completion(size: f64, link: f64, ratio: f64) -> f64 {
    size / link * (1.0 + 1.0 / ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 1e-9 * expected.abs(), "{got} is not {expected}");
    }

    proptest! {
        /// Claims `atcp/thm1-ratio` and `atcp/thm1-recursion`: from any start the distance to the limit
        /// halves at each event, and the ratio of the windows tends to a : b.
        #[test]
        fn windows_converge_to_the_ratio_of_the_weights(
            a in 0.1f64..10.0, b in 0.1f64..10.0, start in 0.0f64..=1.0, hold in 10.0f64..1e4
        ) {
            let (first, second) = (Weights { a, b }, Weights { a, b }.swapped());
            let mut windows = [start * hold, (1.0 - start) * hold];
            for _ in 0..60 {
                let distance = windows[0] - first.limit_window(hold);
                windows = [first.next_window(windows[0], hold), second.next_window(windows[1], hold)];
                prop_assert!((windows[0] - first.limit_window(hold) - 0.5 * distance).abs() < 1e-9 * hold);
                prop_assert!((windows[0] + windows[1] - hold).abs() < 1e-9 * hold);
            }
            prop_assert!((windows[0] / windows[1] / (a / b) - 1.0).abs() < 1e-9);
        }
    }

    /// Claim `atcp/thm1-recursion`: seven events bring the error below one percent.
    #[test]
    fn seven_events_are_enough() {
        let weights = Weights { a: 2.0, b: 1.0 };
        let last = (0..7).fold(0.0, |window, _| weights.next_window(window, 102.0));
        assert!((last / weights.limit_window(102.0) - 1.0).abs() < 0.01);
    }

    /// Claim `atcp/thm1-rates`: 2 segments in the pipe and 100 in the buffer, 12 ms round trips.
    #[test]
    fn rates_share_pipe_and_buffer_by_weight() {
        let (weights, hold) = (Weights { a: 1.0, b: 2.0 }, capacity(2.0, 100.0));
        close(weights.limit_rate(hold, 0.012), 8_500.0 / 3.0);
        close(weights.swapped().limit_rate(hold, 0.012), 17_000.0 / 3.0);
    }

    /// Finish times of the small and the large flow, stretch by stretch: the large one has the link from 0
    /// until the small one starts, what is left of it until that is done, and then all of it again.
    fn finish_times(flows: &Nested, start: f64, rate: f64) -> [f64; 2] {
        let small_done = start + flows.small / rate;
        let left_at_start = flows.large - flows.link * start;
        let left_then = left_at_start - (flows.link - rate) * (small_done - start);
        assert!(left_then > 0.0, "the large flow outlives the small one");
        [small_done, small_done + left_then / flows.link]
    }

    /// Claim `atcp/thm2-afct-lower`: 100 MB, and from 2 s on 10 MB, at 12.5 MB/s; 2/3 instead of 1/2 of the
    /// link for the small flow takes it from 1.6 s to 1.2 s, and the large one ends when it did.
    #[test]
    fn helping_the_nested_flow_costs_the_large_one_nothing() {
        let flows = Nested { link: 12.5, large: 100.0, small: 10.0 };
        for (rate, small, large) in [(12.5 / 2.0, 1.6, 8.8), (share(12.5, 2.0), 1.2, 8.8)] {
            let [small_end, large_end] = finish_times(&flows, 2.0, rate);
            close(small_end - 2.0, small);
            close(large_end, large);
            close(flows.small_time(rate), small);
            close(flows.large_time(), large_end);
            close(flows.mean_time(rate), (small + large) / 2.0);
        }
    }

    /// Claim `atcp/sec7a-share-formula`.
    #[test]
    fn completion_falls_fast_and_then_slowly_with_the_ratio() {
        for (ratio, factor) in [(1.0, 2.0), (2.0, 1.5), (3.0, 4.0 / 3.0), (4.0, 1.25), (5.0, 1.2)] {
            close(completion(10.0, 12.5, ratio), 0.8 * factor);
            close(10.0 / share(12.5, ratio), completion(10.0, 12.5, ratio));
        }
    }

    /// Claim `atcp/sec7a-sum-increment`.
    #[test]
    fn the_sum_of_windows_grows_by_the_sum_of_weights() {
        assert_eq!(Weights { a: 3.0, b: 1.0 }.step(), 4.0);
    }
}
