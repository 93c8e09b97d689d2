"""Figs. 10 to 12: fairness of long flows, and DCTCP's queries over the segment size; Sec. 3.2 on many DCTCP flows."""

from collections.abc import Sequence
from itertools import takewhile

import polars as pl

from shortflow import Estimate
from shortflow.api.runs import Result
from shortflow.api.theory import Bottleneck
from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.common import burst_of, fairness, means, ns_study, number_of, series, traces
from shortflow_papers.papers.fast.fig04 import QUERY
from shortflow_papers.papers.fast.setup import DCTCP, OF_SCHEME, QUERIES, ROOT, queries, query, tree

FLOWS = 5
STEP_S = 3.0
SAMPLE_S = 0.1
SETTLING_S = 0.5
PAYLOAD = 1460 / 1500
"""Share of payload in a full-size packet."""

ARRIVING = tree(
    "Five flows of 1 GB in a rack, one more every 3 s",
    f"{FLOWS * STEP_S:g}s",
    [burst_of(i + 1, ROOT, "1GB", f"flow{i}", at=f"{i * STEP_S:g}s") for i in range(FLOWS)],
)
ARRIVING["measure"] = {"ports": ["tor0->h0"], "sample_every": f"{SAMPLE_S:g}s"}
ARRIVING["drain"] = "0s"

CONVERGENCE = ns_study(ARRIVING, ("dctcp", "fast"), settings=DCTCP, of_scheme=OF_SCHEME)

LONG = {
    **tree(
        "Long flows in one rack of 46 servers",
        "10s",
        [{"kind": "long-lived", "flows": "$flows", "from": "1-45", "to": ROOT, "stagger": "2ms"}],
        hosts=46,
    ),
    "parameters": {"flows": 45},
    "warmup": "500ms",
    "measure": {"ports": ["tor0->h0"], "sample_every": "1ms"},
}
FAIR = ns_study(LONG, ("dctcp", "fast"), settings=DCTCP, of_scheme=OF_SCHEME, quick={"duration": "4s"})
COUNTS = (5, 10, 14, 18, 22, 26, 30, 35, 40)
WINDOWS = ns_study(
    LONG,
    ("dctcp",),
    over={"flows": COUNTS},
    settings={**DCTCP, "duration": "3s"},
    quick={"flows": (5, 10, 18, 26, 35), "duration": "1s"},
)


def _shares(result: Result, flow: int) -> pl.DataFrame:
    """Throughput of a flow in bit/s, for the sampling interval that ends at each `time_s`."""
    return series(result, "throughput_bps", f"flow{flow}")


def _deviation(active: int) -> lab.Measure:
    """Measure: largest relative deviation of a flow from the fair share, from 0.5 s after the last start on."""

    def worst(result: Result) -> float:
        begin = (active - 1) * STEP_S + SETTLING_S
        inside = pl.col("time_s").is_between(begin, begin + SETTLING_S + SAMPLE_S / 2, closed="right")
        means = [float(_shares(result, flow).filter(inside)["value"].to_numpy().mean()) for flow in range(active)]
        return max(abs(mean * active / (1e9 * PAYLOAD) - 1) for mean in means)

    return lab.Measure(f"largest deviation of {active} from the fair share 0.5 s after a start", "", worst)


@lab.per_run("mean window", "segments")
def mean_window(result: Result) -> float:
    """Mean window in segments, over flows and the time after the warm-up."""
    return float(series(result, "cwnd_seg", since_s=result.meta["warmup_s"])["value"].to_numpy().mean())


@number_of("mean window over the larger of W* and 2")
def over_critical(windows: lab.Data) -> dict[str, Estimate]:
    """Mean window over max(W*, 2), by number of flows. W* is for 1 Gbps, 100 us and K = 30 KB."""
    return {f"{n} flows": windows.mean("dctcp", _relative_window(float(n)), flows=n) for n in windows.values("flows")}


def _relative_window(flows: float) -> lab.Measure:
    theory = max(Bottleneck(12_500.0, 30_000.0, 100_000.0, 1_500.0).critical_window(flows), 2.0)
    return lab.Measure("mean window over the computed one", "", lambda result: mean_window(result) / theory)


def _draw_shares(convergence: lab.Data) -> Sequence[lab.Drawing]:
    (first, *_) = convergence.results("fast")
    shares = {f"flow {flow + 1}": _shares(first, flow) for flow in range(FLOWS)}
    starts = [n * STEP_S + SETTLING_S for n in range(FLOWS)]
    fair = [1e3 * PAYLOAD / (n + 1) for n in range(FLOWS)]
    equal = lab.Line("equal shares", starts, fair, printed=True, apart=True)
    return [traces("Throughput of five FaST flows", "throughput (Mbps)", shares, 1e6, [equal])]


