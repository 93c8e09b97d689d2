//! Inputs of a congestion control, and the window that the congestion control sets.

use shortflow_spec::words;
use shortflow_units::{Bytes, Instant, Rate, Span};

/// Congestion window and slow-start threshold of RFC 5681, in segments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
}

impl Window {
    /// True while cwnd is below ssthresh (RFC 5681 §3.1).
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// State of the flow that a sender transmits, as the congestion control sees it.
#[derive(Debug, Clone, Copy)]
pub struct FlowView {
    /// The present time.
    pub now: Instant,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Bytes of this flow sent so far, without retransmissions.
    pub sent: Bytes,
    /// Bytes of this flow not yet acknowledged, sent or not; [`Bytes::MAX`] for a backlogged flow.
    pub remaining: Bytes,
    /// Bytes sent and not yet acknowledged (FlightSize of RFC 5681). For a loss, [`CongestionControl::on_congestion`]
    /// sees at most a window of bytes. For a timeout, it sees no SACKed bytes either, because after a long recovery
    /// most bytes have left the network.
    pub flight: Bytes,
    /// Completion deadline of the flow.
    pub deadline: Option<Instant>,
    /// Urgency of the flow, as the application states it.
    pub role: Role,
}

/// Urgency of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The application states no role.
    #[default]
    Unknown,
    /// Urgent: a query or a short flow.
    Short,
    /// Background.
    Long,
}

impl Role {
    /// Role of the traffic class called `name`.
    pub fn of_class(name: &str) -> Role {
        match name {
            "short" | "query" => Role::Short,
            "long" | "background" => Role::Long,
            _ => Role::Unknown,
        }
    }
}

impl FlowView {
    /// A view with only the time and the segment size, for laws that read nothing else.
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

/// A connection before its first packet: the time, its path and the sizes of its segments.
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
    /// Bytes that a segment takes on a link in addition to its payload.
    pub header: Bytes,
}

impl Opening {
    /// Bandwidth-delay product in segments, not rounded: line · base_rtt over the bytes of a segment on the link.
    /// It is at most 10⁶, because the base round trip contains transmission times: behind a link of a few
    /// bit/s, a first window of this size would have billions of segments.
    pub fn bdp(&self) -> f64 {
        let bytes = self.line.as_bps() as f64 * self.base_rtt.as_secs_f64() / 8.0;
        (bytes / (self.mss + self.header).as_f64()).min(1e6)
    }
}

/// One ACK. Laws that read the path get a sample of every ACK; other laws get samples only of ACKs that advance
/// `snd_una`.
#[derive(Debug, Clone, Copy)]
pub struct AckSample {
    /// Bytes by which `snd_una` advanced.
    pub acked: Bytes,
    /// True if the ACK carries ECN-Echo.
    pub ece: bool,
    /// True if this ACK may open the window: the ACK advances `snd_una`, the sender is not in loss recovery, and the
    /// window limits the sender. A marked ACK may open the window only if `tcp.grow_on_marked_acks` allows it.
    pub may_grow: bool,
    /// True if the window limits the sender. Always true unless `tcp.growth` requires this limit for growth.
    pub limited: bool,
    /// True if the sender is in loss recovery.
    pub in_recovery: bool,
    /// First unacknowledged byte after this ACK.
    pub snd_una: u64,
    /// First byte not yet sent.
    pub snd_nxt: u64,
    /// The flow.
    pub flow: FlowView,
    /// Path of the acknowledged packet; `None` if the law does not read the path ([`CongestionControl::reads_path`]),
    /// or if the ACK acknowledges no packet.
    pub path: Option<PathSample>,
}

impl AckSample {
    /// An unmarked ACK of `acked` bytes of `flow`, which may open the window; the first ACK of its connection.
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

