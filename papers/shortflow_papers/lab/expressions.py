"""Expressions of claims: quantities that read their numbers from runs, and quantities computed from quantities."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shortflow import ConfigError, Estimate
from shortflow.api.errors import TooLittle
from shortflow.api.judge import estimate, over_seeds, paired_difference
from shortflow.api.metrics import STATISTICS, TASKS
from shortflow.api.numbers import RELATIVE
from shortflow.api.runs import Result
from shortflow_papers.lab.data import Data, Studies, each_seed, reads
from shortflow_papers.lab.quantity import Every, Find, Points, Quantity, SelectedValues, joined, last_part
from shortflow_papers.lab.study import Value

OneOrMore = str | Sequence[str]
_BIN = r"(?:upto_|over_)?\d+[kmg]?b"
"""Size bins in names of metrics, such as `upto_10kb`."""
_UNITS = {"_s": "s", "_bps": "bps", "_pkt": "packets", "_bytes": "B"}


@dataclass(frozen=True)
class Measure:
    """A named function of a single run."""

    name: str
    unit: str
    read: Callable[[Result], float]

    def __call__(self, result: Result) -> float:
        """Value for a run."""
        return self.read(result)


def per_run(name: str, unit: str = "") -> Callable[[Callable[[Result], float]], Measure]:
    """Decorator that makes a function of a run a `Measure` with a name and a unit (default: plain number)."""
    return functools.partial(Measure, name, unit)


MetricOrMeasure = str | Measure
"""Name of a metric of the catalogue, or a measure that the recipe defines."""


def level(schemes: OneOrMore, metric: MetricOrMeasure, study: str = "") -> Quantity:
    """Mean of a metric over the seeds, for one or several schemes."""
    names = _names(schemes)
    find = _over_grid(study, {name: [name] for name in names}, lambda data, of, **at: data.mean(of, metric, **at))
    text = f"{label(metric)} with {joined(names)}{_in(study)}"
    name = metric if isinstance(metric, str) else ""
    return Quantity(text, unit(metric), find, frozenset([study]), metric=name, schemes=names)


def change(schemes: OneOrMore, baselines: OneOrMore, metric: MetricOrMeasure, study: str = "") -> Quantity:
    """Relative difference of a metric from a baseline (-0.3 means 30 % lower), paired by seed.

    Several schemes or baselines give a number for each pair.
    """
    ours, theirs = _names(schemes), _names(baselines)
    pairs = {f"{one} over {other}": (one, other) for one in ours for other in theirs}
    find = _over_grid(study, pairs, lambda data, of, over, **at: data.change(of, over, metric, **at))
    text = f"{label(metric)}, {joined(ours)} over {joined(theirs)}{_in(study)}"
    return Quantity(text, RELATIVE, find, frozenset([study]), 0.0)


def effect(schemes: OneOrMore, metric: MetricOrMeasure, study: str, base: str) -> Quantity:
    """Relative difference of a metric in `study` from that in the study `base` at the same point, paired by seed."""
    ours, theirs = (level(schemes, metric, each) for each in (study, base))
    found = _combined(ours, theirs, "over", RELATIVE, 0.0, paired_difference)
    return replace(found, text=f"{ours.text} over {base.replace('_', ' ')}")


def pooled(scheme: str, measure: Measure, key: str, neutral: float | None = None) -> Quantity:
    """Mean of a measure of a scheme over all seeds and all values of a key, which count as further seeds."""

    def find(studies: Studies, _: Mapping[str, SelectedValues]) -> Points:
        data = next(iter(studies.values()))
        return {
            "": estimate([measure(run) for value in data.values(key) for run in data.results(scheme, **{key: value})])
        }

    return Quantity(f"{measure.name} with {scheme}", measure.unit, find, frozenset([""]), neutral, repeats=key)


def computed(
    text: str,
    find: Callable[..., Estimate | float | Mapping[str, Estimate | float]],
    unit: str = "",
    neutral: float | None = None,
    studies: Sequence[str] = (),
) -> Quantity:
    """Value of a function of studies: one number, or several by name.

    The function gets the studies called `studies` (default: those named by its parameters). A plain number is computed
    for each seed, and the numbers of all seeds give mean and interval. An `Estimate` is used as it is.
    """
    names = tuple(studies) or reads(find)

    def found_in(data: Studies) -> Mapping[str, Estimate | float]:
        found = find(*(data[name] for name in names))
        return found if isinstance(found, Mapping) else {"": found}

    def points(data: Studies, _: Mapping[str, SelectedValues]) -> Points:
        whole = found_in(data)
        plain = any(not isinstance(each, Estimate) for each in whole.values())
        parts = [found_in(part) for part in each_seed(data, names)] if plain else []
        return {
            name: each if isinstance(each, Estimate) else over_seeds([_number(part[name]) for part in parts] or [each])
            for name, each in whole.items()
        }

    return Quantity(text, unit, points, frozenset(names), neutral)


def ratio(above: Quantity, below: Quantity) -> Quantity:
    """Ratio of two quantities, point by point and paired by seed."""

    def of(ours: Sequence[float], theirs: Sequence[float]) -> Estimate | None:
        found = paired_difference(ours, theirs)
        return found and replace(
            found, value=found.value + 1, ci95=found.ci95 and (found.ci95[0] + 1, found.ci95[1] + 1)
        )

    return _combined(above, below, "over", "", 1.0, of)


def difference(minuend: Quantity, subtrahend: Quantity) -> Quantity:
    """Difference of two quantities, point by point and paired by seed."""

    def of(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
        return over_seeds([one - other for one, other in zip(ours, theirs, strict=True)])

    return _combined(minuend, subtrahend, "less", minuend.unit, 0.0, of)


def _combined(
    first: Quantity, second: Quantity, word: str, unit: str, neutral: float, of: Callable[..., Estimate | None]
) -> Quantity:
    """Quantity that `of` computes from the values of two quantities by seed, point by point.

    If `of` returns None, because the second quantity is zero, reading the quantity raises `TooLittle`.
    """
    used = first.studies | second.studies

    def find(studies: Studies, where: Mapping[str, SelectedValues]) -> Points:
        sides = [each.at(**where) for each in (first, second)]
        parts = each_seed(studies, used, first.repeats) or [studies]
        by_part = [[[each.value for each in side.points(part).values()] for part in parts] for side in sides]
        ours, theirs = (side.points(studies) for side in sides)
        pairs = zip(*(zip(*values, strict=True) for values in by_part), strict=True)
        found = {}
        for pair, (name, one), other in zip(pairs, ours.items(), theirs.values(), strict=True):
            if (each := of(*pair)) is None:
                raise TooLittle(f"{sides[1].words}: is zero{name and f' for {name}'}, so nothing can be relative to it")
            lower, upper = one.lower_bound or other.upper_bound, one.upper_bound or other.lower_bound
            found[name] = replace(each, lower_bound=lower, upper_bound=upper)
        return found

    return Quantity(f"{first.words} {word} {second.words}", unit, find, used, neutral, repeats=first.repeats)


def _number(value: Estimate | float) -> float:
    return value.value if isinstance(value, Estimate) else value


def _over_grid(study: str, named: Mapping[str, Sequence[str]], read: Callable[..., Estimate]) -> Find:
    """Reader of a quantity. Calls `read` with the data, named schemes and each selected point of a study's grid."""

    def find(studies: Studies, where: Mapping[str, SelectedValues]) -> Points:
        data = studies[study] if study else next(iter(studies.values()))
        return {
            ", ".join([name] * (len(named) > 1) + [place] * bool(place)): read(data, *schemes, **fixed)
            for place, fixed in _places(data, where)
            for name, schemes in named.items()
        }

    return find


