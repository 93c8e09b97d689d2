//! Star: every host on one switch.

use super::{Graph, HOSTS, Topology};
use crate::config::{ANY_TIME, Kind, RATE, keys};
use shortflow_units::{NodeId, Rate, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "star",
    summary: "every host on one switch",
    source: "",
    parameters: Star::parameters,
    read: |reader| Ok(Box::new(Star::read(reader)?)),
};

keys! {
    pub(super) struct Star {
        /// number of hosts
        pub hosts: u32 = required, HOSTS;
        /// rate of every link
        pub rate: Rate = required, RATE;
        /// propagation round trip between two hosts
        pub rtt: Span = required, ANY_TIME;
    }
}

impl Topology for Star {
    fn build(&self) -> Graph {
        let hosts = self.hosts as usize;
        let mut graph = Graph::new(hosts, 1);
        let link_delay = self.rtt.divided_by(4); // two links in each direction
        for host in 0..hosts {
            graph.connect(NodeId::from(host), NodeId::from(hosts), self.rate, link_delay);
        }
        graph
    }
}
