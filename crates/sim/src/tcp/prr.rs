//! Proportional rate reduction — RFC 6937: a recovery that RACK began spreads its reduction over a round trip.
//!
//! | RFC 6937 | here |
//! |---|---|
//! | RecoverFS, ssthresh | `recover_fs`, `ssthresh`, in bytes |
//! | prr_delivered, prr_out | `delivered`, `out` |
//! | DeliveredData, pipe | arguments of [`Prr::on_ack`] |
//! | pipe + sndcnt | [`Prr::window`] |
//!
//! Deviation: one segment beyond the delivered bytes may follow an ACK only if it advances and signals no new loss, as in
//! Linux and RFC 9937. RFC 6937 chooses between always (SSRB) and never (CRB). The first segment may always go, as in Linux.

/// A reduction that goes on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prr {
    recover_fs: u64,
    ssthresh: u64,
    delivered: u64,
    out: u64,
    window: u64,
}

impl Prr {
    /// A recovery begins with `recover_fs` bytes out, and shall end with a window of `ssthresh`.
    pub fn new(recover_fs: u64, ssthresh: u64) -> Prr {
        Prr { recover_fs, ssthresh, ..Prr::default() }
    }

    /// Bytes that may be in the network until the next ACK.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// An ACK or a timer, with `pipe` bytes left in the network. It `is_safe` if it advances and signals no new loss.
    pub fn on_ack(&mut self, delivered: u64, pipe: u64, is_safe: bool, mss: u64) {
        self.delivered += delivered;
        let sndcnt = if pipe > self.ssthresh {
            let due = u128::from(self.delivered) * u128::from(self.ssthresh);
            (due.div_ceil(u128::from(self.recover_fs.max(1))) as u64).saturating_sub(self.out)
        } else {
            let limit =
                self.delivered.saturating_sub(self.out).max(delivered) + if is_safe { mss } else { 0 };
            limit.min(self.ssthresh - pipe)
        };
        let least = if self.out == 0 { mss } else { 0 };
        self.window = pipe + sndcnt.max(least);
    }

    /// Bytes were sent, new ones or again.
    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Twenty segments are out and one is lost; three of them are SACKed when recovery begins. The window shall be ten:
    /// one segment leaves for every two that arrive, where a reduction at once would let six arrive in silence; from ten on, one
    /// for each.
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

    /// Fifteen of twenty segments are lost. What arrives, and one segment more where nothing else is known to be lost,
    /// may leave until the pipe is at ssthresh.
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
