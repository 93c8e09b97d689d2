//! Proportional rate reduction — RFC 6937: spreads the reduction of a RACK recovery over a round trip.
//!
//! | RFC 6937 | here |
//! |---|---|
//! | RecoverFS, ssthresh | `recover_fs`, `ssthresh`, in bytes |
//! | prr_delivered, prr_out | `delivered`, `out` |
//! | DeliveredData, pipe | arguments of [`Prr::on_ack`] |
//! | pipe + sndcnt | [`Prr::window`] |
//!
//! Deviation: an ACK releases one segment more than it delivers only if it advances and signals no new loss,
//! as in Linux and RFC 9937. RFC 6937 offers always (SSRB) or never (CRB). The first segment of a recovery
//! may always leave, as in Linux.

/// A reduction in progress.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prr {
    recover_fs: u64,
    ssthresh: u64,
    delivered: u64,
    out: u64,
    window: u64,
}

impl Prr {
    /// Starts a recovery with `recover_fs` bytes in flight, which ends with a window of `ssthresh` bytes.
    pub(super) fn new(recover_fs: u64, ssthresh: u64) -> Prr {
        Prr { recover_fs, ssthresh, ..Prr::default() }
    }

    /// Bytes that may be in the network until the next ACK.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Handles an ACK or a timer, with `pipe` bytes left in the network. `is_safe` is true if the ACK
    /// advances and signals no new loss.
    pub(super) fn on_ack(&mut self, delivered: u64, pipe: u64, is_safe: bool, mss: u64) {
        self.delivered += delivered;
        // More than ssthresh is in flight: send ssthresh / RecoverFS of the delivered bytes. Below ssthresh,
        // grow as in slow start.
        let sndcnt = if pipe > self.ssthresh {
            let due = u128::from(self.delivered) * u128::from(self.ssthresh);
            (due.div_ceil(u128::from(self.recover_fs.max(1))) as u64).saturating_sub(self.out)
        } else {
            let limit =
                self.delivered.saturating_sub(self.out).max(delivered) + if is_safe { mss } else { 0 };
            limit.min(self.ssthresh - pipe)
        };
        // The first segment of a recovery may always leave.
        let least = if self.out == 0 { mss } else { 0 };
        self.window = pipe + sndcnt.max(least);
    }

    /// Counts bytes sent, new or retransmitted.
    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Twenty segments are in flight, one is lost, and three are SACKed when recovery begins. The target
    /// window is ten segments. One segment leaves for every two that arrive, until ten are in flight; then
    /// one leaves for each that arrives. An immediate reduction would send nothing for six arrivals.
    #[test]
    fn a_single_loss_sends_one_segment_for_two() {
        let mut prr = Prr::new(20 * MSS, 10 * MSS);
        let mut pipe = 16 * MSS;
        let mut sent = Vec::new();
        for _ in 0..16 {
            pipe -= if sent.is_empty() { 0 } else { MSS };
            prr.on_ack(MSS, pipe, false, MSS);
            let now = (prr.window() - pipe) / MSS;
            (0..now).for_each(|_| prr.on_sent(MSS));
            pipe += now * MSS;
            sent.push(now);
        }
        assert_eq!(sent, [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1]);
        assert_eq!(pipe, 10 * MSS);
    }

    /// Fifteen of twenty segments are lost. Until the pipe reaches ssthresh, each ACK releases the delivered
    /// segments, and one more if it signals no new loss.
    #[test]
    fn after_heavy_loss_the_pipe_grows_as_in_slow_start() {
        let mut prr = Prr::new(20 * MSS, 10 * MSS);
        prr.on_ack(3 * MSS, 2 * MSS, false, MSS);
        assert_eq!(prr.window(), 5 * MSS);
        prr.on_sent(3 * MSS);
        prr.on_ack(MSS, 4 * MSS, true, MSS);
        assert_eq!(prr.window(), 6 * MSS);
        prr.on_sent(2 * MSS);
        prr.on_ack(MSS, 9500, true, MSS);
        assert_eq!(prr.window(), 10 * MSS, "not beyond ssthresh");
    }
}
