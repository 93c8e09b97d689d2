"""Quantities and conditions of claims. A quantity has numbers with intervals at one or more points of a study's grid.

An expression such as `change("l2dct", "dctcp", "afct_short_s").at(load=(0.1, 0.2)).within(high=-0.3)` is data. It can
read its numbers from any runs, and it describes the comparison in words.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from shortflow import ConfigError, Estimate
from shortflow.api.judge import Band, over_seeds, true_interval
from shortflow.api.metrics import rank_correlation
from shortflow.api.numbers import RELATIVE, DisplayUnit, scale_for
from shortflow_papers.lab.data import TOO_LITTLE, Studies, applied, each_seed, reads, some
from shortflow_papers.lab.finding import Finding, fact, placed
from shortflow_papers.lab.study import Value

Points = Mapping[str, Estimate]
"""Estimates by label of the point."""
SLACK = 0.2
"""Allowed relative distance from the printed number."""
TIE = 0.05
"""Maximum relative difference of a tie. If an order holds at more than half of the points, ties at the other points
still have the right direction."""
TENFOLD = 9.0
"""Relative change above which a paper's "more" does not agree: only the direction counts."""
HALVED = -0.5
"""Relative changes below this are compared as factors: -95 % is 20 times less, -84 % is six times less."""
EXACT = 1e-9
"""Maximum relative error of numbers that are equal except for rounding."""
NEVER = "never"
"""Text for ∞: the measured event did not happen."""
_ALL_OF_IT = -1.0
"""Largest possible decrease, as a relative change."""


@dataclass(frozen=True)
class Every:
    """Every value of a key from `low` to `high`. The grid must have at least one such value."""

    low: float = float("-inf")
    high: float = float("inf")
    needs: tuple[Value, ...] = ()
    """Values that must have runs. Without them, the quantity is untested."""

    def __contains__(self, value: Value) -> bool:
        """True if the value is within the bounds."""
        return isinstance(value, str) or self.low <= value <= self.high

    def text(self, key: str) -> str:
        """Text that describes the selected values of the key."""
        # A plural counts things: every number of servers, but every load.
        is_plural = key.endswith("s") and not key.endswith("ss")
        return f"every {'number of ' * is_plural}{key} {self.bounds}".rstrip()

    @property
    def bounds(self) -> str:
        """Text of the bounds, such as `from 0.2 to 0.8`; empty without bounds."""
        if self.low == float("-inf"):
            return f"up to {self.high:g}" * (self.high < float("inf"))
        return f"from {self.low:g}" + f" to {self.high:g}" * (self.high < float("inf"))


SelectedValues = Value | tuple[Value, ...] | Every
"""One value of a key; several values, all required; or every value."""
Find = Callable[[Studies, Mapping[str, SelectedValues]], Points]


@dataclass(frozen=True)
class PrintedNumber:
    """A number or range that a paper prints for a quantity."""

    of: "Quantity"
    low: float
    high: float
    is_limit: bool = False
    """True if the printed number is an upper or lower limit."""

    @property
    def name(self) -> str:
        """Name of the quantity, or its description."""
        return self.of.name or self.of.words

    def ours(self, studies: Studies) -> Points:
        """Our estimates at each point; empty if the runs do not have enough data."""
        try:
            found = self.of.points(studies)
        except TOO_LITTLE:
            return {}
        return found if all(math.isfinite(each.value) for each in found.values()) else {}

    def off(self, value: float) -> float:
        """Relative distance of a number from the printed range; ∞ from a printed zero.

        Decreases by more than half are compared as factors.
        """
        low, high = self.low, self.high
        if self.of.unit == RELATIVE and high < HALVED:
            high, low, value = (1 / (1 + each) for each in (low, high, value))
        nearest = min(max(value, low), high)
        if value == nearest:
            return 0.0
        return abs(value - nearest) / abs(nearest) if nearest else math.inf

    def over(self, key: str, metric: object, fixed: Mapping[str, Value]) -> dict[str, list[tuple[Value, float]]]:
        """Printed points of a metric's curve over a key: pairs of position on the axis and value, by scheme.

        Empty if the printed number is about another metric, or about other values of `fixed` keys.
        """
        where = dict(self.of.where)
        at = where.pop(key, ())
        places = at if isinstance(at, tuple) else (at,) if isinstance(at, Value) else ()
        if metric != self.of.metric or not where.items() <= fixed.items():
            return {}
        points = [(place, value) for place in places for value in sorted({self.low, self.high})]
        return {scheme: points for scheme in self.of.schemes if points}


