//! DCQCN — Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, §3.1, §5: the reaction
//! point, which sets the rate of a sender without a window. With [`Params::decrease_timer`] the law is the variant of
//! the HPCC authors (alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc, "Mellanox's version of DCQCN"), which
//! SimAI uses too.
//!
//! | symbol | here |
//! |---|---|
//! | R_C, R_T | `current`, `target`, in bit/s |
//! | α, g | `alpha`, [`Params::g`] |
//! | K, the timer of α | [`Params::alpha_timer`] |
//! | T, the timer of the rate | [`Params::rate_timer`] |
//! | B, the byte counter | [`Params::bytes`] |
//! | F | [`Params::fast_recovery`] |
//! | R_AI, R_HAI | [`Params::additive`], [`Params::hyper`]; as shares of the link's rate [`Params::additive_share`], [`Params::hyper_share`] |
//! | CNP | [`Cause::EcnEcho`]; the receiver sends at most one per `cnp_every` (N) |
//! | K_min, K_max, P_max (congestion point) | queue discipline `red` with `weight=1`, `gentle=false`, `spread=false`; by rate `curves` |
//! | RATE_DECREASE_INTERVAL, CNP flags | [`Params::decrease_timer`], `heard` and `cut_due` |
//! | ALPHA_RESUME_INTERVAL, RP_TIMER, FAST_RECOVERY_TIMES | [`Params::alpha_timer`], [`Params::rate_timer`], [`Params::fast_recovery`] |
//! | HAS_WIN, VAR_WIN | [`Params::window`] |
//!
//! The variant differs from the paper in four points:
//! - Two timers start at the first CNP. One moves α, by Eq. 1 if a CNP has come since it last expired, otherwise by
//!   Eq. 2. The other cuts the rate if a CNP has come since the last cut. α is 1 until its timer first expires.
//! - A cut does not change the target rate if the rate has not risen since the last cut (CLAMP_TARGET_RATE 0).
//! - There is no byte counter.
//! - After F steps of fast recovery comes one step of R_AI, then steps of R_HAI of constant size.
//!
//! `parameter_sets.toml` has the parameter sets, with a source for each constant:
//!
//! | | `paper` | `hpcc-authors` | `simai-2026` |
//! |---|---|---|---|
//! | timers of α, of decreases, of increases | 55 µs, none, 55 µs and 10 MB | 1, 4, 300 µs | 1, 4, 900 µs |
//! | g, F | 1/256, 5 | 1/256, 1 | 1/256, 1 |
//! | R_AI, R_HAI | 40 Mbit/s, D1 | 5, 50 Mbit/s for 25 Gbit/s of line rate | 50, 100 Mbit/s at every rate |
//! | smallest rate | D2 | 1 Gbit/s | 100 Mbit/s |
//! | time between CNPs | 50 µs | none | none |
//! | window | none | none | rate · T |
//!
//! Deviations and choices:
//! - D1: R_AI is 40 Mbit/s in the paper, on links of 40 Gbit/s. Slower links get the same share of their rate,
//!   because senders would otherwise outrun their notifications. The paper does not give R_HAI; the share is that of
//!   200 Mbit/s on 40 Gbit/s, as in a first author's simulator (github.com/bobzhuyb/ns3-rdma). Hyper increase adds i
//!   · R_HAI, where i is the smaller number of timer or byte stages beyond F.
//! - D2: rates stay between `min_rate` and the rate of the host's link. The paper gives no smallest rate.
//! - D3: at the rate of the link the timer stops until the next CNP, because the timer would change nothing.
//! - D4: losses do not change the rate. Losses happen only without priority flow control; the sender then goes back
//!   to the first missing packet.
//! - D5: CNPs have no priority. CNPs, ACKs and NACKs are ECN-capable, so congestion points mark them, without effect,
//!   instead of dropping them at random.
//! - D6: if a mark arrives within N after a CNP, the next CNP is sent with the first packet after N, not at the end
//!   of N.
//! - D7: a CNP is a packet of its own; in the HPCC authors' code, an ACK carries the CNP. The timers of the cut and
//!   of α expire together, α's first; in the code, the cut's timer expires 1 ns after α's.
//! - D8: the window is R_C · T in bytes on the link, and at least one segment. T is the round-trip time of the
//!   connection's own path without queues (GLOBAL_T 0). A segment may begin if fewer bytes than a window are in
//!   flight.

