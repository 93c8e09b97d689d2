//! Averaging time for the shares of backlogged flows, from which fairness is judged.

use crate::outcome::{LongPath, Outcome};
use crate::scenario::Scenario;
use shortflow_units::{ClassId, NodeId, Rate, Span};
use std::collections::BTreeMap;

/// Base round trips in an averaging window.
const ROUND_TRIPS: u64 = 10;
/// Full packets of each flow that a link carries in an averaging window.
const PACKETS: u64 = 20;

/// Averaging window of each class of backlogged flows: ten base round trips of its flows, or longer. In this
/// time, each link on their paths must carry 20 full packets of each backlogged flow that crosses it.
pub fn fairness_windows(outcome: &Outcome, scenario: &Scenario) -> BTreeMap<ClassId, Span> {
    let directions = scenario.graph.directions();
    let rates: BTreeMap<(NodeId, NodeId), Rate> =
        directions.map(|(from, to, rate)| ((from, to), rate)).collect();
    let mut flows: BTreeMap<(NodeId, NodeId), u64> = BTreeMap::new();
    for port in outcome.long_paths.iter().flat_map(|path| &path.ports) {
        *flows.entry(*port).or_default() += 1;
    }
    let mut windows: BTreeMap<ClassId, Span> = BTreeMap::new();
    for LongPath { row, ports, round_trip } in &outcome.long_paths {
        let packets = ports.iter().filter_map(|port| {
            let packet = scenario.tcp.tx_time(*rates.get(port)?, scenario.tcp.mss);
            Some(packet.times(PACKETS * flows[port]))
        });
        let window = packets.fold(round_trip.times(ROUND_TRIPS), Span::max);
        let longest = windows.entry(outcome.flows[*row].class).or_default();
        *longest = window.max(*longest);
    }
    windows
}
