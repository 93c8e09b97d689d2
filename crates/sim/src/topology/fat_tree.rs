//! k-ary fat-tree — M. Al-Fares, A. Loukissas, A. Vahdat, "A Scalable, Commodity Data Center Network
//! Architecture", SIGCOMM 2008, §3: k pods of k/2 edge and k/2 aggregation switches with k ports each,
//! (k/2)² core switches, k³/4 hosts.

use super::delay_segments::{DelaySegment, delays};
use super::{Graph, Topology};
use crate::config::{ANY_TIME, ConfigError, Even, Kind, RATE, Reader, keys};
use shortflow_units::{NodeId, Rate, Span};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "fat-tree",
    summary: "k pods of switches edge<i> and agg<i> under switches core<i>, all with k ports; k^3/4 hosts",
    source: "Al-Fares et al., SIGCOMM 2008",
    parameters: FatTreeKeys::parameters,
    read,
};

keys! {
    /// Keys of a fat tree.
    struct FatTreeKeys {
        /// number of ports of each switch
        k: u32 = required, PORTS;
        /// rate of host links
        rate: Rate = required, RATE;
        /// rate of links between edge and aggregation; the rate of host links unless given
        uplink_rate: Option<Rate> = optional, RATE;
        /// rate of links between aggregation and core; uplink_rate unless given
        core_rate: Option<Rate> = optional, RATE;
        /// propagation round trip between pods
        rtt: Span = required, ANY_TIME;
        /// one-way delay of links between edge and aggregation; an equal share of rtt unless given
        uplink_delay: Option<Span> = optional, ANY_TIME;
        /// one-way delay of links between aggregation and core; an equal share of rtt unless given
        core_delay: Option<Span> = optional, ANY_TIME;
    }
}

/// k = 72 gives 93,312 hosts.
const PORTS: Even = Even(2..=72);

/// A fat-tree, with rates and delays of its tiers of links from the hosts upwards.
#[derive(Debug)]
struct FatTree {
    k: usize,
    rates: [Rate; 3],
    delays: [Span; 3],
}

fn read(reader: &Reader) -> Result<Box<dyn Topology>, ConfigError> {
    let keys = FatTreeKeys::read(reader)?;
    let uplink_rate = keys.uplink_rate.unwrap_or(keys.rate);
    let core_rate = keys.core_rate.unwrap_or(uplink_rate);
    for (key, given, rate) in
        [("uplink_rate", keys.uplink_rate, uplink_rate), ("core_rate", keys.core_rate, core_rate)]
    {
        if given.is_none() {
            reader.defaulted(key, rate.to_string());
        }
    }
    let uplinks = DelaySegment::new(2, "uplink_delay", keys.uplink_delay);
    let core = DelaySegment::new(2, "core_delay", keys.core_delay);
    let delays = delays(reader, keys.rtt, [DelaySegment::rest(2), uplinks, core])?;
    Ok(Box::new(FatTree { k: keys.k as usize, rates: [keys.rate, uplink_rate, core_rate], delays }))
}

impl Topology for FatTree {
    fn build(&self) -> Graph {
        let (k, half) = (self.k, self.k / 2);
        let mut graph = Graph::new(k * half * half, 0);
        let edges = graph.add_tier("edge", k * half);
        let aggregations = graph.add_tier("agg", k * half);
        let cores = graph.add_tier("core", half * half);
        for host in 0..graph.hosts() {
            graph.connect(NodeId::from(host), edges[host / half], self.rates[0], self.delays[0]);
        }
        for (edge, a) in (0..k * half).flat_map(|edge| (0..half).map(move |a| (edge, a))) {
            let pod = edge / half;
            graph.connect(edges[edge], aggregations[pod * half + a], self.rates[1], self.delays[1]);
        }
        for (aggregation, c) in (0..k * half).flat_map(|aggregation| (0..half).map(move |c| (aggregation, c)))
        {
            let group = aggregation % half;
            graph.connect(aggregations[aggregation], cores[group * half + c], self.rates[2], self.delays[2]);
        }
        graph
    }

    fn note(&self) -> Option<String> {
        let half = self.k / 2;
        Some(format!("{} hosts and {} switches in {} pods", self.k * half * half, 5 * half * half, self.k))
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::testing::{graph, links};

    #[test]
    fn every_switch_has_k_ports_and_every_pod_reaches_every_core_once() {
        let graph = graph("kind = 'fat-tree'\nk = 6\nrate = '10Gbps'\nrtt = '120us'");
        for node in graph.hosts()..graph.nodes.len() {
            let ends = graph.links.iter().flat_map(|link| [link.a, link.b]);
            assert_eq!(ends.filter(|end| end.index() == node).count(), 6, "{}", graph.nodes[node].name);
        }
        let to_cores: Vec<String> =
            links(&graph).into_iter().filter(|link| link.starts_with("agg")).collect();
        assert_eq!(to_cores[..4], ["agg0-core0", "agg0-core1", "agg0-core2", "agg1-core3"]);
        assert_eq!(to_cores[9..11], ["agg3-core0", "agg3-core1"]);
    }
}
