//! The receiver: cumulative and selective acknowledgements, delayed ACKs (RFC 5681 §4.2), and the ECN echo of
//! the transport.

use super::{ecn::LatchedEcho, exact_echo::ExactEcho};
use crate::host::{Endpoint, EndpointContext, EndpointId, LazyTimer, Outbox, PacketSink, ReceiveEndpoint};
use crate::packet::{EcnField, Extension, Packet, PacketType, SackBlocks};
use crate::specs::TcpSpec;
use shortflow_cc::{Ecn, Recovery};
use shortflow_units::Instant;

/// Number of the timer of delayed ACKs.
const DELAYED_ACK: u8 = 0;

#[derive(Debug, Clone, Copy)]
enum Echo {
    None,
    Latched(LatchedEcho),
    Exact(ExactEcho),
}

/// The receiving end of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    identity: EndpointId,
    /// Next expected byte; all bytes below it have arrived.
    rcv_nxt: u64,
    /// Received ranges above `rcv_nxt`, the most recent first, as RFC 2018 §4 requires of SACK blocks.
    out_of_order: Vec<(u64, u64)>,
    /// Bytes that were missing when later bytes arrived.
    skipped: u64,
    echo: Echo,
    selective: bool,
    /// True with RACK: the receiver reports duplicate data once (RFC 2883).
    sends_dsack: bool,
    duplicate: Option<(u64, u64)>,
    /// True if the next ACK has SACK blocks.
    has_blocks: bool,
    unacknowledged: u32,
    /// True if expected data takes the short path.
    is_predictable: bool,
    /// True if the plan allows the short path.
    may_predict: bool,
    /// Timer of the delayed ACK.
    alarm: LazyTimer,
    /// Telemetry that the next ACK returns, and its arrival time, for transports that read delays.
    answered: Option<(Box<Extension>, Instant)>,
}

impl Receiver {
    /// A receiver that sends ACKs to `identity`'s peer.
    pub(crate) fn new(identity: EndpointId, ecn: Ecn, recovery: Recovery) -> Receiver {
        let echo = match ecn {
            Ecn::Off => Echo::None,
            Ecn::Classic => Echo::Latched(LatchedEcho::default()),
            Ecn::Exact => Echo::Exact(ExactEcho::default()),
        };
        Receiver {
            identity,
            rcv_nxt: 0,
            out_of_order: Vec::new(),
            skipped: 0,
            echo,
            selective: recovery != Recovery::NewReno,
            sends_dsack: recovery == Recovery::Rack,
            duplicate: None,
            has_blocks: false,
            unacknowledged: 0,
            is_predictable: false,
            may_predict: false,
            alarm: LazyTimer::IDLE,
            answered: None,
        }
    }

    /// Sets whether expected data may take the short path.
    pub(crate) fn with_prediction(self, may_predict: bool) -> Receiver {
        Receiver { may_predict, ..self }
    }

    /// True if all bytes below `end` have arrived and their ACK is delayed.
    #[inline]
    pub(crate) fn has_unanswered(&self, end: u64) -> bool {
        self.alarm.deadline.is_some() && self.rcv_nxt >= end
    }

    /// True if all received data is in order and acknowledged, and every packet is acknowledged at once.
    pub(super) fn is_steady(&self, tcp: &TcpSpec) -> bool {
        self.out_of_order.is_empty()
            && self.duplicate.is_none()
            && self.answered.is_none()
            && self.unacknowledged == 0
            && self.alarm.deadline.is_none()
            && tcp.ack_every == 1
    }

