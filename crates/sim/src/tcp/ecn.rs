//! ECN — RFC 3168: one decrease per window of data at the sender, a latched echo at the receiver.

/// The sender's side (§6.1.2): when an ECN-Echo counts.
#[derive(Debug, Clone, Copy, Default)]
pub struct DecreaseOnce {
    until: u64,
    /// The window in bytes before ECN-Echo reduced it; zero if a loss did.
    before: u64,
    announce: bool,
}

impl DecreaseOnce {
    /// True if an ECN-Echo on an ACK up to `snd_una` asks for a decrease: the data of the last one has left.
    #[inline]
    pub fn is_due(&self, snd_una: u64) -> bool {
        snd_una > self.until
    }

    /// The window was reduced, by a loss or, from `before` bytes, by ECN-Echo; no further decrease for ECN before `snd_nxt` is
    /// acknowledged.
    pub fn on_decrease(&mut self, snd_nxt: u64, before: u64) {
        (self.until, self.before, self.announce) = (snd_nxt, before, true);
    }

    /// Bytes of the window that ECN-Echo has reduced, until the data sent under this window is acknowledged; zero otherwise.
    pub fn window_before(&self, snd_una: u64) -> u64 {
        if self.is_due(snd_una) { 0 } else { self.before }
    }

    /// True once after each decrease: the next new segment carries CWR.
    #[inline]
    pub fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.announce)
    }
}

/// The receiver's side (§6.1.3): ECN-Echo on every ACK from a CE mark until CWR arrives.
#[derive(Debug, Clone, Copy, Default)]
pub struct LatchedEcho {
    latched: bool,
}

impl LatchedEcho {
    /// A data packet arrives. CWR answers an earlier echo, so a mark on the same packet counts anew.
    #[inline]
    pub fn on_data(&mut self, ce: bool, cwr: bool) {
        if cwr {
            self.latched = false;
        }
        self.latched |= ce;
    }

    /// The ECN-Echo flag of an ACK sent now.
    #[inline]
    pub fn ece(&self) -> bool {
        self.latched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_echo_lasts_until_cwr() {
        let mut echo = LatchedEcho::default();
        echo.on_data(true, false);
        echo.on_data(false, false);
        assert!(echo.ece());
        echo.on_data(false, true);
        assert!(!echo.ece());
        echo.on_data(true, true);
        assert!(echo.ece(), "marked after the decrease");
    }

    #[test]
    fn one_cut_per_window_of_data() {
        let mut decrease = DecreaseOnce::default();
        assert!(decrease.is_due(1460));
        decrease.on_decrease(14_600, 20_000);
        assert!(!decrease.is_due(14_600) && decrease.is_due(14_601));
        assert_eq!([14_600, 14_601].map(|una| decrease.window_before(una)), [20_000, 0]);
        assert!(decrease.take_cwr() && !decrease.take_cwr());
    }
}
