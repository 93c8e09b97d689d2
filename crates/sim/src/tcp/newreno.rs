//! NewReno fast recovery — RFC 6582 §3.2.
//!
//! The RFC inflates cwnd during recovery. Here the inflation is a separate number, so that probes and laws
//! see the true window. A full ACK leaves cwnd at ssthresh (step 3, option 2).

/// Excess of the usable window over cwnd during recovery, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inflation {
    bytes: u64,
    partial_acks: u32,
}

impl Inflation {
    /// Step 2, and RFC 5681 §3.2 step 3: each duplicate ACK shows that a segment has left the network.
    pub(crate) fn enter(duplicates: u32, mss: u64) -> Inflation {
        Inflation { bytes: u64::from(duplicates) * mss, partial_acks: 0 }
    }

    /// RFC 5681 §3.2 step 4: another segment has left the network.
    pub(crate) fn on_duplicate(&mut self, mss: u64) {
        self.bytes += mss;
    }

    /// Step 3, partial ACK: subtracts the acknowledged bytes and adds one segment. Returns true on the first
    /// partial ACK, which alone restarts the retransmission timer (the impatient variant).
    pub(crate) fn on_partial(&mut self, acked: u64, mss: u64) -> bool {
        self.bytes = self.bytes.saturating_sub(acked);
        if acked >= mss {
            self.bytes += mss;
        }
        self.partial_acks += 1;
        self.partial_acks == 1
    }

    /// Bytes that may be sent beyond cwnd.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_duplicates_one_more_and_a_partial_ack_of_two_segments() {
        let mut inflation = Inflation::enter(3, 1460);
        inflation.on_duplicate(1460);
        assert_eq!(inflation.bytes(), 4 * 1460);
        assert!(inflation.on_partial(2 * 1460, 1460));
        assert_eq!(inflation.bytes(), 3 * 1460);
        assert!(!inflation.on_partial(1460, 1460), "only the first partial ACK restarts the timer");
        assert_eq!(inflation.bytes(), 3 * 1460);
    }
}
