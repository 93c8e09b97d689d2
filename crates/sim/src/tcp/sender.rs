//! The sender: effects of ACKs, timeouts and new data (RFC 5681), with recovery by RFC 6582, RFC 6675 or RFC
//! 8985, and ECN by RFC 3168.
//!
//! Deviations:
//! - Loss halves the flight even if ECN has reduced the window in the same round trip, because a decrease
//!   like DCTCP's may be tiny. RFC 3168 §6.1.2 allows one reduction per window.
//! - A timeout halves the window that an ECN-Echo of the same window of data has left. RFC 3168 §6.1.2 counts
//!   both as one reduction; here only fast retransmits do.
//! - Loss halves at most the window. RFC 5681 Eq. 4 halves all bytes without a cumulative ACK. Without SACK
//!   these include bytes that arrived beyond a hole: ten times the window after a recovery of ten round
//!   trips.
//! - At a window of one segment, ECN-Echo decreases the window as usual. RFC 3168 §6.1.2 would wait for the
//!   retransmission timer.
//! - The congestion window counts segments, and limits count bytes: a shorter last segment may leave when a
//!   full segment would have to wait.

mod by_rack;
mod endpoint;
mod prediction;
mod transmit;

use super::card::Card;
use super::ecn::{EcnSender, EcnVerdict};
use super::path::Path;
use super::rack_tlp::RackTlp;
use super::recovery::{LossRecovery, Phase};
use super::rto::RtoEstimator;
use super::usage::Usage;
use crate::host::priority::PriorityRule;
use crate::host::{EndpointContext, EndpointId, Flow, LazyTimer, PacketSink, SendStream};
use crate::packet::{Packet, PacketType};
use crate::specs::TcpSpec;
use shortflow_cc::{
    AckSample, Cause, CongestionControl, FlowView, HostParams, Opening, PathSample, Recovery,
    TransportConfig, Window,
};
use shortflow_units::{Bytes, Instant, Span};

/// The sending end of a connection.
#[derive(Debug)]
pub struct Sender {
    pub(super) stream: SendStream,
    pub(super) rto: RtoEstimator,
    /// Timer for retransmissions and for RACK-TLP.
    pub(super) alarm: LazyTimer,
    ecn: EcnSender,
    pub(super) loss: LossRecovery,
    /// State of RACK-TLP, if it detects losses.
    rack: Option<Box<RackTlp>>,
    /// State for laws that read delays or pace.
    path: Option<Box<Path>>,
    card: Card,
    usage: Usage,
    /// Bytes that the receiver has room for; `u64::MAX` means no limit.
    receive_window: u64,
    /// True if segments need neither priority nor telemetry nor RACK's list.
    is_plain: bool,
    /// True if the law reads the flow on every ACK.
    reads_flow: bool,
    /// True if expected ACKs take the short path.
    is_predictable: bool,
    /// True if the plan allows the short path.
    may_predict: bool,
}

impl Sender {
    /// A sender without data.
    pub fn new(
        identity: EndpointId,
        transport: &TransportConfig,
        tcp: &TcpSpec,
        initial_rto: Span,
    ) -> Sender {
        let (law, recovery) = (transport.start(), transport.recovery());
        let dupthresh = if let HostParams::Tcp(tcp) = transport.host() { tcp.dupthresh } else { 0 };
        let rack = (recovery == Recovery::Rack).then(Box::default);
        let window = Window { cwnd: tcp.initial_window, ssthresh: tcp.initial_ssthresh };
        let phase = if tcp.handshake { Phase::Connecting } else { Phase::Open };
        Sender {
            is_plain: rack.is_none() && !law.reads_path(),
            path: law.reads_path().then(Box::default),
            reads_flow: law.reads_flow(),
            stream: SendStream::new(identity, law, window, PriorityRule::default()),
            rto: RtoEstimator::new(initial_rto),
            alarm: LazyTimer::IDLE,
            ecn: EcnSender::new(transport.ecn()),
            loss: LossRecovery::new(recovery, dupthresh, phase),
            rack,
            card: Card::new(0),
            usage: Usage::new(false, tcp),
            receive_window: (tcp.receive_window * tcp.mss.as_f64()) as u64,
            is_predictable: false,
            may_predict: false,
        }
    }

    /// Sets the rule for the priority of the sender's packets.
    pub fn with_priority(mut self, priority: PriorityRule) -> Sender {
        self.stream.priority = priority;
        Sender { is_plain: self.is_plain && priority.is_none(), ..self }
    }