fig10 = lab.Figure("fast/fig10", "Fig. 10", "Five flows that start 3 s apart", {"convergence": CONVERGENCE})
fig10.claim("fast/fig10-convergence").says(
    "five flows that start 3 s apart soon share the link equally",
    *(lab.level("fast", _deviation(active)).within(high=0.2) for active in range(1, FLOWS + 1)),
)
fig10.draw(_draw_shares)
fig11 = lab.Figure("fast/fig11", "Fig. 11", "Fairness among 45 flows", {"fair": FAIR})
fig11.claim("fast/fig11-jain", "Fig. 11, Eq. 10").says(
    "45 long flows share the link with a Jain index of 0.999", lab.level("fast", fairness).within(low=0.98)
)
minimum = lab.Figure("fast/sec32", "Sec. 3.2", "Windows of many long DCTCP flows", {"windows": WINDOWS})
minimum.claim("fast/sec32-window-at-minimum").says(
    "from 14 flows on DCTCP's windows stay at two segments", over_critical.within(0.75, 1.25)
)

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
INCAST = ns_study(
    {**QUERIES, "traffic": [query(repeat="$repetitions", think="10ms", **{"from": "1-19"})]},
    ("dctcp",),
    over={"workers": range(20, 51)},
    settings=DCTCP,
    quick={"repetitions": 10},
)
"""Study in the root's rack, with an RTT of 100 us."""


def _times(sizes: lab.Data, workers: int) -> dict[int, float]:
    """Mean query time in seconds by packet size."""
    return dict(zip(PACKETS, means(sizes, "dctcp", QUERY, "tcp.mss", workers=workers).values(), strict=True))


def _best(workers: int) -> lab.Quantity:
    @number_of(f"fastest packet size with {workers} workers", "B")
    def size(sizes: lab.Data) -> float:
        times = _times(sizes, workers)
        return float(min(times, key=lambda packet: times[packet]))

    return size


@number_of("time of the fastest size with 40 workers over the time of 1500 bytes", lab.RELATIVE, 0.0)
def gain(sizes: lab.Data) -> float:
    """Relative difference of the query time with the best packet size from that with 1500 bytes, at 40 workers."""
    times = _times(sizes, 40)
    return min(times.values()) / times[1500] - 1


def _most_without_loss(data: lab.Data, **fixed: Value) -> int:
    """Largest number of workers below the smallest number at which a run drops a packet; 0 if there is none."""
    drops = means(data, "dctcp", lab.drops_in_run, "workers", **fixed)
    return max(takewhile(lambda n: drops[n] == 0, drops), default=0)


@number_of("most workers without a drop over Eq. 7")
def over_eq7(fitting: lab.Data) -> dict[str, float]:
    """Ratio to the largest number of flows whose windows are two segments by Eq. 7, by packet size."""
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

fig12 = lab.Figure("fast/fig12", "Fig. 12", "Query time over the segment size", {"sizes": SIZES})
fig12.claim("fast/fig12-n25-larger-better").says(
    "with 25 workers larger segments give shorter query times", BY_SIZE.at(workers=25).trend().within(high=-0.9)
)
fig12.claim("fast/fig12-n40-1500").says(
    "40 workers with packets of 1500 bytes need about 12.5 ms",
    BY_SIZE.at(workers=40, tcp__mss=mss(1500)).near(0.0125),
    fitted=True,
)
fig12.claim("fast/fig12-n40-optimum").says(
    "with 40 workers packets of 1000 bytes avoid loss and are fastest", _best(40).near(1000), gain.within(high=-0.3)
)
fig12.claim("fast/fig12-large-n-smaller-better").says(
    "above 40 workers small segments beat large ones by avoiding loss",
    _best(80).within(high=1499),
    lab.difference(_best(80), _best(40)).within(high=-1),
    shows=[_best(50), _best(60)],
)
fig12.draw(_draw)
fitting = lab.Figure(
    "fast/sec32-fit", "Sec. 3.2", "Number of flows without loss", {"fitting": FITTING, "incast": INCAST}
)
fitting.claim("fast/sec32-smaller-mss-scales").says(
    "the number of flows that fit without loss is inverse to the segment size", over_eq7.near(1.0)
)
fitting.claim("fast/eq7-matches-dctcp-35").says(
    "losses begin above 35 flows, as the DCTCP study found",
    lab.computed(
        "first number of workers in one rack with a drop", lambda incast: float(_most_without_loss(incast) + 1)
    ).near(35),
)
