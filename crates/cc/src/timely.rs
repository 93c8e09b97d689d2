//! TIMELY — Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, §4, Algorithm 1.
//!
//! | symbol | here |
//! |---|---|
//! | new_rtt, prev_rtt | round-trip time of a segment of [`Params::segment`] bytes: [`PathSample::rtt`](crate::PathSample::rtt) less the receiver's ACK delay |
//! | rtt_diff, α | `gradient`, in seconds, [`Params::alpha`] |
//! | minRTT | [`Params::min_rtt`] |
//! | T_low, T_high | [`Params::low`], [`Params::high`] |
//! | δ, β, N | [`Params::delta`], [`Params::beta`], [`Params::hyper`] |
//! | rate | [`CongestionControl::pacing_rate`] |
//!
//! Deviations and choices:
//! - D1: α = 0.875, β = 0.8, T_low = 50 µs, T_high = 500 µs and minRTT = 20 µs are the attributes of the HPCC
//!   authors' simulator (rdma-hw.cc); δ = 10 Mbit/s is 5 Mbit/s there. These values are not confirmed from the text
//!   of the paper. A later snippet of the authors has α = 0.02 and T_high = 1 ms.
//! - D2: δ is for links of 10 Gbit/s. `delta=auto` takes the same share, a thousandth, of other rates.
//! - D3: the authors pace bursts of 16 to 64 KB and measure one round trip per burst. Here packets are paced one by
//!   one, and the round trip of the last packet counts for each `segment` bytes acknowledged. So the round trip
//!   contains no serialisation of a burst.
//! - D4: the paper starts at 1/(N + 1) of the link's rate, for N active flows of the host. A law knows no other flow,
//!   so the first rate is the link's, as in the simulators.
//! - D5: losses do not change the rate, because priority flow control prevents them in the paper's network. The
//!   sender goes back to the first missing packet.
//! - D6: the rate stays between `min_rate` and the link's rate. A gradient above 1/β would otherwise make the rate
//!   negative.

use crate::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, Host, Opening, Recovery, TransportInfo, Window,
};
use shortflow_spec::{KeywordOr, POSITIVE_TIME, RATE, keys};
use shortflow_units::{Bytes, Rate, Span};

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "timely",
    summary: "the rate follows the gradient of the round-trip time; go-back-N, no window",
    source: "TIMELY, SIGCOMM 2015",
    host: Host::Roce,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: false, // TIMELY reacts to the growth of a queue, so its rate has no fixed point
    ecn_monotone: false, // TIMELY reads delays
};

keys! {
    /// TIMELY's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// weight of the newest difference of round-trip times in the gradient
        pub alpha: f64 = "0.875", 0.001..=1.0;
        /// weight of the gradient, or of the relative excess above high, in a decrease
        pub beta: f64 = "0.8", 0.0..=1.0;
        /// round-trip time below which the rate always increases
        pub low: Span = "50us", POSITIVE_TIME;
        /// round-trip time above which the rate always decreases
        pub high: Span = "500us", POSITIVE_TIME;
        /// round-trip time that normalises the gradient
        pub min_rtt: Span = "20us", POSITIVE_TIME;
        /// step of additive increase; auto: a thousandth of the link's rate
        pub delta: Option<Rate> = "auto", KeywordOr("auto", RATE);
        /// number of steps per increase after five consecutive samples with a falling round-trip time
        pub hyper: u32 = "5", 1..=1000u32;
        /// number of acknowledged bytes per sample of the round-trip time
        pub segment: Bytes = "16KB", Bytes::new(1)..=Bytes::MAX;
        /// smallest rate
        pub min_rate: Rate = "10Mbps", RATE;
    }
}

/// Consecutive falling round-trip times that begin hyper-active increase (§4.3).
const HYPER_AFTER: u32 = 5;

/// TIMELY's state.
#[derive(Debug, Clone)]
pub struct Timely(Box<State>);

#[derive(Debug, Clone)]
struct State {
    params: Params,
    /// Rates in bit/s.
    line: f64,
    rate: f64,
    /// prev_rtt in seconds; `None` before the first sample.
    previous: Option<f64>,
    /// rtt_diff, in seconds.
    gradient: f64,
    /// Consecutive samples with a gradient below zero.
    falling: u32,
    /// Bytes acknowledged since the last sample.
    acked: u64,
}

impl Timely {
    /// State of a new connection.
    pub fn new(params: Params) -> Self {
        let (line, rate) = (f64::INFINITY, f64::INFINITY);
        Timely(Box::new(State { params, line, rate, previous: None, gradient: 0.0, falling: 0, acked: 0 }))
    }
}

