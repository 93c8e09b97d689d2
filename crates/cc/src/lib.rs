//! Congestion controls of papers as pure state machines. Each transport has one file, to be read beside its
//! paper. A congestion control receives samples and changes a [`Window`]. It has no access to the network,
//! reads no clock and draws no random numbers. The same samples therefore lead to the same window for every
//! user of this crate.
//!
//! | hook | Linux `tcp_congestion_ops` | called |
//! |---|---|---|
//! | [`CongestionControl::on_hops`] | – | before `on_ack` of the same ACK, if the law reads the hops of the path |
//! | [`CongestionControl::on_ack`] | `in_ack_event`, `cong_avoid` | on every ACK that advances `snd_una`; on every ACK, if the law reads the path |
//! | [`CongestionControl::on_congestion`] | `ssthresh` | once per ECN decrease, fast retransmit or timeout |
//! | [`CongestionControl::on_start`] | `init` | before the first packet of a connection |
//! | [`CongestionControl::segment_size`], [`CongestionControl::window_bytes`] | – | before each segment |
//! | [`CongestionControl::pacing_rate`] | `sk_pacing_rate` | before each segment, if the law reads the path |
//! | [`CongestionControl::timer`], [`CongestionControl::on_timer`] | `bpf_timer` | at the time that the law requests |
//! | [`CongestionControl::floor`], [`CongestionControl::alpha`] | – | by tests and probes |
//!
//! If one ACK causes a call of `on_ack` and one of `on_congestion`, `on_ack` comes first. The marked fraction
//! is then up to date at the decrease.
//!
//! Start a transport by its name:
//!
//! ```
//! use shortflow_cc::{AckSample, CongestionControl, FlowView, TransportConfig, Window};
//! use shortflow_units::{Bytes, Instant};
//!
//! let mut law = TransportConfig::named("dctcp")?.start();
//! let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
//! let flow = FlowView::blank(Instant::ZERO, Bytes::new(1460));
//! law.on_ack(&mut window, &AckSample::of(flow, Bytes::new(2920)));
//! assert_eq!(window.cwnd, 11.0); // slow start adds at most one segment per ACK (RFC 5681)
//! # Ok::<(), shortflow_spec::ConfigError>(())
//! ```

// Comments in the source link to private modules and items too.
#![allow(rustdoc::private_intra_doc_links)]

#[cfg(test)]
mod equations;
pub mod hosts;
mod mark_fraction;
mod registry;
mod sample;

mod atcp;
mod cubic;
mod d2tcp;
mod dcqcn;
mod dctcp;
mod fast;
mod homa;
mod hpcc;
mod hpcc_tcp;
mod l2dct;
mod minimal;
mod ndp;
mod newreno;
mod sack;
mod swift;
mod timely;
mod xdctcp;

pub use hosts::{Host, HostInfo, HostParams};
pub(crate) use mark_fraction::{ByMarks, Common, MarkFraction, MarkLaw};
pub use registry::{
    StartUserDefined, Transport, TransportConfig, TransportInfo, UserDefined, transports, unknown_transport,
};
pub use sample::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, HopSample, Opening, PathSample, Recovery, Role,
    Window,
};
