"""Quantities of claims: numbers with their intervals, at one or more points of a study's grid.

An expression such as `change("l2dct", "dctcp", "afct_short_s").at(load=(0.1, 0.2)).at_most(-0.3)` is data. It reads its
numbers from any given runs and describes the comparison in words.
"""

import functools
import inspect
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from shortflow.errors import ConfigError, TooLittle
from shortflow.lab import finding
from shortflow.lab.condition import HALVED, ClaimCondition, Printed, amount, band
from shortflow.lab.data import Data, relative, some
from shortflow.lab.finding import Finding, placed
from shortflow.lab.study import Value
from shortflow.metrics.catalogue import STATISTICS, TASKS
from shortflow.metrics.stats import Estimate, estimate, over_seeds, paired_difference, rank_correlation
from shortflow.quantities import RELATIVE
from shortflow.result import Result

Studies = Mapping[str, Data]
"""Finished runs of a figure's studies by name; "" is the first."""
Points = dict[str, Estimate]
"""Estimates by label of the point."""
Names = str | Sequence[str]
SLACK = 0.2
"""Allowed relative distance from the printed number."""
TIE = 0.05
"""Relative difference up to which points tie: an order that holds at most points has the right direction then."""
TENFOLD = 9.0
"""Changes above this are not a paper's "much more": only their direction counts."""
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


def measure(name: str, unit: str = "") -> Callable[[Callable[[Result], float]], Measure]:
    """Decorator that gives a function of a run a name and a unit (default: plain number)."""
    return partial(Measure, name, unit)


Metric = str | Measure
"""Name of a catalogue metric, or a recipe's own measure."""


@dataclass(frozen=True)
class Every:
    """Every value of a key within bounds. The grid must have at least one."""

    low: float = float("-inf")
    high: float = float("inf")

    def __contains__(self, value: Value) -> bool:
        """True if the value is within the bounds."""
        return isinstance(value, str) or self.low <= value <= self.high

    def text(self, key: str) -> str:
        """The selection in words."""
        if self == Every():
            return f"every {key}"
        ends = [f"from {self.low:g}"] * (self.low > float("-inf")) + [f"to {self.high:g}"] * (self.high < float("inf"))
        return f"every {key} {' '.join(ends)}"


Selection = Value | tuple[Value, ...] | Every
"""One value of a key; several values, all required; or every value."""