    /// True for the next expected data packet.
    #[inline(always)]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        self.is_predictable
            && packet.kind == PacketType::Data
            && packet.seq == self.rcv_nxt
            && packet.extension.is_none()
    }

    /// Handles an expected data packet.
    #[inline(always)]
    pub(crate) fn on_expected(&mut self, packet: &Packet, tcp: &TcpSpec, out: &mut impl PacketSink) {
        self.count_mark(packet.ecn == EcnField::Ce, packet.ecn_flag);
        self.rcv_nxt = packet.seq + u64::from(packet.payload);
        out.emit(Packet { ecn_flag: self.ece(), ..self.identity.control(self.rcv_nxt, tcp) });
    }

    /// Handles a data packet.
    #[inline]
    pub(crate) fn on_data(
        &mut self,
        packet: &mut Packet,
        cx: EndpointContext<'_>,
        out: &mut impl PacketSink,
    ) {
        let (ce, ece) = (packet.ecn == EcnField::Ce, self.ece());
        self.note_mark((ce, packet.ecn_flag), cx, out);
        if packet.extension.is_some() {
            self.answered = packet.extension.take().map(|telemetry| (telemetry, cx.now));
        }
        let at_once = cx.tcp.ack_ecn_changes && (packet.ecn_flag || self.ece() != ece);
        let in_order = self.accept(packet.seq, packet.seq + u64::from(packet.payload));
        self.unacknowledged += 1;
        // The first segments of a connection are acknowledged one by one.
        let is_early = self.rcv_nxt <= u64::from(cx.tcp.quick_acks) * cx.tcp.mss.get();
        // RFC 5681 §4.2: acknowledge at once if the packet is out of order or fills a gap.
        if !in_order || self.unacknowledged >= cx.tcp.ack_every || at_once || is_early {
            self.acknowledge(cx, out);
        } else if self.alarm.deadline.is_none() {
            self.alarm.deadline = Some(cx.now + cx.tcp.ack_delay);
        }
    }

    /// Answers a connection request.
    pub(crate) fn on_syn(&mut self, tcp: &TcpSpec, out: &mut impl PacketSink) {
        out.send(Packet { kind: PacketType::SynAck, ..self.identity.control(0, tcp) });
    }

    #[inline]
    fn note_mark(&mut self, (ce, cwr): (bool, bool), cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        let flush = match &self.echo {
            Echo::Exact(echo) => echo.differs(ce) && self.unacknowledged > 0,
            Echo::None | Echo::Latched(_) => false,
        };
        if flush {
            self.acknowledge(cx, out);
        }
        self.count_mark(ce, cwr);
    }

    #[inline]
    fn count_mark(&mut self, ce: bool, cwr: bool) {
        match &mut self.echo {
            Echo::None => {}
            Echo::Latched(echo) => echo.on_data(ce, cwr),
            Echo::Exact(echo) => echo.on_data(ce),
        }
    }

    /// Accepts bytes `start..end`. Returns true if they were the next bytes and no later bytes wait.
    #[inline]
    fn accept(&mut self, start: u64, end: u64) -> bool {
        if start == self.rcv_nxt && self.out_of_order.is_empty() {
            self.rcv_nxt = end;
            return true;
        }
        if self.sends_dsack && self.has(start, end) {
            self.duplicate = Some((start, end));
        }
        if end > self.rcv_nxt {
            let highest = self.out_of_order.iter().fold(self.rcv_nxt, |highest, range| highest.max(range.1));
            self.skipped += start.saturating_sub(highest);
            self.insert(start.max(self.rcv_nxt), end);
            if let Some(next) = self.out_of_order.iter().position(|range| range.0 <= self.rcv_nxt) {
                self.rcv_nxt = self.out_of_order.remove(next).1;
            }
        }
        self.has_blocks = self.selective && !(self.out_of_order.is_empty() && self.duplicate.is_none());
        false
    }

    /// True if all bytes `start..end` have arrived before.
    fn has(&self, start: u64, end: u64) -> bool {
        end <= self.rcv_nxt || self.out_of_order.iter().any(|&(low, high)| low <= start && end <= high)
    }

    fn insert(&mut self, start: u64, end: u64) {
        let (mut start, mut end) = (start, end);
        self.out_of_order.retain(|&(low, high)| {
            let apart = high < start || low > end;
            if !apart {
                start = start.min(low);
                end = end.max(high);
            }
            apart
        });
        self.out_of_order.insert(0, (start, end));
    }

    /// The ECN-Echo flag of an ACK sent now.
    #[inline]
    fn ece(&self) -> bool {
        match &self.echo {
            Echo::None => false,
            Echo::Latched(echo) => echo.ece(),
            Echo::Exact(echo) => echo.ece(),
        }
    }

    /// The SACK blocks of an ACK sent now. A duplicate is the first block, in one ACK only (RFC 2883 §4).
    fn blocks(&mut self) -> SackBlocks {
        SackBlocks::with_duplicate(self.rcv_nxt, self.duplicate.take(), &self.out_of_order)
    }

    #[inline(never)] // keeps the path of expected data short
    pub(super) fn acknowledge(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        self.unacknowledged = 0;
        self.alarm.deadline = None;
        let ecn_flag = self.ece();
        let tells_more = self.answered.is_some() || self.has_blocks;
        let extension = if tells_more { self.extension(cx.now) } else { None };
        out.send(Packet { ecn_flag, extension, ..self.identity.control(self.rcv_nxt, cx.tcp) });
    }

    /// SACK blocks and the telemetry to return.
    #[inline(never)] // keeps the path of plain ACKs short
    fn extension(&mut self, now: Instant) -> Option<Box<Extension>> {
        let sack = if std::mem::take(&mut self.has_blocks) { self.blocks() } else { SackBlocks::default() };
        let Some((mut answer, arrived)) = self.answered.take() else { return Extension::of_sack(sack) };
        if let Some(telemetry) = &mut answer.telemetry {
            telemetry.ack_delay = now.since(arrived);
            telemetry.in_hosts += telemetry.ack_delay;
        }
        answer.sack = sack;
        Some(answer)
    }
}

