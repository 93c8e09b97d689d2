//! Gives DCTCP's hosts and queues a window law of your own, and runs it beside DCTCP:
//! `cargo run --package shortflow-sim --example own_law`

use shortflow_sim::prelude::*;
use std::error::Error;
use std::sync::Arc;

/// Additive increase by one segment a round trip; a decrease to half on any mark or loss.
#[derive(Debug)]
struct Halve;

impl CongestionControl for Halve {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if ack.may_grow {
            let segments = ack.acked.as_f64() / ack.flow.mss.as_f64();
            window.cwnd += if window.in_slow_start() { segments } else { segments / window.cwnd };
        }
    }

    fn on_congestion(&mut self, window: &mut Window, cause: Cause, _: &FlowView) {
        window.ssthresh = (window.cwnd / 2.0).max(2.0);
        window.cwnd = if cause == Cause::Timeout { 1.0 } else { window.ssthresh };
    }
}

/// Two long flows to one host, with the queue of its port each 100 us.
const LONG: &str = r#"
title = "Two long flows"
duration = "300ms"
warmup = "100ms"
topology = { kind = "star", hosts = 3, rate = "1Gbps", rtt = "200us" }
switch = { buffer = "250pkt", mark_above = "10pkt" }
traffic = [{ kind = "long-lived", flows = 2, from = "0-1", to = 2 }]
measure = { sample_every = "100us" }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::parse(LONG, "long", &[], &|file| Err(format!("there is no file {file}")))?;
    let start: StartUserDefined = Arc::new(|| Box::new(Halve));
    let summary = "halves its window on marks".to_owned();
    let own = Scheme::user_defined("dctcp", "halve".to_owned(), summary, &[], start)?;
    let mut queues = Vec::new();
    for scheme in [Scheme::named("dctcp", &[])?, own] {
        let outcome = run(&scenario, &scheme, 1, &mut NoObserver)?;
        let bytes: f64 = outcome.flows.iter().map(|flow| flow.delivered_in_window.as_f64()).sum();
        let is_queue = |sample: &Sample| matches!(sample.subject, Subject::QueuePackets(_));
        let queue: Vec<f64> = outcome.samples.iter().filter(is_queue).map(|sample| sample.value).collect();
        let mean = queue.iter().sum::<f64>() / queue.len() as f64;
        println!("{}: {:.0} Mbps, {mean:.1} packets in the queue", scheme.name, bytes * 8.0 / 0.2 / 1e6);
        queues.push(mean);
    }
    assert!(queues[1] < queues[0], "a law that halves on each mark leaves a shorter queue");
    Ok(())
}
