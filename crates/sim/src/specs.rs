//! Settings of switch ports, host ports, TCP and measurements as plain values, one type per table of a
//! scenario.

use crate::config::{
    ANY_SIZE, ANY_TIME, Flag, Format, KeywordOr, OCCUPANCY, POSITIVE_TIME, Positive, Shape, Unit, keys,
};
use crate::priorities::{
    PRIORITIES, PRIORITY_SET, PRIORITY_THRESHOLDS, PrioritySet, Thresholds, WEIGHTS, Weights,
};
use crate::wire::Wire;
use shortflow_spec::words;
use shortflow_units::{Bytes, NodeId, Occupancy, Rate, Span};

keys! {
    /// Settings of switch ports.
    #[derive(Copy)]
    pub struct SwitchSpec {
        /// capacity of a port
        pub buffer: Occupancy = required, OCCUPANCY;
        /// K: marking queues mark packets that find a backlog above K
        pub mark_above: Occupancy = required, OCCUPANCY, acts: reads_threshold;
        /// maximum threshold of RED, from which RED marks every packet, in the unit of the minimum threshold
        /// mark_above; auto: queue.max times mark_above
        pub mark_all_above: Option<Occupancy> = "auto", KeywordOr("auto", OCCUPANCY), acts: reads_curve;
        /// probability of a mark at the maximum threshold of RED; auto: queue.max_p
        pub mark_probability: Option<f64> = "auto", KeywordOr("auto", 0.0..=1.0), acts: reads_curve;
        /// memory that the ports of a switch share; each port may hold at most memory_alpha times the free memory;
        /// static: each port has a buffer of its own
        pub memory: Option<Occupancy> = "static", KeywordOr("static", OCCUPANCY);
        /// alpha of the dynamic threshold: the limit of a port divided by the free memory
        pub memory_alpha: f64 = "1", Positive(1000.0), acts: memory != "static" && xoff == "none" || memory != "static" && lossy_data;
        /// XOFF of priority flow control: if a switch holds more data from one link, it pauses data at the other end of
        /// the link; none: no flow control, so full buffers drop packets
        pub xoff: Option<Bytes> = "none", KeywordOr("none", ANY_SIZE);
        /// XON: a paused link resumes when the switch holds at most this much data from the link; auto: two full
        /// packets below xoff
        pub xon: Option<Bytes> = "auto", KeywordOr("auto", ANY_SIZE), acts: xoff != "none";
        /// memory for data that still arrives from a link after XOFF; auto: twice the link's delay at its rate, a pause
        /// frame and three full packets
        pub headroom: Option<Bytes> = "auto", KeywordOr("auto", ANY_SIZE), acts: xoff != "none";
        /// limit of XOFF, as a multiple of the free memory; none: XOFF does not depend on the free memory
        pub xoff_alpha: Option<f64> = "none", KeywordOr("none", Positive(1000.0)), acts: xoff != "none" && memory != "static";
        /// xoff, xon, headroom and xoff_alpha of single priorities (traffic.pfc_priority), which replace the keys of these
        /// names, each as "PRIORITY XOFF [XON [HEADROOM [ALPHA]]]"; XON and HEADROOM are auto, and ALPHA is none, unless given
        pub pfc_thresholds: Option<[Option<Thresholds>; PRIORITIES]> = optional, PRIORITY_THRESHOLDS, acts: xoff != "none";
        /// priorities (traffic.pfc_priority) that XOFF pauses, the same at all switches; data of the others is lossy: it is
        /// never paused, and takes only memory that lossless data cannot need; all priorities unless given
        pub lossless: Option<PrioritySet> = optional, PRIORITY_SET, acts: xoff != "none";
        /// weights of the priorities from 0 on, by which those with data share the link, such as [1, 1, 1, 2, 2]; 1 unless given
        pub weights: Option<Weights> = optional, WEIGHTS, acts: several_priorities;
    }
}

impl SwitchSpec {
    /// Minimum threshold of RED and, if the port has its own, maximum threshold and mark probability.
    pub fn curve(&self) -> (Occupancy, Option<Occupancy>, Option<f64>) {
        (self.mark_above, self.mark_all_above, self.mark_probability)
    }

    /// Thresholds of flow control by priority; `None` without flow control.
    pub fn thresholds(&self) -> Option<[Thresholds; PRIORITIES]> {
        let &SwitchSpec { xoff, xon, headroom, xoff_alpha: alpha, .. } = self;
        let usual = Thresholds { xoff: xoff?, xon, headroom, alpha };
        let given = self.pfc_thresholds.unwrap_or_default();
        Some(given.map(|of_priority| of_priority.unwrap_or(usual)))
    }
}

