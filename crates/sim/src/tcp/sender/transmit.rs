//! Sending within the window: RFC 5681 §3.1 outside recovery, and RFC 6675 §5 (C) in recovery.

use super::Sender;
use crate::host::{EndpointContext, PacketSink};
use crate::packet::{Extension, Packet};
use crate::specs::TcpSpec;
use crate::tcp::recovery::Phase;
use crate::tcp::scoreboard::NextSegment;
use crate::tcp::usage::End;
use shortflow_cc::Recovery;
use shortflow_units::{Bytes, Instant};

impl Sender {
    /// Sends as much as the window allows.
    #[inline]
    pub(super) fn transmit(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        if self.loss.phase == Phase::Recovery && self.loss.by == Recovery::Sack {
            return self.transmit_by_pipe(cx, out);
        }
        let allowed = self.stream.window_bytes(cx.tcp) + self.loss.inflation.bytes();
        let end = loop {
            // After a timeout, skip SACKed data.
            if self.stream.snd_nxt < self.stream.snd_max {
                self.stream.snd_nxt =
                    self.loss.scoreboard.hole_from(self.stream.snd_nxt, self.stream.snd_max).0;
            }
            let room = allowed.saturating_sub(self.loss.outstanding(&self.stream));
            let Some(end) = self.segment_end(self.stream.snd_nxt, room, cx.tcp) else {
                break if room < self.stream.segment_size(u64::MAX, cx.tcp) {
                    End::Window
                } else {
                    End::Data
                };
            };
            let fits =
                end - self.stream.snd_nxt <= room || self.may_exceed(self.loss.outstanding(&self.stream));
            if !fits {
                break End::Window;
            }
            if self.is_paced_out(cx.now) {
                break End::Pacer;
            }
            if self.is_held_by_card(cx.now) {
                break End::Card(self.stream.snd_nxt);
            }
            self.send_segment(self.stream.snd_nxt, end, cx, out);
            self.stream.snd_nxt = end;
        };
        self.usage.note_end(end, &mut self.card, &mut self.stream, cx);
    }

    /// RFC 6675 §5 (C): sends a segment as long as the pipe estimate leaves room for one.
    fn transmit_by_pipe(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) {
        let mss = cx.tcp.mss.get();
        let allowed = self.stream.window_bytes(cx.tcp);
        let end = loop {
            let pipe = self.loss.scoreboard.pipe(self.stream.snd_una, self.stream.snd_max, mss);
            let room = allowed.saturating_sub(pipe);
            let segment = self.stream.segment_size(room, cx.tcp);
            let fits = segment <= room || self.may_exceed(pipe);
            if !fits {
                break End::Window;
            }
            if self.is_paced_out(cx.now) {
                break End::Pacer;
            }
            let new_data = self.segment_end(self.stream.snd_max, room, cx.tcp);
            let Some(choice) = self.loss.scoreboard.next_segment(
                self.stream.snd_una,
                self.stream.snd_max,
                mss,
                new_data.is_some(),
            ) else {
                break End::Data;
            };
            let (start, end) = match (choice, new_data) {
                (NextSegment::Hole(start, end), _) => (start, self.resend_end(start, end, room, cx.tcp)),
                (NextSegment::Rescue(start, end), _) => {
                    let start = start.max(end.saturating_sub(segment)); // the last bytes of the hole, rule 4
                    (start, self.resend_end(start, end, room, cx.tcp))
                }
                (NextSegment::New, Some(end)) => (self.stream.snd_max, end),
                (NextSegment::New, None) => break End::Data,
            };
            if self.is_held_by_card(cx.now) {
                break End::Card(start);
            }
            self.send_segment(start, end, cx, out);
            self.loss.scoreboard.on_sent(choice, end, self.loss.recover.unwrap_or(self.stream.snd_max));
            self.stream.snd_nxt = self.stream.snd_max;
        };
        self.usage.note_end(end, &mut self.card, &mut self.stream, cx);
    }

    /// End of a retransmission from `start`, within a hole that ends at `hole`.
    fn resend_end(&self, start: u64, hole: u64, room: u64, tcp: &TcpSpec) -> u64 {
        self.segment_end(start, room, tcp).map_or(start, |end| end.min(hole))
    }

