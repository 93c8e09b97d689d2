//! Replays the corpus through the targets, without a fuzzing engine.

use shortflow_fuzz::{TARGETS, Tally, Target, compare};

#[test]
fn every_target_bears_its_corpus() {
    for target in TARGETS {
        let mut tally = Tally::default();
        for path in target.corpus().unwrap() {
            // Printed first, so that the output names an input that fails.
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

/// `make modes` compares many more scenarios. The simulator's own tests compare runs on three and four cores.
#[test]
fn every_way_of_running_has_the_same_outcome() {
    let alike: Vec<_> = (0..800)
        .filter_map(|number| compare(1, number).unwrap_or_else(|differences| panic!("{differences}")))
        .collect();
    let with =
        |way: &str| alike.iter().filter(|alike| alike.ways.iter().any(|name| name.contains(way))).count();
    let [windows, on_two] = ["window by window on 1", "window by window on 2"].map(with);
    assert!(windows > 5 && on_two > 1, "{windows}, {on_two} of {}", alike.len());
}