use crate::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, Host, Opening, Recovery, TransportInfo, Window,
};
use shortflow_spec::{Flag, KeywordOr, POSITIVE_TIME, RATE, keys};
use shortflow_units::{Bytes, Instant, Rate, Span};
use std::cmp::Ordering;

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "dcqcn",
    summary: "the rate falls at notifications of marks, and rises by a timer and a byte counter; go-back-N, no window",
    source: "DCQCN, SIGCOMM 2015",
    host: Host::Roce,
    recovery: Recovery::Sack,
    ecn: Ecn::Exact,
    fills_link: false, // D4: without priority flow control, a host faster than the bottleneck overflows the buffer
    ecn_monotone: false,
};

keys! {
    /// DCQCN's parameters.
    #[derive(Copy)]
    pub struct Params {
        /// weight of a notification (CNP) in alpha
        pub g: f64 = "0.00390625", 0.0..=1.0, acts: alpha_counts;
        /// interval at which the rate is cut if a CNP has arrived since the last cut (HPCC authors); alpha then changes
        /// at each alpha_timer, no byte counter runs, and the step of hyper increase is constant; none: each CNP cuts
        /// the rate (paper)
        pub decrease_timer: Option<Span> = "none", KeywordOr("none", POSITIVE_TIME), acts: marks;
        /// time without a CNP after which alpha falls
        pub alpha_timer: Span = "55us", POSITIVE_TIME, acts: alpha_counts;
        /// interval at which the timer increases the rate
        pub rate_timer: Span = "55us", POSITIVE_TIME, acts: marks;
        /// number of sent bytes after which the byte counter increases the rate
        pub bytes: Bytes = "10MB", Bytes::new(1)..=Bytes::MAX, acts: marks && decrease_timer == none;
        /// number of increases in fast recovery (F), before additive increase begins
        pub fast_recovery: u32 = "5", 1..=1000u32, acts: marks;
        /// step of additive increase; auto: additive_share of the link's rate
        pub additive: Option<Rate> = "auto", KeywordOr("auto", RATE), acts: marks;
        /// step of additive increase as a share of the link's rate
        pub additive_share: f64 = "0.001", 0.0..=1.0, acts: marks && additive == auto;
        /// step of hyper increase; auto: hyper_share of the link's rate
        pub hyper: Option<Rate> = "auto", KeywordOr("auto", RATE), acts: marks;
        /// step of hyper increase as a share of the link's rate
        pub hyper_share: f64 = "0.005", 0.0..=1.0, acts: marks && hyper == auto;
        /// smallest rate
        pub min_rate: Rate = "10Mbps", RATE, acts: marks;
        /// limit the bytes in flight to the rate times the round-trip time without queues
        pub window: bool = "false", Flag;
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
    /// Time at which alpha next moves.
    alpha_due: Instant,
    /// With a decrease timer: true if a CNP has come since alpha last moved.
    heard: bool,
    /// With a decrease timer: time of the first CNP, at which the timer starts.
    first_cnp: Option<Instant>,
    /// With a decrease timer: time of the next expiry, if a CNP has come since the last cut.
    cut_due: Option<Instant>,
    /// Time of the rate's next rise; `None` at the rate of the link.
    rate_due: Option<Instant>,
    /// Bytes sent since the byte counter last expired, or since the last cut.
    sent: u64,
    /// Expirations of the timer, and of the byte counter, since the last cut.
    timer_stage: u32,
    byte_stage: u32,
    /// T in seconds, and the bytes of a full segment on a link.
    base_rtt: f64,
    segment: f64,
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
            heard: false,
            first_cnp: None,
            cut_due: None,
            rate_due: None,
            sent: 0,
            timer_stage: 0,
            byte_stage: 0,
            base_rtt: 0.0,
            segment: 1.0,
        }))
    }
}

