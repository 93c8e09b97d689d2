//! Two-level partition and aggregate: a root asks aggregators, and each aggregator asks its own workers.

use super::Traffic;
use super::context::{Context, size_text};
use super::hosts::{HostSet, Hosts};
use super::query_tree::{Level, Tree, TreeKeys, Trees};
use super::rounds::Rounds;
use crate::config::{ConfigError, Kind, ParamInfo, Reader, Shape, keys};
use crate::topology::HostNames;
use shortflow_units::HostId;

/// Registry entry.
pub(super) const KIND: Kind<super::Read> = Kind {
    name: "aggregation",
    summary: "a root sends requests to aggregators, each aggregator to its own workers; answers take the same way back",
    source: "pECN, Huang et al., Fig. 1: 100 ms for aggregators, 40 ms for workers",
    parameters,
    read,
};

keys! {
    /// Hosts of each role, and the number of workers.
    struct AggregationKeys {
        /// the host that sends requests to all aggregators
        root: HostSet = "0", Hosts;
        /// hosts of the aggregators, one host for each aggregator
        aggregators: HostSet = required, Hosts;
        /// hosts of the workers
        from: HostSet = required, Hosts;
        /// number of workers; the hosts in from take turns, and consecutive workers share an aggregator
        workers: u32 = required, 1..=1_000_000u32;
    }
}

fn parameters() -> Vec<ParamInfo> {
    let level = |name, who: &str| {
        let shape = Shape::Table(Level::parameters);
        ParamInfo::new(name, ParamInfo::REQUIRED, shape, &format!("requests to {who}, and their answers"))
    };
    let tables = vec![level("aggregator", "aggregators"), level("worker", "workers")];
    [AggregationKeys::parameters(), Rounds::parameters(), TreeKeys::parameters(), tables].concat()
}

/// Indices of the levels of a tree.
const AGGREGATORS: usize = 0;
const WORKERS: usize = 1;

fn read(reader: &Reader, context: &mut Context) -> Result<Box<dyn Traffic>, ConfigError> {
    let AggregationKeys { root, aggregators, from, workers } = AggregationKeys::read(reader)?;
    let rounds = Rounds::read(reader, context)?;
    let tree_keys = TreeKeys::read(reader)?;
    let levels = [level(reader, "aggregator", context)?, level(reader, "worker", context)?];
    let hosts = |set: HostSet, key| set.resolve(&context.names, reader, key);
    let (root, aggregators, from) =
        (hosts(root, "root")?, hosts(aggregators, "aggregators")?, hosts(from, "from")?);
    let &[root] = root.as_slice() else {
        return Err(reader.impossible("root", format!("{} hosts given; expected one, such as 0", root.len())));
    };
    check_apart(root, &aggregators, &from, (reader, &context.names))?;
    let note = format!(
        "{} x {workers} workers below {} aggregators, answers of mean {} and {}",
        rounds.repeat,
        aggregators.len(),
        size_text(levels[WORKERS].answers.sizes.mean()),
        size_text(levels[AGGREGATORS].answers.sizes.mean()),
    );
    context.note(reader, &note);
    let mut tree = Tree::new(root, levels.into(), rounds, tree_keys, context);
    let asking: Vec<usize> =
        aggregators.iter().map(|host| tree.add(Tree::ROOT, AGGREGATORS, *host, 0)).collect();
    for worker in 0..workers as usize {
        // Consecutive workers share an aggregator, and the hosts take turns.
        let aggregator = asking[worker * asking.len() / workers as usize];
        let host = from[worker % from.len()];
        tree.add(aggregator, WORKERS, host, (worker / from.len()) as u32);
    }
    tree.announce(context);
    Ok(Box::new(Trees(vec![tree])))
}

fn level(reader: &Reader, name: &str, context: &mut Context) -> Result<Level, ConfigError> {
    let table = reader.table(name)?;
    table.only(&Level::parameters(), &[])?;
    Level::read(&table, context)
}

/// Checks that no host asks itself.
fn check_apart(
    root: HostId,
    aggregators: &[HostId],
    workers: &[HostId],
    (reader, names): (&Reader, &HostNames),
) -> Result<(), ConfigError> {
    if aggregators.contains(&root) {
        return Err(reader.impossible("aggregators", format!("host {} is the root", names.name(root))));
    }
    match workers.iter().find(|host| **host == root || aggregators.contains(host)) {
        None => Ok(()),
        Some(host) => Err(reader
            .impossible("from", format!("host {} is the root or an aggregator already", names.name(*host)))),
    }
}
