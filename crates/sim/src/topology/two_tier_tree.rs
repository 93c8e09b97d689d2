//! Two-tier tree: racks under one core switch, as in FaST (5 racks of 20) and pECN (18 racks of 20).

use super::racks::{RackKeys, Racks};
use crate::config::Kind;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "two-tier-tree",
    summary: "racks of hosts, each under a switch tor<i>, all under one switch core0",
    source: "FaST, Fig. 3 (5 x 20); pECN (18 x 20)",
    parameters: RackKeys::parameters,
    read: |reader| Ok(Box::new(Racks::read(reader, 1, ["tor", "core"])?)),
};
