//! The corpus through the targets, without a fuzzing engine.

use shortflow_fuzz::{TARGETS, Tally, Target};
use std::path::{Path, PathBuf};

/// The inputs of a target, in the order of their names.
fn corpus(target: &Target) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_target_bears_its_corpus() {
    for target in TARGETS {
        let mut tally = Tally::default();
        for path in corpus(target) {
            // What fails is shown with its name.
            print!("{}", path.display());
            tally.count((target.judge)(&std::fs::read(&path).unwrap()));
            println!(" is fine");
        }
        assert!(tally.accepted() > 0, "{}: {tally}", target.name);
    }
}

#[test]
fn most_inputs_are_accepted_and_run() {
    let target = Target::named("simulate").unwrap();
    let mut tally = Tally::default();
    for number in 0u32..200 {
        tally.count((target.judge)(&number.wrapping_mul(0x9e37_79b1).to_be_bytes()));
    }
    assert!(tally.accepted() * 10 > tally.inputs() * 8, "{tally}");
}
