//! Dumbbell: pairs of hosts on the left and right of one bottleneck link.

use super::{Graph, Topology};
use crate::config::{ANY_TIME, Kind, RATE, keys};
use shortflow_units::{NodeId, Rate, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "dumbbell",
    summary: "hosts 0..pairs-1 left and pairs..2*pairs-1 right of one bottleneck link",
    source: "",
    parameters: Dumbbell::parameters,
    read: |reader| Ok(Box::new(Dumbbell::read(reader)?)),
};

keys! {
    struct Dumbbell {
        /// number of hosts on each side
        pairs: u32 = required, 1..=50_000u32;
        /// rate of host links
        rate: Rate = required, RATE;
        /// rate of the link between the two switches
        bottleneck: Rate = required, RATE;
        /// propagation round trip from side to side
        rtt: Span = required, ANY_TIME;
    }
}

impl Topology for Dumbbell {
    fn build(&self) -> Graph {
        let hosts = 2 * self.pairs as usize;
        let mut graph = Graph::new(hosts, 2);
        let (left, right) = (NodeId::from(hosts), NodeId::from(hosts + 1));
        let link_delay = self.rtt.divided_by(6); // three links in each direction
        for host in 0..hosts {
            let switch = if host < hosts / 2 { left } else { right };
            graph.connect(NodeId::from(host), switch, self.rate, link_delay);
        }
        graph.connect(left, right, self.bottleneck, link_delay);
        graph
    }
}
