//! ECN — RFC 3168: at most one decrease per window of data at the sender, and a latched echo at the receiver.

use crate::packet::EcnField;
use crate::specs::MarkedGrowth;
use shortflow_cc::Ecn;

/// The sender's use of ECN.
#[derive(Debug)]
pub(super) struct EcnSender {
    mode: Ecn,
    pub once: DecreaseOnce,
    /// True if the last ACK of new data carried ECN-Echo.
    echoed: bool,
}

/// Meaning of the ECN-Echo flag of an ACK of new data.
#[derive(Debug, Clone, Copy)]
pub(super) struct EcnVerdict {
    /// The ACK carries ECN-Echo.
    pub ece: bool,
    /// The window must decrease.
    pub decreases: bool,
    /// The window may grow.
    pub grows: bool,
}

impl EcnSender {
    /// A sender that has heard no echo.
    pub(super) fn new(mode: Ecn) -> EcnSender {
        EcnSender { mode, once: DecreaseOnce::default(), echoed: false }
    }

    /// True if an ACK with this flag carries ECN-Echo.
    #[inline(always)]
    pub(super) fn hears(&self, flag: bool) -> bool {
        flag && self.mode != Ecn::Off
    }

    /// Judges the flag of an ACK of new data up to `snd_una`.
    #[inline(always)]
    pub(super) fn on_ack(
        &mut self,
        flag: bool,
        snd_una: u64,
        in_recovery: bool,
        growth: MarkedGrowth,
    ) -> EcnVerdict {
        let ece = self.hears(flag);
        let decreases = ece && !in_recovery && self.once.is_due(snd_una);
        let grows = match growth {
            MarkedGrowth::No => !ece,
            MarkedGrowth::Yes => !decreases,
            MarkedGrowth::AfterFirst => !ece || self.echoed,
        };
        self.echoed = ece;
        EcnVerdict { ece, decreases, grows }
    }

    /// The ECN field of a data packet. RFC 3168 §6.1.5 forbids ECN-capable retransmissions; DCTCP marks all data
    /// ECN-capable.
    #[inline]
    pub(super) fn field(&self, again: bool) -> EcnField {
        match self.mode {
            Ecn::Off => EcnField::NotEct,
            Ecn::Classic if again => EcnField::NotEct,
            Ecn::Classic | Ecn::Exact => EcnField::Ect,
        }
    }
}

/// The sender's reaction to ECN-Echo (§6.1.2).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DecreaseOnce {
    until: u64,
    /// The window in bytes before ECN-Echo reduced it; zero after a reduction by loss.
    before: u64,
    announce: bool,
}

impl DecreaseOnce {
    /// True if ECN-Echo on an ACK up to `snd_una` asks for a decrease: all data sent before the last decrease
    /// is acknowledged.
    #[inline]
    pub(crate) fn is_due(&self, snd_una: u64) -> bool {
        snd_una > self.until
    }

    /// Records a decrease. ECN-Echo causes no other decrease until `snd_nxt` is acknowledged. `before` is the
    /// window in bytes before a decrease by ECN-Echo, and zero for a decrease by loss.
    pub(crate) fn on_decrease(&mut self, snd_nxt: u64, before: u64) {
        (self.until, self.before, self.announce) = (snd_nxt, before, true);
    }

    /// The window in bytes before ECN-Echo reduced it, until the data sent under that window is acknowledged;
    /// then zero.
    pub(crate) fn window_before(&self, snd_una: u64) -> u64 {
        if self.is_due(snd_una) { 0 } else { self.before }
    }

    /// True once after each decrease: the next new segment carries CWR.
    #[inline]
    pub(crate) fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.announce)
    }
}

/// The receiver's echo (§6.1.3): every ACK carries ECN-Echo from a CE mark until CWR arrives.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LatchedEcho {
    latched: bool,
}

impl LatchedEcho {
    /// Records a data packet. CWR confirms an earlier echo, so a CE mark on the same packet starts a new
    /// echo.
    #[inline]
    pub(crate) fn on_data(&mut self, ce: bool, cwr: bool) {
        if cwr {
            self.latched = false;
        }
        self.latched |= ce;
    }

    /// The ECN-Echo flag of an ACK sent now.
    #[inline]
    pub(crate) fn ece(&self) -> bool {
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
