//! The SACK scoreboard — RFC 6675, over the blocks of RFC 2018.
//!
//! | RFC 6675 | here |
//! |---|---|
//! | HighACK | `una` |
//! | HighData | `snd_max` |
//! | HighRxt | `high_rxt`: one past the highest byte retransmitted in this recovery |
//! | IsLost | bytes below [`Scoreboard::lost_below`] |
//! | SetPipe | [`Scoreboard::pipe`] |
//! | NextSeg | [`Scoreboard::next_segment`] |
//! | DupThresh | `dupthresh` |
//! | RescueRxt | `rescue_rxt`: one past the byte that must be acknowledged before a rescue |
//!
//! Sequence ranges are half-open.

use std::iter;

/// The rule of NextSeg that chose a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextSegment {
    /// A hole, bytes `start..end`, of which one segment may be sent (rules 1 and 3).
    Hole(u64, u64),
    /// New data (rule 2).
    New,
    /// The last outstanding hole, once per recovery (rule 4).
    Rescue(u64, u64),
}

/// Selectively acknowledged ranges of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Scoreboard {
    dupthresh: u32,
    sacked: Vec<(u64, u64)>,
    high_rxt: u64,
    rescue_rxt: u64,
}

impl Scoreboard {
    /// An empty scoreboard. A hole is lost if `dupthresh` segments above it are SACKed.
    pub(crate) fn new(dupthresh: u32) -> Scoreboard {
        Scoreboard { dupthresh, sacked: Vec::new(), high_rxt: 0, rescue_rxt: 0 }
    }

    /// Adds the SACK blocks of an ACK. Returns true if they contain new data.
    pub(crate) fn add(&mut self, blocks: impl Iterator<Item = (u64, u64)>, una: u64, snd_max: u64) -> bool {
        let before = self.sacked_bytes(0, u64::MAX);
        for (start, end) in blocks {
            let (start, end) = (start.max(una), end.min(snd_max));
            if start < end {
                self.insert(start, end);
            }
        }
        self.sacked_bytes(0, u64::MAX) > before
    }

    /// True if no data above the cumulative acknowledgement is SACKed.
    pub(crate) fn is_empty(&self) -> bool {
        self.sacked.is_empty()
    }

    /// Removes all data below the cumulative acknowledgement.
    #[inline]
    pub(crate) fn advance(&mut self, una: u64) {
        if self.sacked.is_empty() {
            return;
        }
        self.sacked.retain_mut(|range| {
            range.0 = range.0.max(una);
            range.0 < range.1
        });
    }

    /// Recovery begins with the retransmission of a segment that ends at `end` (§5 step 4.3).
    pub(crate) fn enter_recovery(&mut self, end: u64) {
        self.high_rxt = end;
        self.rescue_rxt = end;
    }

    /// Records that the segment chosen by [`Scoreboard::next_segment`] was sent up to byte `end`.
    pub(crate) fn on_sent(&mut self, choice: NextSegment, end: u64, recovery_point: u64) {
        match choice {
            NextSegment::Hole(..) => self.high_rxt = self.high_rxt.max(end),
            NextSegment::Rescue(..) => self.rescue_rxt = recovery_point,
            NextSegment::New => {}
        }
    }

    /// IsLost: all bytes below the result that are not SACKed are lost. Returns `una` if none is lost.
    pub(crate) fn lost_below(&self, una: u64, mss: u64) -> u64 {
        let (mut blocks, mut bytes) = (0, 0);
        for &(start, end) in self.sacked.iter().rev() {
            blocks += 1;
            bytes += end - start;
            if blocks >= self.dupthresh || bytes > u64::from(self.dupthresh - 1) * mss {
                return start;
            }
        }
        una
    }

    /// SetPipe: an estimate of the bytes in the network.
    pub(crate) fn pipe(&self, una: u64, snd_max: u64, mss: u64) -> u64 {
        // A retransmitted hole counts twice unless its original is lost: both copies may be in the network.
        let not_lost = self.unsacked_bytes(self.lost_below(una, mss), snd_max);
        not_lost + self.unsacked_bytes(una, self.high_rxt)
    }

