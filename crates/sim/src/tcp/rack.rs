//! RACK: loss detection by time instead of by counting (RFC 8985 §5 and §6), with its list of outstanding
//! segments.
//!
//! | RFC 8985 | here |
//! |---|---|
//! | Segment.xmit_ts, .end_seq | [`Segment`] `sent`, `end` |
//! | Segment.retransmitted, .lost | [`Segment`] `again`, `lost` |
//! | RACK.segment: RACK.xmit_ts, RACK.end_seq | `newest` |
//! | RACK.rtt, RACK.min_RTT | `rtt`, `min_rtt` |
//! | RACK.segs_sacked, RACK.fack | `sacked`, `fack` |
//! | RACK.reordering_seen | `reordering_seen` |
//! | RACK.reo_wnd | [`Rack::reo_wnd`] |
//! | RACK.dsack_round, RACK.reo_wnd_mult, RACK.reo_wnd_persist | `dsack_round`, `reo_wnd_mult`, `reo_wnd_persist` |
//! | RACK_sent_after | the order of `(sent, end)` |
//!
//! Deviations:
//! - RACK.min_RTT is the minimum over the whole connection. §6.2 step 1 leaves the filter open; Linux takes
//!   the minimum over five minutes.
//! - ACKs have no timestamps. Only a round trip below RACK.min_RTT shows that an ACK of a retransmitted
//!   segment is for the original (§6.2 step 2 also tests timestamps).
//! - As in Linux, a DSACK for a tail loss probe is not a sign of reordering.
//!
//! If DupThresh later segments overtake each late segment, the late segment is retransmitted before it
//! arrives. Then step 3 never sees reordering, and step 4 keeps a reordering window of zero although DSACK
//! widens it. The RFC and Linux behave in the same way.

use super::scoreboard::Scoreboard;
use shortflow_units::{Instant, Span};
use std::collections::VecDeque;

/// Recoveries without DSACK after which the reordering window returns to its initial size (§6.2 step 4).
const PERSIST: u32 = 16;

/// A segment that is sent and not yet acknowledged cumulatively (§5.2).
#[derive(Debug, Clone, Copy)]
struct Segment {
    start: u64,
    end: u64,
    /// Time of the last transmission.
    sent: Instant,
    /// Retransmitted at least once.
    again: bool,
    /// Selectively acknowledged.
    sacked: bool,
    /// Lost, and not yet retransmitted.
    lost: bool,
}

impl Segment {
    fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// Data that one ACK acknowledges for the first time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Delivery {
    /// Bytes acknowledged for the first time, cumulatively or selectively.
    pub bytes: u64,
    /// True if the ACK measures a round trip: one of the segments was sent only once.
    pub measured: bool,
    /// Send time and end of the segment that was sent last.
    newest: Option<(Instant, u64)>,
    /// RACK.fack before this ACK.
    fack: u64,
}

/// Result of one pass of loss detection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LossDetection {
    /// True if the pass found lost segments.
    pub lost: bool,
    /// Time until all segments that may be late, not lost, count as lost.
    pub wait: Option<Span>,
}

/// State of §5.3, and the outstanding segments.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// Outstanding segments in order of sequence numbers, without gaps.
    segments: VecDeque<Segment>,
    lost_bytes: u64,
    sacked_bytes: u64,
    sacked: u32,
    /// No segment below this is lost.
    lost_from: u64,
    newest: Option<(Instant, u64)>,
    rtt: Span,
    min_rtt: Option<Span>,
    fack: u64,
    reordering_seen: bool,
    dsack_round: Option<u64>,
    /// RACK.reo_wnd_mult minus 1.
    reo_wnd_more: u32,
    reo_wnd_persist: u32,
}

impl Rack {
    /// RACK.rtt.
    pub(super) fn rtt(&self) -> Span {
        self.rtt
    }

    /// RACK.segs_sacked.
    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Number of segments that are not cumulatively acknowledged.
    pub(super) fn outstanding(&self) -> usize {
        self.segments.len()
    }

