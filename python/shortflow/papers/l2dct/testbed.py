"""Fig. 14 on real TCP: a long flow, and n that start together, over 100 Mbps with K = 8.

The paper's flows have 100 MB and the largest weight to their end; so have these at any size, for the knees of L2DCT's
profile lie beyond it, where the long flow is when they start.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from shortflow.comparison import Comparison
from shortflow.runner import summary
from shortflow.scenario import load_scenario
from shortflow.stats import Estimate
from shortflow.tables import Column, Section, number, percent
from shortflow.testbed import Account, linux_settings, measure_on_testbed

SCENARIO = "testbed-fig14"
SCHEMES = ("tcp", "tcp-ecn", "dctcp", "l2dct")
FLOWS = (1, 2, 4, 8)
FULL_MB, SCALED_MB = 100, 5
KNEES = (1.1, 1.2)
"""Where L2DCT's weight begins and ends to fall, in sizes of a short flow."""
FAIR_S_PER_MB = 0.08
"""Less than a short flow of a megabyte takes at the full rate: so long both kinds of flows run."""

Told = Callable[[str, int, int, Account], None]
"""Told after each run: the scheme, the number of flows, the repetition, and how well the testbed kept time."""


@dataclass(frozen=True)
class Fig14:
    """The runs, by the number of simultaneous flows, and how well the testbed kept time in each."""

    size_mb: int
    points: dict[int, Comparison]
    accounts: list[Account]


def measure(flows: Sequence[int], repeat: int, size_mb: int, told: Told) -> Fig14:
    """Run every scheme with every number of flows so many times; the seed shifts the starts by up to 10 ms."""
    points: dict[int, Comparison] = {}
    accounts: list[Account] = []
    title = load_scenario(SCENARIO).title
    for count in flows:
        runs = []
        for seed in range(1, repeat + 1):
            for scheme in SCHEMES:
                measured = measure_on_testbed(SCENARIO, scheme, seed, _settings(scheme, count, size_mb))
                runs.append(summary(measured.result))
                accounts.append(measured.account)
                told(scheme, count, seed, measured.account)
        points[count] = Comparison(SCENARIO, title, {"flows": str(count)}, runs)
    return Fig14(size_mb, points, accounts)


def _settings(scheme: str, flows: int, size_mb: int) -> dict[str, str]:
    changed = {
        "flows": str(flows),
        "size": f"{size_mb}MB",
        "until": f"{1000 + round(size_mb * FAIR_S_PER_MB * 1000)}ms",
    }
    if scheme == "l2dct":
        low, high = (round(size_mb * knee * 1000) for knee in KNEES)
        changed |= {"transport.knee_low": f"{low}KB", "transport.knee_high": f"{high}KB"}
    return linux_settings(SCENARIO, scheme, changed)


def sections(fig14: Fig14) -> Iterator[Section]:
    """(a) mean completion times and L2DCT's reduction; (b) throughput of both kinds of flows while they run."""
    counts = [str(count) for count in fig14.points]
    points = list(fig14.points.values())
    times = [
        Column(f"{name}\n(s)", [_shown(each.estimate(name, "afct_short_s")) for each in points]) for name in SCHEMES
    ]
    below = [
        Column(f"l2dct vs\n{name}\n(%)", [percent(each.difference("l2dct", name, "afct_short_s")) for each in points])
        for name in ("dctcp", "tcp-ecn", "tcp")
    ]
    heading = f"(a) Mean completion time of n simultaneous flows of {fig14.size_mb} MB beside a long one"
    yield Section(heading, [Column("n", counts)], [*times, *below])
    rows = [(count, scheme) for count in fig14.points for scheme in SCHEMES]
    lead = [Column("n", [str(count) for count, _ in rows]), Column("scheme", [scheme for _, scheme in rows])]
    metrics = {"long flow": "goodput_long_bps", "n flows together": "throughput_short_bps"}
    rates = [
        Column(f"{label}\n(Mbps)", [_shown(fig14.points[n].estimate(scheme, name), 1e6) for n, scheme in rows])
        for label, name in metrics.items()
    ]
    yield Section("(b) Throughput while both kinds run", lead, rates)


def _shown(estimate: Estimate | None, divisor: float = 1.0) -> str:
    if estimate is None:
        return "–"
    spread = None if estimate.half_width is None else estimate.half_width / divisor
    return number(estimate.value / divisor, spread)
