//! Helpers of the tests of this folder.

use crate::specs::{MarkedGrowth, TcpSpec};
use shortflow_units::{Bytes, Span};

/// The documented defaults of `[tcp]`.
pub(crate) fn tcp() -> TcpSpec {
    TcpSpec {
        mss: Bytes::new(1460),
        header: Bytes::new(40),
        initial_window: 2.0,
        initial_ssthresh: f64::INFINITY,
        rto_min: Span::from_millis(10),
        rto_max: Span::from_millis(60_000),
        initial_rto: None,
        clock_granularity: Span::ZERO,
        tlp_ack_delay: None,
        tlp_slack: Span::ZERO,
        ack_every: 1,
        ack_delay: Span::from_micros(500),
        ack_message_end: false,
        quick_acks: 0,
        ack_ecn_changes: false,
        receive_window: f64::INFINITY,
        handshake: false,
        grow_on_marked_acks: MarkedGrowth::No,
        growth: None,
        grow_by_segments: false,
    }
}