@dataclass(frozen=True)
class ClaimCondition:
    """A condition under which a claim agrees."""

    text: str
    """Text of the condition, to follow the words "agrees if"."""
    findings: Callable[[Studies], Mapping[str, Finding]]
    """Returns findings by name: one, or one per point."""
    studies: frozenset[str] = frozenset()
    """Names of the studies that the condition reads; "" is the figure's first study."""
    label: str = ""
    """Prefix for names of findings that several conditions of a claim share."""
    printed: PrintedNumber | None = None
    """The printed number that the condition compares with, if any."""


@dataclass(frozen=True)
class Quantity:
    """A number, or one number at each of several points."""

    text: str
    unit: str
    find: Find
    studies: frozenset[str]
    neutral: float | None = None
    """Value that means no change: 0 for changes and differences, 1 for ratios, None for levels."""
    where: Mapping[str, SelectedValues] = field(default_factory=dict)
    """Selected values by key."""
    place: str = ""
    """Text that describes the selected points. If empty, the text has keys and values."""
    name: str = ""
    """Short name, if the quantity has one."""
    repeats: str = ""
    """Key of the grid whose values serve as seeds."""
    metric: str = ""
    """Name of the metric in the catalogue, if the quantity is a plain metric of `schemes`."""
    schemes: Sequence[str] = ()

    def at(self, place: str = "", /, **where: SelectedValues) -> "Quantity":
        """The quantity at selected points of the grid. `place` describes the points. Write dots in keys as `__`."""
        if not isinstance(place, str):
            raise ConfigError(f'at({place!r}): name keys as arguments, such as at(load=0.2, transport__g="1/16")')
        named = {key.replace("__", "."): value for key, value in where.items()}
        return replace(self, where={**self.where, **named}, place=place)

    def each(self, place: str, points: Mapping[str, Mapping[str, SelectedValues]]) -> "Quantity":
        """The quantity at named points, with one number at each. `place` describes all points together."""

        def find(studies: Studies, where: Mapping[str, SelectedValues]) -> Points:
            assert not where, f"{self.text}: {place} leaves nothing to select"
            found = {}
            for name, at in points.items():
                (found[name],) = self.at(**at).points(studies).values()
            return found

        return replace(self, find=find, where={}, place=place)

    def over(self, *keys: str) -> "Quantity":
        """The quantity at every value of these keys."""
        return self.at(**dict.fromkeys(keys, Every()))

    def called(self, name: str) -> "Quantity":
        """The quantity under a shorter name."""
        return replace(self, name=name)

    def points(self, studies: Studies) -> Points:
        """Estimates in these runs."""
        return self.find(studies, self.where)

    @property
    def words(self) -> str:
        """Text that describes the quantity and the selected points."""
        place = self.place or ", ".join(_selected(key, selection) for key, selection in self.where.items())
        return f"{self.text} at {place}" if place else self.text

    @property
    def label(self) -> str:
        """Name of the quantity's number in a claim."""
        return self.name or self.text

    def lowest(self) -> "Quantity":
        """The lowest number over the points. Its interval accounts for the uncertainty of every point."""
        return self._with_one_number("lowest", lambda studies: _extreme(self.points(studies).values(), min))

    def highest(self) -> "Quantity":
        """The highest number over the points. Its interval accounts for the uncertainty of every point."""
        return self._with_one_number("highest", lambda studies: _extreme(self.points(studies).values(), max))

    def mean(self) -> "Quantity":
        """Mean of the numbers over the points."""
        return self._with_one_number(
            "mean", partial(self._of_points, lambda values: math.fsum(values) / len(values), True)
        )

    def trend(self) -> "Quantity":
        """Rank correlation of the numbers with the order of the points: 1 if they only rise, -1 if they only fall.

        The correlation is computed for each seed, and averaged over the seeds.
        """
        trend = self._with_one_number("rank correlation of", partial(self._of_points, rank_correlation, False))
        return replace(trend, unit="", neutral=0.0)

    def within(self, low: float = -math.inf, high: float = math.inf) -> ClaimCondition:
        """Condition that the numbers at all points lie from `low` to `high`. A missing end sets no limit."""
        if math.isinf(low):
            return self._if(f"at most {amount(high, self.unit)}", (low, high))
        if math.isinf(high):
            return self._if(f"at least {amount(low, self.unit)}", (low, high))
        return self._if(f"{band(low, high, self.unit)}", (low, high))

    def below(self, by: float = 0.0) -> ClaimCondition:
        """Condition that the numbers at all points are below `-by`. Up to 0, they have the right direction."""
        text = f"more than {100 * by:g} % lower" if by else "below 0"
        return self._if(text, (-math.inf, _under(-by)), (-math.inf, _under(0.0)), is_order=not by)

    def above(self, by: float = 0.0) -> ClaimCondition:
        """Condition that the numbers at all points are above `by`. Numbers from 0 to `by` have the right direction.

        With `by`, numbers above `TENFOLD` have the right direction only, too.
        """
        text = f"more than {100 * by:g} % higher, and no more than tenfold" if by else "above 0"
        return self._if(text, (_over(by), TENFOLD if by else math.inf), (_over(0.0), math.inf), is_order=not by)

    def alike(self, margin: float) -> ClaimCondition:
        """Condition that the numbers at all points lie within `margin` of zero."""
        return self._if(f"within ± {100 * margin:g} %", (-margin, margin))

    def near(
        self,
        low: float,
        high: float | None = None,
        *,
        limit: Literal["at least", "at most"] | None = None,
        error: float | None = None,
    ) -> ClaimCondition:
        """Condition that the numbers at all points equal the printed value within 20 %.

        For a change, these are 20 % of the change, or for decreases by more than half, 20 % of the factor. With `high`,
        the numbers must lie in the printed range from `low` to `high`, widened by 20 % at both ends. With `limit`, they
        must be at least the printed value less 20 %, or at most the printed value plus 20 %. With `error`, they must
        equal a theoretical value within this relative error.
        """
        if error is not None:
            slack = abs(low) * error
            return self._if(f"within {100 * error:g} % of {amount(low, self.unit)}", (low - slack, low + slack))
        if limit:
            return self._limited(low, limit)
        high = low if high is None else high
        agrees = (low - abs(low) * SLACK, high + abs(high) * SLACK)
        if self.unit == RELATIVE and high < HALVED:
            agrees = ((1 + low) / (1 + SLACK) - 1, (1 + high) / (1 - SLACK) - 1)
        printed = amount(low, self.unit) if low == high else band(low, high, self.unit)
        direction = self._direction(high if high < 0 else low)
        return self._if(f"{band(*agrees, self.unit)} (printed: {printed})", agrees, direction, (low, high))

    def _limited(self, paper: float, limit: str) -> ClaimCondition:
        """Condition that the numbers keep a printed limit within 20 %."""
        is_most = limit == "at most"
        end = paper + abs(paper) * SLACK if is_most else paper - abs(paper) * SLACK
        agrees = (-math.inf, end) if is_most else (end, math.inf)
        # "At most -30 %" and "at least 30 %" say on which side of zero the numbers are. "At most 30 %" does not.
        direction = self._direction(paper) if is_most == (paper < 0) else None
        text = f"{limit} {amount(end, self.unit)} (printed: {amount(paper, self.unit)})"
        return self._if(text, agrees, direction, (paper, paper), is_limit=True)

    def _direction(self, paper: float) -> Band | None:
        """Band of values on the same side of `neutral` as the printed value; None without a neutral value."""
        if self.neutral is None:
            return None
        return (_over(self.neutral), math.inf) if paper > self.neutral else (-math.inf, _under(self.neutral))

    def _with_one_number(self, word: str, of: Callable[[Studies], Estimate]) -> "Quantity":
        """The quantity with one number in place of a number per point: `of` computes it, and `word` says how."""

        def find(studies: Studies, _: Mapping[str, SelectedValues]) -> Points:
            return {"": of(studies)}

        name = self.name and f"{word} {self.name}"
        return replace(self, text=f"{word} {self.words}", find=find, where={}, place="", name=name, metric="")

    def _of_points(self, of: Callable[[list[float]], float], rising: bool, studies: Studies) -> Estimate:
        """Estimate from one number per seed, which `of` computes from the numbers at the points.

        If `rising`, a larger number at a point gives a larger result, so that bounds give a bound. Otherwise, the
        result is a lower and an upper bound, which leaves it open.
        """
        parts = each_seed(studies, self.studies, self.repeats) or [studies]
        found = over_seeds([of([each.value for each in self.points(part).values()]) for part in parts])
        points = self.points(studies).values()
        lower, upper = any(each.lower_bound for each in points), any(each.upper_bound for each in points)
        if not rising:
            lower = upper = lower or upper
        return replace(found, lower_bound=lower, upper_bound=upper)

    def _if(
        self,
        text: str,
        agrees: Band,
        direction: Band | None = None,
        printed: Band | None = None,
        *,
        is_limit: bool = False,
        is_order: bool = False,
    ) -> ClaimCondition:
        def findings(studies: Studies) -> dict[str, Finding]:
            points = some(self.points(studies), self.words)
            found = {name: placed(each, agrees, direction, self.unit) for name, each in points.items()}
            # If the order holds at most points, ties at the other points have the right direction.
            if is_order and self.unit == RELATIVE and sum(each.holds for each in found.values()) > len(found) / 2:
                ties = (agrees[0] - TIE, agrees[1] + TIE)
                found = {name: placed(each, agrees, ties, self.unit) for name, each in points.items()}
            return found if len(found) > 1 else dict(zip([self.label], found.values(), strict=True))

        beside = printed and PrintedNumber(self, *printed, is_limit)
        return ClaimCondition(f"{self.words}: {text}", findings, self.studies, self.label, beside)


