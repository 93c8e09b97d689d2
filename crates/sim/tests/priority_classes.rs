//! The cost for pECN if packets carry one of 64 levels or one of eight classes instead of a number.

use crate::common::{run, scenario, scheme};

/// Mean completion time in milliseconds of 80 flows of one size distribution that start together, as in pECN Fig. 6:
/// 1 Gbit/s, 120 µs, 256 KB per port, K = 30 KB.
fn mean(min: &str, max: &str, by: &str) -> f64 {
    let text = format!(
        r#"
title = "many to one"
duration = "1s"
drain = "10s"
topology = {{ kind = "star", hosts = 21, rate = "1Gbps", rtt = "120us" }}
switch = {{ buffer = "256KB", mark_above = "30KB" }}
tcp = {{ rto_min = "200ms" }}
traffic = [{{ kind = "incast", flows = 80, sizes = {{ kind = "uniform", min = "{min}", max = "{max}" }} }}]
"#
    );
    let outcome = run(&scenario(&text, &[]), &scheme("pecn", &[("priority.by", by)]));
    let times: Vec<f64> = outcome.flows.iter().map(|flow| flow.fct().unwrap().as_secs_f64() * 1e3).collect();
    times.iter().sum::<f64>() / times.len() as f64
}

/// Sizes of 2 to 50 KB fall into 20 levels but three classes, sizes of 2 to 500 KB into 33 and five.
#[test]
fn levels_cost_little_and_classes_some() {
    for (min, max) in [("2KB", "50KB"), ("2KB", "500KB")] {
        let [none, size, dscp, class] =
            ["none", "size", "size-dscp", "size-class"].map(|by| mean(min, max, by));
        println!("{min} to {max}: none {none:.2} ms, size {size:.2}, dscp {dscp:.2}, class {class:.2}");
        assert!(size < none && dscp < class * 1.02 && class < none, "{none} {size} {dscp} {class}");
        assert!(dscp / size < 1.05, "{size} {dscp}");
    }
}
