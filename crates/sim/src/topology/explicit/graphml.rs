//! GraphML (graphml.graphdrawing.org): nodes with attributes `kind` (host or switch) and `tier`, edges with
//! `rate` and `delay`. Keeps the names of all other attributes, so that a note on a default can list the
//! ignored attributes.

use super::LinkDefaults;
use super::plan::{Kinds, LinkRow, NodeRow, Plan, is_host, looks_like_a_host};
use super::unread::{DELAY, Meaning, RATE};
use crate::config::{ConfigError, RowError};
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};

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
        kinds: Kinds::Attributes,
        nodes: vec![],
        links: vec![],
        unread: Default::default(),
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
                let kind = is_host(data.of(element, "kind"))?;
                let is_host = kind.unwrap_or_else(|| looks_like_a_host(&name));
                let tier = Some(data.of(element, "tier")).filter(|tier| !tier.is_empty()).map(str::to_owned);
                self.unread[0].extend(data.unread(element, &["kind", "tier"]));
                self.nodes.push(NodeRow { line, name, is_host, guessed: kind.is_none(), tier });
            }
            "edge" => {
                let ends = [attribute("source")?, attribute("target")?];
                let unread = data.unread(element, &["rate", "delay"]);
                let alike = |of: Meaning| {
                    let found = unread.iter().filter(|name| of.resembles(name));
                    found.map(|name| format!("; {}", of.advice(name))).collect::<String>()
                };
                let (rate, delay) = (data.of(element, "rate"), data.of(element, "delay"));
                let rate = defaults.rate(rate).map_err(|reason| reason + &alike(RATE))?;
                let delay = defaults.delay(delay).map_err(|reason| reason + &alike(DELAY))?;
                self.unread[1].extend(unread);
                self.links.push(LinkRow { line, ends, rate, delay });
            }
            "data" | "desc" => {}
            other => return Err(format!("<{other}> is not supported; expected <node> and <edge>")),
        }
        Ok(())
    }
}

/// Attributes of nodes and edges by key id, and their default values.
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

    /// Names of all attributes of a node or an edge except those in `read`. For data without a `<key>`, the
    /// key's id stands for the name.
    fn unread(&self, element: Node<'a, 'a>, read: &[&str]) -> BTreeSet<String> {
        let kind = element.tag_name().name();
        let ids = elements(element).filter(|data| is(*data, "data")).filter_map(|data| data.attribute("key"));
        let of_data = ids.map(|id| match self.keys.get(id) {
            Some(name) => (*name).to_owned(),
            None => format!("{id} (which has no <key>)"),
        });
        let of_defaults =
            self.defaults.keys().filter(|(of, _)| *of == kind).map(|(_, name)| (*name).to_owned());
        let written = element.attributes().filter(|of| of.namespace().is_none());
        let written = written.map(|of| of.name()).filter(|name| !OF_GRAPHML.contains(name));
        let written = written.map(|name| format!("{name} (in <{kind}> instead of <data>)"));
        let all = of_data.chain(of_defaults).chain(written);
        all.filter(|name| !read.contains(&name.as_str())).collect()
    }
}

/// Attributes that GraphML itself defines.
const OF_GRAPHML: [&str; 6] = ["id", "source", "target", "directed", "sourceport", "targetport"];

/// Kinds of elements to which a key with `for="of"` applies.
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

/// Positions of the line ends in a text.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// Number, from 1, of the line on which an element begins.
    fn of(&self, node: Node) -> u64 {
        self.0.partition_point(|end| *end < node.range().start) as u64 + 1
    }
}
