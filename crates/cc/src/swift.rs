//! Swift — Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020,
//! §3, Algorithm 1.
//!
//! | symbol | here |
//! |---|---|
//! | cwnd | [`Window::cwnd`] = min(fcwnd, ecwnd) |
//! | fcwnd, ecwnd (§3.3) | two `Control`s: of the fabric and of the end hosts |
//! | num_acked | [`PathSample::newly_delivered`], in segments |
//! | delay of the end hosts | [`PathSample::at_work`], averaged |
//! | delay of the fabric | [`PathSample::rtt`] without the delay of the end hosts and the delay of the ACK, not averaged |
//! | target of the fabric (§3.5) | [`Params::fabric_target`] |
//! | base_target, ħ, #hops | [`Params::base_target`], [`Params::hop`], [`PathSample::hops`] |
//! | fs_range, fs_min_cwnd, fs_max_cwnd, α, β of Eq. 2 | [`Params::fs_range`], [`Params::fs_min`], [`Params::fs_max`], [`Params::scaling`] |
//! | ai, β, max_mdf | [`Params::ai`], [`Params::beta`], [`Params::max_mdf`] |
//! | RETX_RESET_THRESHOLD, min_cwnd, max_cwnd | [`Params::retx_reset`], [`Params::min_cwnd`], [`Params::max_cwnd`] |
//! | pacing_delay | the TCP sender's, for every law that reads the path |
//!
//! Deviations and choices:
//! - D1: `base_target=auto` is the round-trip time of the path with empty queues, plus `queueing`. An operator
//!   computes base_target from the topology; here each ACK reports it. The round-trip time already contains ħ for
//!   each hop.
//! - D2: the paper does not give ai, β, max_mdf, ħ, fs_range, fs_min_cwnd, fs_max_cwnd, or the threshold; the
//!   defaults are ours. Flow scaling and decrease follow sim/swift.cpp of github.com/Broadcom/csg-htsim.
//!   `fs_range=0s` switches flow scaling off.
//! - D3: t_last_decrease is set only if cwnd falls. As printed, it is set if cwnd ≤ cwnd_prev. An ACK that does not
//!   change cwnd would then put off the next decrease, and forever if ACKs come more often than once per round trip.
//! - D4: in can_decrease and in pacing_delay, "rtt" is the round-trip time of the last ACK.
//! - D5: the window that does not limit the sender is held at max_cwnd (the paper: "a ceiling value").
//! - D6: the first window is `tcp.initial_window`, and there is no slow start. The sender repairs losses with SACK;
//!   during recovery the window does not grow. Before the first ACK, no delay reveals an incast: with a buffer of
//!   1000 packets, 200 senders lose nothing with first windows of one or two segments, and overflow the buffer with
//!   ten.
//! - D7: outside recovery, each ACK that reports new data counts, in order or not, but at most a window of data.
//!   After a timeout, most of the data that an ACK covers had arrived earlier, and NewReno's ACKs do not report when.
//! - D8: the paper does not give the weight of a sample in the average delay of the end hosts. It is 1/8, as in TCP's
//!   SRTT (RFC 6298).
//! - D9: the hosts' queues towards the network count as fabric delay, as in the paper's formula: round trip less
//!   remote queueing, which ends when the ACK is made, and less local reception. The paper's hosts have no such
//!   queue, because the card pulls packets. Here fcwnd keeps the sender's queue short.
//! - D10: the intended delay of an ACK (`tcp.ack_every`) counts in neither delay. The paper has no delayed ACKs. If
//!   the hosts' delay included it, an `ack_delay` above `host_target` would shrink the window forever.

use crate::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, Host, PathSample, Recovery, TransportInfo, Window,
};
use shortflow_spec::{ANY_TIME, KeywordOr, POSITIVE_TIME, keys};
use shortflow_units::{Bytes, Instant, Span};

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "swift",
    summary: "keeps the delay of the fabric and the delay of the hosts at targets; paces windows below one segment",
    source: "Swift, SIGCOMM 2020",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: true,
    ecn_monotone: false, // Swift reads delays
};

/// Weight of a sample in the average delay of the end hosts (D8).
const HOST_WEIGHT: f64 = 0.125;

