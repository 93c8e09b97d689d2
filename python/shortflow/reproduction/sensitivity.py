"""Which claims depend on what a paper leaves unsaid: the same figures again with every other choice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shortflow.papers import choices
from shortflow.reproduction.engine import Chosen, Judged, Reproduction
from shortflow.reproduction.figure import Figure


@dataclass(frozen=True)
class Shift:
    """A claim under another choice."""

    choice: str
    value: str
    before: Judged
    after: Judged

    @property
    def flips(self) -> bool:
        """Whether the verdict changes."""
        return self.before.finding.verdict != self.after.finding.verdict


def alternatives(figures: Sequence[Figure]) -> list[tuple[str, str]]:
    """Every value of every choice of the figures' papers that recipes do not take."""
    papers = dict.fromkeys(figure.paper for figure in figures)
    every = [(name, value) for paper in papers for name, choice in choices(paper).items() for value in choice.others]
    return list(dict.fromkeys(every))


def shifts(
    base: Reproduction, again: Callable[[Chosen], Reproduction], changes: Sequence[tuple[str, str]]
) -> list[Shift]:
    """What each change does to each claim; `again` reproduces the same figures with other choices."""
    found = []
    for name, value in changes:
        changed = {judged.claim.id: judged for judged in again({**base.chosen, name: value}).claims}
        found += [Shift(name, value, judged, changed[judged.claim.id]) for judged in base.claims]
    return found
