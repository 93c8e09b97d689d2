//! HPCC — Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, §3, Algorithm 1.
//!
//! | symbol | here |
//! |---|---|
//! | W, R = W / T | [`Window::cwnd`], [`CongestionControl::pacing_rate`] |
//! | W^c | `reference`, in bytes |
//! | U | `utilisation` |
//! | η, maxStage | [`Params::eta`], [`Params::max_stage`] |
//! | W_AI | [`Params::increase`] |
//! | T | [`Params::base_rtt`] |
//! | L.link\[i\]: B, ts, txBytes, qlen | [`HopSample`]: `rate`, `at`, `sent`, `queued` |
//! | lastUpdateSeq | `update_seq` |
//!
//! The first window is the rate of the host's link times T (§3.2). Each ACK reports, for every link of the path, the
//! bytes sent and the queue when the packet left. Two consecutive reports give the utilisation of each link; the
//! largest one counts (l. 1–10). Every ACK moves the window, but relative to a reference that moves once per round
//! trip (l. 11–21). So the reactions to several ACKs that report the same queue do not add up.
//!
//! Deviations and choices:
//! - D1: the paper's T is one constant of the network. With `base_rtt=auto`, T is the round-trip time of a full
//!   segment on the connection's own path without queues.
//! - D2: the paper gives W_AI = W_init · (1 − η) / N for N flows. This rule is `increase=auto`; with `flows=100` it
//!   gives 81 bytes at 100 Gbit/s and 13 µs. The paper's runs are said to have 80 bytes; this is not confirmed from
//!   its text. The authors' code has 10 Mbit/s for 25 Gbit/s of line rate, which with η = 0.99 is `flows=25`.
//! - D3: the authors' code has a smallest rate (1 Gbit/s at 25 to 100 Gbit/s), the paper has none. Here it is
//!   [`Params::min_rate`].
//! - D4: the first report is only stored, as in the authors' code (rdma-hw.cc: HandleAckHp), because a utilisation
//!   needs two.
//! - D5: bytes on links include Ethernet's preamble and the gap between frames, so that a full link has a utilisation
//!   of 1.
//! - D6: telemetry adds no bytes to packets. The authors' packets carry 42 bytes of telemetry: add them to
//!   `tcp.header` to count them.
//! - D7: losses do not change the window; the sender repairs them. Losses are rare, because the window follows the
//!   queue.
//! - D8: after a change of path the first report is only stored (§4.1, pathID). A different port number shows the
//!   change.

use crate::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, HopSample, Host, Opening, Recovery, TransportInfo,
    Window,
};
use shortflow_spec::{ANY_SIZE, KeywordOr, POSITIVE_TIME, RATE, keys};
use shortflow_units::{Bytes, Rate, Span};

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "hpcc",
    summary: "window and rate follow the utilisation that the links of the path report; go-back-N",
    source: "HPCC, SIGCOMM 2019",
    host: Host::Roce,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: false, // HPCC leaves 1 − η of the link free
    ecn_monotone: false,
};

keys! {
    /// HPCC's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// target utilisation of the fullest link of the path
        pub eta: f64 = "0.95", 0.1..=1.0;
        /// number of consecutive round trips with additive increase only, before a multiplicative change
        pub max_stage: u32 = "5", 0..=1000u32;
        /// additive increase of the window per round trip; auto: first window x (1 − eta) / flows
        pub increase: Option<Bytes> = "auto", KeywordOr("auto", ANY_SIZE);
        /// number of flows that share a link, for increase=auto
        pub flows: f64 = "100", 1.0..=1000000.0, acts: increase == auto;
        /// round-trip time without queues; auto: the time of a full segment on the connection's own path
        pub base_rtt: Option<Span> = "auto", KeywordOr("auto", POSITIVE_TIME);
        /// smallest rate; auto: a thousandth of the link's rate
        pub min_rate: Option<Rate> = "auto", KeywordOr("auto", RATE);
    }
}

/// HPCC's state.
#[derive(Debug, Clone)]
pub struct Hpcc(Box<State>);

#[derive(Debug, Clone)]
struct State {
    params: Params,
    /// T in seconds.
    base_rtt: f64,
    /// Bytes of a full segment on a link.
    segment: f64,
    /// Rate of the host's link, in bit/s.
    line: f64,
    /// W^c and W_AI, in bytes on the link.
    reference: f64,
    increase: f64,
    utilisation: f64,
    stage: u32,
    /// Last report of the path; empty before the first.
    last: Vec<HopSample>,
    /// True if the utilisation has been measured since the last ACK.
    is_measured: bool,
    update_seq: u64,
    rate: Option<Rate>,
}

