//! A packet-level TCP, one RFC a file.
//!
//! | file | document |
//! |---|---|
//! | [`sender`] | RFC 5681 fast retransmit and the order of events on an ACK |
//! | `transmit` | RFC 5681, RFC 6675: what may be sent now |
//! | [`newreno`] | RFC 6582 |
//! | [`scoreboard`] | RFC 2018, RFC 6675 |
//! | [`rto`] | RFC 6298 |
//! | [`ecn`] | RFC 3168 |
//! | [`exact_echo`] | RFC 8257 §3.2 |
//! | [`priority`] | pECN §4.2, pFabric §4.1, PIAS §3.1: what switches that reorder read |
//! | [`receiver`] | RFC 5681 §4.2, RFC 2018 §4 |
//! | `path`, `pacer` | RFC 7323 timestamps, pacing |
//! | `endpoint` | what the event loop sees |
//!
//! Not modelled: limited transmit, early retransmit, tail-loss probes, PRR, window
//! scaling, FIN, and the bytes of the SACK option.

pub mod ecn;
mod endpoint;
pub mod exact_echo;
pub mod newreno;
mod pacer;
mod path;
pub mod priority;
pub mod receiver;
pub mod rto;
pub mod scoreboard;
pub mod sender;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transmit;

pub use receiver::Receiver;
pub use sender::Sender;
