"""Shared by several papers: studies, traffic, readers of a run's tables, measures, and curves."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from shortflow import Estimate
from shortflow.api.errors import TooLittle
from shortflow.api.judge import paired_difference
from shortflow.api.metrics import jain_index
from shortflow.api.runs import Result
from shortflow.api.scenarios import LAWS, Settings
from shortflow_papers import lab
from shortflow_papers.lab.study import Value

NS_DEFAULTS: Settings = {"host.model": "fifo", **LAWS}
"""Hosts and laws as in the papers' simulations: a sender may fill its host's queue, and alpha begins at 0."""
ns_study = functools.partial(lab.Study, defaults=NS_DEFAULTS)
"""Study with the defaults of the papers' simulations."""


def burst_of(senders: Value, to: Value, size: Value, flow_class: str = "", **more: object) -> dict[str, object]:
    """Traffic entry: one flow (or `flows`) of this size from each sender to the host `to`, all at the same time.

    `more` has further keys of the entry.
    """
    named = {"class": flow_class} if flow_class else {}
    sizes = {"kind": "fixed", "value": size}
    return {"kind": "incast", **named, "flows": 1, "from": senders, "to": to, "sizes": sizes, **more}


def flows(result: Result, of: str) -> pl.DataFrame:
    """Flows of the class `of`. Raises `TooLittle` without flows."""
    return lab.some(result.flows.filter(pl.col("class") == of), f"{of} flows")


def series(result: Result, kind: str, subject: str = "", since_s: float = 0.0) -> pl.DataFrame:
    """Samples of a kind from `since_s` on, in order of time, of one subject (default: all).

    Raises `TooLittle` without samples.
    """
    kept = (pl.col("kind") == kind) & (pl.col("time_s") >= since_s)
    return lab.some(result.samples.filter(kept & (pl.col("subject") == subject) if subject else kept), kind)


def recorded(result: Result, metric: str, what: str) -> float:
    """A metric of a run. Raises `TooLittle`, with the text `what`, if the metric is absent or zero."""
    value = result.metrics.get(metric)
    if not value:
        raise TooLittle(f"the runs have no {what}")
    return value


def of_flows(name: str, value: pl.Expr, of: str, unit: str = "") -> lab.Measure:
    """Measure: the mean of a Polars expression over the flows of the class `of`."""
    return lab.Measure(name, unit, lambda result: float(flows(result, of).select(value).to_series().to_numpy().mean()))


@lab.per_run("Jain's index")
def fairness(result: Result) -> float:
    """Jain index of the delivered bytes of all flows."""
    return jain_index(result.flows["delivered_bytes"].to_list())


def means(data: lab.Data, scheme: str, metric: lab.MetricOrFunction, key: str, **fixed: Value) -> dict[Any, float]:
    """Mean of a metric at each value of a key of the grid, with all other keys fixed."""
    return {value: data.mean(scheme, metric, **{key: value}, **fixed).value for value in data.values(key)}


def number_of(
    text: str, unit: str = "", neutral: float | None = None
) -> Callable[[Callable[..., Estimate | float | Mapping[str, Any]]], lab.Quantity]:
    """Decorator that makes a function of studies a quantity (see `lab.computed`)."""
    return lambda find: lab.computed(text, find, unit, neutral)


def traces(
    title: str, label: str, samples: Mapping[str, pl.DataFrame], divisor: float = 1.0, more: Sequence[lab.Line] = ()
) -> lab.Drawing:
    """Drawing of samples over time, divided by `divisor`, and of `more` lines."""
    lines = [
        lab.Line(name, each["time_s"].to_list(), (each["value"] / divisor).to_list(), markers=False)
        for name, each in samples.items()
    ]
    return lab.Drawing(title, "time (s)", label, [*lines, *more])


def decreases(name: str, found: Mapping[int, Estimate] | Mapping[float, Estimate]) -> lab.Line:
    """Curve of relative differences, shown as decreases in per cent."""
    ci95 = [each.ci95 and (-100 * each.ci95[1], -100 * each.ci95[0]) for each in found.values()]
    return lab.Line(name, list(found), [-100 * each.value for each in found.values()], ci95)


def same_tables(one: Result, other: Result, names: Sequence[str]) -> bool:
    """True if the named tables of two runs are equal, except for the columns `scheme` and `run`."""
    tables = ([getattr(each, name).drop("scheme", "run", strict=False) for name in names] for each in (one, other))
    return all(ours.equals(theirs) for ours, theirs in zip(*tables, strict=True))


def paired(ours: Sequence[float], theirs: Sequence[float], zero: str = "the baseline is zero") -> Estimate:
    """Relative difference of `ours` from `theirs`, paired by position.

    Raises `TooLittle`, with the text `zero`, if the baseline is zero.
    """
    found = paired_difference(ours, theirs)
    if found is None:
        raise TooLittle(f"{zero}, so nothing can be relative to it")
    return found