    /// Marked bytes among the bytes that this ACK is the first to report, according to ECN-Echo. The count is exact
    /// with [`Ecn::Exact`]; for laws that read the path, it is exact in any order of arrival.
    pub fn marked(&self) -> Bytes {
        let news = self.path.map_or(self.acked, |path| path.newly_delivered);
        if self.ece { news } else { Bytes::ZERO }
    }
}

/// Delays of a data packet and its ACK. For a retransmitted packet, the delays of the last copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathSample {
    /// Time since the sender handed the packet to the port of its host.
    pub rtt: Span,
    /// Smallest round trip of this connection.
    pub min_rtt: Span,
    /// Part of `rtt` in the queues of switches, in both directions.
    pub in_switches: Span,
    /// Part of `rtt` in the two hosts: in their queues, in the receiver's delay of the ACK, and in jitter and stalls
    /// of the hosts.
    pub in_hosts: Span,
    /// Part of `in_hosts` in the queue of the sender's own host.
    pub at_sender: Span,
    /// Part of `in_hosts` in the queue of the receiver's host, behind other packets of this host.
    pub at_receiver: Span,
    /// Part of `in_hosts` for which the receiver delayed its ACK to acknowledge several packets at once.
    pub ack_delay: Span,
    /// Switches that the data packet crossed.
    pub hops: u32,
    /// Bytes delivered by the connection so far, SACKed bytes included.
    pub delivered: Bytes,
    /// Part of `delivered` that this ACK is the first to report.
    pub newly_delivered: Bytes,
    /// Delivery rate since the packet was sent (draft-ietf-ccwg-bbr §4.1). `None` if the rate was measured over less
    /// than `min_rtt`, or if the ACK reports no newly delivered bytes.
    pub rate: Option<Rate>,
    /// True if the sender ran out of data when it sent the packet; the rate is then a lower bound.
    pub app_limited: bool,
}

impl PathSample {
    /// Part of `in_hosts` for which a processor was late: neither a wait in a host's queue nor an intended ACK delay.
    pub fn at_work(&self) -> Span {
        self.in_hosts.saturating_sub(self.at_sender + self.at_receiver + self.ack_delay)
    }

    /// Round-trip time with empty queues.
    pub fn base_rtt(&self) -> Span {
        self.rtt.saturating_sub(self.in_switches + self.in_hosts)
    }
}

/// State of a switch port when a data packet left the port, carried by this packet (in-band telemetry).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HopSample {
    /// Number of the port.
    pub port: u32,
    /// Time at which the transmission of the packet began.
    pub at: Instant,
    /// Bytes that the port had sent on its link before this packet, including preambles and gaps between frames.
    pub sent: Bytes,
    /// Bytes that remained in the queue behind the packet.
    pub queued: Bytes,
    /// Rate of the link.
    pub rate: Rate,
}

