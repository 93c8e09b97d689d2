"""Which claims depend on what a paper leaves unspecified: the same figures again with every other choice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shortflow.lab.choices import changes
from shortflow.lab.figure import Figure
from shortflow.lab.finding import Finding
from shortflow.lab.study import Scale
from shortflow.papers import PAPERS, choices, figures
from shortflow.reproduction.engine import Chosen, Judged, Reproduction
from shortflow.reproduction.tried import Outcome, Tried
from shortflow.scenario import as_pairs


@dataclass(frozen=True)
class Shift:
    """A claim under another choice."""

    choice: str
    value: str
    before: Judged
    after: Judged
    reached: bool
    """Whether the choice changes a study that the claim looks at."""

    @property
    def flips(self) -> bool:
        """Whether the verdict changes."""
        return self.before.finding.verdict != self.after.finding.verdict


def outcomes(moved: Sequence[Shift]) -> dict[str, Tried]:
    """What was tried for each claim, to be stored: the number that decides is the same one throughout."""
    found: dict[str, Tried] = {}
    for shift in moved:
        name = deciding(shift.before.finding)
        tried = found.setdefault(shift.before.claim.id, {"taken": _outcome(shift.before, name), "others": {}})
        if shift.reached:
            tried["others"][f"{shift.choice}={shift.value}"] = _outcome(shift.after, name)
    return found


def _outcome(judged: Judged, name: str) -> Outcome:
    number = judged.finding.measured.get(name)
    text = f"{number:.4g}" if isinstance(number, int | float) else ""
    return {"verdict": judged.finding.verdict.value, "number": text}


def deciding(finding: Finding) -> str:
    """The name of the number to follow: the one that decides, or else the first."""
    return finding.deciding if finding.deciding in finding.measured else next(iter(finding.measured), "")


def choice_entries() -> list[dict[str, Any]]:
    """Every choice of every paper: the value taken, and the settings that make each value."""
    return [
        {
            "name": name,
            "paper": paper,
            "summary": choice.about,
            "taken": choice.taken,
            "values": {value: dict(as_pairs(settings)) for value, settings in choice.values.items()},
        }
        for paper in PAPERS
        for name, choice in choices(paper).items()
    ]


def reach(paper: str, name: str, value: str) -> tuple[list[str], list[str]]:
    """The figures of a paper with a run that follows a choice at the quick scale, and those with runs that do not."""
    (change,) = changes(choices(paper), {name: value})
    of_paper = {figure.id: list(figure.studies.values()) for figure in figures().values() if figure.paper == paper}
    follows = {
        name: any(study.follows(Scale.QUICK, change) for study in studies)
        for name, studies in of_paper.items()
        if studies
    }
    return [name for name, yes in follows.items() if yes], [name for name, yes in follows.items() if not yes]


def alternatives(of_figures: Sequence[Figure], chosen: Chosen) -> list[tuple[str, str]]:
    """Every value of every choice of the figures' papers but those that are chosen or, without that, taken."""
    papers = dict.fromkeys(figure.paper for figure in of_figures)
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
            moved = {study for study, was in figure.followed.items() if was != figure_after.followed[study]}
            found += [
                Shift(name, value, before, after, not moved.isdisjoint(figure.figure.looked_at(before.claim)))
                for before, after in zip(figure.claims, figure_after.claims, strict=True)
            ]
    return found
