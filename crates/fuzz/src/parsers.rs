//! Targets for every text that users write; the input is the text itself.

use crate::registry::Registry;
use crate::verdict::Verdict;
use shortflow_sim::engine::Seeds;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_sim::traffic::Workload;
use shortflow_spec::ConfigError;
use shortflow_units::{Bytes, Occupancy, Rate, Span};
use std::fmt::Display;
use std::str::FromStr;

/// A scenario around a file, without its topology and its traffic.
const AROUND: &str = "
title = 'around a file'
duration = '1s'
switch = { buffer = '20pkt', mark_above = '5pkt' }
";
const STAR: &str = "topology = { kind = 'star', hosts = 8, rate = '1Gbps', rtt = '100us' }\n";
const LONG: &str = "traffic = [{ kind = 'long-lived' }]\n";

/// A scenario with every table, for `--set` to change.
const SETTABLE: &str = "
title = 'to be changed'
duration = '1s'
parameters = { load = 0.5 }
topology = { kind = 'leaf-spine', racks = 2, hosts_per_rack = 3, spines = 2, rate = '1Gbps', uplink_rate = '1Gbps', rtt = '100us' }
switch = { buffer = '20pkt', mark_above = '5pkt', leaf = { mark_above = '6pkt' } }
host = { jitter = '1us' }
tcp = { rto_min = '1ms' }
measure = { sample_every = '10ms' }
faults = [{ tier = 'leaf', loss = 0.1 }]
traffic = [
    { kind = 'poisson', load = '$load', sizes = { kind = 'uniform', min = '2KB', max = '98KB' } },
    { kind = 'incast', flows = 5, sizes = { kind = 'fixed', value = '10KB' }, deadline = { kind = 'fixed', value = '5ms' } },
]
";

/// Target: a scenario file.
pub(crate) fn scenario(input: &[u8]) -> Verdict {
    read(input, |text| {
        let files = |name: &str| match name.rsplit_once('.') {
            Some((_, "csv")) => Ok("start,source,destination,bytes\n0,0,1,1KB\n".to_owned()),
            _ => Err("there is no such file".to_owned()),
        };
        told(Scenario::parse(text, "fuzzed", &[], &files))
    })
}

/// Target: settings `KEY=VALUE`, one per line, of a scenario and of every scheme that has such a key.
pub(crate) fn settings(input: &[u8]) -> Verdict {
    read(input, |text| {
        let pairs: Vec<(String, String)> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        pairs.iter().for_each(|(_, value)| quantities(value));
        let of_scheme = |(key, _): &&(String, String)| {
            ["transport.", "queue.", "priority."].iter().any(|table| key.starts_with(table))
        };
        let (scheme, scenario): (Vec<_>, Vec<_>) = pairs.iter().partition(of_scheme);
        let [scheme, scenario] =
            [scheme, scenario].map(|pairs| pairs.into_iter().cloned().collect::<Vec<_>>());
        let mut accepted = told(Scenario::parse(SETTABLE, "settable", &scenario, &no_file));
        if !scheme.is_empty() {
            for (name, _) in &Registry::get().schemes {
                accepted |= told(Scheme::named(name, &scheme));
            }
        }
        accepted
    })
}

/// Target: a flow trace.
pub(crate) fn trace(input: &[u8]) -> Verdict {
    around(input, &[AROUND, STAR, "traffic = [{ kind = 'trace', file = 'x.csv' }]"].concat())
}

/// Target: a distribution of flow sizes.
pub(crate) fn cdf(input: &[u8]) -> Verdict {
    let traffic = "traffic = [{ kind = 'poisson', load = 0.5, sizes = { kind = 'cdf', file = 'x.csv' } }]";
    around(input, &[AROUND, STAR, traffic].concat())
}

/// Target: a list of links, and after `---` the nodes.
pub(crate) fn edge_list(input: &[u8]) -> Verdict {
    let nodes = if input.windows(3).any(|bytes| bytes == b"---") { ", node_file = 'nodes'" } else { "" };
    let topology = format!("topology = {{ kind = 'explicit', file = 'x.csv', delay = '5us'{nodes} }}\n");
    around(input, &[AROUND, &topology, LONG].concat())
}

/// Target: a network in GraphML.
pub(crate) fn graphml(input: &[u8]) -> Verdict {
    let topology = "topology = { kind = 'explicit', file = 'x.graphml', rate = '1Gbps', delay = '5us' }\n";
    around(input, &[AROUND, topology, LONG].concat())
}

/// Reads `scenario` with `input` as its file, and draws the first flows of its traffic.
fn around(input: &[u8], scenario: &str) -> Verdict {
    read(input, |text| {
        let (first, second) = text.split_once("---").unwrap_or((text, ""));
        let files = |name: &str| Ok(if name == "nodes" { second } else { first }.to_owned());
        let parsed = Scenario::parse(scenario, "around", &[], &files);
        if let Ok(scenario) = &parsed {
            first_flows(scenario);
        }
        told(parsed)
    })
}

/// Judges a text with `accepts`. Input that is not UTF-8 is rejected, as it is before any parser sees a file.
fn read(input: &[u8], accepts: impl Fn(&str) -> bool) -> Verdict {
    match std::str::from_utf8(input) {
        Ok(text) if accepts(text) => Verdict::Accepted,
        _ => Verdict::Rejected,
    }
}

fn no_file(_: &str) -> Result<String, String> {
    Err("there is no such file".to_owned())
}

/// True if the text was accepted; asserts that an error has a message.
fn told<T>(result: Result<T, ConfigError>) -> bool {
    if let Err(error) = &result {
        assert!(error.to_string().len() > 3, "{error:?}");
    }
    result.is_ok()
}

/// Asserts that the first flows of open workloads are in order, with sizes and different ends.
fn first_flows(scenario: &Scenario) {
    for (index, traffic) in scenario.traffic.iter().enumerate() {
        let Workload::Open(flows) = traffic.start(Seeds::new(1), index) else { continue };
        let flows: Vec<_> = flows.take(8).collect();
        assert!(flows.is_sorted_by_key(|flow| flow.at), "{flows:?}");
        assert!(
            flows.iter().all(|flow| flow.size != Bytes::ZERO && flow.source != flow.destination),
            "{flows:?}"
        );
    }
}

/// Asserts that a readable quantity can be written, and is read again with the same value.
fn quantities(text: &str) {
    same_again::<Span>(text);
    same_again::<Bytes>(text);
    same_again::<Rate>(text);
    same_again::<Occupancy>(text);
}

fn same_again<T: FromStr<Err: Display> + Display + PartialEq>(text: &str) {
    if let Ok(quantity) = text.parse::<T>() {
        let shown = quantity.to_string();
        assert!(shown.parse::<T>().is_ok_and(|again| again == quantity), "{text:?} becomes {shown:?}");
    }
}