impl State {
    /// Handles a CNP (Eq. 1): first the decrease, then the update of α.
    fn on_cnp(&mut self, now: Instant) {
        self.move_alpha(now);
        self.target = self.current;
        self.cut(now);
        self.alpha = (1.0 - self.params.g) * self.alpha + self.params.g;
        self.alpha_due = now + self.params.alpha_timer;
    }

    /// Notes a CNP for the next expiry of the decrease timer.
    fn note_cnp(&mut self, now: Instant, every: Span) {
        let Some(first) = self.first_cnp else {
            (self.first_cnp, self.alpha_due) = (Some(now), now + self.params.alpha_timer);
            self.cut_due = Some(now + every);
            return;
        };
        self.move_alpha(now);
        self.heard = true;
        let expired = now.since(first).as_ps() / every.as_ps();
        self.cut_due.get_or_insert(first + every.times(expired + 1));
    }

    /// Cuts the rate by α/2, and restarts all timers and counters of the increase.
    fn cut(&mut self, now: Instant) {
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(self.params.min_rate.as_bps() as f64);
        self.rate_due = Some(now + self.params.rate_timer);
        (self.sent, self.timer_stage, self.byte_stage) = (0, 0, 0);
    }

    /// α after the expirations of its timer until `now` (Eq. 2; the first by Eq. 1 if a CNP was heard), and the time
    /// of the next expiry.
    fn decayed(&self, now: Instant) -> (f64, Instant) {
        let (mut alpha, mut due, mut heard) = (self.alpha, self.alpha_due, self.heard);
        while due <= now {
            alpha *= 1.0 - self.params.g;
            if std::mem::take(&mut heard) {
                alpha += self.params.g;
            }
            due += self.params.alpha_timer;
        }
        (alpha, due)
    }

    fn move_alpha(&mut self, now: Instant) {
        let (alpha, due) = self.decayed(now);
        self.heard &= due == self.alpha_due;
        (self.alpha, self.alpha_due) = (alpha, due);
    }

    /// Increases the rate after the timer or the byte counter has expired (Eq. 3, Eq. 4; hyper increase of §5.1).
    fn rise(&mut self) {
        let Params { fast_recovery, .. } = self.params;
        let bits = |rate: Option<Rate>, share| rate.map_or(self.line * share, |rate| rate.as_bps() as f64);
        let additive = bits(self.params.additive, self.params.additive_share);
        let hyper = bits(self.params.hyper, self.params.hyper_share);
        let (fewer, more) = (self.timer_stage.min(self.byte_stage), self.timer_stage.max(self.byte_stage));
        let step = if self.params.decrease_timer.is_some() {
            match self.timer_stage.cmp(&(fast_recovery + 1)) {
                Ordering::Less => 0.0,
                Ordering::Equal => additive,
                Ordering::Greater => hyper,
            }
        } else if more < fast_recovery {
            0.0
        } else if fewer > fast_recovery {
            f64::from(fewer - fast_recovery) * hyper
        } else {
            additive
        };
        self.target = (self.target + step).min(self.line);
        self.current = (self.current + self.target) / 2.0;
        if self.line - self.current < 1.0 {
            (self.current, self.rate_due) = (self.line, None); // D3
        }
    }

    /// Sets the window to a round trip of the rate (D8).
    fn limit(&self, window: &mut Window) {
        if self.params.window {
            window.cwnd = (self.current / 8.0 * self.base_rtt / self.segment).max(1.0);
        }
    }
}

