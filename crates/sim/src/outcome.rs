//! Result of a run: tables and counters.

use crate::host::{DeliveryCounters, MessageCounts};
use crate::net::{Network, PauseCounts, PauseState, Percentiles, Port, PortCounts};
use crate::probe::Samples;
use crate::queue::DropReason;
use crate::traffic::{FlowArrival, TaskId, TaskRow};
use shortflow_units::{Bytes, ClassId, HostId, Instant, NodeId, Rate, Span};
use std::ops::Range;

/// One flow.
#[derive(Debug, Clone, Default)]
pub struct FlowRow {
    /// Sending host.
    pub source: HostId,
    /// Receiving host.
    pub destination: HostId,
    /// Traffic class.
    pub class: ClassId,
    /// Bytes to send; [`Bytes::MAX`] for a backlogged flow.
    pub size: Bytes,
    /// Time at which the transport got the flow.
    pub start: Instant,
    /// Time at which the last byte was acknowledged.
    pub finish: Option<Instant>,
    /// Time at which the receiver had all bytes of the flow. Not part of the digest.
    pub received: Option<Instant>,
    /// Completion time on an empty network with an unlimited window.
    pub ideal: Option<Span>,
    /// Time allowed from start to finish.
    pub deadline: Option<Span>,
    /// Segments retransmitted.
    pub retransmits: u32,
    /// Retransmitted segments in the measured time.
    pub retransmits_in_window: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Timeouts in the measured time.
    pub timeouts_in_window: u32,
    /// Data packets that arrived with a CE mark.
    pub marks: u32,
    /// Data packets that arrived, duplicates included.
    pub packets: u64,
    /// Total time of these packets in queues.
    pub waited: Span,
    /// Part of `waited` in switches, in picoseconds. Not part of the digest.
    pub waited_in_switches: f64,
    /// Data packets that left the sender.
    pub left: u64,
    /// Total time of these packets in the queue of the sender's host.
    pub waited_at_host: Span,
    /// Time in which the sender had data to send, but the small queue of its host was full.
    pub held: Span,
    /// Bytes acknowledged.
    pub acked: Bytes,
    /// Bytes that arrived within the measured time, each byte once.
    pub delivered_in_window: Bytes,
    /// Counts of the flow's data packets within the measured time.
    pub measured: DeliveryCounters,
    /// Task of the flow, if an application sent it.
    pub task: Option<TaskId>,
    /// Window of the sender at the end, divided by the capacity of its path; 0 for windows of up to 100
    /// segments. Used by remarks only, and not part of the digest.
    pub width: f64,
}

impl FlowRow {
    /// A flow that has just arrived; `ideal` is its completion time on an empty network.
    pub fn new(arrival: &FlowArrival, ideal: Option<Span>) -> FlowRow {
        FlowRow {
            source: arrival.source,
            destination: arrival.destination,
            class: arrival.class,
            size: arrival.size,
            start: arrival.at,
            ideal,
            deadline: arrival.deadline,
            ..FlowRow::default()
        }
    }

    /// Data packets that arrived with a CE mark. `None` if no packet was counted although some bytes were
    /// acknowledged.
    pub fn marks(&self) -> Option<u32> {
        (self.packets > 0 || self.acked == Bytes::ZERO).then_some(self.marks)
    }

    /// Flow completion time.
    pub fn fct(&self) -> Option<Span> {
        self.finish.map(|finish| finish.since(self.start))
    }

    /// Sets the counts of the measured time.
    pub fn note_window(&mut self, counts: MessageCounts) {
        (self.delivered_in_window, self.measured) = (Bytes::new(counts.delivered), counts.tally);
        (self.retransmits_in_window, self.timeouts_in_window) = (counts.retransmits, counts.timeouts);
    }

    /// Sets the counts of the flow's data packets.
    pub fn take_tally(&mut self, tally: DeliveryCounters) {
        let DeliveryCounters { left, waited_at_host, held, arrived, marks, waited, waited_in_switches } =
            tally;
        (self.left, self.waited_at_host, self.held) = (left, waited_at_host, held);
        (self.packets, self.marks) = (arrived, marks);
        (self.waited, self.waited_in_switches) = (waited, waited_in_switches);
    }