impl Hpcc {
    /// State of a new connection.
    pub fn new(params: Params) -> Self {
        Hpcc(Box::new(State {
            params,
            base_rtt: 0.0,
            segment: 1.0,
            line: 0.0,
            reference: 0.0,
            increase: 0.0,
            utilisation: 1.0,
            stage: 0,
            last: Vec::new(),
            is_measured: false,
            update_seq: 0,
            rate: None,
        }))
    }
}

/// Utilisation of one link between two reports, and the time between them in seconds (l. 3–5).
fn use_of(before: &HopSample, now: &HopSample, base_rtt: f64) -> (f64, f64) {
    let tau = now.at.since(before.at).as_secs_f64();
    let bytes_per_s = now.rate.as_bps() as f64 / 8.0;
    let queued = before.queued.min(now.queued).as_f64() / (bytes_per_s * base_rtt);
    let sent = now.sent.saturating_sub(before.sent).as_f64() / (bytes_per_s * tau);
    (queued + sent, tau)
}

impl State {
    /// MeasureInflight (l. 1–10): updates the average of the largest utilisation of a link over T.
    fn measure(&mut self, hops: &[HopSample]) {
        let is_same_path = self.last.len() == hops.len()
            && self.last.iter().zip(hops).all(|(before, now)| before.port == now.port && before.at < now.at);
        if !is_same_path || hops.is_empty() {
            return; // D4, D8
        }
        let uses = self.last.iter().zip(hops).map(|(before, now)| use_of(before, now, self.base_rtt));
        let (fullest, tau) = uses.fold((0.0, 0.0), |most, next| if next.0 > most.0 { next } else { most });
        let share = (tau / self.base_rtt).min(1.0);
        self.utilisation = (1.0 - share) * self.utilisation + share * fullest;
        self.is_measured = true;
    }

    /// ComputeWind (l. 11–21): returns the window in bytes; if `updates`, the window becomes the reference.
    fn compute(&mut self, updates: bool) -> f64 {
        let scales = self.utilisation >= self.params.eta || self.stage >= self.params.max_stage;
        let factor = if scales { self.params.eta / self.utilisation } else { 1.0 };
        let most = self.line / 8.0 * self.base_rtt;
        let window = (self.reference * factor + self.increase).clamp(self.least().min(most), most);
        if updates {
            self.stage = if scales { 0 } else { self.stage + 1 };
            self.reference = window;
        }
        window
    }

    /// The window at the smallest rate (D3), in bytes.
    fn least(&self) -> f64 {
        self.params.min_rate.map_or(self.line / 1000.0, |rate| rate.as_bps() as f64) / 8.0 * self.base_rtt
    }

    fn set(&mut self, window: &mut Window, bytes: f64) {
        window.cwnd = bytes / self.segment;
        self.rate = Rate::new((bytes * 8.0 / self.base_rtt) as u64);
    }
}

impl CongestionControl for Hpcc {
    fn on_start(&mut self, window: &mut Window, at: &Opening) {
        let state = &mut *self.0;
        state.base_rtt = state.params.base_rtt.unwrap_or(at.base_rtt).max(Span::from_ps(1)).as_secs_f64();
        state.segment = (at.mss + at.header).as_f64();
        state.line = at.line.as_bps() as f64;
        state.reference = state.line / 8.0 * state.base_rtt;
        let auto = || state.reference * (1.0 - state.params.eta) / state.params.flows; // D2
        state.increase = state.params.increase.map_or_else(auto, Bytes::as_f64);
        state.set(window, state.reference);
    }

    fn on_hops(&mut self, hops: &[HopSample]) {
        let state = &mut *self.0;
        state.measure(hops);
        state.last.clear();
        state.last.extend_from_slice(hops);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        let state = &mut *self.0;
        if std::mem::take(&mut state.is_measured) {
            let updates = ack.snd_una > state.update_seq;
            if updates {
                state.update_seq = ack.snd_nxt;
            }
            let bytes = state.compute(updates);
            state.set(window, bytes);
        }
    }

    fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {} // D7

    fn reads_path(&self) -> bool {
        true
    }

    fn reads_hops(&self) -> bool {
        true
    }

    fn reads_flow(&self) -> bool {
        false
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.0.rate
    }

