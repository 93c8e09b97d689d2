//! What is worked out or fetched ahead saves time and changes nothing: the same outcomes with it and without, in a network
//! of twenty switches with equal paths, drops, and connections whose slots are used again.

use super::division::{Division, Way};
use super::world::World;
use super::{Unattended, run_in};
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::scheme::{Scheme, schemes};
use shortflow_units::Span;

const MIX: &str = "
title = 'mix'
duration = '3ms'
drain = '50ms'
topology = { kind = 'fat-tree', k = 4, rate = '10Gbps', rtt = '40us' }
switch = { buffer = '20pkt', mark_above = '10pkt' }
[[traffic]]
kind = 'poisson'
sizes = { kind = 'pareto', shape = 1.2, mean = '50KB', max = '1MB' }
load = 0.5
[[traffic]]
kind = 'incast'
flows = 15
sizes = { kind = 'fixed', value = '30KB' }
to = 3
";

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "test", &[], &|_| Err("no file".to_owned())).unwrap()
}

/// The digest of a run of the mix with `more`, and how many paths were kept.
fn digest(scheme: &str, more: &str, paths: bool, fetch: bool) -> (String, usize) {
    let (scenario, scheme) = (scenario(&format!("{MIX}{more}")), Scheme::named(scheme, &[]).unwrap());
    let way = Way { cores: 1, by_node: false, paths, fetch };
    let mut world =
        World::new((&scenario, &scheme), 1, &Division::of(way, &scenario, &scheme, false).unwrap()).unwrap();
    world.run(&mut Unattended).unwrap();
    assert_eq!(world.check(), Ok(()));
    let kept = world.network.paths_kept();
    (world.finish().digest(), kept)
}

/// All four ways of running it; how many paths were kept where they may be.
fn all_alike(scheme: &str, more: &str) -> usize {
    let (plain, kept) = digest(scheme, more, false, false);
    assert_eq!(kept, 0, "{scheme} {more}");
    assert_eq!(digest(scheme, more, false, true), (plain.clone(), 0), "{scheme} {more}: fetching ahead");
    let (with_paths, kept) = digest(scheme, more, true, false);
    assert_eq!(with_paths, plain, "{scheme} {more}: paths");
    assert_eq!(digest(scheme, more, true, true), (plain, kept), "{scheme} {more}: both");
    kept
}

#[test]
fn runs_are_the_same_with_paths_and_fetching_ahead_and_without() {
    for scheme in ["tcp", "dctcp", "pfabric", "pfabric-minimal", "swift", "dcqcn"] {
        assert!(all_alike(scheme, "") > 5, "{scheme}");
    }
    assert!(all_alike("tcp", "[routing]\nkind = 'destination'\n") > 5);
    assert!(all_alike("tcp", "[faults]\nloss = 0.01\nreorder = 0.05\nreorder_delay = '20us'\n") > 5);
}

/// No path is kept then.
#[test]
fn where_links_fail_packets_are_routed_one_by_one() {
    let outage = "[faults]\nlinks = ['edge0-agg0']\ndown_at = '1ms'\nup_at = '2ms'\n";
    assert_eq!(all_alike("tcp", outage), 0);
}

/// Packets of a connection may take several paths, but for connections within a rack.
#[test]
fn sprayed_packets_and_flowlets_are_routed_one_by_one() {
    for kind in ["spray", "flowlet"] {
        let kept = all_alike("tcp", &format!("[routing]\nkind = '{kind}'\n"));
        assert!(kept < all_alike("tcp", ""), "{kind}");
    }
}

/// The run in order of time, and what it gives node by node: with fetching ahead and without, and in several parts.
fn by_time_and_by_node(scenario: &Scenario, scheme: &Scheme) -> (Outcome, Vec<Outcome>) {
    let run = |cores, by_node, fetch| {
        let way = Way { cores, by_node, paths: true, fetch };
        run_in(way, scenario, scheme, 1, &mut Unattended).unwrap().unwrap()
    };
    let by_node = [(1, false), (1, true), (2, false), (3, false)];
    (run(1, false, false), by_node.map(|(cores, fetch)| run(cores, true, fetch)).into())
}

/// Samples, timers and flows that start and end are all there.
#[test]
fn every_scheme_gives_the_same_node_by_node() {
    let text = MIX.replace("'3ms'", "'1ms'") + "[measure]\nsample_every = '130us'\n";
    for scheme in schemes() {
        let (by_time, by_node) =
            by_time_and_by_node(&scenario(&text), &Scheme::named(&scheme.name, &[]).unwrap());
        assert!(by_time.flows.iter().any(|flow| flow.finish.is_some()), "{}", scheme.name);
        for other in by_node {
            assert_eq!(other.counters, by_time.counters, "{}", scheme.name);
            assert_eq!((other.end, other.digest()), (by_time.end, by_time.digest()), "{}", scheme.name);
        }
    }
}

