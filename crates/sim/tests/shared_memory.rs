//! Limits of queues whose ports share the memory of a switch, in whole scenarios.

use crate::common::{TRACE, run, scenario, scheme, star};
use shortflow_cc::CongestionControl;
use shortflow_sim::outcome::Outcome;
use shortflow_sim::probe::Subject;
use shortflow_sim::scheme::schemes;
use std::collections::BTreeMap;

/// Eight senders send 1 MB each to one or two other hosts of a star, whose switch has `memory`.
fn incast(receivers: &[usize], memory: &str, name: &str) -> Outcome {
    let rest = format!(
        "[tcp]\nrto_max = \"40ms\"\n[measure]\nsample_every = \"20us\"\nports = [\"s0->h8\", \"s0->h9\"]\n{TRACE}"
    );
    let text = star(10, &rest)
        .replace("buffer = \"250pkt\"", &format!("buffer = \"unlimited\"\n{memory}"))
        .replace("duration = \"1s\"", "duration = \"50ms\"");
    let rows: Vec<String> =
        (0..8).map(|from| format!("0,h{from},h{},1000000", 8 + receivers[from % receivers.len()])).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    run(&scenario(&text, &rows), &scheme(name, &[]))
}

/// The largest backlog of the port towards host `to`.
fn largest(outcome: &Outcome, to: u32) -> u64 {
    outcome.ports.iter().find(|port| port.to.0 == to).unwrap().max_bytes.get()
}

/// With 120 KB and alpha 1, a single congested port gets 60 KB. Two congested ports get 40 KB each while
/// their packets alternate, and one gets up to 60 KB while the queue of the other is short. With alpha 2, a
/// single port gets 80 KB.
#[test]
fn congested_ports_get_their_share_of_the_memory() {
    let memory = "memory = \"120KB\"";
    let alone = largest(&incast(&[0], memory, "tcp"), 8);
    assert!((58_500..=61_000).contains(&alone), "{alone}");
    let both = incast(&[0, 1], memory, "tcp");
    for to in [8, 9] {
        let most = largest(&both, to);
        assert!((38_000..=61_000).contains(&most), "{to}: {most}");
    }
    let generous = largest(&incast(&[0], "memory = \"120KB\"\nmemory_alpha = 2.0", "tcp"), 8);
    assert!((78_000..=81_000).contains(&generous), "{generous}");
}

/// Under every scheme, ports use much of the memory, and never more than all of it.
#[test]
fn ports_together_never_hold_more_than_the_memory() {
    for info in schemes() {
        let outcome = incast(&[0, 1], "memory = \"120KB\"\nmemory_alpha = 8.0", &info.name);
        let mut used: BTreeMap<_, f64> = BTreeMap::new();
        for sample in outcome.samples.iter() {
            if matches!(sample.subject, Subject::QueueBytes(_)) {
                *used.entry(sample.at).or_default() += sample.value;
            }
        }
        let most = used.values().copied().fold(0.0, f64::max);
        // Laws that read delays keep queues short, and queues that trim are short.
        let reads_path = scheme(&info.name, &[]).transport.start().reads_path();
        let keeps_queues_short = reads_path || info.queue.info().trims;
        let least = if keeps_queues_short { 25_000.0 } else { 60_000.0 };
        assert!((least..=120_000.0).contains(&most), "{}: {most}", &info.name);
        assert_eq!(outcome.counters.unfinished, 0, "{}", &info.name);
    }
}

/// A memory that is never full changes nothing.
#[test]
fn ample_memory_is_like_no_limit() {
    let shared = incast(&[0, 1], "memory = \"1GB\"", "dctcp");
    assert_eq!(shared.digest(), incast(&[0, 1], "", "dctcp").digest());
}
