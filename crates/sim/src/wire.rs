//! [`Wire`]: the framing of packets on links (IEEE 802.3).
//!
//! Header and frame check sequence are part of a frame in every buffer. Preamble and gap take time on a link alone. Both
//! precede the frame here, so a frame reaches an idle link's end 12 byte times later than on real Ethernet.

use shortflow_spec::words;
use shortflow_units::Bytes;

words! {
    /// Framing of packets on links.
    pub enum Wire {
        /// Nothing beside `tcp.header`.
        None = "none",
        /// Ethernet.
        Ethernet = "ethernet",
    }
}

/// Ethernet header and frame check sequence.
const HEADER_AND_CHECK: Bytes = Bytes::new(14 + 4);
/// Shorter frames are padded.
const SHORTEST_FRAME: Bytes = Bytes::new(64);
/// Preamble with start delimiter, and interpacket gap.
const PREAMBLE_AND_GAP: Bytes = Bytes::new(8 + 12);

impl Wire {
    /// The size in buffers of an IP packet of this size.
    #[inline]
    pub fn frame(self, packet: Bytes) -> Bytes {
        match self {
            Wire::None => packet,
            Wire::Ethernet => packet.plus(HEADER_AND_CHECK).max(SHORTEST_FRAME),
        }
    }

    /// Bytes that a link could send in the time that it takes between two frames.
    pub fn gap(self) -> Bytes {
        match self {
            Wire::None => Bytes::ZERO,
            Wire::Ethernet => PREAMBLE_AND_GAP,
        }
    }
}