@dataclass(frozen=True)
class Quantity:
    """A number, or a number at each of some points."""

    text: str
    unit: str
    find: Callable[[Studies, Mapping[str, Selection]], Points]
    studies: frozenset[str]
    neutral: float | None = None
    """Value of no change: 0 for changes and differences, 1 for ratios, None for levels."""
    where: Mapping[str, Selection] = field(default_factory=dict)
    name: str = ""
    repeats: str = ""
    """Key of the grid whose values serve as seeds."""
    metric: str = ""
    """The catalogue's metric, if the quantity is a plain metric of `schemes`."""
    schemes: Sequence[str] = ()

    def at(self, **where: Selection) -> "Quantity":
        """Selects points of the grid. Write dots in keys as two underscores."""
        named = {key.replace("__", "."): value for key, value in where.items()}
        return replace(self, where={**self.where, **named})

    def over(self, *keys: str) -> "Quantity":
        """Selects every value of these keys."""
        return self.at(**dict.fromkeys(keys, Every()))

    def called(self, name: str) -> "Quantity":
        """The quantity under a shorter name."""
        return replace(self, name=name)

    def needs(self, key: str, values: Sequence[Value]) -> "Quantity":
        """The quantity, untested without runs at these values."""

        def find(studies: Studies, where: Mapping[str, Selection]) -> Points:
            replace(self, where={**where, key: tuple(values)}).points(studies)
            return self.find(studies, where)

        return replace(self, find=find)

    def points(self, studies: Studies) -> Points:
        """Estimates in these runs."""
        return self.find(studies, self.where)

    @property
    def words(self) -> str:
        """Description and selected points."""
        places = [_selected(key, selection) for key, selection in self.where.items()]
        return f"{self.text} at {', '.join(places)}" if places else self.text

    @property
    def label(self) -> str:
        """Name of its number among others."""
        return self.name or self.text

    def lowest(self) -> "Quantity":
        """Lowest of the points. Its interval covers the uncertainty of every point."""
        return self._one("lowest", lambda studies: _extreme(self.points(studies).values(), min))

    def highest(self) -> "Quantity":
        """Highest of the points. Its interval covers the uncertainty of every point."""
        return self._one("highest", lambda studies: _extreme(self.points(studies).values(), max))

    def mean(self) -> "Quantity":
        """Mean over the points."""
        return self._one("mean", partial(self._of_points, lambda values: math.fsum(values) / len(values), True))

    def trend(self) -> "Quantity":
        """Rank correlation with the order of the points, averaged over the seeds; 1 if the values only rise."""
        trend = self._one("rank correlation of", partial(self._of_points, rank_correlation, False))
        return replace(trend, unit="", neutral=0.0)

    def within(self, low: float, high: float) -> ClaimCondition:
        """All points lie in a band."""
        return self._if(self._band(low, high), (low, high))

    def at_least(self, low: float) -> ClaimCondition:
        """No point is below."""
        return self._if(f"at least {self._amount(low)}", (low, math.inf))

    def at_most(self, high: float) -> ClaimCondition:
        """No point is above."""
        return self._if(f"at most {self._amount(high)}", (-math.inf, high))

    def below(self, by: float = 0.0) -> ClaimCondition:
        """All points are below zero; direction alone unless below by more than `by`."""
        text = f"more than {100 * by:g} % lower" if by else "below 0"
        return self._if(text, (-math.inf, _under(-by)), (-math.inf, _under(0.0)), is_order=not by)

    def above(self, by: float = 0.0) -> ClaimCondition:
        """All points are above zero; direction alone unless above by more than `by`."""
        text = f"more than {100 * by:g} % higher, and no more than tenfold" if by else "above 0"
        return self._if(text, (_over(by), TENFOLD if by else math.inf), (_over(0.0), math.inf), is_order=not by)

    def alike(self, margin: float) -> ClaimCondition:
        """All points lie within a margin of zero."""
        return self._if(f"within ± {100 * margin:g} %", (-margin, margin))

    def close_to(self, expected: float, error: float) -> ClaimCondition:
        """All points equal the theoretical value, within a relative error."""
        slack = abs(expected) * error
        return self._if(f"within {100 * error:g} % of {self._amount(expected)}", (expected - slack, expected + slack))

    def near(self, paper: float) -> ClaimCondition:
        """Equals the printed value within 20 % (for a change, 20 % of the change)."""
        return self.between(paper, paper)

    def between(self, low: float, high: float) -> ClaimCondition:
        """Lies in the printed range, widened by 20 % at both ends (of the factor, for factors above two)."""
        agrees = (low - abs(low) * SLACK, high + abs(high) * SLACK)
        if self.unit == RELATIVE and high < HALVED:
            agrees = ((1 + low) / (1 + SLACK) - 1, (1 + high) / (1 - SLACK) - 1)
        printed = self._amount(low) if low == high else self._band(low, high)
        direction = self._direction(high if high < 0 else low)
        return self._if(f"{self._band(*agrees)} (printed: {printed})", agrees, direction, (low, high))

    def beyond(self, paper: float) -> ClaimCondition:
        """At least as far from zero as printed, less 20 %."""
        limit = paper - paper * SLACK
        agrees = (-math.inf, limit) if paper < 0 else (limit, math.inf)
        word = "at most" if paper < 0 else "at least"
        text = f"{word} {self._amount(limit)} (printed: {self._amount(paper)})"
        return self._if(text, agrees, self._direction(paper), (paper, paper), is_limit=True)

    def under(self, paper: float) -> ClaimCondition:
        """At most the printed maximum, plus 20 %."""
        limit = paper + abs(paper) * SLACK
        text = f"at most {self._amount(limit)} (printed: {self._amount(paper)})"
        return self._if(text, (-math.inf, limit), None, (paper, paper), is_limit=True)

    def _direction(self, paper: float) -> finding.Band | None:
        """Values on the printed value's side of `neutral`; None without a neutral value."""
        if self.neutral is None:
            return None
        return (_over(self.neutral), math.inf) if paper > self.neutral else (-math.inf, _under(self.neutral))

    def _one(self, word: str, of: Callable[[Studies], Estimate]) -> "Quantity":
        def find(studies: Studies, _: Mapping[str, Selection]) -> Points:
            return {"": of(studies)}

        name = self.name and f"{word} {self.name}"
        return replace(self, text=f"{word} {self.words}", find=find, where={}, name=name, metric="")

    def _of_points(self, of: Callable[[list[float]], float], rising: bool, studies: Studies) -> Estimate:
        """One number from the points of each seed. Bounds give a bound if `rising`, else an open result."""
        parts = _each_seed(studies, self.studies, self.repeats) or [studies]
        found = over_seeds([of([each.value for each in self.points(part).values()]) for part in parts])
        points = self.points(studies).values()
        lower, upper = any(each.lower_bound for each in points), any(each.upper_bound for each in points)
        if not rising:
            lower = upper = lower or upper
        return replace(found, lower_bound=lower, upper_bound=upper)

    def _if(
        self,
        text: str,
        agrees: finding.Band,
        direction: finding.Band | None = None,
        printed: finding.Band | None = None,
        *,
        is_limit: bool = False,
        is_order: bool = False,
    ) -> ClaimCondition:
        def findings(studies: Studies) -> dict[str, Finding]:
            points = some(self.points(studies), self.words)
            found = {name: placed(each, agrees, direction, self.unit) for name, each in points.items()}
            if is_order and self.unit == RELATIVE and sum(each.holds for each in found.values()) > len(found) / 2:
                ties = (agrees[0] - TIE, agrees[1] + TIE)
                found = {name: placed(each, agrees, ties, self.unit) for name, each in points.items()}
            return found if len(found) > 1 else dict(zip([self.label], found.values(), strict=True))

        beside = printed and self._printed(*printed, is_limit)
        return ClaimCondition(f"{self.words}: {text}", findings, self.studies, self.label, beside)

    def _printed(self, low: float, high: float, is_limit: bool) -> Printed:
        name = self.name or self.words
        return Printed(name, self.unit, low, high, self.points, self.metric, self.schemes, self.where, is_limit)

    def _amount(self, value: float) -> str:
        return amount(value, self.unit)

    def _band(self, low: float, high: float) -> str:
        return band(low, high, self.unit)


