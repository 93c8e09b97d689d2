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
#[derive(Debug)]
pub(super) struct Usage {
    /// Whether anybody asks.
    is_kept: bool,
    is_limited: bool,
    /// Most bytes that were out, if the window did not limit the sender.
    most: u64,
    /// The flight ends before this byte.
    until: u64,
    /// How much had been sent when the sender stopped last.
    sent: u64,
}

impl Usage {
    /// That of a new connection, whose host holds back what its window lets go, or does not.
    pub fn new(is_held: bool, tcp: &TcpSpec) -> Usage {
        let is_limited = matches!(tcp.growth, None | Some(Growth::Always));
        Usage { is_kept: is_held || !is_limited, is_limited, most: 0, until: 0, sent: 0 }
    }

    /// tcp_cwnd_validate()
    fn note(&mut self, is_limited: bool, (una, max): (u64, u64)) {
        let out = max - una;
        if is_limited || una >= self.until || (!self.is_limited && out > self.most) {
            (self.is_limited, self.most, self.until) = (is_limited, out, max);
        }
    }
}

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

    /// Whether the window is what limits the sender, so that it may grow (tcp_is_cwnd_limited()).
    #[inline]
    pub(super) fn is_limited(&self, tcp: &TcpSpec) -> bool {
        self.usage.is_limited || self.is_within_twice(tcp)
    }

    #[inline(never)] // seldom
    fn is_within_twice(&self, tcp: &TcpSpec) -> bool {
        self.window.cwnd < self.window.ssthresh && self.window_bytes(tcp) < 2 * self.usage.most
    }
}
