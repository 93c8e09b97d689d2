//! HPCC on TCP's hosts — the window law is [`crate::hpcc`]'s. Loss detection and repair are TCP's, with selective acknowledgements,
//! in place of RoCE's go-back-N.

use crate::{Ecn, Host, Recovery, TransportInfo};

pub use crate::hpcc::{Hpcc as HpccTcp, Params};

/// Registry entry.
pub const INFO: TransportInfo = TransportInfo {
    name: "hpcc-tcp",
    summary: "HPCC's window and rate on TCP's hosts, which repair losses by selective acknowledgements",
    source: "HPCC, SIGCOMM 2019",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: false,
};