def level(schemes: Names, metric: Metric, study: str = "") -> Quantity:
    """A metric of one scheme or several."""

    def read(data: Data, scheme: str, where: Mapping[str, Value]) -> Estimate:
        return data.mean(scheme, metric, **where)

    names = _names(schemes)
    find = partial(_over_grid, study, {name: partial(read, scheme=name) for name in names})
    text = f"{label(metric)} with {_listed(names)}{_in(study)}"
    name = metric if isinstance(metric, str) else ""
    return Quantity(text, _unit(metric), find, frozenset([study]), metric=name, schemes=names)


def change(schemes: Names, baselines: Names, metric: Metric, study: str = "") -> Quantity:
    """Paired relative difference of a metric from a baseline (-0.3 means 30 % lower)."""

    def read(data: Data, scheme: str, baseline: str, where: Mapping[str, Value]) -> Estimate:
        return data.change(scheme, baseline, metric, **where)

    pairs = [(scheme, baseline) for scheme in _names(schemes) for baseline in _names(baselines)]
    reads = {f"{ours} over {theirs}": partial(read, scheme=ours, baseline=theirs) for ours, theirs in pairs}
    text = f"{label(metric)}, {_listed(_names(schemes))} over {_listed(_names(baselines))}{_in(study)}"
    return Quantity(text, RELATIVE, partial(_over_grid, study, reads), frozenset([study]), 0.0)


def pooled(scheme: str, measure: Measure, key: str, neutral: float | None = None) -> Quantity:
    """A measure of a scheme, with the values of a key of the grid as seeds."""

    def find(studies: Studies, _: Mapping[str, Selection]) -> Points:
        data = next(iter(studies.values()))
        return {
            "": estimate([measure(run) for value in data.values(key) for run in data.results(scheme, **{key: value})])
        }

    return Quantity(f"{measure.name} with {scheme}", measure.unit, find, frozenset([""]), neutral, repeats=key)


def effect(schemes: Names, metric: Metric, study: str, base: str) -> Quantity:
    """Paired relative difference of a metric from another study at the same grid point."""

    def find(studies: Studies, where: Mapping[str, Selection]) -> Points:
        def read(data: Data, scheme: str, where: Mapping[str, Value]) -> Estimate:
            return _paired(data, studies[base], scheme, metric, where)

        reads = {name: partial(read, scheme=name) for name in _names(schemes)}
        return _over_grid(study, reads, studies, where)

    text = f"{label(metric)} with {_listed(_names(schemes))}{_in(study)} over {base.replace('_', ' ')}"
    return Quantity(text, RELATIVE, find, frozenset([study, base]), 0.0)


