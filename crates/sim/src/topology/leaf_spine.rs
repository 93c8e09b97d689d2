//! Leaf–spine: every leaf has an uplink to every spine.

use super::racks::{RackKeys, Racks};
use crate::config::{Kind, ParamInfo, keys};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "leaf-spine",
    summary: "racks of hosts, each under a switch leaf<i>, which has a link to every switch spine<j>",
    source: "",
    parameters,
    read: |reader| {
        let spines = LeafSpineKeys::read(reader)?.spines;
        Ok(Box::new(Racks::read(reader, spines, ["leaf", "spine"])?))
    },
};

keys! {
    /// Keys other than those of racks.
    struct LeafSpineKeys {
        /// number of spine switches
        spines: u32 = required, 1..=256u32;
    }
}

fn parameters() -> Vec<ParamInfo> {
    [RackKeys::parameters(), LeafSpineKeys::parameters()].concat()
}