impl CongestionControl for Dcqcn {
    fn on_ack(&mut self, window: &mut Window, _: &AckSample) {
        self.0.limit(window); // the byte counter may have moved the rate since the last ACK
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView) {
        if cause == Cause::EcnEcho {
            match self.0.params.decrease_timer {
                None => self.0.on_cnp(flow.now),
                Some(every) => self.0.note_cnp(flow.now, every),
            }
            self.0.limit(window);
        }
    }

    fn on_start(&mut self, window: &mut Window, at: &Opening) {
        let (state, line) = (&mut *self.0, at.line.as_bps() as f64);
        (state.line, state.current, state.target) = (line, line, line);
        (state.base_rtt, state.segment) = (at.base_rtt.as_secs_f64(), (at.mss + at.header).as_f64());
        state.limit(window);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::new(self.0.current as u64)
    }

    fn timer(&self) -> Option<Instant> {
        self.0.rate_due.into_iter().chain(self.0.cut_due).min()
    }

    fn on_timer(&mut self, window: &mut Window, flow: &FlowView) {
        let state = &mut *self.0;
        state.move_alpha(flow.now);
        let is_due = |due: &mut Instant| *due <= flow.now;
        if state.rate_due.take_if(is_due).is_some() {
            state.timer_stage += 1;
            state.rate_due = Some(flow.now + state.params.rate_timer);
            state.rise();
        }
        // An increase due at the time of a cut comes first, because it was scheduled first.
        if state.cut_due.take_if(is_due).is_some() {
            if state.timer_stage > 0 {
                state.target = state.current;
            }
            state.cut(flow.now);
        }
        state.limit(window);
    }