    fn floor(&self, _: Bytes) -> f64 {
        self.0.least() / self.0.segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{ack, close, flow, opening};
    use shortflow_units::Instant;

    /// A connection on a path of 10 Gbit/s and 100 µs, which holds 125,000 bytes.
    fn start(params: Params) -> (Hpcc, Window) {
        let (mut law, mut window) =
            (Hpcc::new(params), Window { cwnd: f64::INFINITY, ssthresh: f64::INFINITY });
        law.on_start(&mut window, &opening());
        (law, window)
    }

    /// The report of a 10 Gbit/s link at `us` microseconds.
    fn hop(us: u64, sent: u64, queued: u64) -> HopSample {
        let at = Instant::ZERO + Span::from_micros(us);
        HopSample { port: 1, at, sent: Bytes::new(sent), queued: Bytes::new(queued), rate: opening().line }
    }

    fn ack_of(snd_una: u64, snd_nxt: u64) -> AckSample {
        AckSample { snd_una, snd_nxt, flow: flow(0), ..ack(false) }
    }

    /// §3.2: the first window is B · T, and the first rate is the link's. D2: W_AI is 125,000 · 0.05 / 100 = 62.5
    /// bytes.
    #[test]
    fn it_begins_with_a_full_path() {
        let (law, window) = start(Params::default());
        close(window.cwnd, 125_000.0 / 1_524.0);
        assert_eq!(law.pacing_rate(), Some(opening().line));
        close(law.0.increase, 62.5);
    }

    /// L. 3–5: 100,000 bytes in 100 µs are 0.8 of 10 Gbit/s. The smaller of two reported queues, 25,000 bytes, is 0.2
    /// of B · T.
    #[test]
    fn the_use_of_a_link_counts_its_queue() {
        let (used, tau) = use_of(&hop(0, 0, 25_000), &hop(100, 100_000, 80_000), 1e-4);
        close(used, 1.0);
        close(tau, 1e-4);
    }

    /// L. 13–14: a utilisation of 1.9, twice the target of 0.95, halves the window before W_AI is added. Until the
    /// next round trip, every ACK starts from the same reference.
    #[test]
    fn the_window_falls_by_the_excess_once_a_round_trip() {
        let (mut law, mut window) = start(Params::default());
        law.on_hops(&[hop(0, 0, 0)]);
        law.on_ack(&mut window, &ack_of(1_460, 200_000));
        close(window.cwnd, 125_000.0 / 1_524.0); // D4
        law.on_hops(&[hop(100, 237_500, 0)]);
        law.on_ack(&mut window, &ack_of(2_920, 200_000));
        close(window.cwnd, 62_562.5 / 1_524.0);
        law.on_hops(&[hop(200, 475_000, 0)]);
        law.on_ack(&mut window, &ack_of(4_380, 200_000));
        close(window.cwnd, (62_562.5 / 2.0 + 62.5) / 1_524.0);
        assert_eq!(law.0.reference, 62_562.5);
        law.on_hops(&[hop(300, 712_500, 0)]);
        law.on_ack(&mut window, &ack_of(201_000, 300_000));
        close(law.0.reference, 62_562.5 / 2.0 + 62.5);
    }

    /// L. 7: a report after a tenth of T has a weight of a tenth in U: 0.9 · 1 + 0.1 · 0.5.
    #[test]
    fn a_short_time_weighs_little() {
        let (mut law, _) = start(Params::default());
        law.on_hops(&[hop(0, 0, 0)]);
        law.on_hops(&[hop(10, 6_250, 0)]);
        close(law.0.utilisation, 0.95);
    }

    /// L. 12, 16–19: below η the window grows by W_AI per round, and after maxStage rounds by the factor η / U.
    #[test]
    fn after_five_additive_steps_the_window_changes_by_a_factor() {
        let (mut law, mut window) = start(Params { increase: Some(Bytes::new(100)), ..Params::default() });
        (law.0.reference, law.0.utilisation) = (10_000.0, 0.475);
        let windows: Vec<f64> = (0..7).map(|_| law.0.compute(true)).collect();
        let expected = [10_100.0, 10_200.0, 10_300.0, 10_400.0, 10_500.0, 21_100.0, 21_200.0];
        windows.iter().zip(expected).for_each(|(window, expected)| close(*window, expected));
        law.0.set(&mut window, 21_200.0);
        close(window.cwnd, 21_200.0 / 1_524.0);
    }

    /// D8: the first report of another port is only stored, and an ACK without a new utilisation does not move the
    /// window.
    #[test]
    fn another_path_begins_anew() {
        let (mut law, mut window) = start(Params::default());
        law.on_hops(&[hop(0, 0, 0)]);
        law.on_hops(&[HopSample { port: 2, ..hop(100, 237_500, 0) }]);
        law.on_ack(&mut window, &ack_of(1_460, 2_920));
        law.on_ack(&mut window, &ack_of(2_920, 2_920));
        close(window.cwnd, 125_000.0 / 1_524.0);
    }
}