    /// Resends the first unacknowledged segment even if the window is full. Returns its end.
    pub(super) fn retransmit_first(&mut self, cx: EndpointContext<'_>, out: &mut impl PacketSink) -> u64 {
        let hole = self.loss.scoreboard.hole_from(self.stream.snd_una, self.stream.snd_max).1;
        let end = self.resend_end(self.stream.snd_una, hole, u64::MAX, cx.tcp);
        self.send_segment(self.stream.snd_una, end, cx, out);
        end
    }

    /// One past the last byte that the receiver has room for.
    #[inline]
    pub(super) fn receive_limit(&self) -> u64 {
        self.stream.snd_una.saturating_add(self.receive_window)
    }

    /// End of the segment that begins at `seq`. `None` if there is no data, or if the receiver has no room,
    /// in recovery too. A retransmission carries no new data, so it ends no later than the original.
    #[inline(always)] // runs once more on every ACK, to find that the window is full
    pub(super) fn segment_end(&self, seq: u64, room: u64, tcp: &TcpSpec) -> Option<u64> {
        let message = self.stream.messages.of(seq)?;
        let full = message.end.min(seq.saturating_add(self.stream.segment_size(room, tcp)));
        if seq >= self.stream.snd_max {
            return (full <= self.receive_limit()).then_some(full);
        }
        let sent = full.min(self.stream.snd_max);
        Some(sent.min(self.loss.scoreboard.hole_from(seq, sent).1))
    }

    /// Sends bytes `start..end`.
    #[inline(never)] // keeps the path of expected ACKs short
    pub(super) fn send_segment(
        &mut self,
        start: u64,
        end: u64,
        cx: EndpointContext<'_>,
        out: &mut impl PacketSink,
    ) {
        self.send_bytes((start, end), start < self.stream.snd_max, cx, out);
    }

    /// Sends bytes `start..end`; `again` is true for a retransmission.
    #[inline(always)]
    pub(super) fn send_bytes(
        &mut self,
        (start, end): (u64, u64),
        again: bool,
        cx: EndpointContext<'_>,
        out: &mut impl PacketSink,
    ) {
        let (priority, extension) =
            if self.is_plain { (0, None) } else { self.prepare((start, end), again, cx) };
        if again {
            self.rto.on_retransmit();
        } else {
            self.rto.on_send(end, cx.now);
            self.stream.snd_max = end;
        }
        if self.alarm.deadline.is_none() {
            self.alarm.deadline = Some(cx.now + self.rto.rto()); // RFC 6298 (5.1)
        }
        let packet = self.stream.packet(start, end, cx.tcp);
        let handover = out.emit(Packet {
            priority,
            extension,
            ecn: self.ecn.field(again),
            ecn_flag: !again && self.ecn.once.take_cwr(),
            ..packet
        });
        self.stream.count_sent(start, again, handover.waits);
        self.card.on_sent(handover.departs);
    }

    /// Records that a segment leaves. Returns its priority and telemetry.
    #[inline(never)] // most transports need none of this, and every packet passes here
    fn prepare(
        &mut self,
        (start, end): (u64, u64),
        again: bool,
        cx: EndpointContext<'_>,
    ) -> (u64, Option<Box<Extension>>) {
        if let Some(rack) = self.rack.as_deref_mut() {
            let sent = (self.stream.snd_una, self.stream.snd_max);
            rack.on_sent((start, end), sent, cx.now, cx.now + self.rto.rto());
        }
        let priority = if self.stream.priority.is_none() { 0 } else { self.stream.priority_at(start) };
        let is_alone = start == self.stream.snd_una && !again;
        let payload = Bytes::new(end - start);
        let path = self.path.as_deref_mut();
        (priority, path.map(|path| path.on_sent(&mut self.stream, payload, is_alone, cx)))
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
        self.path.as_deref_mut().is_some_and(|path| path.holds_back(&self.stream, now))
    }

    /// True if the card holds the next segment until it wakes the sender. The first segment after a timeout
    /// passes the limit.
    #[inline]
    pub(super) fn is_held_by_card(&self, now: Instant) -> bool {
        self.card.is_full(now) && self.stream.snd_nxt > self.stream.snd_una
    }
}

