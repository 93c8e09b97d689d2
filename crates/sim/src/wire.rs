//! [`Wire`]: framing of packets on links (IEEE 802.3).
//!
//! Header and frame check sequence count in every buffer. Preamble and interpacket gap take time on links
//! only. Here both precede the frame, so a frame reaches the end of an idle link 12 byte times later than on
//! real Ethernet.

use shortflow_spec::words;
use shortflow_units::Bytes;

words! {
    /// Framing of packets on links.
    pub enum Wire {
        /// No framing beyond `tcp.header`.
        None = "none",
        /// Ethernet framing.
        Ethernet = "ethernet",
    }
}

/// Ethernet header and frame check sequence, in bytes.
const HEADER_AND_CHECK: Bytes = Bytes::new(14 + 4);
/// Shortest frame. Shorter frames are padded.
const SHORTEST_FRAME: Bytes = Bytes::new(64);
/// Preamble with start delimiter, and interpacket gap, in byte times.
const PREAMBLE_AND_GAP: Bytes = Bytes::new(8 + 12);

impl Wire {
    /// Size in buffers of an IP packet of `packet` bytes.
    #[inline]
    pub fn frame(self, packet: Bytes) -> Bytes {
        match self {
            Wire::None => packet,
            Wire::Ethernet => packet.plus(HEADER_AND_CHECK).max(SHORTEST_FRAME),
        }
    }

    /// Gap between two frames on a link, in byte times.
    pub fn gap(self) -> Bytes {
        match self {
            Wire::None => Bytes::ZERO,
            Wire::Ethernet => PREAMBLE_AND_GAP,
        }
    }
}