    /// NextSeg: the next segment to send during recovery.
    pub(crate) fn next_segment(
        &self,
        una: u64,
        snd_max: u64,
        mss: u64,
        new_data: bool,
    ) -> Option<NextSegment> {
        let highest = self.sacked.last().map_or(una, |range| range.1);
        let (start, end) = self.hole_from(self.high_rxt.max(una), snd_max);
        let below_highest = start < highest;
        if below_highest && start < self.lost_below(una, mss) {
            return Some(NextSegment::Hole(start, end)); // rule 1
        }
        if new_data {
            return Some(NextSegment::New); // rule 2
        }
        if below_highest {
            return Some(NextSegment::Hole(start, end)); // rule 3
        }
        self.rescue(una, snd_max, mss)
    }

    /// Rule 4: the segment with the highest outstanding byte that is not SACKed.
    fn rescue(&self, una: u64, snd_max: u64, mss: u64) -> Option<NextSegment> {
        let mut end = snd_max;
        let mut below = una;
        match self.sacked[..] {
            [.., (_, lower), (low, high)] if high == end => (below, end) = (lower, low),
            [(low, high)] if high == end => end = low,
            [.., (_, high)] => below = high,
            [] => {}
        }
        (una > self.rescue_rxt && below < end)
            .then(|| NextSegment::Rescue(below.max(end.saturating_sub(mss)), end))
    }

    /// The first range at or after `from` that is not SACKed, as `start..end` with `end` at most `limit`.
    pub(crate) fn hole_from(&self, from: u64, limit: u64) -> (u64, u64) {
        let mut start = from;
        for &(low, high) in &self.sacked {
            if low > start {
                return (start, low.min(limit));
            }
            start = start.max(high);
        }
        (start, limit)
    }

    /// The ranges of `una..end` that are not SACKed, in order. The first and last range may be empty.
    pub(crate) fn holes(&self, una: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let starts = iter::once(una).chain(self.sacked.iter().map(|range| range.1));
        starts.zip(self.sacked.iter().map(|range| range.0).chain(iter::once(end)))
    }

    /// Bytes of `from..to` that are not SACKed.
    pub(crate) fn unsacked_bytes(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(from) - self.sacked_bytes(from, to)
    }

    /// Bytes of `from..to` that are SACKed.
    pub(crate) fn sacked_bytes(&self, from: u64, to: u64) -> u64 {
        self.sacked.iter().map(|&(low, high)| high.min(to).saturating_sub(low.max(from))).sum()
    }

