//! [`SendStream`]: the part of a sender that all transports share.

use super::identity::{EndpointContext, EndpointId};
use super::message::Messages;
use super::priority::PriorityRule;
use crate::packet::{Packet, PacketType};
use crate::specs::TcpSpec;
use shortflow_cc::{AckSample, Cause, CongestionControl, FlowView, Transport, Window};
use shortflow_units::{Bytes, Span};

/// The byte stream of a sender, with its congestion window and law. Variables have the names of RFC 9293:
/// bytes below `snd_una` are acknowledged, and byte `snd_nxt` is the next to send.
#[derive(Debug)]
pub struct SendStream {
    /// Sender and connection.
    pub identity: EndpointId,
    /// Congestion window and slow-start threshold.
    pub window: Window,
    /// The law that sets the window.
    pub law: Transport,
    /// Messages that are not fully acknowledged.
    pub messages: Messages,
    /// First byte that is not acknowledged.
    pub snd_una: u64,
    /// First byte to send next.
    pub snd_nxt: u64,
    /// One past the highest byte ever sent.
    pub snd_max: u64,
    /// Rule for the priority of packets.
    pub priority: PriorityRule,
}

impl SendStream {
    /// A stream without data.
    pub fn new(identity: EndpointId, law: Transport, window: Window, priority: PriorityRule) -> SendStream {
        let messages = Messages::default();
        SendStream { identity, window, law, messages, snd_una: 0, snd_nxt: 0, snd_max: 0, priority }
    }

    /// The law's view of the oldest message, if the smoothed round-trip time is `srtt`.
    #[inline]
    pub fn view(&self, srtt: Span, EndpointContext { now, tcp }: EndpointContext<'_>) -> FlowView {
        self.messages.view((now, srtt, tcp.mss), (self.snd_una, self.snd_nxt, self.snd_max))
    }

    /// Sample of an ACK of `acked` bytes, for a law without TCP's phases.
    pub fn sample(&self, flow: FlowView, acked: u64) -> AckSample {
        let (snd_una, snd_nxt) = (self.snd_una, self.snd_nxt);
        AckSample { snd_una, snd_nxt, ..AckSample::of(flow, Bytes::new(acked)) }
    }

    /// Lets the law decrease the window.
    #[inline]
    pub fn decrease(&mut self, cause: Cause, flow: &FlowView) {
        self.law.on_congestion(&mut self.window, cause, flow);
    }

    /// The congestion window in bytes.
    #[inline]
    pub fn window_bytes(&self, tcp: &TcpSpec) -> u64 {
        self.law.window_bytes(&self.window, tcp.mss).get()
    }

    /// Payload of a full segment if `room` bytes of the window are free.
    #[inline]
    pub fn segment_size(&self, room: u64, tcp: &TcpSpec) -> u64 {
        self.law.segment_size(&self.window, tcp.mss, Bytes::new(room)).get()
    }

    /// Priority of the packet that begins with byte `start`.
    pub fn priority_at(&self, start: u64) -> u64 {
        self.messages.of(start).map_or(0, |message| self.priority.of(message, self.snd_una, self.snd_max))
    }

    /// A data packet with bytes `start..end`, not ECN-capable and without priority.
    #[inline(always)] // every packet passes here
    pub fn packet(&self, start: u64, end: u64, tcp: &TcpSpec) -> Packet {
        let payload = Bytes::new(end - start);
        let wire = tcp.frame(payload).get() as u16;
        let payload = payload.get() as u16;
        Packet { kind: PacketType::Data, payload, wire, ..self.identity.control(start, tcp) }
    }

    /// Counts a packet that starts at byte `start` and waits at its host for `waits`. `again` is true for a
    /// retransmission.
    #[inline]
    pub fn count_sent(&mut self, start: u64, again: bool, waits: Span) {
        if let Some(message) = self.messages.of_mut(start) {
            message.retransmits += u32::from(again);
            message.tally.count_left(waits);
        }
    }

    /// Counts a timeout of the oldest message.
    pub fn count_timeout(&mut self) {
        if let Some(message) = self.messages.first_mut() {
            message.timeouts += 1;
        }
    }
}
