//! [`Reassembly`]: bytes of a stream that have arrived in any order.

use crate::tcp::scoreboard::Scoreboard;

/// Bytes of a stream that have arrived in any order.
#[derive(Debug)]
pub(crate) struct Reassembly {
    received: u64,
    beyond: Scoreboard,
    /// One past the highest byte that has arrived.
    highest: u64,
    skipped: u64,
}

impl Default for Reassembly {
    fn default() -> Reassembly {
        Reassembly { received: 0, beyond: Scoreboard::new(0), highest: 0, skipped: 0 }
    }
}

impl Reassembly {
    /// Adds the bytes `start..end`, which have arrived.
    pub(crate) fn accept(&mut self, start: u64, end: u64) {
        self.skipped += start.saturating_sub(self.highest);
        self.highest = self.highest.max(end);
        self.beyond.add(std::iter::once((start, end)), self.received, u64::MAX);
        self.received = self.beyond.hole_from(self.received, u64::MAX).0;
        self.beyond.advance(self.received);
    }

    /// All bytes below this have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Bytes of `start..end` that have arrived.
    pub(crate) fn arrived(&self, start: u64, end: u64) -> u64 {
        let beyond = self.beyond.sacked_bytes(start.max(self.received), end);
        self.received.min(end).saturating_sub(start) + beyond
    }

    /// The first missing bytes below `limit`.
    pub(crate) fn missing(&self, limit: u64) -> (u64, u64) {
        self.beyond.hole_from(self.received, limit)
    }

    /// Bytes that were missing when later bytes arrived.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes 0 to 9 and 20 to 29 arrive, then bytes 10 to 19. Ten bytes were skipped, and all bytes have
    /// arrived in the end.
    #[test]
    fn a_gap_is_skipped_and_filled() {
        let mut bytes = Reassembly::default();
        bytes.accept(0, 10);
        bytes.accept(20, 30);
        assert_eq!((bytes.received(), bytes.arrived(5, 25), bytes.missing(30)), (10, 10, (10, 20)));
        bytes.accept(10, 20);
        assert_eq!((bytes.received(), bytes.arrived(0, 30), bytes.skipped()), (30, 30, 10));
    }
}
