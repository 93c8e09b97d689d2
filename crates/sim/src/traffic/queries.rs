//! Partition and aggregate: a host asks many workers and waits for all answers.

use super::Traffic;
use super::context::{Context, four_digits, size_text};
use super::hosts::HostPair;
use super::query_tree::{Level, Tree, TreeKeys, Trees};
use super::rounds::Rounds;
use crate::config::{ConfigError, Kind, ParamInfo, Reader, keys};
use shortflow_units::{Bytes, HostId};

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "queries",
    summary: "each asking host (to) sends a query to many workers, and its next query when all have answered",
    source: "FaST, KSII TIIS 2014: up to 100 workers, 10 KB each",
    parameters,
    read,
};

keys! {
    /// Keys other than hosts, levels and rounds.
    struct QueryKeys {
        /// number of workers of a query; the hosts in from take turns
        workers: u32 = required, 1..=1_000_000u32;
    }
}

fn parameters() -> Vec<ParamInfo> {
    let tables = [Rounds::parameters(), TreeKeys::parameters(), HostPair::parameters(), Level::parameters()];
    [QueryKeys::parameters(), tables.concat()].concat()
}

/// Index of the only level of a tree.
const WORKERS: usize = 0;

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let keys = QueryKeys::read(reader)?;
    let rounds = Rounds::read(reader, context)?;
    let tree_keys = TreeKeys::read(reader)?;
    let asking = HostPair::read(reader)?.many_to_each(reader, context)?;
    let level = Level::read(reader, context)?;
    let mean = level.answers.sizes.mean();
    context.note(reader, &note(&rounds, keys.workers, mean, &asking, context));
    let mut trees = Vec::new();
    for (place, (from, root)) in asking.into_iter().enumerate() {
        let mut tree = Tree::new(root, vec![level.clone()], rounds.clone(), tree_keys, context);
        for worker in 0..keys.workers as usize {
            // Each host begins with another worker. Otherwise a few workers would serve all hosts.
            let host = from[(place + worker) % from.len()];
            tree.add(Tree::ROOT, WORKERS, host, (worker / from.len()) as u32);
        }
        tree.announce(context);
        trees.push(tree);
    }
    Ok(Box::new(Trees(trees)))
}

fn note(
    rounds: &Rounds,
    workers: u32,
    mean: f64,
    asking: &[(Vec<HostId>, HostId)],
    context: &Context,
) -> String {
    let [(_, root), others @ ..] = asking else { return String::new() };
    let all = f64::from(workers) * mean;
    let transfer = context.access_rate(*root).tx_time(Bytes::new(all as u64)).as_secs_f64();
    let queries =
        if rounds.repeat == 1 { "1 query".to_owned() } else { format!("{} queries", rounds.repeat) };
    let (each, link) = match others.len() {
        0 => (String::new(), context.access_port(*root)),
        _ => (format!(" by each of {} hosts", asking.len()), "its host's link".to_owned()),
    };
    format!(
        "{queries}{each} of {workers} answers of mean {} over {link}, which needs {}ms for all of them",
        size_text(mean),
        four_digits(transfer * 1e3),
    )
}
