//! Use of the window: a window grows only while it is used (tcp_cwnd_validate() and tcp_is_cwnd_limited() of
//! Linux; RFC 2861). Deviation: unused windows do not decay.

use crate::specs::{Growth, TcpSpec};

/// Reason why a sender stops for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The window is full.
    Window,
    /// The data has ended, or the receiver has no room.
    Data,
    /// The pacer holds the next segment.
    Pacer,
    /// The host's card holds the segment that begins at this byte.
    Card(u64),
}

/// Use of the window by the last flight.
#[derive(Debug)]
pub(super) struct Usage {
    /// True if the law or the card reads this state.
    pub is_kept: bool,
    pub is_limited: bool,
    /// Largest number of bytes in flight, if the window did not limit the sender.
    pub most: u64,
    /// First byte after the flight.
    until: u64,
    /// `snd_max` when the sender last stopped.
    pub sent: u64,
}

impl Usage {
    /// State of a new connection. `is_held` is true if its host has a small queue.
    pub(super) fn new(is_held: bool, tcp: &TcpSpec) -> Usage {
        let is_limited = matches!(tcp.growth, None | Some(Growth::Always));
        Usage { is_kept: is_held || !is_limited, is_limited, most: 0, until: 0, sent: 0 }
    }

    /// Records a stop, as tcp_cwnd_validate() does.
    pub(super) fn note(&mut self, is_limited: bool, (una, max): (u64, u64)) {
        let out = max - una;
        // Within a flight, keep the verdict unless the window limits the sender or an unlimited flight grows.
        if is_limited || una >= self.until || (!self.is_limited && out > self.most) {
            (self.is_limited, self.most, self.until) = (is_limited, out, max);
        }
    }
}
