//! Windows grow while they are used: the bookkeeping of Linux (tcp_cwnd_validate(), tcp_is_cwnd_limited(); RFC 7661).

use super::sender::Sender;
use crate::specs::{Growth, TcpSpec};
use shortflow_units::Instant;

/// Why a sender sends no more for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The window is full.
    Window,
    /// There is no more data, or the receiver has no room for it.
    Data,
    /// The pacer holds it back.
    Pacer,
    /// The host's card holds it back.
    Card,
}

/// How much of the window the last flight has used.
#[derive(Debug, Default)]
pub(super) struct Usage {
    is_limited: bool,
    /// Most bytes that were out, if the window did not limit the sender.
    most: u64,
    /// The flight ends before this byte.
    until: u64,
}

impl Usage {
    #[inline]
    fn note(&mut self, is_limited: bool, (una, max): (u64, u64)) {
        let out = max - una;
        if is_limited || una >= self.until || (!self.is_limited && out > self.most) {
            *self = Usage { is_limited, most: out, until: max };
        }
    }
}

impl Sender {
    /// It sends no more for now, after sending something from byte `from` on or nothing.
    #[inline]
    pub(super) fn note_end(&mut self, end: End, (from, sent): (u64, bool), now: Instant, tcp: &TcpSpec) {
        if end == End::Card || self.card.holds() {
            self.note_hold(end == End::Card, from, now);
        }
        let is_limited = match tcp.growth {
            None | Some(Growth::Always) => return,
            Some(Growth::UnlessHeld) => end != End::Card,
            Some(Growth::CwndLimited) => end == End::Window,
        };
        if is_limited || sent {
            self.usage.note(is_limited, (self.snd_una, self.snd_max));
        }
    }

    #[inline(never)] // keeps the path of the others short
    fn note_hold(&mut self, holds: bool, from: u64, now: Instant) {
        let held = self.card.hold(holds, now);
        if let Some(message) = self.messages.of_mut(from) {
            message.tally.held += held;
        }
    }

    /// Whether the window is what limits the sender, so that it may grow.
    #[inline]
    pub(super) fn is_limited(&self, tcp: &TcpSpec) -> bool {
        let slow_start = || self.window.cwnd < self.window.ssthresh;
        matches!(tcp.growth, None | Some(Growth::Always))
            || self.usage.is_limited
            || (slow_start() && self.window_bytes(tcp) < 2 * self.usage.most)
    }
}
