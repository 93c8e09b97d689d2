//! Inputs of a congestion control, and the window that it sets.

use shortflow_spec::words;
use shortflow_units::{Bytes, Instant, Rate, Span};

/// The two variables of RFC 5681, in segments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow start threshold.
    pub ssthresh: f64,
}

impl Window {
    /// True below ssthresh (RFC 5681 §3.1).
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// Sender's view of the flow in transmission.
#[derive(Debug, Clone, Copy)]
pub struct FlowView {
    /// The present time.
    pub now: Instant,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Bytes of this flow sent so far, retransmissions not counted.
    pub sent: Bytes,
    /// Bytes of this flow not yet acknowledged, sent or not; [`Bytes::MAX`] for a backlogged flow.
    pub remaining: Bytes,
    /// Bytes sent and not yet acknowledged (RFC 5681 FlightSize). In [`CongestionControl::on_congestion`] for a loss, at most
    /// the window, and at a timeout without SACKed bytes: after a long recovery most bytes have left the network.
    pub flight: Bytes,
    /// Completion deadline of the flow.
    pub deadline: Option<Instant>,
    /// Role that the application states.
    pub role: Role,
}

/// Urgency of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The application does not say.
    #[default]
    Unknown,
    /// Urgent: a query or a short flow.
    Short,
    /// Background.
    Long,
}

impl Role {
    /// The role of a traffic class by its name.
    pub fn of_class(name: &str) -> Role {
        match name {
            "short" | "query" => Role::Short,
            "long" | "background" => Role::Long,
            _ => Role::Unknown,
        }
    }
}

impl FlowView {
    /// A view without a message.
    #[inline]
    pub fn blank(now: Instant, mss: Bytes) -> FlowView {
        let (srtt, sent, deadline, role) = (Span::ZERO, Bytes::ZERO, None, Role::Unknown);
        FlowView { now, srtt, mss, sent, remaining: Bytes::ZERO, flight: Bytes::ZERO, deadline, role }
    }

    /// FlightSize in segments.
    pub fn flight_segments(&self) -> f64 {
        self.flight.as_f64() / self.mss.as_f64()
    }
}

/// Time, path and segments of a new connection, before its first packet.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    /// The present time.
    pub now: Instant,
    /// Rate of the link of the sender's host.
    pub line: Rate,
    /// Time that a full segment and its ACK take through an empty network.
    pub base_rtt: Span,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Bytes that a link carries with each segment, beside its payload.
    pub header: Bytes,
}

impl Opening {
    /// Segments that fill the path, as a fraction: line · base_rtt over the bytes of a segment on the link.
    pub fn bdp(&self) -> f64 {
        let bytes = self.line.as_bps() as f64 * self.base_rtt.as_secs_f64() / 8.0;
        bytes / (self.mss + self.header).as_f64()
    }
}

/// One acknowledgement that advanced `snd_una`; for laws that read the path any, since others bring samples too.
#[derive(Debug, Clone, Copy)]
pub struct AckSample {
    /// By how many bytes `snd_una` advanced.
    pub acked: Bytes,
    /// The ACK carried ECN-Echo.
    pub ece: bool,
    /// The window may grow: it limits the sender, and the ACK advances, not in loss recovery, and is not marked unless the run allows
    /// that.
    pub may_grow: bool,
    /// The window limits the sender, so that it may grow by laws that ask for nothing else; always, unless the run asks for it.
    pub limited: bool,
    /// The sender is in loss recovery.
    pub in_recovery: bool,
    /// First unacknowledged byte after this ACK.
    pub snd_una: u64,
    /// First byte not yet sent.
    pub snd_nxt: u64,
    /// The flow.
    pub flow: FlowView,
    /// Path of the acknowledged packet; `None` unless [`CongestionControl::reads_path`], or if the ACK
    /// acknowledges no packet.
    pub path: Option<PathSample>,
}

impl AckSample {
    /// An unmarked ACK of `acked` bytes of `flow`, which may grow the window; the first of its connection.
    pub fn of(flow: FlowView, acked: Bytes) -> AckSample {
        let (may_grow, limited) = (true, true);
        AckSample {
            acked,
            ece: false,
            may_grow,
            limited,
            in_recovery: false,
            snd_una: 0,
            snd_nxt: 0,
            flow,
            path: None,
        }
    }

    /// Marked bytes among the bytes that this ACK reports first, as far as ECN-Echo shows: exact with [`Ecn::Exact`], and
    /// for laws that read the path, in any order of arrival.
    pub fn marked(&self) -> Bytes {
        let news = self.path.map_or(self.acked, |path| path.newly_delivered);
        if self.ece { news } else { Bytes::ZERO }
    }
}