/// Largest limit of a small queue, in segments.
pub const SMALL_QUEUE: u32 = 4;

keys! {
    /// Settings of host ports.
    #[derive(Copy)]
    pub struct HostSpec {
        /// defaults of small_queue and tcp.growth: linux: 2 and unless-held, as in Linux; fifo: 0 and always, so a
        /// sender may fill the queue of its host
        pub model: HostModel = "linux", HostModel::WORDS, acts: tcp_hosts && model_decides;
        /// capacity of a port
        pub buffer: Occupancy = "unlimited", OCCUPANCY;
        /// K: marking queues mark packets that find a backlog above K
        pub mark_above: Occupancy = "unlimited", OCCUPANCY, acts: reads_threshold;
        /// largest number of segments of a TCP connection in its host's port, as with Linux's TCP small queues; 0: no
        /// limit
        pub small_queue: Option<u32> = "auto", KeywordOr("auto", 0..=SMALL_QUEUE), acts: tcp_hosts;
        /// largest random delay of a packet between host and switch; packets keep their order and stay a transmission
        /// time apart; half-packet: half the transmission time of a full packet on the slowest link that flows of the
        /// host cross
        pub jitter: Option<Span> = "0s", KeywordOr("half-packet", ANY_TIME);
        /// mean number of pauses of each host per second; packets of the host wait until the pause ends, and keep their
        /// order
        pub stalls: f64 = "0", 0.0..=10_000.0;
        /// time from the arrival of a message to the answer of its application; if it is at least the longest delay of
        /// a link, several cores may simulate the network
        pub reaction: Span = "0s", ANY_TIME, acts: applications;
        /// shortest pause
        pub stall_min: Span = "500us", ANY_TIME, acts: stalls > 0;
        /// longest pause
        pub stall_max: Span = "1500us", ANY_TIME, acts: stalls > 0;
    } in order {
        stall_min <= stall_max;
    }
}

keys! {
    /// Settings of TCP on all hosts.
    #[derive(Copy)]
    pub struct TcpSpec {
        /// payload of a full segment
        pub mss: Bytes = "1460B", Bytes::new(1)..=Bytes::new(65_000);
        /// headers of every packet
        pub header: Bytes = "40B", Bytes::new(1)..=Bytes::new(500);
        /// framing of packets: none: packets have payload and header; ethernet: 18 bytes more, at least 64 bytes in
        /// total, and on each link the time of another 20 bytes
        pub wire: Wire = "none", Wire::WORDS;
        /// initial window, in segments
        pub initial_window: f64 = "10", 1.0..=1000.0, acts: takes_initial_window;
        /// slow-start threshold of a new connection, in segments; ns-2 takes the receive window
        pub initial_ssthresh: f64 = "unlimited", SegmentWindow, acts: tcp_hosts;
        /// smallest retransmission timeout
        pub rto_min: Span = "10ms", POSITIVE_TIME, acts: timed_hosts || default_drain;
        /// largest retransmission timeout
        pub rto_max: Span = "60s", POSITIVE_TIME, acts: tcp_hosts;
        /// timeout before the first round-trip sample; auto: three base round trips, at least rto_min
        pub initial_rto: Option<Span> = "auto", KeywordOr("auto", POSITIVE_TIME), acts: timed_hosts || default_drain;
        /// tick of the retransmission clock; 0ps: a continuous clock
        pub clock_granularity: Span = "0ps", ANY_TIME, acts: tcp_hosts || default_drain;
        /// extra delay of RACK's tail loss probe if one segment is in flight, because its ACK may be delayed; auto:
        /// ack_delay, or 0s without delayed ACKs; Linux takes rto_min
        pub tlp_ack_delay: Option<Span> = "auto", KeywordOr("auto", ANY_TIME), acts: rack;
        /// extra delay of the tail loss probe if several segments are in flight; Linux takes two ticks of its clock
        pub tlp_slack: Span = "0s", ANY_TIME, acts: rack;
        /// number of segments per ACK; 1: no delayed ACKs
        pub ack_every: u32 = "1", 1..=64u32, acts: tcp_hosts;
        /// longest delay of an ACK
        pub ack_delay: Span = "500us", POSITIVE_TIME, acts: tcp_hosts && ack_every > 1;
        /// acknowledge the end of a message at once, as the answer of an application does
        pub ack_message_end: bool = "false", Flag, acts: tcp_hosts && ack_every > 1;
        /// number of first segments of a connection that have an ACK each, whatever ack_every is
        pub quick_acks: u32 = "0", 0..=1_000_000u32, acts: tcp_hosts && ack_every > 1;
        /// acknowledge a segment at once if it changes the ECN echo or has CWR
        pub ack_ecn_changes: bool = "false", Flag, acts: tcp_hosts && ack_every > 1;
        /// receive window, in segments
        pub receive_window: f64 = "unlimited", SegmentWindow, acts: tcp_hosts;
        /// exchange SYN and SYN-ACK at the start of each connection
        pub handshake: bool = "false", Flag, acts: tcp_hosts;
        /// ACKs with ECN-Echo that may open the window: no: none; yes: all except ACKs that reduce the window; ns-2:
        /// all except the first after an ACK without ECN-Echo
        pub grow_on_marked_acks: MarkedGrowth = "no", MarkedGrowth::WORDS, acts: tcp_hosts && marks;
        /// growth of unused windows: always: they grow; unless-held: they do not grow if the host's small queue kept
        /// the sender from using them; cwnd-limited: they do not grow, as in Linux
        pub growth: Option<Growth> = "auto", KeywordOr("auto", Growth::WORDS), acts: tcp_hosts;
        /// open the window for an ACK of several segments as for one ACK per segment
        pub grow_by_segments: bool = "false", Flag, acts: tcp_hosts;
    } in order {
        rto_min <= rto_max;
    }
}

