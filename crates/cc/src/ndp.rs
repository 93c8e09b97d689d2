//! NDP — Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
//! performance", SIGCOMM 2017. The hosts and the queues decide what to send, without a congestion window or a
//! rate: see [`hosts::ndp`](crate::hosts::ndp).

use crate::{AckSample, Cause, CongestionControl, Ecn, FlowView, Host, Recovery, TransportInfo, Window};
use shortflow_spec::keys;

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "ndp",
    summary: "a first window at the rate of the link, then a packet for each pull of the receiver's host",
    source: "NDP, SIGCOMM 2017",
    host: Host::Ndp,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: false,
    ecn_monotone: false,
};

keys! {
    /// The law has no parameters; NDP's hosts have them.
    #[derive(Copy)]
    pub struct Params {}
}

/// A law without effect: NDP's hosts have no congestion window.
#[derive(Debug, Clone)]
pub struct Ndp;

impl Ndp {
    /// State of a new connection.
    pub fn new(_: Params) -> Self {
        Ndp
    }
}

impl CongestionControl for Ndp {
    fn on_ack(&mut self, _: &mut Window, _: &AckSample) {}
    fn on_congestion(&mut self, _: &mut Window, _: Cause, _: &FlowView) {}
}
