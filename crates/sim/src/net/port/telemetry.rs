//! [`LinkMeter`]: reports of a port to laws that read the hops of a path.

use crate::packet::{Packet, PacketType};
use shortflow_cc::HopSample;
use shortflow_units::{Bytes, Instant, PortId, Rate};

/// Number of a port that reports, and its bytes sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkMeter {
    /// Number of the port.
    port: u32,
    /// Bytes sent on the link so far, with the gaps between frames.
    sent: Bytes,
}

impl LinkMeter {
    /// Meter of a port that has sent nothing.
    pub(super) fn new(port: PortId) -> LinkMeter {
        LinkMeter { port: port.0, sent: Bytes::ZERO }
    }

    /// Counts a packet whose transmission begins at `at` and takes the time of `takes` bytes. Writes a report into it
    /// if it is a data packet with an extension.
    #[inline(never)] // keeps the path of ports that do not report short
    pub(super) fn write(
        &mut self,
        packet: &mut Packet,
        at: Instant,
        (takes, rate): (Bytes, Rate),
        queued: Bytes,
    ) {
        let LinkMeter { port, sent } = *self;
        if let Some(extension) = packet.extension.as_mut().filter(|_| packet.kind == PacketType::Data) {
            extension.hops.push(HopSample { port, at, sent, queued, rate });
        }
        self.sent += takes;
    }
}
