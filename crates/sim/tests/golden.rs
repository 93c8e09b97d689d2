//! A few runs must give the same digest on every machine and at every optimisation level: every scheme on one mix of
//! flows, with FIFO hosts and with hosts like Linux, and compositions for features that no scheme has by itself. The
//! numbers beside each digest show what has changed. To accept a change: `SHORTFLOW_BLESS=1 cargo test -p
//! shortflow-sim golden`, and read the difference.

use crate::common::{run, scenario, scheme, star};
use shortflow_sim::scheme::{Scheme, schemes};

const MIX: &str = r#"
[[traffic]]
kind = "long-lived"
flows = 2
from = "0-1"
to = 6
[[traffic]]
kind = "poisson"
sizes = { kind = "pareto", shape = 1.2, mean = "50KB", max = "1MB" }
load = 0.4
from = "2-5"
to = 6
[measure]
sample_every = "1ms"
[faults]
loss = 0.0005
"#;

/// A scheme, its settings, and the `routing` over three spines; without routing, the network is one switch.
type Composition = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const COMPOSITIONS: [Composition; 15] = [
    ("sack over codel", &[("queue.target", "100us"), ("queue.interval", "1ms")], ""),
    ("dctcp over codel", &[("queue.target", "100us"), ("queue.interval", "1ms")], ""),
    ("dctcp over tcn", &[], ""),
    (
        "sack over pie",
        &[("queue.target", "200us"), ("queue.alpha", "1000"), ("queue.beta", "10000"), ("queue.burst", "0s")],
        "",
    ),
    ("sack over fair", &[], ""),
    ("tcp", &[("transport.recovery", "rack")], ""),
    ("dctcp", &[("host.queue", "fair")], ""),
    ("swift", &[("transport.queueing", "5us")], ""),
    ("pfabric-minimal", &[("transport.probe_after", "1")], ""),
    ("dctcp", &[], r#"{ kind = "destination" }"#),
    ("dctcp", &[("transport.dupthresh", "40")], r#"{ kind = "random-spray" }"#),
    ("swift", &[("transport.dupthresh", "40")], r#"{ kind = "random-spray" }"#),
    ("dctcp", &[("transport.dupthresh", "40")], r#"{ kind = "spray" }"#),
    ("swift", &[("transport.dupthresh", "40")], r#"{ kind = "spray" }"#),
    ("dctcp", &[], r#"{ kind = "flowlet", gap = "50us" }"#),
];

/// One line with the result of a run of 100 ms.
fn told(name: &str, text: &str, scheme: &Scheme) -> String {
    let text = text.replace("duration = \"1s\"", "duration = \"100ms\"");
    let outcome = run(&scenario(&text, &[]), scheme);
    let counters = &outcome.counters;
    let done: Vec<f64> = outcome.flows.iter().filter_map(|flow| Some(flow.fct()?.as_secs_f64())).collect();
    let mean = done.iter().sum::<f64>() / done.len() as f64 * 1e6;
    let digest = outcome.digest();
    format!(
        "{name:12} {:7} hops {:4} flows {mean:10.3} us {:5} drops  {}\n",
        counters.packet_hops,
        done.len(),
        counters.packets_dropped,
        &digest[..16]
    )
}

/// Compares `got` with the file; writes the file if `SHORTFLOW_BLESS` is set.
pub(crate) fn check(file: &str, got: &str) {
    let file = format!("{}/tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("SHORTFLOW_BLESS").is_some() {
        std::fs::write(&file, got).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(got, expected, "digests differ from {file}");
}

#[test]
fn digests_have_not_changed() {
    let text = star(7, MIX);
    let lines = schemes().iter().map(|info| told(&info.name, &text, &scheme(&info.name, &[])));
    check("mix.txt", &lines.collect::<String>());
}

#[test]
fn digests_with_hosts_as_linux_has_them_have_not_changed() {
    let text = star(7, MIX).replace("\"fifo\"", "\"linux\"");
    let lines = schemes().iter().map(|info| told(&info.name, &text, &scheme(&info.name, &[])));
    check("hosts.txt", &lines.collect::<String>());
}

#[test]
fn digests_of_compositions_have_not_changed() {
    let lines = COMPOSITIONS.iter().map(|&(name, settings, routing)| {
        let mut label = name.to_owned();
        for (key, value) in settings {
            label += &format!("+{key}={value}");
        }
        let mut text = star(7, MIX);
        if !routing.is_empty() {
            label += &format!(" {routing}");
            let fabric = "\"leaf-spine\"\nracks = 2\nhosts_per_rack = 4\nspines = 3\nuplink_rate = \"1Gbps\"";
            text = format!("routing = {routing}\n{}", text.replace("\"star\"\nhosts = 7", fabric));
        }
        told(&format!("{label:80}"), &text, &scheme(name, settings))
    });
    check("compositions.txt", &lines.collect::<String>());
}
