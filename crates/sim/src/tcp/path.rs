//! Telemetry, pacer and timer for laws that read the path ([`CongestionControl::reads_path`]). Other senders
//! have no such state.
//!
//! Deviation: the first segment of a fast retransmit waits neither for the pacer nor for the window (RFC 6675
//! §5 (4.3)). With NewReno, this holds for each segment that a partial ACK requests. Later segments wait.

use super::sender::{Phase, Sender};
use crate::host::{EndpointContext, Outbox};
use crate::packet::{Extension, Packet};
use crate::specs::TcpSpec;
use shortflow_cc::{AckSample, CongestionControl, Ecn, PathSample, Recovery};
use shortflow_units::{Bytes, Instant};

/// Numbers of the sender's timers.
const PACE: u8 = 1;
const LAW: u8 = 2;
pub(crate) const CARD: u8 = 3;

impl Sender {
    /// Telemetry of a data packet that leaves now. `is_alone` is true if no other data is in flight.
    pub(super) fn telemetry(
        &mut self,
        payload: Bytes,
        is_alone: bool,
        EndpointContext { now, tcp }: EndpointContext<'_>,
    ) -> Option<Box<Extension>> {
        let path = self.path.as_mut()?;
        self.stream.law.on_sent(tcp.frame(payload), now);
        path.sent = Some((now, tcp.link_bytes(payload)));
        Some(path.meter.on_sent(now, is_alone))
    }

    /// Path sample from the packet that `ack` acknowledges.
    #[inline]
    pub(super) fn path_sample(&mut self, now: Instant, ack: &Packet) -> Option<PathSample> {
        if ack.extension.is_some() { self.new_path_sample(now, ack) } else { None }
    }

    #[inline(never)]
    fn new_path_sample(&mut self, now: Instant, ack: &Packet) -> Option<PathSample> {
        let extension = ack.extension.as_ref()?;
        if !extension.hops.is_empty() {
            self.stream.law.on_hops(&extension.hops);
        }
        let outstanding = self.scoreboard.unsacked_bytes(self.stream.snd_una, self.stream.snd_max);
        Some(self.path.as_mut()?.meter.sample(now, ack.telemetry()?, self.stream.snd_max - outstanding))
    }

    /// Shows the law an ACK that does not advance `snd_una`.
    #[inline]
    pub(super) fn observe(&mut self, ack: &Packet, cx: EndpointContext<'_>) {
        if let Some(path) = self.path_sample(cx.now, ack) {
            self.show(ack, path, cx);
        }
    }

    #[inline(never)]
    fn show(&mut self, ack: &Packet, path: PathSample, cx: EndpointContext<'_>) {
        let sample = AckSample {
            ece: ack.ecn_flag && self.ecn != Ecn::Off,
            may_grow: false,
            limited: self.is_limited(cx.tcp),
            in_recovery: self.phase == Phase::Recovery,
            path: Some(path),
            ..self.stream.sample(self.flow_view(cx), 0)
        };
        self.stream.law.on_ack(&mut self.stream.window, &sample);
    }

    /// Bytes in flight, if the application limits the sender: data has run out, the window has room, and no
    /// lost segment waits for retransmission (draft-ietf-ccwg-bbr, CheckIfApplicationLimited).
    fn app_limited(&self, tcp: &TcpSpec) -> Option<u64> {
        let (in_flight, all_resent) = match (&self.rack, self.recovery, self.phase) {
            (Some(state), ..) => (state.rack.pipe(), state.rack.is_all_resent()),
            (None, Recovery::Sack, Phase::Recovery) => {
                let (una, max, mss) = (self.stream.snd_una, self.stream.snd_max, tcp.mss.get());
                let next = self.scoreboard.next_segment(una, max, mss, false);
                (self.scoreboard.pipe(una, max, mss), next.is_none())
            }
            _ => (self.outstanding(), self.stream.snd_nxt == self.stream.snd_max),
        };
        let is_limited = all_resent
            && in_flight < self.window_bytes(tcp)
            && self.stream.messages.of(self.stream.snd_max).is_none();
        is_limited.then_some(in_flight)
    }

    /// True if a segment may exceed the window. With a window below one segment, one segment at a time is in
    /// flight, and the pacer spaces these segments.
    #[inline]
    pub(super) fn may_exceed(&self, outstanding: u64) -> bool {
        outstanding == 0 && self.path.is_some()
    }

    /// True if the pacer holds the next segment. Sets the pacer's deadline.
    #[inline]
    pub(super) fn is_paced_out(&mut self, now: Instant) -> bool {
        self.path.is_some() && self.hold_back(now)
    }

    /// True if the card holds the next segment until it wakes the sender. The first segment after a timeout
    /// passes the limit.
    #[inline]
    pub(super) fn is_held_by_card(&self, now: Instant) -> bool {
        self.card.is_full(now) && self.stream.snd_nxt > self.stream.snd_una
    }

    #[inline(never)]
    fn hold_back(&mut self, now: Instant) -> bool {
        let (rate, cwnd) = (self.stream.law.pacing_rate(), self.stream.window.cwnd);
        let Some(path) = &mut self.path else { return false };
        path.pace.deadline = Some(path.due(rate, cwnd)).filter(|due| *due > now);
        path.pace.deadline.is_some()
    }

    /// Arms the timers of pacer and law, and records whether the application limits the sender.
    #[inline(never)] // keeps the path of other senders short
    pub(super) fn arm_path(&mut self, tcp: &TcpSpec, out: &mut impl Outbox) {
        let app_limited = self.app_limited(tcp);
        let Some(path) = &mut self.path else { return };
        if let Some(in_flight) = app_limited {
            path.meter.note_app_limited(in_flight);
        }
        path.law.deadline = self.stream.law.timer();
        for (timer, alarm) in [(PACE, &mut path.pace), (LAW, &mut path.law)] {
            if let Some(at) = alarm.arm() {
                out.set_timer(timer, at);
            }
        }
    }

    /// The timer of the card, of the pacer or of the law fires.
    pub(super) fn on_path_timer(&mut self, timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if timer == CARD {
            if self.card.alarm.expired(cx.now) {
                self.send(cx, out);
            }
            return;
        }
        let Some(path) = &mut self.path else { return };
        if timer == PACE {
            if path.pace.expired(cx.now) {
                path.pace.deadline = None;
                self.send(cx, out);
            }
        } else if path.law.expired(cx.now) {
            let flow = self.flow_view(cx);
            self.stream.law.on_timer(&mut self.stream.window, &flow);
            self.send(cx, out);
        }
    }
}