impl State {
    /// Runs Algorithm 1 on a new round-trip time, in seconds.
    fn on_rtt(&mut self, rtt: f64) {
        let Params { alpha, beta, low, high, min_rtt, delta, hyper, min_rate, .. } = self.params;
        let Some(previous) = self.previous.replace(rtt) else { return };
        self.gradient = (1.0 - alpha) * self.gradient + alpha * (rtt - previous);
        let normalized = self.gradient / min_rtt.as_secs_f64();
        let step = delta.map_or(self.line / 1000.0, |rate| rate.as_bps() as f64); // D2
        self.falling = if normalized < 0.0 { self.falling + 1 } else { 0 };
        let rate = if rtt < low.as_secs_f64() {
            self.rate + step
        } else if rtt > high.as_secs_f64() {
            self.rate * (1.0 - beta * (1.0 - high.as_secs_f64() / rtt))
        } else if normalized <= 0.0 {
            let steps = if self.falling >= HYPER_AFTER { hyper } else { 1 };
            self.rate + f64::from(steps) * step
        } else {
            self.rate * (1.0 - beta * normalized)
        };
        self.rate = rate.max(min_rate.as_bps() as f64).min(self.line); // D6
    }
}

impl CongestionControl for Timely {
    fn on_start(&mut self, _: &mut Window, at: &Opening) {
        (self.0.line, self.0.rate) = (at.line.as_bps() as f64, at.line.as_bps() as f64); // D4
    }

    fn on_ack(&mut self, _: &mut Window, ack: &AckSample) {
        let state = &mut *self.0;
        state.acked += ack.acked.get();
        let Some(path) = ack.path.filter(|_| state.acked >= state.params.segment.get()) else { return };
        state.acked = 0;
        state.on_rtt(path.rtt.saturating_sub(path.ack_delay).as_secs_f64());
    }

    fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {} // D5

    fn reads_path(&self) -> bool {
        true
    }

    fn reads_flow(&self) -> bool {
        false
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::new(self.0.rate as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{close, opening};

    const GIGA: f64 = 1e9;

    /// A sender at 5 Gbit/s on a link of 10 Gbit/s, after a round trip of `rtt` µs.
    fn start(rtt: f64) -> State {
        let mut law = Timely::new(Params::default());
        law.on_start(&mut Window { cwnd: f64::INFINITY, ssthresh: f64::INFINITY }, &opening());
        let mut state = *law.0;
        state.on_rtt(rtt * 1e-6);
        assert_eq!(state.rate, 10.0 * GIGA, "one round trip has no gradient");
        State { rate: 5.0 * GIGA, ..state }
    }

    /// Algorithm 1, l. 5: below T_low the rate grows by δ = 10 Mbit/s, even while the round-trip time grows.
    #[test]
    fn below_the_low_threshold_the_rate_gains_a_step() {
        let mut state = start(20.0);
        state.on_rtt(45e-6);
        close(state.rate, 5.01 * GIGA);
    }

    /// L. 8: 1 ms against T_high = 500 µs multiplies the rate by 1 − 0.8 · (1 − 0.5) = 0.6.
    #[test]
    fn above_the_high_threshold_the_rate_falls_by_the_excess() {
        let mut state = start(1_000.0);
        state.on_rtt(1e-3);
        close(state.rate, 3.0 * GIGA);
    }

    /// L. 15: a rise from 100 to 104 µs gives a gradient of 0.875 · 4 = 3.5 µs over 20 µs, and the factor 1 − 0.8 ·
    /// 0.175 = 0.86.
    #[test]
    fn a_growing_round_trip_cuts_by_the_gradient() {
        let mut state = start(100.0);
        state.on_rtt(104e-6);
        close(state.rate, 4.3 * GIGA);
    }

    /// L. 11–13: a falling round-trip time adds one step, and five steps from the fifth in a row on.
    #[test]
    fn five_falling_round_trips_in_a_row_begin_hyper_increase() {
        let mut state = start(100.0);
        let rates: Vec<f64> = (1..=6u32)
            .map(|fall| {
                state.on_rtt((100.0 - f64::from(fall)) * 1e-6);
                state.rate
            })
            .collect();
        let expected = [5.01, 5.02, 5.03, 5.04, 5.09, 5.14];
        rates.iter().zip(expected).for_each(|(rate, expected)| close(*rate, expected * GIGA));
    }

    /// D6: a rise of 100 µs would take 3.5 times the rate.
    #[test]
    fn the_rate_stays_above_its_floor() {
        let mut state = start(100.0);
        state.on_rtt(200e-6);
        close(state.rate, 10e6);
    }
}