impl TcpSpec {
    /// Size in buffers of a packet with this payload.
    #[inline]
    pub fn frame(&self, payload: Bytes) -> Bytes {
        self.wire.frame(payload.plus(self.header))
    }

    /// Size in buffers of a full segment.
    pub fn full_frame(&self) -> Bytes {
        self.frame(self.mss)
    }

    /// Bytes that a link could send in the transmission time of a packet with this payload.
    pub fn link_bytes(&self, payload: Bytes) -> Bytes {
        self.frame(payload) + self.wire.gap()
    }

    /// Transmission time of a packet with this payload.
    pub fn tx_time(&self, rate: Rate, payload: Bytes) -> Span {
        rate.tx_time(self.link_bytes(payload))
    }
}

words! {
    /// Model of hosts.
    pub enum HostModel {
        /// As in Linux: a connection has a small queue in the card.
        Linux = "linux",
        /// A sender may fill the card.
        Fifo = "fifo",
    }
}

/// Model of TCP's packets in hosts.
#[derive(Debug, Clone, Copy)]
pub struct Conduct {
    /// Largest number of segments of a connection in the card; 0 means no limit.
    pub small_queue: u32,
    /// Growth of unused windows.
    pub growth: Growth,
}

impl Conduct {
    /// The model of these tables, with defaults from `host.model`.
    pub fn of(host: &HostSpec, tcp: &TcpSpec) -> Conduct {
        let (small_queue, growth) = match host.model {
            HostModel::Linux => (2, Growth::UnlessHeld),
            HostModel::Fifo => (0, Growth::Always),
        };
        Conduct { small_queue: host.small_queue.unwrap_or(small_queue), growth: tcp.growth.unwrap_or(growth) }
    }
}

words! {
    /// Rule for the growth of unused windows.
    pub enum Growth {
        /// Unused windows grow.
        Always = "always",
        /// Unused windows grow, unless the host's card keeps the sender from using them.
        UnlessHeld = "unless-held",
        /// Unused windows do not grow.
        CwndLimited = "cwnd-limited",
    }
}

words! {
    /// ACKs with ECN-Echo that may open the window.
    pub enum MarkedGrowth {
        /// No ACK with ECN-Echo.
        No = "no",
        /// All ACKs except those that reduce the window.
        Yes = "yes",
        /// All ACKs except the first with ECN-Echo after one without, as in ns-2 with old_ecn_. A later ACK may
        /// open the window even if it also reduces the window.
        AfterFirst = "ns-2",
    }
}

/// Measurements of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// Ports whose queue is recorded, as (sending node, receiving node).
    pub ports: Vec<(NodeId, NodeId)>,
    /// Sampling interval; `None` for no samples.
    pub sample_every: Option<Span>,
    /// True if flows that start in the drain have rows.
    pub drain_flows: bool,
}

/// A number of segments such as `"1256pkt"`, or `"unlimited"`, which is read as infinity.
struct SegmentWindow;

impl Format for SegmentWindow {
    type Value = f64;
    fn read(&self, value: &toml::Value) -> Option<f64> {
        match OCCUPANCY.read(value)? {
            Occupancy::Packets(segments) if segments > 0 => Some(f64::from(segments)),
            Occupancy::Unlimited => Some(f64::INFINITY),
            Occupancy::Packets(_) | Occupancy::Bytes(_) => None,
        }
    }
    fn shape(&self) -> Shape {
        Shape::Quantity { unit: Unit::Window, low: None, high: None }
    }
}
