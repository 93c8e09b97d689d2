//! The fuzzing engine around the target that `FUZZ_TARGET` names; `make fuzz` runs it.

#![no_main]

use shortflow_fuzz::{Tally, Target};
use std::cell::RefCell;

libfuzzer_sys::fuzz_target!(|data: &[u8]| SESSION.with_borrow_mut(|session| session.judge(data)));

thread_local! {
    static SESSION: RefCell<Session> = RefCell::new(Session::start());
}

/// Number of inputs between two progress lines.
const REPORT_EVERY: u64 = 100_000;

/// A target, with the counts of the outcomes of its inputs.
struct Session {
    target: &'static Target,
    tally: Tally,
}

impl Session {
    fn start() -> Session {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let Some(target) = Target::named(&name) else {
            eprintln!("FUZZ_TARGET: {name:?} is not one of {}", Target::names().join(", "));
            std::process::exit(2);
        };
        Session { target, tally: Tally::default() }
    }

    fn judge(&mut self, data: &[u8]) {
        self.tally.count((self.target.judge)(data));
        if self.tally.inputs() % REPORT_EVERY == 0 {
            eprintln!("{}: {}", self.target.name, self.tally);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        eprintln!("{}: {}", self.target.name, self.tally);
    }
}