    fn insert(&mut self, start: u64, end: u64) {
        let (mut start, mut end) = (start, end);
        self.sacked.retain(|&(low, high)| {
            let apart = high < start || low > end;
            if !apart {
                start = start.min(low);
                end = end.max(high);
            }
            apart
        });
        let at = self.sacked.partition_point(|range| range.0 < start);
        self.sacked.insert(at, (start, end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 1000;

    fn board(blocks: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::new(3);
        board.add(blocks.iter().copied(), 0, 100_000);
        board
    }

    #[test]
    fn a_segment_is_lost_when_three_blocks_or_more_than_two_segments_are_sacked_above_it() {
        assert_eq!(board(&[(1000, 3000)]).lost_below(0, MSS), 0, "exactly two segments are not enough");
        assert_eq!(board(&[(1000, 4000)]).lost_below(0, MSS), 1000);
        let apart = board(&[(1000, 1010), (2000, 2010), (3000, 3010)]);
        assert_eq!(apart.lost_below(0, MSS), 1000, "three separate blocks, however small");
    }

    /// Ten segments are outstanding. The first and the fourth are lost, and all others are SACKed.
    #[test]
    fn pipe_counts_outstanding_data_and_retransmissions() {
        let mut board = board(&[(1000, 3000), (4000, 10_000)]);
        assert_eq!(board.pipe(0, 10_000, MSS), 0);
        assert_eq!(board.next_segment(0, 10_000, MSS, true), Some(NextSegment::Hole(0, 1000)));
        board.enter_recovery(1000);
        assert_eq!(board.pipe(0, 10_000, MSS), 1000);
        assert_eq!(board.next_segment(0, 10_000, MSS, true), Some(NextSegment::Hole(3000, 4000)));
        board.on_sent(NextSegment::Hole(3000, 4000), 4000, 10_000);
        assert_eq!(board.next_segment(0, 10_000, MSS, true), Some(NextSegment::New));
        assert_eq!(board.next_segment(0, 10_000, MSS, false), None);
    }

    #[test]
    fn without_new_data_a_hole_that_is_not_yet_lost_is_sent_then_the_tail_once() {
        let mut board = board(&[(1000, 2000), (3000, 4000)]);
        board.enter_recovery(1000);
        assert_eq!(board.next_segment(0, 5000, MSS, false), Some(NextSegment::Hole(2000, 3000)));
        board.on_sent(NextSegment::Hole(2000, 3000), 3000, 5000);
        assert_eq!(board.next_segment(0, 5000, MSS, false), None, "no rescue before an ACK beyond the first");
        board.advance(2000);
        assert_eq!(board.next_segment(2000, 5000, MSS, false), Some(NextSegment::Rescue(4000, 5000)));
        board.on_sent(NextSegment::Rescue(4000, 5000), 5000, 5000);
        assert_eq!(board.next_segment(2000, 5000, MSS, false), None, "once per recovery");
    }

    /// Rule 1 takes lost segments only. Two segments above a hole do not show a loss, so new data goes first.
    #[test]
    fn a_hole_that_is_not_lost_waits_behind_new_data() {
        let mut board = board(&[(1000, 2000), (3000, 4000)]);
        assert_eq!(board.next_segment(0, 5000, MSS, true), Some(NextSegment::New));
        board.enter_recovery(1000);
        assert_eq!(board.next_segment(0, 5000, MSS, true), Some(NextSegment::New));
    }

    /// RFC 6675 §2: only an ACK with a new block is a duplicate.
    #[test]
    fn blocks_that_are_known_or_acknowledged_are_no_news() {
        let mut board = Scoreboard::new(3);
        assert!(board.add([(2000, 3000)].into_iter(), 1000, 9000));
        assert!(!board.add([(2000, 3000)].into_iter(), 1000, 9000), "known");
        assert!(!board.add([(0, 1000), (500, 1000)].into_iter(), 1000, 9000), "acknowledged");
        assert_eq!(board.sacked, [(2000, 3000)]);
        board.advance(3000);
        assert_eq!(board.sacked, []);
    }

    /// Rule 4 with two blocks: the missing data is the tail, or the data before the last block.
    #[test]
    fn a_rescue_takes_the_tail_or_data_before_the_last_block() {
        for (snd_max, hole) in [(6000, (5000, 6000)), (5000, (3000, 4000))] {
            let mut board = board(&[(2000, 2500), (4000, 5000)]);
            (board.high_rxt, board.rescue_rxt) = (4000, 1000);
            let rescue = |una| board.rescue(una, snd_max, MSS);
            assert_eq!(rescue(1000), None, "nothing beyond the first retransmission is acknowledged");
            assert_eq!(rescue(1001), Some(NextSegment::Rescue(hole.0, hole.1)));
        }
        assert_eq!(board(&[]).rescue(5000, 5000, MSS), None, "nothing is out");
    }

    #[test]
    fn a_rescue_takes_the_highest_hole() {
        let mut board = board(&[(1000, 2000), (4000, 5000)]);
        board.enter_recovery(1000);
        board.high_rxt = 4000;
        board.advance(2000);
        assert_eq!(board.next_segment(2000, 5000, MSS, false), Some(NextSegment::Rescue(3000, 4000)));
    }

    proptest! {
        #[test]
        fn ranges_stay_sorted_disjoint_and_count_each_byte_once(
            blocks in prop::collection::vec((0u64..100, 1u64..30), 1..40), una in 0u64..60
        ) {
            let mut board = Scoreboard::new(3);
            let mut bytes = [false; 130];
            for &(start, length) in &blocks {
                board.add([(start, start + length)].into_iter(), 0, 130);
                bytes[start as usize..(start + length) as usize].fill(true);
            }
            board.advance(una);
            bytes[..una as usize].fill(false);
            prop_assert!(board.sacked.windows(2).all(|pair| pair[0].1 < pair[1].0));
            prop_assert_eq!(board.sacked_bytes(0, 130), bytes.iter().filter(|b| **b).count() as u64);
            let (start, end) = board.hole_from(una, 130);
            prop_assert!((start..end).all(|seq| !bytes[seq as usize]));
        }
    }
}
