"""What the recipes share: the rack and its bursts (Sec. 5), and how runs with and without something are compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shortflow.errors import ConfigError
from shortflow.lab import Data, Finding, Line, all_hold, lower, no_difference, timeouts_in_run
from shortflow.lab.study import Value
from shortflow.metrics.stats import Estimate, paired_difference
from shortflow.result import RunResult
from shortflow.store.frames import completion

SCHEMES = ("tcp", "dctcp", "d2tcp", "pecn", "pecn-pmark")
BASELINES = ("tcp", "dctcp", "d2tcp")
AFCT = "afct_short_s"

COUNTS = tuple(range(10, 101, 10))
"""Connections of a burst; the paper names only 80."""
QUICK_COUNTS = (20, 40, 60, 80, 100)
MANY = 40
"""From here on a burst does not fit into the buffer with TCP."""

NEWRENO = {"transport.recovery": "newreno"}
"""All schemes recover alike, so that they differ in their window laws and queues alone."""

TINY = {**NEWRENO, "smallest": "1.6KB", "largest": "2KB"}
"""Fig. 8."""
IN_RACK, ACROSS = 19, 20
"""Receivers: the last host of the senders' rack, and the first of the other one."""

SWITCH = {"buffer": "256KB", "mark_above": "30KB"}
TCP = {"rto_min": "200ms", "receive_window": "1000pkt"}

TREE = {
    "kind": "two-tier-tree",
    "racks": 2,  # of the paper's 18: the others would idle
    "hosts_per_rack": 20,
    "rate": "1Gbps",
    "uplink_rate": "10Gbps",
    "rtt": "240us",
}


def _burst(at: str) -> dict[str, object]:
    return {
        "kind": "incast",
        "flows": "$flows",
        "from": "0-18",
        "to": "$receiver",
        "sizes": {"kind": "uniform", "min": "$smallest", "max": "$largest"},
        "deadline": {"kind": "uniform", "min": "$soonest", "max": "$latest"},
        "at": at,
        "jitter": "10us",
    }


PARAMETERS = {
    "flows": 80,
    "receiver": IN_RACK,
    "smallest": "2KB",
    "largest": "50KB",
    "soonest": "10ms",
    "latest": "20ms",
}

BURST: Mapping[str, object] = {
    "title": "19 hosts of a rack answer one at once, U[2, 50] KB each",
    "duration": "200ms",
    "drain": "10s",
    "parameters": PARAMETERS,
    "topology": TREE,
    "switch": SWITCH,
    "tcp": TCP,
    "traffic": [_burst("100ms")],
}

BURST_AND_BACKGROUND: Mapping[str, object] = {
    **BURST,
    "title": "The same beside two flows that always have something to send",
    "duration": "1.6s",
    "parameters": {**PARAMETERS, "background_start": "100ms"},
    "traffic": [
        _burst("1.5s"),
        {"kind": "long-lived", "flows": 2, "from": "17-18", "to": "$receiver", "start": "$background_start"},
    ],
}


def across(change: Data, base: Data, scheme: str, metric: str = AFCT, **where: Value) -> Estimate:
    """How far a metric lies above that of another study at the same point of its grid, paired over the seeds."""
    ours, theirs = (data.at(**where).values(scheme, metric) for data in (change, base))
    common = [seed for seed in ours if seed in theirs]
    found = paired_difference([ours[seed] for seed in common], [theirs[seed] for seed in common])
    if found is None:
        raise ConfigError(f"{metric}: is zero at {where}, so nothing can be relative to it")
    least, most = (data.mean(scheme, metric, **where).lower_bound for data in (change, base))
    return replace(found, lower_bound=least, upper_bound=most)


def fct_over(result: RunResult, column: str, factor: float, name: str) -> Line:
    """The completion times of a run's flows in ms over a column times `factor`; of one that did not finish, its age."""
    flows = completion(result.flows, result.meta).sort(column)
    x, y = (flows[column] * factor).to_list(), (flows["elapsed_s"] * 1e3).to_list()
    return Line(name, x, y, lower_bound=flows["censored"].to_list())


def counts(data: Data, least: int = 0, most: int = 100) -> list[int]:
    """The numbers of connections in a study, within bounds."""
    return [int(n) for n in data.values("flows") if least <= int(n) <= most]


def everywhere(values: Mapping[str, Estimate], judge: Callable[[Estimate], Finding]) -> Finding:
    """One judgement over many points, all of which it has to hold for; reports the lowest and the highest of them."""
    whole = all_hold({name: judge(value) for name, value in values.items()})
    low, high = (pick(values, key=lambda name: values[name].value) for pick in (min, max))
    measured = {f"lowest: {low}": values[low].value, f"highest: {high}": values[high].value}
    return replace(whole, measured=measured, deciding="")


def best_everywhere(data: Data, scheme: str, others: Sequence[str], least: int = 0) -> Finding:
    """Whether a scheme's mean completion time is below that of the others at every count."""
    changes = {
        f"{scheme} over {other} at {n}": data.change(scheme, other, AFCT, flows=n)
        for n in counts(data, least)
        for other in others
    }
    return everywhere(changes, lower)


def tcp_worst(data: Data) -> Finding:
    """Whether every other scheme's mean completion time is below TCP's wherever TCP has timeouts."""
    changes = {
        f"{scheme} over tcp at {n}": data.change(scheme, "tcp", AFCT, flows=n)
        for n in counts(data)
        if data.measured(timeouts_in_run, "tcp", flows=n).value > 0
        for scheme in SCHEMES[1:]
    }
    return everywhere(changes, lower)


def alike(data: Data, schemes: Sequence[str], baseline: str, most: int = 100) -> Finding:
    """Whether the mean completion times of schemes lie within 5 % of a baseline's at every count."""
    changes = {
        f"{scheme} over {baseline} at {n}": data.change(scheme, baseline, AFCT, flows=n)
        for n in counts(data, most=most)
        for scheme in schemes
    }
    return everywhere(changes, lambda change: no_difference(change, 0.05))
