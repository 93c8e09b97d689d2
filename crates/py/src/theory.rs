//! The closed forms of `shortflow_sim::theory` for Python; units as there.

use pyo3::prelude::*;
use shortflow_sim::theory::{atcp, fast, l2dct, pecn, xdctcp};
use std::collections::BTreeMap;

type Values = BTreeMap<&'static str, f64>;

/// L2DCT, Eqs. 5 to 12: the steady state of synchronized flows; exact: from the root of Eq. 5 itself.
#[pyfunction]
pub fn l2dct_steady_state(
    bdp: f64,
    threshold: f64,
    flows: f64,
    weight: f64,
    step: f64,
    exact: bool,
) -> Values {
    let flows = l2dct::Flows { bdp, threshold, count: flows, weight, step };
    let found = if exact { flows.exact() } else { flows.closed_form() };
    Values::from([
        ("critical_window", flows.critical_window()),
        ("last_round_share", flows.last_round_share()),
        ("alpha", found.alpha),
        ("penalty", found.penalty),
        ("window_swing", found.window_swing),
        ("queue_swing", found.queue_swing),
        ("queue_swing_of_large_windows", flows.queue_swing_of_large_windows()),
        ("period", found.period),
        ("queue_max", found.queue_max),
        ("queue_min", found.queue_min),
    ])
}

/// L2DCT, Eq. 13: the least K that keeps the queue from running empty, in the unit of `bdp`.
#[pyfunction]
pub fn l2dct_threshold_bound(bdp: f64, weight: f64) -> f64 {
    l2dct::threshold_bound(bdp, weight)
}

/// pECN, Eq. 1: the same for DCTCP.
#[pyfunction]
pub fn dctcp_threshold_bound(bdp: f64) -> f64 {
    pecn::threshold_bound(bdp)
}

/// xDCTCP, Eq. 5: the bound on g; `bdp` and `threshold` in packets.
#[pyfunction]
pub fn dctcp_gain_bound(bdp: f64, threshold: f64) -> f64 {
    xdctcp::gain_bound(bdp, threshold)
}

/// FaST, Eqs. 4 to 7, all in bytes but the windows, which are in segments.
#[pyfunction]
pub fn fast_bottleneck(bdp: f64, threshold: f64, buffer: f64, mss: f64, flows: f64, w_min: f64) -> Values {
    let bottleneck = fast::Bottleneck { bdp, threshold, buffer, mss };
    Values::from([
        ("critical_window", bottleneck.critical_window(flows)),
        ("flows_at_minimum", bottleneck.flows_at_minimum(w_min)),
        ("outstanding", bottleneck.outstanding()),
        ("most_flows", bottleneck.most_flows(w_min)),
    ])
}

/// FaST, Eq. 10: 1 where all are equal, 1/n where one has everything.
#[pyfunction]
pub fn jain_index(throughputs: Vec<f64>) -> f64 {
    fast::jain_index(&throughputs)
}

/// ATCP, §V-A: the windows of two flows of weights `a` and `b` at successive losses, from `window` on.
#[pyfunction]
pub fn atcp_windows(a: f64, b: f64, window: f64, capacity: f64, rounds: usize) -> Vec<f64> {
    let weights = atcp::Weights { a, b };
    std::iter::successors(Some(window), |w| Some(weights.next_window(*w, capacity)))
        .take(rounds + 1)
        .collect()
}

/// ATCP, Theorem 1 and §VII-A: the shares that two flows of weights `a` and `b` reach.
#[pyfunction]
pub fn atcp_limit(a: f64, b: f64, bdp: f64, buffer: f64, rtt: f64) -> Values {
    let (weights, capacity) = (atcp::Weights { a, b }, atcp::capacity(bdp, buffer));
    Values::from([
        ("capacity", capacity),
        ("share", weights.share()),
        ("window", weights.limit_window(capacity)),
        ("rate", weights.limit_rate(capacity, rtt)),
        ("step", weights.step()),
    ])
}

/// ATCP, Theorem 2: completion times of a large flow and a small one within it that gets `rate`.
#[pyfunction]
pub fn atcp_nested(link: f64, large: f64, small: f64, rate: f64) -> Values {
    let nested = atcp::Nested { link, large, small };
    Values::from([
        ("small", nested.small_time(rate)),
        ("large", nested.large_time()),
        ("mean", nested.mean_time(rate)),
    ])
}

/// ATCP, §VII-A: the rate of a medium flow beside one large flow, and its completion time.
#[pyfunction]
pub fn atcp_medium(size: f64, link: f64, ratio: f64) -> Values {
    Values::from([("rate", atcp::share(link, ratio)), ("time", atcp::completion(size, link, ratio))])
}