    /// Takes the counts of arrivals from another row of the same flow.
    pub fn take_arrived(&mut self, other: &FlowRow) {
        (self.packets, self.marks) = (other.packets, other.marks);
        (self.waited, self.waited_in_switches) = (other.waited, other.waited_in_switches);
        self.received = other.received;
        self.delivered_in_window = other.delivered_in_window;
        self.measured.take_arrived(&other.measured);
    }

    /// True if the flow was under way at any time of `window`.
    pub fn overlaps(&self, window: &Range<Instant>) -> bool {
        self.start < window.end && self.finish.is_none_or(|finish| finish >= window.start)
    }

    /// Completion time divided by the ideal completion time.
    pub fn slowdown(&self) -> Option<f64> {
        Some(self.fct()?.as_secs_f64() / self.ideal?.as_secs_f64())
    }

    /// Mean time of a data packet in queues, in seconds.
    pub fn queueing(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.waited.as_secs_f64() / self.packets as f64)
    }

    /// Mean time of a data packet in the queues of switches, in seconds.
    pub fn switch_queueing(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.waited_in_switches / 1e12 / self.packets as f64)
    }

    /// [`FlowRow::switch_queueing`] in the measured time.
    pub fn measured_switch_queueing(&self) -> Option<f64> {
        let DeliveryCounters { arrived, waited_in_switches, .. } = self.measured;
        (arrived > 0).then(|| waited_in_switches / 1e12 / arrived as f64)
    }

    /// True if the flow finished after its deadline, or was unfinished at the `end` of the run and its
    /// deadline had passed. `None` without a deadline, or if the run ended before the deadline of an
    /// unfinished flow.
    pub fn missed(&self, end: Instant) -> Option<bool> {
        let deadline = self.start + self.deadline?;
        match self.finish {
            Some(finish) => Some(finish > deadline),
            None => (end > deadline).then_some(true),
        }
    }
}

/// One port of a switch or host, in the measured time.
#[derive(Debug, Clone)]
pub struct PortRow {
    /// Sending node.
    pub from: NodeId,
    /// Receiving node.
    pub to: NodeId,
    /// Link rate.
    pub rate: Rate,
    /// Bytes of the packets whose last bit departed.
    pub tx_bytes: Bytes,
    /// Number of these packets.
    pub tx_packets: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Packets marked in the whole run. Not part of the digest.
    pub marks_in_run: u64,
    /// Packets trimmed. Not part of the digest.
    pub trims: u64,
    /// Packets trimmed in the whole run. Not part of the digest.
    pub trims_in_run: u64,
    /// Headers returned to the senders of their data. Not part of the digest.
    pub returns: u64,
    /// Time average of the backlog, in packets.
    pub mean_packets: f64,
    /// Largest backlog in packets.
    pub max_packets: u32,
    /// Time average of the backlog, in bytes.
    pub mean_bytes: f64,
    /// Largest backlog in bytes.
    pub max_bytes: Bytes,
    /// Percentiles of the backlog, for a measured port in a run with samples.
    pub percentiles: Option<Percentiles>,
    /// Share of the time in which the link was busy.
    pub utilisation: f64,
    /// Pauses of data at the port, if data can be paused there. Not part of the digest.
    pub pauses: Option<PauseCounts>,
    /// Pauses of each priority, if data has several priorities. Not part of the digest.
    pub pauses_by_priority: Vec<(u8, PauseCounts)>,
}

/// Path of a backlogged flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongPath {
    /// Row of the flow in the flow table.
    pub row: usize,
    /// Ports that all packets of the flow cross, as (sending node, receiving node).
    pub ports: Vec<(NodeId, NodeId)>,
    /// Propagation delay of both directions together.
    pub round_trip: Span,
}

/// Place of a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A port, as (sending node, receiving node), or the link behind it.
    Port(NodeId, NodeId),
    /// A node from which no port leads to the packet's host.
    Node(NodeId),
}

