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

#[cfg(test)]
mod tests {
    use crate::topology::testing::{error, graph, links, read};
    use shortflow_units::{HostId, Span};

    fn table(racks: u32, hosts: u32, rest: &str) -> String {
        format!(
            "kind = \"two-tier-tree\"\nracks = {racks}\nhosts_per_rack = {hosts}\nrate = \"1Gbps\"\nrtt = \"200us\"\n{rest}"
        )
    }

    #[test]
    fn the_trees_of_fast_and_pecn() {
        for (racks, nodes, links) in [(5, 106, 105), (18, 379, 378)] {
            let table = table(racks, 20, "uplink_rate = \"10Gbps\"");
            let graph = graph(&table);
            assert_eq!((graph.nodes.len(), graph.links.len()), (nodes, links));
            assert!(graph.links.iter().all(|link| link.delay == Span::from_micros(25)));
            let note = read(&table).unwrap().note().unwrap();
            assert!(note.ends_with("20 x 1Gbps down and 1 x 10Gbps up: oversubscription 2"), "{note}");
        }
    }

    #[test]
    fn oversubscription_sets_the_uplinks() {
        let graph = graph(&table(2, 2, "oversubscription = 4\nuplink_delay = \"10us\""));
        assert_eq!(links(&graph), ["h0-tor0", "h1-tor0", "h2-tor1", "h3-tor1", "tor0-core0", "tor1-core0"]);
        assert_eq!(graph.links[4].rate, "500Mbps".parse().unwrap());
        assert_eq!(graph.links[4].delay, Span::from_micros(10));
        assert_eq!(graph.links[0].delay, Span::from_micros(40));
        assert_eq!([0, 1, 2, 3].map(|host| graph.rack(HostId(host))), [0, 0, 1, 1]);
    }

    #[test]
    fn one_of_two_keys_sets_the_uplinks() {
        let none = error(&table(2, 2, ""));
        assert_eq!(none, "uplink_rate: missing; either uplink_rate or oversubscription is needed");
        let both = error(&table(2, 2, "uplink_rate = \"1Gbps\"\noversubscription = 2"));
        assert_eq!(both, "oversubscription: given together with uplink_rate; one of them is enough");
        let many = error(&table(5000, 5000, "oversubscription = 2"));
        assert!(many.starts_with("hosts_per_rack: 5000 racks of 5000 hosts are 25000000 hosts"), "{many}");
    }
}
