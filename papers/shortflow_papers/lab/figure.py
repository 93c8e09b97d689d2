"""Declarations of a paper's figures and tables: studies to run, drawings, and claims to decide."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from shortflow import ConfigError
from shortflow.api.errors import unknown_name
from shortflow_papers.lab.data import TOO_LITTLE, Studies, applied, reads
from shortflow_papers.lab.drawing import Curves, Drawing
from shortflow_papers.lab.finding import Finding, all_hold, not_tested
from shortflow_papers.lab.quantity import ClaimCondition, PrintedNumber, Quantity
from shortflow_papers.lab.study import Study, require_kind

Draw = Curves | Callable[..., Sequence[Drawing]]
"""Curves over a grid, or a function of the studies after which its parameters are named."""

_MANY = 6
"""Maximum number of points that a claim reports in full. Of more points, it reports extremes and the deciding one."""


@dataclass(eq=False)
class Claim:
    """A statement of a paper and its conditions of agreement: `Claim(id).says(statement, *conditions)`."""

    id: str
    ref: str = ""
    """Place in the paper (default: the figure)."""
    equation: bool = False
    """True for an equation that runs confirm. Such a claim is about no scheme."""
    statement: str = ""
    """The paper's statement, paraphrased, with the printed numbers."""
    conditions: Sequence[ClaimCondition] = ()
    """Conditions of agreement, of which all must hold."""
    shows: Sequence[Quantity] = ()
    """Quantities reported in addition to the deciding numbers."""
    because: str = ""
    """Reason for a difference at the quick scale, found by varying unspecified values."""
    no_harm: bool = False
    """True if the claim says only that a scheme equals another one, or is no worse, within the conditions' margin."""
    fitted: bool = False
    """True if the set-up was fitted to the claim's number, so that agreement is no evidence."""

    def says(
        self,
        statement: str,
        *conditions: ClaimCondition,
        shows: Sequence[Quantity] = (),
        because: str = "",
        no_harm: bool = False,
        fitted: bool = False,
    ) -> "Claim":
        """Sets the statement, its conditions and other fields, and returns the claim."""
        assert not self.statement, f"{self.id}: has a statement"
        for number, each in enumerate(conditions, 1):
            example = "a condition; end a quantity with one, such as .below() or .near(0.5)"
            require_kind(each, ClaimCondition, f"{self.id}: condition {number}", example)
        require_kind(shows, Sequence, f"{self.id}: shows", "a list of quantities")
        self.statement, self.conditions, self.shows = statement, conditions, shows
        self.because, self.no_harm, self.fitted = because, no_harm, fitted
        return self

    @property
    def paper(self) -> str:
        """Short name of the paper."""
        return self.id.partition("/")[0]

    @property
    def tolerance(self) -> str:
        """Text with all conditions of agreement."""
        return "; ".join(condition.text for condition in self.conditions)

    @property
    def printed(self) -> list[PrintedNumber]:
        """Printed numbers of the claim."""
        return [condition.printed for condition in self.conditions if condition.printed]

    @property
    def studies(self) -> frozenset[str]:
        """Names of the studies that the claim reads; "" is the figure's first study."""
        found = [each.studies for each in self.conditions] + [each.studies for each in self.shows]
        return frozenset[str]().union(*found)

    def judge(self, studies: Studies) -> Finding:
        """Finding of the claim in these studies; untested if the runs do not have enough data."""
        try:
            found = self._found(studies)
        except TOO_LITTLE as error:
            return not_tested(f"the runs cannot decide the claim: {error}")
        numbers = {name: value for name, value in found.measured.items() if not isinstance(value, str)}
        missing = [name for name, value in numbers.items() if np.isnan(value).any()]
        return not_tested(f"the runs do not have {', '.join(missing)}") if missing else found

    def off(self, studies: Studies) -> float | None:
        """Largest relative distance of our numbers from the printed ones, limits excepted.

        None without printed numbers, or if one of our numbers is unknown.
        """
        numbers = [(each, each.ours(studies)) for each in self.printed if not each.is_limit]
        if not all(ours for _, ours in numbers):
            return None
        return max((each.off(one.value) for each, ours in numbers for one in ours.values()), default=None)

    def _found(self, studies: Studies) -> Finding:
        """Finding of all conditions together, with the numbers of all quantities that the claim shows."""
        found = [condition.findings(studies) for condition in self.conditions]
        uses = Counter(name for part in found for name in part)
        every: dict[str, Finding] = {}
        parts: list[dict[str, Finding]] = []
        for condition, part in zip(self.conditions, found, strict=True):
            # Conditions on one grid have the same points, so the label of the condition tells their numbers apart.
            full = {name: f"{condition.label}: {name}".strip(": ") if uses[name] > 1 else name for name in part}
            parts.append({full[name]: part[name] for name in part})
            every |= parts[-1]
        assert len(every) == sum(map(len, parts)), f"{self.id}: numbers of one name"
        whole = next(iter(every.values())) if len(every) == 1 else all_hold(every)
        for part in parts:
            if len(part) > _MANY:
                whole = _extremes(whole, part)
        measured, units = dict(whole.measured), dict(whole.units)
        for each in self.shows:
            for point, estimate in each.points(studies).items():
                name = f"{each.label} {point}".strip()
                measured[name] = estimate.value
                units |= {name: each.unit} if each.unit else {}
        return replace(whole, measured=measured, units=units)


