//! Topologies for tests, from the text of their table.

use super::{Graph, Topology};
use crate::config::{Document, Reader};

/// Reads a table. All files that it names have the text `file`.
pub(super) fn read_with(table: &str, file: &str) -> Result<Box<dyn Topology>, String> {
    let files = |_: &str| Ok(file.to_owned());
    let document = Document::parse(table, "test", &[], &[], &files).map_err(|error| error.to_string())?;
    super::read(&Reader::new(&document)).map_err(|error| error.to_string())
}

/// Reads a table.
pub(super) fn read(table: &str) -> Result<Box<dyn Topology>, String> {
    read_with(table, "")
}

/// Builds the network of a valid table.
pub(super) fn graph(table: &str) -> Graph {
    read(table).unwrap_or_else(|error| panic!("{error}")).build()
}

/// Names of all links, as "a-b".
pub(super) fn links(graph: &Graph) -> Vec<String> {
    graph.links.iter().map(|link| format!("{}-{}", graph.name(link.a), graph.name(link.b))).collect()
}
