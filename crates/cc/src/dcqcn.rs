//! DCQCN — Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, §3.1, §5: the reaction point,
//! which sets the rate of a sender without a window.
//!
//! | symbol | here |
//! |---|---|
//! | R_C, R_T | `current`, `target`, in bit/s |
//! | α, g | `alpha`, [`Params::g`] |
//! | K, the timer of α | [`Params::alpha_timer`] |
//! | T, the timer of the rate | [`Params::rate_timer`] |
//! | B, the byte counter | [`Params::bytes`] |
//! | F | [`Params::fast_recovery`] |
//! | R_AI, R_HAI | [`Params::additive`], [`Params::hyper`] |
//! | CNP | [`Cause::EcnEcho`], at most one for `cnp_every` (N), which the receiver sees to |
//! | K_min, K_max, P_max (congestion point) | queue discipline `red` with `weight=1`, `gentle=false`, `spread=false` |
//!
//! Deviations and choices:
//! - D1: R_AI is 40 Mbit/s in the paper, on links of 40 Gbit/s; slower links get the same share of their rate, or senders
//!   would outrun their notifications. R_HAI is not given; the share is 200 Mbit/s of 40 Gbit/s, as in a first author's
//!   simulator (github.com/bobzhuyb/ns3-rdma). Hyper increase adds i · R_HAI, i = min(timer, byte) stages beyond F.
//! - D2: rates stay between `min_rate` and the rate of the host's link.
//! - D3: at the rate of the link the timer rests until the next CNP: it would change nothing.
//! - D4: losses do not change the rate; they happen where the network has no priority flow control. The sender goes back to the
//!   first missing packet.
//! - D5: no priority for CNPs. They, ACKs and NACKs are ECN-capable, so that congestion points mark them, to no effect,
//!   and do not drop them at random.
//! - D6: a mark within N of a CNP is told of with the first packet after that, not at the end of N.

use crate::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, Host, Opening, Recovery, TransportInfo, Window,
};
use shortflow_spec::{KeywordOr, POSITIVE_TIME, RATE, keys};
use shortflow_units::{Bytes, Instant, Rate, Span};

/// Registry entry.
pub const INFO: TransportInfo = TransportInfo {
    name: "dcqcn",
    summary: "a rate that falls by notifications of marks and rises by timer and bytes; go-back-N, no window",
    source: "DCQCN, SIGCOMM 2015",
    host: Host::Roce,
    recovery: Recovery::Sack,
    ecn: Ecn::Exact,
    fills_link: false, // D4: without priority flow control, a host faster than the bottleneck overflows the buffer
};

keys! {
    /// DCQCN's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// weight of a notification in alpha
        pub g: f64 = "0.00390625", 0.0..=1.0, acts: alpha_counts;
        /// time without a notification after which alpha falls
        pub alpha_timer: Span = "55us", POSITIVE_TIME, acts: alpha_counts;
        /// time after which the rate rises
        pub rate_timer: Span = "55us", POSITIVE_TIME, acts: marks;
        /// bytes sent after which the rate rises
        pub bytes: Bytes = "10MB", Bytes::new(1)..=Bytes::MAX, acts: marks;
        /// steps of fast recovery
        pub fast_recovery: u32 = "5", 1..=1000u32, acts: marks;
        /// step of additive increase; auto: a thousandth of the link's rate
        pub additive: Option<Rate> = "auto", KeywordOr("auto", RATE), acts: marks;
        /// step of hyper increase; auto: a two-hundredth of the link's rate
        pub hyper: Option<Rate> = "auto", KeywordOr("auto", RATE), acts: marks;
        /// smallest rate
        pub min_rate: Rate = "10Mbps", RATE, acts: marks;
    }
}

/// DCQCN's state.
#[derive(Debug, Clone)]
pub struct Dcqcn(Box<State>);

#[derive(Debug, Clone)]
struct State {
    params: Params,
    line: f64,
    current: f64,
    target: f64,
    alpha: f64,
    /// Time of alpha's next decay.
    alpha_due: Instant,
    /// Time of the rate's next rise; `None` at the rate of the link.
    rate_due: Option<Instant>,
    /// Bytes sent since the byte counter last expired.
    sent: u64,
    /// Expirations of the timer since the last CNP.
    timer_stage: u32,
    byte_stage: u32,
}

