//! GraphML (graphml.graphdrawing.org): nodes with `kind` (host or switch) and `tier`, edges with `rate`
//! and `delay`. Other data, such as labels and positions, is not looked at.

use super::LinkDefaults;
use super::plan::{LinkRow, NodeRow, Plan, is_host};
use crate::config::{ConfigError, RowError};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// Reads nodes and links.
pub(super) fn read(file: &str, text: &str, defaults: LinkDefaults) -> Result<Plan, ConfigError> {
    let fail =
        |line: u64, reason: String| ConfigError::File(vec![RowError { file: file.to_owned(), line, reason }]);
    let document = Document::parse(text).map_err(|error| {
        let line = u64::from(error.pos().row);
        fail(line, format!("not XML: {error}"))
    })?;
    let lines = Lines::new(text);
    let root = document.root_element();
    let graphs: Vec<Node> = elements(root).filter(|node| is(*node, "graph")).collect();
    let &[graph] = graphs.as_slice() else {
        let reason = format!(
            "{} <graph> elements in <{}>; expected one in <graphml>",
            graphs.len(),
            root.tag_name().name()
        );
        return Err(fail(lines.of(root), reason));
    };
    let data = Data::new(root);
    let mut plan = Plan {
        file: file.to_owned(),
        node_file: file.to_owned(),
        implied: false,
        nodes: vec![],
        links: vec![],
    };
    let mut errors = Vec::new();
    if graph.attribute("edgedefault") == Some("directed") {
        let reason =
            "edgedefault is \"directed\", but links go both ways; expected \"undirected\"".to_owned();
        errors.push(RowError { file: file.to_owned(), line: lines.of(graph), reason });
    }
    for element in elements(graph) {
        if let Err(reason) = plan.add(element, lines.of(element), &data, defaults) {
            errors.push(RowError { file: file.to_owned(), line: lines.of(element), reason });
        }
    }
    if errors.is_empty() { Ok(plan) } else { Err(ConfigError::File(errors)) }
}

impl Plan {
    fn add(&mut self, element: Node, line: u64, data: &Data, defaults: LinkDefaults) -> Result<(), String> {
        let attribute = |name: &str| {
            let text = element.attribute(name).map(|text| text.trim().to_owned());
            text.ok_or_else(|| format!("<{}> without {name}", element.tag_name().name()))
        };
        match element.tag_name().name() {
            "node" => {
                let name = attribute("id")?;
                let is_host = is_host(data.of(element, "kind"), &name)?;
                let tier = Some(data.of(element, "tier")).filter(|tier| !tier.is_empty()).map(str::to_owned);
                self.nodes.push(NodeRow { line, name, is_host, tier });
            }
            "edge" => {
                let ends = [attribute("source")?, attribute("target")?];
                let rate = defaults.rate(data.of(element, "rate"))?;
                let delay = defaults.delay(data.of(element, "delay"))?;
                self.links.push(LinkRow { line, ends, rate, delay });
            }
            "data" | "desc" => {}
            other => return Err(format!("<{other}> is not supported; expected <node> and <edge>")),
        }
        Ok(())
    }
}

/// Attributes of nodes or edges by key id, and their default values.
struct Data<'a> {
    keys: BTreeMap<&'a str, &'a str>,
    defaults: BTreeMap<(&'a str, &'a str), &'a str>,
}

impl<'a> Data<'a> {
    fn new(root: Node<'a, 'a>) -> Data<'a> {
        let mut data = Data { keys: BTreeMap::new(), defaults: BTreeMap::new() };
        for key in elements(root).filter(|node| is(*node, "key")) {
            let (Some(id), Some(name)) = (key.attribute("id"), key.attribute("attr.name")) else { continue };
            data.keys.insert(id, name);
            let value = elements(key).find(|node| is(*node, "default")).and_then(|node| node.text());
            for of in [key.attribute("for").unwrap_or("all")].into_iter().flat_map(kinds) {
                value.and_then(|value| data.defaults.insert((*of, name), value.trim()));
            }
        }
        data
    }

    /// The attribute `name` of a node or an edge; empty if it has none.
    fn of(&self, element: Node<'a, 'a>, name: &str) -> &'a str {
        let named = |data: &Node| {
            is(*data, "data") && data.attribute("key").and_then(|id| self.keys.get(id)) == Some(&name)
        };
        let value = elements(element).find(named).map(|data| data.text().unwrap_or("").trim());
        let default = || self.defaults.get(&(element.tag_name().name(), name)).copied();
        value.or_else(default).unwrap_or("")
    }
}

/// Elements to which a key for `of` applies.
fn kinds(of: &str) -> &'static [&'static str] {
    match of {
        "node" => &["node"],
        "edge" => &["edge"],
        _ => &["node", "edge"],
    }
}

fn elements<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(|child| child.is_element())
}

fn is(node: Node, name: &str) -> bool {
    node.tag_name().name() == name
}

/// Line ends of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line, from 1, on which an element begins.
    fn of(&self, node: Node) -> u64 {
        self.0.partition_point(|end| *end < node.range().start) as u64 + 1
    }
}
