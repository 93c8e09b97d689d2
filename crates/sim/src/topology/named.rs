//! Links and ports as scenarios name them.

use super::Graph;
use crate::config::{ConfigError, Reader};
use shortflow_spec::{hint, nearest};
use shortflow_units::NodeId;

/// The link called `name`, by the names of its ends in either order, that `key` asks for.
pub(crate) fn find_link(name: &str, key: &str, graph: &Graph, reader: &Reader) -> Result<usize, ConfigError> {
    let links = graph.links.iter().map(|link| (graph.name(link.a), graph.name(link.b)));
    let names: Vec<String> = links.flat_map(|(a, b)| [format!("{a}-{b}"), format!("{b}-{a}")]).collect();
    names.iter().position(|known| known == name).map(|i| i / 2).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let hint = match nearest(name, &known) {
            Some(link) => format!("did you mean {link:?}?"),
            None => format!("links are called like {:?}", known.first().unwrap_or(&"s0-h0")),
        };
        reader.impossible(key, format!("there is no link {name:?}; {hint}"))
    })
}

/// The port called `name` that `key` asks for, as (sending node, receiving node).
pub(crate) fn find_port(
    name: &str,
    key: &str,
    graph: &Graph,
    reader: &Reader,
) -> Result<(NodeId, NodeId), ConfigError> {
    let ends = name.split_once("->").map(|(from, to)| (from.trim(), to.trim()));
    let (from, to) =
        ends.ok_or_else(|| reader.impossible(key, format!("{name:?} is not a port such as \"s0->h22\"")))?;
    let node = |name: &str| {
        graph.node_named(name).ok_or_else(|| {
            let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
            let hint = match names.len() {
                0..=30 => hint(name, &names),
                _ => format!("names go from {} to {}", names[0], names[names.len() - 1]),
            };
            reader.impossible(key, format!("there is no node {name:?}; {hint}"))
        })
    };
    let port = (node(from)?, node(to)?);
    if graph.linked(port.0, port.1) {
        return Ok(port);
    }
    Err(reader.impossible(key, format!("no link leads from {from} to {to}")))
}
