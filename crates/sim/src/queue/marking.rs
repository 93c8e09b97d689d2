//! [`Marking`]: marking by K in a port with several queues. [`MarkAt`]: when a port with one queue marks.

use super::{Backlog, PortSetup, QueuedPacket};
use shortflow_spec::words;
use shortflow_units::{Bytes, Instant, Occupancy, Rate, Span};

words! {
    /// Quantity that is compared with K.
    pub enum Scope {
        /// The backlog of the port on arrival.
        Port = "port",
        /// The packet's own queue on arrival.
        Queue = "queue",
        /// The sojourn time at departure, compared with the time that the port needs to transmit K.
        Sojourn = "sojourn",
    }
}

words! {
    /// Time at which a discipline in arrival order decides on a mark.
    pub enum MarkAt {
        /// Arrival, by the backlog that the packet finds.
        Arrival = "arrival",
        /// Departure, by the backlog that the packet leaves behind.
        Departure = "departure",
    }
}

/// Marking rule of a port with several queues.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marking {
    scope: Scope,
    mark_above: Occupancy,
    longest: Span,
}

impl Marking {
    /// Marking of a port.
    pub(super) fn new(scope: Scope, port: &PortSetup) -> Marking {
        Marking { scope, mark_above: port.mark_above, longest: time_to_send(port.mark_above, port.rate) }
    }

    /// True if an arriving packet that finds these backlogs is marked.
    pub(super) fn on_arrival(&self, port: Backlog, queue: Backlog) -> bool {
        match self.scope {
            Scope::Port => port.is_above(self.mark_above),
            Scope::Queue => queue.is_above(self.mark_above),
            Scope::Sojourn => false,
        }
    }

    /// True if a packet that leaves now is marked.
    pub(super) fn on_departure(&self, now: Instant, waiting: &QueuedPacket) -> bool {
        self.scope == Scope::Sojourn && now.since(waiting.arrived) > self.longest
    }
}

/// Transmission time of `occupancy` at `rate`, with packets of 1,500 bytes.
pub(super) fn time_to_send(occupancy: Occupancy, rate: Rate) -> Span {
    match occupancy {
        Occupancy::Packets(packets) => rate.tx_time(Bytes::new(1500)).times(packets.into()),
        Occupancy::Bytes(bytes) => rate.tx_time(bytes),
        Occupancy::Unlimited => Span::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 65 packets of 1,500 bytes at 10 Gbit/s take the 78 µs of the paper.
    #[test]
    fn a_threshold_in_packets_is_a_time_at_the_rate_of_the_port() {
        let time =
            |k: &str, gbps: u64| time_to_send(k.parse().unwrap(), Rate::new(gbps * 1_000_000_000).unwrap());
        assert_eq!(time("65pkt", 10), Span::from_micros(78));
        assert_eq!(time("65pkt", 1), Span::from_micros(780));
        assert_eq!(time("15KB", 1), Span::from_micros(120));
        assert_eq!(time("unlimited", 1), Span::MAX);
    }
}
