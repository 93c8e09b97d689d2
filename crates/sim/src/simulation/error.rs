//! [`RunError`]: reason for a run without outcome.

use crate::net::RouteError;
use crate::outcome::Counters;
use shortflow_units::Rate;

/// Reason for a run without outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Hosts without a path between them.
    #[error("topology: {0}")]
    Route(#[from] RouteError),
    /// A traffic entry, counted from 1, whose flows depend on answers. Ideal schedulers need flows that are
    /// known in advance.
    #[error(
        "traffic.{0}: its flows depend on answers, but ideal schedulers need flows that are known in advance"
    )]
    ClosedLoop(usize),
    /// K of the ports of `place` is 0, and RED would take it as minimum threshold.
    #[error(
        "{place}.mark_above: 0 is RED's minimum threshold ({queue}.min = auto), so RED would drop every packet that \
         it cannot mark; set {place}.mark_above to 1 packet or more, or set {queue}.min"
    )]
    RedWithoutThreshold {
        /// `switch` or `host`.
        place: &'static str,
        /// `queue` or `host_queue`.
        queue: &'static str,
    },
    /// RED has no curve for the rate of a port.
    #[error(
        "{queue}.curves: {port} has a rate of {rate}, and the curves are for {known}; add one for {rate}, or set \
         {queue}.curves=none for the curve of {queue}.min, {queue}.max and {queue}.max_p"
    )]
    RateWithoutCurve {
        /// `queue` or `host_queue`.
        queue: &'static str,
        /// Name of the port, such as `s0->h1`.
        port: String,
        /// Rate of the port.
        rate: Rate,
        /// The rates that have a curve.
        known: String,
    },
    /// Queues trim packets, and flows of a class have a transport whose receivers do not take headers.
    #[error("traffic: class {class:?}: {reason}")]
    TrimsRefused {
        /// Name of the class.
        class: String,
        /// The queue, the transport, and the transports whose receivers take headers.
        reason: String,
    },
    /// The system cannot start this number of threads, with the reason.
    #[error("cores: the system cannot start {0} threads: {1}; choose fewer cores")]
    NoThread(usize, std::io::ErrorKind),
    /// There is no memory for more rows of a table.
    #[error("no memory is left for more rows of the tables")]
    NoMemory,
    /// The observer stopped the run.
    #[error("the run was cancelled")]
    Cancelled,
    /// Ports paused a priority of one another in a cycle, so no data of the priority can leave: a sentence for each
    /// priority.
    #[error(
        "priority flow control: {0}; no data of a deadlocked priority can leave; choose routes without cycles, a larger \
         switch.xoff, or a law that keeps queues below XOFF"
    )]
    Deadlock(String),
    /// A defect of the simulator: packets appeared or vanished.
    #[error(
        "packets are not conserved: {} sent, but {} delivered + {} dropped + {} in flight",
        .0.packets_sent, .0.packets_delivered, .0.packets_dropped, .0.packets_in_flight
    )]
    Conservation(Counters),
    /// A defect of the simulator: a run broke one of its invariants.
    #[error("a defect of the simulator: the run broke an invariant: {0}")]
    Broken(String),
}
