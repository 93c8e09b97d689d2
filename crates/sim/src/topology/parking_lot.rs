//! Parking lot: two bottlenecks in a row. One group of flows crosses both bottlenecks, and two other groups
//! cross one each.
//!
//! ```text
//! S1 ─┐                 ┌─ R2        S1 → R1 crosses both bottlenecks,
//! S2 ─┴ s0 ══ first ══ s1 ══ second ══ s2 ── R1       S2 → R2 the first, S3 → R1 the second.
//!                 S3 ─┘
//! ```

use super::{Graph, Topology};
use crate::config::{ANY_TIME, Kind, RATE, keys};
use shortflow_units::{NodeId, Rate, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "parking-lot",
    summary: "two bottlenecks s0-s1-s2; n = senders; hosts 0..n-1 (S1) and n..2n-1 (S2) at s0, 2n..3n-1 (S3) \
              and receivers 3n..4n-1 (R2) at s1, receiver 4n (R1) at s2",
    source: "L2DCT, INFOCOM 2013, Fig. 11(a), after DCTCP, SIGCOMM 2010, Fig. 17",
    parameters: ParkingLot::parameters,
    read: |reader| Ok(Box::new(ParkingLot::read(reader)?)),
};

keys! {
    struct ParkingLot {
        /// number of senders in each of the three groups, and of receivers R2
        senders: u32 = required, 1..=20_000u32;
        /// rate of host links
        rate: Rate = required, RATE;
        /// rate of s0-s1, which S1 and S2 share
        first_bottleneck: Rate = required, RATE;
        /// rate of s1-s2, which S1 and S3 share
        second_bottleneck: Rate = required, RATE;
        /// propagation round trip from S1 to R1
        rtt: Span = required, ANY_TIME;
    }
}

impl Topology for ParkingLot {
    fn build(&self) -> Graph {
        let senders = self.senders as usize;
        let hosts = 4 * senders + 1;
        let mut graph = Graph::new(hosts, 0);
        let tiers = ["first", "second", "last"].into_iter().enumerate();
        let switches: Vec<NodeId> =
            tiers.map(|(i, tier)| graph.add_switch(format!("s{i}"), Some(tier))).collect();
        let link_delay = self.rtt.divided_by(8); // four links in each direction
        for host in 0..hosts {
            let near = [0, 0, 1, 1, 2][host / senders.max(1)];
            graph.connect(NodeId::from(host), switches[near], self.rate, link_delay);
        }
        graph.connect(switches[0], switches[1], self.first_bottleneck, link_delay);
        graph.connect(switches[1], switches[2], self.second_bottleneck, link_delay);
        graph
    }
}