keys! {
    /// Swift's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// target of the fabric delay, before hop and flow scaling are added; auto: the round-trip time with empty
        /// queues, plus queueing
        pub base_target: Option<Span> = "auto", KeywordOr("auto", POSITIVE_TIME);
        /// queueing delay that base_target=auto allows
        pub queueing: Span = "50us", POSITIVE_TIME, acts: base_target == auto;
        /// time that each switch of the path adds to a given base_target
        pub hop: Span = "0s", ANY_TIME, acts: base_target != auto;
        /// largest time that flow scaling adds to the target
        pub fs_range: Span = "100us", ANY_TIME;
        /// window, in segments, up to which flow scaling adds fs_range
        pub fs_min: f64 = "0.1", 0.001..=1.0, acts: fs_range > 0;
        /// window, in segments, from which flow scaling adds nothing
        pub fs_max: f64 = "100", 2.0..=1000.0, acts: fs_range > 0;
        /// target of the delay in the two hosts
        pub host_target: Span = "100us", POSITIVE_TIME;
        /// additive increase, in segments per round-trip time
        pub ai: f64 = "1", 0.001..=100.0;
        /// weight of the relative excess delay in a decrease
        pub beta: f64 = "0.8", 0.0..=1.0;
        /// largest share of the window that one decrease removes
        pub max_mdf: f64 = "0.5", 0.0..=0.99;
        /// number of consecutive timeouts after which the window is min_cwnd
        pub retx_reset: u32 = "5", 1..=100u32;
        /// smallest window, in segments
        pub min_cwnd: f64 = "0.001", 0.00001..=1.0;
        /// largest window, in segments
        pub max_cwnd: f64 = "1000", 1.0..=1000000.0;
    }
}

impl Params {
    /// α and β of Eq. 2, in seconds. The scaling is fs_range at a window of fs_min, and zero at fs_max.
    pub fn scaling(&self) -> (f64, f64) {
        let alpha = self.fs_range.as_secs_f64() / (1.0 / self.fs_min.sqrt() - 1.0 / self.fs_max.sqrt());
        (alpha, -alpha / self.fs_max.sqrt())
    }

    /// Target of the fabric's delay, in seconds (§3.5, Eq. 2).
    pub fn fabric_target(&self, fcwnd: f64, path: &PathSample) -> f64 {
        let base = match self.base_target {
            Some(base) => base + self.hop.times(path.hops.into()),
            None => path.base_rtt() + self.queueing, // D1
        };
        let (alpha, beta) = self.scaling();
        let scaling = (alpha / fcwnd.sqrt() + beta).clamp(0.0, self.fs_range.as_secs_f64());
        base.as_secs_f64() + scaling
    }

    /// Factor of a decrease for a delay above the target (Algorithm 1, l. 14).
    pub fn decrease(&self, delay: f64, target: f64) -> f64 {
        (1.0 - self.beta * (delay - target) / delay).max(1.0 - self.max_mdf)
    }
}

/// One of the two windows, and the time of its last decrease.
#[derive(Debug, Clone, Copy)]
struct Control {
    cwnd: f64,
    last_decrease: Option<Instant>,
}

impl Control {
    /// Runs Algorithm 1 on an ACK of `acked` segments.
    fn on_ack(
        &mut self,
        params: &Params,
        (acked, may_grow): (f64, bool),
        (delay, target): (f64, f64),
        at: Moment,
    ) {
        if delay >= target {
            self.decrease(params, params.decrease(delay, target), at);
        } else if may_grow {
            let acked = acked.min(self.cwnd.max(1.0)); // D7
            let step = if self.cwnd >= 1.0 { params.ai * acked / self.cwnd } else { params.ai * acked };
            self.cwnd = (self.cwnd + step).min(params.max_cwnd);
        }
    }

    /// Decreases the window, at most once per round-trip time.
    fn decrease(&mut self, params: &Params, factor: f64, at: Moment) {
        if self.last_decrease.is_none_or(|last| at.now.since(last) >= at.rtt) {
            self.set(params, self.cwnd * factor, at.now);
        }
    }

    fn set(&mut self, params: &Params, cwnd: f64, now: Instant) {
        let cwnd = cwnd.clamp(params.min_cwnd, params.max_cwnd);
        if cwnd < self.cwnd {
            self.last_decrease = Some(now); // D3
        }
        self.cwnd = cwnd;
    }
}

/// The present time and the last round-trip time.
#[derive(Debug, Clone, Copy)]
struct Moment {
    now: Instant,
    rtt: Span,
}

