//! pFabric's rate control — Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013,
//! §4.3. A flow starts at the rate of the link, and backs off only if losses persist.
//!
//! | paper | here |
//! |---|---|
//! | initial window: the bandwidth-delay product | [`Params::window`]; by default the host computes it |
//! | growth as in TCP, with each packet acknowledged | [`grow`] |
//! | a timeout starts slow start and sets ssthresh to half the window | [`CongestionControl::on_congestion`] |
//! | RTO, consecutive timeouts that begin probe mode | [`Params`](crate::hosts::minimal::Params); the simulator's module `minimal` acts on them |
//!
//! Choices:
//! - ssthresh starts at the first window, so a flow adds one segment per round trip from its start. ssthresh is at
//!   least two segments (RFC 5681).

use crate::newreno::grow;
use crate::{
    AckSample, Cause, CongestionControl, Ecn, FlowView, Host, Opening, Recovery, TransportInfo, Window,
};
use shortflow_spec::{KeywordOr, keys};

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "minimal",
    summary: "pFabric's own sender: a first window of a bandwidth-delay product, short fixed timeouts, and probes if timeouts persist",
    source: "pFabric, SIGCOMM 2013, §4.3",
    host: Host::Minimal,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: false, // no fast retransmit: each loss ends in a timeout, which leaves a window of one segment
    ecn_monotone: false,
};

keys! {
    /// Parameters of the window.
    #[derive(Copy)]
    pub struct Params {
        /// first window, in segments; auto: the rate of the host's link times the round-trip time without queues
        pub window: Option<f64> = "auto", KeywordOr("auto", 1.0..=1000000.0);
    }
}

/// The rate control of a connection.
#[derive(Debug, Clone)]
pub struct Minimal {
    params: Params,
}

impl Minimal {
    /// State of a new connection.
    pub fn new(params: Params) -> Self {
        Minimal { params }
    }
}

impl CongestionControl for Minimal {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if ack.may_grow {
            grow(window, ack, 1.0);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, _: &FlowView) {
        if cause == Cause::Timeout {
            *window = Window { cwnd: 1.0, ssthresh: (window.cwnd / 2.0).max(2.0) };
        }
    }

    fn on_start(&mut self, window: &mut Window, _: &Opening) {
        window.cwnd = self.params.window.unwrap_or(window.cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{ack, first_window, flow};

    #[test]
    fn it_begins_with_a_bandwidth_delay_product() {
        assert_eq!(first_window(&mut Minimal::new(Params::default()), 12.0), 12.0);
        assert_eq!(first_window(&mut Minimal::new(Params { window: Some(15.0) }), 12.0), 15.0);
    }

    /// An ACK adds 1/12 of a segment to 12 segments. A timeout leaves one segment, and slow start leads to 6. After
    /// two more timeouts ssthresh is 2.
    #[test]
    fn a_timeout_begins_slow_start_to_half_the_window() {
        let mut law = Minimal::new(Params::default());
        let mut window = Window { cwnd: 12.0, ssthresh: 12.0 };
        law.on_ack(&mut window, &ack(false));
        assert_eq!(window.cwnd, 12.0 + 1.0 / 12.0);
        window.cwnd = 12.0;
        law.on_congestion(&mut window, Cause::Timeout, &flow(12));
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 6.0 });
        (0..5).for_each(|_| law.on_ack(&mut window, &ack(false)));
        assert_eq!(window.cwnd, 6.0);
        law.on_ack(&mut window, &ack(false));
        assert_eq!(window.cwnd, 6.0 + 1.0 / 6.0);
        (0..2).for_each(|_| law.on_congestion(&mut window, Cause::Timeout, &flow(6)));
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 2.0 });
    }
}
