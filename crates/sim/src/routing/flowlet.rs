//! Flowlet switching — Vanini, Pan, Alizadeh, Taheri, Edsall, "Let It Flow: Resilient Asymmetric Load
//! Balancing with Flowlet Switching", NSDI 2017: a connection that pauses for longer than a gap continues
//! over a random path. Packets stay in order if the gap exceeds the difference in delay between paths.
//!
//! Choices:
//! - The flowlet table is exact and unbounded: no two connections share an entry.
//! - When a link fails or recovers, paths are renumbered, and flowlets may move.

use super::flow_hash::{self, FlowHash};
use super::{Hop, PathChoice, RoutingInfo};
use crate::config::{POSITIVE_TIME, keys};
use crate::engine::{Seeds, Stream};
use shortflow_units::{HostId, Instant, NodeId, Span};
use std::collections::BTreeMap;

/// Registry entry.
pub(crate) const INFO: RoutingInfo = RoutingInfo {
    name: "flowlet",
    summary: "a connection takes a new random path after each pause that is longer than a gap",
    source: "LetFlow, NSDI 2017",
    reorders: true,
    draws: true,
};

keys! {
    /// Parameters of flowlet switching.
    #[derive(Copy)]
    pub struct Params {
        /// time between two packets of a connection at a switch after which the connection may take another path
        pub gap: Span = "500us", POSITIVE_TIME, acts: several_paths;
    }
}

/// State of a flowlet at a switch.
#[derive(Debug, Clone, Copy)]
struct Recent {
    /// Time of its last packet.
    last: Instant,
    path: usize,
}

/// Flowlets of all switches.
#[derive(Debug, Clone)]
pub struct Flowlet {
    gap: Span,
    draws: Stream,
    /// Paths of streams without gaps, for ideal completion times.
    streams: FlowHash,
    recent: BTreeMap<(NodeId, HostId, u32), Recent>,
    /// Number of flowlets above which ended flowlets are removed.
    most: usize,
}

impl Flowlet {
    /// Flowlets of a run.
    pub fn new(params: Params, nodes: usize, seeds: Seeds) -> Self {
        let draws = seeds.stream("flowlets", 0);
        let streams = FlowHash::new(flow_hash::Params::default(), nodes, seeds);
        Flowlet { gap: params.gap, draws, streams, recent: BTreeMap::new(), most: LEAST_ROOM }
    }
}

/// The table is never cleaned below this number of flowlets.
const LEAST_ROOM: usize = 1024;

impl PathChoice for Flowlet {
    fn choose(&mut self, now: Instant, hop: Hop) -> usize {
        let gap = self.gap;
        let goes_on = |recent: &Recent| now.since(recent.last) <= gap;
        if self.recent.len() > self.most {
            self.recent.retain(|_, recent| goes_on(recent));
            self.most = LEAST_ROOM.max(2 * self.recent.len());
        }
        let known = self.recent.get(&(hop.node, hop.to, hop.flow_id));
        // After a change of links, the flowlet's path may not exist any more.
        let path = match known.filter(|recent| goes_on(recent) && recent.path < hop.paths) {
            Some(recent) => recent.path,
            None => self.draws.below(hop.paths as u64) as usize,
        };
        self.recent.insert((hop.node, hop.to, hop.flow_id), Recent { last: now, path });
        path
    }

    fn of_flow(&self, _: Hop) -> Option<usize> {
        None
    }

    fn of_stream(&self, hop: Hop) -> Option<usize> {
        self.streams.of_flow(hop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(flow_id: u32) -> Hop {
        Hop { node: NodeId(9), to: HostId(1), flow_id, paths: 8, ..Hop::default() }
    }

    /// Number of path changes over a hundred packets at intervals of `us` µs, with a gap of 500 µs.
    fn changes(us: u64) -> usize {
        let mut flowlets = Flowlet::new(Params::default(), 10, Seeds::new(1));
        let paths: Vec<usize> =
            (0..100).map(|i| flowlets.choose(Instant::ZERO + Span::from_micros(i * us), hop(3))).collect();
        paths.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// A random draw among eight paths changes the path in seven of eight cases.
    #[test]
    fn the_path_changes_after_a_pause_only() {
        assert_eq!(changes(500), 0);
        assert!((80..=95).contains(&changes(501)), "{}", changes(501));
    }

    #[test]
    fn flowlets_that_have_ended_are_forgotten() {
        let mut flowlets = Flowlet::new(Params::default(), 10, Seeds::new(1));
        for flow in 0..100_000 {
            flowlets.choose(Instant::ZERO + Span::from_micros(flow), hop(flow as u32));
        }
        assert!(flowlets.recent.len() <= LEAST_ROOM + 1, "{}", flowlets.recent.len());
    }
}
