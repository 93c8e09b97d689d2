"""A figure or table of a paper: what it runs, what it draws, and the claims it decides, all of it declared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shortflow.lab.condition import Condition, Printed
from shortflow.lab.data import Data
from shortflow.lab.drawing import Curves, Drawing
from shortflow.lab.finding import Finding, all_hold
from shortflow.lab.quantity import Quantity
from shortflow.lab.study import Study

Draw = Curves | Callable[..., Sequence[Drawing]]
"""Curves over a grid, or a function whose parameters are named like the studies that it looks at."""

_MANY = 6
"""Of more points than these, a claim reports the extremes and those that decide."""


@dataclass(frozen=True)
class Claim:
    """One statement of a paper: where it stands, what is printed there, and when our runs agree."""

    id: str
    kind: str
    """equation, numeric, ratio, ordering, shape, count or testbed."""
    says: str
    """The statement, in our words."""
    paper: object
    """The printed value, or some by name; what is called check or exact is our evaluation of a formula."""
    conditions: Sequence[Condition]
    """What has to hold, all of it."""
    ref: str = ""
    """Where in the paper it stands, if not at the figure that decides it."""
    because: str = ""
    """Why it differs, where it does: found by varying what is unspecified, and said of the quick scale."""
    shows: Sequence[Quantity] = ()
    """What is reported beside the numbers that decide."""

    @property
    def tolerance(self) -> str:
        """What counts as agreement, in words."""
        return "; ".join(condition.text for condition in self.conditions)

    @property
    def printed(self) -> list[Printed]:
        """The numbers that the paper prints of what it is about."""
        return [condition.printed for condition in self.conditions if condition.printed]

    @property
    def studies(self) -> frozenset[str]:
        """The names of the studies that it looks at; "" is the figure's first."""
        found = [each.studies for each in self.conditions] + [each.studies for each in self.shows]
        return frozenset[str]().union(*found)

    def judge(self, studies: Mapping[str, Data]) -> Finding:
        """What runs say of it."""
        parts = [dict(condition.findings(studies)) for condition in self.conditions]
        shared = {name for part in parts for name in part if sum(name in other for other in parts) > 1}
        parts = [
            {f"{condition.label}: {name}".strip(": ") if name in shared else name: part[name] for name in part}
            for condition, part in zip(self.conditions, parts, strict=True)
        ]
        every = {name: finding for part in parts for name, finding in part.items()}
        assert len(every) == sum(map(len, parts)), f"{self.id}: numbers of one name"
        whole = next(iter(every.values())) if len(every) == 1 else all_hold(every)
        for part in parts:
            if len(part) > _MANY:
                whole = _extremes(whole, part)
        more = {
            f"{each.label} {point}".strip(): (estimate.value, each.unit)
            for each in self.shows
            for point, estimate in each.points(studies).items()
        }
        return replace(
            whole,
            measured={**whole.measured, **{name: value for name, (value, _) in more.items()}},
            units={**whole.units, **{name: unit for name, (_, unit) in more.items() if unit}},
        )


def _extremes(whole: Finding, part: Mapping[str, Finding]) -> Finding:
    """A finding that reports the lowest and the highest of many points only, and the one that decides."""
    values = {name: value for name in part if isinstance(value := whole.measured.get(name), float)}
    kept = (
        {min(values, key=values.__getitem__), max(values, key=values.__getitem__), whole.deciding} if values else set()
    )
    return replace(whole, measured={k: v for k, v in whole.measured.items() if k not in values or k in kept})


@dataclass(frozen=True)
class paper:  # noqa: N801  (`paper(...).says(...)` is how claims are declared)
    """What a paper prints, to be completed by what it says and by when our runs agree."""

    id: str
    kind: str
    value: object
    ref: str = ""

    def says(self, statement: str, *agrees: Condition, shows: Sequence[Quantity] = (), because: str = "") -> Claim:
        """The claim that the paper makes, which holds if all of the conditions do."""
        return Claim(self.id, self.kind, statement, self.value, agrees, self.ref, because, shows)


@dataclass(frozen=True)
class Figure:
    """A recipe."""

    id: str
    """`paper/figure`, such as `l2dct/fig4a`."""
    ref: str
    """What the paper calls it."""
    title: str
    studies: Mapping[str, Study] = field(default_factory=dict)
    claims: Sequence[Claim] = ()
    draws: Sequence[Draw] = ()

    @property
    def paper(self) -> str:
        """The short name of the paper."""
        return self.id.partition("/")[0]

    @property
    def printed(self) -> list[Printed]:
        """The numbers that the paper prints of what its claims are about."""
        return [each for claim in self.claims for each in claim.printed]

    def decides(self, *claims: Claim, draws: Sequence[Draw] = ()) -> "Figure":
        """The same, with the claims that it decides and what it draws."""
        return replace(self, claims=claims, draws=draws)

    def looked_at(self, claim: Claim) -> set[str]:
        """The names of the studies that a claim looks at."""
        return {name or next(iter(self.studies)) for name in claim.studies}