def _paired(data: Data, base: Data, scheme: str, metric: Metric, where: Mapping[str, Value]) -> Estimate:
    ours, theirs = (each.by_seed(scheme, metric, **where) for each in (data, base))
    found = relative(ours, theirs, label(metric), where)
    if isinstance(metric, Measure):
        return found
    bounds = [each.mean(scheme, metric, **where).lower_bound for each in (data, base)]
    return replace(found, lower_bound=bounds[0], upper_bound=bounds[1])


def computed(
    text: str,
    find: Callable[..., Estimate | float | Mapping[str, Estimate | float]],
    unit: str = "",
    neutral: float | None = None,
    studies: Sequence[str] = (),
) -> Quantity:
    """A function of the studies named by its parameters or `studies`: a number, or several by name.

    A plain number is computed for each seed, which gives the interval.
    """
    names = tuple(studies) or tuple(inspect.signature(find).parameters)

    def found_in(data: Studies) -> Mapping[str, Estimate | float]:
        found = find(*(data[name] for name in names))
        return found if isinstance(found, Mapping) else {"": found}

    def points(data: Studies, _: Mapping[str, Selection]) -> Points:
        whole = found_in(data)
        plain = any(not isinstance(each, Estimate) for each in whole.values())
        parts = [found_in(part) for part in _each_seed(data, names)] if plain else []
        return {
            name: each if isinstance(each, Estimate) else over_seeds([_number(part[name]) for part in parts] or [each])
            for name, each in whole.items()
        }

    return Quantity(text, unit, points, frozenset(names), neutral)


