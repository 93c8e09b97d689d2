//! Windows grow while they are used: the flag of Linux (tcp_cwnd_validate(), tcp_is_cwnd_limited(); RFC 2861). Deviation:
//! unused windows do not decay.

use crate::specs::{Growth, TcpSpec};

/// Why a sender sends no more for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The window is full.
    Window,
    /// There is no more data, or the receiver has no room for it.
    Data,
    /// The pacer holds it back.
    Pacer,
    /// The host's card holds back the segment that begins here.
    Card(u64),
}

/// The share of the window that the last flight used.
#[derive(Debug)]
pub(super) struct Usage {
    /// The law or the card reads this.
    pub is_kept: bool,
    pub is_limited: bool,
    /// Most bytes that were out, if the window did not limit the sender.
    pub most: u64,
    /// The flight ends before this byte.
    until: u64,
    /// Bytes sent when the sender stopped last.
    pub sent: u64,
}

impl Usage {
    /// Usage of a new connection; `is_held` if its host has a small queue.
    pub fn new(is_held: bool, tcp: &TcpSpec) -> Usage {
        let is_limited = matches!(tcp.growth, None | Some(Growth::Always));
        Usage { is_kept: is_held || !is_limited, is_limited, most: 0, until: 0, sent: 0 }
    }

    /// tcp_cwnd_validate()
    pub fn note(&mut self, is_limited: bool, (una, max): (u64, u64)) {
        let out = max - una;
        if is_limited || una >= self.until || (!self.is_limited && out > self.most) {
            (self.is_limited, self.most, self.until) = (is_limited, out, max);
        }
    }
}
