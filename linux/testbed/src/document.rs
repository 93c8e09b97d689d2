//! A run on the testbed as one JSON document, with the tables and the account that the Python package also reads from
//! simulations.

use crate::measured::Measured;
use crate::switch::Stalls;
use crate::verdict::{StallRate, Trust, rates};
use serde_json::{Map, Value, json};
use shortflow_sim::outcome::DropRow;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::tables::{self, Column, Values};
use shortflow_units::Span;

/// Returns the document. `tables` has the type and the values of each column, `meta` the same account as a
/// simulation, and `testbed` the timing of the run.
pub fn document(scenario: &Scenario, scheme: &str, seed: u64, measured: &Measured, trust: &Trust) -> Value {
    let samples = &measured.outcome.samples;
    let samples = ("samples", tables::samples(samples, 0..samples.len(), scenario));
    let tables = tables::tables(&measured.outcome, scenario).into_iter().chain([samples]);
    let tables: Map<String, Value> =
        tables.map(|(name, columns)| (name.to_owned(), table(columns))).collect();
    json!({ "tables": tables, "meta": meta(scenario, scheme, seed, measured), "testbed": account(scenario, measured, trust) })
}

fn table(columns: Vec<Column>) -> Value {
    columns
        .into_iter()
        .map(|Column { name, values, .. }| json!([name, kind(&values), plain(values)]))
        .collect()
}

fn kind(values: &Values) -> &'static str {
    match values {
        Values::Text(_) => "text",
        Values::Real(_) => "real",
        Values::Count(_) => "count",
        Values::Small(_) => "small",
        Values::Flag(_) => "flag",
    }
}

fn plain(values: Values) -> Value {
    match values {
        Values::Text(values) => json!(values),
        Values::Real(values) => json!(values),
        Values::Count(values) => json!(values),
        Values::Small(values) => json!(values),
        Values::Flag(values) => json!(values),
    }
}

fn meta(scenario: &Scenario, scheme: &str, seed: u64, measured: &Measured) -> Value {
    let outcome = &measured.outcome;
    let totals = &outcome.counters;
    let ports = scenario.measure.ports.iter().map(|&(from, to)| tables::port_name(scenario, from, to));
    let drop = |row: &DropRow| {
        let place = tables::place_name(scenario, row);
        json!({ "place": place, "reason": row.reason.name(), "in_run": row.in_run, "measured": row.measured })
    };
    json!({
        "scenario": scenario.name,
        "scheme": scheme,
        "seed": seed,
        "digest": outcome.digest(),
        "version": env!("CARGO_PKG_VERSION"),
        "warmup_s": scenario.warmup.as_secs_f64(),
        "duration_s": scenario.duration.as_secs_f64(),
        "end_s": outcome.end.as_secs_f64(),
        "measured_ports": ports.collect::<Vec<_>>(),
        "counters": {
            "events": totals.events,
            "packet_hops": totals.packet_hops,
            "packets_sent": totals.packets_sent,
            "packets_delivered": totals.packets_delivered,
            "packets_dropped": totals.packets_dropped,
            "packets_in_flight": totals.packets_in_flight,
            "drain_flows": totals.drain_flows,
            "drain_bytes": totals.drain_bytes,
        },
        "drops": outcome.drops.iter().map(drop).collect::<Vec<_>>(),
        "classes": scenario.classes,
        "unfinished": totals.unfinished,
        "connections_peak": totals.connections_peak,
        "bytes_per_connection": 0,
    })
}

fn account(scenario: &Scenario, measured: &Measured, trust: &Trust) -> Value {
    let switch = &measured.switch;
    let late = |share: f64| switch.timing_errors.percentile(share).as_secs_f64();
    let seconds = Span::as_secs_f64;
    let stalls = |of: &Stalls| {
        json!({
            "count": of.count(),
            "measured": of.measured(),
            "longest_s": seconds(of.longest()),
            "p99_s": seconds(of.errors().percentile(0.99)),
            "per_s": rates(scenario, measured, of).iter().map(StallRate::per_second).fold(0.0, f64::max),
            "limit_s": seconds(of.limit()),
        })
    };
    json!({
        "congestion": measured.congestion,
        "verdict": trust.to_string(),
        "timing_error_s": { "p50": late(0.5), "p99": late(0.99), "max": seconds(switch.timing_errors.max()) },
        "stalls": stalls(&switch.stalls),
        "host_stalls": stalls(&measured.host_stalls),
        "start_error_s": seconds(measured.start_error),
        "lost": switch.lost,
        "busy": switch.busy,
        "real_time": switch.real_time,
    })
}
