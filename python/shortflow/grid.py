"""Values of keys in a search or sweep, and the points of a grid."""

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from shortflow.errors import ConfigError, did_you_mean
from shortflow.quantities import common_axis, in_base_unit, plain_number, rounded
from shortflow.terms import Range, pair

_MOST_VALUES = 1_000_000
MOST_POINTS = 100_000
"""Maximum number of points in a grid."""
_KEEP_FLOWS = ("transport.", "queue.", "host_queue.", "priority.", "switch.", "host.", "tcp.", "routing.")
"""Prefixes of keys that do not change the flows."""

Point = Mapping[str, str]
"""A value for each key."""


@dataclass(frozen=True)
class Steps:
    """Values of a key, in ascending order.

    >>> Steps.parse("load=0.1:0.3:0.1").values
    [0.1, 0.2, 0.3]
    """

    key: str
    values: Sequence[int | float]
    unit: str = ""
    """Unit of the values, as written for the key."""

    @classmethod
    def parse(cls, text: str) -> "Steps":
        """Parses `KEY=LOW:HIGH` with a step of 1 in the written unit, or `KEY=LOW:HIGH:STEP`.

        The high end is always included, so the last step may be shorter. Raises `ConfigError` for another text, or for
        a step that is wider than the range.
        """
        found = Range.read(
            text,
            f"{text}: expected KEY=LOW:HIGH or KEY=LOW:HIGH:STEP, with units of one kind, such as servers=1:100 or "
            "switch.mark_above=5pkt:200pkt",
        )
        low, high, step = found.low, found.high, 1.0 if found.step is None else found.step
        if not (step > 0 and low <= high and math.isfinite(high - low) and math.isfinite(step)):
            raise ConfigError(f"{text}: expected LOW <= HIGH and a step above 0")
        if (high - low) / step >= _MOST_VALUES:
            raise ConfigError(f"{text}: more than {_MOST_VALUES:,} values; choose a wider step")
        if low < high < low + step * (1 - 1e-9):
            wide = "the step" if found.step else "the default step of 1"
            raise ConfigError(
                f"{text}: {wide} is wider than the range; give a smaller step, as in {found.key}=0.1:0.9:0.1"
            )
        values = [low + i * step for i in range(math.floor((high - low) / step + 1e-9) + 1)]
        if values[-1] < high - step * 1e-9:
            values.append(high)
        return cls(found.key, [int(value) if value.is_integer() else rounded(value) for value in values], found.unit)

    def written(self, value: int | float) -> str:
        """A value as a setting, without exponent."""
        return f"{plain_number(value)}{self.unit}"


