//! RDMA over Ethernet as its hosts' network cards have it: a sender with a rate and no window, which goes back to
//! the first missing packet; a receiver that keeps no packet out of order and reports marks at a limited rate.
//!
//! | file | content |
//! |---|---|
//! | [`sender`] | the reaction point of DCQCN, whose rate is the control's; go-back-N and a timeout |
//! | [`receiver`] | its notification point; an ACK for each packet, a NACK for the first that is missing |
//!
//! Deviations:
//! - Without priority flow control (`switch.xoff`) a full buffer drops, and go-back-N repairs.
//! - An ACK is sent for each packet, and the timeout is constant: `tcp.initial_rto`, three base round trips and at least
//!   `tcp.rto_min` unless set. Real cards coalesce ACKs and wait some milliseconds.
//! - A card takes a flow's next packet when the one before has left it, so that flows of a host share its link by turns, and
//!   one whose data is paused holds a packet of each.
//! - Of the rest of `[tcp]` only the sizes of packets count.

pub mod receiver;
pub mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::host::{ConnectionSetup, EndpointId};
use shortflow_cc::TransportConfig;
use shortflow_cc::hosts::roce::Params;

/// Both ends of a connection.
pub fn open(
    [sender, receiver]: [EndpointId; 2],
    transport: &TransportConfig,
    params: &Params,
    setup: &ConnectionSetup<'_>,
) -> (Sender, Receiver) {
    (Sender::new(sender, transport, setup), Receiver::new(receiver, params))
}
