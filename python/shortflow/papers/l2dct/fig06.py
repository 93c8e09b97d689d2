"""Fig. 6: incast, over the number of servers and the size of answers."""

from collections.abc import Sequence

from shortflow import lab
from shortflow.papers.l2dct.setup import AFCT, means, over_trend

SERVERS = lab.Study(
    "incast",
    schemes=("tcp", "dctcp", "l2dct"),
    over={"servers": (1, 5, 10, 15, 20, 25, 30, 35, 40)},
    settings={"traffic.1.repeat": 100, "duration": "10s"},
    quick_settings={"traffic.1.repeat": 10, "duration": "1s"},
)

MEANS_KB = (50, 100, 150, 200, 300, 400, 500, 600)
"""Mean sizes of the five servers' answers, each uniform from 0.5 to 1.5 times the mean."""

_SIZES = {mean: f'{{ kind = "uniform", min = "{mean // 2}KB", max = "{mean * 3 // 2}KB" }}' for mean in MEANS_KB}
ANSWERS = lab.Study(
    "incast",
    schemes=("tcp", "dctcp", "l2dct"),
    over={"traffic.1.sizes": tuple(_SIZES.values())},
    settings={"servers": 5, "traffic.1.repeat": 100, "duration": "10s"},
    quick_settings={"traffic.1.repeat": 10, "duration": "1s"},
)
FITTED = 4
"""Number of first points that define the reference line."""
JUMP = 1.5
LINE = f"{JUMP} times the line through the first {FITTED}"


def _knee(data: lab.Data, scheme: str, key: str, x: Sequence[float]) -> float:
    """First x with timeouts and a mean time above 1.5 times the line; ∞ if none."""
    over = over_trend(x, means(data, scheme, AFCT, key), FITTED)
    timeouts = [data.mean(scheme, lab.timeouts_in_run, **{key: at}).value for at in data.values(key)]
    points = zip(x, over, timeouts, strict=True)
    return next((at for at, jump, late in points if jump > JUMP and late > 0), float("inf"))


def _knee_of_servers(scheme: str) -> lab.Quantity:
    def knee(servers: lab.Data) -> float:
        return _knee(servers, scheme, "servers", [float(value) for value in servers.values("servers")])

    return lab.computed(f"the first number of servers with timeouts of {scheme} and {LINE}", knee).called("knee")


def _farthest_over_line(answers: lab.Data) -> dict[str, float]:
    return {
        name: max(over_trend(MEANS_KB, means(answers, name, AFCT, "traffic.1.sizes"), FITTED))
        for name in ("l2dct", "dctcp")
    }


def _over_sizes(answers: lab.Data) -> Sequence[lab.Drawing]:
    lines = [
        lab.Line(name, MEANS_KB, [1e3 * afct for afct in means(answers, name, AFCT, "traffic.1.sizes")])
        for name in answers.study.schemes
    ]
    return [lab.Drawing("Mean completion time of an answer", "mean size (KB)", "mean FCT (ms)", lines)]


fig6a = lab.Figure("l2dct/fig6a", "Fig. 6(a)", "Incast over the number of servers", {"servers": SERVERS}).decides(
    lab.Claim("l2dct/fig6a-tcp-collapse").says(
        "TCP's mean FCT deteriorates once more than 25 servers answer",
        _knee_of_servers("tcp").near(25),
        shows=[lab.level("tcp", lab.timeouts_in_run).over("servers")],
        because="its timeouts last RTOmin, which moves the mean little",
    ),
    lab.Claim("l2dct/fig6a-l2dct-no-incast").says(
        "L2DCT does not collapse with up to 40 servers, and stays below TCP",
        _knee_of_servers("l2dct").at_least(41),
        lab.change("l2dct", "tcp", AFCT).at(servers=(30, 35, 40)).at_most(0.0),
        shows=[lab.level("l2dct", lab.timeouts_in_run).at(servers=lab.Every(30))],
    ),
    draws=[lab.Curves("servers", AFCT, "servers", "Mean completion time of an answer")],
)
fig6b = lab.Figure("l2dct/fig6b", "Fig. 6(b)", "Incast over the size of answers", {"answers": ANSWERS}).decides(
    lab.Claim("l2dct/fig6b-tcp-degrades").says(
        "with five servers TCP's mean FCT deteriorates when answers pass 400 KB",
        lab.computed(
            f"the first mean size in KB with timeouts of tcp and {LINE}",
            lambda answers: _knee(answers, "tcp", "traffic.1.sizes", MEANS_KB),
        ).near(400),
        because="its timeouts last RTOmin, which moves the mean little",
    ),
    lab.Claim("l2dct/fig6b-graceful").says(
        "L2DCT and DCTCP slow down smoothly as answers grow",
        lab.computed("the farthest point over the line through the first 4", _farthest_over_line).at_most(JUMP),
    ),
    draws=[_over_sizes],
)
