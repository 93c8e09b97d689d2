//! The corpus through the targets, without a fuzzing engine.

use shortflow_fuzz::{TARGETS, Tally, Target};

#[test]
fn every_target_bears_its_corpus() {
    for target in TARGETS {
        let mut tally = Tally::default();
        for path in target.corpus().unwrap() {
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
