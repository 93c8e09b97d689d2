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
    /// Keys beside the racks.
    struct LeafSpineKeys {
        /// number of spine switches
        spines: u32 = required, 1..=256u32;
    }
}

fn parameters() -> Vec<ParamInfo> {
    [RackKeys::parameters(), LeafSpineKeys::parameters()].concat()
}

#[cfg(test)]
mod tests {
    use crate::topology::testing::{graph, links, read};

    const TABLE: &str = "kind = \"leaf-spine\"\nracks = 3\nhosts_per_rack = 1\nspines = 2\nrate = \"10Gbps\"\n\
        oversubscription = 0.25\nrtt = \"80us\"\n";

    #[test]
    fn every_leaf_has_an_uplink_to_every_spine() {
        let graph = graph(TABLE);
        let uplinks =
            ["leaf0-spine0", "leaf0-spine1", "leaf1-spine0", "leaf1-spine1", "leaf2-spine0", "leaf2-spine1"];
        assert_eq!(links(&graph)[3..], uplinks);
        assert_eq!(graph.links[3].rate, "20Gbps".parse().unwrap());
    }

    #[test]
    fn the_note_tells_the_oversubscription() {
        let note = read(TABLE).unwrap().note().unwrap();
        assert_eq!(note, "3 racks of 1 hosts, each 1 x 10Gbps down and 2 x 20Gbps up: oversubscription 0.25");
    }
}
