//! A user's own network, from a file: an edge list (CSV) or GraphML.
//!
//! Paths are shortest paths in number of links, and connections spread over equal paths. The height of a
//! switch is its distance in links to the nearest host, so the order of rows has no effect.

mod edge_list;
mod graphml;
mod link_defaults;
mod plan;
#[cfg(test)]
mod tests;
mod unread;

use super::{Graph, Topology};
use crate::config::{ANY_TIME, ConfigError, Kind, RATE, Reader, Text, keys};
use link_defaults::{From, LinkDefaults};
use plan::Plan;
use shortflow_spec::counted;
use shortflow_units::{NodeId, Rate, Span};
use std::fmt::Display;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "explicit",
    summary: "nodes and links from a file: an edge list a,b,rate,delay (.csv) or GraphML (.graphml, .xml)",
    source: "",
    parameters: ExplicitKeys::parameters,
    read,
};

keys! {
    /// Keys for files and defaults.
    struct ExplicitKeys {
        /// file with the links: a .csv file with the header a,b,rate,delay, or a .graphml or .xml file; relative to the
        /// scenario
        file: String = required, Text::NetworkFile;
        /// file with the nodes of an edge list: a .csv file with the header name,kind[,tier], where kind is host or
        /// switch; unless given, the ends of links are the nodes, and nodes whose name begins with h are hosts
        node_file: Option<String> = optional, Text::NodeFile;
        /// rate of links without a rate in the file
        rate: Option<Rate> = optional, RATE, acts: links_without_rate;
        /// one-way delay of links without a delay in the file
        delay: Option<Span> = optional, ANY_TIME, acts: links_without_delay;
    }
}

#[derive(Debug)]
struct Explicit {
    graph: Graph,
    warnings: Vec<String>,
}

impl Topology for Explicit {
    fn build(&self) -> Graph {
        self.graph.clone()
    }

    fn note(&self) -> Option<String> {
        let graph = &self.graph;
        let (hosts, switches) = (graph.hosts(), graph.nodes.len() - graph.hosts());
        let ends = [0, hosts - 1].map(|host| graph.name(NodeId::from(host)));
        let links = graph.links.len();
        let rates = range(graph.links.iter().map(|link| link.rate));
        let delays = range(graph.links.iter().map(|link| link.delay));
        Some(format!(
            "{hosts} hosts ({} to {}), {switches} {}, {} ({rates}, {delays})",
            ends[0],
            ends[1],
            if switches == 1 { "switch" } else { "switches" },
            counted(links, "link")
        ))
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// Smallest and largest of some values, as text.
fn range<T: Ord + Display>(values: impl Iterator<Item = T> + Clone) -> String {
    match values.clone().min().zip(values.max()) {
        Some((least, most)) if least < most => format!("{least} to {most}"),
        Some((only, _)) => only.to_string(),
        None => String::new(),
    }
}

fn read(reader: &Reader) -> Result<Box<dyn Topology>, ConfigError> {
    let keys = ExplicitKeys::read(reader)?;
    let text = reader.file("file", &keys.file)?;
    let mut plan = plan_of(reader, &keys, &text)?;
    let is_open = |from: From| from == From::Scenario;
    reader.fact("links_without_rate", plan.links.iter().any(|link| is_open(link.rate.from)));
    reader.fact("links_without_delay", plan.links.iter().any(|link| is_open(link.delay.from)));
    let graph = plan.graph().map_err(|error| unread::explained(error, &plan))?;
    Ok(Box::new(Explicit { graph, warnings: unread::warnings(&plan) }))
}

/// Nodes and links in the file's text.
fn plan_of(reader: &Reader, keys: &ExplicitKeys, text: &str) -> Result<Plan, ConfigError> {
    let defaults = LinkDefaults { rate: keys.rate, delay: keys.delay };
    match keys.file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("csv") => {
            let nodes = match &keys.node_file {
                None => None,
                Some(name) => Some((name.as_str(), reader.file("node_file", name)?)),
            };
            edge_list::read((&keys.file, text), nodes, defaults)
        }
        Some("graphml" | "xml") if keys.node_file.is_none() => graphml::read(&keys.file, text, defaults),
        Some("graphml" | "xml") => {
            Err(reader.impossible("node_file", "GraphML has its nodes in the same file"))
        }
        _ => Err(reader.bad("file", &Text::NetworkFile.to_string())),
    }
}
