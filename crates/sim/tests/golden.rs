//! A few runs must give the same digest on every machine and at every optimisation level. The numbers
//! beside each digest say what changed when it did. To accept a change: `SHORTFLOW_BLESS=1 cargo test -p
//! shortflow-sim golden`, and read the difference.

use crate::common::{run, scenario, scheme, star};
use shortflow_sim::scheme::schemes;

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

#[test]
fn digests_have_not_changed() {
    let text = star(7, MIX).replace("duration = \"1s\"", "duration = \"100ms\"");
    let scenario = scenario(&text, &[]);
    let lines = schemes().iter().map(|info| {
        let outcome = run(&scenario, &scheme(&info.name, &[]));
        let counters = &outcome.counters;
        let done: Vec<f64> =
            outcome.flows.iter().filter_map(|flow| Some(flow.fct()?.as_secs_f64())).collect();
        let mean = done.iter().sum::<f64>() / done.len() as f64 * 1e6;
        let digest = outcome.digest();
        format!(
            "{:12} {:7} hops {:4} flows {mean:10.3} us {:5} drops  {}\n",
            info.name,
            counters.packet_hops,
            done.len(),
            counters.packets_dropped,
            &digest[..16]
        )
    });
    let got: String = lines.collect();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/mix.txt");
    if std::env::var_os("SHORTFLOW_BLESS").is_some() {
        std::fs::write(file, &got).unwrap();
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    assert_eq!(got, expected, "digests differ from {file}");
}
