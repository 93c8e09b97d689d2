//! [`RunError`]: reason for a run without outcome.

use crate::net::RouteError;
use crate::outcome::Counters;
use shortflow_units::{Instant, Rate};

/// Reason for a run without outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Hosts without a path between them.
    #[error("topology: {0}")]
    Route(#[from] RouteError),
    /// Ideal schedulers need flows known in advance; this traffic entry, counted from 1, waits for answers.
    #[error(
        "traffic.{0}: its flows depend on answers, but ideal schedulers need flows that are known in advance"
    )]
    ClosedLoop(usize),
    /// RED cannot work with the ports of `place`, whose queue discipline has these parameters.
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
    /// A port's rate has no curve among those of RED.
    #[error(
        "{queue}.curves: {port} has a rate of {rate}, and the curves are for {known}; add one for {rate}, or set \
         {queue}.curves=none for the curve of {queue}.min, {queue}.max and {queue}.max_p"
    )]
    RateWithoutCurve {
        /// `queue` or `host_queue`.
        queue: &'static str,
        /// Its name, such as `s0->h1`.
        port: String,
        /// Its rate.
        rate: Rate,
        /// The rates that have a curve.
        known: String,
    },
    /// Flows of a class run a transport that does not understand what queues leave of packets.
    #[error("traffic: class {class:?}: {reason}")]
    Misunderstood {
        /// Name of the class.
        class: String,
        /// The queue, the transport, and those that would do.
        reason: String,
    },
    /// No threads for so many parts of the network, with the reason.
    #[error("cores: the system cannot start {0} threads: {1}; choose fewer cores")]
    NoThread(usize, std::io::ErrorKind),
    /// A table found no memory for more rows.
    #[error("no memory is left for more rows of the tables")]
    NoMemory,
    /// The observer stopped it.
    #[error("the run was cancelled")]
    Cancelled,
    /// Ports that have paused one another in a cycle, with the time since which no packet can leave.
    #[error(
        "priority flow control: a deadlock: {ports} have waited for one another since {since}, so no packet can leave; choose \
         routes without cycles, a larger switch.xoff, or a law that keeps queues below XOFF"
    )]
    Deadlock {
        /// Their names, in order.
        ports: String,
        /// Time since which the last of them is paused.
        since: Instant,
    },
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
