//! [`ShortPath`]: conditions under which a packet passes a port by few instructions. [`Limits`]: backlogs at which
//! a port marks and drops packets.

use crate::queue::Backlog;
use shortflow_units::{Instant, Occupancy};

/// Packets that take the short path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShortPackets {
    /// No packets.
    None,
    /// Packets of a queue in arrival order.
    InOrder,
    /// Packets that find the transmitter idle and no other packet waiting.
    WhenIdle,
}

/// Short path of packets through a port without faults, reports or tracer.
///
/// With a queue discipline in arrival order, the known backlog is an upper bound, because departures are
/// counted late. While this bound is quiet, packets are accepted without counting departures. With a
/// scheduler, a packet takes the short path if no packet waits and the transmitter is idle.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct ShortPath {
    /// Largest backlog, arriving packet included, at which this packet is neither marked nor dropped, and
    /// makes no new peak.
    pub quiet: Backlog,
    /// Packets that depart up to this time are counted in totals only. Zero before the measured time, and
    /// while the distribution of the backlog is kept.
    pub plain_until: Instant,
    pub packets: ShortPackets,
}

impl ShortPath {
    /// No short path.
    pub(super) const NONE: ShortPath = ShortPath {
        quiet: Backlog { packets: 0, bytes: shortflow_units::Bytes::ZERO },
        plain_until: Instant::ZERO,
        packets: ShortPackets::None,
    };

    /// True if a packet that departs at `departs` and leaves the backlog at `after` changes nothing but totals.
    #[inline(always)]
    pub(super) fn admits(&self, after: Backlog, departs: Instant) -> bool {
        after.is_within(self.quiet) && departs <= self.plain_until
    }

    /// Sets the quiet backlog of a port whose largest backlog so far is `peak`.
    pub(super) fn find_quiet(&mut self, limits: &Limits, peak: Backlog) {
        // The first marked packet finds one packet more than the threshold.
        let Backlog { packets, bytes } = limits.mark_above;
        let unmarked = Backlog { packets: packets.saturating_add(1), bytes };
        self.quiet = limits.room.least(unmarked).least(peak);
    }
}

/// Backlogs at which a port drops and marks packets.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    /// Limit of the backlog: the port's buffer, or its present share of the switch's memory.
    pub buffer: Occupancy,
    /// Largest backlog, arriving packet included, on the short path.
    pub room: Backlog,
    /// Backlog above which packets are marked on the short path.
    pub mark_above: Backlog,
}

impl Limits {
    /// Limits of a port with this buffer, whose queue marks by `threshold` alone.
    pub(super) fn new(buffer: Occupancy, threshold: Occupancy) -> Limits {
        Limits { buffer, room: Backlog::up_to(buffer), mark_above: Backlog::up_to(threshold) }
    }
}
