//! Every registered topology: counts, paths by hand, and equal use of equally short paths.

use proptest::prelude::*;
use shortflow_sim::engine::Seeds;
use shortflow_sim::net::Routes;
use shortflow_sim::routing::{Chooser, Routing};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::topology::{Graph, Link, topologies};
use shortflow_units::{HostId, NodeId, PortId};
use std::collections::{BTreeMap, BTreeSet};

/// The network of a `[topology]` table.
fn graph(table: &str) -> Graph {
    let text = format!(
        "title = \"test\"\nduration = \"1s\"\n[topology]\n{table}\n[switch]\nbuffer = \"250pkt\"\n\
         mark_above = \"20pkt\"\n[[traffic]]\nkind = \"long-lived\"\nflows = 1\n"
    );
    crate::common::scenario_with_file(&text, crate::common::EDGES).graph.clone()
}

/// Routes, with the path choice of a seed.
struct Hashed(Routes, Chooser);

fn routes(graph: &Graph, seed: u64) -> Hashed {
    let chooser = Routing::FlowHash(Default::default()).start(graph.nodes.len(), Seeds::new(seed));
    Hashed(Routes::new(graph).unwrap_or_else(|error| panic!("{error}")), chooser)
}

/// Nodes on the path of connection `flow_id`, including both hosts.
fn path(
    graph: &Graph,
    Hashed(routes, chooser): &Hashed,
    from: usize,
    to: usize,
    flow_id: u32,
) -> Vec<NodeId> {
    let mut path = vec![NodeId::from(from)];
    let link = |port: PortId| (graph.links[port.index() / 2].rate, graph.links[port.index() / 2].delay);
    let ends = (HostId::from(from), HostId::from(to), flow_id);
    for stage in routes.stages(ends, chooser, link, |port| graph.ends(port).1) {
        let (near, far) = graph.ends(stage.fastest);
        assert_eq!(near, path[path.len() - 1], "the port belongs to the node");
        path.push(far);
    }
    assert_eq!(path.last(), Some(&NodeId::from(to)));
    path
}

fn named(graph: &Graph, path: &[NodeId]) -> String {
    path.iter().map(|node| graph.name(*node)).collect::<Vec<_>>().join(" ")
}

/// Different paths between two hosts, found with many connections.
fn paths(graph: &Graph, from: usize, to: usize) -> BTreeSet<Vec<NodeId>> {
    let routes = routes(graph, 1);
    (0..2000).map(|flow_id| path(graph, &routes, from, to, flow_id)).collect()
}

const FAT_TREE: &str = "kind = \"fat-tree\"\nk = 4\nrate = \"10Gbps\"\nrtt = \"120us\"";
const LEAF_SPINE: &str = "kind = \"leaf-spine\"\nracks = 4\nhosts_per_rack = 4\nspines = 5\nrate = \"10Gbps\"\noversubscription = 1\nrtt = \"80us\"";

#[test]
fn paths_of_a_fat_tree_by_hand() {
    let graph = graph(FAT_TREE);
    let routes = routes(&graph, 1);
    let one = |from, to| named(&graph, &path(&graph, &routes, from, to, 0));
    assert_eq!(one(0, 1), "h0 edge0 h1");
    let in_pod: BTreeSet<String> = paths(&graph, 0, 2).iter().map(|path| named(&graph, path)).collect();
    assert_eq!(Vec::from_iter(in_pod), ["h0 edge0 agg0 edge1 h2", "h0 edge0 agg1 edge1 h2"]);
    let across: BTreeSet<String> = paths(&graph, 0, 15).iter().map(|path| named(&graph, path)).collect();
    let expected = [
        "h0 edge0 agg0 core0 agg6 edge7 h15",
        "h0 edge0 agg0 core1 agg6 edge7 h15",
        "h0 edge0 agg1 core2 agg7 edge7 h15",
        "h0 edge0 agg1 core3 agg7 edge7 h15",
    ];
    assert_eq!(Vec::from_iter(across), expected);
}

#[test]
fn hops_between_the_hosts_that_are_farthest_apart() {
    let longest = |table: &str| {
        let graph = graph(table);
        let (routes, hosts) = (routes(&graph, 1), graph.hosts());
        let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
        pairs.map(|(from, to)| path(&graph, &routes, from, to, 7).len() - 1).max()
    };
    let expected = [
        ("star", 2),
        ("single-rooted-tree", 4),
        ("dumbbell", 3),
        ("chain", 5),
        ("parking-lot", 4),
        ("two-tier-tree", 4),
        ("leaf-spine", 4),
        ("fat-tree", 6),
        ("explicit", 4),
    ];
    assert_eq!(
        expected.map(|(kind, _)| kind),
        *topologies().iter().map(|kind| kind.name).collect::<Vec<_>>()
    );
    for (kind, hops) in expected {
        assert_eq!(longest(&crate::common::small_topology(kind, 4)), Some(hops), "{kind}");
    }
}

/// Connections per path, compared with equal shares: at most the 99.9 % point of chi-square.
#[test]
fn connections_spread_evenly_over_equal_paths() {
    let explicit = crate::common::small_topology("explicit", 4);
    for (table, paths, limit) in [(LEAF_SPINE, 5, 18.47), (FAT_TREE, 4, 16.27), (&explicit, 2, 10.83)] {
        let graph = graph(table);
        for salt in [1, 1000, 123_456] {
            let routes = routes(&graph, salt);
            let mut counts: BTreeMap<Vec<NodeId>, u32> = BTreeMap::new();
            for flow_id in 0..4000 {
                *counts.entry(path(&graph, &routes, 0, 15, flow_id)).or_default() += 1;
            }
            assert_eq!(counts.len(), paths);
            let share = 4000.0 / paths as f64;
            let chi_square: f64 = counts.values().map(|n| (f64::from(*n) - share).powi(2) / share).sum();
            assert!(chi_square < limit, "{paths} paths, salt {salt}: {chi_square}");
        }
    }
}

