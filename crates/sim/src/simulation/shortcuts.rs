//! What is worked out or fetched ahead saves time and changes nothing: the same outcomes with it and without, in a network
//! of twenty switches with equal paths, drops, and connections whose slots are used again.

use super::Unattended;
use super::world::World;
use crate::scenario::Scenario;
use crate::scheme::Scheme;

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

/// The digest of a run of the mix with `more`, and how many paths were kept.
fn digest(scheme: &str, more: &str, paths: bool, fetch: bool) -> (String, usize) {
    let scenario =
        Scenario::parse(&format!("{MIX}{more}"), "test", &[], &|_| Err("no file".to_owned())).unwrap();
    let scheme = Scheme::named(scheme, &[]).unwrap();
    let mut world = World::new(&scenario, &scheme, 1).unwrap();
    world.network.take_shortcuts(paths, fetch);
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
