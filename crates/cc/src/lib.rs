//! The papers' congestion controls as pure state machines: one file per transport, each readable
//! beside its paper. A control sees samples and changes a [`Window`]; it sees no network, reads no
//! clock and draws no random number, so all users share one oracle.
//!
//! | hook | Linux `tcp_congestion_ops` | called |
//! |---|---|---|
//! | [`CongestionControl::on_hops`] | – | before `on_ack` of the same ACK, if the law reads the hops of the path |
//! | [`CongestionControl::on_ack`] | `in_ack_event`, `cong_avoid` | on every ACK that advances `snd_una`; on any, if the law reads the path |
//! | [`CongestionControl::on_congestion`] | `ssthresh` | once per ECN decrease, fast retransmit or timeout |
//! | [`CongestionControl::on_start`] | `init` | before the first packet of a connection |
//! | [`CongestionControl::segment_size`], [`CongestionControl::window_bytes`] | – | before each segment |
//! | [`CongestionControl::pacing_rate`] | `sk_pacing_rate` | before each segment, if the law reads the path |
//! | [`CongestionControl::timer`], [`CongestionControl::on_timer`] | `bpf_timer` | whenever the law asks for it |
//! | [`CongestionControl::floor`], [`CongestionControl::alpha`] | – | by tests and probes |
//!
//! If both apply to one ACK, `on_ack` comes first: the marked fraction is up to date when the decrease
//! is made.

#[cfg(test)]
mod equations;
pub mod hosts;
mod mark_fraction;
mod registry;
mod sample;

pub mod atcp;
pub mod cubic;
pub mod d2tcp;
pub mod dcqcn;
pub mod dctcp;
pub mod fast;
pub mod homa;
pub mod hpcc;
pub mod hpcc_tcp;
pub mod l2dct;
pub mod minimal;
pub mod newreno;
pub mod sack;
pub mod swift;
pub mod timely;
pub mod xdctcp;

pub use hosts::{Host, HostInfo, HostParams};
pub use mark_fraction::{ByMarks, Common, MarkFraction, MarkLaw};
pub use registry::{
    StartUserDefined, Transport, TransportConfig, TransportInfo, UserDefined, transports, unknown_transport,
};
pub use sample::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, HopSample, Opening, PathSample, Recovery, Role,
    Window,
};
