//! The links of all kinds of topology.

use super::testing::{graph, links, read};
use shortflow_units::HostId;

/// Links in order, grouped by rate and delay, then the rack of each host, and the tiers.
fn described(table: &str) -> String {
    let (graph, mut text, mut last) = (graph(table), String::new(), String::new());
    for (link, name) in graph.links.iter().zip(links(&graph)) {
        let kind = format!(" ({} {})", link.rate, link.delay);
        if !last.is_empty() && last != kind {
            text += &last;
        }
        text += &format!(" {name}");
        last = kind;
    }
    let racks = (0..graph.hosts()).map(|host| graph.rack(HostId::from(host)).to_string());
    let racks = racks.collect::<Vec<_>>().join(" ");
    let tiers =
        if graph.tiers.is_empty() { String::new() } else { format!("; tiers {}", graph.tiers.join(" ")) };
    format!("{text}{last}; racks {racks}{tiers}").trim_start().to_owned()
}

#[test]
fn links_of_small_networks() {
    for (table, expected) in [
        ("kind='star'\nhosts=3\nrate='1Gbps'\nrtt='300us'", "h0-s0 h1-s0 h2-s0 (1Gbps 75us); racks 0 0 0"),
        (
            "kind='single-rooted-tree'\nhosts=2\nrate='1Gbps'\nrtt='240us'",
            "h0-s0 h1-s0 (1Gbps 60us); racks 0 0",
        ),
        (
            "kind='single-rooted-tree'\nhosts=6\nracks=2\nuplink_rate='10Gbps'\nrate='1Gbps'\nrtt='240us'",
            "h0-tor0 h1-tor0 h2-tor0 h3-tor1 h4-tor1 h5-tor1 (1Gbps 30us) tor0-root0 tor1-root0 (10Gbps 30us); racks 0 0 0 1 1 1; tiers tor root",
        ),
        (
            "kind='dumbbell'\npairs=2\nbottleneck='1Gbps'\nrate='10Gbps'\nrtt='300us'",
            "h0-s0 h1-s0 h2-s1 h3-s1 (10Gbps 50us) s0-s1 (1Gbps 50us); racks 0 0 1 1",
        ),
        (
            "kind='chain'\nhops=2\nhosts_per_switch=1\nrate='1Gbps'\nrtt='160us'",
            "h0-s0 h1-s1 h2-s2 s0-s1 s1-s2 (1Gbps 20us); racks 0 1 2",
        ),
        // The chain of ATCP.
        (
            "kind='chain'\nhops=4\nhosts_per_switch=2\nrate='100Mbps'\ntrunk_delay='50us'\nrtt='440us'",
            "h0-s0 h1-s0 h2-s1 h3-s1 h4-s2 h5-s2 h6-s3 h7-s3 h8-s4 h9-s4 (100Mbps 10us) s0-s1 s1-s2 s2-s3 s3-s4 (100Mbps 50us); racks 0 0 1 1 2 2 3 3 4 4",
        ),
        (
            "kind='parking-lot'\nsenders=1\nfirst_bottleneck='10Gbps'\nsecond_bottleneck='1Gbps'\nrate='1Gbps'\nrtt='300us'",
            "h0-s0 h1-s0 h2-s1 h3-s1 h4-s2 (1Gbps 37.5us) s0-s1 (10Gbps 37.5us) s1-s2 (1Gbps 37.5us); racks 0 0 1 1 2; tiers first second last",
        ),
        (
            "kind='two-tier-tree'\nracks=2\nhosts_per_rack=2\noversubscription=4\nuplink_delay='10us'\nrate='1Gbps'\nrtt='200us'",
            "h0-tor0 h1-tor0 h2-tor1 h3-tor1 (1Gbps 40us) tor0-core0 tor1-core0 (500Mbps 10us); racks 0 0 1 1; tiers tor core",
        ),
        (
            "kind='leaf-spine'\nracks=3\nhosts_per_rack=1\nspines=2\noversubscription=0.25\nrate='10Gbps'\nrtt='80us'",
            "h0-leaf0 h1-leaf1 h2-leaf2 (10Gbps 10us) leaf0-spine0 leaf0-spine1 leaf1-spine0 leaf1-spine1 leaf2-spine0 leaf2-spine1 (20Gbps 10us); racks 0 1 2; tiers leaf spine",
        ),
        (
            "kind='fat-tree'\nk=2\nuplink_rate='40Gbps'\ncore_delay='15us'\nrate='10Gbps'\nrtt='120us'",
            "h0-edge0 h1-edge1 (10Gbps 7.5us) edge0-agg0 edge1-agg1 (40Gbps 7.5us) agg0-core0 agg1-core0 (40Gbps 15us); racks 0 1; tiers edge agg core",
        ),
    ] {
        assert_eq!(described(table), expected, "{table}");
    }
}

#[test]
fn notes_state_derived_values() {
    let note = |table: &str| read(table).unwrap().note().unwrap();
    let leaf_spine = "kind='leaf-spine'\nracks=3\nhosts_per_rack=1\nspines=2\nrate='10Gbps'\noversubscription=0.25\nrtt='80us'";
    let told = "3 racks of 1 hosts, each 1 x 10Gbps down and 2 x 20Gbps up: oversubscription 0.25";
    assert_eq!(note(leaf_spine), told);
    let fat_tree = note("kind='fat-tree'\nk=16\nrate='10Gbps'\nrtt='120us'");
    assert_eq!(fat_tree, "1024 hosts and 320 switches in 16 pods");
    for racks in [5, 18] {
        let told = note(&format!(
            "kind='two-tier-tree'\nracks={racks}\nhosts_per_rack=20\nrate='1Gbps'\nuplink_rate='10Gbps'\nrtt='200us'"
        ));
        assert!(told.ends_with("20 x 1Gbps down and 1 x 10Gbps up: oversubscription 2"), "{told}");
    }
}