#[cfg(test)]
mod tests {
    use crate::tcp::testing::{Bench, tcp};
    use shortflow_cc::TransportConfig;

    /// FaST with 100 KB to send and alpha = 0.5, with or without probes.
    fn fast(recovery: &str, probes: &str) -> Bench {
        let settings = [("recovery", recovery), ("probes", probes), ("initial_alpha", "0.5"), ("g", "0")];
        Bench::of(&TransportConfig::with("fast", settings).unwrap(), tcp(), 100_000)
    }

    #[test]
    fn three_half_segments_a_round_trip_apart_then_two_whole_ones() {
        let mut bench = fast("sack", "3");
        assert_eq!(bench.take(), [(0, 730)]);
        assert_eq!(bench.ack(730, false, &[]), [(730, 730)]);
        assert_eq!(bench.ack(1460, false, &[]), [(1460, 730)]);
        assert_eq!(bench.ack(2190, false, &[]), [(2190, 1460), (3650, 1460)]);
    }

    #[test]
    fn a_window_of_one_and_a_half_segments_is_filled_to_the_byte() {
        let mut bench = fast("sack", "0");
        assert_eq!(bench.take(), [(0, 1460), (1460, 1460)]);
        assert_eq!(bench.ack(1460, true, &[]), [(2920, 730)], "1.5 segments, of which one is out");
        assert_eq!(bench.sender.window().cwnd, 1.5);
    }

    #[test]
    fn below_one_segment_one_smaller_segment_is_out_at_a_time() {
        let mut bench = fast("sack", "0");
        bench.sender.stream.window.cwnd = 0.5;
        assert_eq!(bench.take().len(), 2);
        assert_eq!(bench.ack(1460, true, &[]), [], "a whole segment is still out");
        assert_eq!(bench.ack(2920, true, &[]), [(2920, 547)], "0.375 segments");
        assert_eq!(bench.ack(3467, true, &[]), [(3467, 410)], "0.28125 segments");
    }

    /// A probe of half a segment is lost. Its retransmission ends where the probe ended, although segments
    /// are now full. New data follows.
    #[test]
    fn retransmissions_carry_no_new_data() {
        let mut bench = fast("sack", "3");
        assert_eq!(bench.expire(), [(0, 730), (730, 730)]);
        assert_eq!(bench.sender.stream.snd_max, 1460);
        assert_eq!(bench.ack(1460, false, &[]).first(), Some(&(1460, 1460)));
    }

    /// A full segment is lost while the window is half a segment. It is resent in pieces, one at a time.
    #[test]
    fn sack_repairs_a_whole_segment_with_smaller_ones() {
        let mut bench = fast("sack", "0");
        bench.sender.stream.window.cwnd = 5.0;
        bench.ack(1460, false, &[]);
        bench.sender.stream.window.cwnd = 0.5;
        assert_eq!(bench.sender.stream.snd_max, 10_220);
        assert_eq!(bench.ack(1460, false, &[(2920, 4380)]), []);
        assert_eq!(bench.ack(1460, false, &[(2920, 5840)]), []);
        assert_eq!(bench.ack(1460, false, &[(2920, 7300)]), [(1460, 730)]);
        assert_eq!(bench.ack(2190, false, &[(2920, 8760)]), [], "others are still out");
        assert_eq!(bench.ack(2190, false, &[(2920, 10_220)]), [(2190, 730)]);
    }

    /// NewReno inflates the window by segments of their present size: 3 and then 4 of 730 bytes.
    #[test]
    fn newreno_counts_duplicates_in_present_segments() {
        let mut bench = fast("newreno", "0");
        bench.sender.stream.window.cwnd = 5.0;
        bench.ack(1460, false, &[]);
        bench.sender.stream.window.cwnd = 0.5;
        let resent: Vec<_> = (0..4).map(|_| bench.ack(1460, false, &[])).collect();
        assert_eq!(resent[2], [(1460, 730)]);
        assert_eq!(bench.sender.loss.inflation.bytes(), 4 * 730);
        assert_eq!(bench.ack(2190, false, &[]), [(2190, 730)], "a partial ACK resends the next piece");
    }
}
