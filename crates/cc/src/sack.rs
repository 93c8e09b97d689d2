//! TCP with selective acknowledgements — RFC 2018, RFC 6675. The window law is [`crate::newreno`]'s.
//! Loss detection and repair differ; they are the sender's part (scoreboard and pipe), chosen by [`INFO`].
//!
//! Deviation: the scheme `tcp` is this one as a baseline of pECN, which does not say which TCP, and of
//! FaST, which has NewReno. Set `recovery=newreno`.

use crate::{Ecn, Host, Recovery, TransportInfo};

pub use crate::newreno::{NewReno as Sack, Params};

/// Registry entry.
pub const INFO: TransportInfo = TransportInfo {
    name: "sack",
    summary: "TCP with selective acknowledgements, the drop-tail baseline of L2DCT",
    source: "RFC 5681, RFC 6675",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: true,
};
