"""Fig. 12: DCTCP's query time over the segment size; Sec. 3.2 on the number of flows without loss."""

from collections.abc import Sequence
from itertools import takewhile

from shortflow import lab
from shortflow.lab.study import Value
from shortflow.papers.fast.fig04 import QUERY
from shortflow.papers.fast.setup import DCTCP, QUERIES, queries, query
from shortflow.papers.theory import Bottleneck

HEADER = 40
PACKETS = (100, 250, 500, 750, 1000, 1250, 1500)
"""Sizes of whole packets in bytes."""


def mss(packet: int) -> str:
    """Payload of a packet of this size, as a setting."""
    return f"{packet - HEADER}B"


SIZES = queries(("dctcp",), {"workers": (25, 40, 50, 60, 80), "tcp.mss": [mss(packet) for packet in PACKETS]})
FITTING = queries(
    ("dctcp",),
    {"tcp.mss": [mss(packet) for packet in (500, 1000, 1500)], "workers": range(10, 151, 5)},
    {"repetitions": 10},
)
INCAST = lab.Study(
    {**QUERIES, "traffic": [query(repeat="$repetitions", think="10ms", **{"from": "1-19"})]},
    ("dctcp",),
    over={"workers": range(20, 51)},
    settings=DCTCP,
    quick_settings={"repetitions": 10},
)
"""In the root's rack, with an RTT of 100 us."""


def _times(sizes: lab.Data, workers: int) -> dict[int, float]:
    """Mean query time in seconds by packet size."""
    return {packet: sizes.mean("dctcp", QUERY, workers=workers, tcp__mss=mss(packet)).value for packet in PACKETS}


def _best(workers: int) -> lab.Quantity:
    def size(sizes: lab.Data) -> float:
        times = _times(sizes, workers)
        return float(min(times, key=lambda packet: times[packet]))

    return lab.computed(f"fastest packet size with {workers} workers", size, "B")


def _gain(sizes: lab.Data) -> float:
    """Time of the best size over that of 1500 bytes, less 1, with 40 workers."""
    times = _times(sizes, 40)
    return min(times.values()) / times[1500] - 1


def _most_without_loss(data: lab.Data, **fixed: Value) -> int:
    """Largest count of workers below the first with a packet drop in any run."""
    drops = {int(n): data.mean("dctcp", lab.drops_in_run, workers=n, **fixed).value for n in data.values("workers")}
    return max(takewhile(lambda n: drops[n] == 0, drops), default=0)


def _over_theory(fitting: lab.Data) -> dict[str, float]:
    """Most workers without a drop, over Eq. 7, by packet size."""
    theory = {packet: Bottleneck(12_500.0, 30_000.0, 100_000.0, packet).most_flows(2.0) for packet in (500, 1000, 1500)}
    return {f"{n} bytes": _most_without_loss(fitting, tcp__mss=mss(n)) / most for n, most in theory.items()}


def _draw(sizes: lab.Data) -> Sequence[lab.Drawing]:
    lines = [
        lab.Line(f"{workers} workers", PACKETS, [1e3 * time for time in _times(sizes, int(workers)).values()])
        for workers in sizes.values("workers")
    ]
    lines.append(lab.Line("40 workers", [1500.0], [12.5], printed=True))
    return [lab.Drawing("DCTCP's mean query time", "packet size (bytes)", "query time (ms)", lines)]


BY_SIZE = lab.level("dctcp", QUERY).over("tcp.mss")

fig12 = lab.Figure("fast/fig12", "Fig. 12", "Query time over the segment size", {"sizes": SIZES}).decides(
    lab.Claim("fast/fig12-n25-larger-better").says(
        "with 25 workers larger segments give shorter query times", BY_SIZE.at(workers=25).trend().at_most(-0.9)
    ),
    lab.Claim("fast/fig12-n40-1500").says(
        "40 workers with packets of 1500 bytes need about 12.5 ms",
        BY_SIZE.at(workers=40, tcp__mss=mss(1500)).near(0.0125),
    ),
    lab.Claim("fast/fig12-n40-optimum").says(
        "with 40 workers packets of 1000 bytes avoid loss and are fastest",
        _best(40).near(1000),
        lab.computed(
            "time of the fastest size with 40 workers over the time of 1500 bytes", _gain, lab.RELATIVE, 0.0
        ).at_most(-0.3),
    ),
    lab.Claim("fast/fig12-large-n-smaller-better").says(
        "above 40 workers small segments beat large ones by avoiding loss",
        _best(80).at_most(1499),
        lab.difference(_best(80), _best(40)).at_most(-1),
        shows=[_best(50), _best(60)],
    ),
    draws=[_draw],
)
fitting = lab.Figure(
    "fast/sec32-fit", "Sec. 3.2", "Number of flows without loss", {"fitting": FITTING, "incast": INCAST}
).decides(
    lab.Claim("fast/sec32-smaller-mss-scales").says(
        "the number of flows that fit without loss is inverse to the segment size",
        lab.computed("most workers without a drop over Eq. 7", _over_theory).near(1.0),
    ),
    lab.Claim("fast/eq7-matches-dctcp-35").says(
        "losses begin above 35 flows, as the DCTCP study found",
        lab.computed(
            "first number of workers in one rack with a drop", lambda incast: float(_most_without_loss(incast) + 1)
        ).near(35),
    ),
)