impl Endpoint for Receiver {
    fn start(&mut self, _: EndpointContext<'_>, _: &mut impl Outbox) {}

    fn on_packet(&mut self, packet: &mut Packet, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.expects(packet) {
            self.on_expected(packet, cx.tcp, out);
        } else if packet.kind == PacketType::Data {
            self.on_data(packet, cx, out);
            self.settle(cx.tcp, out);
        } else {
            self.on_syn(cx.tcp, out);
        }
    }

    fn on_timer(&mut self, _timer: u8, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.alarm.expired(cx.now) {
            self.acknowledge(cx, out);
        }
        self.settle(cx.tcp, out);
    }
}

impl Receiver {
    /// Arms the timer and updates `is_predictable`. Runs after all events except expected packets.
    #[inline]
    fn settle(&mut self, tcp: &TcpSpec, out: &mut impl Outbox) {
        if let Some(at) = self.alarm.arm() {
            out.set_timer(DELAYED_ACK, at);
        }
        self.is_predictable = self.may_predict && self.is_steady(tcp);
    }
}

impl ReceiveEndpoint for Receiver {
    #[inline]
    fn received(&self) -> u64 {
        self.rcv_nxt
    }

    fn arrived(&self, start: u64, end: u64) -> u64 {
        let ranges = self.out_of_order.iter().copied().chain([(0, self.rcv_nxt)]);
        ranges.map(|(low, high)| high.min(end).saturating_sub(low.max(start))).sum()
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn on_message_end(&mut self, end: u64, cx: EndpointContext<'_>, out: &mut impl Outbox) {
        if self.has_unanswered(end) {
            self.acknowledge(cx, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ReceiveEndpoint;
    use crate::tcp::testing::{IDENTITY, tcp};

    /// ACKs for whole segments that arrive in this order, and the bytes skipped after each segment.
    fn received(recovery: Recovery, segments: &[u64]) -> (Vec<Packet>, Vec<u64>) {
        let (mut receiver, mut sent) = (Receiver::new(IDENTITY, Ecn::Off, recovery), Vec::new());
        let mut receive = |segment: &u64| {
            let mut data =
                Packet { kind: PacketType::Data, payload: 1000, ..IDENTITY.control(1000 * segment, &tcp()) };
            receiver.on_data(&mut data, EndpointContext { now: Instant::ZERO, tcp: &tcp() }, &mut sent);
            receiver.skipped()
        };
        let skipped = segments.iter().map(&mut receive).collect();
        (sent, skipped)
    }

    fn acks(recovery: Recovery, segments: &[u64]) -> Vec<(u64, Vec<(u64, u64)>)> {
        let (sent, _) = received(recovery, segments);
        sent.iter().map(|ack| (ack.seq, ack.sack().ranges(ack.seq).collect())).collect()
    }

    /// RFC 2018 §4: the block with the newest segment is the first. Adjacent segments share a block. A
    /// segment that arrives twice changes no block.
    #[test]
    fn sack_blocks_list_data_beyond_a_gap() {
        let [first, second] = [(2000, 3000), (4000, 5000)];
        let expected = [
            (1000, vec![]),
            (1000, vec![first]),
            (1000, vec![second, first]),
            (1000, vec![second, first]),
            (1000, vec![(2000, 5000)]),
            (5000, vec![]),
        ];
        assert_eq!(acks(Recovery::Sack, &[0, 2, 4, 0, 3, 1]), expected);
    }

    #[test]
    fn without_sack_acks_have_no_blocks() {
        let expected = [1000, 1000, 1000, 1000, 1000, 5000].map(|ack| (ack, vec![]));
        assert_eq!(acks(Recovery::NewReno, &[0, 2, 4, 0, 3, 1]), expected);
    }

    /// The gaps before the third and the sixth segment count once, when these segments arrive.
    #[test]
    fn gaps_below_new_bytes_are_counted_once() {
        let (_, skipped) = received(Recovery::Sack, &[0, 2, 1, 5, 4, 3]);
        assert_eq!(skipped, [0, 1000, 1000, 3000, 3000, 3000]);
    }

    /// RFC 2883 §4: the first block of one ACK is the duplicate data, below or above the cumulative
    /// acknowledgement.
    #[test]
    fn with_rack_a_duplicate_segment_is_reported_once() {
        let [first, third, above] = [(0, 1000), (2000, 3000), (2000, 4000)];
        let expected = [
            (1000, vec![]),
            (1000, vec![first]),
            (1000, vec![third]),
            (1000, vec![above]),
            (1000, vec![third, above]),
            (1000, vec![first, above]),
            (4000, vec![]),
        ];
        assert_eq!(acks(Recovery::Rack, &[0, 0, 2, 3, 2, 0, 1]), expected);
    }
}