def decided(text: str, check: Callable[..., Finding]) -> ClaimCondition:
    """Condition that a function checks. Its parameters are named after the studies that it reads."""
    return ClaimCondition(text, lambda studies: {"": applied(check, studies)}, frozenset(reads(check)))


def same(value: float, expected: float, error: float = EXACT) -> bool:
    """True if two numbers are equal within a relative error."""
    return math.isclose(value, expected, rel_tol=error, abs_tol=error * EXACT)


Pairs = Mapping[str, tuple[float, float]]
"""Number and expected value, by name."""


def equal(find: Callable[..., Pairs], error: float = EXACT, digits: int | None = None) -> ClaimCondition:
    """Condition that numbers equal their expected values, within a relative error or to this many decimals."""

    def agrees(ours: float, theirs: float) -> bool:
        return abs(ours - theirs) <= 0.5001 * 10**-digits if digits else same(ours, theirs, error)

    def findings(studies: Studies) -> dict[str, Finding]:
        pairs: Pairs = applied(find, studies)
        return {name: fact(agrees(*pair), value=pair[0]) for name, pair in pairs.items()}

    text = f"equal to {digits} decimals" if digits else f"relative error below {error:g}"
    return ClaimCondition(text, findings, frozenset(reads(find)))


def amount(value: float, unit: str, ci95: tuple[float, float] | None = None) -> str:
    """Text of a number with its unit and, in the same unit, its interval."""
    scale = scale_for(unit, [value])
    ends = f" [{', '.join(_digits(end, unit, scale) for end in ci95)}]" if ci95 else ""
    return f"{_digits(value, unit, scale)} {'' if math.isinf(value) else scale.unit}".rstrip() + ends