/// Path of a data packet and its ACK. For a retransmitted packet, the path of the last copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathSample {
    /// From the sender's hand-over of the packet to its host's port until now.
    pub rtt: Span,
    /// Smallest round trip of this connection.
    pub min_rtt: Span,
    /// Part of `rtt` that was spent in queues of switches, both ways.
    pub in_switches: Span,
    /// Part of `rtt` that was spent in the two hosts: in their queues, with a receiver that delayed its ACK, and in their
    /// jitter and stalls.
    pub in_hosts: Span,
    /// Part of `in_hosts` in the queue of the sender's own host.
    pub at_sender: Span,
    /// Part of `in_hosts` in the receiver's queue, behind its own packets.
    pub at_receiver: Span,
    /// Part of `in_hosts` for which the receiver delayed its ACK to answer several packets at once.
    pub ack_delay: Span,
    /// Switches that the data packet crossed.
    pub hops: u32,
    /// Bytes delivered by the connection so far, SACKed bytes included.
    pub delivered: Bytes,
    /// Part of `delivered` that this ACK reports first.
    pub newly_delivered: Bytes,
    /// Delivery rate since the packet was sent (draft-ietf-ccwg-bbr §4.1); `None` over less than `min_rtt`, and of an ACK
    /// that delivers nothing.
    pub rate: Option<Rate>,
    /// The sender had no more data at the transmission; the rate is then a lower bound.
    pub app_limited: bool,
}

impl PathSample {
    /// Part of `in_hosts` that is neither in a queue to the network nor intended: late processors.
    pub fn at_work(&self) -> Span {
        self.in_hosts.saturating_sub(self.at_sender + self.at_receiver + self.ack_delay)
    }

    /// Round-trip time with empty queues.
    pub fn base_rtt(&self) -> Span {
        self.rtt.saturating_sub(self.in_switches + self.in_hosts)
    }
}

/// A port of a switch at the departure of a data packet, which carried this report on (in-band telemetry).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HopSample {
    /// Number of the port.
    pub port: u32,
    /// When the packet began to leave.
    pub at: Instant,
    /// Bytes that the port had sent on its link before, with what a link cannot use between frames.
    pub sent: Bytes,
    /// Bytes that waited behind the packet.
    pub queued: Bytes,
    /// Rate of the link.
    pub rate: Rate,
}

/// Why the window must shrink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// First ECN-Echo of a window of data.
    EcnEcho,
    /// Loss found by duplicate ACKs or by the SACK scoreboard.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
}

/// A congestion control. Windows are in segments and may be fractional.
pub trait CongestionControl {
    /// The packet that an ACK answers has left these ports, in their order. [`CongestionControl::on_ack`] follows for the same ACK.
    fn on_hops(&mut self, _: &[HopSample]) {}

    /// Account for an ACK and, where [`AckSample::may_grow`] allows it, open the window.
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample);

    /// Shrink the window once for `cause`. After [`Cause::Timeout`] most leave one segment.
    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView);

    /// A connection begins. The window has the size that its host suggests: with TCP's hosts `tcp.initial_window`, with pFabric's
    /// a bandwidth-delay product, with RoCE's none, which is an infinite cwnd.
    fn on_start(&mut self, _: &mut Window, _at: &Opening) {}

    /// The law needs a [`PathSample`] with each ACK. Only then does the sender pace and offer timers.
    fn reads_path(&self) -> bool {
        false
    }

    /// The law, which reads the path too, needs [`HopSample`]s. Ports of switches then report, and decide departures one by one.
    fn reads_hops(&self) -> bool {
        false
    }

    /// Rate on the wire at which the sender paces its packets; `None` to send whenever the window has room. Without
    /// one, a window below one segment sends a segment every round-trip time over cwnd.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Time of the next call of [`CongestionControl::on_timer`].
    fn timer(&self) -> Option<Instant> {
        None
    }

    /// The time that [`CongestionControl::timer`] told has come.
    fn on_timer(&mut self, _: &mut Window, _: &FlowView) {}

    /// The sender has sent this many bytes, headers included.
    fn on_sent(&mut self, _: Bytes, _now: Instant) {}

    /// True if [`CongestionControl::on_ack`] reads more of the flow than its segment size and the time; the rest is blank
    /// otherwise.
    fn reads_flow(&self) -> bool {
        true
    }

    /// Payload of the next segment, at most `mss`, where `room` bytes of the window are free. More than
    /// `room` makes the sender wait.
    #[inline]
    fn segment_size(&self, _: &Window, mss: Bytes, _room: Bytes) -> Bytes {
        mss
    }

    /// Bytes that may be outstanding. cwnd is not negative.
    #[inline]
    fn window_bytes(&self, window: &Window, mss: Bytes) -> Bytes {
        debug_assert!(window.cwnd >= 0.0, "cwnd of {}", window.cwnd);
        Bytes::new((window.cwnd * mss.get() as i64 as f64) as i64 as u64) // signed: few instructions
    }

    /// The smallest window that the law keeps, in segments.
    fn floor(&self, _mss: Bytes) -> f64 {
        1.0
    }

    /// The congestion estimate of ECN senders at this time, for probes.
    fn alpha(&self, _: Instant) -> Option<f64> {
        None
    }
}