def _places(data: Data, where: Mapping[str, SelectedValues]) -> Iterator[tuple[str, dict[str, Value]]]:
    """Selected points, each with its label. Raises `ConfigError` for an unselected key with several values."""
    wanted = {key: (each,) if isinstance(each, Value) else each for key, each in where.items()}
    for key, values in wanted.items():
        data.require(key, values.needs if isinstance(values, Every) else values)
        if isinstance(values, Every) and not any(value in values for value in data.values(key)):
            has = ", ".join(map(str, data.values(key)))
            raise TooLittle(f"no run has {key} {values.bounds}; the runs have {key} {has}")
    for key in data.keys:
        if key not in where and len(data.values(key)) > 1:
            raise ConfigError(f'{data.several(key)} in at(…), or take every value with over("{key}")')
    for position in data.points:
        point = dict(zip(data.keys, position, strict=True))
        if all(point[key] in values for key, values in wanted.items()):
            varied = [key for key in point if not isinstance(where.get(key, ""), Value)]
            yield ", ".join(f"{last_part(key)} {point[key]}" for key in varied), point


def _names(names: OneOrMore) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _in(study: str) -> str:
    return f" in {study.replace('_', ' ')}" if study else ""


@functools.cache
def label(metric: MetricOrMeasure) -> str:
    """Label of a metric, with its class, size bin or task."""
    if isinstance(metric, Measure):
        return metric.name
    forms = {"<class>": "(?P<class>.+?)", "<bin>": rf"(?P<bin>{_BIN})", "<task>": f"(?P<task>{'|'.join(TASKS)})"}
    # `slowdown_p99_short` fits `slowdown_p99_<class>`, but also `slowdown_<class>` with the class `p99_short`. A class
    # may have any name, so the longest pattern decides.
    for pattern in sorted(STATISTICS, key=len, reverse=True):
        form = functools.reduce(lambda text, part: text.replace(part, forms[part]), forms, pattern)
        if found := re.fullmatch(form, metric):
            task, flows, size = (found.groupdict().get(part, "") for part in ("task", "class", "bin"))
            said = STATISTICS[pattern].label.format(task=task, tasks=TASKS.get(task))
            whose = " ".join(filter(None, [flows, size.replace("_", " ")]))
            return f"{said} of {whose} flows" if whose else said
    return metric


def unit(metric: MetricOrMeasure) -> str:
    """Unit of a metric, from the suffix of its name."""
    if isinstance(metric, Measure):
        return metric.unit
    return next((unit for end, unit in _UNITS.items() if metric.endswith(end)), "")


# These count the whole run, including warm-up and drain, because timeouts of a late burst occur in the drain.
drops_in_run = Measure("drops in the whole run", "", lambda run: float(run.meta["counters"]["packets_dropped"]))
timeouts_in_run = Measure("timeouts in the whole run", "", lambda run: float(run.flows["timeouts"].sum()))
retransmits_in_run = Measure("retransmissions in the whole run", "", lambda run: float(run.flows["retransmits"].sum()))
