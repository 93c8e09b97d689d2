//! HPCC on TCP's hosts — the window law is that of [`crate::hpcc`]. TCP detects and repairs losses with selective
//! acknowledgements, instead of RoCE's go-back-N.

use crate::{Ecn, Host, Recovery, TransportInfo};

pub(crate) use crate::hpcc::{Hpcc as HpccTcp, Params};

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "hpcc-tcp",
    summary: "HPCC's window and rate on TCP hosts, which repair losses by selective acknowledgements",
    source: "HPCC, SIGCOMM 2019",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: false,
    ecn_monotone: false,
};
