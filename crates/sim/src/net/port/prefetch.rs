//! Prefetching of a port's cache lines.

use super::{HOT_LINES, Port, WIRE_LINES, prefetch};
use crate::packet::Packets;

impl Port {
    /// Prefetches the part of a port that an arrival reads.
    #[inline]
    pub(in crate::net) fn prefetch_wire(&self) {
        prefetch(self, WIRE_LINES);
    }

    /// Prefetches the part of a port that the sending of a packet reads.
    #[inline]
    pub(in crate::net) fn prefetch(&self) {
        prefetch(self, HOT_LINES);
    }

    /// Prefetches the ring slots of the packets that arrive next.
    #[inline]
    pub(in crate::net) fn prefetch_head(&self) {
        self.ring.front().into_iter().for_each(|head| prefetch(head, 1));
    }

    /// Prefetches the packets that arrive next, at most `most`.
    #[inline]
    pub(in crate::net) fn prefetch_packets(&self, packets: &Packets, most: usize) {
        self.ring.upcoming(most).for_each(|next| packets.prefetch(next.packet));
    }

    /// Prefetches the ring slots of the first packet with an uncounted departure, and of the packet to be
    /// added.
    #[inline]
    pub(in crate::net) fn prefetch_ring(&self) {
        self.ring.first_unseen().into_iter().for_each(|next| prefetch(next, 1));
        self.ring.back().into_iter().for_each(|last| prefetch(last, 2));
    }
}
