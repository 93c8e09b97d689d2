//! Bookkeeping of a sender that stops: the window or the host's card limits it.

use super::sender::Sender;
use super::usage::End;
use crate::specs::{Growth, TcpSpec};
use shortflow_units::Instant;

impl Sender {
    /// It sends no more for now.
    #[inline]
    pub(super) fn note_end(&mut self, end: End, now: Instant, tcp: &TcpSpec) {
        if self.usage.is_kept {
            self.keep_usage(end, now, tcp);
        }
    }

    #[inline(never)] // keeps the path of the others short
    fn keep_usage(&mut self, end: End, now: Instant, tcp: &TcpSpec) {
        if end == End::Card || self.card.holds() {
            self.note_hold(end == End::Card, now);
        }
        let sent = std::mem::replace(&mut self.usage.sent, self.snd_max) != self.snd_max;
        let is_limited = match tcp.growth {
            None | Some(Growth::Always) => return,
            Some(Growth::UnlessHeld) => end != End::Card,
            Some(Growth::CwndLimited) => end == End::Window,
        };
        if is_limited || sent {
            self.usage.note(is_limited, (self.snd_una, self.snd_max));
        }
    }

    #[inline(never)] // seldom
    fn note_hold(&mut self, holds: bool, now: Instant) {
        let held = self.card.hold(holds, now);
        if let Some(message) = self.messages.of_mut(self.usage.sent) {
            message.tally.held += held;
        }
    }

    /// True if the window limits the sender, so that it may grow (tcp_is_cwnd_limited()).
    #[inline]
    pub(super) fn is_limited(&self, tcp: &TcpSpec) -> bool {
        self.usage.is_limited || self.is_within_twice(tcp)
    }

    #[inline(never)] // seldom
    fn is_within_twice(&self, tcp: &TcpSpec) -> bool {
        self.window.cwnd < self.window.ssthresh && self.window_bytes(tcp) < 2 * self.usage.most
    }
}