words! {
    /// Detection and repair of losses.
    pub enum Recovery {
        /// RFC 6582: one hole per round trip on partial ACKs.
        NewReno = "newreno",
        /// RFC 6675: a scoreboard and a pipe estimate.
        Sack = "sack",
        /// RFC 8985 and RFC 6937: the times of segments, probes of the tail, and a proportional reduction.
        Rack = "rack",
    }
}

words! {
    /// ECN behaviour of sender and receiver.
    pub enum Ecn {
        /// Packets are not ECN-capable.
        Off = "off",
        /// RFC 3168: the echo persists until CWR arrives.
        Classic = "classic",
        /// RFC 8257 §3.2: each CE mark is echoed exactly.
        Exact = "exact",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Defaults of a law are TCP's.
    #[test]
    fn a_plain_law_keeps_the_configured_window_and_whole_segments() {
        let (mut law, mss) = (crate::newreno::NewReno, Bytes::new(1460));
        let window = Window { cwnd: 2.5, ssthresh: 2.0 };
        assert_eq!(
            (first_window(&mut law, 10.0), law.floor(mss), law.alpha(Instant::ZERO)),
            (10.0, 1.0, None)
        );
        assert_eq!(law.segment_size(&window, mss, Bytes::new(100)), mss);
        assert_eq!(law.window_bytes(&window, mss), Bytes::new(3650));
    }

    #[test]
    fn a_class_tells_its_role_by_its_name() {
        let names = ["short", "query", "long", "background", "video"];
        let roles = [Role::Short, Role::Short, Role::Long, Role::Long, Role::Unknown];
        assert_eq!(names.map(Role::of_class), roles);
    }

    /// A flow of full 1460-byte segments with `flight` of them unacknowledged.
    pub(crate) fn flow(flight: u64) -> FlowView {
        FlowView {
            now: Instant::ZERO,
            srtt: Span::from_micros(300),
            mss: Bytes::new(1460),
            sent: Bytes::ZERO,
            remaining: Bytes::MAX,
            flight: Bytes::new(flight * 1460),
            deadline: None,
            role: Role::Unknown,
        }
    }

    /// A path of 10 Gbit/s and 100 µs, which holds 82 segments of 1,460 bytes in 1,524 on the link.
    pub(crate) fn opening() -> Opening {
        Opening {
            now: Instant::ZERO,
            line: Rate::new(10_000_000_000).unwrap(),
            base_rtt: Span::from_micros(100),
            mss: Bytes::new(1460),
            header: Bytes::new(64),
        }
    }

    #[test]
    fn segments_fill_the_path() {
        close(opening().bdp(), 125_000.0 / 1_524.0);
        // pFabric's network: 10 Gbit/s and 14.6 us hold twelve packets of 1,500 bytes.
        let (base_rtt, header) = (Span::from_nanos(14_600), Bytes::new(40));
        close(Opening { base_rtt, header, ..opening() }.bdp().round(), 12.0);
    }

    /// cwnd of a new connection whose host suggests `suggested` segments.
    pub(crate) fn first_window(law: &mut dyn CongestionControl, suggested: f64) -> f64 {
        let mut window = Window { cwnd: suggested, ssthresh: f64::INFINITY };
        law.on_start(&mut window, &opening());
        window.cwnd
    }

    /// An ACK of one full segment that is the last of its window of data.
    pub(crate) fn ack(ece: bool) -> AckSample {
        AckSample { ece, may_grow: !ece, snd_una: 1, ..AckSample::of(flow(10), Bytes::new(1460)) }
    }

    /// Asserts equality up to rounding.
    pub(crate) fn close(measured: f64, expected: f64) {
        assert!((measured - expected).abs() <= 1e-9 * expected.abs(), "{measured} is not {expected}");
    }

    /// The window that `cause` leaves of `cwnd` segments, all of them in flight.
    pub(crate) fn left(law: &mut dyn CongestionControl, cwnd: f64, cause: Cause, flow: &FlowView) -> Window {
        let mut window = Window { cwnd, ssthresh: f64::INFINITY };
        law.on_congestion(&mut window, cause, flow);
        window
    }
}
