//! A packet-level TCP, with one file per RFC.
//!
//! | file | document |
//! |---|---|
//! | `sender` | RFC 5681 fast retransmit and the order of events on an ACK |
//! | `sender/transmit` | RFC 5681, RFC 6675: sending within the window |
//! | `sender/by_rack` | RFC 8985: the order of events of a sender with RACK-TLP |
//! | `sender/prediction` | the short path for expected packets |
//! | `recovery` | RFC 5681, RFC 6582, RFC 6675: signs of loss, and phases of their repair |
//! | `newreno` | RFC 6582 |
//! | `scoreboard` | RFC 2018, RFC 6675 |
//! | `rack_tlp` | RFC 8985: state and timers |
//! | `rack`, `tlp`, `prr` | RFC 8985 §6, RFC 8985 §7, RFC 6937 |
//! | `rto` | RFC 6298 |
//! | `ecn` | RFC 3168 |
//! | `exact_echo` | RFC 8257 §3.2 |
//! | [`priority`](crate::host::priority) | pECN §4.2, pFabric §4.1, PIAS §3.1: packet priorities for switches |
//! | `receiver` | RFC 5681 §4.2, RFC 2018 §4, RFC 2883 |
//! | `path` | RFC 7323 timestamps, pacing |
//! | `usage`, `card` | RFC 2861: growth of windows that are used, and Linux's small queues |
//!
//! Not modelled: early retransmit, window scaling, FIN, the bytes of the SACK option, F-RTO, and undo of a
//! needless reduction. Limited transmit, tail loss probes and PRR exist only with RACK.

mod card;
pub(crate) mod ecn;
pub(crate) mod exact_echo;
pub(crate) mod newreno;
mod path;
mod prr;
mod rack;
mod rack_tlp;
pub(crate) mod receiver;
mod recovery;
pub(crate) mod rto;
pub(crate) mod scoreboard;
pub(crate) mod sender;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod tlp;
mod usage;

pub(crate) use path::CARD;
pub use sender::Sender;

pub(crate) use receiver::Receiver;

use crate::host::{ConnectionSetup, EndpointId};
use shortflow_cc::TransportConfig;

/// Opens a connection and returns both ends.
pub(crate) fn open(
    [sender, receiver]: [EndpointId; 2],
    transport: &TransportConfig,
    setup: &ConnectionSetup<'_>,
) -> (Sender, Receiver) {
    let sender = Sender::new(sender, transport, setup.tcp, setup.initial_rto)
        .with_small_queue(setup.small_queue, setup.tcp)
        .with_prediction(setup.predicts)
        .with_priority(setup.priority)
        .with_round_trip(setup.at.base_rtt)
        .begun(&setup.at);
    let receiver = Receiver::new(receiver, transport.ecn(), transport.recovery());
    (sender, receiver.with_prediction(setup.predicts))
}