def ratio(above: Quantity, below: Quantity) -> Quantity:
    """Ratio of two quantities, point by point and paired by seed."""

    def of(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
        found = paired_difference(ours, theirs)
        if found is None:
            raise TooLittle(f"{below.words}: is zero, so nothing can be relative to it")
        ci95 = found.ci95 and (found.ci95[0] + 1, found.ci95[1] + 1)
        return replace(found, value=found.value + 1, ci95=ci95)

    return _combined(above, below, "over", "", 1.0, of)


def difference(minuend: Quantity, subtrahend: Quantity) -> Quantity:
    """Difference of two quantities, point by point and paired by seed."""

    def of(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
        return over_seeds([one - other for one, other in zip(ours, theirs, strict=True)])

    return _combined(minuend, subtrahend, "less", minuend.unit, 0.0, of)


def _combined(
    first: Quantity,
    second: Quantity,
    word: str,
    unit: str,
    neutral: float,
    of: Callable[[Sequence[float], Sequence[float]], Estimate],
) -> Quantity:
    used = first.studies | second.studies

    def find(studies: Studies, where: Mapping[str, Selection]) -> Points:
        sides = [each.at(**where) for each in (first, second)]
        parts = _each_seed(studies, used, first.repeats) or [studies]
        by_part = [[[each.value for each in side.points(part).values()] for part in parts] for side in sides]
        ours, theirs = (side.points(studies) for side in sides)
        found = [of(*pair) for pair in zip(*(zip(*values, strict=True) for values in by_part), strict=True)]
        return {
            name: replace(
                each,
                lower_bound=one.lower_bound or other.upper_bound,
                upper_bound=one.upper_bound or other.lower_bound,
            )
            for each, (name, one), other in zip(found, ours.items(), theirs.values(), strict=True)
        }

    return Quantity(f"{first.words} {word} {second.words}", unit, find, used, neutral, repeats=first.repeats)


def _each_seed(studies: Studies, names: Collection[str], repeats: str = "") -> list[Studies]:
    """The studies split by seed, or by value of the key `repeats`; empty for a single seed.

    A study with one seed is repeated for each seed of the others.
    """
    used = {name or next(iter(studies)) for name in names}
    if repeats:
        (name,) = used
        return [{**studies, name: studies[name].of_value(repeats, each)} for each in studies[name].values(repeats)]
    several = [set(studies[name].seeds) for name in used if len(studies[name].seeds) > 1]
    seeds = sorted(set.intersection(*several)) if several else []
    return [{name: data.of_seed(seed) for name, data in studies.items() if name in used} for seed in seeds]


def _extreme(found: Collection[Estimate], of: Callable[[Sequence[float]], float]) -> Estimate:
    """Minimum or maximum of estimates, with an interval from all their intervals."""
    intervals = [each.ci95 or (each.value, each.value) for each in found]
    ends = [finding.ends(each) for each in found]
    ci95 = (of([low for low, _ in intervals]), of([high for _, high in intervals]))
    return Estimate(
        of([each.value for each in found]),
        ci95 if any(each.ci95 for each in found) else None,
        min(each.n for each in found),
        lower_bound=of([high for _, high in ends]) == math.inf,
        upper_bound=of([low for low, _ in ends]) == -math.inf,
    )


def _number(value: Estimate | float) -> float:
    return value.value if isinstance(value, Estimate) else value


Read = Callable[..., Estimate]


def _over_grid(study: str, reads: Mapping[str, Read], studies: Studies, where: Mapping[str, Selection]) -> Points:
    """Values of the functions at the selected points of a study's grid."""
    data = studies[study] if study else next(iter(studies.values()))
    found: Points = {}
    for place, fixed in _places(data, where):
        for name, read in reads.items():
            label = ", ".join([name] * (len(reads) > 1) + [place] * bool(place))
            found[label] = read(data, where=fixed)
    return found


def _places(data: Data, where: Mapping[str, Selection]) -> Iterator[tuple[str, dict[str, Value]]]:
    """Selected points, each with its label. A key without selection must have only one value."""
    for key in where:
        if key not in data.keys:
            raise ConfigError(f"{key}: not a key of the grid over {', '.join(data.keys) or 'nothing'}")
    selections = {key: where.get(key, tuple(data.values(key)[:1])) for key in data.keys}
    wanted = {key: (each,) if isinstance(each, Value) else each for key, each in selections.items()}
    for key, values in wanted.items():
        if key not in where and len(data.values(key)) > 1:
            raise ConfigError(f"{key}: has several values; name one")
        if missing := [] if isinstance(values, Every) else [each for each in values if each not in data.values(key)]:
            raise TooLittle(f"without runs at {key} {', '.join(map(str, missing))}")
    chosen = [
        dict(zip(data.keys, position, strict=True))
        for position in data.points
        if all(value in wanted[key] for key, value in zip(data.keys, position, strict=True))
    ]
    if not chosen:
        raise TooLittle("no point of the grid is within the bounds")
    several = [key for key, selection in selections.items() if not isinstance(selection, Value) and key in where]
    for point in chosen:
        yield ", ".join(f"{_short(key)} {point[key]}" for key in several), point


def _selected(key: str, selection: Selection) -> str:
    if isinstance(selection, Every):
        return selection.text(_short(key))
    values = (selection,) if isinstance(selection, Value) else selection
    return f"{_short(key)} {_listed([str(each) for each in values])}"


def _short(key: str) -> str:
    return key.rpartition(".")[2]


def _names(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _in(study: str) -> str:
    return f" in {study.replace('_', ' ')}" if study else ""


@functools.cache
def label(metric: Metric) -> str:
    """Label of a metric with its class or task."""
    if isinstance(metric, Measure):
        return metric.name
    for pattern, statistic in STATISTICS.items():
        form = pattern.replace("<class>", "(?P<flows>.+)").replace("<task>", f"(?P<task>{'|'.join(TASKS)})")
        if found := re.fullmatch(form, metric):
            task, flows = (found.groupdict().get(part, "") for part in ("task", "flows"))
            return statistic.label.format(task=task, tasks=TASKS.get(task)) + f" of {flows} flows" * bool(flows)
    return metric


def _unit(metric: Metric) -> str:
    """Unit of a metric, from the suffix of its name."""
    if isinstance(metric, Measure):
        return metric.unit
    return next((unit for end, unit in _UNITS.items() if metric.endswith(end)), "")


def _over(value: float) -> float:
    """Next larger number, for a band without its end."""
    return math.nextafter(value, math.inf)


def _under(value: float) -> float:
    return math.nextafter(value, -math.inf)


# Whole runs, with warm-up and drain: timeouts of a late burst fall into the drain.


@measure("drops in the whole run")
def drops_in_run(result: Result) -> float:
    """Packets dropped anywhere, ACKs included."""
    return float(result.meta["counters"]["packets_dropped"])


@measure("timeouts in the whole run")
def timeouts_in_run(result: Result) -> float:
    """Retransmission timeouts of all flows."""
    return float(result.flows["timeouts"].sum())


@measure("retransmissions in the whole run")
def retransmits_in_run(result: Result) -> float:
    """Data segments retransmitted by all flows."""
    return float(result.flows["retransmits"].sum())