impl Dcqcn {
    /// State of a new connection.
    pub fn new(params: Params) -> Self {
        Dcqcn(Box::new(State {
            params,
            line: f64::INFINITY,
            current: f64::INFINITY,
            target: f64::INFINITY,
            alpha: 1.0,
            alpha_due: Instant::MAX,
            rate_due: None,
            sent: 0,
            timer_stage: 0,
            byte_stage: 0,
        }))
    }
}

impl State {
    /// A CNP arrives (Eq. 1): the decrease comes before the update of α.
    fn on_cnp(&mut self, now: Instant) {
        (self.alpha, self.alpha_due) = self.decayed(now);
        self.target = self.current;
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(self.params.min_rate.as_bps() as f64);
        self.alpha = (1.0 - self.params.g) * self.alpha + self.params.g;
        self.alpha_due = now + self.params.alpha_timer;
        self.rate_due = Some(now + self.params.rate_timer);
        (self.sent, self.timer_stage, self.byte_stage) = (0, 0, 0);
    }

    /// α after the times without a CNP that have passed (Eq. 2), and when it falls next.
    fn decayed(&self, now: Instant) -> (f64, Instant) {
        let (mut alpha, mut due) = (self.alpha, self.alpha_due);
        while due <= now {
            alpha *= 1.0 - self.params.g;
            due += self.params.alpha_timer;
        }
        (alpha, due)
    }

    /// Timer or byte counter has expired (Eq. 3, Eq. 4; §5.1 hyper increase).
    fn rise(&mut self) {
        let Params { fast_recovery, additive, hyper, .. } = self.params;
        let bits = |rate: Rate| rate.as_bps() as f64;
        let (fewer, more) = (self.timer_stage.min(self.byte_stage), self.timer_stage.max(self.byte_stage));
        let step = if more < fast_recovery {
            0.0
        } else if fewer > fast_recovery {
            f64::from(fewer - fast_recovery) * hyper.map_or(self.line / 200.0, bits)
        } else {
            additive.map_or(self.line / 1000.0, bits)
        };
        self.target = (self.target + step).min(self.line);
        self.current = (self.current + self.target) / 2.0;
        if self.line - self.current < 1.0 {
            (self.current, self.rate_due) = (self.line, None); // D3
        }
    }
}

impl CongestionControl for Dcqcn {
    fn on_ack(&mut self, _: &mut Window, _: &AckSample) {}

    fn on_congestion(&mut self, _: &mut Window, cause: Cause, flow: &FlowView) {
        if cause == Cause::EcnEcho {
            self.0.on_cnp(flow.now);
        }
    }

    fn on_start(&mut self, _: &mut Window, at: &Opening) {
        let line = at.line.as_bps() as f64;
        (self.0.line, self.0.current, self.0.target) = (line, line, line);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::new(self.0.current as u64)
    }

    fn timer(&self) -> Option<Instant> {
        self.0.rate_due
    }

    fn on_timer(&mut self, _: &mut Window, flow: &FlowView) {
        let state = &mut *self.0;
        (state.alpha, state.alpha_due) = state.decayed(flow.now);
        state.timer_stage += 1;
        state.rate_due = Some(flow.now + state.params.rate_timer);
        state.rise();
    }

    fn on_sent(&mut self, bytes: Bytes, _: Instant) {
        let state = &mut *self.0;
        if state.rate_due.is_none() {
            return;
        }
        state.sent += bytes.get();
        if state.sent >= state.params.bytes.get() {
            state.sent -= state.params.bytes.get();
            state.byte_stage += 1;
            state.rise();
        }
    }