def _extremes(whole: Finding, part: Mapping[str, Finding]) -> Finding:
    """A finding whose numbers from `part` are reduced to the lowest, the highest and the deciding one."""
    values = {name: value for name in part if isinstance(value := whole.measured.get(name), float)}
    kept = {whole.deciding, *(of(values, key=values.__getitem__) for of in (min, max) if values)}
    return replace(whole, measured={k: v for k, v in whole.measured.items() if k not in values or k in kept})


@dataclass
class Figure:
    """Recipe for a figure or table of a paper."""

    id: str
    """`paper/figure`, such as `l2dct/fig4a`."""
    ref: str
    """Name of the figure or table in the paper."""
    title: str
    studies: Mapping[str, Study] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Raises `ConfigError` for studies without names."""
        require_kind(self.studies, Mapping, f"{self.id}: studies", 'studies by name, such as {"burst": BURST}')
        for name, study in self.studies.items():
            require_kind(study, Study, f"{self.id}: {name}", "a lab.Study")

    @property
    def paper(self) -> str:
        """Short name of the paper."""
        return self.id.partition("/")[0]

    @property
    def printed(self) -> list[PrintedNumber]:
        """Printed numbers of all claims."""
        return [each for claim in self.claims for each in claim.printed]

    def claim(self, name: str, ref: str = "", *, equation: bool = False) -> Claim:
        """Adds a claim with an id to the figure, and returns the claim, whose `says` sets its statement."""
        self.claims.append(Claim(name, ref, equation))
        return self.claims[-1]

    def draw(self, *draws: Draw) -> None:
        """Adds drawings to the figure."""
        for each in draws:
            if not callable(each):
                require_kind(each, Curves, f"{self.id}: draw", "lab.Curves or a function of studies")
        self.draws.extend(draws)

    def check(self) -> None:
        """Raises `ConfigError` for a claim without condition, and for a study or grid key that the figure lacks."""
        for claim in self.claims:
            if not claim.conditions:
                raise ConfigError(f"{claim.id}: has no condition; give says(…) a statement and a condition")
            self._check_studies(claim.id, claim.studies)
        for each in self.draws:
            self._check_studies(f"{self.id}: draw", [each.study] if isinstance(each, Curves) else reads(each))
            if isinstance(each, Curves):
                each.check(self.studies[each.study or next(iter(self.studies))])

    def _check_studies(self, where: str, names: Iterable[str]) -> None:
        for name in names:
            if name and name not in self.studies:
                raise ConfigError(f"{where}: {unknown_name('study of the figure', name, self.studies)}")
            if not self.studies:
                raise ConfigError(f"{where}: reads a study, and the figure has none")

    def drawn(self, studies: Studies) -> list[Drawing]:
        """Drawings for which the runs have enough data."""
        found: list[Drawing] = []
        for each in self.draws:
            with contextlib.suppress(*TOO_LITTLE):
                if isinstance(each, Curves):
                    found.append(each.draw(studies[each.study or next(iter(studies))], self.printed))
                else:
                    found += applied(each, studies)
        return found

    def looked_at(self, claim: Claim) -> set[str]:
        """Names of the figure's studies that a claim reads."""
        return {name or next(iter(self.studies)) for name in claim.studies}
