//! Networks from files, and every way in which the files can be wrong.

use crate::topology::Graph;
use crate::topology::testing::{links, read, read_with};
use shortflow_units::{HostId, Span};

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

fn error(table: &str, file: &str) -> String {
    read_with(table, file).map(|topology| format!("{topology:?}")).unwrap_err()
}

/// The square with `row` at its end, which is line 10.
fn with(row: &str) -> String {
    error(CSV, &format!("{SQUARE}{row}\n"))
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
    assert_eq!(graph.host_named("h10"), Some(HostId(1)));
    let note = read_with(CSV, SQUARE).unwrap().note().unwrap();
    assert_eq!(note, "2 hosts (h2 to h10), 4 switches, 6 links");
}

#[test]
fn rates_and_delays_may_be_left_to_the_scenario() {
    let table = format!("{CSV}rate = \"1Gbps\"\ndelay = \"3us\"\n");
    let graph = graph(&table, "a,b\nh0,s0\nh1,s0\n");
    assert!(graph.links.iter().all(|link| link.delay == Span::from_micros(3)));
    let missing = error(CSV, "a,b,rate,delay\nh0,s0,,1us\nh1,s0,1Gbps,\n");
    assert_eq!(
        missing,
        "net.csv:2: rate: missing, and the scenario has no topology.rate for such links\n\
         net.csv:3: delay: missing, and the scenario has no topology.delay for such links"
    );
}

#[test]
fn a_malformed_row_is_named_with_its_line() {
    assert_eq!(with("s3,s3,1Gbps,5us"), "net.csv:10: \"s3\" is linked to itself");
    assert_eq!(with("s1,s3,1Gbps,5us"), "net.csv:10: the link s1-s3 is already given in line 9");
    assert_eq!(
        with("h10,s1,1Gbps,5us"),
        "net.csv:10: host \"h10\" has one link; its is already given in line 3"
    );
    assert_eq!(with("h10,h2,1Gbps,5us"), "net.csv:10: h10-h2 joins two hosts; a host is linked to a switch");
    assert_eq!(with("h3,s1,1Gbps"), "net.csv:10: 3 columns, but the header has 4");
    assert!(with("h3,s1,0Gbps,5us").starts_with("net.csv:10: rate: \"0Gbps\" is not a positive rate"));
    assert!(with("h3,s1,0,5us").starts_with("net.csv:10: rate: \"0\" is not a positive rate"));
    assert!(with("h3,s1,1Gbps,-5us").starts_with("net.csv:10: delay: \"-5us\" is not a number of seconds"));
    assert_eq!(with(",s1,1Gbps,5us"), "net.csv:10: \"\" is not a name: it is empty or contains \"->\"");
}

#[test]
fn every_pair_of_hosts_needs_a_path() {
    assert_eq!(
        with("h3,s9,1Gbps,5us"),
        "net.csv:10: there is no path from h2 to h3\n\
        net.csv:10: switch \"s9\" has no other link: a dead end, or a misspelt name"
    );
    assert_eq!(
        with("s1,s33,1Gbps,5us"),
        "net.csv:10: switch \"s33\" has no other link: a dead end, or a misspelt name"
    );
    let few = error(CSV, "a,b,rate,delay\nh0,s0,1Gbps,5us\n");
    assert_eq!(few, "net.csv: 1 hosts; expected 2 to 100000; hosts are the nodes whose name begins with h");
}

#[test]
fn headers_are_fixed() {
    assert_eq!(error(CSV, ""), "net.csv: empty; expected the header a,b,rate,delay");
    assert_eq!(error(CSV, "a,b,rate,delay\n"), "net.csv: no row after the header");
    let wrong = error(CSV, "from,to,rate,delay\nh0,s0,1Gbps,1us\n");
    assert_eq!(wrong, "net.csv:1: expected the header a,b,rate,delay");
    assert!(read("kind = \"explicit\"\nfile = \"net.json\"").is_err());
}

