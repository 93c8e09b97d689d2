//! Networks from files, and all ways in which a file can be wrong.

use crate::topology::Graph;
use crate::topology::testing::{links, read_with};
use shortflow_units::{HostId, NodeId, Span};

const CSV: &str = "kind = \"explicit\"\nfile = \"net.csv\"\n";
const XML: &str = "kind = \"explicit\"\nfile = \"net.graphml\"\n";

const SQUARE: &str = "a,b,rate,delay
# racks
h10,s0,1Gbps,5us
h2,s1,1Gbps,5us
s0,s2,10Gbps,0.00001

s1,s2,1e10,10us
s0,s3,10Gbps,10us
s3,s1,10Gbps,10us
";

fn graph(table: &str, file: &str) -> Graph {
    read_with(table, file).unwrap_or_else(|error| panic!("{error}")).build()
}

#[test]
fn an_edge_list_names_nodes_rates_and_delays() {
    let graph = graph(CSV, SQUARE);
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["h2", "h10", "s0", "s1", "s2", "s3"]);
    assert_eq!(links(&graph), ["h10-s0", "h2-s1", "s0-s2", "s1-s2", "s0-s3", "s3-s1"]);
    assert_eq!(graph.links[2].delay, Span::from_micros(10));
    assert_eq!(graph.links[3].rate, "10Gbps".parse().unwrap());
    assert_eq!([0, 1].map(|host| graph.rack(HostId(host))), [1, 0]);
    assert_eq!(graph.node_named("h10"), Some(NodeId(1)));
    let note = read_with(CSV, SQUARE).unwrap().note().unwrap();
    assert_eq!(note, "2 hosts (h2 to h10), 4 switches, 6 links (1Gbps to 10Gbps, 5us to 10us)");
}

#[test]
fn rates_and_delays_may_be_left_to_the_scenario() {
    let table = format!("{CSV}rate = \"1Gbps\"\ndelay = \"3us\"\n");
    let graph = graph(&table, "a,b\nh0,s0\nh1,s0\n");
    assert!(graph.links.iter().all(|link| link.delay == Span::from_micros(3)));
}

const GRAPHML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="rate" attr.type="string"><default>10Gbps</default></key>
  <key id="d1" for="edge" attr.name="delay" attr.type="double"/>
  <key id="d2" for="node" attr.name="kind" attr.type="string"/>
  <key id="d3" for="node" attr.name="tier" attr.type="string"/>
  <key id="d4" for="node" attr.name="label" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="web"><data key="d2">host</data><data key="d4">Web server</data></node>
    <node id="h1"/>
    <node id="leaf"><data key="d2">switch</data><data key="d3">tor</data></node>
    <edge source="web" target="leaf"><data key="d0">1Gbps</data><data key="d1">0.000005</data></edge>
    <edge source="h1" target="leaf"><data key="d1">5us</data></edge>
  </graph>
</graphml>
"#;

#[test]
fn graphml_has_the_same_in_attributes() {
    let graph = graph(XML, GRAPHML);
    assert_eq!(links(&graph), ["web-leaf", "h1-leaf"]);
    assert_eq!(graph.node_named("web"), Some(NodeId(1)));
    assert_eq!(graph.tier(graph.node_named("leaf").unwrap()), Some(0));
    assert_eq!(graph.links[0].rate, "1Gbps".parse().unwrap());
    assert_eq!(graph.links[1].rate, "10Gbps".parse().unwrap());
    assert_eq!(graph.links[0].delay, graph.links[1].delay);
}
