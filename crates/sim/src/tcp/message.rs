//! Messages: what an application hands to a connection. A message is a flow of the flow table.

use crate::packet::{EcnField, Packet};
use shortflow_cc::Role;
use shortflow_units::{Bytes, ClassId, FlowId, Instant, Span};
use std::ops::Range;

/// What a message is of.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Row of the flow table.
    pub flow: FlowId,
    /// Traffic class.
    pub class: ClassId,
    /// What the transport may know of the class.
    pub role: Role,
    /// When the last byte should be acknowledged.
    pub deadline: Option<Instant>,
}

/// What became of the data packets of a message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Those that left the sender.
    pub left: u64,
    /// Their time in the queue of the sender's host.
    pub waited_at_host: Span,
    /// Those that arrived before the whole message was acknowledged, duplicates included.
    pub arrived: u64,
    /// Those of them with a CE mark.
    pub marks: u32,
    /// Their time in queues.
    pub waited: Span,
}

impl Tally {
    /// A packet has left and waits at its host.
    #[inline]
    pub fn count_left(&mut self, waits: Span) {
        self.left += 1;
        self.waited_at_host += waits;
    }

    /// A packet has arrived.
    #[inline]
    pub fn count_arrived(&mut self, packet: &Packet) {
        self.arrived += 1;
        self.marks += u32::from(packet.ecn == EcnField::Ce);
        self.waited += packet.waited;
    }
}

/// Bytes `start..end` of a connection's stream. Segments never span two messages.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Row of the flow table.
    pub flow: FlowId,
    /// Class of the flow.
    pub class: ClassId,
    /// First byte in the stream.
    pub start: u64,
    /// One past the last byte; `u64::MAX` for a backlogged flow.
    pub end: u64,
    /// When the last byte should be acknowledged.
    pub deadline: Option<Instant>,
    /// What the transport may know of its class.
    pub role: Role,
    /// Its data packets.
    pub tally: Tally,
    /// Segments retransmitted.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Bytes acknowledged when the measured time began.
    pub acked_at_start: u64,
    /// Bytes acknowledged when the measured time ended, once it has.
    pub acked_at_end: Option<u64>,
}

impl Message {
    /// Bytes `start..end` of the stream for `flow`, of which nothing has been acknowledged.
    pub fn new(flow: Flow, bytes: Range<u64>) -> Message {
        let (Flow { flow, class, role, deadline }, Range { start, end }) = (flow, bytes);
        Message {
            flow,
            class,
            start,
            end,
            deadline,
            role,
            tally: Tally::default(),
            retransmits: 0,
            timeouts: 0,
            acked_at_start: 0,
            acked_at_end: None,
        }
    }

    /// Bytes acknowledged, when everything below `snd_una` is.
    pub fn acked(&self, snd_una: u64) -> u64 {
        snd_una.min(self.end).saturating_sub(self.start)
    }

    /// Bytes acknowledged within the measured time, of a flow that was on its way then.
    pub fn acked_in_window(&self, snd_una: u64) -> Bytes {
        let end = self.acked_at_end.unwrap_or_else(|| self.acked(snd_una));
        Bytes::new(end.saturating_sub(self.acked_at_start))
    }

    /// True for a flow that never ends.
    pub fn is_backlogged(&self) -> bool {
        self.end == u64::MAX
    }
}
