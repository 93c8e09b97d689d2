//! Homa — Montazeri, Li, Alizadeh, Ousterhout, "Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network
//! Priorities", SIGCOMM 2018. The hosts decide what to send, without a window or a rate: see
//! [`hosts::homa`](crate::hosts::homa).

use crate::{AckSample, Cause, CongestionControl, Ecn, FlowView, Host, Recovery, TransportInfo, Window};
use shortflow_spec::keys;

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "homa",
    summary: "receivers grant the messages with the fewest bytes left, over strict priorities",
    source: "Homa, SIGCOMM 2018",
    host: Host::Homa,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: true,
    ecn_monotone: false,
};

keys! {
    /// The law has no parameters; Homa's hosts have them.
    #[derive(Copy)]
    pub struct Params {}
}

/// A law without effect: Homa's hosts have no window.
#[derive(Debug, Clone)]
pub struct Homa;

impl Homa {
    /// State of a new connection.
    pub fn new(_: Params) -> Self {
        Homa
    }
}

impl CongestionControl for Homa {
    fn on_ack(&mut self, _: &mut Window, _: &AckSample) {}
    fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {}
}
