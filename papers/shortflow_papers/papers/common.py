"""Shared by the papers: traffic, readers of a run's tables, measures, and curves."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from shortflow import Estimate
from shortflow.api.errors import TooLittle
from shortflow.api.judge import paired_difference
from shortflow.api.metrics import jain_index
from shortflow.api.runs import Result
from shortflow_papers import lab
from shortflow_papers.lab.study import Value


def burst_of(senders: Value, to: Value, size: Value, flow_class: str = "", **more: object) -> dict[str, object]:
    """One flow (or `flows`) of this size from each sender, all at once."""
    named = {"class": flow_class} if flow_class else {}
    sizes = {"kind": "fixed", "value": size}
    return {"kind": "incast", **named, "flows": 1, "from": senders, "to": to, "sizes": sizes, **more}


def flows(result: Result, of: str) -> pl.DataFrame:
    """Flows of a class. Raises `TooLittle` without one."""
    return lab.some(result.flows.filter(pl.col("class") == of), f"{of} flows")


def series(result: Result, kind: str, subject: str = "", since_s: float = 0.0) -> pl.DataFrame:
    """Samples of a kind in order of time, of one subject or all. Raises `TooLittle` if there are none."""
    kept = (pl.col("kind") == kind) & (pl.col("time_s") >= since_s)
    return lab.some(result.samples.filter(kept & (pl.col("subject") == subject) if subject else kept), kind)


def recorded(result: Result, metric: str, what: str) -> float:
    """A metric of a run. Raises `TooLittle` if missing or zero."""
    value = result.metrics.get(metric)
    if not value:
        raise TooLittle(f"the runs have no {what}")
    return value


def of_flows(name: str, value: pl.Expr, of: str, unit: str = "") -> lab.Measure:
    """An expression's mean over the flows of a class."""
    return lab.Measure(name, unit, lambda result: float(flows(result, of).select(value).to_series().to_numpy().mean()))


@lab.per_run("Jain's index")
def fairness(result: Result) -> float:
    """Jain index of bytes delivered."""
    return jain_index(result.flows["delivered_bytes"].to_list())


def means(data: lab.Data, scheme: str, metric: lab.MetricOrFunction, key: str, **fixed: Value) -> dict[Any, float]:
    """A metric's mean at each value of a key of the grid, other keys fixed."""
    return {value: data.mean(scheme, metric, **{key: value}, **fixed).value for value in data.values(key)}


def number_of(
    text: str, unit: str = "", neutral: float | None = None
) -> Callable[[Callable[..., Estimate | float | Mapping[str, Any]]], lab.Quantity]:
    """Decorator that makes a function of studies a quantity."""
    return lambda find: lab.computed(text, find, unit, neutral)


def traces(
    title: str, label: str, samples: Mapping[str, pl.DataFrame], divisor: float = 1.0, more: Sequence[lab.Line] = ()
) -> lab.Drawing:
    """Curves over time."""
    lines = [
        lab.Line(name, each["time_s"].to_list(), (each["value"] / divisor).to_list(), markers=False)
        for name, each in samples.items()
    ]
    return lab.Drawing(title, "time (s)", label, [*lines, *more])


def decreases(name: str, found: Mapping[int, Estimate] | Mapping[float, Estimate]) -> lab.Line:
    """A curve of relative differences, drawn as decreases in per cent."""
    ci95 = [each.ci95 and (-100 * each.ci95[1], -100 * each.ci95[0]) for each in found.values()]
    return lab.Line(name, list(found), [-100 * each.value for each in found.values()], ci95)


def same_tables(one: Result, other: Result, names: Sequence[str]) -> bool:
    """True if tables of two runs differ in nothing but scheme and run."""
    tables = ([getattr(each, name).drop("scheme", "run", strict=False) for name in names] for each in (one, other))
    return all(ours.equals(theirs) for ours, theirs in zip(*tables, strict=True))


def paired(ours: Sequence[float], theirs: Sequence[float], zero: str = "the baseline is zero") -> Estimate:
    """Relative difference of two numbers of each run, paired by position.

    Raises `TooLittle`, with a baseline of 0 in the words of `zero`.
    """
    found = paired_difference(ours, theirs)
    if found is None:
        raise TooLittle(f"{zero}, so nothing can be relative to it")
    return found
