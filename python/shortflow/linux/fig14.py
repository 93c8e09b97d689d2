"""Fig. 14 on real TCP: a long flow and n simultaneous ones, over 100 Mbps with K = 8.

The paper's flows have 100 MB and the largest weight to their end. The same holds here at any size: the knees of L2DCT's
profile scale with it, and the long flow starts beyond them.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shortflow.lab import Claim, Data, Finding, not_tested
from shortflow.lab.study import Position, Value
from shortflow.linux import testbed
from shortflow.linux.kernels import Kernel
from shortflow.metrics.stats import Estimate
from shortflow.papers.l2dct import fig14 as paper
from shortflow.records import Account
from shortflow.report.tables import Column, Section
from shortflow.report.wording import percent, shown
from shortflow.reproduction.engine import Judged, decide
from shortflow.result import Result
from shortflow.results import Results
from shortflow.scenario import load_scenario
from shortflow.store.runs import Store

SCENARIO = "testbed-fig14"
SCHEMES = ("tcp", "tcp-ecn", "dctcp", "l2dct")
FULL_MB, SCALED_MB = 100, 5
KNEES = (1.1, 1.2)
"""Knees of L2DCT's weight, in sizes of a short flow."""
START_S_PER_MB = 0.2
"""Start of the short flows, per megabyte of their size: the long flow is far beyond the knees."""
FAIR_S_PER_MB = 0.08
"""Less than the FCT per megabyte at the full rate: both kinds of flows overlap for this time."""

_NOT_MEASURED = Estimate(math.nan, None, 0)
"""Placeholder if the testbed kept time in no run."""

Told = Callable[[str, int, int, Account], None]
"""Called after each run with scheme, number of flows, repetition and timing."""


@dataclass(frozen=True)
class _Watched(Data):
    """Runs that record the cells a claim reads."""

    cells: set[tuple[int, str]] = field(default_factory=set)
    """Number of flows and scheme of each cell read."""

    def mean(self, scheme: str, metric: str, **where: Value) -> Estimate:
        self.cells.add((int(where["flows"]), scheme))
        return self.at(**where).mean(scheme, metric) or _NOT_MEASURED

    def change(self, scheme: str, baseline: str, metric: str, **where: Value) -> Estimate:
        self.cells.update((int(where["flows"]), name) for name in (scheme, baseline))
        return self.at(**where).change(scheme, baseline, metric) or _NOT_MEASURED


@dataclass(frozen=True)
class Fig14:
    """Runs in which the testbed kept time, by number of simultaneous flows, and the timing of all."""

    size_mb: int
    points: Mapping[int, Results]
    accounts: Mapping[tuple[int, str], Sequence[Account]]
    store: Store

    def claims(self) -> list[Judged]:
        """The paper's claims, decided as in the simulation.

        A claim is undecided if the testbed kept time in less than half of its runs.
        """
        claims = [*paper.fig14a.claims, *paper.fig14b.claims]
        return [Judged(each, self._decide(each)) for each in claims]

    def _decide(self, claim: Claim) -> Finding:
        points: dict[Position, Results] = {(count,): each for count, each in self.points.items()}
        data = _Watched(paper.TESTBED, ("flows",), points)
        found = decide(claim, {"testbed": data})
        kept = [testbed.is_trustworthy(account) for cell in data.cells for account in self.accounts.get(cell, ())]
        if 2 * sum(kept) < len(kept):
            return not_tested(f"undecided: the testbed kept time in {sum(kept)} of the {len(kept)} runs of this claim")
        return found

    @property
    def all_kept_time(self) -> bool:
        """True if the testbed kept time in every run."""
        return all(testbed.is_trustworthy(account) for accounts in self.accounts.values() for account in accounts)

    def kept_time(self, count: int, scheme: str | None = None) -> str:
        """Number of runs in which the testbed kept time, as text."""
        accounts = [
            account
            for place, found in self.accounts.items()
            for account in found
            if place[0] == count and scheme in (None, place[1])
        ]
        return f"{sum(map(testbed.is_trustworthy, accounts))} of {len(accounts)}"