    /// Bytes in the network: sent, and neither acknowledged nor lost.
    pub(super) fn pipe(&self) -> u64 {
        let (first, last) = (self.segments.front(), self.segments.back());
        let sent = first.zip(last).map_or(0, |(first, last)| last.end - first.start);
        sent - self.sacked_bytes - self.lost_bytes
    }

    /// First and last byte (`start..end`) of the first outstanding segment.
    pub(super) fn first(&self) -> Option<(u64, u64)> {
        self.segments.front().map(|segment| (segment.start, segment.end))
    }

    /// First and last byte (`start..end`) of the last outstanding segment.
    pub(super) fn last(&self) -> Option<(u64, u64)> {
        self.segments.back().map(|segment| (segment.start, segment.end))
    }

    /// The first lost segment that is not yet retransmitted.
    pub(super) fn first_lost(&mut self) -> Option<(u64, u64)> {
        if self.lost_bytes == 0 {
            return None;
        }
        let from = self.index_of(self.lost_from);
        let found = self.segments.range(from..).find(|segment| segment.lost)?;
        self.lost_from = found.start;
        Some((found.start, found.end))
    }

    /// True if every lost segment has been retransmitted.
    pub(super) fn is_all_resent(&self) -> bool {
        self.lost_bytes == 0
    }

    /// Index of the first segment that ends above `seq`.
    fn index_of(&self, seq: u64) -> usize {
        self.segments.partition_point(|segment| segment.end <= seq)
    }

    /// §6.1: bytes `start..end` leave, for the first time or again.
    pub(super) fn on_sent(&mut self, start: u64, end: u64, now: Instant) {
        let at = self.index_of(start);
        let Some(segment) = self.segments.get_mut(at) else {
            let new = Segment { start, end, sent: now, again: false, sacked: false, lost: false };
            return self.segments.push_back(new);
        };
        if std::mem::take(&mut segment.lost) {
            self.lost_bytes -= segment.bytes();
        }
        (segment.sent, segment.again) = (now, true);
    }

