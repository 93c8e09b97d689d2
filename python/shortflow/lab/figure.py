"""A figure or table of a paper, declared: studies to run, drawings, and claims to decide."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shortflow.lab.condition import ClaimCondition, Printed
from shortflow.lab.data import Data
from shortflow.lab.drawing import Curves, Drawing
from shortflow.lab.finding import Finding, all_hold
from shortflow.lab.quantity import Quantity
from shortflow.lab.study import Study

Draw = Curves | Callable[..., Sequence[Drawing]]
"""Curves over a grid, or a function whose parameters are named after the studies it reads."""

_MANY = 6
"""Most points that a claim reports in full; of more, it reports extremes and deciding points."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and its conditions of agreement: `Claim(id).says(statement, *conditions)`."""

    id: str
    ref: str = ""
    """Place in the paper (default: the figure)."""
    equation: bool = False
    """True for an equation that runs confirm: it is about no scheme."""
    statement: str = ""
    """The statement, paraphrased, with what is printed."""
    conditions: Sequence[ClaimCondition] = ()
    """Conditions, all required."""
    shows: Sequence[Quantity] = ()
    """Quantities reported beside the deciding numbers."""
    because: str = ""
    """Reason for a difference at the quick scale, found by varying unspecified values."""
    no_harm: bool = False
    """True if the claim says only that a scheme equals another, or is no worse, within the margin of the conditions."""

    def says(
        self,
        statement: str,
        *conditions: ClaimCondition,
        shows: Sequence[Quantity] = (),
        because: str = "",
        no_harm: bool = False,
    ) -> "Claim":
        """The claim with this statement. It holds if all conditions do."""
        return Claim(self.id, self.ref, self.equation, statement, conditions, shows, because, no_harm)

    @property
    def tolerance(self) -> str:
        """Conditions of agreement in words."""
        return "; ".join(condition.text for condition in self.conditions)

    @property
    def printed(self) -> list[Printed]:
        """Printed numbers of the claim."""
        return [condition.printed for condition in self.conditions if condition.printed]

    @property
    def studies(self) -> frozenset[str]:
        """Names of the studies it reads; "" is the figure's first."""
        found = [each.studies for each in self.conditions] + [each.studies for each in self.shows]
        return frozenset[str]().union(*found)

    def judge(self, studies: Mapping[str, Data]) -> Finding:
        """Finding of the claim in these studies."""
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
    """A finding reduced to the lowest, highest and deciding of many points."""
    values = {name: value for name in part if isinstance(value := whole.measured.get(name), float)}
    kept = (
        {min(values, key=values.__getitem__), max(values, key=values.__getitem__), whole.deciding} if values else set()
    )
    return replace(whole, measured={k: v for k, v in whole.measured.items() if k not in values or k in kept})


@dataclass(frozen=True)
class Figure:
    """A recipe for a figure or table."""

    id: str
    """`paper/figure`, such as `l2dct/fig4a`."""
    ref: str
    """The paper's name for it."""
    title: str
    studies: Mapping[str, Study] = field(default_factory=dict)
    claims: Sequence[Claim] = ()
    draws: Sequence[Draw] = ()

    @property
    def paper(self) -> str:
        """Short name of the paper."""
        return self.id.partition("/")[0]

    @property
    def printed(self) -> list[Printed]:
        """Printed numbers of all claims."""
        return [each for claim in self.claims for each in claim.printed]

    def decides(self, *claims: Claim, draws: Sequence[Draw] = ()) -> "Figure":
        """The figure with its claims and drawings."""
        return replace(self, claims=claims, draws=draws)

    def looked_at(self, claim: Claim) -> set[str]:
        """Names of the studies that a claim reads."""
        return {name or next(iter(self.studies)) for name in claim.studies}