/// Swift's state.
#[derive(Debug, Clone)]
pub struct Swift(Box<State>);

#[derive(Debug, Clone)]
struct State {
    params: Params,
    /// fcwnd and ecwnd; `None` before the first event.
    controls: Option<[Control; 2]>,
    /// Average delay of the end hosts, in seconds.
    host_delay: Option<f64>,
    rtt: Span,
    /// Timeouts since the last ACK.
    timeouts: u32,
}

impl Swift {
    /// State of a new connection.
    pub fn new(params: Params) -> Self {
        Swift(Box::new(State { params, controls: None, host_delay: None, rtt: Span::ZERO, timeouts: 0 }))
    }
}

impl State {
    /// Lets `act` change fcwnd and ecwnd, and sets the window to the smaller of them.
    fn change(&mut self, window: &mut Window, act: impl Fn(usize, &mut Control)) {
        let first = [Control { cwnd: window.cwnd, last_decrease: None }; 2];
        let controls = self.controls.get_or_insert(first);
        controls.iter_mut().enumerate().for_each(|(index, control)| act(index, control));
        window.cwnd = controls[0].cwnd.min(controls[1].cwnd);
    }

    fn average_host_delay(&mut self, sample: f64) -> f64 {
        let average = self.host_delay.map_or(sample, |average| average + HOST_WEIGHT * (sample - average));
        self.host_delay = Some(average);
        average
    }
}