    /// Gives RACK the round trip of a handshake that took place before the run.
    pub fn with_round_trip(mut self, round_trip: Span) -> Sender {
        if self.loss.by == Recovery::Rack && self.loss.phase != Phase::Connecting {
            self.rto.on_known(round_trip);
            self.rack.iter_mut().for_each(|state| state.rack.on_handshake(round_trip));
        }
        self
    }

    /// Limits the segments of this connection in the host's card; 0 means no limit.
    pub fn with_small_queue(self, segments: usize, tcp: &TcpSpec) -> Sender {
        Sender { card: Card::new(segments), usage: Usage::new(segments > 0, tcp), ..self }
    }

    /// Sets whether expected ACKs may take the short path.
    pub fn with_prediction(self, may_predict: bool) -> Sender {
        Sender { may_predict, ..self }
    }

    /// Calls the law's `on_start`.
    pub fn begun(mut self, at: &Opening) -> Sender {
        self.stream.law.on_start(&mut self.stream.window, at);
        self
    }

    /// Appends a message of `size` bytes, or [`Bytes::MAX`] for an endless message. Returns its end in the
    /// stream.
    pub fn push(&mut self, flow: Flow, size: Bytes) -> u64 {
        self.stream.messages.push(flow, size)
    }

    /// First unacknowledged byte.
    #[inline]
    pub fn snd_una(&self) -> u64 {
        self.stream.snd_una
    }

    /// Congestion window and slow-start threshold.
    pub fn window(&self) -> Window {
        self.stream.window
    }

    /// Sends within the window, after [`Sender::push`]. Sends a connection request first if needed.
    pub fn start(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        if self.loss.phase != Phase::Connecting {
            self.send(cx, out);
        } else if self.alarm.deadline.is_none() {
            self.connect(cx, out);
        }
    }

    /// Handles the answer to the connection request.
    pub fn on_syn_ack(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        if self.loss.phase == Phase::Connecting {
            self.loss.phase = Phase::Open;
            self.rto.on_ack(0, cx.now, cx.tcp);
            let round_trip = self.rto.srtt(); // zero after a second request (Karn)
            if !round_trip.is_zero() {
                self.rack.iter_mut().for_each(|state| state.rack.on_handshake(round_trip));
            }
            self.alarm.deadline = None;
            self.send(cx, out);
        }
    }

    /// Sends within the window.
    fn send(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        if self.loss.by == Recovery::Rack {
            self.send_by_rack(cx, out);
            self.set_timers(cx);
        } else {
            self.transmit(cx, out);
        }
    }

    /// Handles an ACK.
    #[inline]
    pub fn on_ack(&mut self, ack: &Packet, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        if ack.seq > self.stream.snd_max {
            return; // for data that was never sent (RFC 9293 §3.10.7.4)
        }
        if ack.seq < self.stream.snd_una {
            // A later ACK overtook this one. It acknowledges nothing, but brings the mark and the delay of its packet.
            return self.observe(ack, cx);
        }
        let mut news = true;
        match self.loss.by {
            Recovery::Sack if ack.extension.is_some() => {
                news = self.loss.add_blocks(ack, self.stream.snd_max);
            }
            Recovery::Sack | Recovery::NewReno => {}
            Recovery::Rack => return self.on_ack_by_rack(ack, cx, out),
        }
        if ack.seq > self.stream.snd_una {
            self.on_new_ack(ack, cx, out);
        } else {
            self.observe(ack, cx);
            let sizes = (self.stream.segment_size(u64::MAX, cx.tcp), cx.tcp.mss.get());
            if self.stream.snd_max > self.stream.snd_una
                && self.loss.on_duplicate(ack, news, self.stream.snd_una, sizes)
            {
                self.enter_recovery(cx, out);
            }
        }
        self.transmit(cx, out);
    }

    /// Deadline of the retransmission timer, if no data has been acknowledged for many round trips.
    pub(crate) fn stalled_until(&self, now: Instant) -> Option<Instant> {
        let (deadline, rto) = (self.alarm.deadline?, self.rto.rto());
        let silence = rto.saturating_sub(deadline.since(now.min(deadline)));
        (silence > self.rto.srtt().times(8).max(rto.divided_by(16))).then_some(deadline)
    }

