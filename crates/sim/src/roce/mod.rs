//! RDMA over Ethernet, as network cards implement it. The sender has a rate and no window, and goes back to the first
//! missing packet. The receiver discards packets that arrive out of order, and reports marks at a limited rate.
//!
//! | file | content |
//! |---|---|
//! | [`sender`] | reaction point of DCQCN, with the rate of the congestion control; go-back-N and a timeout |
//! | [`receiver`] | notification point of DCQCN; an ACK for each packet, and a NACK for the first missing packet |
//!
//! Deviations:
//! - Without priority flow control (`switch.xoff`), a full buffer drops packets, and go-back-N repairs the losses.
//! - Each packet gets an ACK, and the timeout is constant: `tcp.initial_rto`, or by default three base round trips
//!   and at least `tcp.rto_min`. Real cards coalesce ACKs and wait some milliseconds.
//! - A card takes the next packet of a flow when the previous one has left. So the flows of a host share its link in
//!   turns, and a host whose data is paused holds one packet of each flow.
//! - Of the other keys of `[tcp]`, only the sizes of packets count.

pub(crate) mod receiver;
pub(crate) mod sender;

pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

use crate::host::{ConnectionSetup, EndpointId};
use shortflow_cc::TransportConfig;
use shortflow_cc::hosts::roce::Params;

/// Opens both ends of a connection.
pub(crate) fn open(
    [sender, receiver]: [EndpointId; 2],
    transport: &TransportConfig,
    params: &Params,
    setup: &ConnectionSetup<'_>,
) -> (Sender, Receiver) {
    (Sender::new(sender, transport, setup), Receiver::new(receiver, params))
}
