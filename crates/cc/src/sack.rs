//! TCP with selective acknowledgements — RFC 2018, RFC 6675. The window law is that of [`crate::newreno`]. Only loss
//! detection and repair differ: the sender has a scoreboard and a pipe estimate, which [`INFO`] selects.
//!
//! Deviation: the scheme `tcp` has this recovery as the baseline of pECN and FaST, too. pECN does not name its TCP,
//! and FaST's baseline is NewReno. For NewReno, set `recovery=newreno`.

use crate::{Ecn, Host, Recovery, TransportInfo};

pub(crate) use crate::newreno::{NewReno as Sack, Params};

/// Registry entry.
pub(crate) const INFO: TransportInfo = TransportInfo {
    name: "sack",
    summary: "TCP with selective acknowledgements, the drop-tail baseline of L2DCT",
    source: "RFC 5681, RFC 6675",
    host: Host::Tcp,
    recovery: Recovery::Sack,
    ecn: Ecn::Off,
    fills_link: true,
    ecn_monotone: true,
};
