//! Edge lists: rows `a,b,rate,delay` for links, and optional rows `name,kind[,tier]` for nodes.

use super::LinkDefaults;
use super::plan::{Kinds, LinkRow, NodeRow, Plan, is_host, looks_like_a_host};
use crate::config::csv::{self, Row};
use crate::config::{ConfigError, RowError};
use std::collections::BTreeMap;

const LINK_COLUMNS: [&[&str]; 2] = [&["a", "b", "rate", "delay"], &["a", "b"]];
const NODE_COLUMNS: [&[&str]; 2] = [&["name", "kind", "tier"], &["name", "kind"]];

/// Reads links, and nodes if they have a file. A file is a pair of name and text.
pub(super) fn read(
    (file, text): (&str, &str),
    nodes: Option<(&str, String)>,
    defaults: LinkDefaults,
) -> Result<Plan, ConfigError> {
    let links = table(file, text, LINK_COLUMNS, |row| link(row, defaults))?;
    let (node_file, kinds) =
        nodes.as_ref().map_or((file, Kinds::Links), |(node_file, _)| (node_file, Kinds::NodeFile));
    let node_file = node_file.to_owned();
    let nodes = match nodes {
        Some((file, text)) => table(file, &text, NODE_COLUMNS, node)?,
        None => implied_nodes(&links),
    };
    Ok(Plan { file: file.to_owned(), node_file, kinds, nodes, links, unread: Default::default() })
}

/// The nodes that links name, in order of first mention.
fn implied_nodes(links: &[LinkRow]) -> Vec<NodeRow> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let ends = links.iter().flat_map(|link| link.ends.iter().map(move |name| (link.line, name)));
    let mut nodes = Vec::new();
    for (line, name) in ends {
        first.entry(name).or_insert_with(|| {
            let is_host = looks_like_a_host(name);
            nodes.push(NodeRow { line, name: name.clone(), is_host, guessed: true, tier: None });
            nodes.len()
        });
    }
    nodes
}

fn link(row: &Row, defaults: LinkDefaults) -> Result<LinkRow, String> {
    let text = |column: usize| row.fields.get(column).map_or("", String::as_str);
    let (rate, delay) = (defaults.rate(text(2))?, defaults.delay(text(3))?);
    Ok(LinkRow { line: row.line, ends: [text(0).to_owned(), text(1).to_owned()], rate, delay })
}

fn node(row: &Row) -> Result<NodeRow, String> {
    let text = |column: usize| row.fields.get(column).map_or("", String::as_str);
    let is_host = is_host(text(1))?.ok_or("kind: missing; expected host or switch")?;
    let tier = Some(text(2)).filter(|tier| !tier.is_empty()).map(str::to_owned);
    Ok(NodeRow { line: row.line, name: text(0).to_owned(), is_host, guessed: false, tier })
}

/// Rows below a header that has all columns of `columns[0]`, or at least all columns of `columns[1]`.
fn table<T>(
    file: &str,
    text: &str,
    columns: [&[&str]; 2],
    read: impl Fn(&Row) -> Result<T, String>,
) -> Result<Vec<T>, ConfigError> {
    let rows = csv::rows(text, file)?;
    let wrong = |line, reason| RowError { file: file.to_owned(), line, reason };
    let expected = columns[0].join(",");
    let Some((header, rows)) = rows.split_first() else {
        return Err(ConfigError::File(vec![wrong(0, format!("empty; expected the header {expected}"))]));
    };
    let width = header.fields.len();
    if !(columns[1].len()..=columns[0].len()).contains(&width) || header.fields != columns[0][..width] {
        let reason = format!("expected the header {expected}{}", csv::separator(&header.fields));
        return Err(ConfigError::File(vec![wrong(header.line, reason)]));
    }
    let (mut read_rows, mut errors) = (Vec::new(), Vec::new());
    for row in rows {
        let read = match row.fields.len() == width {
            true => read(row),
            false => Err(csv::wrong_columns(&row.fields, &header.fields.join(","))),
        };
        match read {
            Ok(read) => read_rows.push(read),
            Err(reason) => errors.push(wrong(row.line, reason)),
        }
    }
    if rows.is_empty() {
        errors.push(wrong(0, "no row after the header".to_owned()));
    }
    if errors.is_empty() { Ok(read_rows) } else { Err(ConfigError::File(errors)) }
}