    /// §6.2 steps 1 to 3: all bytes below `una` and the ranges `blocks` above `una` have arrived. Adds the
    /// ranges to the scoreboard.
    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        una: u64,
        blocks: impl Iterator<Item = (u64, u64)>,
        board: &mut Scoreboard,
    ) -> Delivery {
        let mut delivery = Delivery { fack: self.fack, ..Delivery::default() };
        while let Some(segment) = self.segments.front().copied().filter(|segment| segment.end <= una) {
            self.segments.pop_front();
            match segment.sacked {
                true => {
                    self.sacked -= 1;
                    self.sacked_bytes -= segment.bytes();
                }
                false => self.deliver(segment, now, &mut delivery),
            }
        }
        let highest = self.last().map_or(una, |(_, end)| end);
        for (start, end) in blocks {
            let (mut from, end) = (start.max(una), end.min(highest));
            while let (start, end) = board.hole_from(from, end)
                && start < end
            {
                self.on_sacked(start, end, now, &mut delivery);
                from = end;
            }
            board.add(std::iter::once((start, end)), una, highest);
        }
        // Step 2: RACK.rtt is the round trip of the segment that was sent last among those acknowledged.
        if let Some((sent, _)) = delivery.newest {
            self.rtt = now.since(sent);
            self.newest = self.newest.max(delivery.newest);
        }
        delivery
    }

    /// Marks segments within `start..end` as SACKed; these bytes were not SACKed before.
    fn on_sacked(&mut self, start: u64, end: u64, now: Instant, delivery: &mut Delivery) {
        let mut at = self.index_of(start);
        while let Some(segment) = self.segments.get_mut(at).filter(|segment| segment.end <= end) {
            let found = *segment;
            (segment.sacked, segment.lost) = (true, false);
            self.sacked += 1;
            self.sacked_bytes += found.bytes();
            self.deliver(found, now, delivery);
            at += 1;
        }
    }

    /// Updates the state for a segment that has arrived.
    fn deliver(&mut self, segment: Segment, now: Instant, delivery: &mut Delivery) {
        delivery.bytes += segment.bytes();
        if segment.lost {
            self.lost_bytes -= segment.bytes();
        }
        self.fack = self.fack.max(segment.end);
        let rtt = now.since(segment.sent);
        if !segment.again {
            delivery.measured = true;
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt))); // step 1
            self.reordering_seen |= segment.end < delivery.fack; // step 3
        } else if self.min_rtt.is_some_and(|least| rtt < least) {
            return; // step 2: the original has arrived
        }
        delivery.newest = delivery.newest.max(Some((segment.sent, segment.end)));
    }

    /// Takes the handshake's round trip as the first sample of RACK.min_RTT, as in Linux. Often the queue is
    /// never empty again, so later samples are longer.
    pub(super) fn on_handshake(&mut self, round_trip: Span) {
        self.min_rtt = Some(round_trip);
    }

    /// §6.2 step 4, adaptation of the reordering window: `dsack` means that a segment was retransmitted
    /// needlessly, and `recovered` that a recovery ends.
    pub(super) fn adapt(&mut self, una: u64, snd_nxt: u64, dsack: bool, recovered: bool) {
        self.dsack_round = self.dsack_round.filter(|round| una < *round);
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(snd_nxt);
            self.reo_wnd_more += 1;
            self.reo_wnd_persist = PERSIST;
        } else if recovered {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_more = 0;
            }
        }
    }

    /// §6.2 step 4: reordering window, the time by which a segment may arrive later than segments sent after
    /// it.
    pub(super) fn reo_wnd(&self, srtt: Span, recovering: bool, dupthresh: u32) -> Span {
        if !self.reordering_seen && (recovering || self.sacked >= dupthresh) {
            return Span::ZERO;
        }
        let quarter = self.min_rtt.unwrap_or_default().divided_by(4);
        quarter.times(u64::from(self.reo_wnd_more) + 1).min(srtt)
    }

    /// §6.2 step 5: detects lost segments. A segment is lost if a later-sent segment has arrived, and a round
    /// trip plus the reordering window have passed since the segment was sent.
    pub(super) fn detect(&mut self, now: Instant, reo_wnd: Span, board: &Scoreboard) -> LossDetection {
        let mut found = LossDetection::default();
        let (Some(newest), Some((una, _)), Some((_, end))) = (self.newest, self.first(), self.last()) else {
            return found;
        };
        let allowed = self.rtt + reo_wnd;
        for (start, end) in board.holes(una, end) {
            let mut at = self.index_of(start);
            while let Some(segment) = self.segments.get_mut(at).filter(|segment| segment.start < end) {
                at += 1;
                if (segment.sent, segment.end) >= newest {
                    if !segment.again {
                        return found; // later originals were sent even later
                    }
                } else if !segment.lost {
                    match (segment.sent + allowed).since(now) {
                        Span::ZERO => found.lost |= self.lose(at - 1),
                        wait => found.wait = found.wait.max(Some(wait)),
                    }
                }
            }
        }
        found
    }

    /// §6.3: at a timeout, the first segment is lost, and so is each segment sent at least a round trip plus
    /// the reordering window ago.
    pub(super) fn on_timeout(&mut self, now: Instant, reo_wnd: Span) {
        let allowed = self.rtt + reo_wnd;
        for at in 0..self.segments.len() {
            let segment = &self.segments[at];
            if !segment.sacked && !segment.lost && (at == 0 || segment.sent + allowed <= now) {
                self.lose(at);
            }
        }
    }

    /// Marks a segment as lost. Always returns true.
    fn lose(&mut self, at: usize) -> bool {
        let segment = &mut self.segments[at];
        segment.lost = true;
        self.lost_bytes += segment.bytes();
        self.lost_from = self.lost_from.min(segment.start);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn us(time: u64) -> Span {
        Span::from_micros(time)
    }

    fn at(time: u64) -> Instant {
        Instant::ZERO + us(time)
    }

    /// Segments of 1000 bytes, numbered from 0, sent at the given microseconds.
    struct Bench {
        rack: Rack,
        board: Scoreboard,
    }

    fn bench(sent: &[u64]) -> Bench {
        let mut rack = Rack::default();
        sent.iter().zip(0..).for_each(|(&time, i)| rack.on_sent(i * MSS, (i + 1) * MSS, at(time)));
        Bench { rack, board: Scoreboard::new(3) }
    }

    impl Bench {
        /// An ACK of the first `whole` segments, with SACK blocks for the segments `others`.
        fn ack(&mut self, now: u64, whole: u64, others: &[u64]) -> Delivery {
            let blocks = others.iter().map(|&i| (i * MSS, (i + 1) * MSS));
            let delivery = self.rack.on_ack(at(now), whole * MSS, blocks, &mut self.board);
            self.board.advance(whole * MSS);
            delivery
        }

        fn detect(&mut self, now: u64, reo_wnd: u64) -> (bool, Option<Span>) {
            let found = self.rack.detect(at(now), us(reo_wnd), &self.board);
            (found.lost, found.wait)
        }

        fn send_again(&mut self, segment: u64, now: u64) {
            self.rack.on_sent(segment * MSS, (segment + 1) * MSS, at(now));
        }
    }

    /// Steps 1 and 2: an ACK at 420 µs of segments sent at 0, 10 and 20 µs gives a round trip of 400 µs. The
    /// next ACK, also at 420 µs, of the segment sent at 110 µs gives 310 µs.
    #[test]
    fn the_round_trip_is_that_of_the_segment_sent_last() {
        let mut bench = bench(&[0, 10, 20, 110]);
        let delivery = bench.ack(420, 3, &[]);
        assert_eq!((delivery.bytes, delivery.measured), (3 * MSS, true));
        assert_eq!((bench.rack.rtt(), bench.rack.min_rtt), (us(400), Some(us(400))));
        bench.ack(420, 4, &[]);
        assert_eq!((bench.rack.rtt(), bench.rack.min_rtt), (us(310), Some(us(310))));
        assert_eq!((bench.rack.outstanding(), bench.rack.pipe()), (0, 0));
    }

    /// Step 2: an ACK of a retransmission that arrives in less than the smallest round trip is for the
    /// original.
    #[test]
    fn an_ack_too_soon_for_a_retransmission_gives_no_time_sample() {
        for (now, newest) in [(899, Some((at(0), MSS))), (900, Some((at(600), 2 * MSS)))] {
            let mut bench = bench(&[0, 0, 0]);
            bench.ack(300, 1, &[]);
            bench.send_again(1, 600);
            let delivery = bench.ack(now, 2, &[]);
            assert_eq!((delivery.bytes, delivery.measured), (MSS, false));
            assert_eq!(bench.rack.newest, newest, "{now}");
        }
    }

    /// Step 5: of segments sent at 0, 10, 20 and 30 µs, the third is SACKed at 320 µs. The first two are lost
    /// 300 + 75 µs after they were sent: one round trip plus the reordering window.
    #[test]
    fn earlier_segments_are_lost_after_a_round_trip_and_the_reordering_window() {
        let mut bench = bench(&[0, 10, 20, 30]);
        bench.ack(320, 0, &[2]);
        assert_eq!(bench.rack.rtt(), us(300));
        assert_eq!(bench.detect(320, 75), (false, Some(us(65))));
        assert_eq!(bench.detect(374, 75), (false, Some(us(11))));
        assert_eq!(bench.detect(375, 75), (true, Some(us(10))));
        assert_eq!(bench.rack.first_lost(), Some((0, MSS)));
        assert_eq!(bench.rack.pipe(), 2 * MSS, "the second and the fourth");
        assert_eq!(bench.detect(385, 75), (true, None));
        bench.send_again(0, 385);
        assert_eq!(bench.rack.first_lost(), Some((MSS, 2 * MSS)));
        assert_eq!((bench.rack.pipe(), bench.detect(10_000, 75)), (2 * MSS, (false, None)));
    }

    /// A retransmission sent at 400 µs is lost when a segment sent at 410 µs arrives. A retransmission sent
    /// at 420 µs is not lost. The order in the stream does not matter.
    #[test]
    fn a_retransmission_is_lost_as_any_segment_is() {
        for (early, late) in [(0, 1), (1, 0)] {
            let mut bench = bench(&[0, 0, 10]);
            bench.ack(310, 0, &[2]);
            assert_eq!(bench.detect(310, 0), (true, None));
            bench.send_again(early, 400);
            bench.rack.on_sent(3 * MSS, 4 * MSS, at(410));
            bench.send_again(late, 420);
            bench.ack(700, 0, &[3]);
            assert_eq!(bench.detect(709, 20), (false, Some(us(1))), "400 + 290 + 20");
            assert_eq!(bench.detect(710, 20), (true, None));
            assert_eq!(bench.rack.first_lost(), Some((early * MSS, (early + 1) * MSS)));
            bench.ack(720, 4, &[]);
            assert_eq!((bench.rack.pipe(), bench.rack.sacked(), bench.rack.first_lost()), (0, 0, None));
        }
    }

    /// Step 3: a segment that arrives after a later one shows reordering, unless it was retransmitted.
    /// Segments in one ACK have no order.
    #[test]
    fn reordering_is_seen_when_an_original_comes_late() {
        let mut late = bench(&[0, 0, 0]);
        late.ack(300, 0, &[1]);
        late.ack(310, 2, &[]);
        assert!(late.rack.reordering_seen);
        let mut repaired = bench(&[0, 0, 0]);
        repaired.ack(300, 0, &[1]);
        repaired.send_again(0, 310);
        repaired.ack(610, 2, &[]);
        let mut together = bench(&[0, 0, 0]);
        together.ack(300, 1, &[2]);
        assert!(!repaired.rack.reordering_seen && !together.rack.reordering_seen);
    }

    /// Step 4, with min_RTT = 400 µs and SRTT = 1 ms.
    #[test]
    fn the_window_is_nothing_where_packets_keep_their_order_and_losses_are_likely() {
        let mut bench = bench(&[0, 0, 0, 0, 0, 0]);
        bench.ack(400, 1, &[]);
        let wnd = |bench: &Bench, recovering, srtt| bench.rack.reo_wnd(us(srtt), recovering, 3);
        assert_eq!((wnd(&bench, false, 1000), wnd(&bench, true, 1000)), (us(100), us(0)));
        assert_eq!(wnd(&bench, false, 90), us(90), "at most SRTT");
        bench.ack(400, 1, &[2, 3]);
        assert_eq!(wnd(&bench, false, 1000), us(100));
        bench.ack(400, 1, &[4]);
        assert_eq!(wnd(&bench, false, 1000), us(0), "three are SACKed");
        bench.ack(410, 5, &[]);
        assert_eq!(wnd(&bench, true, 1000), us(100), "the second was overtaken");
    }

    /// Step 4: each round with a DSACK adds a quarter of min_RTT, until sixteen recoveries pass without
    /// DSACK.
    #[test]
    fn duplicates_widen_the_window_and_recoveries_without_narrow_it() {
        let mut bench = bench(&[0, 0]);
        bench.ack(400, 1, &[]);
        let wnd = |bench: &Bench| bench.rack.reo_wnd(us(1000), false, 3);
        for (una, snd_nxt, dsack, expected) in [
            (10, 50, true, 200),
            (20, 60, true, 200),
            (49, 60, true, 200),
            (50, 90, true, 300),
            (90, 90, false, 300),
        ] {
            bench.rack.adapt(una, snd_nxt, dsack, false);
            assert_eq!(wnd(&bench), us(expected), "{una}");
        }
        (0..15).for_each(|_| bench.rack.adapt(90, 90, false, true));
        assert_eq!(wnd(&bench), us(300));
        bench.rack.adapt(90, 90, false, true);
        assert_eq!(wnd(&bench), us(100));
    }

    /// §6.3: the first segment is lost, and each segment older than a round trip plus the reordering window.
    #[test]
    fn a_timeout_spares_recently_sent_segments() {
        let mut bench = bench(&[0, 0, 500, 900]);
        bench.ack(300, 1, &[]);
        bench.rack.on_timeout(at(850), us(50));
        assert_eq!(bench.rack.pipe(), MSS);
        assert_eq!(bench.rack.first_lost(), Some((MSS, 2 * MSS)));
        bench.send_again(1, 850);
        bench.send_again(2, 850);
        bench.rack.on_timeout(at(900), us(50));
        assert_eq!(bench.rack.first_lost(), Some((MSS, 2 * MSS)), "the first, however late");
        assert_eq!(bench.rack.pipe(), 2 * MSS);
    }
}