    fn alpha(&self, now: Instant) -> Option<f64> {
        Some(self.0.decayed(now).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{close, flow, opening};

    const WINDOW: Window = Window { cwnd: 1.0, ssthresh: 1.0 };
    const GIGA: f64 = 1e9;

    /// A sender on a 40 Gbit/s link.
    fn start(params: Params) -> Dcqcn {
        let mut law = Dcqcn::new(params);
        let line = Rate::new(40_000_000_000).unwrap();
        law.on_start(&mut WINDOW.clone(), &Opening { line, ..opening() });
        law
    }

    fn at(us: u64) -> FlowView {
        FlowView { now: Instant::ZERO + Span::from_micros(us), ..flow(0) }
    }

    fn cnp(law: &mut Dcqcn, us: u64) {
        law.on_congestion(&mut WINDOW.clone(), Cause::EcnEcho, &at(us));
    }

    fn tick(law: &mut Dcqcn) {
        let now = law.timer().unwrap();
        law.on_timer(&mut WINDOW.clone(), &FlowView { now, ..flow(0) });
    }

    fn rates(law: &Dcqcn) -> (f64, f64) {
        (law.0.current / GIGA, law.0.target / GIGA)
    }

    #[test]
    fn it_starts_at_the_rate_of_the_link_and_rests() {
        let law = start(Params::default());
        assert_eq!((rates(&law), law.timer()), ((40.0, 40.0), None));
        assert_eq!(law.pacing_rate(), Rate::new(40_000_000_000));
    }

    /// Eq. 1, with g = 1/4: the first decrease takes α/2 = 1/2; α stays 1. After a timer of α it is 3/4, and the second takes
    /// 3/8; then α = 3/4 · 3/4 + 1/4.
    #[test]
    fn a_notification_cuts_by_half_of_alpha() {
        let mut law = start(Params { g: 0.25, ..Params::default() });
        cnp(&mut law, 100);
        assert_eq!((rates(&law), law.alpha(at(100).now)), ((20.0, 40.0), Some(1.0)));
        cnp(&mut law, 160);
        assert_eq!((rates(&law), law.alpha(at(160).now)), ((12.5, 20.0), Some(13.0 / 16.0)));
    }

    /// Eq. 2: α falls by g each 55 µs without a notification.
    #[test]
    fn alpha_falls_with_time() {
        let mut law = start(Params { g: 0.5, ..Params::default() });
        cnp(&mut law, 0);
        for (us, alpha) in [(54, 1.0), (55, 0.5), (165, 0.125)] {
            assert_eq!(law.alpha(at(us).now), Some(alpha));
        }
    }

    /// Eq. 3: from 20 towards 40 by halves, four times; Eq. 4: the fifth adds 40 Mbit/s to the target first.
    #[test]
    fn fast_recovery_halves_the_distance_and_additive_increase_follows() {
        let mut law = start(Params::default());
        cnp(&mut law, 0);
        cnp(&mut law, 0);
        assert_eq!(rates(&law), (10.0, 20.0));
        for current in [15.0, 17.5, 18.75, 19.375] {
            tick(&mut law);
            assert_eq!(rates(&law), (current, 20.0));
        }
        for step in 1..=3 {
            let before = rates(&law).0;
            tick(&mut law);
            close(rates(&law).1, 20.0 + 0.04 * f64::from(step));
            close(rates(&law).0, (before + rates(&law).1) / 2.0);
        }
    }

    /// The byte counter counts as the timer does; where both are beyond F, steps of R_HAI grow.
    #[test]
    fn timer_and_bytes_beyond_f_make_hyper_increase() {
        let params = Params { fast_recovery: 1, bytes: Bytes::new(1000), ..Params::default() };
        let mut law = start(params);
        (0..3).for_each(|_| cnp(&mut law, 0));
        let targets =
            [(true, 10.04), (false, 10.08), (true, 10.12), (false, 10.32), (true, 10.52), (false, 10.92)];
        for (by_timer, target) in targets {
            match by_timer {
                true => tick(&mut law),
                false => law.on_sent(Bytes::new(1000), Instant::ZERO),
            }
            close(rates(&law).1, target);
        }
    }

    /// D2, D3.
    #[test]
    fn rates_keep_their_bounds() {
        let mut law = start(Params::default());
        (0..100).for_each(|_| cnp(&mut law, 0));
        assert_eq!(law.pacing_rate(), Rate::new(10_000_000));
        let mut law = start(Params { additive: Rate::new(50_000_000_000), ..Params::default() });
        cnp(&mut law, 0);
        while law.timer().is_some() {
            tick(&mut law);
        }
        assert_eq!(rates(&law), (40.0, 40.0));
    }

    #[test]
    fn losses_leave_the_rate_alone() {
        let mut law = start(Params::default());
        for cause in [Cause::FastRetransmit, Cause::Timeout] {
            law.on_congestion(&mut WINDOW.clone(), cause, &at(0));
        }
        assert_eq!(rates(&law), (40.0, 40.0));
    }
}