impl CongestionControl for Swift {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        let state = &mut *self.0;
        state.timeouts = 0;
        let Some(path) = ack.path else { return };
        state.rtt = path.rtt;
        let params = state.params;
        let at_work = path.at_work(); // D9
        let host = state.average_host_delay(at_work.as_secs_f64());
        let fabric = path.rtt.saturating_sub(at_work + path.ack_delay).as_secs_f64();
        let acked = path.newly_delivered.as_f64() / ack.flow.mss.as_f64();
        let at = Moment { now: ack.flow.now, rtt: path.rtt };
        state.change(window, |index, control| {
            let (delay, target) = match index {
                0 => (fabric, params.fabric_target(control.cwnd, &path)),
                _ => (host, params.host_target.as_secs_f64()),
            };
            control.on_ack(&params, (acked, ack.limited && !ack.in_recovery), (delay, target), at);
        });
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        let state = &mut *self.0;
        state.timeouts += u32::from(cause == Cause::Timeout);
        let (params, at) = (state.params, Moment { now: flow.now, rtt: state.rtt });
        let reset = state.timeouts >= params.retx_reset;
        state.change(window, |_, control| match cause {
            Cause::EcnEcho => {}
            Cause::Timeout if reset => control.set(&params, params.min_cwnd, at.now),
            Cause::Timeout | Cause::FastRetransmit => control.decrease(&params, 1.0 - params.max_mdf, at),
        });
        window.ssthresh = window.cwnd;
    }

    fn reads_path(&self) -> bool {
        true
    }

    fn floor(&self, _: Bytes) -> f64 {
        self.0.params.min_cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{ack, close, flow};

    const MICRO: f64 = 1e-6;

    fn micros(us: u64) -> Span {
        Span::from_micros(us)
    }

    /// A path of 20 µs with empty queues. A packet of one segment and its ACK waited for these microseconds in
    /// switches, and in hosts outside their queues.
    fn path(in_switches: u64, in_hosts: u64) -> PathSample {
        PathSample {
            rtt: micros(20 + in_switches + in_hosts),
            min_rtt: micros(20),
            in_switches: micros(in_switches),
            in_hosts: micros(in_hosts),
            hops: 3,
            newly_delivered: Bytes::new(1460),
            ..PathSample::default()
        }
    }

    /// Both targets are 50 µs: the fabric's is 20 µs plus 30 µs of queueing, without flow scaling.
    fn plain() -> Params {
        Params { queueing: micros(30), fs_range: Span::ZERO, host_target: micros(50), ..Params::default() }
    }

    fn start(params: Params, cwnd: f64) -> (Swift, Window) {
        (Swift::new(params), Window { cwnd, ssthresh: f64::INFINITY })
    }

    fn at(us: u64, path: PathSample) -> AckSample {
        let flow = FlowView { now: Instant::ZERO + micros(us), ..flow(10) };
        AckSample { flow, path: Some(path), ..ack(false) }
    }

    /// Algorithm 1, l. 8–11: each acknowledged segment adds ai / cwnd at one segment and above, and ai below one
    /// segment.
    #[test]
    fn below_the_target_the_window_gains_a_segment_each_round_trip() {
        let (mut law, mut window) = start(Params { ai: 2.0, ..plain() }, 8.0);
        law.on_ack(&mut window, &at(0, path(29, 0)));
        close(window.cwnd, 8.25);
        let (mut law, mut window) = start(Params { ai: 0.125, ..plain() }, 0.25);
        law.on_ack(&mut window, &at(0, path(0, 0)));
        close(window.cwnd, 0.375);
    }

    /// L. 14: 70 µs against a target of 50 µs take 0.8 · 20/70 of the window; 1 ms takes max_mdf.
    #[test]
    fn above_the_target_the_window_falls_by_the_excess() {
        let (mut law, mut window) = start(plain(), 7.0);
        law.on_ack(&mut window, &at(0, path(50, 0)));
        close(window.cwnd, 7.0 - 7.0 * 0.8 * 2.0 / 7.0);
        let (mut law, mut window) = start(plain(), 7.0);
        law.on_ack(&mut window, &at(0, path(980, 0)));
        close(window.cwnd, 3.5);
    }

    /// can_decrease: a decrease needs a round trip of 70 µs since the last one, even if the ACKs in between change
    /// nothing (D3).
    #[test]
    fn it_cuts_once_a_round_trip() {
        let (mut law, mut window) = start(plain(), 70.0);
        for (us, cwnd) in
            [(0, 54.0), (30, 54.0), (60, 54.0), (70, 54.0 * 54.0 / 70.0), (100, 54.0 * 54.0 / 70.0)]
        {
            law.on_ack(&mut window, &at(us, path(50, 0)));
            close(window.cwnd, cwnd);
        }
    }

    /// §3.3: the smaller window counts, and each delay moves its own window. Hosts at 60 µs against a target of 50 µs
    /// take 0.8 / 6.
    #[test]
    fn fabric_and_hosts_have_a_window_each() {
        let (mut law, mut window) = start(plain(), 6.0);
        law.on_ack(&mut window, &at(0, path(0, 60)));
        close(window.cwnd, 6.0 - 0.8);
        let [fabric, hosts] = law.0.controls.unwrap().map(|control| control.cwnd);
        close(fabric, 6.0 + 1.0 / 6.0);
        close(hosts, 5.2);
    }

    /// D9: 60 µs in the queues of the two hosts belong to the fabric's delay of 80 µs: 0.8 · 30/80 against its target
    /// of 50 µs.
    #[test]
    fn queues_of_hosts_are_part_of_the_fabric() {
        let (mut law, mut window) = start(plain(), 8.0);
        let (at_sender, at_receiver) = (micros(20), micros(40));
        law.on_ack(&mut window, &at(0, PathSample { at_sender, at_receiver, ..path(0, 60) }));
        close(window.cwnd, 8.0 - 8.0 * 0.8 * 3.0 / 8.0);
        let [fabric, hosts] = law.0.controls.unwrap().map(|control| control.cwnd);
        close(fabric, window.cwnd);
        close(hosts, 8.125);
    }

    /// D10: an ACK delay of 5 ms decreases no window. The path has no queue, so both windows grow.
    #[test]
    fn a_delayed_ack_is_no_congestion() {
        let (mut law, mut window) = start(plain(), 8.0);
        law.on_ack(&mut window, &at(0, PathSample { ack_delay: micros(5_000), ..path(0, 5_000) }));
        close(window.cwnd, 8.125);
    }

    /// An ACK counts only newly delivered data, and at most one window of it (D7).
    #[test]
    fn a_cumulative_ack_after_a_loss_grows_the_window_by_new_data() {
        let acks = |cwnd, newly: u64| {
            let (mut law, mut window) = start(plain(), cwnd);
            let path = PathSample { newly_delivered: Bytes::new(newly * 1460), ..path(0, 0) };
            law.on_ack(&mut window, &AckSample { acked: Bytes::new(40 * 1460), ..at(0, path) });
            window.cwnd
        };
        close(acks(8.0, 2), 8.25);
        close(acks(8.0, 40), 9.0);
        close(acks(0.5, 40), 1.5);
    }

    /// The first of ten segments arrives last: nine ACKs that do not advance and one that covers all grow the window
    /// as much as ten ACKs in order. In recovery, no ACK grows the window.
    #[test]
    fn the_order_of_arrival_does_not_matter_to_growth() {
        let after = |advances: [bool; 10], in_recovery: bool| {
            let (mut law, mut window) = start(plain(), 8.0);
            for advances in advances {
                let acked = if advances { Bytes::new(1460) } else { Bytes::ZERO };
                let sample =
                    AckSample { acked, may_grow: advances && !in_recovery, in_recovery, ..at(0, path(0, 0)) };
                law.on_ack(&mut window, &sample);
            }
            window.cwnd
        };
        let mut late = [false; 10];
        late[9] = true;
        assert!(after([true; 10], false) > 9.1);
        close(after(late, false), after([true; 10], false));
        close(after(late, true), 8.0);
    }

    /// The hosts' delay is averaged: one sample of 80 µs after 0 µs counts as 10 µs.
    #[test]
    fn one_slow_answer_of_a_host_is_forgiven() {
        let (mut law, mut window) = start(plain(), 6.0);
        law.on_ack(&mut window, &at(0, path(0, 0)));
        law.on_ack(&mut window, &at(1, path(0, 80)));
        close(law.0.host_delay.unwrap(), 10.0 * MICRO);
        assert!(window.cwnd > 6.3);
    }

    /// Eq. 2 with fs_range = 90 µs between 1/4 and 4 segments: α = 90 / (2 − 1/2) = 60 µs, β = −30 µs.
    #[test]
    fn small_windows_have_a_larger_target() {
        let params = Params { fs_range: micros(90), fs_min: 0.25, fs_max: 4.0, ..plain() };
        let (alpha, beta) = params.scaling();
        close(alpha, 60.0 * MICRO);
        close(beta, -30.0 * MICRO);
        for (cwnd, extra) in [(0.01, 90.0), (0.25, 90.0), (1.0, 30.0), (4.0, 0.0), (100.0, 0.0)] {
            close(params.fabric_target(cwnd, &path(7, 9)), (50.0 + extra) * MICRO);
        }
    }

    /// §3.5: the target is base_target plus ħ for each of three hops.
    #[test]
    fn a_given_base_target_grows_with_the_hops() {
        let params = Params { base_target: Some(micros(25)), hop: micros(2), ..plain() };
        close(params.fabric_target(1.0, &path(7, 9)), 31.0 * MICRO);
    }

    /// Algorithm 1, l. 16–25: losses take max_mdf once per round trip, and the fifth consecutive timeout leaves
    /// min_cwnd.
    #[test]
    fn losses_cut_and_timeouts_in_a_row_reset() {
        let (mut law, mut window) = start(plain(), 16.0);
        law.on_ack(&mut window, &at(0, path(0, 0)));
        window.cwnd = 16.0;
        law.0.controls = None;
        let later = |us| FlowView { now: Instant::ZERO + micros(us), ..flow(10) };
        for (us, cause, cwnd) in [
            (10, Cause::FastRetransmit, 8.0),
            (20, Cause::FastRetransmit, 8.0),
            (30, Cause::Timeout, 4.0),
            (60, Cause::Timeout, 2.0),
            (90, Cause::Timeout, 1.0),
            (120, Cause::Timeout, 0.5),
            (121, Cause::Timeout, 0.001),
        ] {
            law.on_congestion(&mut window, cause, &later(us));
            close(window.cwnd, cwnd);
        }
        law.on_ack(&mut window, &at(200, path(0, 0)));
        law.on_congestion(&mut window, Cause::Timeout, &later(300));
        close(window.cwnd, 1.001 / 2.0);
    }

    #[test]
    fn windows_stay_between_the_smallest_and_the_largest() {
        let (mut law, mut window) = start(Params { max_cwnd: 4.0, min_cwnd: 0.5, ..plain() }, 3.9);
        law.on_ack(&mut window, &at(0, path(0, 0)));
        close(window.cwnd, 4.0);
        for us in 1..20 {
            law.on_ack(&mut window, &at(us * 2_000, path(900, 900)));
        }
        close(window.cwnd, 0.5);
        assert_eq!(law.floor(Bytes::new(1460)), 0.5);
    }
}
