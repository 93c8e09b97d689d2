"""A figure or table of a paper: what it runs, what it draws, and the claims it decides."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from shortflow.lab.drawing import Drawing
from shortflow.lab.finding import Finding
from shortflow.lab.study import Study

Check = Callable[..., Finding]
"""Decides a claim. Its parameters are named like the studies that it looks at, and get their data."""

Draw = Callable[..., Sequence[Drawing]]
"""Draws the figure; parameters as for a check."""


@dataclass(frozen=True)
class Claim:
    """One statement of a paper and how it is decided."""

    id: str
    says: str
    """The statement, in our words."""
    tolerance: str
    """What counts as agreement."""
    check: Check
    because: str
    """Why it differs, where it does: found by varying what is unspecified, and said of the quick scale."""

    @property
    def studies(self) -> list[str]:
        """The names of the studies that it looks at."""
        return list(inspect.signature(self.check).parameters)


@dataclass
class Figure:
    """A recipe."""

    id: str
    """`paper/figure`, such as `l2dct/fig4a`."""
    ref: str
    """What the paper calls it."""
    title: str
    studies: Mapping[str, Study] = field(default_factory=dict)
    draw: Draw | None = None
    claims: list[Claim] = field(default_factory=list)

    @property
    def paper(self) -> str:
        """The short name of the paper."""
        return self.id.partition("/")[0]

    def drawing(self, draw: Draw) -> Draw:
        """Decorator: this function draws the figure."""
        self.draw = draw
        return draw

    def claim(self, name: str, says: str, tolerance: str, because: str = "") -> Callable[[Check], Check]:
        """Decorator: this function decides a claim of this figure's paper."""

        def register(check: Check) -> Check:
            self.claims.append(Claim(f"{self.paper}/{name}", says, tolerance, check, because))
            return check

        return register
