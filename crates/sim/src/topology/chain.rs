//! Chain: switches in a row, each with hosts, so that cross traffic can use any link between switches.

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
        /// number of links between switches from end to end
        hops: u32 = required, 1..=1000u32;
        /// number of hosts at each switch
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
