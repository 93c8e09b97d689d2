//! NDP — Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017. Its hosts
//! and queues do all the work, and no window or rate is set: see [`hosts::ndp`](crate::hosts::ndp).

use crate::{AckSample, Cause, CongestionControl, Ecn, FlowView, Host, Recovery, TransportInfo, Window};
use shortflow_spec::keys;

/// Registry entry.
pub const INFO: TransportInfo = TransportInfo {
    name: "ndp",
    summary: "a first window at the rate of the link, then a packet for each pull of the receiver's host",
    source: "NDP, SIGCOMM 2017",
    host: Host::Ndp,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: false,
};

keys! {
    /// The hosts' parameters are all.
    #[derive(Copy)]
    pub struct Params {}
}

/// No law.
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
