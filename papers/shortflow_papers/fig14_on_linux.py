"""Fig. 14 on real TCP: a long flow and n simultaneous flows, over 100 Mbps with K = 8.

The paper's simultaneous flows have 100 MB each and keep the largest weight until they end. Here they do so at any size,
because the knees of L2DCT's weight scale with the size. When they start, the long flow is beyond the knees.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shortflow import Estimate
from shortflow.api.pages import Column, Section, percent, shown
from shortflow.api.runs import Plan, Results, Store
from shortflow.api.scenarios import ALPHA, Scheme, load_scenario
from shortflow_linux.api import Testbed, is_trustworthy, kept_time, linux_settings, real_runs
from shortflow_papers.lab import Claim, Data, Finding, MetricOrFunction, not_tested
from shortflow_papers.lab.study import Position, Value
from shortflow_papers.papers.l2dct import fig14 as paper
from shortflow_papers.reproduction.judged import Judged

SCENARIO = "testbed-fig14"
SCHEMES = ("tcp", "tcp-ecn", "dctcp", "l2dct")
FULL_MB, SCALED_MB = 100, 5
KNEES = (1.1, 1.2)
"""Knees of L2DCT's weight, as multiples of the size of a simultaneous flow."""
START_S_PER_MB = 0.2
"""Start of the simultaneous flows, in seconds per MB of their size. The long flow is then far beyond the knees."""
FAIR_S_PER_MB = 0.08
"""Time in which both kinds of flows certainly overlap, in seconds per MB: less than the FCT at the full rate."""

_NOT_MEASURED = Estimate(math.nan, None, 0)
"""Estimate for a point at which the testbed kept time in no run."""


@dataclass(frozen=True)
class _Watched(Data):
    """Data that record which of their points and schemes a claim reads."""

    cells: set[tuple[int, str]] = field(default_factory=set)
    """Number of simultaneous flows, and scheme, of each value that was read."""

    def mean(self, scheme: str, metric: MetricOrFunction, **where: Value) -> Estimate:
        self.cells.add((int(where["flows"]), scheme))
        return self.at(**where).mean(scheme, str(metric)) or _NOT_MEASURED

    def change(self, scheme: str, baseline: str, metric: MetricOrFunction, **where: Value) -> Estimate:
        self.cells.update((int(where["flows"]), name) for name in (scheme, baseline))
        return self.at(**where).change(scheme, baseline, str(metric)) or _NOT_MEASURED


def fig14_claims(points: Mapping[int, Results]) -> list[Judged]:
    """Verdicts on the paper's claims, by the rules for the simulation.

    A claim is untested if the testbed kept time in fewer than half of the claim's runs. `points` has the runs by number
    of simultaneous flows.
    """
    claims = (*paper.fig14a.claims, *paper.fig14b.claims)
    measured = [replace(each, statement=each.statement.removeprefix(paper.TWIN)) for each in claims]
    return [Judged(each, _decide(each, points)) for each in measured]


def _decide(claim: Claim, points: Mapping[int, Results]) -> Finding:
    positions: dict[Position, Results] = {(count,): each for count, each in points.items()}
    data = _Watched(paper.TESTBED, ("flows",), positions)
    found = claim.judge({"testbed": data})
    runs = [run for count, scheme in data.cells for run in real_runs(points[count], scheme)]
    if 2 * sum(map(is_trustworthy, runs)) < len(runs):
        kept = kept_time(runs).replace(" of ", " of the ")
        return not_tested(f"the testbed kept time in {kept} runs of this claim")
    return found


def measure_fig14(flows: Sequence[int], repeat: int, size_mb: int, bed: Testbed, store: Store) -> dict[int, Results]:
    """Runs every scheme with every number of simultaneous flows `repeat` times. The seed shifts starts by up to 10 ms.

    Returns the runs by number of simultaneous flows. Before the first run, the testbed checks one run of each scheme
    that still has runs to do, and raises an error if the run could not start.
    """
    loaded, seeds = load_scenario(SCENARIO), range(1, repeat + 1)
    planned = {
        (count, scheme): Plan(loaded, [scheme]).runs(seeds, _settings(scheme, count, size_mb))
        for count in flows
        for scheme in SCHEMES
    }
    for scheme in SCHEMES:
        for count in flows:
            stored = [store.find(run) for run in planned[count, scheme]]
            if not all(each and is_trustworthy(each) for each in stored):
                bed.check(planned[count, scheme][0])
                break
    runs = [planned[count, scheme][seed - 1] for count in flows for seed in seeds for scheme in SCHEMES]
    found = [result.alone() for result in bed.answer(runs, store)]
    points = {}
    for count in flows:
        here = [result for result in found if result.at["flows"] == str(count)]
        kept, late = ([each for each in here if is_trustworthy(each) is on_time] for on_time in (True, False))
        settings = {"flows": str(count), "size": f"{size_mb}MB"}
        points[count] = Results(kept, SCENARIO, loaded.title, settings, superseded=late)
    return points


def _settings(scheme: str, flows: int, size_mb: int) -> dict[str, str]:
    start_ms = round(size_mb * START_S_PER_MB * 1000)
    changed = {
        "flows": str(flows),
        "size": f"{size_mb}MB",
        "start": f"{start_ms}ms",
        "until": f"{start_ms + round(size_mb * FAIR_S_PER_MB * 1000)}ms",
    }
    if Scheme.accepts(scheme, ALPHA):
        changed[ALPHA] = "0"
    if scheme == "l2dct":
        low, high = (round(size_mb * knee * 1000) for knee in KNEES)
        changed |= {"transport.knee_low": f"{low}KB", "transport.knee_high": f"{high}KB"}
    return linux_settings(SCENARIO, scheme, changed)


def fig14_sections(found: Mapping[int, Results], size_mb: int) -> Iterator[Section]:
    """Tables of (a) mean FCT and its reduction by L2DCT, and (b) throughput while both kinds of flows overlap."""
    counts, points = [str(count) for count in found], list(found.values())
    times = [Column(f"{name}\n(s)", [shown(each.mean(name, "afct_short_s")) for each in points]) for name in SCHEMES]
    below = [
        Column(f"l2dct vs\n{name}\n(%)", [percent(each.change("l2dct", name, "afct_short_s")) for each in points])
        for name in ("dctcp", "tcp-ecn", "tcp")
    ]
    heading = f"(a) Mean completion time of n simultaneous flows of {size_mb} MB beside a long one"
    kept = Column("kept\ntime", [kept_time(real_runs(each)) for each in points])
    yield Section(heading, [Column("n", counts)], [*times, *below, kept])
    rows = [(count, scheme) for count in found for scheme in SCHEMES]
    lead = [Column("n", [str(count) for count, _ in rows]), Column("scheme", [scheme for _, scheme in rows])]
    metrics = {"long flow": "goodput_long_bps", "n flows together": "throughput_short_bps"}
    rates = [
        Column(f"{label}\n(Mbps)", [shown(found[n].mean(scheme, name), 1e6) for n, scheme in rows])
        for label, name in metrics.items()
    ]
    kept = Column("kept\ntime", [kept_time(real_runs(found[n], scheme)) for n, scheme in rows])
    yield Section("(b) Throughput while both kinds run", lead, [*rates, kept])