@dataclass(frozen=True)
class Axis:
    """Keys that vary together, such as linked keys."""

    keys: tuple[str, ...]
    values: Sequence[tuple[str, ...]]
    """At each position, one value per key."""

    @property
    def levels(self) -> list[int]:
        """Coarseness of each position: 0 for the ends, 1 for the middle, 2 for the middles of the halves, and so on.

        The numbers of the first key give the order. Words have no order, so all positions with words have level 0.
        """
        found = [0] * len(self.values)
        numbers = in_base_unit([value[0] for value in self.values])
        if numbers is None:
            return found
        ascending = sorted(range(len(numbers)), key=numbers.__getitem__)
        gaps, level = [(0, len(numbers) - 1)], 1
        while gaps := [(low, high) for low, high in gaps if high - low > 1]:
            for low, high in gaps:
                found[ascending[(low + high) // 2]] = level
            gaps = [half for low, high in gaps for half in ((low, (low + high) // 2), ((low + high) // 2, high))]
            level += 1
        return found


@dataclass(frozen=True)
class Grid:
    """All combinations of the values of several axes.

    >>> len(Grid.parse(["load=0.2,0.6", "switch.mark_above=10pkt,20pkt,40pkt"]).points)
    6
    """

    axes: Sequence[Axis]

    @classmethod
    def parse(cls, grids: Sequence[str], links: Sequence[str] = (), zips: Sequence[str] = ()) -> "Grid":
        """Parses `KEY=VALUES`, links `A=B` (B takes A's value), and zips `A,B` (values are paired by position).

        Values are separated by commas and keep their order. Each value may be a range LOW:HIGH:STEP. Raises
        `ConfigError` for an invalid text, a repeated key, or too many points.
        """
        values: dict[str, list[str]] = {}
        for text in grids:
            key, found = _values(text)
            if short_name(key) in map(short_name, values):
                raise ConfigError(f"--grid {text}: {key} has values already; give each key once")
            values[key] = found
        linked = _links(links, values)
        zipped = [_zip(text, values) for text in zips]
        repeated = [key for keys in zipped for key in keys]
        if len(repeated) > len(set(repeated)):
            raise ConfigError("--zip: a key is in two groups; name all keys of a group in one --zip")
        groups = [*zipped, *((key,) for key in values if key not in repeated)]
        groups.sort(key=lambda keys: list(values).index(keys[0]))
        grid = cls([_axis(keys, values, linked) for keys in groups])
        if math.prod(len(axis.values) for axis in grid.axes) > MOST_POINTS:
            raise ConfigError(f"--grid: more than {MOST_POINTS:,} points; choose fewer values")
        return grid

    @property
    def keys(self) -> list[str]:
        """All keys that vary."""
        return [key for axis in self.axes for key in axis.keys]

    @property
    def points(self) -> list[Point]:
        """All combinations, in the order of the axes."""
        return [point for _, point in self._ordered()]

    @property
    def coarse_first(self) -> list[Point]:
        """All combinations, coarse points first."""
        return [point for _, point in sorted(self._ordered(), key=lambda each: each[0])]

    def _ordered(self) -> list[tuple[int, Point]]:
        places = [list(zip(axis.levels, axis.values, strict=True)) for axis in self.axes]
        return [
            (
                max((level for level, _ in combination), default=0),
                dict(zip(self.keys, (value for _, values in combination for value in values), strict=True)),
            )
            for combination in itertools.product(*places)
        ]


def _values(text: str) -> tuple[str, list[str]]:
    """Key and values of one `--grid`, as written."""
    expected = "KEY=VALUES, such as transport.g=0.05:0.11:0.005 or load=0.2,0.4,0.8"
    key, right = pair(text, "--grid", expected)
    items = [item.strip() for item in right.split(",")]
    if not all(items):
        raise ConfigError(f"--grid {text}: expected {expected}")
    values: list[str] = []
    for item in items:
        if ":" in item:
            steps = Steps.parse(f"{key}={item}")
            values += [steps.written(value) for value in steps.values]
        else:
            values.append(item)
    return key, values


def _links(texts: Iterable[str], values: Mapping[str, object]) -> dict[str, str]:
    """Source key of each link, by target key."""
    linked: dict[str, str] = {}
    for text in texts:
        source, target = pair(text, "--link", "A=B, where A has a --grid and B takes its value")
        _require(f"--link {text}", source, values)
        if short_name(target) in map(short_name, (*values, *linked)):
            raise ConfigError(f"--link {text}: {target} has values already; give each key once")
        linked[target] = source
    return linked


def _zip(text: str, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    keys = tuple(key.strip() for key in text.split(","))
    if len(keys) < 2:
        raise ConfigError(f"--zip {text}: expected two or more keys, such as topology.hosts,topology.rate")
    for key in keys:
        _require(f"--zip {text}", key, values)
    lengths = {key: len(values[key]) for key in keys}
    if len(set(lengths.values())) > 1:
        counted = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise ConfigError(f"--zip {text}: expected equally many values; {counted}")
    return keys


def _require(what: str, key: str, values: Mapping[str, object]) -> None:
    if key not in values:
        hint = did_you_mean(key, values) or f"; these have: {', '.join(values) or 'none'}"
        raise ConfigError(f"{what}: {key!r} has no --grid{hint}")


def _axis(keys: tuple[str, ...], values: Mapping[str, Sequence[str]], linked: Mapping[str, str]) -> Axis:
    followers = [(target, source) for target, source in linked.items() if source in keys]
    every = (*keys, *(target for target, _ in followers))
    sources = (*keys, *(source for _, source in followers))
    amounts = zip(*(in_base_unit(values[key]) or values[key] for key in keys), strict=True)
    places = dict(zip(amounts, zip(*(values[source] for source in sources), strict=True), strict=True))
    return Axis(every, list(places.values()))


def check_apart(keys: Iterable[str], settings: Iterable[str]) -> None:
    """Raises `ConfigError` for keys that both vary and are set."""
    fixed = set(map(short_name, settings))
    for key in keys:
        if short_name(key) in fixed:
            raise ConfigError(f"{key}: this command varies the key, so --set cannot set it; leave out --set {key}")


def keeps_flows(keys: Iterable[str]) -> bool:
    """True if no key of an axis changes the flows. Scenario parameters are ignored, because other keys follow them."""
    real = [key for key in keys if not key.startswith("parameters.")]
    return bool(real) and all(key.startswith(_KEEP_FLOWS) for key in real)


def short_name(key: str) -> str:
    """Name of a key without the prefix of parameters."""
    return key.removeprefix("parameters.")


@dataclass(frozen=True)
class Dimension:
    """A setting with several values, and settings that vary in step with it."""

    key: str
    values: Sequence[str]
    """Numbers in ascending order, or words in the order of the points."""
    in_step: Sequence[str] = ()

    @property
    def label(self) -> str:
        """Names of all keys of the dimension."""
        return f"{self.key} (with {', '.join(self.in_step)})" if self.in_step else self.key

    @functools.cached_property
    def numbers(self) -> tuple[dict[str, float], str] | None:
        """Values as numbers of one unit, and the unit. None for words."""
        found = common_axis(self.values)
        return (dict(zip(self.values, found[0], strict=True)), found[1]) if found else None


def dimensions(keys: Iterable[str], places: Sequence[Point]) -> list[Dimension]:
    """Settings with several values among some points. Settings that vary in step are one dimension."""
    found: list[Dimension] = []
    for key in keys:
        values = list(dict.fromkeys(at[key] for at in places))
        if len(values) < 2:
            continue
        pairs = ((one, {(at[one.key], at[key]) for at in places}) for one in found)
        same = next((one for one, of in pairs if len(of) == len(values) == len(one.values)), None)
        if same:
            found[found.index(same)] = replace(same, in_step=[*same.in_step, key])
            continue
        numbers = common_axis(values)
        order = dict(zip(values, numbers[0], strict=True)) if numbers else {}
        found.append(Dimension(key, sorted(values, key=lambda value: order.get(value, 0.0))))
    return found
