"""Runs other readings of L2DCT's law at a load of 10 %, and renews their table in the docs: `make readings`."""

import re
from pathlib import Path

import shortflow
from shortflow import Ack, CongestionControl, Estimate, Flow, Window
from shortflow.api.scenarios import Cause
from shortflow_papers.papers.common import NS_DEFAULTS
from shortflow_papers.papers.l2dct.in_python import W_MAX, L2dctInPython
from shortflow_papers.papers.l2dct.setup import AFCT, GOODPUT
from shortflow_papers.papers.unspecified import NS2

PAGE = Path(__file__).parents[1] / "docs" / "reproduction" / "readings.md"
TABLE = re.compile(r"(?<=<!-- readings: begin -->\n).*?(?=<!-- readings: end -->)", re.DOTALL)
SEEDS = 5


class AsPrinted(L2dctInPython):
    """The law as printed: an increase of k = w/w_max and a cut of alpha^w/2."""


class StepOfOne(L2dctInPython):
    """The increase k is 1 for all flows."""

    def step(self, flow: Flow) -> float:
        """Increase of the window per round trip, in segments."""
        return 1.0


class StepOfWeight(L2dctInPython):
    """The increase k is w, not divided by w_max."""

    def step(self, flow: Flow) -> float:
        """Increase of the window per round trip, in segments."""
        return self.weight(flow)


class StepInSlowStart(L2dctInPython):
    """The increase k also holds in slow start: k segments for each acknowledged segment."""

    def grow(self, window: Window, ack: Ack, step: float = 1.0) -> None:  # type: ignore[override]
        """Grows the window by k per acknowledged segment in slow start, and by k per round trip after it."""
        if window.cwnd < window.ssthresh:
            window.cwnd += step * min(ack.acked / ack.flow.mss, 1.0)
        else:
            window.cwnd += step / window.cwnd


class CutOfDctcp(L2dctInPython):
    """The cut is alpha/2 for all weights."""

    def on_congestion(self, window: Window, cause: Cause, flow: Flow) -> None:
        """Cuts the window by the share alpha/2 on a mark."""
        if cause == "ecn-echo":
            self.multiplicative_decrease(window, 1 - self.alpha / 2)
        else:
            self.on_loss(window, cause, flow)


class WholePenalty(L2dctInPython):
    """The cut is alpha^w, not half of it."""

    def on_congestion(self, window: Window, cause: Cause, flow: Flow) -> None:
        """Cuts the window by the share alpha^w on a mark."""
        if cause == "ecn-echo":
            self.multiplicative_decrease(window, 1 - self.alpha ** self.weight(flow))
        else:
            self.on_loss(window, cause, flow)


class WeightOfWindow(L2dctInPython):
    """The weight w is that at the beginning of the window over which alpha is updated."""

    kept, begun = W_MAX, -1

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Stores the weight at the beginning of each window of alpha."""
        if self.window_end != self.begun:
            self.begun, self.kept = self.window_end, super().weight(ack.flow)
        super().on_ack(window, ack)

    def weight(self, flow: Flow) -> float:
        """The stored weight."""
        return self.kept


class FirstAlphaOfOne(L2dctInPython):
    """Alpha is initially 1."""

    alpha = 1.0


class FloorOfTwo(L2dctInPython):
    """A cut leaves at least two segments."""

    def on_congestion(self, window: Window, cause: Cause, flow: Flow) -> None:
        """Cuts the window by the share alpha^w/2 on a mark, but at most to two segments."""
        if cause == "ecn-echo":
            self.multiplicative_decrease(window, 1 - self.alpha ** self.weight(flow) / 2, 2.0)
        else:
            self.on_loss(window, cause, flow)


class SmallestWeight(L2dctInPython):
    """The smallest weight w_min is 0.3, chosen to fit the paper's numbers."""

    def weight(self, flow: Flow) -> float:
        """The printed weight, scaled to the range from 0.3 to w_max."""
        printed = super().weight(flow)
        return W_MAX - (W_MAX - printed) * (W_MAX - 0.3) / (W_MAX - 0.125)


READINGS: dict[str, type[CongestionControl]] = {
    "as printed: k = w/w_max, a cut of alpha^w/2": AsPrinted,
    "k = 1 for all flows": StepOfOne,
    "k = w, not divided by w_max": StepOfWeight,
    "k in slow start too: k segments for each that is acknowledged": StepInSlowStart,
    "a cut of alpha/2, whatever the weight": CutOfDctcp,
    "a cut of alpha^w, not of half of it": WholePenalty,
    "w as it was when the window of alpha began": WeightOfWindow,
    "alpha is 1 at first": FirstAlphaOfOne,
    "a cut leaves two segments at least": FloorOfTwo,
    "w_min = 0.3, chosen to fit": SmallestWeight,
}
"""Law of each reading, by the reading's description in the table."""


def table() -> str:
    """Table in Markdown with a row for each reading.

    A row has the relative differences from DCTCP in % of short flows' mean FCT and of long flows' goodput.
    """
    settings = {**NS_DEFAULTS, **NS2, "load": 0.1, "duration": "1s"}
    laws: list[str | type[CongestionControl]] = ["dctcp", *READINGS.values()]
    found = shortflow.compare("l2dct-benchmark", laws, SEEDS, ideal=False, settings=settings)
    lines = ["| reading | mean FCT of short flows | goodput of long flows |", "|---|---:|---:|"]
    for said, law in READINGS.items():
        cells = (percent(found.difference(law.__name__, "dctcp", metric)) for metric in (AFCT, GOODPUT))
        lines.append(f"| {said} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def percent(change: Estimate | None) -> str:
    """A relative difference with its 95 % interval, in per cent."""
    if not change or not change.ci95:
        return "none"
    low, high = change.ci95
    return f"{100 * change.value:+.1f} % [{100 * low:+.1f}, {100 * high:+.1f}]"


if __name__ == "__main__":
    rows = table()
    PAGE.write_text(TABLE.sub(lambda _: rows, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
