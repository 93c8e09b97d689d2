"""Reason why schemes have equal results: no mark and no loss occurred, so their laws made no decision."""

from collections.abc import Iterator, Sequence

from shortflow.judge.best import Order
from shortflow.lazy import pl
from shortflow.order import AnswerLine
from shortflow.quantities import counted
from shortflow.report.wording import listed
from shortflow.result import Result
from shortflow.results import Results

_EVENTS = ("marks_in_run", "drops_in_run", "timeouts", "retransmits")
_MOST = 0.5
"""Minimum share of flows without mark and loss that is given as the reason of a tie."""


def why_equal(study: Results, lines: Sequence[AnswerLine]) -> Iterator[str]:
    """At most one sentence: on schemes with equal numbers or, without such schemes, on the first tie.

    None for studies of several points, or if some runs do not count marks, drops, timeouts and retransmissions.
    """
    if study.x_name or len(study.schemes) < 2:
        return
    alike = next((group for group in _alike(study) if len(group) > 1), [])
    schemes = alike or next((line.leaders for line in lines if line.outcome is Order.TIE), [])
    if not schemes or any(name not in run.metrics for name in _EVENTS for run in _runs(study, schemes)):
        return
    names, runs = listed(schemes), _runs(study, schemes)
    if not any(run.metrics[name] for name in _EVENTS for run in runs):
        if alike:
            yield f"{names} have equal numbers: no packet was marked or lost, so their laws had nothing to decide."
        return
    quiet, flows = _quiet_flows(study, schemes)
    if flows and quiet >= _MOST * flows:
        of = f"{quiet:,} of {counted(flows, 'flow')}"
        yield f"In {of}, no packet was marked or lost under {names}, so the schemes' laws had nothing to decide."
    elif alike:
        marks, drops = (round(sum(run.metrics[name] for run in runs)) for name in _EVENTS[:2])
        events = f"{counted(marks, 'mark')} and {counted(drops, 'drop')}"
        yield f"{names} have equal numbers although there were {events}: the laws decided alike."


def _runs(study: Results, schemes: Sequence[str]) -> list[Result]:
    return [run for run in study.runs if run.scheme in schemes]


def _alike(study: Results) -> list[list[str]]:
    """Schemes grouped by the metrics of all their runs."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for scheme in study.schemes:
        runs = sorted(_runs(study, [scheme]), key=lambda run: run.seed)
        key = tuple((run.seed, tuple(sorted(run.metrics.items()))) for run in runs)
        groups.setdefault(key, []).append(scheme)
    return list(groups.values())


def _quiet_flows(study: Results, schemes: Sequence[str]) -> tuple[int, int]:
    """Number of flows without mark, retransmission or timeout under all schemes, and number of all flows.

    Both are 0 if some runs have no tables.
    """
    runs = _runs(study, schemes)
    if not all(run.tables for run in runs):
        return 0, 0
    asked = pl.any_horizontal(pl.col("marks", "retransmits", "timeouts") > 0).alias("asked")
    flows = pl.concat(run.table("flows").select("seed", "id", asked) for run in runs)
    by_flow = flows.group_by("seed", "id").agg(pl.col("asked").any())["asked"]
    return int((~by_flow).sum()), len(by_flow)
