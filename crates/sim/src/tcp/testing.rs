//! Helpers for the tests of this folder.

use super::Sender;
use crate::host::{EndpointContext, EndpointId, Flow, PacketSink};
use crate::packet::{Extension, Handover, Packet, SackBlocks};
use crate::specs::{MarkedGrowth, TcpSpec};
use crate::wire::Wire;
use shortflow_cc::{Opening, Role, TransportConfig};
use shortflow_units::{Bytes, ClassId, ConnId, FlowId, HostId, Instant, Rate, Span};

/// The defaults of `[tcp]`, with an initial window of two segments.
pub(crate) fn tcp() -> TcpSpec {
    TcpSpec {
        mss: Bytes::new(1460),
        header: Bytes::new(40),
        wire: Wire::None,
        initial_window: 2.0,
        initial_ssthresh: f64::INFINITY,
        rto_min: Span::from_millis(10),
        rto_max: Span::from_millis(60_000),
        initial_rto: None,
        clock_granularity: Span::ZERO,
        tlp_ack_delay: None,
        tlp_slack: Span::ZERO,
        ack_every: 1,
        ack_delay: Span::from_micros(500),
        ack_message_end: false,
        quick_acks: 0,
        ack_ecn_changes: false,
        receive_window: f64::INFINITY,
        handshake: false,
        grow_on_marked_acks: MarkedGrowth::No,
        growth: None,
        grow_by_segments: false,
    }
}

pub(crate) const IDENTITY: EndpointId = EndpointId { conn: ConnId(0), flow_id: 0, peer: HostId(1), way: 0 };
pub(crate) const FLOW: Flow =
    Flow { flow: FlowId(0), class: ClassId(0), role: Role::Unknown, deadline: None };

impl PacketSink for Vec<Packet> {
    fn send(&mut self, packet: Packet) -> Handover {
        self.push(packet);
        Handover::DROPPED
    }
}

/// A sender, the present time, and the packets that it has sent.
pub(crate) struct Bench {
    pub sender: Sender,
    pub tcp: TcpSpec,
    pub now: Instant,
    pub sent: Vec<Packet>,
}

impl Bench {
    /// A sender with a message of `bytes` bytes at time zero.
    pub(crate) fn new(sender: Sender, tcp: TcpSpec, bytes: u64) -> Bench {
        let mut bench = Bench { sender, tcp, now: Instant::ZERO, sent: Vec::new() };
        bench.push(bytes);
        bench
    }

    pub(crate) fn of(transport: &TransportConfig, tcp: TcpSpec, bytes: u64) -> Bench {
        let (line, base_rtt) = (Rate::MAX, Span::from_micros(300));
        let at = Opening { now: Instant::ZERO, line, base_rtt, mss: tcp.mss, header: tcp.header };
        let sender = Sender::new(IDENTITY, transport, &tcp, Span::from_millis(10)).begun(&at);
        Bench::new(sender, tcp, bytes)
    }

    pub(crate) fn push(&mut self, bytes: u64) {
        self.sender.push(FLOW, Bytes::new(bytes));
        self.sender.start(EndpointContext { now: self.now, tcp: &self.tcp }, &mut self.sent);
    }

    /// Receives an ACK with SACK blocks. Returns first byte and payload of each packet that it releases.
    pub(crate) fn ack(&mut self, seq: u64, ecn_flag: bool, blocks: &[(u64, u64)]) -> Vec<(u64, u32)> {
        self.sent.clear();
        let extension = Extension::of_sack(SackBlocks::new(seq, blocks));
        let ack = Packet { ecn_flag, extension, ..self.sender.stream.identity.control(seq, &self.tcp) };
        self.sender.on_ack(&ack, EndpointContext { now: self.now, tcp: &self.tcp }, &mut self.sent);
        self.take()
    }

    /// Fires the timer. Returns first byte and payload of each packet that leaves.
    pub(crate) fn expire(&mut self) -> Vec<(u64, u32)> {
        self.sent.clear();
        self.sender.on_timeout(EndpointContext { now: self.now, tcp: &self.tcp }, &mut self.sent);
        self.take()
    }

    /// First byte and payload of each packet sent.
    pub(crate) fn take(&mut self) -> Vec<(u64, u32)> {
        self.sent.drain(..).map(|packet| (packet.seq, packet.payload.into())).collect()
    }
}
