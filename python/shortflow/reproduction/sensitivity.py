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
    reached: bool
    """Whether the claim's figure follows the choice."""

    @property
    def flips(self) -> bool:
        """Whether the verdict changes."""
        return self.before.finding.verdict != self.after.finding.verdict


def alternatives(figures: Sequence[Figure], chosen: Chosen) -> list[tuple[str, str]]:
    """Every value of every choice of the figures' papers but those that are chosen or, without that, taken."""
    papers = dict.fromkeys(figure.paper for figure in figures)
    every = [
        (name, value)
        for paper in papers
        for name, choice in choices(paper).items()
        for value in choice.values
        if value != chosen.get(name, choice.taken)
    ]
    return list(dict.fromkeys(every))


def shifts(
    base: Reproduction, again: Callable[[Chosen], Reproduction], other: Sequence[tuple[str, str]]
) -> list[Shift]:
    """What each other value does to each claim; `again` reproduces the same figures with other choices."""
    found = []
    for name, value in other:
        changed = again({**base.chosen, name: value})
        for figure, figure_after in zip(base.figures, changed.figures, strict=True):
            reached = bool(figure.figure.studies) and f"{name}={value}" not in figure_after.not_reached
            found += [
                Shift(name, value, before, after, reached)
                for before, after in zip(figure.claims, figure_after.claims, strict=True)
            ]
    return found