def band(low: float, high: float, unit: str) -> str:
    """Text of a range. The lower end of a change is shown as -100 % at least, because nothing falls below."""
    if unit == RELATIVE:
        low = max(low, _ALL_OF_IT)
    scale = scale_for(unit, [low, high])
    return f"{_digits(low, unit, scale)} to {_digits(high, unit, scale)} {scale.unit}".rstrip()


def _digits(value: float, unit: str, scale: DisplayUnit) -> str:
    if math.isinf(value):
        return NEVER if value > 0 else "-inf"
    return f"{value / scale.divisor:{'+' if unit == RELATIVE else ''}.4g}"


def _extreme(found: Collection[Estimate], extreme: Callable[[Sequence[float]], float]) -> Estimate:
    """Minimum or maximum of estimates. The ends of the interval are the extremes of the ends of all intervals."""
    intervals = [each.ci95 or (each.value, each.value) for each in found]
    ends = [true_interval(each, one_seed_decides=True) for each in found]
    ci95 = (extreme([low for low, _ in intervals]), extreme([high for _, high in intervals]))
    return Estimate(
        extreme([each.value for each in found]),
        ci95 if any(each.ci95 for each in found) else None,
        min(each.n for each in found),
        # A bound among the estimates makes the extreme a bound only if the extreme may be at its open end.
        lower_bound=extreme([high for _, high in ends]) == math.inf,
        upper_bound=extreme([low for low, _ in ends]) == -math.inf,
    )


def _selected(key: str, selection: SelectedValues) -> str:
    if isinstance(selection, Every):
        return selection.text(last_part(key))
    values = (selection,) if isinstance(selection, Value) else selection
    return f"{last_part(key)} {joined([str(each) for each in values])}"


def last_part(key: str) -> str:
    """The part of a key after its last dot."""
    return key.rpartition(".")[2]


def joined(names: Sequence[str]) -> str:
    """Text that lists names."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _over(value: float) -> float:
    """The next larger number, as the lower end of a band that excludes `value`."""
    return math.nextafter(value, math.inf)


def _under(value: float) -> float:
    """The next smaller number, as the upper end of a band that excludes `value`."""
    return math.nextafter(value, -math.inf)