#[test]
fn nodes_may_have_a_file_with_kinds_and_tiers() {
    let links = "a,b,rate,delay\nweb,s0,1Gbps,1us\ndb,s0,1Gbps,1us\n";
    let nodes = "name,kind,tier\nweb,host,\ndb,host,\ns0,switch,tor\n";
    let plan = |nodes: &str, links: &str| {
        super::edge_list::read(
            ("net.csv", links),
            Some(("nodes.csv", nodes.to_owned())),
            super::LinkDefaults::default(),
        )
        .and_then(super::plan::Plan::graph)
        .map_err(|error| error.to_string())
    };
    let graph = plan(nodes, links).unwrap();
    assert_eq!((graph.hosts(), graph.tiers.as_slice()), (2, ["tor".to_owned()].as_slice()));
    let wrong = |nodes: &str| plan(nodes, links).unwrap_err();
    assert_eq!(
        wrong("name,kind\nweb,host\ndb,host\nsw0,switch\n"),
        "net.csv:2: unknown node \"s0\"; known are db, web, sw0\nnet.csv:3: unknown node \"s0\"; known are db, web, sw0"
    );
    assert_eq!(
        wrong(&format!("{nodes}web,host,\n")),
        "nodes.csv:5: node \"web\" is listed twice, first in line 2"
    );
    assert_eq!(
        wrong(&format!("{nodes}x,router,\n")),
        "nodes.csv:5: kind: \"router\" is not one of host, switch"
    );
    assert_eq!(wrong(&format!("{nodes}x,host,\n")), "nodes.csv:5: host \"x\" has no link");
    assert_eq!(
        wrong(&format!("{nodes}x,switch,buffer\n")),
        "nodes.csv:5: tier: \"buffer\" is a key of [switch]"
    );
    assert!(
        wrong(&format!("{nodes}x,switch,My tier\n"))
            .starts_with("nodes.csv:5: tier: \"My tier\" is not a name")
    );
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
    assert_eq!(graph.host_named("web"), Some(HostId(1)));
    assert_eq!(graph.tier(graph.node_named("leaf").unwrap()), Some(0));
    assert_eq!(graph.links[0].rate, "1Gbps".parse().unwrap());
    assert_eq!(graph.links[1].rate, "10Gbps".parse().unwrap());
    assert_eq!(graph.links[0].delay, graph.links[1].delay);
}

#[test]
fn malformed_graphml_is_named_with_its_line() {
    let with = |old: &str, new: &str| error(XML, &GRAPHML.replace(old, new));
    assert_eq!(
        with("target=\"leaf\"><data key=\"d1\"", "target=\"laef\"><data key=\"d1\""),
        "net.graphml:13: unknown node \"laef\"; did you mean \"leaf\"?"
    );
    assert!(with("</graph>\n", "").starts_with("net.graphml:14: not XML: "), "{}", with("</graph>\n", ""));
    assert!(error(XML, "a,b\n").starts_with("net.graphml:1: not XML: "));
    assert!(with(">1Gbps<", ">0<").starts_with("net.graphml:12: rate: \"0\" is not a positive rate"));
    assert_eq!(with(">host<", ">router<"), "net.graphml:9: kind: \"router\" is not one of host, switch");
    assert_eq!(
        with(" target=\"leaf\"><data key=\"d0\"", "><data key=\"d0\""),
        "net.graphml:12: <edge> without target"
    );
    assert_eq!(
        with("<edge source=\"h1\"", "<hyperedge/><edge source=\"h1\""),
        "net.graphml:13: <hyperedge> is not supported; expected <node> and <edge>"
    );
    assert!(with("undirected", "directed").starts_with("net.graphml:8: edgedefault is \"directed\""));
    assert!(with("graph edgedefault", "grph edgedefault").starts_with("net.graphml:1"));
    assert_eq!(
        error(XML, "<graphml/>"),
        "net.graphml:1: 0 <graph> elements in <graphml>; expected one in <graphml>"
    );
    let node_file = error(&format!("{XML}node_file = \"nodes.csv\"\n"), GRAPHML);
    assert_eq!(node_file, "node_file: GraphML has its nodes in the same file");
}
