"""Fig. 6: incast, over the number of servers and over the size of their answers."""

from collections.abc import Sequence

from shortflow.lab import (
    Data,
    Drawing,
    Figure,
    Finding,
    Line,
    Study,
    all_hold,
    at_most,
    curves,
    fact,
    timeouts_in_run,
    within,
)
from shortflow.lab.study import Value
from shortflow.papers.l2dct.setup import means, over_trend

SERVERS = Study(
    "incast",
    schemes=("tcp", "dctcp", "l2dct"),
    over={"servers": (1, 5, 10, 15, 20, 25, 30, 35, 40)},
    settings={"traffic.1.repeat": 100, "duration": "10s"},
    quick_settings={"traffic.1.repeat": 10, "duration": "1s"},
)

MEANS_KB = (50, 100, 150, 200, 300, 400, 500, 600)
"""Mean sizes of the five servers' answers, each uniform from half to one and a half times the mean."""

_SIZES = {mean: f'{{ kind = "uniform", min = "{mean // 2}KB", max = "{mean * 3 // 2}KB" }}' for mean in MEANS_KB}
ANSWERS = Study(
    "incast",
    schemes=("tcp", "dctcp", "l2dct"),
    over={"traffic.1.sizes": tuple(_SIZES.values())},
    settings={"servers": 5, "traffic.1.repeat": 100, "duration": "10s"},
    quick_settings={"traffic.1.repeat": 10, "duration": "1s"},
)
FITTED = 4
"""The first points of a curve, through which the line goes that the others are compared to."""
JUMP = 1.5

FEW = "TCP's timeouts begin with 35 servers, but of 10 ms each they move the mean little, whatever the choices"

fig6a = Figure("l2dct/fig6a", "Fig. 6(a)", "Incast over the number of servers", {"servers": SERVERS})
fig6b = Figure("l2dct/fig6b", "Fig. 6(b)", "Incast over the size of answers", {"answers": ANSWERS})


def _timeouts(data: Data, scheme: str, key: str) -> list[float]:
    """The timeouts in a run, at every value of the only key of a grid."""
    points: list[dict[str, Value]] = [{key.replace(".", "__"): value} for value in data.values(key)]
    return [data.measured(timeouts_in_run, scheme, **point).value for point in points]


def _knee(x: Sequence[float], afct: Sequence[float], timeouts: Sequence[float]) -> float:
    """The first x with timeouts and a mean time of more than 1.5 times the line; infinity where there is none."""
    over = over_trend(x, afct, FITTED)
    return next(
        (at for at, jump, late in zip(x, over, timeouts, strict=True) if jump > JUMP and late > 0), float("inf")
    )


def _knee_of(data: Data, scheme: str, key: str, x: Sequence[float]) -> float:
    return _knee(x, means(data, scheme, "afct_short_s", key), _timeouts(data, scheme, key))


def _servers(servers: Data) -> list[float]:
    return [float(value) for value in servers.values("servers")]


@fig6a.drawing
def over_servers(servers: Data) -> Sequence[Drawing]:
    title = "Mean completion time of an answer"
    return [curves(servers, "servers", "afct_short_s", x_label="servers", title=title)]


@fig6b.drawing
def over_sizes(answers: Data) -> Sequence[Drawing]:
    lines = [
        Line(name, MEANS_KB, [1e3 * afct for afct in means(answers, name, "afct_short_s", "traffic.1.sizes")])
        for name in answers.study.schemes
    ]
    return [Drawing("Mean completion time of an answer", "mean size (KB)", "mean FCT (ms)", lines)]


@fig6a.claim(
    "fig6a-tcp-collapse",
    "TCP's mean FCT deteriorates once more than 25 servers answer",
    "the first point with timeouts and 1.5 times the line through the first four lies within 15 to 35 servers",
    because=FEW,
)
def tcp_knee(servers: Data) -> Finding:
    knee = _knee_of(servers, "tcp", "servers", _servers(servers))
    return within(knee, 15, 35, timeouts=_timeouts(servers, "tcp", "servers"))


@fig6a.claim(
    "fig6a-l2dct-no-incast",
    "L2DCT does not collapse with up to 40 servers, and stays below TCP",
    "no knee up to 40 servers; not above TCP from 30 on",
)
def no_knee(servers: Data) -> Finding:
    knee = _knee_of(servers, "l2dct", "servers", _servers(servers))
    return all_hold(
        {
            "knee": fact(knee == float("inf"), knee=knee, timeouts=_timeouts(servers, "l2dct", "servers")),
            **{
                f"change from TCP at {number}": at_most(
                    servers.change("l2dct", "tcp", "afct_short_s", servers=number), 0.0
                )
                for number in (30, 35, 40)
            },
        }
    )


@fig6b.claim(
    "fig6b-tcp-degrades",
    "with five servers TCP's mean FCT deteriorates when answers pass 400 KB",
    "the first point with timeouts and 1.5 times the line through the first four lies within 200 to 600 KB",
    because="the few timeouts of 10 ms, one to three in a run, move the mean little, whatever the choices",
)
def tcp_knee_of_sizes(answers: Data) -> Finding:
    knee = _knee_of(answers, "tcp", "traffic.1.sizes", MEANS_KB)
    return within(knee, 200, 600, timeouts=_timeouts(answers, "tcp", "traffic.1.sizes"))


@fig6b.claim(
    "fig6b-graceful",
    "L2DCT and DCTCP slow down smoothly as answers grow",
    "no point above 1.5 times the line through the first four",
)
def smooth(answers: Data) -> Finding:
    largest = {
        name: max(over_trend(MEANS_KB, means(answers, name, "afct_short_s", "traffic.1.sizes"), FITTED))
        for name in ("l2dct", "dctcp")
    }
    return all_hold({name: at_most(value, JUMP) for name, value in largest.items()})
