//! The receiver, which accepts data only in order.

use crate::host::{Endpoint, EndpointContext, EndpointId, Outbox, ReceiveEndpoint};
use crate::packet::{EcnField, Packet, PacketType};
use shortflow_cc::hosts::roce::Params;
use shortflow_units::Instant;
use std::collections::VecDeque;

/// The receiving end of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    identity: EndpointId,
    received: u64,
    /// One past the highest byte that has arrived, in order or not.
    highest: u64,
    skipped: u64,
    /// True if the receiver has sent a NACK for the missing packets.
    nacked: bool,
    /// Least time between two CNPs (N), and the delay before a CNP leaves.
    params: Params,
    /// Earliest time of the next CNP.
    cnp_from: Instant,
    /// True if a mark has arrived since the last CNP was decided.
    marked: bool,
    /// Times at which decided CNPs leave.
    cnp_due: VecDeque<Instant>,
}

impl Receiver {
    /// A receiver that answers to the peer of `identity`.
    pub(crate) fn new(identity: EndpointId, params: &Params) -> Receiver {
        let (received, highest, skipped) = (0, 0, 0);
        let (nacked, marked, cnp_from) = (false, false, Instant::ZERO);
        let (params, cnp_due) = (*params, VecDeque::new());
        Receiver { identity, received, highest, skipped, nacked, params, cnp_from, marked, cnp_due }
    }

    /// An answer to the sender. It is ECN-capable, so that queues mark it instead of dropping it at random.
    fn control(&self, kind: PacketType, cx: EndpointContext<'_>) -> Packet {
        Packet { kind, ecn: EcnField::Ect, ..self.identity.control(self.received, cx.tcp) }
    }

    /// Accepts bytes `start..end` if they are the next ones. Returns the type of the answer, if there is one.
    fn accept(&mut self, start: u64, end: u64) -> Option<PacketType> {
        self.skipped += start.saturating_sub(self.highest.max(self.received));
        self.highest = self.highest.max(end);
        if start <= self.received {
            self.nacked &= end <= self.received;
            self.received = self.received.max(end);
            return Some(PacketType::Ack);
        }
        (!std::mem::replace(&mut self.nacked, true)).then_some(PacketType::Nack)
    }
}

impl Endpoint for Receiver {
    fn start(&mut self, _: EndpointContext<'_>, _: &mut impl Outbox) {}

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        self.marked |= packet.ecn == EcnField::Ce;
        if self.marked && cx.now >= self.cnp_from {
            self.marked = false;
            self.cnp_from = cx.now + self.params.cnp_every;
            if self.params.cnp_delay.is_zero() {
                out.send(self.control(PacketType::Cnp, cx));
            } else {
                let due = cx.now + self.params.cnp_delay;
                self.cnp_due.push_back(due);
                out.set_timer(0, due);
            }
        }
        if let Some(kind) = self.accept(packet.seq, packet.seq + u64::from(packet.payload)) {
            out.send(Packet { extension: packet.extension.take(), ..self.control(kind, cx) });
        }
    }

    fn on_timer(&mut self, _: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        while self.cnp_due.front().is_some_and(|due| *due <= cx.now) {
            self.cnp_due.pop_front();
            out.send(self.control(PacketType::Cnp, cx));
        }
    }
}

impl ReceiveEndpoint for Receiver {
    fn received(&self) -> u64 {
        self.received
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shortflow_units::{ConnId, HostId, Span};

    /// A gap gets one NACK. Packets before it are acknowledged again, packets after it are discarded.
    #[test]
    fn one_nack_for_each_gap() {
        let identity = EndpointId { conn: ConnId(0), flow_id: 0, peer: HostId(1), way: 0 };
        let params = Params { cnp_every: Span::ZERO, cnp_delay: Span::ZERO };
        let mut receiver = Receiver::new(identity, &params);
        let (ack, nack) = (Some(PacketType::Ack), Some(PacketType::Nack));
        let steps =
            [(0, ack, 1), (2, nack, 1), (3, None, 1), (1, ack, 2), (2, ack, 3), (2, ack, 3), (5, nack, 3)];
        for (packet, answer, received) in steps {
            assert_eq!(receiver.accept(1000 * packet, 1000 * packet + 1000), answer, "{packet}");
            assert_eq!(receiver.received, 1000 * received);
        }
        assert_eq!(receiver.skipped, 2000, "packets 1 and 4");
    }
}
