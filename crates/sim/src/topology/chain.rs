//! Chain: switches in a row, each with hosts, so that cross traffic can use any of the links.

use super::delay_segments::{DelaySegment, delays};
use super::{Graph, HOSTS, Topology};
use crate::config::{ANY_TIME, ConfigError, Kind, RATE, Reader, keys};
use shortflow_units::{NodeId, Rate, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "chain",
    summary: "switches s0 to s<hops> in a row, with hosts at each; h0 is at s0, the last host at the other end",
    source: "ATCP, 4-hop chain",
    parameters: ChainKeys::parameters,
    read,
};

keys! {
    /// Keys of a chain.
    struct ChainKeys {
        /// links between switches from end to end
        hops: u32 = required, 1..=1000u32;
        /// hosts at each switch
        hosts_per_switch: u32 = required, 1..=10_000u32;
        /// rate of host links
        rate: Rate = required, RATE;
        /// rate of links between switches; the rate of host links unless given
        trunk_rate: Option<Rate> = optional, RATE;
        /// propagation round trip from end to end
        rtt: Span = required, ANY_TIME;
        /// one-way delay of each link between switches; an equal share of rtt unless given
        trunk_delay: Option<Span> = optional, ANY_TIME;
    }
}

#[derive(Debug)]
struct Chain {
    switches: usize,
    hosts_per_switch: usize,
    rates: [Rate; 2],
    delays: [Span; 2],
}

fn read(reader: &Reader) -> Result<Box<dyn Topology>, ConfigError> {
    let keys = ChainKeys::read(reader)?;
    let hosts = (keys.hops + 1) * keys.hosts_per_switch;
    if !HOSTS.contains(&hosts) {
        let reason = format!(
            "{} switches with {} hosts each are {hosts} hosts; at most {} are accepted",
            keys.hops + 1,
            keys.hosts_per_switch,
            HOSTS.end()
        );
        return Err(reader.impossible("hosts_per_switch", reason));
    }
    let trunk = DelaySegment::new(keys.hops.into(), "trunk_delay", keys.trunk_delay);
    let delays = delays(reader, keys.rtt, [DelaySegment::rest(2), trunk])?;
    if keys.trunk_rate.is_none() {
        reader.defaulted("trunk_rate", keys.rate.to_string());
    }
    Ok(Box::new(Chain {
        switches: keys.hops as usize + 1,
        hosts_per_switch: keys.hosts_per_switch as usize,
        rates: [keys.rate, keys.trunk_rate.unwrap_or(keys.rate)],
        delays,
    }))
}

impl Topology for Chain {
    fn build(&self) -> Graph {
        let hosts = self.switches * self.hosts_per_switch;
        let mut graph = Graph::new(hosts, self.switches);
        let switch = |number: usize| NodeId::from(hosts + number);
        for host in 0..hosts {
            let near = switch(host / self.hosts_per_switch);
            graph.connect(NodeId::from(host), near, self.rates[0], self.delays[0]);
        }
        for number in 1..self.switches {
            graph.connect(switch(number - 1), switch(number), self.rates[1], self.delays[1]);
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::testing::{error, graph, links};
    use shortflow_units::Span;

    const TABLE: &str =
        "kind = \"chain\"\nhops = 2\nhosts_per_switch = 1\nrate = \"1Gbps\"\nrtt = \"160us\"\n";

    #[test]
    fn hosts_hang_on_switches_in_a_row() {
        let graph = graph(TABLE);
        assert_eq!(links(&graph), ["h0-s0", "h1-s1", "h2-s2", "s0-s1", "s1-s2"]);
        assert!(graph.links.iter().all(|link| link.delay == Span::from_micros(20)));
    }

    #[test]
    fn the_four_hop_chain_of_atcp() {
        let table = "kind = \"chain\"\nhops = 4\nhosts_per_switch = 2\nrate = \"100Mbps\"\n\
            trunk_delay = \"50us\"\nrtt = \"440us\"\n";
        let graph = graph(table);
        assert_eq!((graph.hosts(), graph.nodes.len(), graph.links.len(), graph.racks()), (10, 15, 14, 5));
        let out: Vec<Span> = [0, 10, 11, 12, 13, 9].map(|link: usize| graph.links[link].delay).into();
        let micros = [10, 50, 50, 50, 50, 10].map(Span::from_micros);
        assert_eq!(out, micros);
    }

    #[test]
    fn what_cannot_be() {
        let late = error(&format!("{TABLE}trunk_delay = \"50us\"\n"));
        assert_eq!(late, "trunk_delay: 50us on 2 links out and back is beyond rtt = 160us");
        let many =
            error(&TABLE.replace("hops = 2\nhosts_per_switch = 1", "hops = 99\nhosts_per_switch = 5000"));
        assert!(many.ends_with("are 500000 hosts; at most 100000 are accepted"), "{many}");
    }
}
