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
        let link_delay = self.rtt.divided_by(4); // out and back over two links
        for host in 0..hosts {
            graph.connect(NodeId::from(host), NodeId::from(hosts), self.rate, link_delay);
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_a_quarter_of_the_round_trip_from_the_switch() {
        let star = Star { hosts: 3, rate: "1Gbps".parse().unwrap(), rtt: Span::from_micros(300) };
        let graph = star.build();
        assert_eq!(graph.hosts(), 3);
        assert_eq!(graph.name(NodeId(3)), "s0");
        for (host, link) in graph.links.iter().enumerate() {
            assert_eq!((link.a, link.b), (NodeId::from(host), NodeId(3)));
            assert_eq!(link.delay, Span::from_micros(75));
        }
    }
}