/// Packets dropped at one place for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropRow {
    /// Place of the drops.
    pub place: Place,
    /// Reason for the drops.
    pub reason: DropReason,
    /// Number of drops in the whole run.
    pub in_run: u64,
    /// Number of drops in the measured time.
    pub measured: u64,
}

impl DropRow {
    /// All drops in `network`.
    pub fn all(network: &Network) -> Vec<DropRow> {
        let measured = network.measured();
        let ports = network.ports().iter().zip(measured.ports);
        let ports = ports
            .map(|(port, counts)| (Place::Port(port.from, port.to()), &port.counters().drops, counts.drops));
        let nodes = network.drops_at_nodes();
        // A node that drops in the drain only has no counts of the measured time.
        let counts = |node| measured.nodes.get(&node).copied().unwrap_or_default();
        let nodes = nodes.map(|(node, drops)| (Place::Node(node), drops, counts(node)));
        let rows = ports.chain(nodes).flat_map(|(place, drops, measured)| {
            let row =
                move |(reason, in_run)| DropRow { place, reason, in_run, measured: measured.of(reason) };
            drops.by_reason().map(row)
        });
        rows.collect()
    }
}

impl PortRow {
    /// Rows of all ports of `network`, for a measured time of `seconds`.
    pub fn all(network: &Network, seconds: f64) -> Vec<PortRow> {
        let counts = network.measured().ports;
        network.ports().iter().zip(counts).map(|(port, counts)| PortRow::of(port, counts, seconds)).collect()
    }

    fn of(port: &Port, counts: PortCounts, seconds: f64) -> PortRow {
        let counters = port.counters();
        PortRow {
            from: port.from,
            to: port.to(),
            rate: port.link().0,
            tx_bytes: counts.departed_bytes,
            tx_packets: counts.departed,
            drops: counts.drops.total(),
            marks: counts.marked,
            marks_in_run: counters.marked,
            trims: counts.trimmed,
            trims_in_run: counters.trimmed,
            returns: counts.returned,
            mean_packets: counters.packet_time.as_secs_f64() / seconds,
            max_packets: counters.peak.packets,
            mean_bytes: counters.byte_time as f64 / 1e12 / seconds,
            max_bytes: counters.peak.bytes,
            percentiles: port.egress().account.percentiles,
            utilisation: counters.busy.as_secs_f64() / seconds,
            pauses: port.pauses().map(PauseState::total),
            pauses_by_priority: port.pauses().map(PauseState::by_priority).unwrap_or_default(),
        }
    }
}

/// Totals of the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events handled. This is the cost of the run, and not part of the digest.
    pub events: u64,
    /// Links crossed by packets.
    pub packet_hops: u64,
    /// Packets that hosts sent.
    pub packets_sent: u64,
    /// Packets that hosts received.
    pub packets_delivered: u64,
    /// Packets dropped.
    pub packets_dropped: u64,
    /// Packets queued or on a wire at the end.
    pub packets_in_flight: u64,
    /// Finite flows that were not finished at the end.
    pub unfinished: u64,
    /// Largest number of connections that were open at once.
    pub connections_peak: u64,
    /// Flows that started in the drain.
    pub drain_flows: u64,
    /// Bytes of the finite flows that started in the drain.
    pub drain_bytes: u64,
}

/// The result of a run.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Flows in order of arrival.
    pub flows: Vec<FlowRow>,
    /// Flows that started in the drain, if the scenario records them.
    pub drain_flows: Vec<FlowRow>,
    /// Tasks in the order in which they were opened.
    pub tasks: Vec<TaskRow>,
    /// Samples in order of time.
    pub samples: Samples,
    /// Ports in order of links.
    pub ports: Vec<PortRow>,
    /// Dropped packets by place, ports first, and reason.
    pub drops: Vec<DropRow>,
    /// Paths of the backlogged flows. Not part of the digest.
    pub long_paths: Vec<LongPath>,
    /// Totals.
    pub counters: Counters,
    /// End of the run.
    pub end: Instant,
}
