"""Fig. 12: DCTCP's query time over the segment size; and Sec. 3.2 on how many flows fit without loss."""

from collections.abc import Sequence

from shortflow._core import fast_bottleneck
from shortflow.lab import Data, Drawing, Figure, Finding, Line, Study, all_hold, at_most, drops_in_run, within
from shortflow.lab.study import Value
from shortflow.metrics.stats import rank_correlation
from shortflow.papers.fast.fig04 import query_ms
from shortflow.papers.fast.setup import BRISK_START, DCTCP, QUERIES, queries, query

HEADER = 40
PACKETS = (100, 250, 500, 750, 1000, 1250, 1500)
"""Sizes of whole packets in bytes."""


def mss(packet: int) -> str:
    """The payload of a packet of this size, as a setting."""
    return f"{packet - HEADER}B"


SIZES = queries(("dctcp",), {"workers": (25, 40, 50, 60, 80), "tcp.mss": [mss(packet) for packet in PACKETS]})
FITTING = queries(
    ("dctcp",),
    {"tcp.mss": [mss(packet) for packet in (500, 1000, 1500)], "workers": range(10, 151, 5)},
    {"repetitions": 10},
)
INCAST = Study(
    {**QUERIES, "traffic": [query(repeat="$repetitions", think="10ms", **{"from": "1-19"})]},
    ("dctcp",),
    over={"workers": range(20, 51)},
    settings=DCTCP,
    quick_settings={"repetitions": 10},
)
"""In the root's rack, where the round trip is 100 us."""

fig12 = Figure("fast/fig12", "Fig. 12", "Query time over the segment size", {"sizes": SIZES})
fitting = Figure(
    "fast/sec32-fit",
    "Sec. 3.2",
    "How many flows fit without loss",
    {"fitting": FITTING, "incast": INCAST},
)


def _times(sizes: Data, workers: int) -> dict[int, float]:
    """Mean query time in milliseconds by packet size."""
    return {
        packet: sizes.measured(query_ms, "dctcp", workers=workers, tcp__mss=mss(packet)).value for packet in PACKETS
    }


def _best(times: dict[int, float]) -> int:
    return min(times, key=lambda packet: times[packet])


@fig12.drawing
def over_sizes(sizes: Data) -> Sequence[Drawing]:
    lines = [
        Line(f"{workers} workers", PACKETS, list(_times(sizes, int(workers)).values()))
        for workers in sizes.values("workers")
    ]
    return [Drawing("DCTCP's mean query time", "packet size (bytes)", "query time (ms)", lines)]


@fig12.claim(
    "fig12-n25-larger-better",
    "with 25 workers larger segments give shorter query times",
    "rank correlation of size and time below -0.9",
    because=BRISK_START,
)
def larger_is_better(sizes: Data) -> Finding:
    times = list(_times(sizes, 25).values())
    correlation = rank_correlation(times)
    return at_most(correlation, -0.9, times_ms=times)


@fig12.claim("fig12-n40-1500", "40 workers with packets of 1500 bytes need about 12.5 ms", "6 to 20 ms")
def forty_of_1500(sizes: Data) -> Finding:
    return within(sizes.measured(query_ms, "dctcp", workers=40, tcp__mss=mss(1500)), 6, 20)


@fig12.claim(
    "fig12-n40-optimum",
    "with 40 workers packets of 1000 bytes avoid loss and are fastest",
    "the best size from 750 to 1250 bytes, at least 30 % faster than 1500",
)
def best_of_40(sizes: Data) -> Finding:
    times = _times(sizes, 40)
    best = _best(times)
    ratio = times[best] / times[1500]
    return all_hold(
        {
            "best": within(float(best), 750, 1250, times_ms=list(times.values())),
            "time over that of 1500": at_most(ratio, 0.7),
        }
    )


@fig12.claim(
    "fig12-large-n-smaller-better",
    "above 40 workers small segments beat large ones by avoiding loss",
    "the best size with 80 workers below that with 40, and below 1500 bytes",
)
def smaller_is_better(sizes: Data) -> Finding:
    best = {f"best of {n}": _best(_times(sizes, n)) for n in (40, 50, 60, 80)}
    return at_most(float(best["best of 80"]), min(best["best of 40"], 1500) - 1, **best)


def _most_without_loss(data: Data, key: str, **fixed: Value) -> int:
    """The largest count below the first one at which any run drops a packet."""
    most = 0
    for count in data.values(key):
        if data.measured(drops_in_run, "dctcp", **{key: count}, **fixed).value > 0:
            break
        most = int(count)
    return most


@fitting.claim(
    "sec32-smaller-mss-scales",
    "the number of flows that fit without loss is inverse to the segment size",
    "the most workers without a drop within 25 % of Eq. 7 for packets of 500, 1000 and 1500 bytes",
    because=BRISK_START,
)
def scales(fitting: Data) -> Finding:
    findings = {}
    for packet in (500, 1000, 1500):
        theory = fast_bottleneck(12_500.0, 30_000.0, 100_000.0, float(packet), 1.0, 2.0)["most_flows"]
        most = _most_without_loss(fitting, "workers", tcp__mss=mss(packet))
        findings[f"{packet} bytes"] = within(float(most), 0.75 * theory, 1.25 * theory, theory=theory)
    return all_hold(findings)


@fitting.claim(
    "eq7-matches-dctcp-35",
    "losses begin above 35 flows, as the DCTCP study found",
    "the first drop of answers of 10 KB in one rack from 30 to 45 workers",
    because=BRISK_START,
)
def onset_of_loss(incast: Data) -> Finding:
    return within(float(_most_without_loss(incast, "workers") + 1), 30, 45)