/// Small networks are not simulated node by node, nor those with short links, or where flows or samples come all the time,
/// or where one random number decides about packets at several nodes.
#[test]
fn networks_are_simulated_node_by_node_where_that_pays() {
    let text = "title = 'any'\nduration = '3ms'\n\
        topology = { kind = 'fat-tree', k = 8, rate = '10Gbps', rtt = '120us' }\n\
        switch = { buffer = '250pkt', mark_above = '65pkt' }\n[measure]\nsample_every = '1ms'\n\
        [[traffic]]\nkind = 'poisson'\nsizes = { kind = 'fixed', value = '1MB' }\nload = 0.5\npattern = 'all-to-all'\n";
    let dctcp = Scheme::named("dctcp", &[]).unwrap();
    let apart = |from: &str, to: &str| {
        assert!(text.contains(from));
        Division::new(&scenario(&text.replace(from, to)), &dctcp, 1, false).apart
    };
    assert_eq!(apart("", ""), Some(Span::from_micros(10)));
    assert_eq!(apart("k = 8", "k = 4"), None);
    assert_eq!(apart("120us", "1us"), None);
    assert_eq!(apart("1MB", "10KB"), None);
    assert_eq!(apart("'1ms'", "'1us'"), None);
    assert_eq!(apart("[measure]", "[faults]\nloss = 0.01\n[measure]"), None);
    assert_eq!(apart("[measure]", "[routing]\nkind = 'spray'\n[measure]"), None);
    assert_eq!(Division::new(&scenario(text), &dctcp, 1, true).apart, None, "packets are watched");
    let from = "'3ms'\ntopology = { kind = 'fat-tree', k = 8, rate = '10Gbps', rtt = '120us' }";
    let short = |rtt: &str| from.replace("3ms", "1us").replace("10Gbps", "20000Tbps").replace("120us", rtt);
    assert_eq!(apart(from, &short("24ps")), Some(Span::from_ps(2)));
    assert_eq!(apart(from, &short("12ps")), None);
}

/// A timer may come after its connection, to the host of another that has its slot now.
#[test]
fn timers_of_earlier_connections_change_nothing() {
    let text = "title = 'short'\nduration = '10ms'\n\
        topology = { kind = 'leaf-spine', racks = 4, hosts_per_rack = 4, spines = 2, rate = '10Gbps', uplink_rate = '40Gbps', rtt = '16us' }\n\
        switch = { buffer = '250pkt', mark_above = '65pkt' }\ntcp = { rto_min = '200us' }\n\
        [[traffic]]\nkind = 'poisson'\nsizes = { kind = 'pareto', shape = 1.2, mean = '20KB', max = '300KB' }\nload = 0.8\n";
    for scheme in ["dcqcn", "swift", "pecn"] {
        let scheme = Scheme::named(scheme, &[]).unwrap();
        let (by_time, by_node) = by_time_and_by_node(&scenario(text), &scheme);
        by_node.iter().for_each(|other| assert_eq!(other.digest(), by_time.digest(), "{}", scheme.name));
    }
}

/// Packets that are late on the way from a host are looked at where they arrive, and the memory that a switch shares makes
/// every port special.
#[test]
fn jitter_and_shared_memory_are_the_same_node_by_node() {
    let text = "title = 'late'\nduration = '2ms'\ndrain = '20ms'\n\
        topology = { kind = 'leaf-spine', racks = 4, hosts_per_rack = 4, spines = 2, rate = '10Gbps', uplink_rate = '40Gbps', rtt = '80us' }\n\
        switch = { buffer = 'unlimited', memory = '60pkt', mark_above = '10pkt' }\n\
        host = { jitter = '5us', buffer = '20pkt' }\n\
        [[traffic]]\nkind = 'poisson'\nsizes = { kind = 'fixed', value = '60KB' }\nload = 0.7\n";
    for scheme in ["tcp", "dctcp"] {
        let scheme = Scheme::named(scheme, &[]).unwrap();
        let (by_time, by_node) = by_time_and_by_node(&scenario(text), &scheme);
        assert!(by_time.counters.packets_dropped > 0 || by_time.ports.iter().any(|port| port.marks > 0));
        by_node.iter().for_each(|other| assert_eq!(other.digest(), by_time.digest(), "{}", scheme.name));
    }
}
