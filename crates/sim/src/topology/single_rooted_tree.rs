//! Single-rooted tree: racks of hosts under one root switch, the topology of L2DCT's evaluation.

use super::star::Star;
use super::{Graph, HOSTS, Topology};
use crate::config::{ANY_TIME, ConfigError, Kind, RATE, Reader, keys};
use shortflow_units::{NodeId, Rate, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "single-rooted-tree",
    summary: "racks of hosts, each under a switch tor<i>, under one switch root0; one rack is a star under s0",
    source: "L2DCT, INFOCOM 2013, §III",
    parameters: SingleRootedTree::parameters,
    read,
};

keys! {
    /// A tree with one root.
    struct SingleRootedTree {
        /// number of hosts, spread evenly over the racks
        hosts: u32 = required, HOSTS;
        /// rate of host links
        rate: Rate = required, RATE;
        /// propagation round trip of the longest path
        rtt: Span = required, ANY_TIME;
        /// number of racks
        racks: u32 = "1", 1..=10_000u32;
        /// rate of links between rack and root; the rate of host links unless given
        uplink_rate: Option<Rate> = optional, RATE;
    }
}

fn read(reader: &Reader) -> Result<Box<dyn Topology>, ConfigError> {
    let tree = SingleRootedTree::read(reader)?;
    if tree.racks > tree.hosts {
        let reason = format!("{} racks for {} hosts leave racks empty", tree.racks, tree.hosts);
        return Err(reader.impossible("racks", reason));
    }
    if tree.racks == 1 && tree.uplink_rate.is_some() {
        return Err(reader.impossible("uplink_rate", "there are no uplinks with racks = 1"));
    }
    if tree.racks > 1 && tree.uplink_rate.is_none() {
        reader.defaulted("uplink_rate", tree.rate.to_string());
    }
    Ok(Box::new(tree))
}

impl Topology for SingleRootedTree {
    fn build(&self) -> Graph {
        if self.racks == 1 {
            return Star { hosts: self.hosts, rate: self.rate, rtt: self.rtt }.build();
        }
        let (hosts, racks) = (self.hosts as usize, self.racks as usize);
        let mut graph = Graph::new(hosts, 0);
        let switches = graph.add_tier("tor", racks);
        let root = graph.add_tier("root", 1)[0];
        let link_delay = self.rtt.divided_by(8); // four links in each direction
        for host in 0..hosts {
            graph.connect(NodeId::from(host), switches[host * racks / hosts], self.rate, link_delay);
        }
        for switch in switches {
            graph.connect(switch, root, self.uplink_rate.unwrap_or(self.rate), link_delay);
        }
        graph
    }
}
