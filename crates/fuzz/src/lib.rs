//! Fuzz targets: scenarios that run, and every text that users write. A target judges an input and panics on a
//! defect. `make fuzz` drives the targets with a coverage-guided engine. The tests of this crate replay the corpus
//! without an engine.

mod choices;
mod files;
mod generator;
mod keys;
mod modes;
mod parsers;
mod registry;
mod simulate;
mod values;
mod verdict;

pub use keys::{Moves, idle_keys};
pub use modes::{Alike, compare};
pub use verdict::{Tally, Verdict};

use std::io;
use std::path::{Path, PathBuf};

/// Shipped scenarios, relative to this crate.
const SHIPPED: &str = "../../python/shortflow/scenarios";

/// A fuzz target, which takes any input.
#[derive(Debug)]
pub struct Target {
    /// Name of the target and of its folder in the corpus.
    pub name: &'static str,
    /// Judges an input; panics on a defect.
    pub judge: fn(&[u8]) -> Verdict,
}

/// The one list of targets.
pub const TARGETS: &[Target] = &[
    Target { name: "simulate", judge: simulate::judge },
    Target { name: "scenario", judge: parsers::scenario },
    Target { name: "settings", judge: parsers::settings },
    Target { name: "trace", judge: parsers::trace },
    Target { name: "cdf", judge: parsers::cdf },
    Target { name: "edge-list", judge: parsers::edge_list },
    Target { name: "graphml", judge: parsers::graphml },
];

impl Target {
    /// The target called `name`.
    pub fn named(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// The inputs that the tests replay, by folder and name; for the target `scenario`, the shipped scenarios too.
    /// Fails if a folder cannot be read.
    pub fn corpus(&self) -> io::Result<Vec<PathBuf>> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = files(&here.join("corpus").join(self.name))?;
        if self.name == "scenario" {
            let shipped = files(&here.join(SHIPPED))?;
            paths
                .extend(shipped.into_iter().filter(|path| path.extension().is_some_and(|end| end == "toml")));
        }
        Ok(paths)
    }

    /// Names of all targets.
    pub fn names() -> Vec<&'static str> {
        TARGETS.iter().map(|target| target.name).collect()
    }
}

/// The files of a folder, sorted by name.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(named)?;
    let mut paths: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}
