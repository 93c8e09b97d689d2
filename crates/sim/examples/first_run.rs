//! Runs a scenario under two schemes with one seed, and prints when its flows finished:
//! `cargo run --package shortflow-sim --example first_run`

use shortflow_sim::prelude::*;
use std::error::Error;

/// Eight hosts send 100 KB each to a ninth at once.
const INCAST: &str = r#"
title = "Eight answers to one host"
duration = "50ms"
topology = { kind = "star", hosts = 9, rate = "1Gbps", rtt = "100us" }
switch = { buffer = "250pkt", mark_above = "20pkt" }
traffic = [{ kind = "incast", flows = 8, to = 8, sizes = { kind = "fixed", value = "100KB" } }]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::parse(INCAST, "incast", &[], &|file| Err(format!("there is no file {file}")))?;
    for name in ["tcp", "dctcp"] {
        let outcome = run(&scenario, &Scheme::named(name, &[])?, 1, &mut NoObserver)?;
        let times: Vec<Span> = outcome.flows.iter().filter_map(FlowRow::fct).collect();
        assert_eq!(times.len(), 8, "all flows finish");
        let [first, last] = [times.iter().min(), times.iter().max()].map(|time| *time.unwrap_or(&Span::ZERO));
        let Counters { packets_dropped, .. } = outcome.counters;
        println!("{name}: the flows finish after {first} to {last}; {packets_dropped} packets are dropped");
    }
    Ok(())
}