/// Pairs of hosts have one connection each. Edge and aggregation switches choose independently, so the core is used
/// equally.
#[test]
fn pairs_of_hosts_spread_evenly_over_the_core() {
    let graph = graph("kind = \"fat-tree\"\nk = 8\nrate = \"10Gbps\"\nrtt = \"120us\"");
    let routes = routes(&graph, 1);
    let mut counts: BTreeMap<NodeId, u32> = BTreeMap::new();
    let (mut flow_id, mut across) = (0, 0);
    for (from, to) in
        (0..128).flat_map(|from| (0..128).map(move |to| (from, to))).filter(|(a, b)| a / 16 != b / 16)
    {
        *counts.entry(path(&graph, &routes, from, to, flow_id)[3]).or_default() += 1;
        (flow_id, across) = (flow_id + 1, across + 1);
    }
    let share = f64::from(across) / 16.0;
    let chi_square: f64 = counts.values().map(|n| (f64::from(*n) - share).powi(2) / share).sum();
    assert_eq!(counts.len(), 16);
    assert!(chi_square < 37.7, "chi-square {chi_square} is beyond the 99.9 % point of 15 degrees");
}

fn table() -> impl Strategy<Value = String> {
    let kinds: Vec<&str> = topologies().iter().map(|kind| kind.name).collect();
    (prop::sample::select(kinds), 1u32..14)
        .prop_map(|(kind, senders)| crate::common::small_topology(kind, senders))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// In every topology, every host reaches every other host on a path without loops, as long as the way back, and
    /// hosts of a rack share a switch.
    #[test]
    fn every_pair_of_hosts_is_reachable(table in table(), flow_id: u32, salt in 0u64..1_000_000) {
        let graph = graph(&table);
        let routes = routes(&graph, salt);
        for from in 0..graph.hosts() {
            prop_assert!((graph.rack(HostId::from(from)) as usize) < graph.racks());
            for to in (0..graph.hosts()).filter(|to| *to != from) {
                let out = path(&graph, &routes, from, to, flow_id);
                let back = path(&graph, &routes, to, from, flow_id);
                prop_assert_eq!(out.len(), back.len());
                let same_rack = graph.rack(HostId::from(from)) == graph.rack(HostId::from(to));
                prop_assert_eq!(same_rack, out.len() == 3);
            }
        }
    }
}

/// A network's list of links, and its node file with rows in the order of `ranks`.
fn exported(graph: &Graph, ranks: &[u32]) -> [String; 2] {
    let link =
        |link: &Link| format!("{},{},{},{}\n", graph.name(link.a), graph.name(link.b), link.rate, link.delay);
    let row = |number: usize| {
        let (node, id) = (&graph.nodes[number], NodeId::from(number));
        let kind = if node.is_host { "host" } else { "switch" };
        format!("{},{kind},{}\n", node.name, graph.tier(id).map_or("", |tier| &graph.tiers[tier]))
    };
    let mut order: Vec<usize> = (0..graph.nodes.len()).collect();
    order.sort_by_key(|number| ranks[number % ranks.len()]);
    let links = graph.links.iter().map(link);
    [
        format!("a,b,rate,delay\n{}", links.collect::<String>()),
        format!("name,kind,tier\n{}", order.into_iter().map(row).collect::<String>()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Tables of tiers and all other keys apply to the same ports, whatever the order of the rows in the node file.
    #[test]
    fn a_network_from_a_file_is_the_network_that_was_exported(
        kind in prop::sample::select(vec!["single-rooted-tree", "two-tier-tree", "leaf-spine", "fat-tree"]),
        senders in 1u32..7,
        ranks in prop::collection::vec(any::<u32>(), 53),
    ) {
        let built_in = graph(&crate::common::small_topology(kind, senders));
        let [links, nodes] = exported(&built_in, &ranks);
        let files = |name: &str| Ok(if name == "nodes.csv" { nodes.clone() } else { links.clone() });
        let read = |topology: &str| {
            let text = format!(
                "title = \"test\"\nduration = \"1s\"\n[topology]\n{topology}\n[switch]\nbuffer = \"250pkt\"\n\
                 mark_above = \"20pkt\"\n[switch.{0}]\nbuffer = \"60pkt\"\n[switch.{0}.up]\nbuffer = \"40pkt\"\n\
                 [[traffic]]\nkind = \"long-lived\"\n[faults]\ntier = \"{0}\"\nloss = 0.1\n",
                built_in.tiers[0]
            );
            Scenario::parse(&text, "test", &[], &files).unwrap_or_else(|error| panic!("{error}"))
        };
        let own = read(&crate::common::small_topology(kind, senders));
        let from_file = read("kind = \"explicit\"\nfile = \"links.csv\"\nnode_file = \"nodes.csv\"");
        prop_assert_eq!(&own.graph, &from_file.graph);
        prop_assert_eq!(&own.faults, &from_file.faults);
        let upwards = own.graph.directions().filter(|(from, to, _)| own.graph.leads_up(*from, *to));
        prop_assert!(upwards.count() > 0);
        for (from, to, _) in own.graph.directions() {
            prop_assert_eq!(own.switch_port(from, to), from_file.switch_port(from, to));
        }
    }
}