    fn on_sent(&mut self, bytes: Bytes, now: Instant) {
        let state = &mut *self.0;
        if state.params.decrease_timer.is_some() {
            // α's timer may be short. Catching up at each packet keeps the loop over its expirations short.
            return state.move_alpha(now);
        }
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

    /// Eq. 1 with g = 1/4: the first decrease takes α/2 = 1/2, and α stays 1. After one expiry of α's timer α is 3/4,
    /// and the second decrease takes 3/8. Then α = 3/4 · 3/4 + 1/4.
    #[test]
    fn a_notification_cuts_by_half_of_alpha() {
        let mut law = start(Params { g: 0.25, ..Params::default() });
        cnp(&mut law, 100);
        assert_eq!((rates(&law), law.alpha(at(100).now)), ((20.0, 40.0), Some(1.0)));
        cnp(&mut law, 160);
        assert_eq!((rates(&law), law.alpha(at(160).now)), ((12.5, 20.0), Some(13.0 / 16.0)));
    }

    /// Eq. 2: α decreases by the share g every 55 µs without a notification.
    #[test]
    fn alpha_falls_with_time() {
        let mut law = start(Params { g: 0.5, ..Params::default() });
        cnp(&mut law, 0);
        for (us, alpha) in [(54, 1.0), (55, 0.5), (165, 0.125)] {
            assert_eq!(law.alpha(at(us).now), Some(alpha));
        }
    }

    /// Eq. 3: from 10 towards 20 Gbit/s by halves, four times. Eq. 4: the fifth step adds 40 Mbit/s to the target
    /// first.
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

    /// The byte counter counts like the timer. If both are beyond F, the steps of R_HAI grow.
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

    /// The rate stays between the smallest rate and the link's rate (D2), and the timer stops at the link's rate
    /// (D3).
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

    /// The HPCC authors' constants on a link of 40 Gbit/s: α's timer has 1 µs, the decrease timer 4 µs, the increase
    /// timer 300 µs.
    fn by_timers(params: Params) -> Dcqcn {
        let [alpha_timer, every, rate_timer] = [1, 4, 300].map(Span::from_micros);
        let timers = Params { alpha_timer, decrease_timer: Some(every), rate_timer, ..params };
        start(Params { fast_recovery: 1, additive_share: 0.0002, hyper_share: 0.002, ..timers })
    }

    fn run_to(law: &mut Dcqcn, us: u64) {
        while law.timer().is_some_and(|due| due <= at(us).now) {
            tick(law);
        }
    }

    /// The first CNP, at 100 µs, leaves α at 1. α's timer expires four times without another CNP; with g = 1/2, α is
    /// 1/16, and the cut takes 1/32 of the rate. Then a CNP comes at 105 µs: α is 1/32 at 105 µs, 1/2 · 1/32 + 1/2 at
    /// 106 µs, and a quarter of this at 108 µs. The cut takes half of this α.
    #[test]
    fn a_decrease_timer_cuts_after_notifications() {
        let mut law = by_timers(Params { g: 0.5, ..Params::default() });
        cnp(&mut law, 100);
        assert_eq!((rates(&law), law.timer()), ((40.0, 40.0), Some(at(104).now)));
        run_to(&mut law, 104);
        assert_eq!((rates(&law), law.alpha(at(104).now)), ((38.75, 40.0), Some(1.0 / 16.0)));
        cnp(&mut law, 105);
        assert_eq!(law.timer(), Some(at(108).now), "the timer goes on from the first CNP");
        run_to(&mut law, 108);
        let alpha = (1.0 / 64.0 + 0.5) / 4.0;
        assert_eq!(law.alpha(at(108).now), Some(alpha));
        close(rates(&law).0, 38.75 * (1.0 - alpha / 2.0));
        assert_eq!(rates(&law).1, 40.0, "no rise since the last cut: the target rate stays");
    }

    /// Every 300 µs after a cut: one step of fast recovery, then 0.0002 · 40 Gbit/s = 8 Mbit/s, then twice 80 Mbit/s.
    /// A cut after an increase takes the current rate as its target.
    #[test]
    fn increases_by_the_timer_alone() {
        let mut law = by_timers(Params { g: 0.0, ..Params::default() });
        for us in [0, 4] {
            cnp(&mut law, us);
            run_to(&mut law, us + 4);
        }
        assert_eq!(rates(&law), (10.0, 40.0));
        cnp(&mut law, 9);
        run_to(&mut law, 12);
        law.0.target = 20.0 * GIGA;
        let expected = [(12.5, 20.0), (16.254, 20.008), (18.171, 20.088), (19.1695, 20.168)];
        for (step, (current, target)) in (1..).zip(expected) {
            law.on_sent(Bytes::new(100_000_000), at(12).now);
            run_to(&mut law, 12 + 300 * step);
            close(rates(&law).0, current);
            close(rates(&law).1, target);
        }
        cnp(&mut law, 1213);
        run_to(&mut law, 1216);
        close(rates(&law).1, 19.1695);
    }

    /// D8: 40 Gbit/s · 100 µs are 500,000 bytes, 328 segments of 1,524 bytes. Half of the rate has half of the
    /// window, and the window is at least one segment.
    #[test]
    fn a_window_holds_a_round_trip_of_the_rate() {
        let (mut law, mut window) = (start(Params { window: true, ..Params::default() }), WINDOW);
        law.on_start(&mut window, &Opening { line: Rate::new(40_000_000_000).unwrap(), ..opening() });
        close(window.cwnd, 500_000.0 / 1_524.0);
        law.on_congestion(&mut window, Cause::EcnEcho, &at(0));
        close(window.cwnd, 250_000.0 / 1_524.0);
        (0..100).for_each(|_| law.on_congestion(&mut window, Cause::EcnEcho, &at(0)));
        assert_eq!(window.cwnd, 1.0);
        let (mut law, mut window) = (start(Params::default()), Window { cwnd: f64::INFINITY, ..WINDOW });
        law.on_congestion(&mut window, Cause::EcnEcho, &at(0));
        assert_eq!(window.cwnd, f64::INFINITY);
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