    /// Handles a timer of RACK-TLP or the retransmission timer (RFC 6298 (5.4) to (5.6), RFC 5681 §3.1).
    pub fn on_timeout(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        if self.on_alarm(cx, out) {
            return;
        }
        self.rto.back_off(cx.tcp);
        self.stream.count_timeout();
        if self.loss.phase == Phase::Connecting {
            return self.connect(cx, out);
        }
        let ssthresh = self.stream.window.ssthresh;
        let unsacked = self.loss.scoreboard.unsacked_bytes(self.stream.snd_una, self.stream.snd_nxt);
        self.decrease(Cause::Timeout, unsacked, cx);
        if self.loss.on_timeout(self.stream.snd_una, self.stream.snd_max) {
            self.stream.window.ssthresh = ssthresh;
        }
        self.rto.on_retransmit();
        if self.loss.by == Recovery::Rack {
            return self.resend_by_rack(cx, out);
        }
        self.stream.snd_nxt = self.stream.snd_una;
        self.alarm.deadline = None;
        self.transmit(cx, out);
    }

    fn connect(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        if self.alarm.deadline.is_none() {
            self.rto.on_send(0, cx.now);
        } else {
            self.rto.on_retransmit();
        }
        self.alarm.deadline = Some(cx.now + self.rto.rto());
        out.send(Packet { kind: PacketType::Syn, ..self.stream.identity.control(0, cx.tcp) });
    }

    #[inline(never)] // keeps the path of expected ACKs short
    fn on_new_ack(&mut self, ack: &Packet, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        let acked = ack.seq - self.stream.snd_una;
        self.stream.snd_una = ack.seq;
        self.stream.snd_nxt = self.stream.snd_nxt.max(self.stream.snd_una);
        self.loss.scoreboard.advance(self.stream.snd_una);
        self.rto.on_ack(self.stream.snd_una, cx.now, cx.tcp);
        // After a loss, most bytes that an ACK covers arrived earlier, so the window must not grow by all of
        // them (RFC 3465 §2.3).
        let each = cx.tcp.grow_by_segments && self.loss.phase == Phase::Open;
        let is_partial = self.loss.on_new_ack(self.stream.snd_una);
        let restart = !is_partial || self.on_partial_ack(acked, cx, out);
        self.adapt(ack, (acked, each), cx);
        if self.stream.snd_una == self.stream.snd_max {
            self.alarm.deadline = None; // RFC 6298 (5.2)
        } else if restart {
            self.alarm.deadline = Some(cx.now + self.rto.rto()); // (5.3)
        }
    }

    /// Shows the law the ACK, or with `each` one ACK per segment that it covers. Decreases for ECN-Echo at
    /// most once per window of data.
    #[inline(always)]
    fn adapt(&mut self, ack: &Packet, (acked, each): (u64, bool), cx: EndpointContext<'_>) {
        debug_assert!(acked > 0);
        let in_recovery = self.loss.phase == Phase::Recovery;
        let EcnVerdict { ece, decreases, grows } =
            self.ecn.on_ack(ack.ecn_flag, self.stream.snd_una, in_recovery, cx.tcp.grow_on_marked_acks);
        let limited = self.usage.is_limited(&self.stream, cx.tcp);
        let sample = AckSample {
            acked: Bytes::new(acked),
            ece,
            may_grow: grows && !in_recovery && limited,
            limited,
            in_recovery,
            snd_una: self.stream.snd_una,
            snd_nxt: self.stream.snd_nxt,
            path: self.path_sample(cx.now, ack),
            flow: FlowView::blank(cx.now, cx.tcp.mss),
        };
        if each || self.reads_flow {
            self.adapt_in_steps(sample, if each { cx.tcp.mss } else { sample.acked }, cx);
        } else {
            self.stream.law.on_ack(&mut self.stream.window, &sample);
        }
        if decreases {
            self.decrease_for_ecn(cx);
        }
        if self.stream.window.cwnd > cx.tcp.receive_window {
            self.stream.window.cwnd = cx.tcp.receive_window;
        }
    }

    #[inline(never)] // keeps the path of other ACKs short
    fn decrease_for_ecn(&mut self, cx: EndpointContext<'_>) {
        let (flow, window) = (self.flow_view(cx), self.stream.window_bytes(cx.tcp));
        self.stream.decrease(Cause::EcnEcho, &flow);
        self.ecn.once.on_decrease(self.stream.snd_nxt, window);
    }