def measure(
    flows: Sequence[int],
    repeat: int,
    size_mb: int,
    out: Path,
    told: Told,
    attempts: int,
    kernel: Kernel = testbed.THIS_KERNEL,
) -> Fig14:
    """Runs every scheme with every number of flows `repeat` times. The seed shifts starts by up to 10 ms.

    Finished runs are kept in `out`. Runs that did not keep time are repeated, up to `attempts` in total. Problems are
    reported before the first run.
    """
    store = testbed.measured_runs(out, kernel)
    _check(flows, repeat, size_mb, store, kernel)
    points: dict[int, Results] = {}
    accounts: dict[tuple[int, str], list[Account]] = {}
    title = load_scenario(SCENARIO).title
    for count in flows:
        runs: list[Result] = []
        for seed in range(1, repeat + 1):
            for scheme in SCHEMES:
                settings = _settings(scheme, count, size_mb)
                measured = testbed.measure_on_testbed(
                    SCENARIO, scheme, seed, settings, store=store, attempts=attempts, kernel=kernel
                )
                if testbed.is_trustworthy(measured.meta["testbed"]):
                    runs.append(measured.alone())
                accounts.setdefault((count, scheme), []).append(measured.meta["testbed"])
                if not measured.reused:
                    told(scheme, count, seed, measured.meta["testbed"])
        points[count] = Results(runs, SCENARIO, title, {"flows": str(count), "size": f"{size_mb}MB"})
    return Fig14(size_mb, points, accounts, store)


def _check(flows: Sequence[int], repeat: int, size_mb: int, store: Store, kernel: Kernel) -> None:
    """Checks that the missing runs can start."""
    for scheme in SCHEMES if kernel is testbed.THIS_KERNEL else ():
        for count in flows:
            settings = _settings(scheme, count, size_mb)
            if not all(testbed.is_kept(store, SCENARIO, scheme, seed, settings) for seed in range(1, repeat + 1)):
                testbed.check_testbed(SCENARIO, scheme, settings, kernel)
                break


def _settings(scheme: str, flows: int, size_mb: int) -> dict[str, str]:
    start_ms = round(size_mb * START_S_PER_MB * 1000)
    changed = {
        "flows": str(flows),
        "size": f"{size_mb}MB",
        "start": f"{start_ms}ms",
        "until": f"{start_ms + round(size_mb * FAIR_S_PER_MB * 1000)}ms",
    }
    if scheme == "l2dct":
        low, high = (round(size_mb * knee * 1000) for knee in KNEES)
        changed |= {"transport.knee_low": f"{low}KB", "transport.knee_high": f"{high}KB"}
    return testbed.linux_settings(SCENARIO, scheme, changed)


def sections(fig14: Fig14) -> Iterator[Section]:
    """(a) Mean FCT and L2DCT's reduction; (b) throughput of both kinds of flows while they overlap."""
    counts = [str(count) for count in fig14.points]
    points = list(fig14.points.values())
    times = [Column(f"{name}\n(s)", [shown(each.mean(name, "afct_short_s")) for each in points]) for name in SCHEMES]
    below = [
        Column(f"l2dct vs\n{name}\n(%)", [percent(each.change("l2dct", name, "afct_short_s")) for each in points])
        for name in ("dctcp", "tcp-ecn", "tcp")
    ]
    heading = f"(a) Mean completion time of n simultaneous flows of {fig14.size_mb} MB beside a long one"
    kept = Column("kept\ntime", [fig14.kept_time(count) for count in fig14.points])
    yield Section(heading, [Column("n", counts)], [*times, *below, kept])
    rows = [(count, scheme) for count in fig14.points for scheme in SCHEMES]
    lead = [Column("n", [str(count) for count, _ in rows]), Column("scheme", [scheme for _, scheme in rows])]
    metrics = {"long flow": "goodput_long_bps", "n flows together": "throughput_short_bps"}
    rates = [
        Column(f"{label}\n(Mbps)", [shown(fig14.points[n].mean(scheme, name), 1e6) for n, scheme in rows])
        for label, name in metrics.items()
    ]
    kept = Column("kept\ntime", [fig14.kept_time(*row) for row in rows])
    yield Section("(b) Throughput while both kinds run", lead, [*rates, kept])