/// Reason for a decrease of the window.
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
    /// Takes the reports of the switch ports that the acknowledged packet left, in the order of its path.
    /// [`CongestionControl::on_ack`] follows for the same ACK.
    fn on_hops(&mut self, _: &[HopSample]) {}

    /// Accounts for an ACK and, if [`AckSample::may_grow`] is set, opens the window.
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample);

    /// Decreases the window once for `cause`. After [`Cause::Timeout`], most laws leave one segment.
    fn on_congestion(&mut self, window: &mut Window, cause: Cause, flow: &FlowView);

    /// Starts a connection. `cwnd` is the first window that the host suggests: `tcp.initial_window` with TCP's hosts,
    /// a bandwidth-delay product with pFabric's hosts, and infinity with RoCE's hosts, which have no window of their
    /// own.
    fn on_start(&mut self, _: &mut Window, _at: &Opening) {}

    /// True if the law needs a [`PathSample`] with each ACK. A TCP sender paces and calls timers only for these laws.
    fn reads_path(&self) -> bool {
        false
    }

    /// True if the law needs [`HopSample`]s; such a law reads the path too. Switch ports then write reports into
    /// packets, and compute the departures of packets one by one.
    fn reads_hops(&self) -> bool {
        false
    }

    /// Rate on the wire at which the sender paces its packets; `None` to send whenever the window has room. Without a
    /// rate, a window below one segment sends one segment per round-trip time divided by cwnd.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Time of the next call of [`CongestionControl::on_timer`]; `None` without a timer.
    fn timer(&self) -> Option<Instant> {
        None
    }

    /// Called at the time that [`CongestionControl::timer`] returned.
    fn on_timer(&mut self, _: &mut Window, _: &FlowView) {}

    /// Called for each packet that the sender sends, with its bytes including headers.
    fn on_sent(&mut self, _: Bytes, _now: Instant) {}

    /// True if [`CongestionControl::on_ack`] reads more of the flow than the segment size and the time. If false, all
    /// other fields of the flow are blank.
    fn reads_flow(&self) -> bool {
        true
    }

    /// Payload of the next segment, at most `mss`, if `room` bytes of the window are free. With a payload above
    /// `room`, the sender waits.
    #[inline]
    fn segment_size(&self, _: &Window, mss: Bytes, _room: Bytes) -> Bytes {
        mss
    }

    /// Bytes that may be outstanding. `cwnd` must not be negative.
    #[inline]
    fn window_bytes(&self, window: &Window, mss: Bytes) -> Bytes {
        debug_assert!(window.cwnd >= 0.0, "cwnd of {}", window.cwnd);
        Bytes::new((window.cwnd * mss.get() as i64 as f64) as i64 as u64) // the conversion through i64 takes fewer instructions
    }

    /// The smallest window that the law keeps, in segments.
    fn floor(&self, _mss: Bytes) -> f64 {
        1.0
    }

    /// Congestion estimate alpha at this time, for probes; `None` for laws without alpha.
    fn alpha(&self, _: Instant) -> Option<f64> {
        None
    }
}

words! {
    /// Detection and repair of losses.
    pub enum Recovery {
        /// RFC 6582: partial ACKs repair one hole per round trip.
        NewReno = "newreno",
        /// RFC 6675: a scoreboard of SACKed segments and an estimate of the bytes in flight (pipe).
        Sack = "sack",
        /// RFC 8985 and RFC 6937: losses by send times, tail loss probes, and proportional rate reduction.
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

    /// The defaults of the trait are TCP's.
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
    fn the_name_of_a_class_gives_its_role() {
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
        // pFabric's network: 10 Gbit/s times 14.6 µs are twelve packets of 1,500 bytes.
        let (base_rtt, header) = (Span::from_nanos(14_600), Bytes::new(40));
        close(Opening { base_rtt, header, ..opening() }.bdp().round(), 12.0);
        let slow = Opening { base_rtt: Span::from_micros(1_714_000_000), ..opening() };
        close(slow.bdp(), 1e6);
    }

    /// cwnd of a new connection whose host suggests `suggested` segments.
    pub(crate) fn first_window(law: &mut dyn CongestionControl, suggested: f64) -> f64 {
        let mut window = Window { cwnd: suggested, ssthresh: f64::INFINITY };
        law.on_start(&mut window, &opening());
        window.cwnd
    }

    /// An unmarked or marked ACK of one full segment, the last ACK of its window of data.
    pub(crate) fn ack(ece: bool) -> AckSample {
        AckSample { ece, may_grow: !ece, snd_una: 1, ..AckSample::of(flow(10), Bytes::new(1460)) }
    }

    /// Asserts equality up to rounding.
    pub(crate) fn close(measured: f64, expected: f64) {
        assert!((measured - expected).abs() <= 1e-9 * expected.abs(), "{measured} is not {expected}");
    }

    /// The window after `cause` at a window of `cwnd` segments.
    pub(crate) fn left(law: &mut dyn CongestionControl, cwnd: f64, cause: Cause, flow: &FlowView) -> Window {
        let mut window = Window { cwnd, ssthresh: f64::INFINITY };
        law.on_congestion(&mut window, cause, flow);
        window
    }
}