    /// Shows the law the flow, and one ACK for each `step` bytes that `sample` covers.
    #[inline(never)] // keeps the path of other laws short
    fn adapt_in_steps(&mut self, sample: AckSample, step: Bytes, cx: EndpointContext<'_>) {
        let flow = if self.reads_flow { self.flow_view(cx) } else { sample.flow };
        let mut start = sample.snd_una - sample.acked.get();
        let mut news = sample.path.map_or(Bytes::ZERO, |path| path.newly_delivered);
        while start < sample.snd_una {
            let acked = step.min(Bytes::new(sample.snd_una - start));
            start += acked.get();
            let newly_delivered = if start < sample.snd_una { news.min(acked) } else { news };
            news = news.saturating_sub(newly_delivered);
            let path = sample.path.map(|path| PathSample { newly_delivered, ..path });
            self.stream
                .law
                .on_ack(&mut self.stream.window, &AckSample { acked, snd_una: start, path, flow, ..sample });
        }
    }

    /// A partial ACK shows the next hole. Returns true if the retransmission timer restarts.
    fn on_partial_ack(&mut self, acked: u64, cx: EndpointContext<'_>, out: &mut impl PacketSink) -> bool {
        match self.loss.by {
            // The pipe estimate sends the next hole, so only the timer restarts.
            Recovery::Sack | Recovery::Rack => true,
            Recovery::NewReno => {
                let segment = self.stream.segment_size(u64::MAX, cx.tcp);
                let restart = self.loss.inflation.on_partial(acked, segment);
                self.retransmit_first(cx, out);
                restart
            }
        }
    }

    fn enter_recovery(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        self.decrease(Cause::FastRetransmit, self.stream.snd_nxt - self.stream.snd_una, cx);
        self.loss.enter(self.stream.snd_max, self.stream.segment_size(u64::MAX, cx.tcp));
        let end = self.retransmit_first(cx, out);
        self.loss.scoreboard.enter_recovery(end);
        self.alarm.deadline = Some(cx.now + self.rto.rto());
    }

    /// Lets the law react to a loss. The flight is at most a window, because some of the `unacknowledged`
    /// bytes may have arrived beyond a hole.
    fn decrease(&mut self, cause: Cause, unacknowledged: u64, cx: EndpointContext<'_>) {
        let window = match cause {
            Cause::Timeout => self.stream.window_bytes(cx.tcp),
            // Take the window before an ECN-Echo of the same window of data: RFC 3168 §6.1.2 counts both as
            // one reduction.
            _ => self.stream.window_bytes(cx.tcp).max(self.ecn.once.window_before(self.stream.snd_una)),
        };
        let flow = FlowView { flight: Bytes::new(unacknowledged.min(window)), ..self.flow_view(cx) };
        self.stream.decrease(cause, &flow);
        self.ecn.once.on_decrease(self.stream.snd_max, 0);
    }

    /// Shows the law an ACK that does not advance `snd_una`.
    #[inline]
    fn observe(&mut self, ack: &Packet, cx: EndpointContext<'_>) {
        if let Some(path) = self.path_sample(cx.now, ack) {
            self.show(ack, path, cx);
        }
    }

    #[inline(never)]
    fn show(&mut self, ack: &Packet, path: PathSample, cx: EndpointContext<'_>) {
        let sample = AckSample {
            ece: self.ecn.hears(ack.ecn_flag),
            may_grow: false,
            limited: self.usage.is_limited(&self.stream, cx.tcp),
            in_recovery: self.loss.phase == Phase::Recovery,
            path: Some(path),
            ..self.stream.sample(self.flow_view(cx), 0)
        };
        self.stream.law.on_ack(&mut self.stream.window, &sample);
    }

    /// Path sample from the packet that `ack` acknowledges.
    #[inline]
    fn path_sample(&mut self, now: Instant, ack: &Packet) -> Option<PathSample> {
        if ack.extension.is_some() { self.new_path_sample(now, ack) } else { None }
    }

    #[inline(never)] // keeps the path of other senders short
    fn new_path_sample(&mut self, now: Instant, ack: &Packet) -> Option<PathSample> {
        let path = self.path.as_deref_mut()?;
        let (una, max) = (self.stream.snd_una, self.stream.snd_max);
        let delivered = max - self.loss.scoreboard.unsacked_bytes(una, max);
        path.sample(now, ack, &mut self.stream, delivered)
    }

    /// The law's view of the oldest unfinished message.
    #[inline(never)] // few laws read the flow on every ACK
    pub(super) fn flow_view(&self, cx: EndpointContext<'_>) -> FlowView {
        self.stream.view(self.rto.srtt(), cx)
    }
}
